//! An agent that does not exist: what its file would hold is enough to read its hook calls, transcripts and screens.

use std::sync::LazyLock;

use journal::{Event, Host, ReplyForm, Timestamp, ToolKind};
use serde_json::json;

use crate::adapter::Reply;
use crate::adapter::{Adapter, ComposerForm, DEFAULT, Library};
use crate::hooks::payload::Payload;
use crate::known::Known;
use crate::rooms::authors;
use crate::terminal::Composer;
use crate::terminal::composer::read_as;
use crate::terminal::screen::View;
use crate::terminal::text_box::between_rules;
use crate::tools::{ResultText, Tools};
use crate::transcript::forward::{Forward, Read, Reader};
use crate::transcript::json::Object;
use crate::transcript::normal::Entry;
use crate::transcript::tail::{Part, Parts, Tail};

const GHOST: Adapter = Adapter {
    program: "ghost",
    tools: &TOOLS,
    forward: Forward::lines(|| &KNOWN, line),
    library: Library::of("GHOST_HOME", ".ghost", &["sessions/*.jsonl"]),
    reply_form: ReplyForm::Deny,
    composer: Some(ComposerForm {
        find: |rows, view| between_rules(rows, view, &['?'], &[]),
        stands_for: |shown, _| shown == "[text]",
    }),
    ..DEFAULT
};

static KNOWN: LazyLock<Known> =
    LazyLock::new(|| Known::read("ghost", "tools: {shell: [haunt]}\nmarks: [said, ran]\n"));

const TOOLS: Tools = Tools {
    known: || &KNOWN,
    ..Tools::PLAIN
};

fn line<'a>(text: &'a str, reader: &mut Reader<'a, '_>) -> serde_json::Result<Read> {
    let line = Object::read(text)?;
    let at = line.millis("at").unwrap_or_default();
    if let Some(said) = line.text("said") {
        reader.user(said, at);
        return Ok(Read::Own { may_begin: true });
    }
    let input = json!({ "command": line.word("ran") });
    let begun = Entry::begun(&TOOLS, "1", "haunt", &input, at);
    let failed = ResultText::of(Some(true), "boo".into());
    let ended = Entry::result(Some("1".into()), failed, at);
    reader.entries.extend([begun].into_iter().chain(ended));
    Ok(Read::Own { may_begin: false })
}

#[test]
fn its_hooks_are_those_that_claude_code_named_first() {
    let authors = authors("[Ours]");
    let payload =
        json!({ "tool_name": "haunt", "tool_input": { "command": "make" }, "tool_response": "ok" });
    let payload = Payload::new(&payload, Timestamp::default(), &authors);
    let event = (GHOST.event)("PostToolUse", Host::default(), &payload, GHOST.tools);
    let Event::ToolFinished { call, .. } = event else {
        panic!("no call");
    };
    let known = (call.kind, call.command.as_deref(), call.is_error);
    assert_eq!(known, (ToolKind::Shell, Some("make"), false));
    assert_eq!(GHOST.reply_form(Reply::Context, None), ReplyForm::Deny);
}

#[test]
fn its_transcript_is_read_line_by_line() {
    let text = "{\"said\":\"before\"}\n{\"other\":1}\n{\"said\":\"go\",\"at\":7}\n{\"ran\":\"make\"}\n{\"ran\":";
    let mut part = Some(Part::of(text.as_bytes(), true));
    let mut before = || part.take();
    let parts = Parts::new(&mut before);
    let facts = GHOST.transcript(Tail::new(&parts, false), &authors("[Ours]"));
    let facts = facts.expect("its lines");
    assert_eq!(
        (facts.prompts, facts.is_whole),
        (vec!["go".to_owned()], true)
    );
    let ended: Vec<_> = facts
        .calls
        .iter()
        .map(|call| (call.is_error, &*call.output))
        .collect();
    assert_eq!(ended, [(true, "boo")]);
}

#[test]
fn its_composer_is_found() {
    let rule = "─".repeat(20);
    let view = View {
        screen: format!("{rule}\n? half a draft\n{rule}\n"),
        cursor: (14, 1),
        cursor_shown: true,
    };
    for (ours, expected) in [("half a draft", Composer::Ours), ("other", Composer::Draft)] {
        assert_eq!(read_as(Some(&GHOST), &view, ours), expected, "{ours}");
    }
}
