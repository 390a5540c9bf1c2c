//! The page of a daemon, asked without a browser.

use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::daemon::Daemon;
use crate::http::{self, Answer};

/// After this long an answer does not come any more.
const LIMIT: Duration = Duration::from_secs(60);

/// A page that a daemon serves.
pub struct Page {
    pub port: u16,
    pub token: String,
}

impl Page {
    pub fn open(daemon: &Daemon) -> Self {
        let answer = &daemon.ask(&["web", "--json"])[0];
        let port = u16::try_from(answer["port"].as_u64().expect("a port")).expect("a port");
        let url = answer["url"].as_str().expect("an address");
        let token = url
            .strip_prefix(&format!("http://127.0.0.1:{port}/#token="))
            .expect(url)
            .to_owned();
        Self { port, token }
    }

    /// Exchanges the token for a key; returns the value of the header that it is sent in.
    pub fn enter(&self) -> String {
        let answer = self.try_enter(&[]);
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert!(answer.header("set-cookie").is_none(), "a cookie");
        let body: Value = serde_json::from_str(&answer.body).expect("JSON");
        format!("Bearer {}", body["key"].as_str().expect("a key"))
    }

    /// Tries to exchange the token; more headers come after those of the page itself.
    pub fn try_enter(&self, headers: &[(&str, &str)]) -> Answer {
        let own = format!("http://127.0.0.1:{}", self.port);
        let mut all = vec![("Content-Type", "application/json")];
        if !headers.iter().any(|(name, _)| *name == "Origin") {
            all.push(("Origin", &own));
        }
        all.extend(headers);
        let body = json!({ "token": self.token }).to_string();
        self.send("POST", "/api/enter", &all, &body)
    }

    /// Sends a request, to the page's own host unless the headers name another one.
    pub fn connect(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        stream.set_read_timeout(Some(LIMIT)).expect("a timeout");
        let host = format!("127.0.0.1:{}", self.port);
        let mut headers = headers.to_vec();
        if !headers.iter().any(|(name, _)| *name == "Host") {
            headers.push(("Host", &host));
        }
        http::send(&mut stream, method, path, &headers, body.as_bytes())
            .expect("it takes requests");
        stream
    }

    /// Sends a request and reads the answer.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        http::read(self.connect(method, path, headers, body)).expect("an answer")
    }

    pub fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.send("GET", path, headers, "")
    }

    /// Follows what the page is pushed, from an event on.
    pub fn follow(&self, key: &str, after: u64) -> Pushed {
        let stream = self.connect(
            "GET",
            &format!("/api/live?after={after}"),
            &[("Authorization", key)],
            "",
        );
        Pushed(BufReader::new(stream))
    }
}

pub struct Pushed(BufReader<TcpStream>);

impl Pushed {
    pub fn receive(&mut self) -> Value {
        loop {
            let mut line = String::new();
            assert!(
                self.0.read_line(&mut line).expect("a line") > 0,
                "the stream has ended"
            );
            // Between the sizes of chunks.
            if line.starts_with('{') {
                return serde_json::from_str(&line).expect(&line);
            }
        }
    }
}
