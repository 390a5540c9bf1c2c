//! The chapter about the agents, made of their adapters, their installers and the versions that the tests run.
//! `CHECKPOINTD_RECORD=1 cargo test --test it docs::agents::` writes it again.

use std::fmt::Write as _;

use checkpoint::agents::adapter;
use checkpoint::agents::adapter::Adapter;
use checkpoint::config::Config;
use journal::{Agent, ReplyForm};
use serde_json::Value;

use super::{check_generated, read};
use crate::support::machine::Machine;

const INTRODUCTION: &str = "\
<!-- Made of the agents' adapters by tests/it/docs/agents.rs. -->
# Agents

`checkpointd init` installs hooks for every agent that it finds on the machine, and `checkpointd doctor
--fire AGENT` tests them. The versions are those that the tests run with a scripted model; other
versions work if their hooks are the same.
";

#[test]
fn the_chapter_says_what_the_adapters_do() {
    let machine = Machine::with(&[]);
    let config = Config::default();
    let versions = read("tests/agents/install.sh");
    let mut page = INTRODUCTION.to_owned();
    page.push_str("\n| agent | word | tested with | hooks are in | answer to a stop | checkpoints are typed in tmux |\n|---|---|---|---|---|---|\n");
    let mut details = String::new();
    for agent in Agent::HOSTS {
        let of = adapter(agent).expect("an adapter");
        let version = tested(&versions, of);
        let plan = machine.json(&["init", "--agent", agent.word(), "--dry-run", "--json"]);
        let file = hooks_file(&plan, &machine);
        let forms: Vec<&str> = of.reply_forms().iter().copied().map(form).collect();
        let typed = if of.has_composer() { "yes" } else { "no" };
        let _ = writeln!(
            page,
            "| {} | `{agent}` | {version} | `{file}` | {} | {typed} |",
            agent.name(),
            forms.join(" or ")
        );
        let library = of.library();
        let home = match library.home_default {
            "" => "~".to_owned(),
            folder => format!("~/{folder}"),
        };
        let _ = write!(details, "\n## {}\n\n", agent.name());
        let patterns: Vec<String> = library
            .patterns
            .iter()
            .map(|pattern| format!("`{home}/{pattern}`"))
            .collect();
        let transcripts = if patterns.is_empty() {
            "- Its sessions are in a database, which is not read: what it did is known from its hook calls, and `lookback` leaves it out.".to_owned()
        } else {
            let (patterns, variable) = (patterns.join(" and "), library.home_variable);
            format!("- Its transcripts are {patterns}, or below `{variable}`.")
        };
        let _ = writeln!(details, "{transcripts}");
        let line = config.settings.restart.line(agent).expect("a line");
        let _ = writeln!(
            details,
            "- `checkpointd restart` types `{}`.",
            line.for_session("SESSION").expect("a command")
        );
        for particular in of.particulars() {
            let _ = writeln!(details, "- {particular}");
        }
    }
    check_generated("docs/agents.md", &(page + &details));
}

/// Returns the version of an agent that the tests install.
fn tested(versions: &str, of: &dyn Adapter) -> String {
    let package = of.package();
    let (_, rest) = versions
        .split_once(&format!("{package}@"))
        .unwrap_or_else(|| panic!("tests/agents/install.sh installs no {package}"));
    rest.chars()
        .take_while(|c| c.is_ascii_digit() || *c == '.')
        .collect()
}

fn hooks_file(plan: &Value, machine: &Machine) -> String {
    let files = plan["agents"][0]["files"].as_array().expect("files");
    let path = files[0]["path"].as_str().expect("a path");
    path.replace(&*machine.home().to_string_lossy(), "~")
}

const fn form(form: ReplyForm) -> &'static str {
    match form {
        ReplyForm::Block => "`block`",
        ReplyForm::Deny => "`deny`",
        ReplyForm::Context => "`context`",
        ReplyForm::Permission => "`permission`",
    }
}
