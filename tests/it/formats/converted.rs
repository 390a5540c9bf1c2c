//! A journal of the version before, whose log was sealed with LZ4 and whose store held every event, is converted while the
//! daemon runs, whatever ends the daemon.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use journal::frame::Reader;
use journal::{Agent, Draft, Event, Host, Journal, Options, PromptOrigin, Stream, Timestamp};
use uuid::Uuid;

use crate::support::daemon::Daemon;
use crate::support::{run, wait_until};

/// Events of each segment.
const EVENTS: u64 = 40;
/// Segments, the last of which is not sealed.
const SEGMENTS: u64 = 31;
/// Kills of each round.
const KILLS: u64 = 4;

fn draft(number: u64) -> Draft {
    let event = Event::PromptSubmitted {
        host: Host::default(),
        origin: PromptOrigin::User,
        text: format!("prompt {number}"),
        digest: number,
    };
    Draft {
        stream: Stream::of_native(Agent::Claude, &format!("session {}", number % 7)),
        at: Timestamp::from_micros(1_000_000 * number.cast_signed()),
        id: Uuid::from_u128(u128::from(number) << 64 | 7),
        event,
        payload: Some(format!(
            r#"{{"n":{number},"text":"{}"}}"#,
            "word ".repeat(90)
        )),
    }
}

/// Makes such a journal: everything is in the store, the log in segments, of which all but the last are sealed.
fn make_old(journal: &Path) {
    let (opened, _) = Journal::open(journal, Options::default()).expect("opens");
    opened
        .append_wait((1..=SEGMENTS * EVENTS).map(draft).collect())
        .expect("appends");
    opened.settle().expect("settles");
    opened.close();
    drop(opened);
    let intake = journal.join("intake");
    let log = intake.join(format!("{:020}.log", 1));
    let bytes = fs::read(&log).expect("read");
    let ends: Vec<usize> = Reader::new(&bytes)
        .map(|frame| frame.expect("whole").end())
        .collect();
    fs::remove_file(log).expect("removed");
    let mut from = ends.len() - (SEGMENTS * EVENTS) as usize;
    from = if from == 0 { 0 } else { ends[from - 1] };
    for segment in 0..SEGMENTS {
        let first = segment * EVENTS + 1;
        let last = ends.len() - 1 - ((SEGMENTS - 1 - segment) * EVENTS) as usize;
        let part = &bytes[from..ends[last]];
        from = ends[last];
        if segment + 1 == SEGMENTS {
            fs::write(intake.join(format!("{first:020}.log")), part).expect("written");
            return;
        }
        let mut packed = lz4_flex::frame::FrameEncoder::new(Vec::new());
        std::io::Write::write_all(&mut packed, part).expect("packed");
        let sealed = intake.join(format!("{first:020}.lz4"));
        fs::write(sealed, packed.finish().expect("packed")).expect("written");
    }
}

fn export(daemon: &Daemon) -> String {
    let command = env!("CARGO_BIN_EXE_checkpointd");
    let output = run(
        &mut daemon.home.command(command, &["journal", "export"]),
        b"",
    );
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// Returns the number of segments that are not converted.
fn unconverted(daemon: &Daemon) -> u64 {
    let intake = daemon.home.path().join("journal/intake");
    let paths = fs::read_dir(intake).expect("listed").flatten();
    let old = paths.filter(|entry| {
        entry
            .path()
            .extension()
            .is_some_and(|ending| ending == "lz4")
    });
    old.count() as u64
}

#[test]
fn kills_while_an_old_journal_is_converted_lose_nothing() {
    let rounds = std::env::var("CHECKPOINTD_KILL_ROUNDS").ok();
    let rounds: u64 = rounds.and_then(|rounds| rounds.parse().ok()).unwrap_or(4);
    let mut converted = 0;
    for round in 0..rounds {
        let mut daemon = Daemon::with("");
        daemon.kill();
        let journal = daemon.home.path().join("journal");
        fs::remove_dir_all(&journal).expect("removed");
        make_old(&journal);
        let whole: Vec<String> = {
            let (opened, _) = Journal::open(&copied(&journal), Options::default()).expect("opens");
            let events = opened.events_from(1).map(|event| event.expect("read"));
            events.map(|event| event.id.to_string()).collect()
        };
        for kill in 1..=KILLS {
            // Each is killed after some segments more, and a moment later in each round.
            let left = (SEGMENTS - 1) * (KILLS + 1 - kill) / (KILLS + 1);
            daemon.spawn(&[], &[]);
            wait_closely(|| unconverted(&daemon) <= left);
            std::thread::sleep(Duration::from_micros(round * 173 % 3_000));
            daemon.kill();
            converted += u64::from(unconverted(&daemon) == 0);
        }
        daemon.start();
        wait_until(|| unconverted(&daemon) == 0);
        let exported = export(&daemon);
        let ids = exported.lines().map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
            let has_text =
                line["payload"]["text"].is_string() || line["kind"] != "prompt_submitted";
            assert!(has_text, "{line}");
            line["id"].as_str().expect("an id").to_owned()
        });
        let ids: Vec<String> = ids.collect();
        assert_eq!(ids[..whole.len()], whole);
        daemon.verify();
    }
    println!(
        "{converted} of {} kills came after the conversion",
        rounds * KILLS
    );
    assert!(
        converted < rounds * KILLS / 2,
        "hardly a kill came during it"
    );
}

/// Waits without a pause that matters.
fn wait_closely(is_met: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_met() {
        assert!(began.elapsed() < Duration::from_secs(60), "it never came");
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// Copies a journal to a folder beside it.
fn copied(journal: &Path) -> std::path::PathBuf {
    let to = journal.with_file_name("copied");
    for folder in ["intake", "store"] {
        let target = to.join(folder);
        fs::create_dir_all(&target).expect("made");
        for entry in fs::read_dir(journal.join(folder))
            .expect("listed")
            .flatten()
        {
            if entry.path().is_file() {
                fs::copy(entry.path(), target.join(entry.file_name())).expect("copied");
            }
        }
    }
    to
}
