//! What tests with real processes share: a home of their own, the client, and a scripted server on its socket.

#![expect(missing_docs, reason = "tests are its only readers, and names say it")]

pub mod daemon;
pub mod dialect;
pub mod disk;
pub mod git;
pub mod http;
pub mod page;
pub mod recordings;
pub mod strace;

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use journal::frame::{Kind, Reader};
use tempfile::TempDir;

/// After this long a process hangs. It is far above every bound of the client, so that a slow machine fails no test.
const LIMIT: Duration = Duration::from_secs(120);

/// A `CHECKPOINTD_HOME` that is removed with the last copy of this.
#[derive(Clone)]
pub struct Home(Arc<TempDir>);

impl Default for Home {
    fn default() -> Self {
        Self::new()
    }
}

impl Home {
    pub fn new() -> Self {
        Self(Arc::new(tempfile::tempdir().expect("a folder")))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn socket(&self) -> PathBuf {
        let run = self.path().join("run");
        fs::create_dir_all(&run).expect("a folder");
        run.join("sock")
    }

    /// Returns a command that lives in this home: the client with these arguments, and no daemon started by it.
    /// It waits long for answers, so that a slow machine fails no test.
    pub fn client(&self, arguments: &[&str]) -> Command {
        self.command(program("checkpointd-hook"), arguments)
    }

    /// Does what [`Home::client`] does for any program.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command
            .env("CHECKPOINTD_HOME", self.path())
            .env("CHECKPOINTD_AUTOSTART", "0");
        command
            .env("CHECKPOINTD_STOP_WAIT_MS", "60000")
            .env("CHECKPOINTD_PLAIN_WAIT_MS", "60000");
        command.current_dir(self.path());
        command
    }

    /// Trusts the `.checkpointd.yml` of a project as it is now.
    ///
    /// # Panics
    ///
    /// Where that fails.
    #[track_caller]
    pub fn trust(&self, project: &Path) {
        let path = project.to_str().expect("text");
        let output = run(
            &mut self.command(
                program("checkpointd"),
                &["rules", "trust", "--project", path],
            ),
            b"",
        );
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }

    /// Returns how many calls wait in the spool. Unlike [`Home::spooled`], while a daemon takes them in too.
    pub fn waiting(&self) -> usize {
        let entries = fs::read_dir(self.path().join("spool"))
            .into_iter()
            .flatten()
            .flatten();
        entries
            .filter(|entry| entry.path().extension().is_some_and(|end| end == "spool"))
            .count()
    }

    /// Returns the requests in the spool, oldest first. Every file holds exactly one whole frame.
    pub fn spooled(&self) -> Vec<Vec<u8>> {
        let Ok(entries) = fs::read_dir(self.path().join("spool")) else {
            return Vec::new();
        };
        let mut files: Vec<PathBuf> = entries
            .map(|entry| entry.expect("an entry").path())
            .collect();
        files.sort();
        let request = |file: &PathBuf| {
            assert_eq!(
                file.extension().and_then(|end| end.to_str()),
                Some("spool"),
                "left behind: {file:?}"
            );
            let bytes = fs::read(file).expect("readable");
            let frames: Vec<_> = Reader::new(&bytes)
                .map(|frame| frame.expect("no damage"))
                .collect();
            assert_eq!(frames.len(), 1);
            assert_eq!(frames[0].kind, Kind::Request);
            frames[0].payload.to_vec()
        };
        files.iter().map(request).collect()
    }
}

/// Returns the path of one of the programs: cargo builds them one folder above tests and benches.
///
/// # Panics
///
/// Where it is not built. Cargo does that for integration tests and benches of the crate that has the programs.
#[must_use]
pub fn program(name: &str) -> PathBuf {
    let own = std::env::current_exe().expect("a path");
    let mut folders = own.ancestors().skip(1);
    folders
        .find_map(|folder| Some(folder.join(name)).filter(|path| path.is_file()))
        .unwrap_or_else(|| panic!("{name} is not built"))
}

