//! `web`: have the daemon open its page, and say where it is.

use std::process::{Command, Stdio};

use journal::Home;
use serde_json::{Value, json};

use crate::cli::WebArgs;
use crate::failure::{Failure, Result, exit};
use crate::source;
use crate::web::Opened;
use crate::web::control::Ask;

/// What opens an address in the user's browser: on a Mac, and elsewhere.
const OPENERS: [&str; 2] = ["open", "xdg-open"];

/// Opens the page or closes it.
pub(super) fn run(home: &Home, arguments: &WebArgs) -> Result<u8> {
    if source::health(home).is_none() {
        return Err(Failure::unreachable("no daemon runs, and the page is served by the daemon")
            .hint("start it with `checkpointd daemon --detach`"));
    }
    if arguments.stop { close(home, arguments.output.json) } else { open(home, arguments) }
}

fn open(home: &Home, arguments: &WebArgs) -> Result<u8> {
    let ask = serde_json::to_vec(&Ask { port: arguments.port }).expect("plain data");
    let answer = source::post(home, "/v1/web/open", &ask).map_err(|failure| {
        failure.hint("`--port 0` takes any port that is free; `web.port` in config.yml is where it looks by default")
    })?;
    let opened: Opened = serde_json::from_slice(&answer).map_err(Failure::failed)?;
    let shown = arguments.open && show(&opened.url);
    if arguments.output.json {
        println!("{}", json!({ "url": opened.url, "port": opened.port, "opened": shown }));
    } else if shown {
        println!("opened http://127.0.0.1:{}/ in your browser; close it with `checkpointd web --stop`", opened.port);
    } else {
        println!("{}", opened.url);
        eprintln!("The address works once, within five minutes. Close the page with `checkpointd web --stop`.");
        if arguments.open {
            eprintln!("No browser could be started here: open the address yourself.");
        }
    }
    Ok(exit::OK)
}

fn close(home: &Home, as_json: bool) -> Result<u8> {
    let answer: Value = serde_json::from_slice(&source::post(home, "/v1/web/close", b"")?).map_err(Failure::failed)?;
    if as_json {
        println!("{answer}");
    } else {
        println!("{}", if answer["closed"] == true { "closed" } else { "the page was not open" });
    }
    Ok(exit::OK)
}

/// Hands an address to the user's browser. Tells whether somebody took it.
fn show(url: &str) -> bool {
    let opener = OPENERS[usize::from(cfg!(not(target_os = "macos")))];
    let mut command = Command::new(opener);
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
