//! `web`: have the daemon open its page, and say where it is.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::Args;
use journal::Home;
use serde_json::{Value, json};

use crate::cli::connection;
use crate::cli::shared::Output;
use crate::error::{Failure, Result, exit};
use crate::ops::wire::{Ask, Opened, Token};

/// Serve a page that shows what every agent is doing, on this machine alone
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  checkpointd web --open\n  checkpointd web --port 8090 --json\n  checkpointd web --stop\n\n\
    The address holds a token that opens the page once. The page stays open until the daemon ends."
)]
pub(crate) struct WebArgs {
    /// Open it in your browser
    ///
    /// The address works once, and a command line can be read by every user of the machine. So the browser is given a
    /// file in checkpointd's own folder that only you can read and that leads to the page; it is removed once the browser
    /// has come. Where it does not come within half a minute (a browser from a snap may not read that file), the address
    /// is printed, to be opened by hand.
    #[arg(long, conflicts_with = "stop")]
    pub(crate) open: bool,
    /// Serve it on this port; 0 for any that is free (default: `web.port`)
    #[arg(long, value_name = "N", conflicts_with = "stop")]
    pub(crate) port: Option<u16>,
    /// Close it
    #[arg(long)]
    pub(crate) stop: bool,
    /// How an answer is printed.
    #[command(flatten)]
    pub(crate) output: Output,
}

/// What opens an address in the user's browser: on a Mac, and elsewhere.
const OPENERS: [&str; 2] = ["open", "xdg-open"];
/// The file in the daemon's own folder that leads a browser to the page.
const FILE: &str = "open.html";
/// How long a browser may take to come.
const BROWSER_WAIT: Duration = Duration::from_secs(30);
/// Pause between two looks whether it has.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Opens the page or closes it.
pub(crate) fn run(home: &Home, arguments: &WebArgs) -> Result<u8> {
    if connection::health(home).is_none() {
        return Err(
            Failure::unreachable("no daemon runs, and the page is served by the daemon")
                .hint("start it with `checkpointd daemon --detach`"),
        );
    }
    if arguments.stop {
        close(home, arguments.output.json)
    } else {
        open(home, arguments)
    }
}

fn open(home: &Home, arguments: &WebArgs) -> Result<u8> {
    let ask = serde_json::to_vec(&Ask {
        port: arguments.port,
    })
    .expect("plain data");
    let answer = connection::post(home, "/v1/web/open", &ask).map_err(|failure| {
        failure.hint("`--port 0` takes any port that is free; `web.port` in config.yml is where it looks by default")
    })?;
    let opened: Opened = serde_json::from_slice(&answer).map_err(Failure::failed)?;
    let shown = arguments.open && show(home, &opened);
    if arguments.output.json {
        println!(
            "{}",
            json!({ "url": opened.url, "port": opened.port, "opened": shown })
        );
    } else if shown {
        println!(
            "opened http://127.0.0.1:{}/ in your browser; close it with `checkpointd web --stop`",
            opened.port
        );
    } else {
        println!("{}", opened.url);
        eprintln!(
            "The address works once, within five minutes. Close the page with `checkpointd web --stop`."
        );
        if arguments.open {
            eprintln!("No browser came to it: open the address yourself.");
        }
    }
    Ok(exit::OK)
}

fn close(home: &Home, as_json: bool) -> Result<u8> {
    let answer: Value = serde_json::from_slice(&connection::post(home, "/v1/web/close", b"")?)
        .map_err(Failure::failed)?;
    if as_json {
        println!("{answer}");
    } else {
        println!(
            "{}",
            if answer["closed"] == true {
                "closed"
            } else {
                "the page was not open"
            }
        );
    }
    Ok(exit::OK)
}

/// Leads the user's browser to the page, and waits until it is there. Tells whether it came.
///
/// Whatever stands in a command line is there for every user to see, so the browser gets a file's name and finds the
/// address in the file.
fn show(home: &Home, opened: &Opened) -> bool {
    let Ok(file) = Lead::write(&home.run, &opened.url) else {
        return false;
    };
    let opener = OPENERS[usize::from(cfg!(not(target_os = "macos")))];
    let mut command = Command::new(opener);
    command
        .arg(&file.0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let Ok(mut opener) = command.spawn() else {
        return false;
    };
    eprintln!("Waiting for your browser ...");
    let token = serde_json::to_vec(&Token {
        token: opened.token.clone(),
    })
    .expect("plain data");
    let began = Instant::now();
    while began.elapsed() < BROWSER_WAIT {
        let answer = connection::post(home, "/v1/web/waits", &token).ok();
        match answer.and_then(|answer| serde_json::from_slice::<Value>(&answer).ok()) {
            Some(answer) if answer["waits"] == false => return true,
            Some(_) => {}
            None => return false,
        }
        // Some openers stay for as long as the browser does.
        if opener
            .try_wait()
            .is_ok_and(|ended| ended.is_some_and(|status| !status.success()))
        {
            return false;
        }
        std::thread::sleep(LOOK_EVERY);
    }
    false
}

/// A file that leads to an address, for as long as somebody waits for it. Nobody else can read it.
struct Lead(PathBuf);

impl Lead {
    fn write(folder: &Path, url: &str) -> std::io::Result<Self> {
        let path = folder.join(FILE);
        // One that was interrupted leaves its file, whose token is of no use any more.
        let _ = fs::remove_file(&path);
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        let lead = Self(path);
        writeln!(
            file,
            "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
             <meta http-equiv=\"refresh\" content=\"0; url={url}\"><title>checkpointd</title><a href=\"{url}\">checkpointd</a>"
        )?;
        Ok(lead)
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
