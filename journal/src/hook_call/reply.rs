//! The reply to a hook call, HTTP/1.1 read by hand: a status, a body by length, in chunks or up to the end of the
//! connection. The hook client uses it, so it needs no more than `request.rs` does.

/// The longest head of a reply.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// The longest body that is passed on to an agent.
const BODY_BYTES_MAX: usize = 1024 * 1024;

/// What the bytes that have come so far are.
#[derive(Debug, PartialEq, Eq)]
pub enum Reply {
    /// The beginning of a reply.
    Unfinished,
    /// A whole reply.
    Whole {
        /// Its status.
        status: u16,
        /// Its body, the chunks joined.
        body: Vec<u8>,
    },
    /// No reply that we know.
    Rubbish(&'static str),
}

/// Reads a reply from its bytes so far; `is_end` says that no more will come.
pub fn parse(bytes: &[u8], is_end: bool) -> Reply {
    const BEGINNING: &[u8] = b"HTTP/1.";
    let mut rest = bytes;
    let head = loop {
        let known = rest.len().min(BEGINNING.len());
        if rest[..known] != BEGINNING[..known] {
            return Reply::Rubbish("not HTTP");
        }
        if bytes.len() - rest.len() > HEAD_BYTES_MAX {
            return Reply::Rubbish("endless head");
        }
        let Some(split) = rest.windows(4).position(|four| four == b"\r\n\r\n") else {
            return if bytes.len() > HEAD_BYTES_MAX {
                Reply::Rubbish("endless head")
            } else {
                Reply::Unfinished
            };
        };
        let Some(head) = std::str::from_utf8(&rest[..split])
            .ok()
            .and_then(Head::parse)
        else {
            return Reply::Rubbish("not HTTP");
        };
        rest = &rest[split + 4..];
        // Behind an interim reply follows another, in the end the real one.
        if !(100..200).contains(&head.status) {
            break head;
        }
    };
    let body = match head.body {
        _ if head.status == 204 || head.status == 304 => Some(Vec::new()),
        Body::Chunks => match join_chunks(rest) {
            Ok(body) => body,
            Err(why) => return Reply::Rubbish(why),
        },
        Body::Length(length) if length > BODY_BYTES_MAX => {
            return Reply::Rubbish("the body is too large");
        }
        Body::Length(length) => rest.get(..length).map(<[u8]>::to_vec),
        Body::Rest if rest.len() > BODY_BYTES_MAX => {
            return Reply::Rubbish("the body is too large");
        }
        Body::Rest => is_end.then(|| rest.to_vec()),
    };
    body.map_or(Reply::Unfinished, |body| Reply::Whole {
        status: head.status,
        body,
    })
}

struct Head {
    status: u16,
    body: Body,
}

enum Body {
    Length(usize),
    Chunks,
    Rest,
}

impl Head {
    fn parse(head: &str) -> Option<Self> {
        let mut lines = head.split("\r\n");
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let mut body = Body::Rest;
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            let value = value.trim();
            if name.eq_ignore_ascii_case("transfer-encoding")
                && value.eq_ignore_ascii_case("chunked")
            {
                body = Body::Chunks;
            } else if name.eq_ignore_ascii_case("content-length") && !matches!(body, Body::Chunks) {
                body = Body::Length(value.parse().ok()?);
            }
        }
        Some(Self { status, body })
    }
}

/// Returns the body, or none while chunks are missing.
fn join_chunks(bytes: &[u8]) -> Result<Option<Vec<u8>>, &'static str> {
    let mut body = Vec::new();
    let mut rest = bytes;
    loop {
        let Some(end) = rest.windows(2).position(|two| two == b"\r\n") else {
            return Ok(None);
        };
        let line = std::str::from_utf8(&rest[..end]).map_err(|_| "no length of a chunk")?;
        let digits = line.split(';').next().unwrap_or_default().trim();
        let length = usize::from_str_radix(digits, 16).map_err(|_| "no length of a chunk")?;
        if length == 0 {
            return Ok(Some(body));
        }
        if length > BODY_BYTES_MAX - body.len() {
            return Err("the body is too large");
        }
        let begin = end + 2;
        let Some(chunk) = rest.get(begin..begin + length) else {
            return Ok(None);
        };
        body.extend_from_slice(chunk);
        let Some(next) = rest.get(begin + length + 2..) else {
            return Ok(None);
        };
        rest = next;
    }
}

/// Returns the body unchanged if an agent may see it: nothing, or one JSON object.
///
/// # Errors
///
/// Says what is wrong with it.
pub fn object(body: Vec<u8>) -> Result<Vec<u8>, &'static str> {
    if body.trim_ascii().is_empty() {
        return Ok(Vec::new());
    }
    match serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(&body) {
        Ok(_) => Ok(body),
        Err(_) => Err("the body is no JSON object"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(status: u16, body: &str) -> Reply {
        Reply::Whole {
            status,
            body: body.as_bytes().to_vec(),
        }
    }

    #[test]
    fn bodies_come_in_three_ways() {
        let length = b"HTTP/1.1 200 OK\r\ncontent-LENGTH: 2\r\n\r\n{}";
        let chunks = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x=y\r\n{\r\n1\r\n}\r\n0\r\n\r\n";
        let rest = b"HTTP/1.0 503 Busy\r\n\r\n{}";
        assert_eq!(parse(length, false), whole(200, "{}"));
        assert_eq!(parse(chunks, false), whole(200, "{}"));
        assert_eq!(parse(rest, false), Reply::Unfinished);
        assert_eq!(parse(rest, true), whole(503, "{}"));
        assert_eq!(
            parse(
                b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 None\r\n\r\n",
                false
            ),
            whole(204, "")
        );
    }

    #[test]
    fn every_cut_of_a_reply_is_unfinished() {
        let chunks: &[u8] =
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n";
        let length: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
        for reply in [chunks, length] {
            for cut in 0..reply.len() {
                assert_eq!(parse(&reply[..cut], false), Reply::Unfinished, "{cut}");
            }
        }
    }

    #[test]
    fn rubbish_is_told_as_soon_as_it_shows() {
        let rubbish = |bytes: &[u8]| matches!(parse(bytes, false), Reply::Rubbish(_));
        assert!(rubbish(b"SSH-2.0"));
        assert!(rubbish(b"HTTP/1.1 two hundred\r\n\r\n"));
        assert!(rubbish(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"));
        assert!(rubbish(
            b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n"
        ));
        assert!(rubbish(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n"
        ));
        assert!(rubbish(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"
        ));
        assert!(rubbish(
            &[b"HTTP/1.1 ".as_slice(), &[b'x'; HEAD_BYTES_MAX]].concat()
        ));
    }

    #[test]
    fn interim_replies_without_end_are_rubbish() {
        let interim = b"HTTP/1.1 100 Continue\r\n\r\n".repeat(100_000);
        assert_eq!(parse(&interim, false), Reply::Rubbish("endless head"));
    }

    #[test]
    fn agents_see_objects_only() {
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
