//! OpenHands CLI. Its payloads have the same fields for all hooks, and name neither a call nor a turn. It keeps each event of
//! a session in a file of its own, which is not read.

use std::sync::LazyLock;

use journal::{Agent, ReplyForm};
use serde_json::Value;

use crate::adapter::{Adapter, ComposerForm, DEFAULT, Variables};
use crate::known::{Known, known};
use crate::terminal::screen::{Row, View};
use crate::terminal::text_box::{TextBox, frame};
use crate::tools::{ResultText, Tools, flag, plain};

pub(super) const OPENHANDS: Adapter = Adapter {
    agent: Agent::OpenHands,
    program: "openhands",
    // The call says nothing but the session.
    repeats_stops: true,
    variables: Variables::project("OPENHANDS_PROJECT_DIR"),
    tools: &Tools {
        known: || &KNOWN,
        response: |_, response| {
            let exit_code = response.get("exit_code").and_then(Value::as_i64);
            ResultText {
                is_error: flag(response).filter(|is_error| *is_error),
                exit_code,
                running: exit_code == Some(RUNNING),
                text: plain(response),
                ..ResultText::default()
            }
        },
        ..Tools::PLAIN
    },
    reply_form: ReplyForm::Deny,
    takes_silently: true,
    hears_start: false,
    composer: Some(ComposerForm {
        find: composer,
        stands_for: |_, _| false,
    }),
    // A pasted text of several lines makes Enter begin one more.
    submit: |text| match text.trim().contains('\n') {
        true => "C-j",
        false => "Enter",
    },
    ..DEFAULT
};

/// The exit code of a command that it does not wait for any longer.
const RUNNING: i64 = -1;

/// The column of the text in the composer.
const START: usize = 3;

/// Finds rows in a frame, while the keys at the foot of the screen are those of the text in it: its dialogs leave the
/// composer and the cursor where they are.
fn composer<'a>(rows: &'a [Row], view: &View) -> Option<TextBox<'a>> {
    let (first, end) = frame(rows, view)?;
    let mut keys = rows[end..].iter().map(|row| row.text.trim_start());
    let is_typed_in = keys.any(|keys| keys.starts_with("^a Select all"));
    if !is_typed_in || view.cursor.0 < START {
        return None;
    }
    let at_start = view.cursor == (START, first);
    let hints = ["Type your message, "];
    Some(TextBox::new(&rows[first..end], START, at_start, &hints))
}

static KNOWN: LazyLock<Known> = known!("openhands");
