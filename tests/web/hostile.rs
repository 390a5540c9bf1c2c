//! What agents and their tools wrote may be anything. It must be shown as what it is, wherever it is shown.

use std::time::Duration;

use serde_json::json;

use crate::browser::Browser;
use crate::stage::{Stage, Told, bash};

/// Markup and addresses that would run a script, each in a word of its own.
const HOSTILE: &str = "<img src=x onerror=window.broken=1><script>window.broken=1</script><svg onload=window.broken=1>\
    \"><iframe srcdoc='<script>parent.broken=1</script>'></iframe>'-window.broken=1-'${window.broken=1}{{window.broken=1}}\
    <a href=javascript:window.broken=1>click</a></textarea></pre><style>*{display:none}</style>";
/// Turns the direction of what comes after it.
const TURNED: &str = "left\u{202e}thgir";

pub(crate) fn text(stage: &Stage, browser: &Browser) {
    let session = tell(stage);
    let decision = stage.ask(&["audit", "--session", &session, "--json"])[0]["seq"].to_string();
    check_views(browser, &session, &decision);
    check_events(browser, &session);
    check_typed(browser);
    check_policy(browser);
}

/// Tells of a session with hostile words in every place. Returns its id.
fn tell(stage: &Stage) -> String {
    let project = format!("/nowhere/<img src=x onerror=window.broken=1>{TURNED}");
    let mut told = Told::new(stage, "hostile", &project, Duration::from_secs(90));
    told.prompt(&format!("{HOSTILE} {TURNED}"));
    told.tool(
        &format!("mcp__{HOSTILE}"),
        &json!({ "command": HOSTILE, "file_path": HOSTILE }),
        &json!(HOSTILE),
        5,
        1,
    );
    told.tool(
        "Bash",
        &json!({ "command": HOSTILE }),
        &bash(HOSTILE, &format!("Exit code 1\n{HOSTILE}")),
        5,
        1,
    );
    told.tool(
        "Edit",
        &json!({ "file_path": format!("src/{HOSTILE}.py"), "old_string": HOSTILE, "new_string": "" }),
        &json!(HOSTILE),
        5,
        1,
    );
    let reply = told.stop(45, false, HOSTILE);
    assert!(!reply.is_empty(), "a checkpoint is sent");
    told.ask(&format!("Tool{HOSTILE}"), &json!({ "command": HOSTILE }), 1);
    told.session()
}

fn check_views(browser: &Browser, session: &str, decision: &str) {
    let views = [
        ("".to_owned(), "<img src=x onerror"),
        (
            format!("session/{session}"),
            "<script>window.broken=1</script>",
        ),
        (
            format!("decision/{decision}"),
            "<script>window.broken=1</script>",
        ),
        (
            "decision".into(),
            "onerror=window.broken=1>left\\u{202e}thgir",
        ),
        (
            "trends".into(),
            "onerror=window.broken=1>left\\u{202e}thgir",
        ),
    ];
    for (view, shown) in views {
        browser.show(&view);
        whole(browser, &view);
        let text = browser.text("document.querySelector('main').textContent");
        assert!(text.contains(shown), "{view} does not show it: {text}");
        assert!(!text.contains('\u{202e}'), "{view} turns the direction");
    }
}

/// Shows every event of a session, one after the other.
fn check_events(browser: &Browser, session: &str) {
    browser.show(&format!("session/{session}"));
    browser.evaluate("document.querySelectorAll('[type=checkbox]')[1].click()");
    let seqs = browser.evaluate(
        "[...document.querySelectorAll('.events li[data-seq]')].map(row => row.dataset.seq)",
    );
    for seq in seqs.as_array().expect("a list") {
        let seq = seq.as_str().expect("a number");
        browser.evaluate(&format!(
            "document.querySelector('.events li[data-seq=\"{seq}\"]').click()"
        ));
        browser.wait(&format!(
            "document.querySelector('.detail dd')?.textContent === '{seq}'"
        ));
        whole(browser, seq);
    }
}

/// What is typed in is no more than text either.
fn check_typed(browser: &Browser) {
    browser.show("what-if");
    browser.evaluate(&format!(
        "(() => {{ document.querySelector('textarea').value = {}; document.querySelector('form button').click(); }})()",
        json!(format!("'{}': 1", HOSTILE.replace('\'', "")))
    ));
    browser.wait("document.querySelector('.problem')");
    whole(browser, "what-if");
    browser.show(&format!(
        "session/{}",
        "%3Cimg%20src%3Dx%20onerror%3Dwindow.broken%3D1%3E"
    ));
    whole(browser, "an unknown session");
    assert!(
        browser
            .problems()
            .iter()
            .all(|problem| problem.contains("404")),
        "a session that is not there"
    );
}

/// Should markup ever get in, the policy still keeps scripts from running.
fn check_policy(browser: &Browser) {
    let let_through = "(() => { try { document.querySelector('main').innerHTML = '<img src=x onerror=window.broken=1>'; return true; } catch { return false; } })()";
    assert_eq!(
        browser.evaluate(let_through),
        false,
        "markup is not taken from texts"
    );
    let handler = "(() => { try { document.querySelector('main').setAttribute('onclick', 'window.broken=1'); } catch {} document.querySelector('main').click(); })()";
    browser.evaluate(handler);
    whole(browser, "a handler in an attribute");
    let complaints = browser.problems();
    assert!(
        !complaints.is_empty()
            && complaints
                .iter()
                .all(|text| text.contains("Content Security Policy")
                    || text.contains("document requires 'Trusted")),
        "{complaints:?}"
    );
}

/// Nothing ran, and nothing was made but what the page makes.
fn whole(browser: &Browser, place: &str) {
    assert_eq!(
        browser.evaluate("typeof window.broken"),
        "undefined",
        "{place}: a script ran"
    );
    let odd = "[...document.querySelectorAll('img, iframe, object, embed, main style, main script, main a[href]:not([href^=\"#/\"]), [onerror], [onload]')].map(it => it.outerHTML)";
    assert_eq!(browser.evaluate(odd), json!([]), "{place}");
    assert_eq!(browser.evaluate("document.scripts.length"), 1, "{place}");
    assert_eq!(
        browser.evaluate("getComputedStyle(document.querySelector('main')).display"),
        "block",
        "{place}"
    );
}
