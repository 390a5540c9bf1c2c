//! Reads HTTP/1.1 responses: a status and a body by length, in chunks, or up to the end of the connection.
//!
//! [`Response`] reads from a stream and hands out the body as it arrives.
//! Standard library only.

use std::io::{self, ErrorKind, Read};

/// Maximum size of a response's head, including interim responses before it.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// Maximum length of the line before a chunk.
const CHUNK_LINE_BYTES_MAX: usize = 1024;
const READ_BYTES: usize = 8 * 1024;

/// The head of a response.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// HTTP status code, never an interim one (1xx).
    pub status: u16,
    /// Size of the head, with any interim responses before it.
    bytes: usize,
    rest: Rest,
}

/// What a body still lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    Nothing,
    Bytes(u64),
    ChunkLine,
    Chunk(u64),
    /// The line break after a chunk.
    ChunkEnd,
    /// Everything up to the end of the connection.
    UntilClose,
}

impl Head {
    /// Parses the head of a response, skipping interim responses. Returns `None` until all of it has arrived.
    ///
    /// # Errors
    ///
    /// When the bytes are not the start of an HTTP/1.x response, or the head is larger than 64 KiB.
    pub fn parse(bytes: &[u8]) -> Result<Option<Self>, &'static str> {
        const START: &[u8] = b"HTTP/1.";
        let mut at = 0;
        loop {
            let rest = &bytes[at..];
            let known = rest.len().min(START.len());
            if rest[..known] != START[..known] {
                return Err("not an HTTP/1.x response");
            }
            let end = rest.windows(4).position(|four| four == b"\r\n\r\n");
            if end.map_or(bytes.len(), |end| at + end + 4) > HEAD_BYTES_MAX {
                return Err("the head of the response is too large");
            }
            let Some(end) = end else {
                return Ok(None);
            };
            at += end + 4;
            let head = std::str::from_utf8(&rest[..end]).ok();
            let head = head.and_then(|head| Self::from_lines(head, at));
            let head = head.ok_or("the head of the response is malformed")?;
            if !(100..200).contains(&head.status) {
                return Ok(Some(head));
            }
        }
    }

    fn from_lines(head: &str, bytes: usize) -> Option<Self> {
        let mut lines = head.split("\r\n");
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let mut rest = Rest::UntilClose;
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            let value = value.trim();
            if name.eq_ignore_ascii_case("transfer-encoding")
                && value.eq_ignore_ascii_case("chunked")
            {
                rest = Rest::ChunkLine;
            } else if name.eq_ignore_ascii_case("content-length") && rest != Rest::ChunkLine {
                rest = Rest::Bytes(value.parse().ok()?);
            }
        }
        if status == 204 || status == 304 || rest == Rest::Bytes(0) {
            rest = Rest::Nothing;
        }
        Some(Self {
            status,
            bytes,
            rest,
        })
    }
}

/// Decodes a body piece by piece.
impl Rest {
    /// Appends to `out` what `input` holds of the body. Returns how many bytes of `input` are used up; the others must
    /// be passed again, followed by more.
    fn decode(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<usize, &'static str> {
        let mut used = 0;
        loop {
            let input = &input[used..];
            match self {
                Self::Nothing => return Ok(used),
                Self::Bytes(left) | Self::Chunk(left) => {
                    let taken = copy(input, *left, out);
                    used += taken;
                    *left -= taken as u64;
                    if *left > 0 {
                        return Ok(used);
                    }
                    *self = match self {
                        Self::Chunk(_) => Self::ChunkEnd,
                        _ => Self::Nothing,
                    };
                }
                Self::UntilClose => return Ok(used + copy(input, u64::MAX, out)),
                Self::ChunkLine => {
                    let Some((size, line_bytes)) = chunk_size(input)? else {
                        return Ok(used);
                    };
                    used += line_bytes;
                    *self = match size {
                        0 => Self::Nothing,
                        _ => Self::Chunk(size),
                    };
                }
                Self::ChunkEnd => match input.get(..2) {
                    Some(b"\r\n") => {
                        used += 2;
                        *self = Self::ChunkLine;
                    }
                    Some(_) => return Err("a chunk does not end with a line break"),
                    None => return Ok(used),
                },
            }
        }
    }

