//! `record`: what was verified of a range of commits, signed, for those who accept the work.

use std::path::{Path, PathBuf};

use checkpoint::judging::Verified;
use checkpoint::record::dsse::Envelope;
use checkpoint::record::{
    Again, Claims, Found, LIMITS, Level, Refusal, Signature, Statement, Switch, Totals, statement,
    verify,
};
use checkpoint::shell;
use clap::{Args, Subcommand, ValueEnum};
use journal::Home;
use serde::Serialize;

use crate::cli::connection;
use crate::cli::repository::{CUT, Git, Looked, NOTES};
use crate::cli::shared::Output;
use crate::cli::signature::{self, Keys};
use crate::error::{Failure, Result, exit};
use crate::install::git_hook;
use crate::ops::query::{self, Query, Remade};
use crate::render::{self, Color, Table};

/// Write down what was verified of commits, signed, for reviewers and CI
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Signs with the SSH key that git signs commits with.\n\n\
    Examples:\n  checkpointd record --notes\n  checkpointd record --range main..HEAD --level summary --output record.json\n  \
    checkpointd record verify HEAD --key ci/author.pub"
)]
pub(crate) struct RecordArgs {
    #[command(subcommand)]
    command: Option<RecordCommand>,
    /// These commits (default: what origin's default branch or upstream lacks, else the last one)
    #[arg(long, value_name = "BASE..HEAD")]
    range: Option<String>,
    /// How much is in it
    #[arg(long, value_enum, default_value = "commands")]
    level: LevelName,
    /// Sign with this SSH key
    #[arg(long, value_name = "FILE", conflicts_with = "unsigned")]
    key: Option<String>,
    /// Do not sign
    #[arg(long)]
    unsigned: bool,
    /// Write it to this file (default: print it)
    #[arg(long, value_name = "FILE", conflicts_with = "notes")]
    output: Option<PathBuf>,
    /// Add it to the commit's notes, in `refs/notes/checkpointd`
    #[arg(long)]
    notes: bool,
    /// Have git note a record of each commit of this repository, with these options
    #[arg(long, conflicts_with_all = ["range", "output", "notes"])]
    install_hook: bool,
}

#[derive(Debug, Subcommand)]
enum RecordCommand {
    Verify(VerifyArgs),
}

/// Check a record against its signature, the repository, and the journal if it is on this machine
#[derive(Args, Debug)]
struct VerifyArgs {
    /// A file with a record, or a commit with notes
    #[arg(default_value = "HEAD")]
    record: String,
    /// The commit that a file has to be about
    #[arg(long, value_name = "COMMIT", default_value = "HEAD")]
    commit: String,
    /// The notes that hold it
    #[arg(long, value_name = "REF", default_value = NOTES)]
    notes_ref: String,
    /// The branch or commit that the changes are for: none since may be left out
    #[arg(long, value_name = "COMMIT")]
    base: Option<String>,
    /// The public key that has to have signed it
    #[arg(long, value_name = "FILE", conflicts_with = "allowed_signers")]
    key: Option<PathBuf>,
    /// Who may sign (default: `gpg.ssh.allowedSignersFile` of your own or the system's git settings)
    #[arg(long, value_name = "FILE")]
    allowed_signers: Option<PathBuf>,
    /// Accept one without a signature
    #[arg(long)]
    unsigned: bool,
    #[command(flatten)]
    output: Output,
}

/// The hook of git that runs when there is a commit: only then its parents are known, and it cannot be kept from being made.
const HOOK: &str = "post-commit";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LevelName {
    /// No paths, no commands, no sessions
    Summary,
    /// Paths and commands
    Commands,
    /// Also why, and what the checkpoints asked for
    Full,
}

impl From<LevelName> for Level {
    fn from(name: LevelName) -> Self {
        match name {
            LevelName::Summary => Self::Summary,
            LevelName::Commands => Self::Commands,
            LevelName::Full => Self::Full,
        }
    }
}

