//! Results of shell calls as lines with labels, as Gemini CLI and those that are made from it write them.

use super::table::{Frame, ResultText};

/// Lines with `Exit Code: N` or `Signal: N` come after the output, which `display` holds alone.
pub(crate) fn frame(result: &ResultText<'_>) -> Frame {
    let text = result.text.trim_end();
    let text = text.strip_suffix("</untrusted_context>").unwrap_or(text);
    let body = text.strip_prefix("<untrusted_context>\n").unwrap_or(text);
    let display = result.display.as_deref().filter(|it| !it.is_empty());
    let after_output = display.and_then(|display| {
        let rest = body.strip_prefix("Output: ")?.strip_prefix(display)?;
        rest.starts_with('\n').then_some(rest)
    });
    let keys = [
        "Process Group PGID: ",
        "Background PIDs: ",
        "Signal: ",
        "Exit Code: ",
        "Error: ",
    ];
    let mut frame = Frame::default();
    let lines = after_output.unwrap_or(body).lines().rev();
    for line in lines.filter(|line| !line.is_empty()) {
        if let Some(code) = line.strip_prefix("Exit Code: ") {
            frame.code = code.trim().parse().ok();
            break;
        }
        if let Some(signal) = line.strip_prefix("Signal: ") {
            // A terminal reports the signal 0 of a command that none ended.
            frame.failed |= !matches!(signal.trim(), "(none)" | "0");
        } else if !keys.iter().any(|key| line.starts_with(key)) {
            break;
        }
    }
    frame
}
