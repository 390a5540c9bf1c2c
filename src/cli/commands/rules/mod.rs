//! `rules`: lists rules, says which match, checks, tests and tries rule files.

mod command;
mod create;
mod examples;

use std::path::{Path, PathBuf};

use actors::project::{self, Project};
use actors::trust::{Standing, Trust};
use checkpoint::Policy;
use checkpoint::config::{Config, ProjectFile};
use checkpoint::rules::{Kind, Rule, RuleSet};
use clap::{Args, Subcommand};
use journal::Home;
use serde_json::json;

use crate::cli::commands::preview::{self, folder};
use crate::cli::commands::trust;
use crate::cli::shared::Output;
use crate::cli::text::{print_json, word};
use crate::config as settings;
use crate::error::{Failure, Result, exit};
use crate::render::{self, Color, Column, Table};

/// List, try, write and trust rules, and preview a checkpoint
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  checkpointd rules\n  checkpointd rules match src/main.rs\n  checkpointd rules trust\n  checkpointd rules test\n  checkpointd rules test --command 'make check && git push'\n  checkpointd rules check new-rules.yml"
)]
pub(crate) struct RulesArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) action: Option<RulesAction>,
    /// The project's folder (default: the current one)
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) project: Option<PathBuf>,
    /// How an answer is printed.
    #[command(flatten)]
    pub(crate) output: Output,
}

/// What to do with rules.
#[derive(Debug, Subcommand)]
pub(crate) enum RulesAction {
    /// List the packs and rules that are active in the project
    List,
    /// Show which rules these files match
    Match {
        /// Paths, relative to the project
        #[arg(required = true)]
        files: Vec<String>,
    },
    /// Check a project's .checkpointd.yml
    Check {
        /// The file (default: the project's)
        file: Option<PathBuf>,
    },
    /// Run the examples beside the rules of a .checkpointd.yml (its `expect` blocks), or show what a command line is
    /// taken for
    Test {
        /// The file (default: the project's)
        file: Option<PathBuf>,
        /// Show what each command of this line is taken for, with your `programs`
        #[arg(long, value_name = "LINE", conflicts_with = "file")]
        command: Option<String>,
    },
    /// Ask a few questions and write a rule with an example
    New(create::NewRule),
    Trust(trust::TrustArgs),
    Preview(preview::PreviewArgs),
}

pub(crate) fn run(home: &Home, args: RulesArgs) -> Result<u8> {
    let RulesArgs {
        action,
        project,
        output,
    } = args;
    let given = project.as_deref();
    let project = given.unwrap_or(Path::new("."));
    let action = match action.unwrap_or(RulesAction::List) {
        RulesAction::Preview(args) => return preview::run(home, &args, given, output),
        RulesAction::Trust(args) => return trust::run(home, &args, project, output),
        action => action,
    };
    let config = settings::load(home)?;
    let project = folder(project)?;
    match action {
        RulesAction::List | RulesAction::Preview(_) | RulesAction::Trust(_) => {
            list(&look(home, &config, &project), &project, output)
        }
        RulesAction::Match { files } => {
            let policy = look(home, &config, &project).policy;
            matching(&policy, &project, &files, output)
        }
        RulesAction::Test {
            command: Some(line),
            ..
        } => command::show(&look(home, &config, &project).policy, &line, output),
        RulesAction::Test { file, .. } => examples::test(&config, &project, file, output),
        RulesAction::New(given) => create::create(home, &config, &project, given),
        RulesAction::Check { file } => check(home, &config, &project, file, output),
    }
}

/// Looks at the project, and says what of its file is not used.
fn look(home: &Home, config: &Config, project: &Path) -> Project {
    let looked = Project::look(config, &Trust::of(home), &project.to_string_lossy());
    for note in &looked.notes {
        eprintln!("note: {}", render::printable_lines(note));
    }
    looked
}