pub(crate) fn run(home: &Home, args: RecordArgs) -> Result<u8> {
    match args.command {
        Some(RecordCommand::Verify(args)) => check(home, &args),
        None if args.install_hook => install_hook(home, &args),
        None => make(home, &args),
    }
}

fn make(home: &Home, args: &RecordArgs) -> Result<u8> {
    let git = Git::of(Path::new("."))?;
    let (base, end) = git.ends(args.range.as_deref())?;
    let looked = git.range(base.as_deref(), &end)?;
    let line = made(home, &git, &looked, args)?;
    if args.notes {
        note(&git, &end, &line)?;
        println!("Noted at {end}. `git push origin refs/notes/checkpointd` shares it.");
    } else if let Some(file) = &args.output {
        std::fs::write(file, line + "\n")?;
    } else {
        println!("{line}");
    }
    Ok(exit::OK)
}

/// Makes a record; returns the line with its envelope.
fn made(home: &Home, git: &Git, looked: &Looked, args: &RecordArgs) -> Result<String> {
    let found: Found = connection::ask_one(home, &Query::Range(looked.question()))?;
    let version = env!("CARGO_PKG_VERSION");
    let payload = statement(&looked.repository, found, args.level.into(), version).bytes();
    let envelope = if args.unsigned {
        Envelope::unsigned(&payload)
    } else {
        let key = args
            .key
            .clone()
            .map_or_else(|| signature::of_git(git), Ok)?;
        signature::sign(&key, &payload)?
    };
    Ok(serde_json::to_string(&envelope).expect("an envelope is plain data"))
}

/// Returns what a line says, if it is a record.
fn claimed(line: &str) -> Option<Claims> {
    let envelope: Envelope = serde_json::from_str(line).ok()?;
    Claims::read(&envelope).ok()
}

/// Adds a record to the notes of a commit, in the place of the one of the same journal.
fn note(git: &Git, commit: &str, line: &str) -> Result<()> {
    let journal = |line: &str| Some(claimed(line)?.statement.predicate.journal.id);
    let own = journal(line);
    let kept = git.notes(NOTES, commit).unwrap_or_default();
    let kept = kept.lines().filter(|line| {
        let of = journal(line);
        of.is_some() && of != own
    });
    let lines: Vec<&str> = kept.chain([line]).collect();
    git.write_notes(commit, &lines.join("\n"))
}

/// Writes the hook that notes a record of each commit, with the options that were given.
fn install_hook(home: &Home, args: &RecordArgs) -> Result<u8> {
    let path = Git::of(Path::new("."))?.hook(HOOK)?;
    let level = args.level.to_possible_value().expect("all are possible");
    let mut options = format!("--level {}", level.get_name());
    if args.unsigned {
        options += " --unsigned";
    }
    if let Some(key) = &args.key {
        options += &format!(" --key {}", shell::quoted(key));
    }
    let script = include_str!("record_hook.sh").replace("OPTIONS", &options);
    git_hook::install(home, &path, &script).map_err(|error| {
        let line = format!("checkpointd record {options} --notes");
        Failure::failed(error).hint(format!("add this line to it: {line}"))
    })?;
    println!(
        "{} notes a record of each commit. `checkpointd uninstall` removes it.",
        render::path(&path)
    );
    Ok(exit::OK)
}

