//! `notify`, the one program that a Codex without hooks calls at the end of a turn.

use std::path::Path;

use toml_edit::Item;

use super::toml::{Result, line_end, newline, parse, toml_string, valid};
use crate::install::change::{Entry, Status};
use crate::install::hooks;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Notify {
    Absent,
    /// Our client, with its path.
    Ours(String),
    /// A program of the user.
    Foreign,
}

pub(crate) fn notify(text: &str) -> Result<Notify> {
    let document = parse(text)?;
    let Some(item) = document.as_table().get("notify") else {
        return Ok(Notify::Absent);
    };
    let words = item.as_array();
    let words: Option<Vec<&str>> =
        words.map(|words| words.iter().filter_map(|it| it.as_str()).collect());
    Ok(match words.as_deref() {
        Some([client, "codex"])
            if Path::new(client)
                .file_name()
                .is_some_and(|name| name == hooks::CLIENT) =>
        {
            Notify::Ours((*client).to_owned())
        }
        _ => Notify::Foreign,
    })
}

/// Sets `notify` to our client. A program of the user's stays: Codex calls only one.
pub(super) fn set_notify(text: &str, client: &str) -> Result<(String, Entry)> {
    let status = match notify(text)? {
        Notify::Ours(there) if there == client => {
            return Ok((text.to_owned(), Entry::new("notify", Status::AlreadyThere)));
        }
        Notify::Foreign => return Ok((text.to_owned(), Entry::new("notify", Status::Kept))),
        Notify::Ours(_) => Status::Updated,
        Notify::Absent => Status::Added,
    };
    let cleared = clear_notify(text)?.0;
    // At the top, where it cannot be part of a table.
    let (client, newline) = (toml_string(client), newline(text));
    let line = format!("notify = [{client}, \"codex\"]{newline}");
    Ok((valid(line + &cleared)?, Entry::new("notify", status)))
}

/// Removes our `notify`.
pub(super) fn clear_notify(text: &str) -> Result<(String, Option<Entry>)> {
    if !matches!(notify(text)?, Notify::Ours(_)) {
        return Ok((text.to_owned(), None));
    }
    let document = parse(text)?;
    let value = document.as_table().get("notify").and_then(Item::span);
    let value = value.expect("it was found");
    let start = text[..value.start].rfind('\n').map_or(0, |end| end + 1);
    let cleared = [&text[..start], &text[line_end(text, value.end)..]].concat();
    Ok((valid(cleared)?, Some(Entry::new("notify", Status::Removed))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notify_goes_to_the_top_and_a_program_of_the_users_stays() {
        let text = "model = \"x\"\n[tui]\n";
        let (with, entry) = set_notify(text, "/b/checkpointd-hook").expect("TOML");
        assert_eq!(
            with,
            format!("notify = [\"/b/checkpointd-hook\", \"codex\"]\n{text}")
        );
        assert_eq!(entry.status, Status::Added);
        let (moved, entry) = set_notify(&with, "/c/checkpointd-hook").expect("TOML");
        assert_eq!(
            (moved.matches("notify").count(), entry.status),
            (1, Status::Updated)
        );
        assert_eq!(clear_notify(&moved).expect("TOML").0, text);
        let own = "notify = [\"say\", \"codex\"]\n";
        let (same, entry) = set_notify(own, "/b/checkpointd-hook").expect("TOML");
        assert_eq!((same.as_str(), entry.status), (own, Status::Kept));
    }
}
