//! What scripts return.

use std::borrow::Cow;

use serde_json::Value;

use super::tools::KNOWN;
use crate::tools::ResultText;

/// The longest line that tells a status, in bytes.
const CODE_LINE_MAX: usize = 120;

/// The id that a script still running is waited for by, in a form that no command's id has.
pub(super) fn cell(id: &str) -> String {
    format!("cell {id}")
}

/// Reads what a script, or the wait for one, returned; none if the text is no such result.
pub(super) fn result(text: &str) -> Option<ResultText<'static>> {
    let head = text.lines().next()?;
    let running = head.strip_prefix("Script running with cell ID ");
    let failed = head == "Script failed";
    if running.is_none() && !failed && head != "Script completed" {
        return None;
    }
    let body = text.split_once("\nOutput:\n");
    let body = body.map_or("", |(_, body)| body.trim_start_matches('\n'));
    if let Some(answers) = Ended::read_all(body) {
        return Some(answered(&answers, running, failed));
    }
    let (mut printed, mut code, mut session) = (String::with_capacity(body.len()), None, None);
    for line in body.split_inclusive('\n') {
        let Some(ended) = Ended::read(line) else {
            printed.push_str(line);
            continue;
        };
        printed.push_str(&ended.output);
        if !printed.ends_with('\n') {
            printed.push('\n');
        }
        code = worse(code, ended.code);
        session = session.or(ended.session);
    }
    Some(finished(printed, code, session, running, failed))
}

fn answered(answers: &[Ended], running: Option<&str>, failed: bool) -> ResultText<'static> {
    let all = answers.iter();
    let printed: Vec<&str> = all.clone().map(|answer| answer.output.as_str()).collect();
    let code = (all.clone()).fold(None, |code, answer| worse(code, answer.code));
    let session = all.clone().find_map(|answer| answer.session.clone());
    finished(printed.join("\n"), code, session, running, failed)
}

fn finished(
    printed: String,
    code: Option<i64>,
    session: Option<String>,
    running: Option<&str>,
    failed: bool,
) -> ResultText<'static> {
    let is_over = running.is_none() && session.is_none();
    let task = running.map(|id| cell(id.trim()));
    ResultText {
        // A script that came to its end may not say how its command ended; what was printed does.
        is_error: (is_over && code.is_none()).then_some(failed),
        exit_code: code,
        running: !is_over,
        task: task.or(session).map(Cow::Owned),
        text: Cow::Owned(printed),
        ..ResultText::default()
    }
}

/// Returns the statuses that a script printed in its own words: `exit=0`, `npm test: exit_code 1`.
pub(super) fn codes(text: &str) -> Vec<i64> {
    let code = |line: &str| {
        let line = line.trim().trim_end_matches([')', ']', '}', ',', '.', '"']);
        let digits = line.len() - line.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (head, code) = line.split_at(line.len() - digits);
        let head = head.trim_end_matches([' ', ':', '=', '"', '-', '>', '(', '[']);
        let says = |word: &String| {
            head.len() >= word.len()
                && head.is_char_boundary(head.len() - word.len())
                && head[head.len() - word.len()..].eq_ignore_ascii_case(word)
        };
        let is_one = digits > 0 && line.len() <= CODE_LINE_MAX && KNOWN.statuses.iter().any(says);
        is_one.then(|| code.parse().ok()).flatten()
    };
    text.lines().filter_map(code).collect()
}

/// Returns the result of one of the commands of a script.
pub(super) fn of_command<'a>(
    result: &ResultText<'a>,
    codes: &[i64],
    number: usize,
    commands: usize,
) -> ResultText<'a> {
    let code = if codes.len() == commands {
        codes.get(number).copied()
    } else {
        codes.iter().copied().map(Some).fold(None, worse)
    };
    match code {
        Some(code) if !result.running => ResultText {
            is_error: None,
            exit_code: Some(code),
            ..result.clone()
        },
        _ => result.clone(),
    }
}

fn worse(one: Option<i64>, other: Option<i64>) -> Option<i64> {
    one.filter(|code| *code != 0).or(other).or(one)
}

