//! The copy in Postgres, in a server of its own that Debian's package brings.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;
use testkit::wait_until;

use crate::machines::{Collector, Machine};
use crate::servers::Servers;

/// Returns the folder of the server's programs; `None` where it is not installed.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let mut folders: Vec<_> = versions
        .filter_map(|version| Some(version.ok()?.path().join("bin")))
        .filter(|folder| folder.join("initdb").exists())
        .collect();
    folders.sort();
    folders.pop()
}

/// A server on a socket in a folder of its own. It refuses to run as root, so there it runs as the package's user.
struct Postgres {
    folder: TempDir,
    programs: PathBuf,
}

impl Postgres {
    fn new(programs: PathBuf) -> Self {
        let folder = tempfile::Builder::new()
            .prefix("pg")
            .tempdir_in("/tmp")
            .expect("a folder");
        let server = Self { folder, programs };
        if rustix::process::geteuid().is_root() {
            let given = Command::new("chown")
                .arg("postgres")
                .arg(server.folder.path())
                .status();
            assert!(given.expect("runs").success());
        }
        let data = server.data();
        server.runs(
            "initdb",
            &["-D", &data, "-U", "fleet", "-A", "trust", "--no-sync"],
        );
        server.start();
        server.asks_in("postgres", "create database fleet");
        server
    }

    fn data(&self) -> String {
        self.folder.path().join("data").display().to_string()
    }

    fn runs(&self, program: &str, arguments: &[&str]) {
        let path = self.programs.join(program);
        let mut command = if rustix::process::geteuid().is_root() {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(path);
            command
        } else {
            Command::new(path)
        };
        let log = std::fs::File::create(std::env::temp_dir().join("checkpointd-postgres.log"))
            .expect("a log");
        let status = command
            .args(arguments)
            .current_dir("/")
            .stdout(log)
            .stdin(Stdio::null())
            .status();
        assert!(status.expect("runs").success(), "{program} {arguments:?}");
    }

    fn start(&self) {
        let options = format!(
            "-k {} -c listen_addresses='' -c fsync=off",
            self.folder.path().display()
        );
        self.runs(
            "pg_ctl",
            &[
                "-D",
                &self.data(),
                "-w",
                "-l",
                &format!("{}/log", self.data()),
                "-o",
                &options,
                "start",
            ],
        );
    }

    fn stop(&self) {
        self.runs(
            "pg_ctl",
            &["-D", &self.data(), "-w", "-m", "immediate", "stop"],
        );
    }

    fn url(&self) -> String {
        self.url_of("fleet")
    }

    fn url_of(&self, database: &str) -> String {
        format!(
            "postgresql:///{database}?host={}&user=fleet",
            self.folder.path().display()
        )
    }

