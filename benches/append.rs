//! What a durable append costs: the journal with `sync: always`, next to a bare program that does the same group commit
//! over one file and nothing else, next to one fdatasync for every append, and next to SQLite with a write-ahead log that
//! is synced at every commit, as many programs would do it.
//!
//! `cargo bench --features sqlite --bench append [-- --rounds N] [-- --millis N]`. Target: at least half of the bare group commit with 64
//! clients. The journal does more for its acknowledgment: it encodes, compresses, checks for duplicates, and keeps its
//! store and its indexes up behind it, on the same cores.

#[path = "support/measure.rs"]
mod measure;

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use journal::{
    Agent, Draft, Event, Host, Journal, Options, Stream, Sync, Timestamp, ToolCall, ToolKind,
    codec, frame,
};
use measure::{median, ms, option, title};
use uuid::Uuid;

/// As the daemon has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const CLIENTS: [usize; 3] = [1, 8, 64];

/// Something that appends durably, called from many threads.
type Append<'a> = dyn Fn(Draft) + std::marker::Sync + 'a;

fn main() {
    let (rounds, time) = (
        option("--rounds", 5),
        Duration::from_millis(option("--millis", 1500) as u64),
    );
    let bytes = frame_of(&draft(0, 0)).len();
    title(&format!(
        "durable appends of {bytes}-byte frames, {rounds} rounds of {} ms, medians",
        ms(time)
    ));
    println!(
        "  clients   journal   (stored)   group commit   one sync each   SQLite WAL   journal/group   journal/each   journal/SQLite"
    );
    for clients in CLIENTS {
        let (mut journal, mut stored, mut group, mut each) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut sqlite, mut to_group, mut to_each, mut to_sqlite) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for _ in 0..rounds {
            let (ours, ours_stored) = with_journal(clients, time);
            let (theirs, naive) = (
                with_group_commit(clients, time),
                with_sync_each(clients, time),
            );
            let wal = with_sqlite(clients, time);
            to_group.push(ours / theirs);
            to_sqlite.push(ours / wal);
            sqlite.push(wal);
            to_each.push(ours / naive);
            journal.push(ours);
            stored.push(ours_stored);
            group.push(theirs);
            each.push(naive);
        }
        println!(
            "  {clients:7} {:7.0}/s {:8.0}/s {:12.0}/s {:13.0}/s {:10.0}/s {:15.2} {:14.2} {:16.2}",
            median(journal),
            median(stored),
            median(group),
            median(each),
            median(sqlite),
            median(to_group),
            median(to_each),
            median(to_sqlite)
        );
    }
}

/// A tool call's end as Claude Code reports it, with its payload; what repeats in life repeats here.
fn draft(client: usize, number: u64) -> Draft {
    let stream = Stream::of_native(
        Agent::Claude,
        &Uuid::from_u128(client as u128 + 1).to_string(),
    );
    let command = format!("cargo test --quiet -p parser case_{number}");
    let call = ToolCall {
        id: Some(format!("toolu_{client:04}{number:012}")),
        tool: "Bash".into(),
        kind: ToolKind::Shell,
        command: Some(command.clone()),
        finished: true,
        at: Timestamp::now(),
        duration_ms: Some(number % 5000),
        ..ToolCall::default()
    };
    let host = Host {
        hook: "PostToolUse".into(),
        turn: Some(Uuid::from_u128(7).to_string()),
        subagent: None,
        place: None,
    };
    // Hex of a hash does not compress, as the ids and outputs of real payloads do not.
    let output: String = (0..4)
        .map(|part| Uuid::new_v5(&stream.session, &[part, number as u8]).to_string())
        .collect();
    let payload = format!(
        r#"{{"session_id":"{}","transcript_path":"/home/user/.claude/projects/-home-user-project/{}.jsonl","cwd":"/home/user/project","permission_mode":"acceptEdits","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{{"command":"{command}"}},"tool_response":{{"stdout":"{output}","stderr":"","interrupted":false}},"tool_use_id":"toolu_{number}"}}"#,
        stream.session, stream.session
    );
    let at = call.at;
    Draft {
        stream,
        at,
        id: Uuid::new_v4(),
        event: Event::ToolFinished { host, call },
        payload: Some(payload),
    }
}

/// Returns the bytes that the journal writes for a draft.
fn frame_of(draft: &Draft) -> Vec<u8> {
    let Draft {
        stream,
        at,
        id,
        event,
        payload,
    } = draft.clone();
    let envelope = journal::Envelope {
        seq: 1 << 20,
        stream,
        at,
        recorded_at: at,
        id,
        late: false,
        event,
        origin: None,
    };
    let mut bytes = Vec::new();
    let record = codec::join(
        &codec::encode_event(&envelope),
        &codec::encode_payload(payload.as_deref()),
    );
    frame::push(&mut bytes, frame::Kind::Envelope, &record);
    bytes
}

