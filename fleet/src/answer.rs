//! What JetStream answers if it did not do what was asked.

use broker::Problem;
use serde::Deserialize;

/// An error as JetStream answers it.
#[derive(Debug, Deserialize)]
pub(crate) struct ApiError {
    code: u16,
    #[serde(default)]
    err_code: u32,
    #[serde(default)]
    description: String,
}

/// The subject's last sequence number is not the expected one, as two versions of the server number it.
const WRONG_LAST: [u32; 2] = [10_071, 10_164];
/// The stream's limit of bytes, of messages; the account's and the server's storage.
const FULL: [u32; 5] = [10_077, 10_047, 10_023, 10_028, 10_002];
/// Not enough servers of the cluster can take a stream: they are late, or lack space.
const NO_PEERS: u32 = 10_005;
/// No such consumer, message, stream.
const MISSING: [u32; 3] = [10_014, 10_037, 10_059];

impl From<ApiError> for Problem {
    fn from(error: ApiError) -> Self {
        let ApiError {
            code,
            err_code,
            description,
        } = error;
        let text = format!("{description} ({err_code})");
        match err_code {
            known if WRONG_LAST.contains(&known) => Self::Moved,
            known if FULL.contains(&known) => Self::Full(text),
            known if MISSING.contains(&known) => Self::Missing(text),
            NO_PEERS if text.contains("storage") => Self::Full(text),
            _ if code == 503 || err_code == NO_PEERS => Self::Later(text),
            _ => Self::Refused(text),
        }
    }
}
