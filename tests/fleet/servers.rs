//! Real NATS servers on loopback.

use std::cell::OnceCell;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use broker::server_config::ROUTE_PINGS;
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::disk::{Disk, Keeps};
use testkit::strace::Trace;
use testkit::{program, run, wait_until};
use tokio_stream::StreamExt as _;

use fastrand::Rng;

/// Between a server's port for clients and that for other servers.
const CLUSTER: u16 = 2_000;

/// One server or a cluster of three.
pub(crate) struct Servers {
    folder: TempDir,
    ports: Vec<u16>,
    running: Vec<Option<Child>>,
    scheme: &'static str,
    /// What each server does to its disk is recorded.
    is_recorded: bool,
}

/// Returns ports that are free, each with the one 2000 above it, where a cluster's servers meet.
pub(crate) fn free_ports(count: usize) -> Vec<u16> {
    // Held until all are found, so that none is found twice.
    let mut held = Vec::new();
    let mut ports = Vec::new();
    while ports.len() < count {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        if port < 60_000
            && let Ok(other) = TcpListener::bind(("127.0.0.1", port + CLUSTER))
        {
            ports.push(port);
            held.push(other);
        }
        held.push(listener);
    }
    ports
}

pub(crate) fn server() -> PathBuf {
    let named = std::env::var_os("CHECKPOINTD_NATS_SERVER");
    named.expect("tests/fleet/run.sh names the server").into()
}

/// Of the record the files can be made as they are.
fn assert_record_is_whole(disk: &Disk, store: &Path, dice: &mut Rng) {
    let made = tempfile::tempdir().expect("a folder");
    disk.cut(made.path(), Keeps::All, dice);
    let mut compare = Command::new("diff");
    let compared = compare.arg("-rq").arg(store).arg(made.path()).output();
    let compared = compared.expect("diff runs");
    let said = String::from_utf8_lossy(&compared.stdout);
    assert!(compared.status.success(), "{said}");
}

impl Servers {
    /// Starts servers that let everybody on this machine in.
    pub(crate) fn open(count: usize) -> Self {
        let mut servers = Self::configured(count, |_, to| to);
        servers.start_all();
        servers
    }

    /// Starts three servers whose changes of their disks are recorded, for [`Servers::power_cut`].
    pub(crate) fn recorded() -> Self {
        let mut servers = Self::configured(3, |_, to| to);
        servers.is_recorded = true;
        servers.start_all();
        servers
    }

    /// Starts three servers, of which each reaches another through the port that `through` returns for the two and
    /// the other's own port.
    pub(crate) fn connected(through: impl Fn((usize, usize), u16) -> u16) -> Self {
        let mut servers = Self::configured(3, through);
        servers.start_all();
        servers
    }

    /// Makes a fleet with `fleet init-server`, enrols machines, and starts its servers as they are configured.
    pub(crate) fn enrolled(count: usize, machines: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let ports = free_ports(count);
        let hosts: Vec<_> = ports
            .iter()
            .map(|port| format!("127.0.0.1:{port}"))
            .collect();
        let mut servers = Self {
            folder,
            ports,
            running: (0..count).map(|_| None).collect(),
            scheme: "tls",
            is_recorded: false,
        };
        let hosts: Vec<_> = hosts.iter().map(String::as_str).collect();
        servers.operates(&[&["init-server"], &hosts[..]].concat());
        for machine in machines {
            servers.operates(&["enrol", machine]);
        }
        servers.start_all();
        servers
    }

