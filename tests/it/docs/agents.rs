//! The chapters about the agents, made of their adapters, their installers and the versions that the tests run.
//! `CHECKPOINTD_RECORD=1 cargo test --test it docs::agents::` writes them again.

use std::fmt::Write as _;
use std::fs;

use checkpoint::agents::adapter;
use checkpoint::agents::adapter::Adapter;
use checkpoint::config::Config;
use checkpoint::reply;
use journal::{Agent, ReplyForm};
use serde_json::Value;

use super::{check_generated, read, top};
use crate::support::machine::Machine;

const INTRODUCTION: &str = "\
<!-- Made of the agents' adapters by tests/it/docs/agents.rs. -->
# Agents

`checkpointd init` installs hooks for every agent that it finds on the machine, and `checkpointd doctor
--fire AGENT` tests them. The tests run the versions below with a scripted model; other versions work if
their hooks are the same. Support for an agent that is *not tested* was written from its public
documentation, and it gets hooks only if you name it: `checkpointd init --agent AGENT`. Each agent has a
chapter: what is installed where, how a checkpoint reaches it, and how to turn it off.

| agent | name | tested with | hooks are in | answer to a stop | checkpoints are typed in tmux |
|---|---|---|---|---|---|
";

/// What follows the table.
const OTHERS: &str = "
## Other agents

Many agents call hooks as Claude Code does. You can describe such an agent in `agents` in `config.yml`; all commands then
accept its name:

```yaml
agents:
  - name: buddy                        # lower-case letters, digits, and `-`
    settings: ~/.buddy/settings.json   # the file with the user's hooks
    project: .buddy                    # the folder of the same file in a project
    fields: {prompt: message}          # fields of payloads that have other names
    tools: {shell: [run], edit: [change], write: [create], read: [open]}
    transcripts: ~/.buddy/sessions/*/*.jsonl
    variables: [BUDDY_SESSION]         # environment variables that only this agent sets for hooks
    resume: buddy --resume {session}
```

