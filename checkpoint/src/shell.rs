//! Stand-in for the shell reader: enough of it to try the rules against.

/// One simple command of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simple {
    /// Program and arguments, wrappers taken off.
    pub words: Vec<String>,
    /// Whether it was run for certain, once the line was.
    pub certain: bool,
    /// Whether its failure is the line's failure.
    pub decides: bool,
    /// The folder it ran in, where the line says so.
    pub dir: Option<String>,
}

/// Returns the commands that a line executes, in order.
pub fn executed(line: &str) -> Vec<Simple> {
    let mut simples = Vec::new();
    let mut certain = true;
    let marked = line.replace("||", "\u{1}").replace("&&", "\u{2}").replace([';', '\n'], "\u{3}").replace('|', "\u{4}");
    for part in marked.split_inclusive(['\u{1}', '\u{2}', '\u{3}', '\u{4}']) {
        let end = part.chars().last().filter(|c| *c < '\u{5}');
        let mut words: Vec<String> = part
            .trim_end_matches(|c| c < '\u{5}')
            .split_whitespace()
            .map(|w| w.trim_matches(['"', '\'']).into())
            .collect();
        if words.starts_with(&["python".into(), "-m".into()]) {
            words.drain(..2);
        }
        if !words.is_empty() {
            simples.push(Simple { words, certain, decides: !matches!(end, Some('\u{3}' | '\u{4}')), dir: None });
        }
        certain = end != Some('\u{1}');
    }
    simples
}

/// Returns whether a command only says what it would do.
pub fn is_dry(simple: &Simple) -> bool {
    simple.words.iter().skip(1).any(|word| ["-n", "--dry-run", "--version", "--help"].contains(&word.as_str()))
}

/// Returns the files that a line reads.
pub fn reads(line: &str) -> Vec<String> {
    let readers = ["cat", "sed", "head", "tail", "less", "grep", "nl", "awk"];
    let simples = executed(line).into_iter().filter(|simple| readers.contains(&simple.words[0].as_str()));
    simples.flat_map(|simple| simple.words.into_iter().skip(1)).filter(|word| word.contains('.')).collect()
}

/// Returns the files that a line writes.
pub fn writes(line: &str) -> Vec<String> {
    let mut words = line.split_whitespace();
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        if word == ">" || word == ">>" {
            found.extend(words.next().map(String::from));
        }
    }
    found
}

/// Returns whether a command is the wanted one.
pub fn matches(simple: &Simple, wanted: &[&str]) -> bool {
    let (Some(program), Some((first, rest))) = (simple.words.first(), wanted.split_first()) else { return false };
    if program != first {
        return false;
    }
    let mut arguments = simple.words.iter().skip(1);
    rest.iter().all(|word| match word.strip_prefix('*') {
        Some(part) => arguments.any(|argument| argument.contains(part)),
        None => arguments.any(|argument| argument == word),
    })
}