/// The result for one record.
#[derive(Debug, Serialize)]
struct Checked {
    accepted: bool,
    refusals: Vec<Refusal>,
    /// Whether the journal of this machine gave the same bytes.
    recomputed: bool,
    statement: Option<Statement>,
    does_not_prove: [&'static str; 3],
}

fn check(home: &Home, args: &VerifyArgs) -> Result<u8> {
    let git = Git::of(Path::new("."))?;
    let is_file = Path::new(&args.record).is_file();
    let end = git.commit(if is_file { &args.commit } else { &args.record })?;
    args.base
        .as_deref()
        .map(|base| git.commit(base))
        .transpose()?;
    let text = if is_file {
        std::fs::read_to_string(&args.record)?
    } else {
        // Git can copy the notes of a commit to the one that replaces it: they are about the first one still.
        let is_about = |line: &&str| {
            let commit = claimed(line).and_then(|claims| claims.commit().map(str::to_owned));
            commit.is_none_or(|commit| commit == end)
        };
        let notes = git.notes(&args.notes_ref, &end)?;
        notes
            .lines()
            .filter(is_about)
            .collect::<Vec<_>>()
            .join("\n")
    };
    let keys = match (&args.key, &args.allowed_signers) {
        (Some(key), _) => Keys::Key(key.clone()),
        (None, Some(allowed)) => Keys::Allowed(allowed.clone()),
        (None, None) => git
            .setting_of_user("gpg.ssh.allowedSignersFile")
            .map_or(Keys::Unknown, |file| Keys::Allowed(file.into())),
    };
    let mut checked = Vec::new();
    let mut journals = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let mut one = checked_one(home, &git, (line, &end), &keys, args)?;
        let journal = one
            .statement
            .as_ref()
            .map(|one| one.predicate.journal.id.clone());
        if journals.contains(&journal) {
            one.refusals.push(Refusal {
                check: "envelope".to_owned(),
                text: "there are several records of one journal".to_owned(),
            });
            one.accepted = false;
        }
        journals.push(journal);
        checked.push(one);
    }
    if checked.is_empty() {
        return Err(Failure::failed("there is no record in it"));
    }
    for one in &checked {
        args.output.print(one, show);
    }
    Ok(exit::of(checked.iter().all(|one| one.accepted)))
}

fn checked_one(
    home: &Home,
    git: &Git,
    (line, end): (&str, &str),
    keys: &Keys,
    args: &VerifyArgs,
) -> Result<Checked> {
    let refused = |refusal: Refusal| Checked {
        accepted: false,
        refusals: vec![refusal],
        recomputed: false,
        statement: None,
        does_not_prove: LIMITS,
    };
    let envelope: Envelope = match serde_json::from_str(line) {
        Ok(envelope) => envelope,
        Err(error) => {
            return Ok(refused(Refusal {
                check: "envelope".to_owned(),
                text: format!("it is no envelope: {error}"),
            }));
        }
    };
    let claims = match Claims::read(&envelope) {
        Ok(claims) => claims,
        Err(refusal) => return Ok(refused(refusal)),
    };
    let signature = match signature::check(&envelope, &claims.payload, keys)? {
        Signature::Missing if args.unsigned => Signature::NotNeeded,
        signature => signature,
    };
    let base = claims.base().map(|base| counted_from(git, base, end, args));
    let base = match base.transpose() {
        Ok(base) => base,
        Err(text) => {
            return Ok(refused(Refusal {
                check: "subject".to_owned(),
                text,
            }));
        }
    };
    let looked = git.range(base.as_deref(), end)?;
    let again = again(home, &looked, &claims);
    let refusals = verify(&claims, &signature, &looked.repository, &again);
    Ok(Checked {
        accepted: refusals.is_empty(),
        recomputed: refusals.is_empty() && again != Again::Elsewhere,
        refusals,
        statement: Some(claims.statement),
        does_not_prove: LIMITS,
    })
}

/// Returns the commit that a record's changes are counted from, or why they cannot be: nothing can be compared then.
fn counted_from(
    git: &Git,
    base: &str,
    end: &str,
    args: &VerifyArgs,
) -> std::result::Result<String, String> {
    let since = args.base.as_deref();
    let why = match git
        .commit(base)
        .ok()
        .filter(|base| git.is_before(base, end))
    {
        None => "its base is not in the history of the commit".to_owned(),
        Some(base) => match since.filter(|since| !git.is_before(&base, since)) {
            None => return Ok(base),
            Some(since) => {
                format!(
                    "it leaves out changes: `checkpointd record --range {since}..{end}` makes one of all"
                )
            }
        },
    };
    Err(if git.is_cut() { CUT.to_owned() } else { why })
}

