//! The pictures of docs/watching.md and docs/record.md: taken where somebody asks for them, so that a run of the tests changes no file.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use testkit::daemon::Daemon;
use testkit::git::{commit_all, git};

use crate::browser::Browser;
use crate::stage::{Stage, bash};

/// Names the folder that the pictures go to.
const FOLDER: &str = "CHECKPOINTD_SCREENSHOTS";
/// A window, a tablet and a phone, with the endings of their pictures' names.
const SCREENS: [(&str, u32, u32); 3] =
    [("", 1440, 900), ("-tablet", 820, 900), ("-phone", 390, 844)];
/// The largest picture that belongs into a repository.
const BYTES_MAX: u64 = 150 * 1024;

pub(crate) fn take(stage: &Stage, browser: &Browser) {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else {
        return;
    };
    let schemes = [("light", ""), ("dark", "-dark")];
    let prefers = |scheme: &str| {
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        browser.call("Emulation.setEmulatedMedia", media);
    };
    for (scheme, ending) in schemes {
        prefers(scheme);
        take_all(stage, browser, &|name| {
            for (screen, width, height) in SCREENS {
                browser.size(width, height);
                // Two frames on, everything has been drawn in its new size.
                browser.evaluate(
                    "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 400))))",
                );
                let file = folder.join(format!("{name}{screen}{ending}.png"));
                browser.picture(&file);
                let size = file.metadata().expect("a file").len();
                assert!(size < BYTES_MAX, "{name}{screen}{ending} has {size} bytes");
            }
        });
    }
    let markdown = recorded();
    browser.size(820, 260);
    for (scheme, ending) in schemes {
        prefers(scheme);
        summary(browser, &markdown);
        browser.picture(&folder.join(format!("record{ending}.png")));
    }
    browser.enter(&stage.url());
}

fn take_all(stage: &Stage, browser: &Browser, take: &dyn Fn(&str)) {
    browser.show("");
    take("now");
    // A recorded session.
    let recorded = &stage.ask(&["audit", "--verdict", "inject", "--json"])[0];
    browser.show(&format!(
        "session/{}",
        recorded["session"].as_str().expect("an id")
    ));
    browser.wait("document.querySelector('.detail .text')");
    take("session");
    browser.show(&format!("decision/{}", recorded["seq"]));
    take("decision");
    browser.show("what-if");
    browser.evaluate(
        "(() => { document.querySelector('textarea').rows = 5; const field = document.querySelector('[name=min_turn]'); field.value = '5m';
         field.dispatchEvent(new Event('change')); document.querySelector('form button').click(); })()",
    );
    browser.wait("document.querySelector('.card')");
    browser.evaluate("document.querySelector('.card details').open = true");
    take("what-if");
    browser.show("trends");
    take("trends");
}

/// Plays a session in a repository, records it as a note, and returns what the action writes about the commit.
fn recorded() -> String {
    let daemon = Daemon::with("min_turn: 1ms\n");
    let project = daemon.home.path().join("project");
    std::fs::create_dir(&project).expect("a folder");
    let put = |name: &str, text: &str| std::fs::write(project.join(name), text).expect("writes");
    put("stock.py", "count = 1\n");
    commit_all(&project);
    let tell = |event: &str, more: Value| {
        let mut payload = json!({ "session_id": "5f1c9f0e", "transcript_path": "", "cwd": project, "hook_event_name": event });
        let fields = payload.as_object_mut().expect("an object");
        fields.extend(more.as_object().expect("an object").clone());
        daemon.hook(&["claude", event], payload.to_string().as_bytes());
    };
    tell(
        "UserPromptSubmit",
        json!({ "prompt": "Count what is in stock" }),
    );
    testkit::wait_until(|| {
        !daemon
            .ask(&["journal", "tail", "--json", "--kind", "head_seen"])
            .is_empty()
    });
    let write = json!({ "tool_name": "Write", "tool_use_id": "1",
        "tool_input": { "file_path": project.join("stock.py"), "content": "count = 2\n" } });
    tell("PreToolUse", write.clone());
    put("stock.py", "count = 2\n");
    tell("PostToolUse", write);
    let mut test = json!({ "tool_name": "Bash", "tool_use_id": "2", "tool_input": { "command": "pytest -q" } });
    tell("PreToolUse", test.clone());
    test["tool_response"] = bash("3 passed in 0.10s\n", "");
    tell("PostToolUse", test);
    tell(
        "Stop",
        json!({ "stop_hook_active": false, "last_assistant_message": "The stock is counted, and the tests pass." }),
    );
    put("notes.md", "by hand\n");
    commit_all(&project);
    for (key, value) in [("user.name", "ada"), ("user.email", "ada@example.com")] {
        git(&project, &["config", key, value]);
    }
    let run = |program: &Path, arguments: &[&str], path: &str| {
        let mut command = daemon.home.command(program, arguments);
        command.current_dir(&project).env("PATH", path);
        let output = testkit::run(command.env("RECORD_KEY", "../key.pub"), b"");
        assert!(output.status.success(), "{output:?}");
        testkit::text(&output.stdout)
    };
    let program = testkit::program("checkpointd");
    let folder = program.parent().expect("a folder").display();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap_or_default());
    let key = ["-q", "-t", "ed25519", "-N", "", "-f", "../key"];
    run(Path::new("ssh-keygen"), &key, &path);
    run(&program, &["record", "--notes", "--key", "../key"], &path);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("ci/verify.sh");
    run(&script, &[], &path)
}

/// Shows Markdown as a forge does.
fn summary(browser: &Browser, markdown: &str) {
    let options = pulldown_cmark::Options::ENABLE_TABLES;
    let mut html = String::new();
    pulldown_cmark::html::push_html(
        &mut html,
        pulldown_cmark::Parser::new_ext(markdown, options),
    );
    browser.go("about:blank");
    browser.wait("location.href === 'about:blank'");
    let style = ":root { color-scheme: light dark } body { font: 14px system-ui; padding: 16px } table { border-collapse: collapse }
         th, td { padding: 6px 13px; border: 1px solid #8886 } code { padding: .2em .4em; background: #8883; border-radius: 6px }";
    browser.evaluate(&format!(
        "document.documentElement.innerHTML = {}",
        json!(format!("<style>{style}</style>{html}"))
    ));
}
