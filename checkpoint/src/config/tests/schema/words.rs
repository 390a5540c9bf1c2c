//! What each key means: in the words of the compiled-in `config.yml`, or of `keys.yml` for keys that this file does not
//! have.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::config::DEFAULT_TEXT;

/// Keys of lists and of projects' files, which have no defaults.
const OTHERS: &str = include_str!("keys.yml");

static WORDS: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
    let mut words = read(DEFAULT_TEXT);
    words.extend(read(OTHERS));
    words
});

/// Returns the description of a key. A subcommand has the keys of a program.
pub(super) fn about(key: &str) -> Option<&'static str> {
    WORDS
        .get(&key.replace("programs.verbs.", "programs."))
        .map(String::as_str)
}

/// Reads the comment above each key. One comment may explain several keys that follow each other, and that of a group its
/// keys without a comment of their own.
fn read(text: &str) -> HashMap<String, String> {
    let mut found = HashMap::new();
    let mut above: Vec<(usize, &str, Vec<&str>)> = Vec::new();
    let mut comment: Vec<&str> = Vec::new();
    let mut comment_depth = 0;
    let mut open = false;
    for line in text.lines() {
        let depth = line.len() - line.trim_start().len();
        let line = line.trim_start();
        if let Some(words) = line.strip_prefix('#') {
            if !std::mem::replace(&mut open, true) {
                comment.clear();
            }
            comment_depth = depth;
            comment.push(words.strip_prefix(' ').unwrap_or(words));
            continue;
        }
        open = false;
        let Some((key, value)) = line.split_once(':') else {
            comment.clear();
            continue;
        };
        if depth != comment_depth {
            comment.clear();
        }
        above.retain(|(outer, _, _)| *outer < depth);
        let keys = above.iter().map(|(_, key, _)| *key).chain([key]);
        let key_path = keys.collect::<Vec<_>>().join(".");
        let of_group = above.last().map(|(_, _, comment)| comment);
        let words = Some(&comment).filter(|own| !own.is_empty()).or(of_group);
        if let Some(words) = words.filter(|words| !words.is_empty()) {
            found.insert(key_path, words.join("\n"));
        }
        if value.is_empty() {
            above.push((depth, key, std::mem::take(&mut comment)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_belong_to_the_keys_below_them() {
        let found = read(
            "# Top.\n\n# A: one\n# two.\na: 1\nsame: 2\n\ngroup:\n  # In.\n  key: 3\n\n  lower:\n    # Deep.\n    x: 4\n# Both.\nends:\n  of: 5\n  on: 6\nend: 7\n",
        );
        let of = |key: &str| found.get(key).map(String::as_str);
        assert_eq!(of("a"), Some("A: one\ntwo."));
        assert_eq!(of("same"), Some("A: one\ntwo."));
        assert_eq!((of("group"), of("group.key")), (None, Some("In.")));
        assert_eq!((of("group.lower.x"), of("end")), (Some("Deep."), None));
        assert_eq!(
            (of("ends.of"), of("ends.on")),
            (Some("Both."), Some("Both."))
        );
    }
}
