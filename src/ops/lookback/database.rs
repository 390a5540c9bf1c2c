//! Sessions in an agent's database, which is opened for reading only.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use checkpoint::agents::adapter::Database;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, ffi};

/// How long to wait for an agent that writes.
const BUSY: Duration = Duration::from_secs(2);
/// How long a question may take. A table may be a view that never ends.
const WITHIN: Duration = Duration::from_secs(20);
/// How many steps of the database's machine pass between two looks at the clock.
const STEPS: i32 = 10_000;
/// The largest text of a row, in bytes.
const ROW_BYTES_MAX: i32 = 64 * 1024 * 1024;
/// The most sessions of a database.
const SESSIONS_MAX: usize = 100_000;
/// The most bytes of a session that are read.
const SESSION_BYTES_MAX: usize = 512 * 1024 * 1024;

/// Returns the sessions of a database: the id, when it was last changed in milliseconds since 1970, and the size in bytes.
///
/// # Errors
///
/// If it cannot be read, or has other tables.
pub(super) fn sessions(path: &Path, questions: Database) -> io::Result<Vec<(String, i64, u64)>> {
    let read = || {
        let database = open(path, questions)?;
        let mut statement = database.prepare(questions.sessions)?;
        let listed = statement.query_map([], |row| {
            let bytes = row.get::<_, i64>(2)?.try_into().unwrap_or_default();
            Ok((row.get(0)?, row.get(1)?, bytes))
        })?;
        listed
            .take(SESSIONS_MAX)
            .collect::<rusqlite::Result<Vec<_>>>()
    };
    read().map_err(unreadable)
}

/// Hands the lines of a session's transcript to `each`, which says whether to go on.
///
/// # Errors
///
/// If the database cannot be read.
pub(super) fn lines(
    path: &Path,
    questions: Database,
    session: &str,
    mut each: impl FnMut(&str) -> bool,
) -> io::Result<()> {
    let mut read = || {
        let database = open(path, questions)?;
        let mut statement = database.prepare(questions.lines)?;
        let mut rows = statement.query([session])?;
        let mut left = SESSION_BYTES_MAX;
        while let Some(row) = rows.next()? {
            let goes_on = match row.get_ref(0)? {
                ValueRef::Text(bytes) => {
                    left = left.saturating_sub(bytes.len());
                    each(&String::from_utf8_lossy(bytes)) && left > 0
                }
                _ => true,
            };
            if !goes_on {
                break;
            }
        }
        Ok(())
    };
    read().map_err(unreadable)
}

fn unreadable(error: rusqlite::Error) -> io::Error {
    io::Error::other(format!("the database cannot be read: {error}"))
}

/// Opens a database. One that no agent has open is read as it is: SQLite would create files beside it.
fn open(path: &Path, questions: Database) -> rusqlite::Result<Connection> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let is_at_rest = fs::metadata(log).map_or(true, |log| log.len() == 0);
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            let _ = write!(uri, "%{byte:02x}");
        }
    }
    uri.push_str(if is_at_rest {
        "?immutable=1"
    } else {
        "?mode=ro"
    });
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut database = Connection::open_with_flags(uri, flags)?;
    database.busy_timeout(BUSY)?;
    database.set_limit(Limit::SQLITE_LIMIT_LENGTH, ROW_BYTES_MAX)?;
    let until = Instant::now() + WITHIN;
    database.progress_handler(STEPS, Some(move || Instant::now() > until))?;
    // The agent has tables. A view can have rows without end.
    let mut views = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'view'")?;
    for name in views.query_map([], |row| row.get::<_, String>(0))? {
        let name = name?;
        if [questions.sessions, questions.lines]
            .iter()
            .any(|asked| asked.contains(&name))
        {
            return Err(rusqlite::Error::SqliteFailure(
                ffi::Error::new(ffi::SQLITE_ERROR),
                Some(format!("{name} is a view")),
            ));
        }
    }
    drop(views);
    Ok(database)
}
