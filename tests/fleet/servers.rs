//! Real NATS servers on loopback.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;
use testkit::{program, run, wait_until};

/// Between a server's port for clients and that for other servers.
const CLUSTER: u16 = 2_000;

/// One server or a cluster of three.
pub(crate) struct Servers {
    folder: TempDir,
    ports: Vec<u16>,
    running: Vec<Option<Child>>,
    scheme: &'static str,
}

/// Returns ports that are free, each with the one 2000 above it, where a cluster's servers meet.
fn free_ports(count: usize) -> Vec<u16> {
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

fn server() -> PathBuf {
    let named = std::env::var_os("CHECKPOINTD_NATS_SERVER");
    named.expect("tests/fleet/run.sh names the server").into()
}

impl Servers {
    /// Starts servers that let everybody on this machine in.
    pub(crate) fn open(count: usize) -> Self {
        let mut servers = Self::configured(count, "nats", |_, base| base);
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

    /// Has all servers read their configuration again, twice, as the chapter says: 2.15.1 connects the account of a new
    /// machine only at the second time.
    pub(crate) fn reload(&self) {
        self.reload_once();
        std::thread::sleep(std::time::Duration::from_secs(1));
        self.reload_once();
    }

    fn reload_once(&self) {
        for child in self.running.iter().flatten() {
            let pid = rustix::process::Pid::from_child(child);
            rustix::process::kill_process(pid, rustix::process::Signal::HUP).expect("is there");
        }
    }

    fn configured(
        count: usize,
        scheme: &'static str,
        config: impl Fn(usize, String) -> String,
    ) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let ports = free_ports(count);
        let routes: Vec<_> = ports.iter().map(|port| port + CLUSTER).collect();
        let all: Vec<_> = routes
            .iter()
            .map(|port| format!("nats://127.0.0.1:{port}"))
            .collect();
        for server in 0..count {
            let store = folder.path().join(format!("store-{server}"));
            let mut text = format!(
                "server_name: n{server}\nlisten: 127.0.0.1:{}\nmax_payload: 512KB\n\
                 jetstream {{ store_dir: {:?}, sync_interval: always }}\n",
                ports[server],
                store.display().to_string()
            );
            if count > 1 {
                text += &format!(
                    "cluster {{ name: fleet, listen: 127.0.0.1:{}, routes: [{}] }}\n",
                    routes[server],
                    all.join(", ")
                );
            }
            std::fs::write(
                folder.path().join(format!("{server}.conf")),
                config(server, text),
            )
            .expect("writes");
        }
        Self {
            folder,
            ports,
            running: (0..count).map(|_| None).collect(),
            scheme,
        }
    }

    pub(crate) fn start_all(&mut self) {
        (0..self.ports.len()).for_each(|server| self.start(server));
    }

    pub(crate) fn start(&mut self, server: usize) {
        let log = std::fs::File::options()
            .create(true)
            .append(true)
            .open(self.folder.path().join(format!("{server}.log")))
            .expect("a log");
        let mut command = Command::new(self::server());
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
