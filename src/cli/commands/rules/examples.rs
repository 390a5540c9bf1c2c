//! `rules test`: runs the examples beside rules.

use std::path::{Path, PathBuf};

use actors::{project, workspace};
use checkpoint::Policy;
use checkpoint::config::{Config, Example, ProjectFile};
use checkpoint::judging::{self, Imagined};
use journal::ChangedFile;
use serde::Serialize;

use crate::cli::shared::Output;
use crate::cli::text::print_json;
use crate::error::{Failure, Result, exit};
use crate::render::{self, Color};

/// The result of an example.
#[derive(Debug, Serialize)]
pub(super) struct Tested<'a> {
    pub(super) rule: &'a str,
    /// Its number beside its rule, from 1.
    pub(super) example: usize,
    pub(super) passed: bool,
    #[serde(flatten)]
    given: &'a Example,
    pub(super) asked: Vec<String>,
    /// Actions that were expected and are not demanded.
    missing: Vec<String>,
    /// Actions that are demanded and were not expected.
    unexpected: Vec<String>,
}

/// Runs the examples of a project's file, or of another in its place.
pub(super) fn test(
    config: &Config,
    top: &Path,
    file: Option<PathBuf>,
    output: Output,
) -> Result<u8> {
    let path = file.unwrap_or_else(|| top.join(project::FILE));
    let name = path.display().to_string();
    let text = project::text(&path).map_err(|error| {
        Failure::usage(format!("cannot read {name}: {error}")).hint(
            "`rules test FILE` runs the `expect` blocks of a file of rules; `rules match FILES` shows which rules match files",
        )
    })?;
    let file = config.project_file(&name, &text).map_err(|error| {
        Failure::failed(error)
            .hint("a file of rules has a list below `rules:`; `rules match FILES` shows which rules match files")
    })?;
    let policy = config.policy_with(&project::facts(top), Some(&file), true);
    let tested = run(&file, &policy, top);
    let failed = tested.iter().filter(|tested| !tested.passed).count();
    if output.json {
        tested.iter().for_each(print_json);
    } else {
        tested.iter().for_each(show);
        let passed = tested.len() - failed;
        match tested.len() {
            0 => println!(
                "{}: no rule has an `expect` block",
                render::printable(&name)
            ),
            _ => println!("{passed} passed, {failed} failed"),
        }
    }
    Ok(if failed == 0 { exit::OK } else { exit::FAILED })
}

/// Runs all examples of a file under a policy that the file is part of.
pub(super) fn run<'a>(file: &'a ProjectFile, policy: &Policy, top: &Path) -> Vec<Tested<'a>> {
    let mut number = (String::new(), 0);
    let examples = file.examples().map(|(rule, example)| {
        number = match number.0 == rule {
            true => (rule.to_owned(), number.1 + 1),
            false => (rule.to_owned(), 1),
        };
        let changed: Vec<ChangedFile> = example
            .changed
            .iter()
            .map(|path| ChangedFile {
                path: path.clone(),
                hash: None,
            })
            .collect();
        let workspace = workspace::wanted(policy).then(|| workspace::for_past(top, &changed));
        let turn = Imagined {
            changed: &example.changed,
            ran: &example.ran,
            failed: &example.failed,
        };
        let asked = judging::asked_after(turn, workspace, policy);
        let (missing, unexpected) = example.compare(&asked);
        Tested {
            rule,
            example: number.1,
            passed: missing.is_empty() && unexpected.is_empty(),
            given: example,
            asked,
            missing,
            unexpected,
        }
    });
    examples.collect()
}

fn show(tested: &Tested<'_>) {
    let word = if tested.passed {
        render::paint(Color::Green, "ok  ")
    } else {
        render::paint(Color::Red, "FAIL")
    };
    println!(
        "{word} {} {}: {}",
        render::printable(tested.rule),
        tested.example,
        render::printable(&tested.given.to_string())
    );
    let line = |color, sign: &str, text: &String| {
        let text = format!("     {sign} {}", render::printable(text));
        println!("{}", render::paint(color, &text));
    };
    tested
        .missing
        .iter()
        .for_each(|text| line(Color::Red, "- expected:", text));
    tested
        .unexpected
        .iter()
        .for_each(|text| line(Color::Green, "+ asked:   ", text));
}
