//! No file is longer than what one reads in one go, no function longer than a screen.

use super::source::{File, assert_none, files, tree, words};

const FILE_LINES_MAX: usize = 500;
const FUNCTION_LINES_MAX: usize = 70;

fn long_files(files: &[File]) -> Vec<String> {
    let rust = files.iter().filter(|file| file.path.ends_with(".rs"));
    let long = rust.map(|file| (file, file.text.lines().count()));
    long.filter(|(_, lines)| *lines > FILE_LINES_MAX)
        .map(|(file, lines)| format!("{}: {lines} lines", file.path))
        .collect()
}

/// Lines inside of a string, such as the snapshot of a screen, are data and do not count.
fn long_functions(files: &[File]) -> Vec<String> {
    let mut long = Vec::new();
    for file in files {
        for at in words(&file.code, "fn") {
            let name = file.code[at + 2..].trim_start();
            let name = name.split(|char: char| !char.is_alphanumeric() && char != '_');
            let name = name.clone().next().unwrap_or_default();
            let body = (!name.is_empty()).then(|| body(&file.code, at)).flatten();
            let Some((_, end)) = body else { continue };
            let code = file.code[at..end].lines();
            let lines = code.zip(file.text[at..end].lines());
            let lines = lines
                .filter(|(code, text)| {
                    !code.trim().is_empty() || text.trim_start().starts_with("//")
                })
                .count();
            if lines > FUNCTION_LINES_MAX {
                let line = file.line_of(at);
                long.push(format!("{}:{line}: `{name}`, {lines} lines", file.path));
            }
        }
    }
    long
}

/// Returns the braces of the function that begins at a place, unless it has no body.
fn body(code: &str, at: usize) -> Option<(usize, usize)> {
    let mut round = 0;
    let mut curly = 0;
    let mut begin = None;
    for (offset, byte) in code[at..].bytes().enumerate() {
        match byte {
            b'(' | b'[' if begin.is_none() => round += 1,
            b')' | b']' if begin.is_none() => round -= 1,
            b';' if begin.is_none() && round == 0 => return None,
            b'{' => {
                begin = begin.or(Some(at + offset));
                curly += 1;
            }
            b'}' => {
                curly -= 1;
                if curly == 0 {
                    return Some((begin?, at + offset + 1));
                }
            }
            _ => {}
        }
    }
    None
}

#[test]
fn no_file_is_too_long() {
    let to_do = format!("split each by subject: at most {FILE_LINES_MAX} lines a file");
    assert_none(&long_files(&tree()), &to_do);
}

#[test]
fn no_function_is_too_long() {
    let to_do =
        format!("name its steps and make them functions: at most {FUNCTION_LINES_MAX} lines");
    assert_none(&long_functions(&tree()), &to_do);
}

#[test]
fn what_is_too_long_is_found() {
    let short = format!("fn a(b: [u8; 2]) {{\n{}}}\n", "// {\n".repeat(68));
    let long = format!("fn c() {{\n{}}}\n", "call(\"{\");\n".repeat(69));
    let data = format!("fn d() {{\nlet e = \"{}\";\n}}\n", "\n".repeat(100));
    let tree = files(&[("src/a.rs", &format!("{short}{long}{data}"))]);
    assert_eq!(long_functions(&tree), ["src/a.rs:71: `c`, 71 lines"]);
    let tree = files(&[
        ("src/a.rs", &"//\n".repeat(500)),
        ("src/b.rs", &"//\n".repeat(501)),
    ]);
    assert_eq!(long_files(&tree), ["src/b.rs: 501 lines"]);
}