    /// Runs a command of the operator's. Returns what it said.
    pub(crate) fn operates(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(program("checkpointd"));
        command
            .arg("fleet")
            .args(arguments)
            .args(["--dir", "fleet"])
            .current_dir(self.folder());
        let out = run(&mut command, b"");
        let said = String::from_utf8_lossy(&out.stdout).into_owned();
        let error = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success(), "{arguments:?}: {said}{error}");
        said
    }

    /// Returns the operator's folder.
    pub(crate) fn operator(&self) -> PathBuf {
        self.folder.path().join("fleet")
    }

    /// Starts one more server, with a key, a certificate and the authority's, that means to be one of the cluster. Returns
    /// how many servers it sees, itself included.
    pub(crate) fn seen_by_another(&self, [key, certificate, authority]: [&PathBuf; 3]) -> usize {
        let port = free_ports(1)[0];
        let routes: Vec<_> = self.ports.iter().map(|port| port + CLUSTER).collect();
        let routes = routes.iter().map(|port| format!("tls://127.0.0.1:{port}"));
        let text = format!(
            "server_name: another\nlisten: 127.0.0.1:{port}\n\
             cluster {{ name: fleet, listen: 127.0.0.1:{}, routes: [{}], tls {{ cert_file: {certificate:?}, \
             key_file: {key:?}, ca_file: {authority:?}, verify: true }} }}\n\
             accounts {{ HUB {{ }}, SYS {{ users: [ {{ user: sys, password: sys }} ] }} }}\nsystem_account: SYS\n",
            port + CLUSTER,
            routes.collect::<Vec<_>>().join(", ")
        );
        let conf = self.folder.path().join("another.conf");
        std::fs::write(&conf, text).expect("writes");
        let log = std::fs::File::create(self.folder.path().join("another.log")).expect("a log");
        let mut child = Command::new(server())
            .arg("-c")
            .arg(&conf)
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("nats-server starts");
        wait_until(|| std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let seen = runtime.expect("a runtime").block_on(async {
            let client =
                async_nats::ConnectOptions::with_user_and_password("sys".into(), "sys".into())
                    .connect(format!("127.0.0.1:{port}"))
                    .await
                    .expect("it is let in");
            // Routes are tried every second.
            let mut most = 0;
            for _ in 0..3 {
                let inbox = client.new_inbox();
                let mut answers = client.subscribe(inbox.clone()).await.expect("subscribes");
                let asked = client.publish_with_reply("$SYS.REQ.SERVER.PING", inbox, "".into());
                asked.await.expect("asks");
                let mut seen = 0;
                while let Ok(Some(_)) =
                    tokio::time::timeout(Duration::from_secs(1), answers.next()).await
                {
                    seen += 1;
                }
                most = most.max(seen);
            }
            most
        });
        child.kill().expect("kills");
        child.wait().expect("is gone");
        seen
    }

    /// Has all servers read their configuration again, twice, as the chapter says: 2.15.1 connects the account of a new
    /// machine only at the second time.
    pub(crate) fn reload(&self) {
        self.reload_once();
        std::thread::sleep(Duration::from_secs(1));
        self.reload_once();
    }

    pub(crate) fn reload_once(&self) {
        for child in self.running.iter().flatten() {
            let pid = rustix::process::Pid::from_child(child);
            rustix::process::kill_process(pid, rustix::process::Signal::HUP).expect("is there");
        }
    }

    fn configured(count: usize, through: impl Fn((usize, usize), u16) -> u16) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let ports = free_ports(count);
        for server in 0..count {
            let store = folder.path().join(format!("store-{server}"));
            let mut text = format!(
                "server_name: n{server}\nlisten: 127.0.0.1:{}\nmax_payload: 512KB\n\
                 jetstream {{ store_dir: {:?}, sync_interval: always }}\n",
                ports[server],
                store.display().to_string()
            );
            if count > 1 {
                // One of two servers connects; the other is not told of any other way.
                let next = (server + 1) % count;
                let port = through((server, next), ports[next] + CLUSTER);
                text += &format!(
                    "cluster {{ name: fleet, {ROUTE_PINGS}, listen: 127.0.0.1:{}, advertise: \"127.0.0.1:1\", \
                     routes: [nats://127.0.0.1:{port}] }}\n",
                    ports[server] + CLUSTER
                );
            }
            std::fs::write(folder.path().join(format!("{server}.conf")), text).expect("writes");
        }
        Self {
            folder,
            ports,
            running: (0..count).map(|_| None).collect(),
            scheme: "nats",
            is_recorded: false,
        }
    }

    pub(crate) fn start_all(&mut self) {
        for server in 0..self.ports.len() {
            if self.running[server].is_none() {
                self.start(server);
            }
        }
    }

    pub(crate) fn start(&mut self, server: usize) {
        let log = std::fs::File::options()
            .create(true)
            .append(true)
            .open(self.folder.path().join(format!("{server}.log")))
            .expect("a log");
        let mut command = if self.is_recorded {
            // Whole writes, with the moment of each call.
            let options = [
                "--seccomp-bpf",
                "-y",
                "-xx",
                "-ttt",
                "-s",
                "5000000",
                "-e",
                Disk::TRACE,
            ];
            let words = self.trace(server).command(&options);
            let mut command = Command::new(&words[0]);
            command.args(&words[1..]).arg(self::server());
            command
        } else {
            Command::new(self::server())
        };
        let own = self.operator().join(format!("server-{}", server + 1));
        if own.is_dir() {
            command.current_dir(&own).args(["-c", "nats-server.conf"]);
        } else {
            command
                .arg("-c")
                .arg(self.folder.path().join(format!("{server}.conf")));
        }
        let child = command
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("nats-server starts");
        self.running[server] = Some(child);
        let port = self.ports[server];
        wait_until(|| std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    }

    /// `kill -9`.
    pub(crate) fn kill(&mut self, server: usize) {
        if let Some(mut child) = self.running[server].take() {
            child.kill().expect("kills");
            child.wait().expect("is gone");
        }
    }

    pub(crate) fn kill_all(&mut self) {
        (0..self.ports.len()).for_each(|server| self.kill(server));
    }

    /// Removes everything that they stored.
    pub(crate) fn lose_all(&mut self) {
        self.kill_all();
        for server in 0..self.ports.len() {
            let store = self.folder.path().join(format!("store-{server}"));
            std::fs::remove_dir_all(store).expect("removes");
        }
    }

    fn trace(&self, server: usize) -> Trace {
        Trace::to(self.folder.path().join(format!("{server}.trace")))
    }

    /// Cuts the power of all servers: each has on its disk what was synced, and of all else what `keeps` says.
    pub(crate) fn power_cut(&mut self, keeps: Keeps, dice: &mut Rng) {
        self.kill_all();
        for server in 0..self.count() {
            let store = self.store(server);
            let mut disk = Disk::new(&store);
            let record = self.trace(server).finished();
            record.lines().for_each(|line| drop(disk.line(line)));
            assert_record_is_whole(&disk, &store, dice);
            std::fs::remove_dir_all(&store).expect("removes");
            disk.cut(&store, keeps, dice);
        }
        self.is_recorded = false;
    }

    /// Returns where a server stores what it has.
    pub(crate) fn store(&self, server: usize) -> PathBuf {
        self.folder.path().join(format!("store-{server}"))
    }

    /// Asks JetStream for something in the operator's place, once it can.
    pub(crate) fn asked(&self, name: &str, ask: &Value) -> Value {
        let answered = OnceCell::new();
        wait_until(|| {
            let answer = self.request(&format!("$JS.API.{name}"), ask);
            let answer = answer.and_then(|answer| serde_json::from_slice(&answer.payload).ok());
            // A cluster without a leader answers with 503. A stream that is lost is made again by the collector.
            let is_later = |answer: &Value| {
                let error = &answer["error"];
                error["code"] == 503 || error["err_code"] == 10_059
            };
            answer
                .filter(|answer| !is_later(answer))
                .is_some_and(|answer| answered.set(answer).is_ok())
        });
        let answer = answered.into_inner().expect("an answer");
        assert!(answer["error"].is_null(), "{name}: {answer}");
        answer
    }

    /// Returns the server that leads the stream of runs.
    pub(crate) fn leader(&self) -> usize {
        let name = OnceCell::new();
        wait_until(|| {
            let info = self.asked("STREAM.INFO.FLEET", &json!({}));
            let leader = info["cluster"]["leader"].as_str();
            leader.is_some_and(|leader| name.set(leader.to_owned()).is_ok())
        });
        let name = name.into_inner().expect("a leader");
        name.trim_start_matches('n').parse().expect("a number")
    }

    /// Returns the last event in the messages of a subject, once a server answers; `None` if it has none of them for a
    /// while, as a replica that is behind does at first.
    pub(crate) fn finds_last_of(&self, subject: &str) -> Option<u64> {
        let began = Instant::now();
        loop {
            let found = self.last_of(subject);
            if found.is_some() || began.elapsed() > Duration::from_secs(20) {
                return found;
            }
            std::thread::sleep(Duration::from_millis(500));
        }
    }

    /// Returns the last event in the messages of a subject, if a server answers and has one.
    pub(crate) fn last_of(&self, subject: &str) -> Option<u64> {
        let name = format!("$JS.API.DIRECT.GET.FLEET.{subject}");
        let message = self.request(&name, &Value::Null)?;
        message.headers?.get("Ckpt-Last")?.as_str().parse().ok()
    }

    /// Returns whether it is said what the collector has of a machine.
    pub(crate) fn has_head(&self, subject: &str) -> bool {
        let name = format!("$JS.API.DIRECT.GET.HEADS.{subject}");
        let message = self.request(&name, &Value::Null);
        message.is_some_and(|message| message.status.is_none())
    }

    fn request(&self, subject: &str, ask: &Value) -> Option<async_nats::Message> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let body = if ask.is_null() {
            String::new()
        } else {
            ask.to_string()
        };
        runtime.expect("a runtime").block_on(async {
            let servers: Vec<_> = self.url().split(',').map(str::to_owned).collect();
            let client = async_nats::connect(&servers[..]).await.ok()?;
            client.request(subject.to_owned(), body.into()).await.ok()
        })
    }

    /// Returns how many messages of machines there are.
    pub(crate) fn messages(&self) -> u64 {
        self.stored("messages")
    }

    /// Returns how many `messages` or `bytes` of machines each server has.
    pub(crate) fn stored(&self, what: &str) -> u64 {
        let info = self.asked("STREAM.INFO.FLEET", &json!({}));
        info["state"][what].as_u64().expect("a number")
    }

    /// Returns what all servers take: seconds of a processor since they started, and MB of memory now.
    pub(crate) fn costs(&self) -> (f64, f64) {
        let costs = self.running.iter().flatten().map(|child| {
            let read = |file| {
                let text = std::fs::read_to_string(format!("/proc/{}/{file}", child.id()));
                text.expect("it runs")
            };
            let number =
                |word: Option<&str>| word.and_then(|word| word.parse().ok()).unwrap_or(0.0);
            // After the name: the state, and ten more.
            let stat = read("stat");
            let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
            let spent: f64 = fields
                .skip(11)
                .take(2)
                .map(|field| number(Some(field)))
                .sum();
            let status = read("status");
            let resident = status.lines().find(|line| line.starts_with("VmRSS:"));
            let resident = number(resident.and_then(|line| line.split_whitespace().nth(1)));
            // The kernel counts in hundredths of a second.
            (spent / 100.0, resident / 1e3)
        });
        costs.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    pub(crate) const fn count(&self) -> usize {
        self.ports.len()
    }

    pub(crate) fn url(&self) -> String {
        let all = self
            .ports
            .iter()
            .map(|port| format!("{}://127.0.0.1:{port}", self.scheme));
        all.collect::<Vec<_>>().join(",")
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        if std::thread::panicking() {
            for server in 0..self.count() {
                let log = self.folder().join(format!("{server}.log"));
                let log = std::fs::read_to_string(log).unwrap_or_default();
                let last: Vec<_> = log.lines().rev().take(10).collect();
                eprintln!("server {server}: {last:#?}");
            }
        }
        self.kill_all();
    }
}
