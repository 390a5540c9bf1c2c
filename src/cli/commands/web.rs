//! `web`: opens or closes the daemon's web page.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::Args;
use journal::Home;
use serde_json::{Value, json};

use crate::cli::shared::Output;
use crate::cli::text::print_json;
use crate::cli::{connection, daemon_process};
use crate::error::{Failure, Result, exit};
use crate::ops::wire::Opened;

/// Serve a page that shows what every agent is doing, on this machine only
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  checkpointd web --open\n  checkpointd web --port 8090 --json\n  checkpointd web --stop\n\n\
    The address holds a token that opens the page once. The page stays open until `--stop`, also over restarts of the daemon while a tab is open.\n\
    From another machine: `ssh -L 9000:127.0.0.1:PORT HOST`, then http://localhost:9000/#token=..."
)]
pub(crate) struct WebArgs {
    /// Open it in your browser
    ///
    /// The address works once and must not be on a command line, which every user of the machine can read. So
    /// the browser gets a private file that redirects to the page. If the browser has not opened the page after
    /// half a minute, for example because a snap may not read that file, the address is printed.
    #[arg(long, conflicts_with = "stop")]
    pub(crate) open: bool,
    /// Serve it on this port; 0 for any free port (default: `web.port`)
    #[arg(long, value_name = "N", conflicts_with = "stop")]
    pub(crate) port: Option<u16>,
    /// Close the page
    #[arg(long)]
    pub(crate) stop: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Programs that open an address in the user's browser, on macOS and elsewhere.
const OPENERS: [&str; 2] = ["open", "xdg-open"];
/// The file in the daemon's own folder that redirects a browser to the page.
const FILE: &str = "open.html";
/// The longest wait for the browser.
const BROWSER_WAIT: Duration = Duration::from_secs(30);
/// Pause between two polls.
const LOOK_EVERY: Duration = Duration::from_millis(50);

pub(crate) fn run(home: &Home, arguments: &WebArgs) -> Result<u8> {
    if arguments.stop && connection::health(home).is_none() {
        return Err(Failure::unreachable(
            "no daemon is running, so no page is open",
        ));
    }
    if arguments.stop {
        close(home, arguments.output)
    } else {
        daemon_process::ensure(home)?;
        open(home, arguments)
    }
}

fn open(home: &Home, arguments: &WebArgs) -> Result<u8> {
    let ask = json!({ "port": arguments.port }).to_string();
    let opened = connection::post_for(home, "/v1/web/open", ask.as_bytes());
    let opened: Opened = opened.map_err(|failure| {
        failure.hint("`--port 0` uses any free port; `web.port` in config.yml sets the default")
    })?;
    let shown = arguments.open && show(home, &opened);
    if arguments.output.json {
        // Whether a browser has opened it.
        print_json(&json!({ "url": opened.url, "port": opened.port, "opened": shown }));
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
            eprintln!("No browser opened it: open the address yourself.");
        }
    }
    Ok(exit::OK)
}

fn close(home: &Home, output: Output) -> Result<u8> {
    let answer: Value = connection::post_for(home, "/v1/web/close", b"")?;
    output.print(&answer, |answer| {
        let said = match answer["closed"] == true {
            true => "closed",
            false => "the page was not open",
        };
        println!("{said}");
    });
    Ok(exit::OK)
}

/// Opens the page in the user's browser. Returns whether the browser opened it.
///
/// Every user can read a command line, so the browser gets a file's name and finds the address in
/// the file.
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
    let token = json!({ "token": opened.token }).to_string();
    let began = Instant::now();
    while began.elapsed() < BROWSER_WAIT {
        match connection::post_for::<Value>(home, "/v1/web/waits", token.as_bytes()) {
            Ok(answer) if answer["waits"] == false => return true,
            Ok(_) => {}
            Err(_) => return false,
        }
        // Some openers run as long as the browser.
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

/// A file that redirects to an address, readable by its owner only. It is removed on drop.
struct Lead(PathBuf);

impl Lead {
    fn write(folder: &Path, url: &str) -> std::io::Result<Self> {
        let path = folder.join(FILE);
        // An interrupted run leaves its file; that token has expired or been used.
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