fn list(looked: &Project, project: &Path, output: Output) -> Result<u8> {
    let policy = &looked.policy;
    if output.json {
        print_json(&json!({
            "project": project.to_string_lossy(),
            "enabled": policy.enabled,
            "packs": policy.packs,
            "rules": policy.rules,
            // Whether the project's own file is trusted; null if there is none.
            "trust": looked.standing,
            // Has no effect until it is trusted.
            "waiting": looked.waiting,
        }));
        return Ok(exit::OK);
    }
    println!("packs: {}", policy.packs.join(", "));
    if !policy.enabled {
        println!(
            "{}",
            render::paint(Color::Yellow, "this project is disabled: no rules apply")
        );
    }
    if looked.standing == Some(Standing::Trusted) {
        println!("{} is trusted", project::FILE);
    }
    for part in &looked.waiting {
        println!("is not trusted yet: {}", render::printable(part));
    }
    println!();
    let files = |rule: &Rule| match rule.kind {
        Kind::Always => "every stop".to_owned(),
        _ => rule.include.join(" "),
    };
    let columns: [Column<'_, Rule>; 5] = [
        ("PACK", &|rule| rule.pack.clone()),
        ("RULE", &|rule| rule.name.clone()),
        ("KIND", &|rule| word(rule.kind)),
        ("ASKS FOR", &purposes),
        ("FILES", &files),
    ];
    Table::of(&policy.rules, &columns).print();
    Ok(exit::OK)
}

fn matching(policy: &Policy, project: &Path, files: &[String], output: Output) -> Result<u8> {
    let set = RuleSet::new(&policy.rules);
    for file in files {
        let path = inside(file, project);
        let taking: Vec<&Rule> = set
            .taking(&path, policy.sorting())
            .into_iter()
            .filter_map(|rule| policy.rules.get(rule))
            .collect();
        if output.json {
            print_json(&json!({ "path": path, "rules": taking }));
            continue;
        }
        println!("{}", render::paint(Color::Bold, &render::printable(&path)));
        if taking.is_empty() {
            println!("  no rule");
        }
        for rule in taking {
            let only = if rule.alone {
                "; applies only if no code changed"
            } else {
                ""
            };
            println!(
                "  {} ({}, {}{only})",
                render::printable(&rule.name),
                render::printable(&rule.pack),
                word(rule.kind)
            );
            rule.actions.iter().for_each(|action| {
                render::print_wrapped(&format!("    {:10} ", action.purpose), &action.text)
            });
        }
    }
    Ok(exit::OK)
}

fn check(
    home: &Home,
    config: &Config,
    project: &Path,
    file: Option<PathBuf>,
    output: Output,
) -> Result<u8> {
    let own = project.join(project::FILE);
    let path = file.unwrap_or_else(|| own.clone());
    let name = path.display().to_string();
    let text = project::text(&path).map_err(|error| {
        Failure::usage(format!("cannot read {name}: {error}"))
            .hint("`checkpointd rules check FILE` checks any file; a project needs none")
    })?;
    let read = config.project_file(&name, &text);
    let is_waiting = project::text(&own).is_ok_and(|own| own == text)
        && Trust::of(home).standing(project, &text) != Standing::Trusted;
    let (file, problem) = match &read {
        Ok(file) => (Some(file), None),
        Err(problem) => (None, Some(problem)),
    };
    let waiting = file.filter(|_| is_waiting).map(ProjectFile::needs_trust);
    let waiting = waiting.unwrap_or_default();
    let overruled = file
        .map(|file| file.overruled(&config.settings))
        .unwrap_or_default();
    if output.json {
        print_json(&json!({
            "ok": problem.is_none(),
            "file": name,
            "line": problem.map(|it| it.line),
            "column": problem.map(|it| it.column),
            "message": problem.map(|it| &it.message),
            "hint": problem.map(|it| &it.hint),
            "waiting": waiting,
            "overruled": overruled,
        }));
        return Ok(exit::of(problem.is_none()));
    }
    match problem {
        None => {
            println!("{}: ok", render::printable(&name));
            for line in overruled {
                render::print_wrapped("note: ", &render::printable(&line));
            }
            if !waiting.is_empty() {
                let parts = render::printable(&waiting.join(", "));
                render::print_wrapped("is not trusted yet (`checkpointd rules trust`): ", &parts);
            }
            Ok(exit::OK)
        }
        Some(problem) => Err(Failure::failed(problem)),
    }
}

fn purposes(rule: &Rule) -> String {
    let purposes: Vec<_> = rule
        .actions
        .iter()
        .map(|action| action.purpose.as_str())
        .collect();
    if purposes.is_empty() {
        "-".into()
    } else {
        purposes.join(", ")
    }
}

/// Returns a path relative to the project, as git would give it.
fn inside(file: &str, project: &Path) -> String {
    let path = Path::new(file);
    let path = path.strip_prefix(project).unwrap_or(path);
    let parts = path
        .components()
        .filter(|part| !matches!(part, std::path::Component::CurDir));
    parts.collect::<PathBuf>().to_string_lossy().into_owned()
}
