//! The web page over 1,000,000 events of 10,000 sessions, in a real browser: how soon it is there, how it scrolls, whether an
//! update moves what is read, how a session of 10,000 events moves, and whether hook calls take longer while it is open.
//!
//! `cargo bench --bench page [-- --sessions N] [-- --rounds N]`. Targets: first paint within 0.3 s; 60 frames a second while
//! scrolling and moving; an update moves nothing; a ratio near 1.

#[path = "../tests/web/browser.rs"]
#[expect(dead_code, reason = "the tests use more of it")]
mod browser;
#[path = "support/daemon.rs"]
#[expect(dead_code, reason = "other benches use more of it")]
mod daemon;
#[path = "support/generate.rs"]
mod generate;
#[path = "support/measure.rs"]
mod measure;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use browser::Browser;
use daemon::{Daemon, program, run};
use journal::{Home, Journal, Options};
use measure::{median, ms, option, title};
use serde_json::{Value, json};

/// Turns of the large session, and tool calls in each: with prompts, stops and decisions, more than 10,000 events.
const TURNS: u64 = 400;
const CALLS: u64 = 12;
/// Its id.
const LARGE: &str = "10e54898-3d7e-4d3d-bff0-5aa71c2b471a";
/// Hook calls of one block; blocks with the page and without take turns.
const BLOCK: usize = 100;

/// Notes when the first session can be seen, and when a chart has been drawn.
const NOTE: &str = "new MutationObserver(() => {
    if (!window.seen && document.querySelector('.card[data-session]')) requestAnimationFrame(() => { window.seen ??= performance.now(); });
    if (!window.drawn && document.querySelector('canvas.chart')) requestAnimationFrame(() => requestAnimationFrame(() => { window.drawn ??= performance.now(); }));
}).observe(document, { subtree: true, childList: true });";
/// Scrolls down a list and returns the time between frames.
const SCROLL: &str = "(async () => {
    const frames = []; let last = await new Promise(requestAnimationFrame);
    for (let step = 0; step < 240; step += 1) {
        scrollBy(0, 120);
        const now = await new Promise(requestAnimationFrame); frames.push(now - last); last = now;
    }
    return frames; })()";
/// Returns the first session on the screen, and how far from the top it is.
const READ: &str = "(() => { const card = [...document.querySelectorAll('.card[data-session]')].find(it => it.getBoundingClientRect().top >= 0);
    return [card.dataset.session, card.getBoundingClientRect().top]; })()";
/// Moves through the chart and returns the time between frames.
const MOVE: &str = "(async () => {
    const chart = document.querySelector('canvas.chart'); chart.focus();
    const frames = []; let last = await new Promise(requestAnimationFrame);
    for (let step = 0; step < 240; step += 1) {
        const zoom = step % 80 < 40 ? -40 : 40;
        chart.dispatchEvent(new WheelEvent('wheel', step % 2 ? { deltaY: zoom, cancelable: true } : { deltaX: 30, cancelable: true }));
        const now = await new Promise(requestAnimationFrame); frames.push(now - last); last = now;
    }
    return frames; })()";

fn main() {
    if !has_browser() {
        println!("chromium is not installed: tests/web/run.sh installs it");
        return;
    }
    let sessions = option("--sessions", 10_000);
    let rounds = option("--rounds", 7);
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let (journal, _) =
        Journal::open(&Home::under(home.path()).journal, Options::default()).expect("a journal");
    generate::fill(&journal, sessions);
    journal.close();
    drop(journal);
    let (daemon, _) = Daemon::start(home.path());
    fill_large(home.path());
    let stats: Value =
        serde_json::from_str(&run(home.path(), &["journal", "stats", "--json"])).expect("JSON");
    title(&format!(
        "the page over {} events of {} sessions, medians of {rounds}",
        stats["events"], stats["sessions"]
    ));

    let browser = Browser::start();
    let address = url(home.path());
    let began = Instant::now();
    browser.enter(&address);
    browser.wait("document.querySelector('.card[data-session]')");
    let cold = ms(began.elapsed());
    println!(
        "  now:      {cold:.0} ms until sessions are seen, by a daemon that has looked at none"
    );
    let began = Instant::now();
    run(home.path(), &["status", "--json"]);
    println!("  status:   {:.0} ms", ms(began.elapsed()));
    browser.call(
        "Page.addScriptToEvaluateOnNewDocument",
        json!({ "source": NOTE }),
    );
    now(&browser, rounds);
    for all in [false, true] {
        scroll(home.path(), &browser, all);
    }
    timeline(&browser, rounds);
    for view in ["decision", "trends"] {
        let began = Instant::now();
        browser.show(view);
        println!("  {view:9} {:.0} ms", ms(began.elapsed()));
    }
    hooks(home.path(), &browser, rounds);
    println!(
        "  the daemon uses {:.0} MB, at most {:.0} MB",
        daemon.memory().0,
        daemon.memory().1
    );
}

