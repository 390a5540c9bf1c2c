//! The lines that machines sent.

use std::io::BufRead;

use journal::{Envelope, Event, Origin, Payload, codec};
use serde_json::Value;

use super::levels::Level;
use super::problem::{Result, refuse};
use super::send::{FORMAT, RUN_EVENTS, RunHead, RunLine, chain, is_machine};

/// The longest line: an event with a payload of the largest size.
const LINE_BYTES_MAX: u64 = 256 * 1024 * 1024;
const NOT_ITS_OWN: &str = "it is a collector's event, not a machine's own";

/// The lines of a file, numbered.
pub(super) struct Lines<R> {
    file: R,
    /// The number of lines that were read.
    pub(super) number: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) const fn new(file: R) -> Self {
        Self { file, number: 0 }
    }

    pub(super) fn next(&mut self) -> Result<Option<String>> {
        let mut line = String::new();
        let mut limited = std::io::Read::take(&mut self.file, LINE_BYTES_MAX);
        let read = limited
            .read_line(&mut line)
            .map_err(|error| refuse(format!("cannot read it: {error}")))?;
        self.number += 1;
        if read == 0 {
            return Ok(None);
        }
        if line.ends_with('\n') {
            line.pop();
        } else if read as u64 == LINE_BYTES_MAX {
            return Err(refuse("it is too long"));
        }
        Ok(Some(line))
    }
}

/// Reads the next run, whose number of the line stays before its events.
pub(super) fn read_run(
    lines: &mut Lines<impl BufRead>,
    previous: Option<&RunHead>,
) -> Result<Option<(RunHead, Vec<String>)>> {
    let Some(line) = lines.next()? else {
        return Ok(None);
    };
    let head: RunLine = serde_json::from_str(&line).map_err(|error| {
        let is_newer = serde_json::from_str::<Value>(&line)
            .is_ok_and(|line| line["run"]["format"].as_u64() > Some(FORMAT.into()));
        if is_newer {
            refuse(upgrade("the export has a newer format"))
        } else {
            refuse(format!("a run begins with its head: {error}"))
        }
    })?;
    let head = head.run;
    check(&head, previous)?;
    let mut texts = Vec::with_capacity(head.lines as usize);
    for _ in 0..head.lines {
        let line = lines.next()?;
        texts.push(
            line.ok_or_else(|| {
                refuse(format!("the file ends within the run from {}", head.first))
            })?,
        );
    }
    let own = chain(&head.previous, texts.iter().map(String::as_str));
    if own != head.chain {
        return Err(refuse(format!(
            "the run from {} to {} was changed after it was exported",
            head.first, head.last
        )));
    }
    lines.number -= head.lines;
    Ok(Some((head, texts)))
}

fn upgrade(what: &str) -> String {
    format!("{what}: upgrade checkpointd here first")
}

fn check(head: &RunHead, before: Option<&RunHead>) -> Result<()> {
    if head.format > FORMAT {
        return Err(refuse(upgrade("the export has a newer format")));
    }
    if !is_machine(&head.machine) {
        return Err(refuse(
            "a machine's name has lower-case letters, digits and `-`",
        ));
    }
    if Level::of_word(&head.level).is_none() {
        return Err(refuse(upgrade("its level is unknown")));
    }
    let is_run = head.first >= 1
        && head.last >= head.first
        && head.last - head.first < RUN_EVENTS
        && head.lines <= RUN_EVENTS;
    if !is_run {
        return Err(refuse("the numbers of the run are invalid"));
    }
    if let Some(before) = before.filter(|before| before.journal == head.journal)
        && (head.previous != before.chain || head.first != before.last + 1)
    {
        return Err(refuse(format!(
            "the run from {} does not follow the one before",
            head.first
        )));
    }
    Ok(())
}

/// Reads an event as its machine sent it.
pub(super) fn read(text: &str, head: &RunHead) -> Result<(Envelope, Payload)> {
    let (mut envelope, payload, withheld) = match journal::line::read(text) {
        Some(read) => read,
        None => read_any(text)?,
    };
    if matches!(envelope.event, Event::RunReceived { .. }) {
        return Err(refuse(NOT_ITS_OWN));
    }
    envelope.origin = Some(Box::new(Origin {
        machine: head.machine.clone(),
        journal: head.journal,
        seq: envelope.seq,
        withheld,
    }));
    Ok((envelope, payload))
}

/// Reads what is written in another way, or says what is wrong with it.
fn read_any(text: &str) -> Result<(Envelope, Payload, Vec<String>)> {
    let mut line: Value =
        serde_json::from_str(text).map_err(|error| refuse(format!("not JSON: {error}")))?;
    let kind = line["kind"].as_str().unwrap_or_default().to_owned();
    if kind == "run_received" || line.get("journal").is_some() {
        return Err(refuse(NOT_ITS_OWN));
    }
    if !Event::KINDS.contains(&kind.as_str()) {
        return Err(refuse(upgrade(&format!("the kind `{kind}` is unknown"))));
    }
    let withheld = match line
        .as_object_mut()
        .and_then(|line| line.swap_remove("withheld"))
    {
        None => Vec::new(),
        Some(fields) => serde_json::from_value(fields)
            .map_err(|error| refuse(format!("field `withheld`: {error}")))?,
    };
    let (envelope, payload) = codec::from_json(line).map_err(refuse)?;
    Ok((envelope, payload, withheld))
}
