//! Sessions in a database, as opencode keeps them.

use rusqlite::{Connection, params};

use super::*;

const RECORDED: &str = "opencode/t-idle-prompt.transcripts/ses_dfb653c47ffeu4odleO73tEWl7.jsonl";

/// opencode's tables, as far as they are read.
const TABLES: &str = "
    CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text NOT NULL, version text NOT NULL,
        time_created integer NOT NULL, time_updated integer NOT NULL);
    CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, data text NOT NULL);
    CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, data text NOT NULL);";

/// Adds a session with the recorded messages under other ids.
fn add(database: &Connection, id: &str, parent: Option<&str>) {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/fixtures");
    let text = fs::read_to_string(fixtures.join(RECORDED)).expect("a recording");
    let lines = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let mut last = 0;
    for (number, line) in lines.enumerate() {
        last = line["at"].as_i64().expect("a time");
        let message = format!("msg_{id}_{number:03}");
        let row = params![message, id, last, line["message"].to_string()];
        database
            .execute("INSERT INTO message VALUES (?, ?, ?, ?)", row)
            .expect("added");
        for (at, part) in line["parts"].as_array().expect("a list").iter().enumerate() {
            let row = params![
                format!("prt_{message}_{at:03}"),
                message,
                id,
                part.to_string()
            ];
            database
                .execute("INSERT INTO part VALUES (?, ?, ?, ?)", row)
                .expect("added");
        }
    }
    let row = params![id, parent, "/home/user/project", "1.18.33", last, last];
    database
        .execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?)", row)
        .expect("added");
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let mut names: Vec<_> = entries
        .map(|it| it.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn sessions_in_a_database_are_read_and_nothing_is_written_to_it() {
    let user = User::new();
    let folder = user.folder(".local/share/opencode");
    let path = folder.join("opencode.db");
    let look = [
        "lookback",
        "--since",
        "2026-11-01",
        "--agent",
        "opencode",
        "--json",
    ];
    let writer = Connection::open(&path).expect("a database");
    writer.execute_batch(TABLES).expect("tables");
    add(&writer, "ses_one", None);
    add(&writer, "ses_part", Some("ses_one"));
    drop(writer);
    let before = fs::read(&path).expect("a file");
    let found = user.json(&look);
    assert_eq!(
        found["total"]["turns"], 2,
        "a person's messages, without a subagent's: {found}"
    );
    assert_eq!(fs::read(&path).expect("a file"), before);
    assert_eq!(names(&folder), ["opencode.db"]);

    // What an agent that runs has written is in the log beside it, and a file that is no database costs only itself.
    let writer = Connection::open(&path).expect("a database");
    writer
        .pragma_update(None, "journal_mode", "wal")
        .expect("a log");
    writer
        .execute(
            "UPDATE message SET time_created = time_created + 86400000",
            [],
        )
        .expect("moved");
    add(&writer, "ses_two", None);
    fs::write(
        folder.join("opencode-old.db"),
        "not a database, but long enough to have a head",
    )
    .expect("written");
    let found = user.json(&look);
    assert_eq!(found["total"]["turns"], 4, "{found}");
    let problem = found["problems"][0]["problem"].as_str().expect("a text");
    assert!(problem.contains("the database cannot be read"), "{problem}");

    user.well(&["lookback", "--since", "2026-11-01", "--import"]);
    let sessions = user.well(&["sessions", "--json"]);
    assert_eq!(sessions.lines().count(), 2, "{sessions}");
    assert!(
        sessions.contains("ses_two") && !sessions.contains("ses_part"),
        "{sessions}"
    );
    let again = user.json(&["lookback", "--since", "2026-11-01", "--import", "--json"]);
    assert_eq!(again["turns"], 0, "{again}");
    drop(writer);
}

#[test]
fn a_view_without_end_in_the_place_of_a_table_is_refused_at_once() {
    let user = User::new();
    let folder = user.folder(".local/share/opencode");
    let writer = Connection::open(folder.join("opencode.db")).expect("a database");
    writer.execute_batch(TABLES).expect("tables");
    writer
        .execute_batch(
            "DROP TABLE session; CREATE VIEW session AS WITH RECURSIVE numbers(n) AS \
             (SELECT 1 UNION ALL SELECT n + 1 FROM numbers) \
             SELECT 'ses_' || n AS id, NULL AS parent_id, '/' AS directory, '1' AS version, \
             n AS time_created, n AS time_updated FROM numbers;",
        )
        .expect("a view");
    drop(writer);
    let arguments = ["lookback", "--since", "2026-11-01", "--agent", "opencode"];
    let (code, out, error) = user.run(&arguments);
    assert_eq!(code, 0, "{out}{error}");
    assert!(
        format!("{out}{error}").contains("is a view"),
        "{out}{error}"
    );
}
