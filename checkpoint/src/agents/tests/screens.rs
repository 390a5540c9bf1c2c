//! Screens of the real agents.

use journal::Agent;

use crate::terminal::screen::View;
use crate::terminal::{Composer, read};
use crate::transcript::tests::fixtures;

const SHORT: &str = "[TeleClaude Checkpoint] - Context-aware checkpoint\n\nChanged: x\n\n1. do it\nsecond line `foo`";
const ONE: &str = "[TeleClaude Checkpoint] - All expected validations were observed.";

/// Longer than the composers of Kimi Code and Pi are high.
const LONG: &str = "[TeleClaude Checkpoint] - Context-aware checkpoint\n\n\
    1. a rather long line of a message that goes on and on, so that it wraps\n\
    2. a rather long line of a message that goes on and on, so that it wraps\n\
    3. a rather long line of a message that goes on and on, so that it wraps\n\
    4. a rather long line of a message that goes on and on, so that it wraps\n\
    5. a rather long line of a message that goes on and on, so that it wraps\n\
    6. a rather long line of a message that goes on and on, so that it wraps\n\
    7. a rather long line of a message that goes on and on, so that it wraps\n\
    end";

/// 63 lines.
fn big() -> String {
    let lines = (1..=60).map(|line| format!("line {line} of a long message that goes on\n"));
    format!(
        "[TeleClaude Checkpoint] - Context-aware checkpoint\n\n{}",
        lines.collect::<String>()
    )
}

