//! `preview`: what a stop would get now. Decides as the daemon does, and neither sends nor journals anything.

mod show;

use std::path::{Path, PathBuf};

use actors::evidence::{self, Gathered, Preview};
use actors::trust::Trust;
use checkpoint::agents;
use checkpoint::config::{Config, parse_duration};
use checkpoint::decide::{self, Case};
use checkpoint::judging::Findings;
use checkpoint::state::{SessionState, Stop};
use clap::Args;
use clap_complete::ArgValueCompleter;
use journal::{Agent, Decision, Evidence, Home, Place, Stream, Timestamp};
use serde_json::{Value, json};

use crate::cli::shared::{AgentNames, Output};
use crate::cli::text::print_json;
use crate::cli::{complete, connection};
use crate::config as settings;
use crate::error::{Failure, Result, exit};
use crate::ops::query::Query;

/// Show the checkpoint that a stop would get now, without sending it
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  checkpointd rules preview --elapsed 90s\n  checkpointd rules preview --agent codex --transcript rollout.jsonl --json"
)]
pub(crate) struct PreviewArgs {
    /// The agent
    #[arg(long, default_value = Agent::WORDS[0], value_parser = AgentNames)]
    pub(crate) agent: Agent,
    /// The agent's transcript (default: the session's, else none)
    #[arg(long, value_name = "FILE")]
    pub(crate) transcript: Option<PathBuf>,
    /// As this session of the journal: id, prefix of one, or `last`
    #[arg(long, add = ArgValueCompleter::new(complete::sessions))]
    pub(crate) session: Option<String>,
    /// How long the turn has lasted, for example 90s (default: from the session, else from the transcript)
    #[arg(long, value_name = "DURATION")]
    pub(crate) elapsed: Option<String>,
    /// The active work item, whose plan lists the expected files
    #[arg(long)]
    pub(crate) slug: Option<String>,
}

/// Decides now and sends nothing.
pub(crate) fn run(
    home: &Home,
    arguments: &PreviewArgs,
    project: Option<&Path>,
    output: Output,
) -> Result<u8> {
    let config = settings::load(home)?;
    let now = Timestamp::now();
    let state = subject(home, &config, (arguments, project), now)?;
    let stop = Stop {
        seq: 0,
        at: now,
        host_turn: None,
        can_reply: true,
        background_tasks: 0,
        restart: false,
        leaves: None,
    };
    let preview = Preview {
        slug: arguments.slug.clone(),
    };
    let Gathered { evidence, policy } =
        evidence::gather_for_preview(&config, &Trust::of(home), &state, &stop, &preview);
    let fingerprint = policy.to_text().0;
    let case = Case {
        state: &state,
        stop: &stop,
        evidence: &evidence,
        policy: &policy,
        fingerprint,
    };
    let decision = decide::decide(&case);
    for note in &evidence.notes {
        eprintln!("note: {}", crate::render::printable_lines(note));
    }
    if output.json {
        print_json(&answer(&decision, &evidence, &case.find()));
    } else {
        show::show(&case, &decision);
    }
    Ok(exit::OK)
}

fn answer(decision: &Decision, evidence: &Evidence, findings: &Findings) -> Value {
    let files = evidence.changes.files();
    let calls = evidence.timeline.calls.iter().map(|call| {
        json!({
            "tool": call.tool,
            "kind": call.kind,
            "command": call.command,
            "paths": call.paths,
            "is_error": call.is_error,
            // Older transcripts of Gemini CLI often do not say it.
            "at": Some(call.at).filter(|at| *at != Timestamp::default()),
        })
    });
    json!({
        "verdict": decision.verdict,
        "reason": decision.reason,
        "route": decision.route,
        // None if git gave no answer.
        "changed_files": files.map(|files| Vec::from_iter(files.iter().map(|file| &file.path))),
        "timeline": { "source": evidence.timeline.source, "calls": Vec::from_iter(calls) },
        "categories": decision.categories,
        "actions": decision.actions,
        "observations": Vec::from_iter(findings.gaps.iter().chain(&findings.observations)),
        "all_clear": decision.all_clear,
        "message": decision.message,
    })
}

