//! Screens of the real agents, as `tmux capture-pane -e` gave them.

use super::*;

const SHORT: &str = "[TeleClaude Checkpoint] - Context-aware checkpoint\n\nChanged: x\n\n1. do it\nsecond line `foo`";
const ONE: &str = "[TeleClaude Checkpoint] - All expected validations were observed.";

/// 63 lines.
fn big() -> String {
    let lines = (1..=60).map(|line| format!("line {line} of a long message that goes on\n"));
    format!(
        "[TeleClaude Checkpoint] - Context-aware checkpoint\n\n{}",
        lines.collect::<String>()
    )
}

/// Reads a picture: a line with the cursor, then the screen.
fn view(picture: &str) -> View {
    let (head, screen) = picture.split_once('\n').expect("a head");
    let mut words = head.split(' ');
    let mut number = || {
        words
            .next()
            .and_then(|word| word.parse().ok())
            .expect("a number")
    };
    let cursor = (number(), number());
    View {
        screen: screen.to_owned(),
        cursor,
        cursor_shown: words.next() == Some("shown"),
    }
}

macro_rules! picture {
    ($name:literal) => {
        view(include_str!(concat!("screens/", $name, ".txt")))
    };
}

#[test]
fn the_real_screens_are_read_as_what_they_show() {
    use Agent::{Claude, Codex, Gemini};
    use Composer::{Dialog, Draft, Empty, Ours};
    let big = big();
    for (name, agent, view, ours, expected) in [
        ("claude-empty", Claude, picture!("claude-empty"), ONE, Empty),
        ("claude-draft", Claude, picture!("claude-draft"), ONE, Draft),
        (
            "claude-ours-short",
            Claude,
            picture!("claude-ours-short"),
            SHORT,
            Ours,
        ),
        (
            "claude-ours-one",
            Claude,
            picture!("claude-ours-one"),
            ONE,
            Ours,
        ),
        (
            "claude-ours-big",
            Claude,
            picture!("claude-ours-big"),
            &big,
            Ours,
        ),
        ("claude-busy", Claude, picture!("claude-busy"), ONE, Empty),
        (
            "claude-queued",
            Claude,
            picture!("claude-queued"),
            ONE,
            Empty,
        ),
        (
            "claude-dialog",
            Claude,
            picture!("claude-dialog"),
            ONE,
            Dialog,
        ),
        ("gemini-empty", Gemini, picture!("gemini-empty"), ONE, Empty),
        ("gemini-yolo", Gemini, picture!("gemini-yolo"), ONE, Empty),
        ("gemini-draft", Gemini, picture!("gemini-draft"), ONE, Draft),
        (
            "gemini-ours-short",
            Gemini,
            picture!("gemini-ours-short"),
            SHORT,
            Ours,
        ),
        (
            "gemini-ours-one",
            Gemini,
            picture!("gemini-ours-one"),
            ONE,
            Ours,
        ),
        (
            "gemini-ours-big",
            Gemini,
            picture!("gemini-ours-big"),
            big.trim_end(),
            Draft,
        ),
        (
            "gemini-ours-big",
            Gemini,
            picture!("gemini-ours-big"),
            &big,
            Ours,
        ),
        ("gemini-busy", Gemini, picture!("gemini-busy"), ONE, Empty),
        ("codex-empty", Codex, picture!("codex-empty"), ONE, Empty),
        ("codex-busy", Codex, picture!("codex-busy"), ONE, Empty),
        ("codex-draft", Codex, picture!("codex-draft"), ONE, Draft),
        (
            "codex-ours-short",
            Codex,
            picture!("codex-ours-short"),
            SHORT,
            Ours,
        ),
        (
            "codex-ours-big",
            Codex,
            picture!("codex-ours-big"),
            &big,
            Ours,
        ),
        ("codex-glued", Codex, picture!("codex-glued"), &big, Draft),
        ("codex-menu", Codex, picture!("codex-menu"), ONE, Dialog),
    ] {
        assert_eq!(read(agent, &view, ours), expected, "{name}");
    }
}

#[test]
fn another_text_in_the_place_of_ours_is_a_draft() {
    for (agent, view, other) in [
        (Agent::Claude, picture!("claude-ours-short"), ONE),
        (Agent::Claude, picture!("claude-ours-one"), SHORT),
        (Agent::Claude, picture!("claude-ours-big"), SHORT),
        (Agent::Gemini, picture!("gemini-ours-short"), ONE),
        (Agent::Codex, picture!("codex-ours-big"), SHORT),
    ] {
        assert_eq!(read(agent, &view, other), Composer::Draft, "{other}");
    }
}

#[test]
fn without_the_cursor_in_it_a_composer_is_none() {
    for (agent, mut view) in [
        (Agent::Claude, picture!("claude-empty")),
        (Agent::Gemini, picture!("gemini-empty")),
        (Agent::Codex, picture!("codex-empty")),
    ] {
        view.cursor = (0, 0);
        assert_eq!(read(agent, &view, ONE), Composer::Unknown);
        view.cursor = (5, 900);
        assert_eq!(read(agent, &view, ONE), Composer::Unknown);
        for other in Agent::HOSTS.into_iter().filter(|other| *other != agent) {
            let shell = View {
                screen: "$ \n".into(),
                cursor: (2, 0),
                cursor_shown: true,
            };
            assert_eq!(read(other, &shell, ONE), Composer::Unknown);
        }
    }
}

#[test]
fn frames_older_versions_and_questions_are_known() {
    let at = |screen: &str, cursor, agent| {
        read(
            agent,
            &View {
                screen: screen.into(),
                cursor,
                cursor_shown: true,
            },
            ONE,
        )
    };
    let rule = "─".repeat(30);
    let framed = |line: &str| format!("╭{rule}╮\n│ > {line:26} │\n╰{rule}╯\n  footer");
    for agent in [Agent::Claude, Agent::Gemini] {
        assert_eq!(at(&framed(""), (4, 1), agent), Composer::Empty, "{agent}");
        assert_eq!(
            at(&framed("half a draft"), (16, 1), agent),
            Composer::Draft,
            "{agent}"
        );
    }
    // Lines of a draft that begin as composers do.
    for (line, begins) in [
        (" > - a", "   > "),
        (" * a list", "   * "),
        (" > a list", "   * "),
    ] {
        let screen = format!("{rule}\n hint\n{line}\n{begins}\n");
        assert_eq!(
            at(&screen, (5, 3), Agent::Gemini),
            Composer::Draft,
            "{line}"
        );
    }
    assert_eq!(
        at(&format!("{rule}\n ! ls\n"), (5, 1), Agent::Gemini),
        Composer::Unknown,
        "its shell mode"
    );
    assert_eq!(
        at(
            "  Allow command?\n\n› 1. Yes, proceed (y)\n  2. No (esc)\n",
            (0, 3),
            Agent::Codex
        ),
        Composer::Dialog
    );
    assert_eq!(
        at(
            "│ Allow?\n│ ● 1. Allow once\n│   2. No\n",
            (0, 3),
            Agent::Gemini
        ),
        Composer::Dialog
    );
    assert_eq!(
        at("! ls", (4, 0), Agent::Codex),
        Composer::Unknown,
        "a shell line of the agent's"
    );
    assert_eq!(
        at(&format!("{rule}\n! ls\n{rule}"), (4, 1), Agent::Claude),
        Composer::Unknown
    );
}
