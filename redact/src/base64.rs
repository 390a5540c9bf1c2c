//! Texts behind base64 and hexadecimal digits.

/// How much of a run is decoded to see whether it is text.
const PROBE_BYTES: usize = 16;

pub(super) fn is_login_base64(text: &str) -> bool {
    let decoded = decoded(text.as_bytes());
    text.len() >= 8 && decoded.is_some_and(|login| login.contains(':'))
}

/// Returns the text that is encoded in base64 or in hexadecimal digits.
pub(super) fn decoded(run: &[u8]) -> Option<String> {
    let text = |bytes: Vec<u8>| {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let is_text = |c: char| !c.is_control() || c.is_ascii_whitespace() || c == '\u{1b}';
        text.chars()
            .all(|c| is_text(c) && c != '\u{fffd}')
            .then_some(text)
    };
    let is_likely = |decode: fn(&[u8]) -> Option<Vec<u8>>| {
        let probe = decode(&run[..run.len().min(PROBE_BYTES)])?;
        let is_text = probe
            .iter()
            .all(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | 0x1b | 0x20..0x7f));
        is_text.then(|| decode(run)).flatten().and_then(text)
    };
    is_likely(base64).or_else(|| is_likely(hexadecimal))
}

/// Decodes base64 of either alphabet.
pub(super) fn base64(run: &[u8]) -> Option<Vec<u8>> {
    let run = run
        .strip_suffix(b"==")
        .or_else(|| run.strip_suffix(b"="))
        .unwrap_or(run);
    let mut out = Vec::with_capacity(run.len() * 3 / 4);
    let (mut bits, mut count) = (0u32, 0);
    for byte in run {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    Some(out)
}

fn hexadecimal(run: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pair = |pair: &[u8]| Some((digit(pair[0])? * 16 + digit(*pair.get(1)?)?) as u8);
    run.chunks(2).map(pair).collect()
}
