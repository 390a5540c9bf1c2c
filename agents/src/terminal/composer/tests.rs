//! Composers of several agents. Those on recorded screens are in the tests of the agents.

use super::*;

const ONE: &str = "[TeleClaude Checkpoint] - All expected validations were observed.";

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