/// Appends from several threads for a while, and returns appends per second.
fn run(clients: usize, time: Duration, append: &Append<'_>) -> f64 {
    let (over, done) = (AtomicBool::new(false), AtomicU64::new(0));
    let began = Instant::now();
    std::thread::scope(|scope| {
        for client in 0..clients {
            let (over, done) = (&over, &done);
            scope.spawn(move || {
                let mut number = 0;
                while !over.load(Ordering::Relaxed) {
                    append(draft(client, number));
                    number += 1;
                }
                done.fetch_add(number, Ordering::Relaxed);
            });
        }
        std::thread::sleep(time);
        over.store(true, Ordering::Relaxed);
    });
    done.into_inner() as f64 / began.elapsed().as_secs_f64()
}

/// Returns appends a second: as they are acknowledged, and until the last of them can be read.
fn with_journal(clients: usize, time: Duration) -> (f64, f64) {
    let folder = folder();
    let options = Options {
        sync: Sync::Always,
        ..Options::default()
    };
    let (journal, _) = Journal::open(folder.path(), options).expect("a journal");
    let began = Instant::now();
    let rate = run(clients, time, &|draft| {
        let appended = journal.append_wait(vec![draft]).expect("it is appended");
        assert!(!appended[0].duplicate);
    });
    let stored = journal.settle().expect("it is stored") as f64 / began.elapsed().as_secs_f64();
    journal.close();
    (rate, stored)
}

fn with_group_commit(clients: usize, time: Duration) -> f64 {
    let folder = folder();
    let (queue, commands) = sync_channel::<(Vec<u8>, SyncSender<()>)>(1024);
    let mut file = create(folder.path());
    std::thread::scope(|scope| {
        scope.spawn(move || group_commit(&mut file, &commands));
        let rate = run(clients, time, &|draft| {
            let (done, wait) = sync_channel(1);
            queue
                .send((frame_of(&draft), done))
                .expect("the writer lives");
            wait.recv().expect("it is written");
        });
        drop(queue);
        rate
    })
}

/// Takes what waits, writes it at once, syncs it once.
fn group_commit(file: &mut File, commands: &Receiver<(Vec<u8>, SyncSender<()>)>) {
    while let Ok((mut bytes, first)) = commands.recv() {
        let mut waiting = vec![first];
        while let Ok((more, done)) = commands.try_recv() {
            bytes.extend_from_slice(&more);
            waiting.push(done);
        }
        file.write_all(&bytes).expect("written");
        file.sync_data().expect("synced");
        for done in waiting {
            let _ = done.send(());
        }
    }
}

fn with_sync_each(clients: usize, time: Duration) -> f64 {
    let folder = folder();
    let file = Arc::new(Mutex::new(create(folder.path())));
    run(clients, time, &|draft| {
        let bytes = frame_of(&draft);
        let mut file = file.lock().expect("no thread died");
        file.write_all(&bytes).expect("written");
        file.sync_data().expect("synced");
    })
}

/// One writer, as SQLite lets one write at a time; all that waits goes into one transaction.
fn with_sqlite(clients: usize, time: Duration) -> f64 {
    let folder = folder();
    let (queue, commands) = sync_channel::<(Draft, SyncSender<()>)>(1024);
    let path = folder.path().join("events.db");
    std::thread::scope(|scope| {
        scope.spawn(move || sqlite(&path, &commands));
        let rate = run(clients, time, &|draft| {
            let (done, wait) = sync_channel(1);
            queue.send((draft, done)).expect("the writer lives");
            wait.recv().expect("it is written");
        });
        drop(queue);
        rate
    })
}

fn sqlite(path: &Path, commands: &Receiver<(Draft, SyncSender<()>)>) {
    let database = rusqlite::Connection::open(path).expect("a database");
    let setup = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
        CREATE TABLE events (seq INTEGER PRIMARY KEY, id BLOB UNIQUE, session BLOB, record BLOB);
        CREATE INDEX sessions ON events (session, seq);";
    database.execute_batch(setup).expect("tables");
    let mut insert = database
        .prepare("INSERT INTO events (id, session, record) VALUES (?1, ?2, ?3)")
        .expect("a statement");
    while let Ok(first) = commands.recv() {
        let group: Vec<_> = std::iter::once(first).chain(commands.try_iter()).collect();
        let transaction = database.unchecked_transaction().expect("a transaction");
        for (draft, _) in &group {
            let (id, session) = (draft.id.into_bytes(), draft.stream.session.into_bytes());
            insert
                .execute((&id[..], &session[..], frame_of(draft)))
                .expect("inserted");
        }
        transaction.commit().expect("committed");
        for (_, done) in group {
            let _ = done.send(());
        }
    }
}

/// On the disk that the program was built on: the system's own temporary folder may be memory.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder")
}

fn create(folder: &Path) -> File {
    File::create(folder.join("bare.log")).expect("a file")
}
