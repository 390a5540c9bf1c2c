//! Links, headings, and the list of chapters.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::{Document, documents, top};

/// Returns the targets of the links and pictures of a text.
fn targets(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("](") {
        let end = after.find(')').unwrap_or(after.len());
        found.push(after[..end].to_owned());
        rest = &after[end..];
    }
    for name in ["src=\"", "srcset=\""] {
        let quoted = text.split(name).skip(1);
        found.extend(quoted.filter_map(|after| Some(after.split_once('"')?.0.to_owned())));
    }
    found
}

/// Returns the anchors of a document's headings, as GitHub and mdBook name them.
fn anchors(document: &Document) -> BTreeSet<String> {
    let prose = document.prose();
    let headings = prose.lines().filter(|line| line.starts_with('#'));
    let anchor = |line: &str| -> String {
        let kept = line.trim_start_matches('#').trim().chars();
        kept.filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
            .flat_map(char::to_lowercase)
            .map(|c| if c == ' ' { '-' } else { c })
            .collect()
    };
    headings.map(anchor).collect()
}

/// Resolves `..` without looking at the disk.
fn resolved(path: &Path) -> PathBuf {
    let mut resolved = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(resolved.pop()),
            part => resolved.push(part),
        }
    }
    resolved
}

/// Returns what is wrong with a link.
fn problem(all: &[Document], document: &Document, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = if file.is_empty() {
        PathBuf::from(&document.path)
    } else {
        resolved(&document.folder().join(file))
    };
    if !top().join(&path).exists() {
        return Some("leads nowhere".into());
    }
    if document.path.starts_with("docs/") && !path.starts_with("docs") {
        return Some("leaves the book: name the file's address in the repository".into());
    }
    let other = all.iter().find(|other| Path::new(&other.path) == path);
    let known = other.is_none_or(|other| anchor.is_empty() || anchors(other).contains(anchor));
    (!known).then(|| "names a heading that does not exist".into())
}

#[test]
fn every_link_leads_somewhere() {
    let all = documents();
    let mut wrong = Vec::new();
    let mut links = 0;
    for document in &all {
        for target in targets(&document.prose()) {
            links += 1;
            if let Some(problem) = problem(&all, document, &target) {
                wrong.push(format!("{}: {target} {problem}", document.path));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(links > 100, "{links}");
}

#[test]
fn every_document_is_a_chapter_once() {
    let all = documents();
    let summary = all.iter().find(|it| it.path == "docs/SUMMARY.md");
    let mut chapters = targets(&summary.expect("a summary").text);
    chapters.sort();
    let book = all.iter().filter_map(|it| it.path.strip_prefix("docs/"));
    let mut files: Vec<_> = book.filter(|path| *path != "SUMMARY.md").collect();
    files.sort_unstable();
    assert_eq!(chapters, files);
}

#[test]
fn wrong_links_are_found() {
    let document = |path: &str, text: &str| Document {
        path: path.into(),
        text: text.into(),
    };
    let all = [
        document("docs/setup.md", "# A title: `x`\n"),
        document("docs/spec/README.md", "[a](../setup.md#a-title-x)\n"),
    ];
    let found = |target: &str| problem(&all, &all[1], target);
    assert_eq!(targets("![a](b) [`c`](d#e)"), ["b", "d#e"]);
    assert_eq!(found("../setup.md#a-title-x"), None);
    assert_eq!(found("https://example.com"), None);
    assert!(found("../setup.md#other").is_some());
    assert!(found("../absent.md").is_some());
    assert!(found("../../README.md").is_some());
}