fn has_browser() -> bool {
    let mut command = Command::new("chromium");
    command.arg("--version").stdout(Stdio::null());
    command.status().is_ok()
}

/// Loads the list of sessions again and again.
fn now(browser: &Browser, rounds: usize) {
    let mut painted = Vec::new();
    let mut seen = Vec::new();
    for _ in 0..rounds {
        browser.show("");
        browser.call("Page.reload", json!({}));
        browser.wait("window.seen");
        painted.push(figure(
            browser,
            "performance.getEntriesByName('first-contentful-paint')[0].startTime",
        ));
        seen.push(figure(browser, "window.seen"));
    }
    println!(
        "  now:      first paint {:.0} ms, sessions seen {:.0} ms",
        median(painted),
        median(seen)
    );
}

/// Scrolls the list of sessions, the newest or all, and has sessions change meanwhile.
fn scroll(home: &Path, browser: &Browser, all: bool) {
    browser.show("");
    if all {
        browser.evaluate(
            "[...document.querySelectorAll('button')].find(it => it.textContent.startsWith('Show all')).click()",
        );
        browser.wait("document.querySelectorAll('.card[data-session]').length > 1000");
    }
    frames("scrolling", &browser.evaluate(SCROLL));
    let sessions = browser.evaluate("document.querySelectorAll('.card[data-session]').length");
    browser.evaluate("scrollTo(0, document.documentElement.scrollHeight / 2)");
    let read = browser.evaluate(READ);
    let began = Instant::now();
    // One that finished is read; another, that comes to the top of the list, begins a turn.
    fill(
        home,
        &json!({ "hook_event_name": "UserPromptSubmit", "session_id": format!("10e54898-3d7e-4d3d-bff0-00000000000{}", u8::from(all)),
        "cwd": "/home/user/project", "prompt": "begin" }),
    );
    browser.wait("document.querySelector('.group.running .card')?.textContent.includes('begin')");
    let took = ms(began.elapsed());
    let moved = browser.evaluate(&format!(
        "document.querySelector('[data-session=\"{}\"]').getBoundingClientRect().top - {}",
        read[0].as_str().expect("a session"),
        read[1]
    ));
    println!(
        "            {sessions} cards; an update is there after {took:.0} ms, and moves what is read by {moved} px"
    );
}

/// Prints what times between frames say.
fn frames(what: &str, times: &Value) {
    let frames = times.as_array().expect("figures").iter();
    let mut frames: Vec<_> = frames.filter_map(Value::as_f64).collect();
    frames.sort_by(f64::total_cmp);
    let at = |of_hundred: usize| frames[(frames.len() * of_hundred / 100).min(frames.len() - 1)];
    println!(
        "            a frame every {:.1} ms while {what}, p99 {:.1} ms, at most {:.1} ms",
        at(50),
        at(99),
        at(100)
    );
}

/// Loads the timeline of the large session again and again, then moves through it.
fn timeline(browser: &Browser, rounds: usize) {
    let mut drawn = Vec::new();
    for _ in 0..rounds {
        browser.show(&format!("session/{LARGE}"));
        browser.call("Page.reload", json!({}));
        browser.wait("window.drawn");
        drawn.push(figure(browser, "window.drawn"));
    }
    let events = browser.text("document.querySelector('main .summary').textContent");
    println!("  timeline: drawn after {:.0} ms ({events})", median(drawn));
    frames("moving", &browser.evaluate(MOVE));
}

fn url(home: &Path) -> String {
    let answer: Value = serde_json::from_str(&run(home, &["web", "--json"])).expect("JSON");
    answer["url"].as_str().expect("an address").to_owned()
}

fn figure(browser: &Browser, expression: &str) -> f64 {
    browser.evaluate(expression).as_f64().expect("a figure")
}

