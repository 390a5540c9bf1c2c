//! `config`: what holds, from which file, and how to change it.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use actors::project::{self, FILE, Project};
use actors::trust::{Standing, Trust};
use checkpoint::config::{InProject, Shown, did_you_mean};
use clap::{Args, Subcommand};
use journal::Home;
use serde_json::Value;

use crate::cli::shared::{Output, ask_yes};
use crate::cli::text::print_json;
use crate::config as settings;
use crate::edit::{files, yaml};
use crate::error::{Failure, Result, exit};
use crate::render::{self, Table};

/// Show, change or check the configuration, or print its schema
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  checkpointd config show\n  checkpointd config explain scope\n  \
    checkpointd config set min_turn 45s\n  \
    checkpointd config edit\n  checkpointd config check\n  checkpointd config schema > config.schema.json"
)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) action: ConfigAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigAction {
    /// Show the settings that differ from the defaults in a project, and where each comes from
    Show {
        /// Also those that have their default
        #[arg(long)]
        all: bool,
        /// The project
        #[arg(long, value_name = "DIR", default_value = ".")]
        project: PathBuf,
        #[command(flatten)]
        output: Output,
    },
    /// Say what a key does, which values it takes, and what it is in a project
    Explain {
        /// The key, with its group: `min_turn`, `journal.sync`
        key: String,
        /// The project
        #[arg(long, value_name = "DIR", default_value = ".")]
        project: PathBuf,
    },
    /// Print the value of one key in a project
    Get {
        /// The key, with its group: `min_turn`, `journal.sync`
        key: String,
        /// The project
        #[arg(long, value_name = "DIR", default_value = ".")]
        project: PathBuf,
        #[command(flatten)]
        output: Output,
    },
    /// Set one key in your config.yml, keeping comments and other keys
    Set {
        /// The key, with its group: `min_turn`, `journal.sync`
        key: String,
        /// The value in YAML: `45s`, `[rust, node]`
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Open your config.yml in $VISUAL or $EDITOR, and check it before it is used
    Edit,
    /// Check a file (default: your config.yml, and the .checkpointd.yml of this project)
    Check {
        /// The file to check
        file: Option<PathBuf>,
    },
    /// Print the JSON schema of config.yml, for editors
    Schema {
        /// The schema of a project's .checkpointd.yml
        #[arg(long)]
        project: bool,
    },
}

pub(crate) fn run(home: &Home, args: ConfigArgs) -> Result<u8> {
    match args.action {
        ConfigAction::Show {
            all,
            project,
            output,
        } => show(home, &project, all, output),
        ConfigAction::Explain { key, project } => explain(home, &key, &project),
        ConfigAction::Get {
            key,
            project,
            output,
        } => get(home, &key, &project, output),
        ConfigAction::Set { key, value } => set(home, &key, &value),
        ConfigAction::Edit => edit(home),
        ConfigAction::Check { file: Some(file) } => check(home, &file),
        ConfigAction::Check { file: None } => check_all(home),
        ConfigAction::Schema { project } => {
            print!("{}", if project { PROJECT_SCHEMA } else { SCHEMA });
            Ok(exit::OK)
        }
    }
}

// The tests of `checkpoint` make them of the types that read the two files.
const SCHEMA: &str = include_str!("../../../docs/config.schema.json");
const PROJECT_SCHEMA: &str = include_str!("../../../docs/project.schema.json");

/// Returns the first line of a new file, by which editors find the schema.
fn beginning() -> String {
    let schema: Value = serde_json::from_str(SCHEMA).expect("a schema is JSON");
    let address = schema["$id"].as_str().unwrap_or_default();
    format!("# yaml-language-server: $schema={address}\n")
}

/// Examines a project and returns the settings in force there.
fn look(home: &Home, folder: &Path) -> Result<(Project, Vec<Shown>)> {
    let config = settings::load(home)?;
    let folder = folder.canonicalize().map_err(|error| {
        Failure::usage(format!("`{}` is not a folder: {error}", folder.display()))
    })?;
    let project = Project::look(&config, &Trust::of(home), &folder.to_string_lossy());
    let is_trusted = project.standing == Some(Standing::Trusted);
    let rows = config.show_in(&InProject {
        facts: &project.facts,
        file: project.file.as_ref().map(|file| (FILE, file, is_trusted)),
    });
    Ok((project, rows))
}

/// The settings to know; all others are for special cases. docs/configuration.md describes them first.
const MAIN: &[&str] = &[
    "enabled",
    "projects",
    "min_turn",
    "max_blocks_per_turn",
    "scope",
    "ask",
    "message",
    "rules",
    "programs",
    "listeners",
    "redact.extra",
    "journal.retention",
];

fn show(home: &Home, folder: &Path, all: bool, output: Output) -> Result<u8> {
    let (project, mut rows) = look(home, folder)?;
    if output.json {
        rows.iter().for_each(print_json);
        return Ok(exit::OK);
    }
    let count = rows.len();
    rows.retain(|row| all || row.source != "default");
    let top = render::path(Path::new(&project.facts.path));
    println!("in {top}, packs: {}", project.policy.packs.join(", "));
    let user = home.config.display().to_string();
    let is_empty = rows.is_empty();
    let mut table = Table::new(["KEY", "FROM", "VALUE"]);
    for row in rows {
        let source = if row.source == user {
            "config.yml".to_owned()
        } else {
            row.source
        };
        table.row([row.key, source, row.value]);
    }
    if is_empty {
        println!("every setting has its default");
    } else {
        table.print();
    }
    println!("config.yml is {}", render::path(&home.config));
    if !all {
        println!();
        render::print_wrapped("settings to know: ", &MAIN.join(", "));
        println!(
            "`checkpointd config explain KEY` says what one does, `config show --all` lists all {count}."
        );
    }
    for note in &project.notes {
        render::labeled("note: ", note)
            .iter()
            .for_each(|line| println!("{line}"));
    }
    Ok(exit::OK)
}

fn get(home: &Home, key: &str, folder: &Path, output: Output) -> Result<u8> {
    let (_, rows) = look(home, folder)?;
    let Some(row) = rows.iter().find(|row| row.key == key) else {
        return Err(unknown(key, &rows));
    };
    output.print(row, |_| println!("{}", render::printable(&row.value)));
    Ok(exit::OK)
}

/// Says what a key means, by the schema, and what it is here.
fn explain(home: &Home, key: &str, folder: &Path) -> Result<u8> {
    let (_, rows) = look(home, folder)?;
    let described = |schema| {
        let schema: Value = serde_json::from_str(schema).expect("a schema is JSON");
        let pointer = key.replace('.', "/properties/");
        schema.pointer(&format!("/properties/{pointer}")).cloned()
    };
    let Some(described) = described(SCHEMA).or_else(|| described(PROJECT_SCHEMA)) else {
        return Err(unknown(key, &rows));
    };
    for line in described["description"]
        .as_str()
        .unwrap_or_default()
        .lines()
    {
        println!("{line}");
    }
    let words = described["enum"].as_array().into_iter().flatten();
    let words: Vec<_> = words.filter_map(|word| word.as_str()).collect();
    if !words.is_empty() {
        println!("values: {}", words.join(", "));
    }
    if let Some(keys) = described["properties"].as_object() {
        let keys: Vec<_> = keys.keys().map(|name| format!("{key}.{name}")).collect();
        render::print_wrapped("keys: ", &keys.join(", "));
    }
    match &described["default"] {
        Value::Null => {}
        Value::String(text) => println!("default: {text}"),
        other => println!("default: {other}"),
    }
    let here = rows.iter().find(|row| row.key == key);
    if let Some(row) = here.filter(|row| row.source != "default") {
        let value = render::printable(&row.value);
        println!(
            "here: {value}, from {}",
            render::path(Path::new(&row.source))
        );
    }
    if here.is_some() {
        println!("change it: checkpointd config set {key} VALUE");
    }
    Ok(exit::OK)
}

fn unknown(key: &str, rows: &[Shown]) -> Failure {
    let failure = Failure::usage(format!("there is no key `{key}` in config.yml"));
    if ["enabled", "working_slug"].contains(&key) {
        return failure.hint(format!("`{key}` belongs in the project's .checkpointd.yml"));
    }
    let near = did_you_mean(key, rows.iter().map(|row| row.key.as_str()));
    failure.hint(near.unwrap_or_else(|| "`checkpointd config show --all` lists them".to_owned()))
}

fn set(home: &Home, key: &str, value: &str) -> Result<u8> {
    if value.contains(['\n', '\r']) {
        return Err(Failure::usage("a value must be one line")
            .hint("use `checkpointd config edit` for longer values"));
    }
    let before = settings::load(home)?.show();
    if !before.iter().any(|row| row.key == key) {
        return Err(unknown(key, &before));
    }
    let bytes = files::read(&home.config).map_err(Failure::failed)?;
    let text = files::Text::of(bytes.as_deref(), &home.config).map_err(Failure::failed)?;
    let old = if text.text.is_empty() {
        &beginning()
    } else {
        &text.text
    };
    let value = &in_yaml(value);
    let new = yaml::set(old, key, value);
    let after = settings::check(&home.config, &new)
        .map_err(|error| error.hint(format!("nothing was changed; `{key}: {value}` is invalid")))?
        .show();
    let others = |rows: &[Shown]| -> Vec<Shown> {
        rows.iter().filter(|row| row.key != key).cloned().collect()
    };
    let is_set = |row: &Shown| row.key == key && row.source != "default";
    let same_elsewhere = others(&before)
        .iter()
        .zip(&others(&after))
        .all(|(was, now)| (&was.key, &was.value) == (&now.key, &now.value));
    if !same_elsewhere || !after.iter().any(is_set) {
        return Err(Failure::failed(format!(
            "`{key}` is written in {} in a form that cannot be edited; nothing was changed",
            home.config.display()
        ))
        .hint("`checkpointd config edit`"));
    }
    write(home, &text.bytes(&new))?;
    let holds = after.iter().find(|row| row.key == key);
    let value = holds.map_or("", |row| row.value.as_str());
    println!("{key}: {}", render::printable(value));
    Ok(exit::OK)
}

/// Returns a value as the file has it: in quotes if YAML would take a part of it for something else, such as a comment.
fn in_yaml(value: &str) -> String {
    let is_quoted = value.starts_with(['"', '\'']);
    let is_kept = match checkpoint::config::yaml_value(value) {
        Some(Value::String(text)) => is_quoted || text == value,
        Some(Value::Null) => !value.is_empty(),
        Some(_) => true,
        None => false,
    };
    if is_kept {
        value.to_owned()
    } else {
        Value::from(value).to_string()
    }
}

fn write(home: &Home, bytes: &[u8]) -> Result<()> {
    files::check_writable(&home.config).map_err(Failure::failed)?;
    files::write(&home.config, bytes).map_err(Failure::failed)?;
    Ok(())
}

/// Returns the file that holds an edit that was not used.
pub(super) fn draft(home: &Home) -> PathBuf {
    home.config.with_extension("yml.draft")
}

/// Opens a copy in the user's editor, and uses it only once it is valid. A copy with a mistake is kept for another try.
fn edit(home: &Home) -> Result<u8> {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return Err(Failure::usage("`config edit` needs a terminal")
            .hint("`checkpointd config set KEY VALUE` changes one setting without one"));
    }
    let variable = |name| {
        std::env::var(name)
            .ok()
            .filter(|editor| !editor.trim().is_empty())
    };
    let editor = variable("VISUAL").or_else(|| variable("EDITOR"));
    let editor = editor.unwrap_or_else(|| "vi".to_owned());
    let bytes = files::read(&home.config)
        .map_err(Failure::failed)?
        .unwrap_or_else(|| beginning().into_bytes());
    let draft = draft(home);
    if draft.exists() {
        println!("Your last edit was kept; it is opened again.");
    } else {
        files::check_writable(&draft).map_err(Failure::failed)?;
        files::write(&draft, &bytes).map_err(Failure::failed)?;
    }
    loop {
        let status = Command::new("sh")
            .args(["-c", &format!("{editor} \"$1\""), "sh"])
            .arg(&draft)
            .status()?;
        let edited = std::fs::read(&draft)?;
        if edited == bytes {
            std::fs::remove_file(&draft)?;
        }
        if !status.success() {
            return Err(Failure::failed(format!(
                "`{editor}` ended with {status}; nothing was changed"
            ))
            .hint("set VISUAL or EDITOR to your editor"));
        }
        if edited == bytes {
            println!("Nothing was changed.");
            return Ok(exit::OK);
        }
        let checked = String::from_utf8(edited.clone())
            .map_err(|_| Failure::usage("the file is not UTF-8 text"))
            .and_then(|text| settings::check(&draft, &text));
        match checked {
            Ok(_) => {
                write(home, &edited)?;
                std::fs::remove_file(&draft)?;
                println!("{}: ok", render::path(&home.config));
                return Ok(exit::OK);
            }
            Err(error) => {
                eprintln!("{error}");
                if !ask_yes("Edit it again?")? {
                    let kept = render::path(&draft);
                    println!("Nothing was changed. Your edit is kept in {kept} for the next try.");
                    return Ok(exit::FAILED);
                }
            }
        }
    }
}

/// Checks one file: a project's by its name, else as a config.yml.
fn check(home: &Home, path: &Path) -> Result<u8> {
    if path.file_name().is_some_and(|name| name == FILE) {
        let text = project::text(path)
            .map_err(|error| Failure::usage(format!("cannot read {}: {error}", path.display())))?;
        let config = settings::load(home)?;
        let name = path.display().to_string();
        let file = config.project_file(&name, &text).map_err(Failure::usage)?;
        for note in file.overruled(&config.settings) {
            println!("note: {}", render::printable(&note));
        }
    } else {
        let (text, _) = settings::text(path)
            .map_err(|error| Failure::usage(format!("cannot read {}: {error}", path.display())))?;
        settings::check(path, &text)?;
    }
    println!("{}: ok", path.display());
    Ok(exit::OK)
}

fn check_all(home: &Home) -> Result<u8> {
    if home.config.exists() {
        settings::load(home)?;
        println!("{}: ok", home.config.display());
    } else {
        println!(
            "{}: there is no such file, the defaults apply",
            home.config.display()
        );
    }
    let top = look(home, Path::new("."))?.0.facts.path;
    let own = Path::new(&top).join(FILE);
    if own.exists() {
        check(home, &own)?;
    }
    Ok(exit::OK)
}
