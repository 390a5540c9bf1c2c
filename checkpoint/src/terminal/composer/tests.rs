//! Composers of several agents, and what the tests of each agent's composer share.

use super::*;

pub(crate) const SHORT: &str = "[TeleClaude Checkpoint] - Context-aware checkpoint\n\nChanged: x\n\n1. do it\nsecond line `foo`";
pub(crate) const ONE: &str = "[TeleClaude Checkpoint] - All expected validations were observed.";

/// 63 lines.
pub(crate) fn big() -> String {
    let lines = (1..=60).map(|line| format!("line {line} of a long message that goes on\n"));
    format!(
        "[TeleClaude Checkpoint] - Context-aware checkpoint\n\n{}",
        lines.collect::<String>()
    )
}

/// Reads a screen of a real agent as `tmux capture-pane -e` gave it: a line with the cursor, then the rows.
pub(crate) fn view(picture: &str) -> View {
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

/// Reads a screen from the folder `screens` of an agent's room.
macro_rules! screen {
    ($name:literal) => {
        $crate::terminal::composer::tests::view(include_str!(concat!("../screens/", $name, ".txt")))
    };
}
pub(crate) use screen;

/// Checks what the composers on screens of an agent hold, if this text was sent. Where it is ours, it is a draft if another
/// text was sent.
pub(crate) fn hold<'a>(
    agent: Agent,
    screens: impl IntoIterator<Item = (&'a str, View, &'a str, Composer)>,
) {
    for (name, view, sent, expected) in screens {
        assert_eq!(read(agent, &view, sent), expected, "{name}");
        let other = if sent == SHORT { ONE } else { SHORT };
        if expected == Composer::Ours {
            assert_eq!(
                read(agent, &view, other),
                Composer::Draft,
                "{name}, {other}"
            );
        }
    }
}

/// Checks that the composer of a screen counts only with the cursor in it.
pub(crate) fn needs_the_cursor(agent: Agent, mut view: View) {
    view.cursor = (0, 0);
    assert_eq!(read(agent, &view, ONE), Composer::Unknown);
    view.cursor = (5, 900);
    assert_eq!(read(agent, &view, ONE), Composer::Unknown);
}

#[test]
fn the_prompt_of_a_shell_is_not_a_composer() {
    for agent in Agent::HOSTS {
        let shell = View {
            screen: "$ \n".into(),
            cursor: (2, 0),
            cursor_shown: true,
        };
        assert_eq!(read(agent, &shell, ONE), Composer::Unknown);
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
