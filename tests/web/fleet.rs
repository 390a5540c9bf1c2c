//! The page of a collector: which machine, which project, and all by machine.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::axe;
use crate::browser::Browser;
use crate::stage::{Stage, program_at};

const SHOP: &str = "example.org/team/webshop";

/// A collector of two machines with the same sessions.
struct Collector {
    folder: TempDir,
    child: Child,
}

impl Collector {
    fn new(stage: &Stage) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        // What one journal imported from another is a history of its own.
        fs::write(at("history"), stage.print(&["journal", "export"])).expect("writes");
        let mut import = program_at(&at("desk"), &["journal", "import"]);
        import.stdin(fs::File::open(at("history")).expect("a file"));
        well(import);
        let laptop = stage.print(&["fleet", "export", "--machine", "laptop-7", "--level", "all"]);
        fs::write(at("laptop.ndjson"), laptop).expect("writes");
        let arguments = ["fleet", "export", "--machine", "desk-2", "--level", "all"];
        let desk = well(program_at(&at("desk"), &arguments));
        fs::write(at("desk.ndjson"), desk).expect("writes");
        let home = at("collector");
        for file in ["laptop.ndjson", "desk.ndjson"] {
            let file = at(file).display().to_string();
            let into = home.display().to_string();
            well(program_at(
                &home,
                &["fleet", "merge", &file, "--into", &into],
            ));
        }
        let child = program_at(&home, &["fleet", "collect"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("starts");
        Self { folder, child }
    }

    fn url(&self) -> String {
        let began = Instant::now();
        loop {
            let home = self.folder.path().join("collector");
            let output = program_at(&home, &["web", "--json"])
                .output()
                .expect("runs");
            if let Ok(answer) = serde_json::from_slice::<Value>(&output.stdout)
                && let Some(url) = answer["url"].as_str()
            {
                return url.to_owned();
            }
            assert!(began.elapsed() < Duration::from_secs(60), "{output:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn well(mut command: Command) -> Vec<u8> {
    let output = command.output().expect("runs");
    assert!(output.status.success(), "{output:?}");
    output.stdout
}

fn choose(browser: &Browser, label: &str, value: &str) {
    let select = json!(format!(
        "[...document.querySelectorAll('select')].find(it => (it.getAttribute('aria-label') ?? it.labels[0]?.textContent ?? '').startsWith({}))",
        json!(label)
    ));
    let select = select.as_str().expect("text");
    browser.evaluate(&format!(
        "(() => {{ const it = {select}; it.value = {}; it.dispatchEvent(new Event('change')); }})()",
        json!(value)
    ));
}

const GROUPS: &str =
    "[...document.querySelectorAll('.group h2')].map(it => it.firstChild.textContent)";

fn now(browser: &Browser) {
    browser.show("");
    let all = browser
        .evaluate("document.querySelectorAll('li[data-session]').length")
        .as_u64();
    choose(browser, "Grouped by", "machine");
    assert_eq!(browser.evaluate(GROUPS), json!(["desk-2", "laptop-7"]));
    choose(browser, "Grouped by", "project");
    let projects = browser.evaluate(GROUPS);
    let projects: Vec<&str> = projects
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    // One group for the clones on both machines; the others are a project on each.
    assert_eq!(
        projects
            .iter()
            .filter(|name| name.contains("webshop"))
            .collect::<Vec<_>>(),
        [&SHOP],
        "{projects:?}"
    );
    assert_eq!(
        projects
            .iter()
            .filter(|name| name.contains("parser"))
            .count(),
        2,
        "{projects:?}"
    );
    choose(browser, "Machine", "desk-2");
    let cells = browser.evaluate(
        "[...document.querySelectorAll('li[data-session] .machine')].map(it => it.textContent)",
    );
    let cells = cells.as_array().expect("a list");
    assert!(cells.iter().all(|cell| cell == "desk-2"), "{cells:?}");
    assert_eq!(
        Some(2 * cells.len() as u64),
        all,
        "half of them are on each"
    );
    // What belongs to this machine is not said of others.
    let body = browser.text("document.querySelector('main').innerText");
    assert!(!body.contains("unseen"), "{body}");
}

fn decisions(browser: &Browser) {
    browser.show("decision");
    let machines = "[...new Set([...document.querySelectorAll('li.card .machine')].map(it => it.textContent))].sort()";
    // The newest hundred, in the order in which they were merged.
    assert_eq!(browser.evaluate(machines), json!(["desk-2"]));
    browser.evaluate("(() => { const it = document.querySelector('[aria-label=\"Name of the machine\"]'); it.value = 'laptop-7'; it.dispatchEvent(new Event('change')); })()");
    browser.wait(&format!("{machines}.join() === 'laptop-7'"));
    browser.evaluate("document.querySelector('.card a').click()");
    browser.wait("document.querySelector('h1')?.textContent.startsWith('Decision ')");
    let summary = browser.text("document.querySelector('.summary').textContent");
    assert!(summary.contains(" on laptop-7"), "{summary}");
}

fn trends(browser: &Browser) {
    browser.show("trends");
    let rows = |title: &str| {
        browser.evaluate(&format!(
            "[...[...document.querySelectorAll('h2')].find(it => it.textContent === {}).nextElementSibling.querySelectorAll('tbody tr')].map(it => [it.cells[0].textContent, Number(it.cells[1].textContent)])",
            json!(title)
        ))
    };
    let both = rows("By machine");
    let (one, other) = (&both[0], &both[1]);
    assert!(one[1].as_u64() > Some(0) && one[1] == other[1], "{both}");
    let projects = rows("By project");
    // One row for the clones on both machines; the others have one on each.
    let counts = |name: &str| -> Vec<u64> {
        let rows = projects.as_array().expect("a list").iter();
        rows.filter(|row| row[0] == name)
            .filter_map(|row| row[1].as_u64())
            .collect()
    };
    let (shop, parser) = (counts("webshop"), counts("parser"));
    assert!(shop[0] % 2 == 0 && shop[0] > 2, "{projects}");
    assert!(parser.len() == 2 && parser[0] == parser[1], "{projects}");
    choose(browser, "On ", "laptop-7");
    browser
        .wait("[...document.querySelectorAll('h2')].some(it => it.textContent === 'By machine')");
    browser.wait("document.querySelectorAll('figure').length === 6");
    let alone = rows("By machine");
    assert_eq!(alone.as_array().map(Vec::len), Some(1), "{alone}");
    assert_eq!(alone[0][0], "laptop-7");
}

pub(crate) fn fleet(stage: &Stage, browser: &Browser) {
    let collector = Collector::new(stage);
    browser.enter(&collector.url());
    now(browser);
    decisions(browser);
    trends(browser);
    let views = ["", "decision", "trends"].map(str::to_owned);
    axe::views(browser, &views);
    // Before the collector goes away.
    browser.go("about:blank");
    browser.wait("location.href === 'about:blank'");
}
