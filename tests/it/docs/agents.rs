//! The facts in the chapters about the agents are those of their adapters, their installers and the versions that the
//! tests run. `CHECKPOINTD_RECORD=1 cargo test --test it docs::agents::` writes them again, between two marks; all else
//! in the chapters is written by hand.

use std::fs;

use checkpoint::agents::adapter;
use checkpoint::agents::adapter::Adapter;
use checkpoint::config::Config;
use checkpoint::hooks::{HookCall, Reading, normalize};
use checkpoint::reply;
use journal::{Agent, ReplyForm, Timestamp};
use serde_json::Value;

use super::{check_generated, read, top};
use crate::support::machine::Machine;

/// The marks around facts.
const BEGIN: &str = "<!-- facts: tests/it/docs/agents.rs writes them -->\n";
const END: &str = "<!-- end of facts -->\n";

/// Checks the facts in a document, or writes them. A new agent's chapter begins with them alone.
#[track_caller]
fn check_facts(path: &str, title: &str, facts: &str) {
    let text = fs::read_to_string(top().join(path)).unwrap_or_default();
    let (before, after) = match text.split_once(BEGIN) {
        Some((before, rest)) => (before, rest.split_once(END).expect("an end of facts").1),
        None => (&*format!("# {title}\n\n"), ""),
    };
    check_generated(path, &format!("{before}{BEGIN}{facts}{END}{after}"));
}

/// What is to be said of one agent.
struct Subject {
    agent: Agent,
    adapter: &'static Adapter,
    /// The package and the version that the tests run, if they run it.
    tried: Option<(&'static str, &'static str)>,
    /// What `init` would do, for the user and for a project. A project's hooks may be refused.
    user: Value,
    project: Result<Value, String>,
    /// The command that resumes a session.
    resume: String,
}

impl Subject {
    fn of(agent: Agent, machine: &Machine, config: &Config) -> Self {
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
            tried: (adapter.tools.known)().tried(),
            user: plan(&[]).expect("a plan"),
            project: plan(&["--project"]),
            resume: line.for_session("SESSION").expect("a command"),
        }
    }

    fn row(&self) -> String {
        let forms = self.adapter.reply_forms();
        let forms: Vec<String> = forms.map(|it| format!("`{}`", form(it))).collect();
        format!(
            "| [{}](agents/{word}.md) | `{word}` | {} | `{}` | {} | {} |\n",
            self.agent.name(),
            self.tried.map_or("not tested", |(_, version)| version),
            text(&files(&self.user)[0]["path"]),
            forms.join(" or "),
            self.typed(),
            word = self.agent.word(),
        )
    }

    const fn typed(&self) -> &'static str {
        match self.adapter.composer {
            Some(_) => "yes",
            None => "no",
        }
    }

    fn facts(&self) -> String {
        let tested = match self.tried {
            Some((package, version)) => format!("`{package}` {version}, with a scripted model"),
            None => "nothing: its support was written from its public documentation".to_owned(),
        };
        let mut rows = vec![
            (
                "name in commands and settings".to_owned(),
                format!("`{}`", self.agent.word()),
            ),
            ("tested with".to_owned(), tested),
        ];
        for file in files(&self.user) {
            let path = text(&file["path"]);
            rows.push((format!("`init` adds to `{path}`"), added(file)));
        }
        rows.push(("`init --project`".to_owned(), self.for_a_project()));
        for it in self.adapter.reply_forms() {
            let reply = reply::to_stop(it, "[checkpointd] ...");
            rows.push((
                format!("answer to its stop hook, `{}`", form(it)),
                format!("`{reply}`"),
            ));
        }
        let held = self.adapter.tool_form.map_or("no".to_owned(), |it| {
            format!("yes, by `{}`", reply::to_stop(it, "[checkpointd] ..."))
        });
        rows.push(("can be held before work leaves".to_owned(), held));
        rows.push((
            "checkpoints are typed in tmux".to_owned(),
            self.typed().to_owned(),
        ));
        rows.push(("`restart` types".to_owned(), format!("`{}`", self.resume)));
        rows.push(("transcripts".to_owned(), self.transcripts()));
        let rows = rows.iter().map(|(what, is)| format!("| {what} | {is} |\n"));
        format!("| | |\n|---|---|\n{}", rows.collect::<String>())
    }

    fn for_a_project(&self) -> String {
        match &self.project {
            Err(refusal) => {
                let reason = refusal.trim_start_matches("error: ").split(':').next();
                format!("is refused: {}", reason.expect("a part").trim())
            }
            Ok(plan) => {
                let path = text(&files(plan)[0]["path"]).trim_start_matches("~/");
                // The first note is about the program, which is not on this machine; the last holds for all agents.
                let note = text(&plan["notes"][1]).replace(" ~ ", " the project's folder ");
                format!("`{path}` in the project; {note}")
            }
        }
    }

    fn transcripts(&self) -> String {
        let library = self.adapter.library;
        if library.patterns.is_empty() {
            return "not known, so `lookback` does not support it".to_owned();
        }
        let home = match library.home_default {
            "" => "~".to_owned(),
            folder => format!("~/{folder}"),
        };
        let patterns = library.patterns.iter();
        let patterns: Vec<String> = patterns.map(|it| format!("`{home}/{it}`")).collect();
        let (patterns, variable) = (patterns.join(" and "), library.home_variable);
        format!("{patterns}, or below `{variable}`")
    }
}

