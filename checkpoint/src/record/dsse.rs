//! The envelope around a statement: DSSE, with base64 (RFC 4648).

use serde::{Deserialize, Serialize};

/// Type of the payload.
pub const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A signed statement, or one without signatures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Envelope {
    /// Always [`PAYLOAD_TYPE`].
    pub payload_type: String,
    /// The statement's bytes, in base64.
    pub payload: String,
    /// At most one.
    pub signatures: Vec<Signed>,
}

/// A signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signed {
    /// The fingerprint of the key, as a hint only.
    pub keyid: String,
    /// What `ssh-keygen -Y sign` printed, in base64.
    pub sig: String,
}

impl Envelope {
    /// Returns an envelope without signatures.
    pub fn unsigned(payload: &[u8]) -> Self {
        Self {
            payload_type: PAYLOAD_TYPE.to_owned(),
            payload: encode(payload),
            signatures: Vec::new(),
        }
    }
}

/// Returns the bytes that are signed for a payload: DSSE's pre-authentication encoding.
pub fn pae(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let head = format!(
        "DSSEv1 {} {payload_type} {} ",
        payload_type.len(),
        payload.len()
    );
    [head.as_bytes(), payload].concat()
}

/// Encodes bytes in base64, with padding.
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * place) & 63) as usize];
            text.push(if place > chunk.len() {
                '='
            } else {
                digit.into()
            });
        }
    }
    text
}

/// Decodes what [`encode`] makes, and nothing else.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for chunk in digits.as_bytes().chunks(4) {
        let mut bits = 0;
        for place in 0..4 {
            let digit = match chunk.get(place) {
                Some(digit) => DIGITS.iter().position(|known| known == digit)?,
                None => 0,
            };
            bits = bits << 6 | u32::try_from(digit).ok()?;
        }
        let all = bits.to_be_bytes();
        bytes.extend(&all[1..chunk.len().max(1)]);
    }
    (encode(&bytes) == text).then_some(bytes)
}
