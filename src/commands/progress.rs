//! `progress`: documents that carry work from one session to the next.

use std::io::{IsTerminal, Read as _};
use std::path::Path;

use actix_web::http::StatusCode;
use checkpoint::progress::INPUT_BYTES_MAX;
use journal::{Home, ProgressKind};
use serde_json::Value;

use crate::cli::{Output, ProgressAction, ProgressOf};
use crate::commands::progress_done;
use crate::failure::{Failure, Result, exit};
use crate::progress::{self, Request};
use crate::render::{self, Colour};
use crate::{settings, source};

/// Variables in which agents tell their tools the session. Gemini CLI also sets variables of Claude Code.
const SESSION_VARIABLES: [&str; 2] = ["GEMINI_SESSION_ID", "CLAUDE_CODE_SESSION_ID"];

/// Runs one of the commands.
pub(super) fn run(home: &Home, action: ProgressAction, output: Output) -> Result<u8> {
    let (word, request) = match action {
        ProgressAction::Write { kind, from, of } => {
            let input = from.as_deref().map(input).transpose()?;
            ("write", Request { kind: ProgressKind::of_word(&kind), input, ..request(of)? })
        }
        ProgressAction::Show { of } => ("show", request(of)?),
        ProgressAction::Validate { of } => ("validate", request(of)?),
    };
    // Git and checks of the user's own may take seconds.
    let is_shown = std::io::stderr().is_terminal();
    if is_shown {
        eprint!("\r{} ..", if word == "validate" { "checking" } else { "looking at the work tree" });
    }
    let answered = ask(home, word, &request);
    progress_done();
    let answer = answered?;
    let holds = answer["holds"] != false;
    match (output.json, word) {
        (true, _) => println!("{answer}"),
        (false, "show") => println!("{}", render::printable_lines(text(&answer["markdown"]))),
        (false, "write") => {
            println!("{}", render::path(Path::new(text(&answer["file"]))));
            for note in answer["notes"].as_array().into_iter().flatten() {
                eprintln!("note: {}", render::printable(text(note)));
            }
        }
        (false, _) => show_report(&answer),
    }
    Ok(if holds { exit::OK } else { exit::FAILED })
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn request(of: ProgressOf) -> Result<Request> {
    let folder = match of.project {
        Some(folder) => std::path::absolute(folder)?,
        None => std::env::current_dir()?,
    };
    let inside = SESSION_VARIABLES.iter().find_map(|name| std::env::var(name).ok().filter(|id| !id.is_empty()));
    Ok(Request { session: of.session, inside, project: folder.display().to_string(), ..Request::default() })
}

/// Reads what the agent states, at most a little more than is taken.
fn input(path: &Path) -> Result<String> {
    let mut bytes = Vec::new();
    let limit = INPUT_BYTES_MAX as u64 + 1;
    let read = if path == Path::new("-") {
        std::io::stdin().take(limit).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes))
    };
    read.map_err(|error| Failure::usage(format!("{} cannot be read: {error}", path.display())))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn ask(home: &Home, word: &str, request: &Request) -> Result<Value> {
    let Some(journal) = source::own_journal(home)? else {
        let body = serde_json::to_vec(request).expect("plain data");
        let (status, body) = source::exchange(home, &format!("/v1/progress/{word}"), &body)?;
        let answer: Value = serde_json::from_slice(&body).map_err(Failure::failed)?;
        return match status {
            200 => Ok(answer),
            503 => Err(Failure::unreachable(text(&answer["error"]))),
            _ => Err(Failure::failed(text(&answer["error"]))),
        };
    };
    let answered = settings::load(&home.config).map(|config| progress::answer(word, request, &journal, home, &config));
    journal.close();
    answered?.map_err(|(status, error)| match status {
        StatusCode::SERVICE_UNAVAILABLE => Failure::unreachable(error),
        _ => Failure::failed(error),
    })
}

fn show_report(answer: &Value) {
    for line in answer["lines"].as_array().into_iter().flatten() {
        let (colour, mark) = if line["ok"] == true { (Colour::Green, "ok  ") } else { (Colour::Red, "FAIL") };
        let label = format!("{mark}  {:<12}  ", text(&line["check"]));
        for (number, part) in render::wrapped(&label, &render::printable(text(&line["found"]))).into_iter().enumerate()
        {
            println!("{}", if number == 0 { part.replacen(mark, &render::paint(colour, mark), 1) } else { part });
        }
        if let Some(reconcile) = line["reconcile"].as_str() {
            render::print_wrapped(&format!("{:20}-> ", ""), &render::printable(reconcile));
        }
    }
    let (colour, verdict) = if answer["holds"] == true {
        (Colour::Green, "It holds: go on from it.")
    } else {
        (Colour::Red, "It does not hold: settle the above first, then `checkpointd progress write`.")
    };
    println!("{}", render::paint(colour, verdict));
}
