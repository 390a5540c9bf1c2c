//! The page of a daemon, asked without a browser.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

use super::daemon::Daemon;

/// After this long an answer does not come any more.
const LIMIT: Duration = Duration::from_secs(60);

/// A page that a daemon serves.
pub(crate) struct Page {
    pub(crate) port: u16,
    pub(crate) token: String,
}

impl Page {
    pub(crate) fn open(daemon: &Daemon) -> Self {
        let answer = &daemon.ask(&["web", "--json"])[0];
        let port = u16::try_from(answer["port"].as_u64().expect("a port")).expect("a port");
        let url = answer["url"].as_str().expect("an address");
        let token = url
            .strip_prefix(&format!("http://127.0.0.1:{port}/?token="))
            .expect(url)
            .to_owned();
        Self { port, token }
    }

    /// Exchanges the token for a cookie.
    pub(crate) fn enter(&self) -> String {
        let answer = self.get(&format!("/?token={}", self.token), &[]);
        assert_eq!(
            (answer.status, answer.header("location")),
            (303, Some("/")),
            "{}",
            answer.body
        );
        let cookie = answer.header("set-cookie").expect("a cookie");
        assert!(
            cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"),
            "{cookie}"
        );
        cookie.split(';').next().expect("a part").to_owned()
    }

    pub(crate) fn connect(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        stream.set_read_timeout(Some(LIMIT)).expect("a timeout");
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n",
            body.len()
        );
        if !headers.iter().any(|(name, _)| *name == "Host") {
            head.push_str(&format!("Host: 127.0.0.1:{}\r\n", self.port));
        }
        headers
            .iter()
            .for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
        stream
            .write_all(format!("{head}\r\n{body}").as_bytes())
            .expect("it takes requests");
        stream
    }

    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let mut bytes = Vec::new();
        self.connect(method, path, headers, body)
            .read_to_end(&mut bytes)
            .expect("an answer");
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok())
            .expect("a status");
        Answer {
            status,
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    pub(crate) fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.send("GET", path, headers, "")
    }

    /// Follows what the page is pushed, from an event on.
    pub(crate) fn follow(&self, cookie: &str, after: u64) -> Pushed {
        let stream = self.connect(
            "GET",
            &format!("/api/live?after={after}"),
            &[("Cookie", cookie)],
            "",
        );
        Pushed(BufReader::new(stream))
    }
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, wanted: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines
            .find(|(name, _)| name.eq_ignore_ascii_case(wanted))
            .map(|(_, value)| value)
    }

    /// Returns the lines of a body that was sent in parts.
    pub(crate) fn lines(&self) -> Vec<Value> {
        assert_eq!(
            (self.status, self.header("transfer-encoding")),
            (200, Some("chunked")),
            "{}",
            self.body
        );
        self.text()
            .lines()
            .map(|line| serde_json::from_str(line).expect(line))
            .collect()
    }

    /// Returns the body, put together where it was sent in parts.
    pub(crate) fn text(&self) -> String {
        if self.header("transfer-encoding") != Some("chunked") {
            return self.body.clone();
        }
        unchunked(&self.body).expect("parts")
    }
}

/// Puts a body together that was sent in parts; `None` if it was not.
pub(crate) fn unchunked(body: &str) -> Option<String> {
    let mut whole = String::new();
    let mut rest = body;
    while let Some((size, part)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).ok()?;
        whole.push_str(part.get(..size)?);
        rest = part.get(size + 2..)?;
    }
    rest.is_empty().then_some(whole)
}

pub(crate) struct Pushed(BufReader<TcpStream>);

impl Pushed {
    pub(crate) fn next(&mut self) -> Value {
        loop {
            let mut line = String::new();
            assert!(
                self.0.read_line(&mut line).expect("a line") > 0,
                "the stream has ended"
            );
            if let Some(data) = line.strip_prefix("data: ") {
                return serde_json::from_str(data).expect(data);
            }
        }
    }
}
