//! The DeepSeek Harness: our plugin, and the entry that mounts it, in a list of patches that its user may have too.

use std::path::Path;

use crate::install::change::{Entry, Kind, Status};
use crate::install::edits::{Edit, Result};
use crate::install::hooks::HookEntry;
use crate::install::plugin::Plugin;

/// The list, beside the plugin.
pub(in crate::install) const PATCHES: &str = "cordis.patch.yml";

const ENTRY: &str = "- insert:\n    - id: checkpointd\n      name: ./checkpointd.mjs\n";

/// Plans both files.
pub(in crate::install) fn edits(
    plugin: &Plugin,
    file: &Path,
    wanted: &[HookEntry],
    client: &Path,
) -> Result<Vec<Edit>> {
    let patches = file.with_file_name(PATCHES);
    let mounted = Edit::new(Kind::Trust, &patches, |text| {
        let (after, status) = mount(text)?;
        Ok((after, vec![Entry::new("checkpointd", status)]))
    })?;
    Ok(vec![
        plugin.edit(journal::Agent::Dsh, file, wanted, client)?,
        mounted,
    ])
}

fn mount(text: &str) -> Result<(String, Status)> {
    if text.contains(ENTRY) {
        return Ok((text.to_owned(), Status::AlreadyThere));
    }
    let is_entry = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
    let mut lines = text.lines().filter(is_entry);
    if lines.any(|line| !line.starts_with(['-', ' '])) {
        return Err("it is not a list with `- ` before each entry".into());
    }
    let end = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    Ok((format!("{text}{end}{ENTRY}"), Status::Added))
}

/// Removes the entry from the list.
pub(in crate::install) fn strip(text: &str) -> (String, Vec<Entry>) {
    let rest = text.replace(ENTRY, "");
    let removed = (rest != text).then(|| Entry::new("checkpointd", Status::Removed));
    (rest, removed.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_is_added_once_and_removed_again() {
        for text in [
            "",
            "# Mine.\n- id: llm\n  config:\n    a: 1\n",
            "- id: llm\n",
        ] {
            let (with, status) = mount(text).expect("a list");
            assert_eq!((with.ends_with(ENTRY), status), (true, Status::Added));
            assert_eq!(mount(&with), Ok((with.clone(), Status::AlreadyThere)));
            assert_eq!(strip(&with).0, text);
        }
        for other in ["[]\n", "id: llm\n", "[{id: llm}]"] {
            assert!(mount(other).is_err(), "{other}");
        }
    }
}