/// Reads a screen of a real agent as `tmux capture-pane -e` gave it: a line with the cursor, then the rows.
fn screen(agent: Agent, name: &str) -> View {
    let path = fixtures().join(format!("{agent}/screens/{name}.txt"));
    let picture = std::fs::read_to_string(path).expect("a recorded screen");
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

/// The composer on each screen, if this text was sent.
fn recorded() -> Vec<(Agent, &'static str, String, Composer)> {
    use Composer::{Dialog, Draft, Empty, Ours, Unknown};
    let big = &*big();
    let rows = [
        (Agent::Claude, "empty", ONE, Empty),
        (Agent::Claude, "draft", ONE, Draft),
        (Agent::Claude, "ours-short", SHORT, Ours),
        (Agent::Claude, "ours-one", ONE, Ours),
        (Agent::Claude, "ours-big", big, Ours),
        (Agent::Claude, "busy", ONE, Empty),
        (Agent::Claude, "queued", ONE, Empty),
        (Agent::Claude, "dialog", ONE, Dialog),
        (Agent::Codex, "empty", ONE, Empty),
        (Agent::Codex, "busy", ONE, Empty),
        (Agent::Codex, "draft", ONE, Draft),
        (Agent::Codex, "ours-short", SHORT, Ours),
        (Agent::Codex, "ours-big", big, Ours),
        (Agent::Codex, "glued", big, Draft),
        (Agent::Codex, "menu", ONE, Dialog),
        (Agent::Copilot, "empty", ONE, Empty),
        (Agent::Copilot, "draft", ONE, Draft),
        (Agent::Copilot, "ours-short", SHORT, Ours),
        (Agent::Copilot, "ours-one", ONE, Ours),
        (Agent::Copilot, "ours-big", big, Ours),
        (Agent::Copilot, "busy", ONE, Empty),
        (Agent::Copilot, "dialog", ONE, Dialog),
        (Agent::Gemini, "empty", ONE, Empty),
        (Agent::Gemini, "yolo", ONE, Empty),
        (Agent::Gemini, "draft", ONE, Draft),
        (Agent::Gemini, "ours-short", SHORT, Ours),
        (Agent::Gemini, "ours-one", ONE, Ours),
        (Agent::Gemini, "ours-big", big.trim_end(), Draft),
        (Agent::Gemini, "ours-big", big, Ours),
        (Agent::Gemini, "busy", ONE, Empty),
        (Agent::Kimi, "empty", ONE, Empty),
        (Agent::Kimi, "busy", ONE, Empty),
        (Agent::Kimi, "draft", ONE, Draft),
        (Agent::Kimi, "ours-short", SHORT, Ours),
        (Agent::Kimi, "ours-one", ONE, Ours),
        (Agent::Kimi, "ours-scrolled", LONG, Ours),
        (Agent::Kimi, "ours-big", big, Ours),
        (Agent::Kimi, "completion", ONE, Draft),
        (Agent::Kimi, "selector", ONE, Unknown),
        (Agent::Kimi, "shell", ONE, Unknown),
        (Agent::Kimi, "trust", ONE, Unknown),
        (Agent::Kimi, "dialog", ONE, Dialog),
        (Agent::OpenCode, "empty", ONE, Empty),
        (Agent::OpenCode, "draft", ONE, Draft),
        (Agent::OpenCode, "ours-short", SHORT, Ours),
        (Agent::OpenCode, "ours-one", ONE, Ours),
        (Agent::OpenCode, "ours-big", big, Ours),
        (Agent::OpenCode, "busy", ONE, Empty),
        // It takes the place of the composer, and its answers have no numbers.
        (Agent::OpenCode, "dialog", ONE, Unknown),
        (Agent::Pi, "empty", ONE, Empty),
        (Agent::Pi, "busy", ONE, Empty),
        (Agent::Pi, "draft", ONE, Draft),
        (Agent::Pi, "ours-short", SHORT, Ours),
        (Agent::Pi, "ours-one", ONE, Ours),
        (Agent::Pi, "ours-scrolled", LONG, Ours),
        (Agent::Pi, "ours-big", big, Ours),
        // Its cursor is elsewhere while it completes a command.
        (Agent::Pi, "completion", ONE, Unknown),
        (Agent::Pi, "selector", ONE, Draft),
        (Agent::Qwen, "empty", ONE, Empty),
        (Agent::Qwen, "yolo", ONE, Empty),
        (Agent::Qwen, "draft", ONE, Draft),
        (Agent::Qwen, "ours-short", SHORT, Ours),
        (Agent::Qwen, "ours-one", ONE, Ours),
        (Agent::Qwen, "ours-big", big, Ours),
        (Agent::Qwen, "busy", ONE, Empty),
        (Agent::Qwen, "dialog", ONE, Dialog),
        (Agent::Vibe, "empty", ONE, Empty),
        (Agent::Vibe, "draft", ONE, Draft),
        (Agent::Vibe, "ours-short", SHORT, Ours),
        (Agent::Vibe, "ours-one", ONE, Ours),
        (Agent::Vibe, "ours-big", big, Ours),
        (Agent::Vibe, "busy", ONE, Empty),
        // Its dialogs mark the chosen answer by color only. Nothing is typed into them either way.
        (Agent::Vibe, "dialog", ONE, Unknown),
    ];
    let owned = rows.into_iter();
    owned
        .map(|(agent, name, sent, composer)| (agent, name, sent.to_owned(), composer))
        .collect()
}

#[test]
fn the_real_screens_are_read_as_what_they_show() {
    for (agent, name, sent, expected) in recorded() {
        let view = screen(agent, name);
        assert_eq!(read(agent, &view, &sent), expected, "{agent}: {name}");
        let other = if sent == SHORT { ONE } else { SHORT };
        if expected == Composer::Ours {
            let draft = read(agent, &view, other);
            assert_eq!(draft, Composer::Draft, "{agent}: {name}, {other}");
        }
    }
}

#[test]
fn every_recorded_screen_has_a_row() {
    let rows = recorded();
    for agent in Agent::HOSTS {
        let folder = std::fs::read_dir(fixtures().join(format!("{agent}/screens")));
        // Some agents' screens are not recorded.
        for file in folder.into_iter().flatten() {
            let name = file.expect("a screen").file_name();
            let name = name.to_string_lossy();
            let is_its = |row: &(Agent, &str, String, Composer)| {
                row.0 == agent && name == format!("{}.txt", row.1)
            };
            assert!(rows.iter().any(is_its), "{agent}: {name} has no row");
        }
    }
}

#[test]
fn without_the_cursor_in_it_a_composer_does_not_count() {
    let agents = recorded().into_iter().filter(|row| row.1 == "empty");
    for (agent, name, ..) in agents {
        let mut view = screen(agent, name);
        for cursor in [(0, 0), (5, 900)] {
            view.cursor = cursor;
            assert_eq!(read(agent, &view, ONE), Composer::Unknown, "{agent}");
        }
    }
    // Neither does a message that was sent.
    let mut sent = screen(Agent::OpenCode, "empty");
    sent.cursor = (5, 2);
    assert_eq!(read(Agent::OpenCode, &sent, ONE), Composer::Unknown);
}