/// What becomes of a hook call, by the kind of its event.
const BECOMES: [(&str, &str); 16] = [
    (
        "session_started",
        "a session begins; the reply offers what an earlier one left, where the agent reads it",
    ),
    ("prompt_submitted", "a turn begins, if a person wrote it"),
    (
        "tool_started",
        "what runs; with `hooks.exits`, held before work leaves",
    ),
    ("tool_finished", "evidence: what ran, and how it ended"),
    ("tool_failed", "evidence: what failed"),
    (
        "agent_stopped",
        "decided; the reply is the checkpoint, if one is sent",
    ),
    ("permission_asked", "the session needs you"),
    (
        "notified",
        "the session needs you, if the notification says so",
    ),
    ("interrupted", "the turn ended without a stop"),
    ("subagent_started", "who did what"),
    (
        "subagent_stopped",
        "who did what; with `hooks.exits: parts`, held where the agent reads the answer",
    ),
    (
        "compaction_started",
        "a progress document, before the agent forgets",
    ),
    ("compaction_finished", "journaled"),
    ("model_stepped", "journaled; nothing follows from it"),
    ("session_ended", "the session is over"),
    (
        "other_hook",
        "journaled; with `hooks.exits: parts`, the end of a task or of a teammate's work is held",
    ),
];

/// Returns the kind of the event that a hook of an agent becomes.
fn kind(agent: Agent, hook: &str) -> Option<&'static str> {
    let payload = r#"{"session_id": "s", "sessionId": "s", "conversation_id": "s", "prompt": "Go", "tool_status": "success"}"#;
    let call = HookCall {
        agent,
        event: Some(hook),
        payload: payload.as_bytes(),
        at: Timestamp::now(),
        id: uuid::Uuid::nil(),
        env: Vec::new(),
        truncated: false,
    };
    let reading = Reading {
        prefix: "",
        payload_bytes_max: 1024,
        redactor: checkpoint::redact::built_in(),
        agents: &(),
    };
    Some(normalize(&call, reading).ok()?.draft.event.kind())
}