/// How a command ended, as a script prints it: the tool's whole answer in one line of JSON.
struct Ended {
    output: String,
    code: Option<i64>,
    session: Option<String>,
}

impl Ended {
    fn read(line: &str) -> Option<Self> {
        let line = line.trim();
        if !line.starts_with('{') || !line.contains("\"output\"") {
            return None;
        }
        Self::of(&serde_json::from_str(line).ok()?)
    }

    /// Reads a list of answers, or one answer over several lines.
    fn read_all(text: &str) -> Option<Vec<Self>> {
        let text = text.trim();
        let is_line = text.starts_with('{') && !text.contains('\n');
        if is_line || !text.starts_with(['[', '{']) || !text.contains("\"exit_code\"") {
            return None;
        }
        let value: Value = serde_json::from_str(text).ok()?;
        let answers: Vec<Self> = match &value {
            Value::Array(answers) => answers.iter().filter_map(Self::of).collect(),
            answer => Self::of(answer).into_iter().collect(),
        };
        (!answers.is_empty()).then_some(answers)
    }

    fn of(answer: &Value) -> Option<Self> {
        let session = answer.get("session_id").filter(|id| !id.is_null());
        Some(Self {
            output: answer.get("output")?.as_str()?.to_owned(),
            code: answer.get("exit_code").and_then(Value::as_i64),
            session: session.map(Value::to_string),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_say_how_a_script_ended() {
        let body = "Wall time 1.0 seconds\nOutput:\n";
        let whole = r#"{"chunk_id":"a","exit_code":2,"output":"boom\nbang"}"#;
        let waits = r#"{"chunk_id":"a","session_id":7,"output":"so far"}"#;
        for (text, code, running, task, printed) in [
            (
                format!("Script completed\n{body}\nok\n"),
                None,
                false,
                None,
                "ok\n",
            ),
            (
                format!("Script completed\n{body}\n{whole}"),
                Some(2),
                false,
                None,
                "boom\nbang\n",
            ),
            (
                format!("Script completed\n{body}{waits}"),
                None,
                true,
                Some("7"),
                "so far\n",
            ),
            (
                format!("Script running with cell ID 12\n{body}"),
                None,
                true,
                Some("cell 12"),
                "",
            ),
            (
                format!("Script failed\n{body}Error: no"),
                None,
                false,
                None,
                "Error: no",
            ),
        ] {
            let result = result(&text).expect("a script's result");
            assert_eq!(result.exit_code, code, "{text}");
            assert_eq!(result.running, running, "{text}");
            assert_eq!(result.task.as_deref(), task, "{text}");
            assert_eq!(result.text, printed, "{text}");
            let says = (!running && code.is_none()).then_some(text.starts_with("Script failed"));
            assert_eq!(result.is_error, says, "{text}");
        }
        assert!(result("Scripts\nOutput:\n").is_none());
    }

    #[test]
    fn answers_and_statuses_are_read_in_any_form() {
        let body = "Script completed\nOutput:\n";
        for (printed, code, text) in [
            (
                r#"[{"exit_code":0,"output":"a"},{"exit_code":3,"output":"b"}]"#,
                Some(3),
                "a\nb",
            ),
            (
                "{\n  \"exit_code\": 0,\n  \"output\": \"a\"\n}",
                Some(0),
                "a",
            ),
            (r#"{"exit_code":"x"}"#, None, r#"{"exit_code":"x"}"#),
        ] {
            let result = result(&format!("{body}{printed}")).expect("a script's result");
            assert_eq!((result.exit_code, &*result.text), (code, text), "{printed}");
        }
        for (text, expected) in [
            ("ok\nexit=0", &[0][..]),
            (
                "npm test: exit_code 1\nx\nnpm run build: exit_code: 0",
                &[1, 0],
            ),
            ("[exit code 2]", &[2]),
            ("listens on port: 80\n12 files", &[]),
        ] {
            assert_eq!(codes(text), expected, "{text}");
        }
    }
}