/// Writes a script that can be run. A process of its own does, here and in [`copy_program`]: what is open for writing in this
/// one is so in every process that another test starts at that moment, and until that has become its own program, this
/// one cannot be run.
pub fn put_script(path: &Path, text: &str) {
    let write = "printf '%s' \"$1\" > \"$2\" && chmod 755 \"$2\"";
    let status = Command::new("sh")
        .args(["-c", write, "sh", text])
        .arg(path)
        .status()
        .expect("runs");
    assert!(status.success(), "{}", path.display());
}

/// Copies a program.
pub fn copy_program(from: &str, to: &Path) {
    assert!(
        Command::new("cp")
            .arg(from)
            .arg(to)
            .status()
            .expect("runs")
            .success(),
        "{}",
        to.display()
    );
}

/// Returns what a command said.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

/// Runs a command with this on its standard input, and returns what came out of it.
pub fn run(command: &mut Command, stdin: &[u8]) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("runs");
    let mut input = child.stdin.take().expect("a pipe");
    let bytes = stdin.to_vec();
    // A process may end without reading all of it.
    thread::spawn(move || drop(input.write_all(&bytes)));
    wait(move || child.wait_with_output().expect("output"))
}

/// Waits for what might hang.
pub fn wait<T: Send + 'static>(wait: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || drop(sender.send(wait())));
    receiver.recv_timeout(LIMIT).expect("it ends")
}

/// Waits until something is so, which takes what time it takes.
pub fn wait_until(is_so: impl Fn() -> bool) {
    wait_until_or(is_so, || "it never came to be".to_owned());
}

/// The same, with what is said if it never comes to be.
pub fn wait_until_or(is_so: impl Fn() -> bool, why: impl Fn() -> String) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(60), "{}", why());
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// What the scripted server does with a request that it has read.
pub enum Act {
    /// Sends these bytes and closes.
    Reply(Vec<u8>),
    /// Sends these bytes and keeps the connection open forever.
    Hold(Vec<u8>),
}

/// Returns a reply of HTTP.
pub fn http(status: u16, body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status} Words\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// Answers requests by their number, from zero, and passes them on.
pub fn serve(socket: &Path, act: impl Fn(usize) -> Act + Send + 'static) -> Receiver<Vec<u8>> {
    let listener = UnixListener::bind(socket).expect("a socket");
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut held = Vec::new();
        for (number, connection) in listener.incoming().flatten().enumerate() {
            let mut connection = connection;
            let request = read_request(&mut connection);
            if sender.send(request).is_err() {
                return;
            }
            // The client may be gone when it is written to.
            match act(number) {
                Act::Reply(bytes) => drop(connection.write_all(&bytes)),
                Act::Hold(bytes) => {
                    let _ = connection.write_all(&bytes);
                    held.push(connection);
                }
            }
        }
    });
    receiver
}

/// Returns the next request that a server has seen.
pub fn next(requests: &Receiver<Vec<u8>>) -> Vec<u8> {
    requests.recv_timeout(LIMIT).expect("a request")
}

fn read_request(connection: &mut UnixStream) -> Vec<u8> {
    let (mut bytes, mut piece) = (Vec::new(), vec![0; 64 * 1024]);
    let mut length = None;
    loop {
        length = length.or_else(|| whole_length(&bytes));
        if length.is_some_and(|length| bytes.len() >= length) {
            return bytes;
        }
        match connection.read(&mut piece) {
            Ok(0) | Err(_) => return bytes,
            Ok(read) => bytes.extend_from_slice(&piece[..read]),
        }
    }
}

fn whole_length(bytes: &[u8]) -> Option<usize> {
    let split = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&bytes[..split]);
    let length: usize = head
        .lines()
        .find_map(|line| line.strip_prefix("Content-Length: ")?.parse().ok())?;
    Some(split + 4 + length)
}
