//! The patches that Codex applies: `*** Begin Patch`, then `*** Add|Update|Delete File: PATH` and `*** Move to: PATH`.

use journal::ToolKind;

/// The effect of a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Patch {
    /// Write if it only adds files, otherwise edit.
    pub(super) kind: ToolKind,
    pub(super) paths: Vec<String>,
    /// The files that it creates.
    pub(super) created: Vec<String>,
    /// Those of them of whose text it quotes lines, without which it would not apply.
    pub(super) quoted: Vec<String>,
}

/// Reads the headers of a patch; none if it has none.
pub(super) fn read(text: &str) -> Option<Patch> {
    let (mut kind, mut paths, mut created) = (ToolKind::Write, Vec::new(), Vec::new());
    let mut quoted: Vec<String> = Vec::new();
    for line in text.lines() {
        let Some(header) = line.trim_end().strip_prefix("*** ") else {
            let quotes = line.starts_with(['-', ' ']) && line.len() > 1;
            if let Some(path) = paths.last().filter(|path| quotes && !quoted.contains(path)) {
                quoted.push(String::clone(path));
            }
            continue;
        };
        let (path, makes) = if let Some(path) = header.strip_prefix("Add File: ") {
            (path, true)
        } else if let Some(path) = header
            .strip_prefix("Update File: ")
            .or_else(|| header.strip_prefix("Delete File: "))
        {
            (path, false)
        } else if let Some(path) = header.strip_prefix("Move to: ") {
            (path, true)
        } else {
            continue;
        };
        if !header.starts_with("Add File: ") {
            kind = ToolKind::Edit;
        }
        let path = path.trim().to_owned();
        if makes {
            created.push(path.clone());
        }
        paths.push(path);
    }
    (!paths.is_empty()).then_some(Patch {
        kind,
        paths,
        created,
        quoted,
    })
}

/// Reads the patch that a shell command hands to `apply_patch`; none if it does no such thing.
pub(super) fn in_command(command: &str) -> Option<Patch> {
    let (before, patch) = command.split_once("*** Begin Patch")?;
    let mut words = before.split(|c: char| c.is_whitespace() || ";&|'\"(".contains(c));
    words.find(|word| matches!(word.rsplit('/').next(), Some("apply_patch" | "applypatch")))?;
    read(patch)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(patch: Option<Patch>, kind: ToolKind, paths: &[&str], created: &[&str]) {
        let patch = patch.expect("a patch");
        assert_eq!(patch.created, created);
        assert_eq!(
            (patch.kind, patch.paths),
            (kind, paths.iter().map(|path| (*path).to_owned()).collect())
        );
    }

    #[test]
    fn headers_name_the_files() {
        check(
            read("*** Begin Patch\n*** Add File: a b.txt\n+x\n*** End Patch\n"),
            ToolKind::Write,
            &["a b.txt"],
            &["a b.txt"],
        );
        check(
            read(
                "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n+*** Add File: no\n*** Add File: c\r\n+y\n*** Delete File: d\n",
            ),
            ToolKind::Edit,
            &["a", "b", "c", "d"],
            &["b", "c"],
        );
        assert_eq!(read("*** Begin Patch\n*** End Patch"), None);
    }

    #[test]
    fn shell_commands_that_apply_a_patch_are_seen() {
        let heredoc = "cd sub && /usr/bin/apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: n.txt\n+a\n*** End Patch\nEOF";
        check(in_command(heredoc), ToolKind::Write, &["n.txt"], &["n.txt"]);
        assert_eq!(
            in_command("cat <<'EOF'\n*** Begin Patch\n*** Add File: n.txt\nEOF"),
            None
        );
        assert_eq!(in_command("apply_patch --help"), None);
    }
}
