//! Reads the tables of planted secrets. They hold no secret: the random parts are made here.

use std::fmt::Write as _;

/// One kind of secret in its surroundings.
pub(crate) struct Planted {
    pub(crate) line: usize,
    pub(crate) text: String,
    /// What must not remain of it.
    pub(crate) secrets: Vec<String>,
}

/// Reads a table: one kind a line, blank lines and lines that begin with `##` aside. `«»` enclose what is secret, `⏎` is
/// a line break, `␛` an escape and `␉` a tab. `{r20}` are 20 random letters and digits, `{l}` small ones, `{u}` capitals,
/// `{h}` hexadecimal, `{d}` decimal digits, `{w}` with `_` and `-`, `{b}` base64; `{64:text}` is the base64 of a text and
/// `{hex:text}` its hexadecimal form.
pub(crate) fn read(table: &str) -> Vec<Planted> {
    let lines = table.lines().enumerate();
    let kinds = lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with("##"));
    kinds
        .map(|(number, line)| {
            let text = filled(line, number as u64);
            let secrets = text
                .split('«')
                .skip(1)
                .filter_map(|part| Some(part.split_once('»')?.0.to_owned()));
            Planted {
                line: number + 1,
                secrets: secrets.collect(),
                text: text.replace(['«', '»'], ""),
            }
        })
        .collect()
}

fn filled(line: &str, seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d;
    let mut next = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let line = line
        .replace('⏎', "\n")
        .replace('␛', "\u{1b}")
        .replace('␉', "\t");
    let mut out = String::new();
    let mut rest = line.as_str();
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let Some((spec, behind)) = after.split_once('}') else {
            break;
        };
        let alphabet: &[u8] = match spec.as_bytes().first() {
            Some(b'r') => b"abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789",
            Some(b'l') => b"abcdefghijkmnpqrstuvwxyz23456789",
            Some(b'u') => b"ABCDEFGHJKLMNPQRSTUVWXYZ234567",
            Some(b'h') => b"0123456789abcdef",
            Some(b'd') => b"123456789",
            Some(b'w') => b"abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789_-",
            Some(b'b') => b"abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ0123456789+/",
            _ => b"",
        };
        match (
            spec.split_once(':'),
            spec.get(1..).and_then(|count| count.parse::<usize>().ok()),
        ) {
            (Some(("64", text)), _) => out.push_str(&base64(text.as_bytes())),
            (Some(("hex", text)), _) => {
                for byte in text.bytes() {
                    let _ = write!(out, "{byte:02x}");
                }
            }
            (None, Some(count)) if !alphabet.is_empty() => {
                out.extend((0..count).map(|_| char::from(alphabet[next() % alphabet.len()])));
            }
            _ => {
                out.push('{');
                rest = after;
                continue;
            }
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk
            .iter()
            .fold(0, |bits, byte| bits << 8 | u32::from(*byte))
            << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let sign = ALPHABET[(bits >> (18 - 6 * place)) as usize & 63];
            out.push(if place <= chunk.len() {
                char::from(sign)
            } else {
                '='
            });
        }
    }
    out
}
