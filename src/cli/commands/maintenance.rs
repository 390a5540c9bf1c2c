//! `journal backup|restore|compact`.

use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use journal::maintenance::{self as whole, Rebuilt, Restored};
use journal::{Compacted, Error, Home, Journal, Options};
use serde_json::{Value, json};

use crate::cli::connection;
use crate::cli::shared::Output;
use crate::cli::text::progress_bar::{announce, progress, progress_done};
use crate::config;
use crate::error::{Failure, Result, exit};
use crate::ops::retention;
use crate::render;

/// The extension of a backup's default name.
const ENDING: &str = "backup";
const BUILDING: &str = "building the store";
/// Shorter operations show no progress.
const QUIET_FOR: Duration = Duration::from_secs(1);

/// Writes a backup.
pub(super) fn backup(home: &Home, to: &Path, output: Output) -> Result<u8> {
    let file = if to.is_dir() {
        to.join(name_by_time())
    } else {
        to.to_owned()
    };
    if file.exists() {
        return Err(
            Failure::failed(format!("{} already exists", file.display()))
                .hint("name another file, or a folder: a backup is never overwritten"),
        );
    }
    let partial = file.with_added_extension("partial");
    let cannot =
        |error: io::Error| Failure::failed(format!("cannot write {}: {error}", partial.display()));
    let out = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&partial)
        .map_err(cannot)?;
    let mut out = BufWriter::new(Counted {
        out,
        bytes: 0,
        began: Instant::now(),
    });
    let written = write_backup(home, &mut out);
    progress_done();
    let finished = written.and_then(|()| {
        out.flush().map_err(cannot)?;
        let counted = out.get_ref();
        counted.out.sync_all().map_err(cannot)?;
        let events = whole::events_in(&partial)?;
        fs::rename(&partial, &file).map_err(cannot)?;
        Ok((events, counted.bytes))
    });
    let (events, bytes) = finished.inspect_err(|_| drop(fs::remove_file(&partial)))?;
    let done = json!({ "file": file, "events": events, "bytes": bytes });
    output.print(&done, |_| {
        println!(
            "{} in {} ({})",
            render::count(events, "event", "events"),
            render::path(&file),
            render::bytes(bytes)
        );
    });
    Ok(exit::OK)
}

/// Writes a backup of the journal, through the daemon or, without one, directly.
fn write_backup(home: &Home, out: &mut impl Write) -> Result<()> {
    let Some(journal) = connection::reach(home)? else {
        let mut answer = connection::post_stream(home, "/v1/journal/backup", b"")?;
        return io::copy(&mut answer, out).map(drop).map_err(|error| {
            Failure::failed(format!("the backup is incomplete: {error}"))
                .hint("the daemon's log says why; `checkpointd journal verify` checks the journal")
        });
    };
    let written = journal.backup(out, |_, _| ()).map(drop);
    journal.close();
    Ok(written?)
}