    const fn is_complete(self, is_end: bool) -> bool {
        matches!(self, Self::Nothing) || (is_end && matches!(self, Self::UntilClose))
    }
}

fn copy(input: &[u8], most: u64, out: &mut Vec<u8>) -> usize {
    let taken = input.len().min(usize::try_from(most).unwrap_or(usize::MAX));
    out.extend_from_slice(&input[..taken]);
    taken
}

/// Returns the size of a chunk, and the length of the line that says it.
fn chunk_size(input: &[u8]) -> Result<Option<(u64, usize)>, &'static str> {
    let end = input.windows(2).position(|two| two == b"\r\n");
    // Where only the first half of the line break has arrived, the line is one byte shorter.
    if end.unwrap_or(input.len().saturating_sub(1)) > CHUNK_LINE_BYTES_MAX {
        return Err("the line before a chunk is too long");
    }
    let Some(end) = end else {
        return Ok(None);
    };
    let line = std::str::from_utf8(&input[..end]).unwrap_or_default();
    let digits = line.split(';').next().unwrap_or_default().trim();
    let size = u64::from_str_radix(digits, 16).map_err(|_| "the size of a chunk is malformed")?;
    Ok(Some((size, end + 2)))
}

/// A response on a stream. Reading it yields the body, without a size limit.
pub struct Response<R> {
    stream: R,
    status: u16,
    body: Rest,
    /// Bytes that have arrived and are not decoded yet.
    input: Vec<u8>,
    /// Decoded bytes, those before `given` were handed out.
    decoded: Vec<u8>,
    given: usize,
}

impl<R: Read> Response<R> {
    /// Reads the head of a response.
    ///
    /// # Errors
    ///
    /// `UnexpectedEof` when the stream ends before the head does, `InvalidData` when it is not an HTTP/1.x response,
    /// and any error of `stream`.
    pub fn receive(mut stream: R) -> io::Result<Self> {
        let mut input = Vec::new();
        loop {
            if let Some(head) = Head::parse(&input).map_err(invalid)? {
                input.drain(..head.bytes);
                return Ok(Self {
                    stream,
                    status: head.status,
                    body: head.rest,
                    input,
                    decoded: Vec::new(),
                    given: 0,
                });
            }
            if fill(&mut stream, &mut input)? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// Returns the HTTP status code.
    pub const fn status(&self) -> u16 {
        self.status
    }
}

impl<R: Read> Read for Response<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut is_end = false;
        while self.given == self.decoded.len() {
            self.decoded.clear();
            self.given = 0;
            let used = self.body.decode(&self.input, &mut self.decoded);
            self.input.drain(..used.map_err(invalid)?);
            if !self.decoded.is_empty() {
                break;
            }
            if self.body.is_complete(is_end) {
                return Ok(0);
            }
            if is_end {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            is_end = fill(&mut self.stream, &mut self.input)? == 0;
        }
        let read = (&self.decoded[self.given..]).read(buffer)?;
        self.given += read;
        Ok(read)
    }
}

/// Reads once from a stream. Returns how many bytes came, 0 at its end.
fn fill(stream: &mut impl Read, input: &mut Vec<u8>) -> io::Result<usize> {
    let before = input.len();
    input.resize(before + READ_BYTES, 0);
    let read = loop {
        match stream.read(&mut input[before..]) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            read => break read,
        }
    };
    input.truncate(before + read.as_ref().map_or(0, |read| *read));
    read
}

fn invalid(why: &'static str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why)
}

