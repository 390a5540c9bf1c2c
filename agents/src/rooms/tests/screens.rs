//! Screens of the real agents.

use journal::Agent;

use crate::terminal::screen::View;
use crate::terminal::{Composer, read};
use crate::transcript::tests::fixtures;
use Composer::{Dialog, Draft, Empty, Ours, Unknown};
use Sent::{Big, BigCut, Long, One, Short};

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

/// What was sent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sent {
    Short,
    One,
    Long,
    Big,
    /// The same without its last line break.
    BigCut,
}

impl Sent {
    fn text(self) -> String {
        match self {
            Self::Short => SHORT.to_owned(),
            Self::One => ONE.to_owned(),
            Self::Long => LONG.to_owned(),
            Self::Big => big(),
            Self::BigCut => big().trim_end().to_owned(),
        }
    }
}

/// The composer on each screen, if this text was sent.
const SCREENS: &[(Agent, &str, Sent, Composer)] = &[
    (Agent::Claude, "empty", One, Empty),
    (Agent::Claude, "draft", One, Draft),
    (Agent::Claude, "ours-short", Short, Ours),
    (Agent::Claude, "ours-one", One, Ours),
    (Agent::Claude, "ours-big", Big, Ours),
    (Agent::Claude, "busy", One, Empty),
    (Agent::Claude, "queued", One, Empty),
    (Agent::Claude, "dialog", One, Dialog),
    (Agent::Codex, "empty", One, Empty),
    (Agent::Codex, "busy", One, Empty),
    (Agent::Codex, "draft", One, Draft),
    (Agent::Codex, "ours-short", Short, Ours),
    (Agent::Codex, "ours-big", Big, Ours),
    (Agent::Codex, "glued", Big, Draft),
    (Agent::Codex, "menu", One, Dialog),
    (Agent::Copilot, "empty", One, Empty),
    (Agent::Copilot, "draft", One, Draft),
    (Agent::Copilot, "ours-short", Short, Ours),
    (Agent::Copilot, "ours-one", One, Ours),
    (Agent::Copilot, "ours-big", Big, Ours),
    (Agent::Copilot, "busy", One, Empty),
    (Agent::Copilot, "dialog", One, Dialog),
    (Agent::Gemini, "empty", One, Empty),
    (Agent::Gemini, "yolo", One, Empty),
    (Agent::Gemini, "draft", One, Draft),
    (Agent::Gemini, "ours-short", Short, Ours),
    (Agent::Gemini, "ours-one", One, Ours),
    (Agent::Gemini, "ours-big", BigCut, Draft),
    (Agent::Gemini, "ours-big", Big, Ours),
    (Agent::Gemini, "busy", One, Empty),
    (Agent::Kimi, "empty", One, Empty),
    (Agent::Kimi, "busy", One, Empty),
    (Agent::Kimi, "draft", One, Draft),
    (Agent::Kimi, "ours-short", Short, Ours),
    (Agent::Kimi, "ours-one", One, Ours),
    (Agent::Kimi, "ours-scrolled", Long, Ours),
    (Agent::Kimi, "ours-big", Big, Ours),
    (Agent::Kimi, "completion", One, Draft),
    (Agent::Kimi, "selector", One, Unknown),
    (Agent::Kimi, "shell", One, Unknown),
    (Agent::Kimi, "trust", One, Unknown),
    (Agent::Kimi, "dialog", One, Dialog),
    (Agent::Grok, "empty", One, Empty),
    (Agent::Grok, "draft", One, Draft),
    (Agent::Grok, "ours-short", Short, Ours),
    (Agent::Grok, "ours-one", One, Ours),
    (Agent::Grok, "ours-big", Big, Ours),
    (Agent::Grok, "busy", One, Empty),
    // The first answer, which is chosen, allows everything for good.
    (Agent::Grok, "dialog", One, Unknown),
    (Agent::OpenCode, "empty", One, Empty),
    (Agent::OpenCode, "draft", One, Draft),
    (Agent::OpenCode, "ours-short", Short, Ours),
    (Agent::OpenCode, "ours-one", One, Ours),
    (Agent::OpenCode, "ours-big", Big, Ours),
    (Agent::OpenCode, "busy", One, Empty),
    // It takes the place of the composer, and its answers have no numbers.
    (Agent::OpenCode, "dialog", One, Unknown),
    (Agent::Kilo, "empty", One, Empty),
    (Agent::Kilo, "draft", One, Draft),
    (Agent::Kilo, "ours-short", Short, Ours),
    (Agent::Kilo, "ours-one", One, Ours),
    (Agent::Kilo, "ours-big", Big, Ours),
    (Agent::Kilo, "busy", One, Empty),
    (Agent::Kilo, "dialog", One, Unknown),
    // It asks whether to go on without a copy of a large folder.
    (Agent::Kilo, "snapshot", One, Unknown),
    // In the middle of the screen until the session has begun, it is not read.
    (Agent::Kilo, "start", One, Draft),
    (Agent::OpenHands, "empty", One, Empty),
    (Agent::OpenHands, "draft", One, Draft),
    // Four rows are in sight, which have to hold enough of it.
    (Agent::OpenHands, "ours-short", Short, Draft),
    (Agent::OpenHands, "ours-one", One, Ours),
    (Agent::OpenHands, "ours-big", Big, Ours),
    (Agent::OpenHands, "busy", One, Empty),
    // The composer stays below it, with the cursor.
    (Agent::OpenHands, "dialog", One, Unknown),
    (Agent::OpenHands, "completion", One, Unknown),
    (Agent::Pi, "empty", One, Empty),
    (Agent::Pi, "busy", One, Empty),
    (Agent::Pi, "draft", One, Draft),
    (Agent::Pi, "ours-short", Short, Ours),
    (Agent::Pi, "ours-one", One, Ours),
    (Agent::Pi, "ours-scrolled", Long, Ours),
    (Agent::Pi, "ours-big", Big, Ours),
    // Its cursor is elsewhere while it completes a command.
    (Agent::Pi, "completion", One, Unknown),
    (Agent::Pi, "selector", One, Draft),
    (Agent::Qwen, "empty", One, Empty),
    (Agent::Qwen, "yolo", One, Empty),
    (Agent::Qwen, "draft", One, Draft),
    (Agent::Qwen, "ours-short", Short, Ours),
    (Agent::Qwen, "ours-one", One, Ours),
    (Agent::Qwen, "ours-big", Big, Ours),
    (Agent::Qwen, "busy", One, Empty),
    (Agent::Qwen, "dialog", One, Dialog),
    (Agent::Vibe, "empty", One, Empty),
    (Agent::Vibe, "draft", One, Draft),
    (Agent::Vibe, "ours-short", Short, Ours),
    (Agent::Vibe, "ours-one", One, Ours),
    (Agent::Vibe, "ours-big", Big, Ours),
    (Agent::Vibe, "busy", One, Empty),
    // Its dialogs mark the chosen answer by color only. Nothing is typed into them either way.
    (Agent::Vibe, "dialog", One, Unknown),
];

