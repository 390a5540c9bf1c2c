//! Whether the files of a document are still what the journal rendered: another program may have written into them
//! (spec PROG-10).

use std::path::Path;

use checkpoint::progress::{self, CheckResult, Document};
use journal::Journal;
use uuid::Uuid;

use super::documents::{self, Error};
use super::rebuild::{self, DOCUMENT_BYTES_MAX, FileState, Known};
use crate::named_file;

/// Checks the file of a document, and that of the document that it builds on.
pub(super) fn check(
    journal: &Journal,
    data: &Path,
    seq: u64,
    document: &Document,
) -> Result<Vec<CheckResult>, Error> {
    let session = Uuid::parse_str(&document.session).unwrap_or_default();
    let builds_on = document.parent.as_ref().map(|parent| parent.seq);
    let is_wanted = |known: &Known| {
        let mut wanted = [Some(seq), builds_on].into_iter().flatten();
        wanted.any(|seq| known.documents.contains(&seq))
    };
    let mut lines = Vec::new();
    for (path, known) in rebuild::known(journal, data, session)? {
        if is_wanted(&known)
            && let Some(newest) = known.documents.last()
            && let Some(newest) = documents::document(journal, *newest)?
        {
            let text = progress::render(&newest);
            let state = rebuild::file_state(journal, &path, &text, &known.documents)?;
            let name = path.strip_prefix(&newest.project).unwrap_or(&path);
            lines.push(line(&path, &name.display().to_string(), &text, &state));
        }
    }
    Ok(lines)
}

fn line(path: &Path, name: &str, text: &str, state: &FileState) -> CheckResult {
    match state {
        FileState::UpToDate => CheckResult::good("document", "the file is as the journal has it"),
        FileState::Missing => CheckResult::good(
            "document",
            format!("{name} is not there; `checkpointd progress rebuild` writes it"),
        ),
        FileState::Outdated => CheckResult::bad(
            "document",
            format!("the session's latest document in {name}"),
            format!("{name} holds an older document"),
            "run `checkpointd progress rebuild`",
        ),
        FileState::Edited => {
            let how = match named_file::bytes(path, DOCUMENT_BYTES_MAX) {
                Ok(bytes) => progress::difference(text, &String::from_utf8_lossy(&bytes))
                    .unwrap_or_else(|| "its bytes differ".into()),
                Err(error) => error.to_string(),
            };
            CheckResult::bad(
                "document",
                format!("{name} as the journal has it"),
                format!("{name} is not as the journal has it: {how}"),
                "do not use that file: `checkpointd progress show` prints the document, and `checkpointd progress rebuild --force` writes it again",
            )
        }
    }
}