/// Returns the session that is decided about: one of the journal, or one that is made of the arguments alone.
fn subject(
    home: &Home,
    config: &Config,
    (arguments, project): (&PreviewArgs, Option<&Path>),
    now: Timestamp,
) -> Result<SessionState> {
    let agent = arguments.agent;
    let elapsed = arguments.elapsed.as_deref().map(|given| {
        parse_duration(given).map_err(|error| {
            Failure::usage(format!("--elapsed: {error}")).hint("for example 90s, 2m or 180.2s")
        })
    });
    let elapsed = elapsed.transpose()?;
    let project = project.map(folder).transpose()?;
    let mut state = match &arguments.session {
        Some(session) => journaled(home, session, agent)?,
        None => unknown(agent),
    };
    match project {
        Some(project) => move_to(&mut state, &project),
        None if arguments.session.is_none() => move_to(&mut state, &folder(Path::new("."))?),
        None => {}
    }
    if let Some(transcript) = &arguments.transcript {
        state.place.transcript = Some(absolute(transcript)?.to_string_lossy().into_owned());
    }
    let began = match elapsed {
        Some(elapsed) => Some(now.minus(elapsed)),
        None if arguments.session.is_none() => by_transcript(config, &state),
        None => return Ok(state),
    };
    state.turn.started_at = began;
    state.turn.first_tool_use_at = began;
    state.turn.last_checkpoint_at = None;
    Ok(state)
}

/// Reads a session from the journal, through the daemon if one runs.
fn journaled(home: &Home, session: &str, agent: Agent) -> Result<SessionState> {
    let query = Query::Folded {
        session: session.to_owned(),
    };
    let state: SessionState = connection::ask_one(home, &query)?;
    if state.stream.agent != agent {
        let found = state.stream.agent;
        return Err(Failure::usage(format!(
            "session {} is one of {found}, not of {agent}",
            state.stream.native()
        ))
        .hint(format!("give `--agent {found}`")));
    }
    Ok(state)
}

/// Returns an interactive session without history.
fn unknown(agent: Agent) -> SessionState {
    let mut state = SessionState::new(Stream::of_native(agent, "preview"));
    state.turns = 1;
    state.place = Place {
        env: vec![("CHECKPOINTD_TTY".into(), "1".into())],
        ..Place::default()
    };
    state
}

/// Lets a session work in a folder.
fn move_to(state: &mut SessionState, project: &Path) {
    state.place.cwd = project.to_string_lossy().into_owned();
    state.home.clone_from(&state.place.cwd);
    let names_project = |name: &str| {
        agents::ALL
            .iter()
            .any(|agent| agent.variables.project == Some(name))
    };
    state.place.env.retain(|(name, _)| !names_project(name));
}

/// Returns when the turn began, according to the transcript.
fn by_transcript(config: &Config, state: &SessionState) -> Option<Timestamp> {
    let transcript = state.place.transcript.as_deref()?;
    let prefix = &config.settings.prefix.0;
    evidence::turn_start(config, state.stream.agent, transcript, prefix)
}

/// Returns the absolute path of a project's folder.
pub(super) fn folder(given: &Path) -> Result<PathBuf> {
    let path = absolute(given)?;
    if path.is_dir() {
        return Ok(path);
    }
    Err(
        Failure::usage(format!("{} is not a folder", given.display()))
            .hint("--project takes the folder of a project"),
    )
}

/// Returns a path as an agent would write it: absolute, links left as they are, nothing at its end.
fn absolute(given: &Path) -> Result<PathBuf> {
    let up = given
        .components()
        .any(|part| part == std::path::Component::ParentDir);
    let path = std::path::absolute(given)?;
    let path = if up {
        path.canonicalize().unwrap_or(path)
    } else {
        path
    };
    Ok(path.components().collect())
}