/// Compares hook calls with the page open and without, in blocks that take turns.
fn hooks(home: &Path, browser: &Browser, rounds: usize) {
    let [mut with, mut without] = [const { Vec::new() }; 2];
    for round in 0..rounds {
        browser.show("");
        with.extend(block(home, round * 2));
        browser.go("about:blank");
        browser.wait("document.URL === 'about:blank'");
        without.extend(block(home, round * 2 + 1));
        browser.enter(&url(home));
    }
    for times in [&mut with, &mut without] {
        times.sort_by(f64::total_cmp);
    }
    let at = |times: &[f64], of_hundred: usize| times[times.len() * of_hundred / 100];
    for (name, of_hundred) in [("p50", 50), ("p99", 99)] {
        let (open, closed) = (at(&with, of_hundred), at(&without, of_hundred));
        println!(
            "  hook {name}: {open:.2} ms with the page, {closed:.2} ms without, ratio {:.2}",
            open / closed
        );
    }
}

/// Calls a hook again and again through the real client; returns milliseconds.
fn block(home: &Path, number: usize) -> Vec<f64> {
    let call = |index: usize| {
        let payload = json!({ "hook_event_name": "PostToolUse", "session_id": LARGE, "cwd": "/home/user/project",
            "tool_name": "Bash", "tool_input": { "command": "true" }, "tool_response": {}, "tool_use_id": format!("b{number}-{index}") });
        let mut client = Command::new(env!("CARGO_BIN_EXE_checkpointd-hook"));
        client
            .args(["claude", "PostToolUse"])
            .env("CHECKPOINTD_HOME", home)
            .env("CHECKPOINTD_AUTOSTART", "0");
        let began = Instant::now();
        let mut client = client
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("a process");
        client
            .stdin
            .take()
            .expect("a pipe")
            .write_all(payload.to_string().as_bytes())
            .expect("it reads");
        assert!(client.wait().expect("a process").success());
        ms(began.elapsed())
    };
    (0..BLOCK).map(call).collect()
}

/// Makes the large session through the daemon.
fn fill_large(home: &Path) {
    let began = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(40);
    let mut lines = String::new();
    let mut second = 0;
    let mut tell = |name: &str, mut payload: Value, after: i64| {
        second += after;
        payload["session_id"] = LARGE.into();
        payload["cwd"] = "/home/user/project".into();
        payload["hook_event_name"] = name.into();
        let at = began + jiff::SignedDuration::from_secs(second);
        lines.push_str(
            &json!({ "agent": "claude", "at": at.to_string(), "payload": payload }).to_string(),
        );
        lines.push('\n');
    };
    for turn in 0..TURNS {
        tell(
            "UserPromptSubmit",
            json!({ "prompt": format!("please do part {turn}") }),
            90,
        );
        for call in 0..CALLS {
            let (tool, input) = match call % 3 {
                0 => ("Read", json!({ "file_path": format!("src/{call}.rs") })),
                1 => (
                    "Edit",
                    json!({ "file_path": format!("src/{call}.rs"), "old_string": "a", "new_string": "b" }),
                ),
                _ => ("Bash", json!({ "command": "cargo test --quiet" })),
            };
            let id = format!("t{turn}-{call}");
            let mut payload = json!({ "tool_name": tool, "tool_input": input, "tool_use_id": id });
            tell("PreToolUse", payload.clone(), 3);
            payload["tool_response"] =
                json!({ "stdout": "test result: ok. 14 passed", "stderr": "" });
            tell("PostToolUse", payload, 4);
        }
        tell(
            "Stop",
            json!({ "stop_hook_active": false, "last_assistant_message": "It is done." }),
            5,
        );
    }
    append(home, lines);
}

/// Has the daemon take a hook call that happens now.
fn fill(home: &Path, payload: &Value) {
    let at = jiff::Timestamp::now().to_string();
    append(
        home,
        json!({ "agent": "claude", "at": at, "payload": payload }).to_string() + "\n",
    );
}

fn append(home: &Path, lines: String) {
    let mut append = program(home);
    append
        .args(["journal", "append"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = append.spawn().expect("a process");
    child
        .stdin
        .take()
        .expect("a pipe")
        .write_all(lines.as_bytes())
        .expect("it reads");
    assert!(
        child.wait().expect("a process").success(),
        "the session was not taken"
    );
}