#[test]
fn the_real_screens_are_read_as_what_they_show() {
    for (agent, name, sent, expected) in SCREENS {
        let view = screen(*agent, name);
        assert_eq!(
            read(*agent, &view, &sent.text()),
            *expected,
            "{agent}: {name}"
        );
        let other = if *sent == Short { ONE } else { SHORT };
        if *expected == Ours {
            assert_eq!(
                read(*agent, &view, other),
                Draft,
                "{agent}: {name}, {other}"
            );
        }
    }
}

#[test]
fn every_recorded_screen_has_a_row() {
    for agent in Agent::HOSTS {
        let folder = std::fs::read_dir(fixtures().join(format!("{agent}/screens")));
        // Some agents' screens are not recorded.
        for file in folder.into_iter().flatten() {
            let name = file.expect("a screen").file_name();
            let name = name.to_string_lossy();
            let mut rows = SCREENS.iter().filter(|row| row.0 == agent);
            let has_row = rows.any(|row| name == format!("{}.txt", row.1));
            assert!(has_row, "{agent}: {name} has no row");
        }
    }
}

#[test]
fn without_the_cursor_in_it_a_composer_does_not_count() {
    for (agent, name, ..) in SCREENS.iter().filter(|row| row.1 == "empty") {
        let mut view = screen(*agent, name);
        for cursor in [(0, 0), (5, 900)] {
            view.cursor = cursor;
            assert_eq!(read(*agent, &view, ONE), Unknown, "{agent}");
        }
    }
    // Neither does a message that was sent.
    let mut sent = screen(Agent::OpenCode, "empty");
    sent.cursor = (5, 2);
    assert_eq!(read(Agent::OpenCode, &sent, ONE), Unknown);
}