/// Returns the body unchanged if it may be shown to an agent: empty, or one JSON object.
///
/// # Errors
///
/// When the body is anything else.
pub fn object(body: Vec<u8>) -> Result<Vec<u8>, &'static str> {
    if body.trim_ascii().is_empty() {
        return Ok(Vec::new());
    }
    match serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(&body) {
        Ok(_) => Ok(body),
        Err(_) => Err("the body is not a JSON object"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(bytes: &[u8]) -> ErrorKind {
        let read =
            Response::receive(bytes).and_then(|mut response| response.read_to_end(&mut Vec::new()));
        read.expect_err("refused").kind()
    }

    #[test]
    fn the_three_forms_of_a_body() {
        let length = b"HTTP/1.1 200 OK\r\ncontent-LENGTH: 2\r\n\r\n{}";
        let chunks = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x=y\r\n{\r\n1\r\n}\r\n0\r\n\r\n";
        let rest = b"HTTP/1.0 503 Busy\r\n\r\n{}";
        let none = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 None\r\n\r\n";
        assert_eq!(received(length).expect("read"), (200, "{}".into()));
        assert_eq!(received(chunks).expect("read"), (200, "{}".into()));
        assert_eq!(received(rest).expect("read"), (503, "{}".into()));
        assert_eq!(received(none).expect("read"), (204, String::new()));
    }

    #[test]
    fn every_prefix_of_a_response_is_incomplete() {
        let chunks: &[u8] =
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n";
        let length: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
        for reply in [chunks, length] {
            for cut in 0..reply.len() {
                assert_eq!(kind(&reply[..cut]), ErrorKind::UnexpectedEof, "{cut}");
            }
        }
    }

    #[test]
    fn invalid_responses_are_rejected_at_the_first_wrong_byte() {
        let invalid = |bytes: &[u8]| kind(bytes) == ErrorKind::InvalidData;
        assert!(invalid(b"SSH-2.0"));
        assert!(invalid(b"HTTP/1.1 two hundred\r\n\r\n"));
        assert!(invalid(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"));
        assert!(invalid(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"
        ));
        assert!(invalid(
            &[b"HTTP/1.1 ".as_slice(), &[b'x'; HEAD_BYTES_MAX]].concat()
        ));
    }

    #[test]
    fn endless_interim_responses_are_invalid() {
        let interim = b"HTTP/1.1 100 Continue\r\n\r\n".repeat(100_000);
        assert_eq!(kind(&interim), ErrorKind::InvalidData);
    }

    /// Gives its bytes one at a time, and then the end.
    struct Trickle<'a>(&'a [u8]);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let most = buffer.len().min(1);
            self.0.read(&mut buffer[..most])
        }
    }

    fn received(bytes: &[u8]) -> io::Result<(u16, String)> {
        let mut response = Response::receive(Trickle(bytes))?;
        let mut body = String::new();
        response.read_to_string(&mut body)?;
        Ok((response.status(), body))
    }

    #[test]
    fn a_response_on_a_stream_is_read_as_it_arrives() {
        let long = "x".repeat(3 * READ_BYTES);
        let chunks = format!(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n{:x}\r\n{long}\r\n0\r\n\r\n",
            long.len()
        );
        let length = b"HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\n{}more";
        let rest = b"HTTP/1.1 200 OK\r\n\r\nto the end";
        let expected = (200, format!("a{long}"));
        assert_eq!(received(chunks.as_bytes()).expect("read"), expected);
        assert_eq!(received(length).expect("read"), (404, "{}".into()));
        assert_eq!(received(rest).expect("read"), (200, "to the end".into()));
    }

    #[test]
    fn a_response_that_is_cut_short_or_malformed_is_an_error() {
        let kind = |bytes: &[u8]| received(bytes).expect_err("refused").kind();
        for cut in [
            &b""[..],
            b"HTTP/1.1 200 OK\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n",
        ] {
            assert_eq!(kind(cut), ErrorKind::UnexpectedEof);
        }
        for malformed in [
            &b"220 smtp"[..],
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}}\r\n0\r\n",
        ] {
            assert_eq!(kind(malformed), ErrorKind::InvalidData);
        }
    }

    #[test]
    fn only_json_objects_are_shown_to_agents() {
        let object = |text: &str| object(text.as_bytes().to_vec()).ok();
        assert_eq!(object(" {\"a\": [1]}\n"), Some(b" {\"a\": [1]}\n".to_vec()));
        assert_eq!(object(" \r\n"), Some(Vec::new()));
        for no in [
            "[]",
            "null",
            "7",
            "{",
            "{} {}",
            "{'a':1}",
            "ok",
            "{\"a\":\"\\ud800\"}",
        ] {
            assert_eq!(object(no), None, "{no}");
        }
    }
}