/// Counts the bytes written, and shows progress on a terminal after [`QUIET_FOR`].
struct Counted {
    out: fs::File,
    bytes: u64,
    began: Instant,
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes += written as u64;
        if self.began.elapsed() > QUIET_FOR && io::stderr().is_terminal() {
            eprint!("\rbacking up: {}\x1b[K", render::bytes(self.bytes));
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Returns a file name that begins with the time, so that names sort by it.
fn name_by_time() -> String {
    let now = jiff::Timestamp::now()
        .strftime("%Y%m%dT%H%M%S%3fZ")
        .to_string();
    format!("checkpointd-{now}.{ENDING}")
}

/// Returns the backup that a path names: the file, or the newest in the folder.
fn backup_at(path: &Path) -> Result<PathBuf> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let entries = fs::read_dir(path)?.filter_map(|entry| Some(entry.ok()?.path()));
    let is_ours = |file: &PathBuf| {
        let name = file
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        name.starts_with("checkpointd-") && file.extension().is_some_and(|ending| ending == ENDING)
    };
    entries.filter(is_ours).max().ok_or_else(|| {
        Failure::failed(format!(
            "no backup (checkpointd-*.{ENDING}) in {}",
            path.display()
        ))
        .hint("name the file itself")
    })
}

/// Replaces the journal by a backup, or rebuilds the store, and verifies the result.
pub(super) fn restore(home: &Home, from: Option<&Path>, force: bool, output: Output) -> Result<u8> {
    connection::refuse_daemon(home)?;
    let mut left_out = Vec::new();
    let restored = match from {
        Some(from) => from_backup(home, &backup_at(from)?, force)?,
        None => {
            let rebuilt = rebuild(home, force)?;
            left_out = rebuilt.left_out;
            Restored {
                events: rebuilt.recovered.last_seq,
                kept: Some(rebuilt.kept),
            }
        }
    };
    // The number of events is unknown before it ends.
    announce(BUILDING);
    let (journal, _) = journal::Journal::open(&home.journal, Options::default())?;
    let verified = journal.verify(progress("verifying"));
    journal.close();
    progress_done();
    let verified = verified?;
    let Restored { events, kept } = &restored;
    let done = json!({ "events": events, "kept": kept, "ok": verified.ok, "problems": verified.problems, "left_out": left_out });
    output.print(&done, |_| {
        for range in &left_out {
            println!("skipped: events {} to {}", range.start(), range.end());
        }
        for problem in &verified.problems {
            println!("{}", render::printable(problem));
        }
        let word = if verified.ok { "whole" } else { "damaged" };
        let events = render::count(*events, "event", "events");
        println!("{events}, {word}");
        if let Some(kept) = kept {
            println!("the previous journal is kept in {}", render::path(kept));
        }
    });
    Ok(exit::of(verified.ok))
}

/// Builds the store again; with `force` without what cannot be read.
fn rebuild(home: &Home, force: bool) -> Result<Rebuilt> {
    connection::has_journal(home)?;
    announce(BUILDING);
    whole::rebuild(&home.journal, force).map_err(|error| match error {
        Error::Damaged { .. } => Failure::failed(error)
            .hint("nothing was changed; restore a backup, or use --force to continue without the lost events"),
        other => other.into(),
    })
}

fn from_backup(home: &Home, backup: &Path, force: bool) -> Result<Restored> {
    let restored = whole::restore(&home.journal, backup, force, progress("restoring"));
    progress_done();
    restored.map_err(|error| match error {
        Error::Occupied { .. } => Failure::failed(error).hint(
            "--force replaces it with the backup and keeps the old journal in another folder",
        ),
        Error::Damaged { .. } => {
            Failure::failed(error).hint("nothing was changed; try another backup")
        }
        Error::Disk { doing: "open", .. } => {
            Failure::failed(error).hint("nothing was changed; name a backup")
        }
        other => other.into(),
    })
}

/// Removes what was imported from transcripts.
pub(super) fn forget(home: &Home, output: Output) -> Result<u8> {
    connection::refuse_daemon(home)?;
    connection::has_journal(home)?;
    let forgotten = whole::forget_imported(&home.journal, progress("forgetting"));
    progress_done();
    let forgotten = forgotten?;
    output.print(&forgotten, |forgotten| {
        println!(
            "removed {} of {}",
            render::count(forgotten.events, "event", "events"),
            render::count(forgotten.sessions, "imported session", "imported sessions")
        );
    });
    Ok(exit::OK)
}

/// Drops old payloads. Packs the store too if no daemon has the journal open.
pub(super) fn compact(home: &Home, dry_run: bool, output: Output) -> Result<u8> {
    let here = connection::reach(home)?;
    let by_daemon = here.is_none();
    let done = match here {
        Some(journal) => compact_here(home, journal, dry_run)?,
        None => compact_by_daemon(home, dry_run)?,
    };
    progress_done();
    output.print(&done, |done| show_compacted(done, by_daemon));
    Ok(exit::of(done.skipped.is_empty()))
}

fn compact_here(home: &Home, journal: Journal, dry_run: bool) -> Result<Compacted> {
    let config = config::load(home)?;
    let shown = progress("compacting");
    let done = retention::compact(&journal, &home.journal, &config, dry_run, shown);
    journal.close();
    drop(journal);
    let mut done = done?;
    if !dry_run {
        let packed = whole::pack(&home.journal, progress("packing"))?;
        done.store_bytes = packed.now;
        done.intake_bytes = packed.intake;
    }
    Ok(done)
}

fn compact_by_daemon(home: &Home, dry_run: bool) -> Result<Compacted> {
    let mut shown = progress("compacting");
    let body = json!({ "dry_run": dry_run }).to_string();
    let mut answer = Value::Null;
    connection::post_lines(home, "/v1/journal/compact", body.as_bytes(), &mut |line| {
        match connection::progress_of(&line) {
            Some((done, all)) => shown(done, all),
            None => answer = line,
        }
    })?;
    serde_json::from_value(answer)
        .map_err(|error| Failure::unreachable(format!("invalid answer from the daemon: {error}")))
}

fn show_compacted(done: &Compacted, by_daemon: bool) {
    let word = if done.dry_run {
        "would be dropped"
    } else {
        "dropped"
    };
    println!(
        "{} ({}) {word}; events and decisions stay",
        render::count(done.payloads, "payload", "payloads"),
        render::bytes(done.payload_bytes)
    );
    if !done.dry_run {
        for (name, before, now) in [
            ("intake log", done.intake_bytes_before, done.intake_bytes),
            ("store", done.store_bytes_before, done.store_bytes),
        ] {
            println!(
                "{name}: {} before, {} now",
                render::bytes(before),
                render::bytes(now)
            );
        }
        if by_daemon {
            println!("Stop the daemon and run this again to return the store's unused space.");
        }
    }
    for line in &done.skipped {
        eprintln!("skipped: {}", render::printable(line));
    }
    if !done.skipped.is_empty() {
        eprintln!("hint: `checkpointd journal verify` says what is damaged");
    }
}
