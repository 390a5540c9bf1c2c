//! Requests as a client of no library sends them.

use std::io::{Read, Write};

use serde_json::Value;

/// Sends a request that closes its connection.
pub fn send(
    stream: &mut impl Write,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> std::io::Result<()> {
    let mut head = format!(
        "{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    stream.write_all(format!("{head}\r\n").as_bytes())?;
    // A server may answer, and close, before it has read everything.
    let _ = stream.write_all(body);
    Ok(())
}

/// Sends a request and reads the whole answer; `None` where there is none.
pub fn ask(
    mut stream: impl Read + Write,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Option<Answer> {
    send(&mut stream, method, path, headers, body).ok()?;
    read(stream)
}

/// Reads a whole answer.
pub fn read(mut stream: impl Read) -> Option<Answer> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n")?;
    Some(Answer {
        status: head.split(' ').nth(1)?.parse().ok()?,
        head: head.to_owned(),
        body: body.to_owned(),
    })
}

pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    pub fn header(&self, wanted: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines
            .find(|(name, _)| name.eq_ignore_ascii_case(wanted))
            .map(|(_, value)| value)
    }

    /// Returns the lines of a body that was sent in parts.
    pub fn lines(&self) -> Vec<Value> {
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
    pub fn text(&self) -> String {
        if self.header("transfer-encoding") != Some("chunked") {
            return self.body.clone();
        }
        unchunked(&self.body).expect("parts")
    }
}

/// Puts a body together that was sent in parts; `None` if it was not.
pub fn unchunked(body: &str) -> Option<String> {
    let mut whole = String::new();
    let mut rest = body;
    while let Some((size, part)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).ok()?;
        whole.push_str(part.get(..size)?);
        rest = part.get(size + 2..)?;
    }
    rest.is_empty().then_some(whole)
}
