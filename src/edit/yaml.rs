//! Sets one key of a YAML file and keeps everything else, comments included.
//!
//! Keys are found by their lines and indentation, which is not a parser: the caller reads the result and compares.

use serde_json::Value;

/// The indentation of a group's keys if there is no example to follow.
const INDENT: usize = 2;

/// Returns the text with `key`, or `group.key`, set to `value`, which is YAML on one line.
pub(crate) fn set(text: &str, key: &str, value: &str) -> String {
    let mut file = File::new(text);
    match key.split_once('.') {
        None => file.put(0..file.lines.len(), 0, key, value),
        Some((group, key)) => {
            let all = 0..file.lines.len();
            let Some(at) = file.find(all, 0, group) else {
                file.push(0, group, "");
                file.push(INDENT, key, value);
                return file.text();
            };
            file.spread(at, group);
            let block = at + 1..file.end(at, 0);
            let first = (file.lines[block.clone()].iter()).find(|line| is_content(line));
            let indent = first.map_or(INDENT, |line| indent_of(line));
            file.put(block, indent, key, value);
        }
    }
    file.text()
}

struct File {
    /// The lines, without line breaks.
    lines: Vec<String>,
    line_break: &'static str,
}

impl File {
    fn new(text: &str) -> Self {
        let line_break = if text.contains("\r\n") { "\r\n" } else { "\n" };
        Self {
            lines: text.lines().map(str::to_owned).collect(),
            line_break,
        }
    }

    fn text(&self) -> String {
        let ended = |line: &String| format!("{line}{}", self.line_break);
        self.lines.iter().map(ended).collect()
    }

    fn push(&mut self, indent: usize, key: &str, value: &str) {
        self.lines.push(line(indent, key, value));
    }

    fn find(&self, within: std::ops::Range<usize>, indent: usize, key: &str) -> Option<usize> {
        let is_key = |line: &str| {
            let rest = line.trim_start().strip_prefix(key);
            let rest = rest.and_then(|rest| rest.strip_prefix(':'));
            indent_of(line) == indent
                && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
        };
        let mut within = within.into_iter();
        within.find(|number| is_key(&self.lines[*number]))
    }

    /// Returns the line after the last one of a key's value. Comments behind the value belong to what follows.
    fn end(&self, at: usize, indent: usize) -> usize {
        let belongs = |line: &String| {
            !is_content(line)
                || indent_of(line) > indent
                || (indent_of(line) == indent && line.trim_start().starts_with("- "))
        };
        let after = self.lines.iter().skip(at + 1);
        let mut end = at + 1 + after.take_while(|line| belongs(line)).count();
        while end > at + 1 && !is_content(&self.lines[end - 1]) {
            end -= 1;
        }
        end
    }

    /// Puts a value in place of a key's old one, or adds the key at the end.
    fn put(&mut self, within: std::ops::Range<usize>, indent: usize, key: &str, value: &str) {
        let new = line(indent, key, value);
        match self.find(within.clone(), indent, key) {
            Some(at) => {
                let end = self.end(at, indent);
                let (_, comment) = split_comment(&self.lines[at]);
                let new = format!("{new}{comment}");
                self.lines.splice(at..end, [new]);
            }
            None => {
                let mut upward = within.clone().rev();
                let last = upward.find(|number| is_content(&self.lines[*number]));
                let at = last.map_or(within.end, |last| last + 1);
                self.lines.insert(at, new);
            }
        }
    }

    /// Gives each key of a group that is written on the group's line a line of its own.
    fn spread(&mut self, at: usize, group: &str) {
        let (head, comment) = split_comment(&self.lines[at]);
        let Some((_, flow)) = head.split_once(':') else {
            return;
        };
        let Some(Value::Object(keys)) = checkpoint::config::yaml_value(flow.trim()) else {
            return;
        };
        let head = format!("{group}:{comment}");
        let own_line = |(key, value): (&String, &Value)| line(INDENT, key, &value.to_string());
        let keys = keys.iter().map(own_line);
        let lines: Vec<_> = std::iter::once(head).chain(keys).collect();
        self.lines.splice(at..=at, lines);
    }
}

fn line(indent: usize, key: &str, value: &str) -> String {
    let line = format!("{:indent$}{key}: {value}", "");
    line.trim_end().to_owned()
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

fn is_content(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.starts_with('#')
}

/// Returns a line up to its comment, and the comment with the spaces before it.
fn split_comment(line: &str) -> (&str, &str) {
    let mut quote = None;
    let mut is_after_space = true;
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '#') if is_after_space => {
                let head = line[..at].trim_end();
                return (head, &line[head.len()..]);
            }
            _ => {}
        }
        is_after_space = c.is_whitespace();
    }
    (line.trim_end(), "")
}

#[cfg(test)]
mod tests {
    use super::set;

    #[test]
    fn a_key_is_set_where_it_is_and_everything_else_stays() {
        let rows = [
            ("", "min_turn", "45s", "min_turn: 45s\n"),
            (
                "# mine\nmin_turn: 30s # short\n",
                "min_turn",
                "45s",
                "# mine\nmin_turn: 45s # short\n",
            ),
            (
                "min_turn: 30s\nrepeat: once",
                "min_turn",
                "45s",
                "min_turn: 45s\nrepeat: once\n",
            ),
            (
                "prefix: 'a # b' # c\r\n",
                "prefix",
                "x",
                "prefix: x # c\r\n",
            ),
            (
                "packs:\n- rust\n- go\n\n# next\nscope: turn\n",
                "packs",
                "[node]",
                "packs: [node]\n\n# next\nscope: turn\n",
            ),
            (
                "journal:\n    # how\n    sync: mixed\n\nweb: {port: 1}\n",
                "journal.sync",
                "always",
                "journal:\n    # how\n    sync: always\n\nweb: {port: 1}\n",
            ),
            (
                "journal:\n  sync: mixed # s\n# end\n",
                "journal.compact",
                "daily",
                "journal:\n  sync: mixed # s\n  compact: daily\n# end\n",
            ),
            (
                "journal: {sync: mixed} # one line\n",
                "journal.sync",
                "always",
                "journal: # one line\n  sync: always\n",
            ),
            (
                "scope: turn\n",
                "logs.level",
                "debug",
                "scope: turn\nlogs:\n  level: debug\n",
            ),
            (
                "# only this\n",
                "scope",
                "turn",
                "# only this\nscope: turn\n",
            ),
            (
                "min_turns: 1\nxmin_turn: 2\n",
                "min_turn",
                "3s",
                "min_turns: 1\nxmin_turn: 2\nmin_turn: 3s\n",
            ),
        ];
        for (text, key, value, expected) in rows {
            assert_eq!(set(text, key, value), expected, "{text:?}");
        }
    }
}
