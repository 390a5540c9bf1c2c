//! Answers with what differs between two runs taken out: folders, the clock, new ids, sizes of files.

/// Numbers that differ between two runs, by their keys.
const VARYING: [&str; 11] = [
    "bytes",
    "duration_us",
    "free_bytes",
    "intake_bytes",
    "intake_bytes_before",
    "pid",
    "port",
    "saved_bytes",
    "store_bytes",
    "store_bytes_before",
    "uptime_ms",
];

/// Replaces times and ids that are not in `known` by words, and varying numbers by zero.
pub(super) fn steady(text: &str, known: &str) -> String {
    let mut steady = String::with_capacity(text.len());
    let mut rest = text;
    let mut in_word = false;
    while let Some(first) = rest.chars().next() {
        let stamp = [
            (time(rest), "TIME"),
            (uuid(rest), "ID"),
            (microseconds(rest), "TIME"),
            (shaped(rest, "0000-00-00T00-00-00"), "TIME"),
        ]
        .into_iter()
        .find_map(|(length, word)| Some((&rest[..length?], word)));
        match stamp {
            Some((stamp, word)) if !in_word => {
                steady.push_str(if known.contains(stamp) { stamp } else { word });
                rest = &rest[stamp.len()..];
            }
            _ => {
                steady.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
        in_word = first.is_ascii_alphanumeric();
    }
    let steady = without_hashes(&without_free_space(&steady));
    VARYING.iter().fold(steady, |text, key| zeroed(&text, key))
}

/// Takes `41.3 GB` out of `41.3 GB free for /data`.
fn without_free_space(text: &str) -> String {
    let mut parts = text.split(" free for ").peekable();
    let mut steady = String::new();
    while let Some(part) = parts.next() {
        let end = part.rfind('"').filter(|_| parts.peek().is_some());
        steady.push_str(&part[..end.map_or(part.len(), |quote| quote + 1)]);
        steady.push_str(if end.is_some() { "SPACE free for " } else { "" });
    }
    steady
}

/// Codex's hash of a hook covers the path of the hook's program, which differs between checkouts.
fn without_hashes(text: &str) -> String {
    let mut parts = text.split("sha256:");
    let mut steady = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let hash = part
            .find(|c: char| !c.is_ascii_hexdigit())
            .unwrap_or(part.len());
        steady.push_str("sha256:HASH");
        steady.push_str(&part[hash..]);
    }
    steady
}

fn zeroed(text: &str, key: &str) -> String {
    let key = format!("\"{key}\":");
    let mut parts = text.split(&key);
    let mut zeroed = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let value = part.trim_start_matches(|digit: char| digit.is_ascii_digit());
        zeroed.push_str(&key);
        zeroed.push_str(if value.len() < part.len() { "0" } else { "" });
        zeroed.push_str(value);
    }
    zeroed
}

/// Returns the length of the time that a text begins with, such as `2026-11-20T09:00:00.003100Z`.
fn time(text: &str) -> Option<usize> {
    let length = shaped(text, "0000-00-00T00:00:00")?;
    let fraction = text[length..].strip_prefix('.').map_or(0, |digits| {
        1 + digits.bytes().take_while(u8::is_ascii_digit).count()
    });
    let end = length + fraction;
    text[end..].starts_with('Z').then_some(end + 1)
}

fn uuid(text: &str) -> Option<usize> {
    shaped(text, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx")
}

/// Returns the length of the time that a text begins with, in microseconds.
fn microseconds(text: &str) -> Option<usize> {
    shaped(text, "0000000000000000")
        .filter(|end| !text[*end..].starts_with(|next: char| next.is_ascii_digit()))
}

/// Returns the length of `shape` where `text` begins like it: `0` is a digit, `x` a hexadecimal one.
fn shaped(text: &str, shape: &str) -> Option<usize> {
    let fits = |(byte, wanted): (u8, u8)| match wanted {
        b'0' => byte.is_ascii_digit(),
        b'x' => byte.is_ascii_hexdigit(),
        _ => byte == wanted,
    };
    let fits = text.len() >= shape.len() && text.bytes().zip(shape.bytes()).all(fits);
    fits.then_some(shape.len())
}

#[test]
fn only_what_varies_is_taken_out() {
    let known = "2026-11-20T09:00:00.003100Z 34cf1aff-2622-56e1-891b-8963bdecb89f";
    let text = r#"{"at":"2026-11-20T09:00:00.003100Z","now":"2026-11-22T09:00:00Z","ids":["34cf1aff-2622-56e1-891b-8963bdecb89f","019ab3aa-2622-76e1-891b-8963bdecb89f"],"pid":12,"port":null}"#;
    assert_eq!(
        steady(text, known),
        r#"{"at":"2026-11-20T09:00:00.003100Z","now":"TIME","ids":["34cf1aff-2622-56e1-891b-8963bdecb89f","ID"],"pid":0,"port":null}"#
    );
}