`checkpointd init --agent buddy` installs its hooks, and `checkpointd uninstall --agent buddy` removes them, even after you
removed the description. Only `name` and `settings` are required; [Configuration](configuration.md#agents) lists all keys.

- Its tools are journaled under Claude Code's names: `Bash`, `Read`, `Edit` and `Write`. The kind of tools that are not listed
  is guessed from their names. A result is a failure if it has an exit code other than 0, `success: false`, or
  `is_error: true`.
- Some agents also run the hooks in Claude Code's settings. `variables` identifies their calls. Run `checkpointd init` again
  after you change it, because it is part of Claude Code's hook commands.
- Checkpoints are sent as the answer to its stop hook and never typed, because its screen is not known.

The repository has [examples](https://github.com/checkpointd/checkpointd/tree/main/examples/agents) for CodeBuddy Code,
Goose, OpenHands, and VS Code. They were written from public documentation and not tested.
";

/// What is to be said of one agent.
struct Subject {
    agent: Agent,
    adapter: &'static dyn Adapter,
    /// The version that the tests run, if they run it.
    version: Option<String>,
    /// What `init` would do, for the user and for a project. A project's hooks may be refused.
    user: Value,
    project: Result<Value, String>,
    /// The command that resumes a session.
    resume: String,
}

impl Subject {
    fn of(agent: Agent, machine: &Machine, versions: &str, config: &Config) -> Self {
        let adapter = adapter(agent).expect("an adapter");
        let line = config.settings.resume_line(agent).expect("a line");
        let home = machine.home();
        let plan = |options: &[&str]| {
            let words = ["init", "--agent", agent.word(), "--dry-run", "--json"];
            let output = machine.run(&[&words, options].concat());
            // Paths are shown from the home folder, or from the project.
            let [out, err] = [output.stdout, output.stderr].map(|bytes| {
                let text = String::from_utf8(bytes).expect("text");
                text.replace(&*home.to_string_lossy(), "~")
            });
            let plan = serde_json::from_str::<Value>(&out).map(|plan| plan["agents"][0].clone());
            plan.map_err(|_| err)
        };
        Self {
            agent,
            adapter,
            version: tested(versions, adapter),
            user: plan(&[]).expect("a plan"),
            project: plan(&["--project"]),
            resume: line.for_session("SESSION").expect("a command"),
        }
    }

    fn row(&self) -> String {
        let forms = self.adapter.reply_forms().iter().copied().map(form);
        let forms: Vec<String> = forms.map(|form| format!("`{form}`")).collect();
        let typed = if self.adapter.has_composer() {
            "yes"
        } else {
            "no"
        };
        format!(
            "| [{}](agents/{word}.md) | `{word}` | {} | `{}` | {} | {typed} |\n",
            self.agent.name(),
            self.version.as_deref().unwrap_or("not tested"),
            text(&files(&self.user)[0]["path"]),
            forms.join(" or "),
            word = self.agent.word(),
        )
    }

    fn chapter(&self) -> String {
        let (name, word) = (self.agent.name(), self.agent.word());
        let mut page = format!(
            "<!-- Made of the agent's adapter and installer by tests/it/docs/agents.rs. -->\n# {name}\n\n\
             Commands and settings call it `{word}`. {}\n\n\
             ## Setting it up\n\n```sh\ncheckpointd init --agent {word} --dry-run\ncheckpointd init --agent {word}\n```\n\n\
             Then restart the agent, so that it loads the hooks. `checkpointd doctor --fire {word}` tests them.\n\n\
             | file | what `init` adds |\n|---|---|\n",
            self.tried(),
        );
        for file in files(&self.user) {
            let _ = writeln!(page, "| `{}` | {} |", text(&file["path"]), added(file));
        }
        let _ = write!(
            page,
            "\n{}\n\n## How a checkpoint reaches it\n\n{}\n## Turning it off\n\n{}",
            self.for_a_project(),
            self.delivery(),
            off(word)
        );
        let particulars = self.adapter.particulars();
        if !particulars.is_empty() {
            page.push_str("\n## Notes\n\n");
        }
        for particular in particulars {
            let _ = writeln!(page, "- {particular}");
        }
        page
    }

    /// Says what is known of it from tests.
    fn tried(&self) -> String {
        match &self.version {
            Some(version) => format!(
                "The tests run version {version} of the package\n`{}` with a scripted model.",
                self.adapter.package()
            ),
            None => {
                "Its support was written from\nits public documentation and not tested.".to_owned()
            }
        }
    }

    fn for_a_project(&self) -> String {
        match &self.project {
            Err(refusal) => {
                let reason = refusal.trim_start_matches("error: ").split(':').next();
                format!(
                    "`--project` is refused, because {}.",
                    reason.expect("a part").trim()
                )
            }
            Ok(plan) => {
                let path = text(&files(plan)[0]["path"]).trim_start_matches("~/");
                // The first note is about the program, which is not on this machine; the last holds for all agents.
                let note = text(&plan["notes"][1]).replace(" ~ ", " the project's folder ");
                format!(
                    "With `--project`, the hooks go to `{path}` of the current project instead. {note}."
                )
            }
        }
    }

    fn delivery(&self) -> String {
        let mut said = String::new();
        for form in self.adapter.reply_forms().iter().copied() {
            let reply = reply::to_stop(form, "[TeleClaude Checkpoint] ...");
            let _ = writeln!(
                said,
                "As the answer to its stop hook (`{}`):\n\n```json\n{reply}\n```\n",
                self::form(form)
            );
        }
        let typed = if self.adapter.has_composer() {
            "- If no hook waits for an answer, the checkpoint is [typed into its tmux pane](../delivery.md)."
        } else {
            "- Checkpoints are not typed into its terminal, because its screen is not known."
        };
        let _ = writeln!(said, "{typed}");
        let _ = writeln!(said, "- `checkpointd restart` types `{}`.", self.resume);
        let library = self.adapter.library();
        let home = match library.home_default {
            "" => "~".to_owned(),
            folder => format!("~/{folder}"),
        };
        let patterns = library.patterns.iter();
        let patterns: Vec<String> = patterns
            .map(|pattern| format!("`{home}/{pattern}`"))
            .collect();
        let _ = if patterns.is_empty() {
            writeln!(
                said,
                "- `lookback` does not support it: its documentation says neither where its transcripts are nor how they are written."
            )
        } else {
            let (patterns, variable) = (patterns.join(" and "), library.home_variable);
            writeln!(
                said,
                "- Its transcripts are {patterns}, or below `{variable}`."
            )
        };
        said
    }
}

#[test]
fn the_chapters_say_what_adapters_and_installers_do() {
    let machine = Machine::with(&[]);
    let config = Config::default();
    let versions = read("tests/agents/install.sh");
    let mut overview = INTRODUCTION.to_owned();
    let mut list = "- [Agents](agents.md)\n".to_owned();
    let mut chapters = Vec::new();
    for agent in Agent::HOSTS {
        let subject = Subject::of(agent, &machine, &versions, &config);
        overview.push_str(&subject.row());
        let (name, word) = (agent.name(), agent.word());
        let _ = writeln!(list, "  - [{name}](agents/{word}.md)");
        check_generated(&format!("docs/agents/{word}.md"), &subject.chapter());
        chapters.push(format!("{word}.md"));
    }
    overview.push_str(OTHERS);
    check_generated("docs/agents.md", &overview);
    check_generated(
        "docs/SUMMARY.md",
        &with_agents(&read("docs/SUMMARY.md"), &list),
    );
    let entries = fs::read_dir(top().join("docs/agents")).expect("a folder");
    for entry in entries {
        let name = entry.expect("an entry").file_name();
        let is_known = chapters.iter().any(|chapter| name == **chapter);
        assert!(is_known, "docs/agents/{} is of no agent", name.display());
    }
}

/// Returns the list of chapters with this list of agents in it.
fn with_agents(summary: &str, list: &str) -> String {
    let (before, after) = summary.split_once("- [Agents]").expect("a chapter");
    let rest = after.split_inclusive('\n').skip(1);
    let rest: String = rest.skip_while(|line| line.starts_with("  - ")).collect();
    format!("{before}{list}{rest}")
}

fn off(word: &str) -> String {
    format!(
        "This removes its hooks and nothing else. [Getting started](../getting-started.md#6-turn-it-off) says how to turn\n\
         off one session or one project.\n\n```sh\ncheckpointd uninstall --agent {word}\n```\n"
    )
}

/// Returns the version of an agent that the tests install.
fn tested(versions: &str, of: &dyn Adapter) -> Option<String> {
    let package = Some(of.package()).filter(|name| !name.is_empty())?;
    let (_, rest) = versions
        .split_once(&format!("{package}@"))
        .unwrap_or_else(|| panic!("tests/agents/install.sh installs no {package}"));
    let version = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.');
    Some(version.collect())
}

fn files(plan: &Value) -> &[Value] {
    plan["files"].as_array().expect("files")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// Says what is added to a file.
fn added(file: &Value) -> String {
    let entries = file["entries"].as_array().expect("entries");
    let entries: Vec<String> = entries
        .iter()
        .map(|entry| format!("`{}`", text(&entry["entry"])))
        .collect();
    match text(&file["kind"]) {
        "prompt" => format!("the command {}", entries.join(", ")),
        "trust" => "trust in these hooks".to_owned(),
        _ if entries == ["`plugin`"] => "a program that runs the hook client".to_owned(),
        _ => format!("the hooks {}", entries.join(", ")),
    }
}

const fn form(form: ReplyForm) -> &'static str {
    match form {
        ReplyForm::Block => "block",
        ReplyForm::Deny => "deny",
        ReplyForm::Context => "context",
        ReplyForm::Permission => "permission",
        ReplyForm::FollowUp => "follow_up",
    }
}
