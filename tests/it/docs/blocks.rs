//! Every fenced block is used as its reader would use it. `sh` is run, `yaml` is a `config.yml`, `yaml project` a
//! `.checkpointd.yml`. `sh by-hand` is for what a test cannot run, such as an installation; of it the names are checked.

use std::fs;

use super::sandbox::Sandbox;
use super::spans::Names;
use super::{Block, Document, documents};
use crate::support::{Home, run};

/// Commands that only a reader can run: they build, install, need a server, or follow such a command.
const BY_HAND: [&str; 11] = [
    "cargo",
    "./install.sh",
    "curl --proto '=https'",
    "npm install",
    "npx checkpointd lookback",
    "pipx install",
    "for n in",
    "scp",
    "ssh",
    "checkpointd fleet join",
    "psql",
];

/// Checks a configuration by the program. Returns what it said against it.
fn refused(home: &Home, block: &Block, arguments: &[&str]) -> Option<String> {
    let file = home.path().join("block.yml");
    fs::write(&file, &block.text).expect("writes");
    let path = file.to_str().expect("text");
    let mut command = home.command(
        env!("CARGO_BIN_EXE_checkpointd"),
        &[arguments, &[path]].concat(),
    );
    let output = run(&mut command, b"");
    let said = [output.stdout, output.stderr].concat();
    (!output.status.success()).then(|| String::from_utf8_lossy(&said).into_owned())
}

fn by_hand(block: &Block, names: &mut Names) -> Option<String> {
    let lines = block.text.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    for line in lines {
        let is_begun = |by_hand: &&str| {
            let rest = line.strip_prefix(*by_hand);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        let problem = if !BY_HAND.iter().any(is_begun) {
            Some(format!("a test could run `{line}`"))
        } else if line.starts_with("checkpointd ") {
            names.problem(line)
        } else {
            None
        };
        if problem.is_some() {
            return problem;
        }
    }
    None
}

/// Checks the blocks of a document, with the machine for its commands, which is made when it is needed.
fn check(
    document: &Document,
    home: &Home,
    names: &mut Names,
    sandbox: &mut Option<Sandbox>,
    wrong: &mut Vec<String>,
) -> usize {
    let mut used = 0;
    for block in document.blocks() {
        used += 1;
        let problem = match block.info.as_str() {
            "text" | "sql" => None,
            "yaml" => refused(home, &block, &["config", "check"]),
            "yaml project" => refused(home, &block, &["rules", "check"]),
            "json" => serde_json::from_str::<serde_json::Value>(&block.text)
                .err()
                .map(|error| error.to_string()),
            "sh by-hand" => by_hand(&block, names),
            "sh" => {
                let sandbox = sandbox.get_or_insert_with(Sandbox::new);
                let output = sandbox.sh(&block.text);
                (!output.status.success()).then(|| {
                    let said = [output.stdout, output.stderr].concat();
                    String::from_utf8_lossy(&said).into_owned()
                })
            }
            other => Some(format!("no test knows blocks of `{other}`")),
        };
        let place = format!("{}:{}", document.path, block.line);
        wrong.extend(problem.map(|problem| format!("{place}: {problem}")));
    }
    used
}

#[test]
fn every_block_works() {
    let home = Home::new();
    let mut names = Names::new();
    let mut wrong = Vec::new();
    let mut used = 0;
    for document in documents() {
        used += check(&document, &home, &mut names, &mut None, &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(used > 30, "{used}");
}

#[test]
fn wrong_blocks_are_found() {
    let text = "```yaml\nmin_trun: 1s\n```\n\n```yaml project\nlogs: {level: info}\n```\n\n```json\n{\n```\n\n\
                ```sh by-hand\ncheckpointd fleet join --to x\n```\n\n```sh by-hand\nls\n```\n\n```sh by-hand\ncheckpointd status\n```\n\n```python\nx\n```\n";
    let document = Document {
        path: "docs/x.md".into(),
        text: text.into(),
    };
    let mut wrong = Vec::new();
    let (home, mut names) = (Home::new(), Names::new());
    let used = check(&document, &home, &mut names, &mut None, &mut wrong);
    assert_eq!((used, wrong.len()), (7, 7), "{wrong:#?}");
}
