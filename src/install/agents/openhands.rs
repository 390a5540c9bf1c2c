//! OpenHands CLI: it ends at its start if a file of hooks has a name that it does not know, or one name twice; and a
//! project's file takes the place of the user's.

use std::path::Path;

use serde_json::{Map, Value};

use crate::edit::files;
use crate::install::change::AgentPlan;
use crate::install::check::Check;
use crate::install::found::Found;
use crate::install::hooks::{Row, rows};
use crate::install::settings;

/// All events that there are: a name that it does not know ends the program.
pub(super) const ROWS: &[Row] = rows!(
    SessionStart, UserPromptSubmit, PreToolUse, PostToolUse, Stop: Reply, SessionEnd
);

/// Says why our hooks cannot be added to a file.
pub(in crate::install) fn refuses(file: &Path) -> Option<String> {
    let root = serde_json::from_str::<Map<String, Value>>(&files::now(file)).ok()?;
    let Some(hooks) = root.get("hooks") else {
        // Beside ours they would not be read any more.
        let event = root.keys().next()?;
        return Some(format!("`{event}` is not below `hooks`; move it there"));
    };
    let known = ROWS;
    let is_unknown = |name: &&String| !known.iter().any(|(event, ..)| event == name);
    let unknown = hooks.as_object()?.keys().find(is_unknown)?;
    let known: Vec<_> = ROWS.iter().map(|(event, ..)| *event).collect();
    let known = known.join(", ");
    Some(format!("`hooks.{unknown}` is none of {known}; rename it"))
}

/// `doctor`'s checks of the file of this folder's project.
pub(in crate::install) fn checks(found: &Found, _: &AgentPlan) -> Vec<Check> {
    let file = Path::new(".openhands/hooks.json");
    if !file.is_file() {
        return Vec::new();
    }
    let name = format!("{}.project", found.agent);
    if let Some(wrong) = refuses(file) {
        let detail = format!(
            "OpenHands may end at its start here: {}: {wrong}",
            file.display()
        );
        return vec![Check::fail(name, detail, "mend the file")];
    }
    let hooks = settings::handlers(&files::now(file)).unwrap_or_default();
    if hooks.iter().any(|hook| hook.client.is_some()) {
        return Vec::new();
    }
    let detail = format!("OpenHands reads {} in place of your hooks", file.display());
    let fix = "checkpointd init --agent openhands --project .";
    vec![Check::warn(name, detail, fix)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_would_end_the_agent_or_lose_hooks_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("hooks.json");
        assert_eq!(refuses(&file), None, "there is none");
        for (text, expected) in [
            ("{}", ""),
            (r#"{"hooks": {"Stop": []}}"#, ""),
            (r#"{"Stop": []}"#, "`Stop` is not below `hooks`"),
            (r#"{"hooks": {"stop": []}}"#, "`hooks.stop` is none of"),
            (
                r#"{"hooks": {"PreCompact": []}}"#,
                "`hooks.PreCompact` is none of",
            ),
        ] {
            std::fs::write(&file, text).expect("writes");
            let reason = refuses(&file).unwrap_or_default();
            assert!(reason.starts_with(expected), "{text}: {reason}");
            assert_eq!(reason.is_empty(), expected.is_empty(), "{text}: {reason}");
        }
    }
}