/// Returns the hooks that are installed for an agent. A program of ours names them itself.
fn hooks(subject: &Subject) -> Vec<String> {
    let settings = files(&subject.user)
        .iter()
        .filter(|file| text(&file["kind"]) != "prompt" && text(&file["kind"]) != "trust");
    let entries = settings.flat_map(|file| file["entries"].as_array().expect("entries"));
    let names: Vec<_> = entries
        .map(|entry| text(&entry["entry"]).to_owned())
        .collect();
    if names != ["plugin"] {
        return names;
    }
    // A fork has the program of its origin.
    let file = match subject.agent {
        Agent::Pi => "pi.ts",
        Agent::Dsh => "dsh.mjs",
        _ => "opencode.js",
    };
    let program = top().join("src/install/agents").join(file);
    let program = fs::read_to_string(program).expect("a text");
    let mut names: Vec<String> = Vec::new();
    for word in program.split('"').skip(1).step_by(2) {
        let is_hook = kind(subject.agent, word).is_some_and(|kind| kind != "other_hook");
        if is_hook && !names.iter().any(|name| name == word) {
            names.push(word.to_owned());
        }
    }
    names
}

/// The hooks of all agents, by what becomes of them.
fn table(subjects: &[Subject]) -> String {
    let mut rows = "| what becomes of it | hooks |\n|---|---|\n".to_owned();
    let all: Vec<_> = subjects
        .iter()
        .flat_map(|subject| {
            let hooks = hooks(subject).into_iter();
            hooks
                .map(|hook| {
                    (
                        kind(subject.agent, &hook).expect("a kind"),
                        hook,
                        subject.agent.name(),
                    )
                })
                .collect::<Vec<_>>()
        })
        .collect();
    for (kind, becomes) in BECOMES {
        let mut names: Vec<(&str, Vec<&str>)> = Vec::new();
        for (_, hook, agent) in all.iter().filter(|(of, _, _)| *of == kind) {
            match names.iter_mut().find(|(name, _)| name == hook) {
                Some((_, agents)) => agents.push(agent),
                None => names.push((hook, vec![agent])),
            }
        }
        let names = names
            .iter()
            .map(|(hook, agents)| format!("`{hook}` ({})", agents.join(", ")));
        let names = names.collect::<Vec<_>>().join(", ");
        if !names.is_empty() {
            rows.push_str(&format!(
                "| **{}**: {becomes} | {names} |\n",
                kind.replace('_', " ")
            ));
        }
    }
    assert!(
        all.iter()
            .all(|(kind, _, _)| BECOMES.iter().any(|(known, _)| known == kind))
    );
    rows
}

#[test]
fn the_chapters_say_what_adapters_and_installers_do() {
    let machine = Machine::with(&[]);
    let config = Config::default();
    let summary = read("docs/SUMMARY.md");
    let mut rows = "| agent | name | tested with | hooks are in | answer to a stop | checkpoints are typed in tmux |\n\
                    |---|---|---|---|---|---|\n"
        .to_owned();
    let subjects = Agent::HOSTS.map(|agent| Subject::of(agent, &machine, &config));
    for subject in &subjects {
        let agent = subject.agent;
        rows.push_str(&subject.row());
        let (name, word) = (agent.name(), agent.word());
        check_facts(&format!("docs/agents/{word}.md"), name, &subject.facts());
        let chapter = format!("  - [{name}](agents/{word}.md)\n");
        assert!(
            summary.contains(&chapter),
            "docs/SUMMARY.md lists no {name}"
        );
    }
    check_facts("docs/agents.md", "Agents", &rows);
    check_facts(
        "docs/agents/hooks.md",
        "Hooks of all agents",
        &table(&subjects),
    );
    let chapters = fs::read_dir(top().join("docs/agents")).expect("a folder");
    assert_eq!(
        chapters.count(),
        Agent::HOSTS.len() + 1,
        "one chapter for each agent, and one for the hooks of all"
    );
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
        _ if entries == ["`checkpointd`"] => "an entry that loads this program".to_owned(),
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
        ReplyForm::Tool => "tool",
        ReplyForm::Continue => "continue",
    }
}
