//! The source tree as text: files, code without comments and strings, functions.

use std::fs;
use std::path::Path;

/// A file of the tree, or one that a test makes up.
pub(super) struct File {
    /// From the root of the repository.
    pub(super) path: String,
    pub(super) text: String,
    /// As long as the text; comments and the contents of strings are blank. Empty unless it is Rust.
    pub(super) code: String,
}

impl File {
    pub(super) fn new(path: &str, text: &str) -> Self {
        let is_rust = path.ends_with(".rs");
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
            code: if is_rust { code(text) } else { String::new() },
        }
    }

    pub(super) fn is_in(&self, folders: &[&str]) -> bool {
        folders
            .iter()
            .any(|folder| self.path.starts_with(&format!("{folder}/")) || self.path == *folder)
    }

    /// Returns whether all of it is compiled for tests only.
    pub(super) fn is_test(&self) -> bool {
        let mut parts = self.path.split('/');
        parts.any(|part| {
            let stem = part.trim_end_matches(".rs");
            stem == "tests" || stem.starts_with("tests_") || stem.ends_with("_tests")
        })
    }

    /// Returns the code with each `#[cfg(test)] mod name { .. }` blank: what the product is made of.
    pub(super) fn product(&self) -> String {
        let mut product = self.code.clone();
        for (at, mark) in self.code.match_indices("#[cfg(test)]") {
            let next = &self.code[at + mark.len()..];
            let open = next.find(['{', ';']).unwrap_or_default();
            if !next.trim_start().starts_with("mod ") || !next[open..].starts_with('{') {
                continue;
            }
            let begin = at + mark.len() + open;
            let end = begin + block_len(&self.code[begin..]);
            let blank: String = self.code[at..end]
                .bytes()
                .map(|byte| if byte == b'\n' { '\n' } else { ' ' })
                .collect();
            product.replace_range(at..end, &blank);
        }
        product
    }

    pub(super) fn line_of(&self, at: usize) -> usize {
        1 + self.text[..at].matches('\n').count()
    }
}

/// Returns the length of the block that code begins with.
fn block_len(code: &str) -> usize {
    let mut depth = 0;
    for (at, byte) in code.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 1 => return at + 1,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    code.len()
}

/// Returns made-up files.
pub(super) fn files(files: &[(&str, &str)]) -> Vec<File> {
    files
        .iter()
        .map(|(path, text)| File::new(path, text))
        .collect()
}

/// Returns all files of the repository that these rules are about.
pub(super) fn tree() -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.to_path_buf()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy();
            if path.is_dir() {
                let is_ours = !matches!(&*name, "target" | ".git" | "data" | "node_modules");
                folders.extend(is_ours.then_some(path));
            } else if [".rs", ".md", ".toml", ".yml", ".js", ".sh"]
                .iter()
                .any(|end| name.ends_with(end))
            {
                let name = path.strip_prefix(root).expect("below").to_string_lossy();
                let text = fs::read_to_string(&path).expect("text");
                found.push(File::new(&name, &text));
            }
        }
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found
}

/// Fails with all that breaks a rule.
#[track_caller]
pub(super) fn assert_none(offenses: &[String], what_to_do: &str) {
    assert!(
        offenses.is_empty(),
        "{what_to_do}\n{} found:\n{}",
        offenses.len(),
        offenses.join("\n")
    );
}

pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Returns where a word occurs that is not part of a longer one.
pub(super) fn words<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let bytes = text.as_bytes();
    text.match_indices(word)
        .map(|(at, _)| at)
        .filter(move |at| {
            let end = at + word.len();
            (*at == 0 || !is_word(bytes[at - 1]))
                && bytes.get(end).is_none_or(|next| !is_word(*next))
        })
}

/// Blanks comments and the contents of strings; quotes and line breaks stay.
fn code(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut code = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let (from, to, end) = skipped(bytes, at);
        for byte in &mut code[from..to] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end;
    }
    String::from_utf8(code).expect("whole characters are blanked")
}

/// Returns what to blank of the token at a place, and where the next one begins.
fn skipped(bytes: &[u8], at: usize) -> (usize, usize, usize) {
    let rest = &bytes[at..];
    let is_new = at == 0 || !is_word(bytes[at - 1]);
    if rest.starts_with(b"//") {
        let end = at
            + rest
                .iter()
                .position(|byte| *byte == b'\n')
                .unwrap_or(rest.len());
        return (at, end, end);
    }
    if rest.starts_with(b"/*") {
        let end = at + comment_len(rest);
        return (at, end, end);
    }
    if let Some(hashes) = is_new.then(|| raw_hashes(rest)).flatten() {
        let open = at
            + rest
                .iter()
                .position(|byte| *byte == b'"')
                .unwrap_or_default()
            + 1;
        let close = [&b"\""[..], &vec![b'#'; hashes]].concat();
        let len = find(&bytes[open..], &close);
        return (open, open + len, open + len + close.len());
    }
    match rest[0] {
        b'"' => {
            let mut end = at + 1;
            while end < bytes.len() && bytes[end] != b'"' {
                end += if bytes[end] == b'\\' { 2 } else { 1 };
            }
            let end = end.min(bytes.len());
            (at + 1, end, (end + 1).min(bytes.len()))
        }
        // A character, and no lifetime.
        b'\'' if rest.get(1) == Some(&b'\\') => {
            let end = at + 3 + find(&rest[3..], b"'");
            (at + 1, end, end + 1)
        }
        b'\'' if rest.get(1).is_some() => {
            let len = rest[1..]
                .iter()
                .skip(1)
                .take_while(|byte| **byte >= 0x80 && **byte < 0xC0);
            let end = at + 2 + len.count();
            if bytes.get(end) == Some(&b'\'') {
                (at + 1, end, end + 1)
            } else {
                (at, at, at + 1)
            }
        }
        _ => (at, at, at + 1),
    }
}

/// Returns the number of `#` of the raw string that begins here.
fn raw_hashes(rest: &[u8]) -> Option<usize> {
    let prefix = [&b"br"[..], b"cr", b"r"];
    let prefix = prefix.into_iter().find(|prefix| rest.starts_with(prefix))?;
    let hashes = rest[prefix.len()..]
        .iter()
        .take_while(|byte| **byte == b'#')
        .count();
    (rest.get(prefix.len() + hashes) == Some(&b'"')).then_some(hashes)
}

fn comment_len(rest: &[u8]) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

fn find(bytes: &[u8], wanted: &[u8]) -> usize {
    bytes
        .windows(wanted.len())
        .position(|window| window == wanted)
        .unwrap_or(bytes.len())
}

#[test]
fn comments_and_strings_are_no_code() {
    let text = r##"let a = "x // y\" z"; // c "d
let b = r#"e " f"#; /* g /* h */ i */ let c: &'static str = 'j'; let d = '\''; let é = 'ß';"##;
    let expected = concat!(
        "let a = \"          \";        \n",
        "let b = r#\"     \"#;                   ",
        "let c: &'static str = ' '; let d = '  '; let é = '  ';"
    );
    assert_eq!(code(text), expected);
}