    fn asks_in(&self, database: &str, sql: &str) -> String {
        let mut command = Command::new("psql");
        let output = command
            .args([
                "-X",
                "-A",
                "-t",
                "-v",
                "ON_ERROR_STOP=1",
                "-d",
                &self.url_of(database),
                "-c",
                sql,
            ])
            .output();
        let output = output.expect("psql runs");
        assert!(
            output.status.success(),
            "{sql}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout)
            .expect("text")
            .trim()
            .to_owned()
    }

    fn asks(&self, sql: &str) -> String {
        self.asks_in("fleet", sql)
    }

    /// Returns rows of a question, as JSON.
    fn rows(&self, sql: &str) -> Vec<Value> {
        let text = self.asks(&format!(
            "select coalesce(json_agg(it), '[]') from ({sql}) it"
        ));
        serde_json::from_str(&text).expect(&text)
    }

    /// Returns what all tables hold, as one number.
    fn holds(&self) -> String {
        self.asks(
            "select string_agg(hash, ' ') from (select md5(coalesce(string_agg(it::text, ',' order by session), '')) as hash from checkpointd.sessions it \
             union all select md5(coalesce(string_agg(it::text, ',' order by seq), '')) from checkpointd.decisions it \
             union all select md5(coalesce(string_agg(it::text, ',' order by seq), '')) from checkpointd.tools it) hashes",
        )
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if Path::new(&self.data()).join("postmaster.pid").exists() {
            self.stop();
        }
    }
}

/// The questions of the chapter.
fn questions() -> Vec<String> {
    let text = std::fs::read_to_string("docs/fleet.md").expect("the chapter");
    let blocks = text.split("```sql\n").skip(1);
    blocks
        .map(|block| block.split("```").next().expect("an end").to_owned())
        .collect()
}

/// The questions of the dashboard.
fn panels() -> Vec<String> {
    let text = std::fs::read_to_string("docs/grafana-fleet.json").expect("a dashboard");
    let dashboard: Value = serde_json::from_str(&text).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels").iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().expect("targets"));
    targets
        .map(|target| {
            target["rawSql"]
                .as_str()
                .expect("SQL")
                .replace("$__timeFilter(at)", "at is not null")
        })
        .collect()
}

/// Waits until everything that the collector has is in Postgres too.
fn follows(collector: &Collector) {
    wait_until(|| {
        let status = collector.status();
        status["daemon"]["fleet"]["collects"]["postgres"]["last"] == status["events"]
            && status["events"].as_u64() > Some(0)
    });
}

fn same_decisions(collector: &Collector, postgres: &Postgres) {
    let there = postgres.rows("select * from checkpointd.decisions order by seq");
    let here = collector.ask(&["audit", "--json"]);
    assert!(!here.is_empty());
    assert_eq!(here.len(), there.len());
    for (here, there) in here.iter().zip(&there) {
        for field in [
            "seq",
            "session",
            "machine",
            "journal",
            "journal_seq",
            "agent",
            "turn",
            "verdict",
            "reason",
            "route",
            "elapsed_ms",
            "delivery",
            "categories",
            "actions",
            "message",
            "withheld",
        ] {
            assert_eq!(here[field], there[field], "{field}");
        }
    }
    let tools =
        postgres.rows("select machine, tool, kind, command from checkpointd.tools order by seq");
    let ask = "select machine, tool, kind, command from tools order by seq";
    assert_eq!(tools, collector.ask(&["sql", "--json", ask]));
}

#[test]
fn postgres_has_what_the_collector_has_whatever_happens() {
    let Some(programs) = programs() else {
        eprintln!(
            "SKIPPED: the copy in Postgres was not tested: PostgreSQL's server is not installed"
        );
        return;
    };
    let postgres = Postgres::new(programs);
    let servers = Servers::open(1);
    let config = format!(
        "fleet: {{url: '{}', postgres: '{}'}}\n",
        servers.url(),
        postgres.url()
    );
    let mut collector = Collector::with(&config);
    let mut one = Machine::new("one", &servers.url(), "all");
    let two = Machine::new("two", &servers.url(), "decisions");
    one.works();
    two.works();
    // A command that would end the data, if it were not one line of it.
    one.runs("echo\n\\.\ndrop schema checkpointd cascade;\n");
    // So many are sent without a wait for more.
    one.calls_tools(200);
    collector.waits_for(&one);
    follows(&collector);
    same_decisions(&collector, &postgres);
    assert_eq!(
        postgres.asks("select count(distinct machine) from checkpointd.sessions"),
        "2"
    );
    assert_eq!(postgres.asks("select count(*) from checkpointd.decisions where machine = 'two' and message is not null"), "0");
    for question in questions().iter().chain(&panels()) {
        postgres.asks(question);
    }
    assert!(questions().len() >= 5 && panels().len() >= 4);
    // Away: nothing else waits, and it is said.
    postgres.stop();
    one.works();
    one.calls_tools(100);
    collector.waits_for(&one);
    let copied = || collector.collects()["postgres"].clone();
    wait_until(|| copied()["trouble"].is_string() && copied()["behind"].as_u64() > Some(0));
    postgres.start();
    follows(&collector);
    same_decisions(&collector, &postgres);
    // Killed at any moment, both of them.
    for round in 0..4 {
        one.calls_tools(100);
        std::thread::sleep(std::time::Duration::from_millis(150 * round));
        if round % 2 == 0 {
            collector.restarts();
        } else {
            postgres.stop();
            postgres.start();
        }
    }
    collector.waits_for(&one);
    follows(&collector);
    same_decisions(&collector, &postgres);
    made_again(&mut collector, &postgres);
}

/// The tables are made again from the journal, while the collector runs and while it does not.
fn made_again(collector: &mut Collector, postgres: &Postgres) {
    let before = postgres.holds();
    collector.does(&["fleet", "postgres", "rebuild"]);
    wait_until(|| {
        let events = collector.status()["events"].as_u64().expect("a number");
        postgres
            .asks("select last from checkpointd.position")
            .parse()
            == Ok(events)
    });
    assert_eq!(postgres.holds(), before);
    collector.stop();
    collector.does(&["fleet", "postgres", "rebuild"]);
    assert_eq!(
        postgres.asks("select count(*) from checkpointd.decisions"),
        "0"
    );
    collector.start();
    follows(collector);
    assert_eq!(postgres.holds(), before);
}
