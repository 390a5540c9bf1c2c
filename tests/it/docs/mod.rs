//! The documentation is true: links lead somewhere, commands and configurations work, and what is generated or described
//! is what the programs say of themselves.

mod agents;
mod blocks;
mod configuration;
mod links;
mod openapi;
mod readme;
mod sandbox;
mod shape;
mod spans;

use std::fs;
use std::path::{Path, PathBuf};

/// A document with its path from the top of the repository.
struct Document {
    path: String,
    text: String,
}

fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(top().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns all documents of the book, and those that people read before it.
fn documents() -> Vec<Document> {
    let mut paths = vec!["README.md".to_owned(), "examples/README.md".to_owned()];
    for folder in ["docs", "docs/agents", "docs/measurements", "docs/spec"] {
        let entries = fs::read_dir(top().join(folder)).expect("a folder");
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        let names = names.filter_map(|name| name.into_string().ok());
        let files = names.filter(|name| name.ends_with(".md"));
        paths.extend(files.map(|name| format!("{folder}/{name}")));
    }
    paths.sort();
    let read = |path: String| Document {
        text: read(&path),
        path,
    };
    paths.into_iter().map(read).collect()
}

/// A fenced block.
struct Block {
    line: usize,
    /// What follows the opening fence, such as `yaml project`.
    info: String,
    text: String,
}

impl Document {
    fn blocks(&self) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        let mut open: Option<usize> = None;
        for (number, line) in self.text.lines().enumerate() {
            let indent = line.len() - line.trim_start().len();
            match (line.trim_start().strip_prefix("```"), open) {
                (Some(_), Some(_)) => open = None,
                (Some(info), None) => {
                    open = Some(indent);
                    blocks.push(Block {
                        line: number + 1,
                        info: info.trim().to_owned(),
                        text: String::new(),
                    });
                }
                (None, Some(indent)) => {
                    let block = blocks.last_mut().expect("it was opened");
                    block.text.push_str(line.get(indent..).unwrap_or_default());
                    block.text.push('\n');
                }
                (None, None) => {}
            }
        }
        assert_eq!(open, None, "{}: a block has no end", self.path);
        blocks
    }

    /// Returns the text outside of blocks, the lines of blocks empty.
    fn prose(&self) -> String {
        let mut inside = false;
        let mut prose = String::new();
        for line in self.text.lines() {
            let fence = line.trim_start().starts_with("```");
            if !fence && !inside {
                prose.push_str(line);
            }
            prose.push('\n');
            inside ^= fence;
        }
        prose
    }

    /// Returns the folder of the document.
    fn folder(&self) -> PathBuf {
        let path = Path::new(&self.path);
        path.parent().map(Path::to_owned).unwrap_or_default()
    }
}

/// Compares a generated file with what it should be, or with `CHECKPOINTD_RECORD` writes it.
#[track_caller]
fn check_generated(path: &str, now: &str) {
    if std::env::var_os("CHECKPOINTD_RECORD").is_some() {
        let folder = top().join(path);
        fs::create_dir_all(folder.parent().expect("a folder")).expect("a folder");
        fs::write(top().join(path), now).expect("writes");
    }
    let before = fs::read_to_string(top().join(path)).unwrap_or_default();
    assert!(
        before == now,
        "{path} is not up to date: CHECKPOINTD_RECORD=1 cargo test --workspace --test it docs::"
    );
}
