//! Chromium, headless, with a profile of its own, driven through a pipe by its DevTools protocol: JSON messages that end
//! in NUL, in on descriptor 3 and out on 4.

use std::cell::{Cell, RefCell};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// After this long the browser hangs.
const LIMIT: Duration = Duration::from_secs(60);
/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// The page's text once its view is there.
const READY_TEXT: &str =
    "document.querySelector('.view')?.dataset.ready ? document.body.innerText : ''";

/// A browser with one page.
pub(crate) struct Browser {
    process: Child,
    input: RefCell<ChildStdin>,
    messages: Receiver<Value>,
    next: Cell<u64>,
    session: String,
    problems: RefCell<Vec<String>>,
    folder: TempDir,
}

impl Browser {
    /// Starts one.
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = Command::new("sh");
        // The shell moves the pipes to where chromium looks for them.
        command.args([
            "-c",
            "exec chromium \"$@\" 3<&0 4>&1 </dev/null >/dev/null",
            "sh",
        ]);
        command.args([
            "--headless=new",
            "--remote-debugging-pipe",
            "--disable-gpu",
            "--no-first-run",
            "--disable-dev-shm-usage",
        ]);
        command.args([
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--lang=en-GB",
        ]);
        command.args([
            "--force-color-profile=srgb",
            "--font-render-hinting=none",
            "--hide-scrollbars",
        ]);
        if rustix::process::geteuid().is_root() {
            command.arg("--no-sandbox");
        }
        command
            .arg(format!("--user-data-dir={}", folder.path().display()))
            .arg("about:blank");
        command
            .env("TZ", "UTC")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut process = command.spawn().expect("chromium starts");
        let input = RefCell::new(process.stdin.take().expect("a pipe"));
        let output = BufReader::new(process.stdout.take().expect("a pipe"));
        let (sender, messages) = mpsc::channel();
        thread::spawn(move || {
            for message in output.split(0).map_while(Result::ok) {
                let message = serde_json::from_slice(&message).expect("JSON");
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut browser = Self {
            process,
            input,
            messages,
            next: Cell::new(1),
            session: String::new(),
            problems: RefCell::default(),
            folder,
        };
        browser.session = browser.page(None);
        browser
    }

    /// Opens a page, in a context that knows nothing of the others where one is named; returns its session.
    fn page(&self, context: Option<&Value>) -> String {
        let mut wanted = json!({ "url": "about:blank" });
        if let Some(context) = context {
            wanted["browserContextId"] = context.clone();
        }
        let target = self.command("", "Target.createTarget", wanted)["targetId"].clone();
        let attached = self.command(
            "",
            "Target.attachToTarget",
            json!({ "targetId": target, "flatten": true }),
        );
        let session = attached["sessionId"]
            .as_str()
            .expect("a session")
            .to_owned();
        for domain in ["Runtime", "Log", "Page"] {
            self.command(&session, &format!("{domain}.enable"), json!({}));
        }
        self.command(
            &session,
            "Emulation.setFocusEmulationEnabled",
            json!({ "enabled": true }),
        );
        session
    }

    /// Sends a command and waits for its answer.
    fn command(&self, session: &str, method: &str, parameters: Value) -> Value {
        let answer = self.ask(session, method, parameters);
        answer.unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Sends a command and waits for its answer, or for its error. Notes what the page complains of meanwhile.
    fn ask(&self, session: &str, method: &str, parameters: Value) -> Result<Value, Value> {
        let id = self.next.replace(self.next.get() + 1);
        let mut message = json!({ "id": id, "method": method, "params": parameters });
        if !session.is_empty() {
            message["sessionId"] = session.into();
        }
        self.input
            .borrow_mut()
            .write_all(format!("{message}\0").as_bytes())
            .expect("chromium listens");
        loop {
            let message = self.messages.recv_timeout(LIMIT).expect("chromium answers");
            if message["id"] == id {
                return match message.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(message["result"].clone()),
                };
            }
            let complains = match message["method"].as_str() {
                Some("Runtime.exceptionThrown") => true,
                // Security policies, and files that are missing.
                Some("Log.entryAdded") => message["params"]["entry"]["level"] == "error",
                _ => false,
            };
            if complains {
                self.problems
                    .borrow_mut()
                    .push(message["params"].to_string());
            }
        }
    }

    /// Sends a command to the page.
    pub(crate) fn call(&self, method: &str, parameters: Value) -> Value {
        self.command(&self.session, method, parameters)
    }

    /// Sends a command to the browser itself.
    pub(crate) fn browser_call(&self, method: &str, parameters: Value) -> Value {
        self.command("", method, parameters)
    }

    /// Returns what the page complained of so far, and forgets it.
    pub(crate) fn problems(&self) -> Vec<String> {
        self.evaluate("0");
        self.problems.take()
    }

    /// Evaluates an expression, or what it promises.
    pub(crate) fn evaluate(&self, expression: &str) -> Value {
        let wanted =
            json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", wanted);
        assert!(
            answer.get("exceptionDetails").is_none(),
            "{expression}: {}",
            answer["exceptionDetails"]
        );
        answer["result"]["value"].clone()
    }

    /// Returns whether an expression holds. Nothing holds in a page that is being left for another one.
    fn holds(&self, expression: &str) -> bool {
        let wanted =
            json!({ "expression": format!("Boolean({expression})"), "returnByValue": true });
        match self.ask(&self.session, "Runtime.evaluate", wanted) {
            Ok(answer) => {
                let thrown = answer.get("exceptionDetails");
                assert!(thrown.is_none(), "{expression}: {thrown:?}");
                answer["result"]["value"] == true
            }
            Err(error) => {
                let is_left = ["navigated or closed", "context"];
                let said = error["message"].as_str().unwrap_or_default();
                assert!(
                    is_left.iter().any(|part| said.contains(part)),
                    "{expression}: {error}"
                );
                false
            }
        }
    }

    /// Waits until an expression holds.
    pub(crate) fn wait(&self, expression: &str) {
        let began = Instant::now();
        while !self.holds(expression) {
            let page = || self.evaluate("document.body.innerText.slice(0, 2000)");
            assert!(
                began.elapsed() < LIMIT,
                "it never held: {expression}\n{}",
                page()
            );
            thread::sleep(PAUSE);
        }
    }

    /// Goes to an address.
    pub(crate) fn go(&self, url: &str) {
        self.call("Page.navigate", json!({ "url": url }));
    }

    /// Exchanges a token, and waits for the page.
    pub(crate) fn enter(&self, url: &str) {
        self.size(1180, 760);
        self.go(url);
        self.wait("location.hash === '' && document.querySelector('.view')?.dataset.ready");
    }

    /// Shows a view and waits until it is there and the daemon is heard.
    pub(crate) fn show(&self, hash: &str) {
        let hash = json!(format!("#/{hash}"));
        self.evaluate(&format!(
            "document.querySelector('.view')?.removeAttribute('data-ready'); if (location.hash === {hash}) location.reload(); else location.hash = {hash};"
        ));
        self.wait(
            "document.querySelector('.view')?.dataset.ready && document.getElementById('link').textContent === 'live'",
        );
    }

    /// Says what a browser of somebody else sees at an address.
    pub(crate) fn seen_by_another(&self, url: &str) -> String {
        let context =
            self.command("", "Target.createBrowserContext", json!({}))["browserContextId"].clone();
        let text = self.seen_in(&self.page(Some(&context)), url);
        let gone = json!({ "browserContextId": context });
        self.command("", "Target.disposeBrowserContext", gone);
        text
    }

    /// Returns what a new tab of this browser shows at an address.
    pub(crate) fn seen_in_new_tab(&self, url: &str) -> String {
        let session = self.page(None);
        let text = self.seen_in(&session, url);
        self.command(&session, "Page.close", json!({}));
        text
    }

    fn seen_in(&self, session: &str, url: &str) -> String {
        self.command(session, "Page.navigate", json!({ "url": url }));
        let began = Instant::now();
        loop {
            let wanted = json!({ "expression": READY_TEXT, "returnByValue": true });
            let answer = self.command(session, "Runtime.evaluate", wanted);
            let text = answer["result"]["value"].as_str().unwrap_or_default();
            if !text.trim().is_empty() {
                return text.to_owned();
            }
            assert!(began.elapsed() < LIMIT, "there is nothing to be seen");
            thread::sleep(PAUSE);
        }
    }

    /// Sets the size of the window.
    pub(crate) fn size(&self, width: u32, height: u32) {
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// Presses a key.
    pub(crate) fn key(&self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            let mut event = json!({ "type": kind, "key": key });
            if key == "Tab" {
                event["windowsVirtualKeyCode"] = 9.into();
            }
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Clicks at a place of the window.
    pub(crate) fn click(&self, x: f64, y: f64) {
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", event);
        }
    }

    /// Returns what an expression that gives a text says.
    pub(crate) fn text(&self, expression: &str) -> String {
        self.evaluate(expression)
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// Sets where files go that the page offers, and returns that folder.
    pub(crate) fn downloads(&self) -> &Path {
        let folder = self.folder.path();
        let wanted = json!({ "behavior": "allow", "downloadPath": folder });
        self.command("", "Browser.setDownloadBehavior", wanted);
        folder
    }

    /// Takes a picture of the window.
    pub(crate) fn picture(&self, file: &Path) {
        let taken = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        let mut decode = Command::new("base64")
            .arg("-d")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("base64");
        let data = taken["data"].as_str().expect("data").to_owned();
        let mut input = decode.stdin.take().expect("a pipe");
        let writer = thread::spawn(move || input.write_all(data.as_bytes()));
        let png = decode.wait_with_output().expect("output").stdout;
        writer.join().expect("no panic").expect("it reads");
        std::fs::write(file, png).expect("writes");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
