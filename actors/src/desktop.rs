//! Notifications on the user's desktop (spec LISTEN-10).
//!
//! Every user of a machine can read command lines, so one of these holds no word of an agent or a person: only which
//! agent it is, what it does, its project's folder and its pane.

use std::path::Path;

use checkpoint::SessionState;
use checkpoint::config::UserCommand;
use journal::Notification;

/// The longest name of a project that is shown.
const NAME_CHARS_MAX: usize = 60;

/// Returns the command that shows a notification; `None` for news that need no action.
pub(crate) fn command(news: Notification, state: &SessionState) -> Option<UserCommand> {
    let does = match news {
        Notification::AgentFinished => "has finished",
        Notification::NeedsAttention => "needs you",
        Notification::CheckpointSent => return None,
    };
    let title = format!("{} {does}", state.stream.agent.word());
    let words = if cfg!(target_os = "macos") {
        on_macos(title, about(state))
    } else {
        elsewhere(title, &about(state), news == Notification::NeedsAttention)
    };
    Some(UserCommand::Words(words))
}

/// Returns which session it is: the project's folder, and the tmux pane if there is one.
fn about(state: &SessionState) -> String {
    let name = Path::new(state.project()).file_name();
    let name = name.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let pane = state.place.env("TMUX_PANE").unwrap_or_default();
    let whole = format!("{name} {pane}");
    let shown = whole.trim().chars().map(|c| match c {
        c if c.is_control() => ' ',
        c => c,
    });
    shown.take(NAME_CHARS_MAX).collect()
}

/// The texts are arguments of the script, so they cannot be read as a part of it.
fn on_macos(title: String, about: String) -> Vec<String> {
    let script = [
        "osascript",
        "-e",
        "on run texts",
        "-e",
        "display notification (item 2 of texts) with title (item 1 of texts)",
        "-e",
        "end run",
        "--",
    ];
    let texts = [title, about];
    script.map(str::to_owned).into_iter().chain(texts).collect()
}

fn elsewhere(title: String, about: &str, is_urgent: bool) -> Vec<String> {
    let urgency = if is_urgent { "critical" } else { "normal" };
    let mut words = [
        "notify-send",
        "--app-name",
        "checkpointd",
        "--urgency",
        urgency,
        "--",
    ]
    .map(str::to_owned)
    .to_vec();
    // Desktops read the text below the title as markup.
    let escaped = about
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    words.extend([title, escaped]);
    words
}

#[cfg(test)]
mod tests {
    use journal::{Agent, Stream};

    use super::*;

    #[test]
    fn a_name_is_one_line_and_no_markup() {
        let mut state = SessionState::new(Stream::of_native(Agent::Claude, "s"));
        state.place.cwd = format!("/code/a\n<b>&{}", "x".repeat(100));
        let about = about(&state);
        assert_eq!(about.chars().count(), NAME_CHARS_MAX);
        let words = elsewhere("claude has finished".into(), &about, true);
        let tail = &words[4..];
        assert_eq!(tail[..3], ["critical", "--", "claude has finished"]);
        assert!(tail[3].starts_with("a &lt;b&gt;&amp;xxx"), "{tail:?}");
        let words = on_macos("t".into(), "\" & evil".into());
        assert_eq!(words[words.len() - 3..], ["--", "t", "\" & evil"]);
    }
}