/// Asks the journal of this machine, if the record is from it and was made by the same rules.
fn again(home: &Home, looked: &Looked, claims: &Claims) -> Again {
    let predicate = &claims.statement.predicate;
    // It may have been a clone of none, or of another one. A summary does not say.
    let mut looked = looked.clone();
    if predicate.level != Level::Summary {
        (looked.repository.remote).clone_from(&predicate.repository.remote);
    }
    let wanted = query::Again {
        range: looked.question(),
        journal: predicate.journal.id.clone(),
        seq: predicate.journal.seq,
    };
    if predicate.producer.judgment != journal::DECISION_VERSION {
        return Again::Elsewhere;
    }
    match connection::ask_one(home, &Query::Again(wanted)) {
        Ok(Remade::Here { found, is_older }) => {
            let version = &predicate.producer.version;
            let made = statement(&looked.repository, *found, predicate.level, version);
            Again::Here {
                bytes: Some(made.bytes()),
                is_older,
            }
        }
        Ok(Remade::Shorter) => Again::Here {
            bytes: None,
            is_older: false,
        },
        Ok(Remade::Elsewhere) | Err(_) => Again::Elsewhere,
    }
}

fn show(checked: &Checked) {
    for refusal in &checked.refusals {
        let label = format!("refused ({}): ", refusal.check);
        render::print_wrapped(&label, &render::printable(&refusal.text));
    }
    let Some(statement) = checked.statement.as_ref().filter(|_| checked.accepted) else {
        return;
    };
    let journal = if checked.recomputed {
        ", and the journal gives the same"
    } else {
        ""
    };
    println!("accepted{journal}");
    let predicate = &statement.predicate;
    table(&predicate.units, &predicate.runs);
    switched_off(&predicate.switches);
    println!("{}", sentence(&predicate.totals));
    for limit in LIMITS {
        render::print_wrapped("not proved: ", limit);
    }
}

/// Says how many of each there are.
pub(super) fn sentence(totals: &Totals) -> String {
    let Totals {
        units,
        done,
        unknown,
        open,
        ..
    } = totals;
    let files = render::count(*units as u64, "changed file", "changed files");
    let demands = render::count(totals.demands as u64, "checkpoint", "checkpoints");
    let switches = match totals.switches {
        0 => String::new(),
        count => format!(
            ", switched off {}",
            render::count(count as u64, "time", "times")
        ),
    };
    format!(
        "{files}: {done} done, {unknown} unknown, {open} open; {demands}, {} met{switches}",
        totals.met
    )
}

/// Prints each changed file with its answer and what ran.
pub(super) fn table(units: &[checkpoint::record::Unit], runs: &[checkpoint::record::Run]) {
    let mut table = Table::new(["ANSWER", "FILE", "RESULT", "WHEN", "WHAT RAN"]);
    // A long path must not hide what ran.
    let path_columns = render::width() * 2 / 5;
    for unit in units {
        let run = unit.run.and_then(|run| runs.get(run));
        let (color, word) = answer(unit.answer);
        table.row([
            render::paint(color, word),
            render::cut_path(&render::printable(unit.name()), path_columns)
                + &render::printable(&unit.what()),
            render::printable(&if unit.doubts.is_empty() {
                unit.row.clone()
            } else {
                format!("{}, doubtful: {}", unit.row, unit.doubts.join(", "))
            }),
            run.map(|run| render::local_time(run.at))
                .unwrap_or_default(),
            run.and_then(|run| run.command.as_deref())
                .map(render::printable)
                .unwrap_or_default(),
        ]);
    }
    table.print();
}

/// Prints what kept checkpoints from being sent, and who did that.
pub(super) fn switched_off(switches: &[Switch]) {
    for switch in switches {
        let at = render::local_time(switch.at);
        let by = if switch.is_by_agent() {
            "by the agent itself"
        } else {
            "by a person"
        };
        let what = crate::cli::text::spaced(&switch.what);
        println!("switched off {by}: {what} at {at}, event {}", switch.seq);
    }
}

/// Returns how an answer is shown.
pub(super) const fn answer(answer: Verified) -> (Color, &'static str) {
    match answer {
        Verified::Done => (Color::Green, "done"),
        Verified::Unknown => (Color::Dim, "unknown"),
        Verified::Open => (Color::Yellow, "open"),
    }
}
