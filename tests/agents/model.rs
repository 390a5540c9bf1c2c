//! A scripted model: an HTTP server on loopback that speaks their vendors' protocols, as far as their agents use
//! them, answers from a list, and keeps every request.

mod chat;
mod claude;
mod codex;
mod gemini;

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{self, JoinHandle};

use actix_web::dev::ServerHandle;
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use serde_json::{Value, json};

use crate::agent::Agent;

/// What stands for a conversation that was compacted, in the words of each vendor's prompt that matter to its agent.
const SUMMARY: &str = "<analysis>Little.</analysis>\n<summary>A small program was begun.</summary>";

/// What a model says at its turn.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// A text, which ends the agent's turn.
    Says(String),
    /// Tool calls, all at once.
    Calls(Vec<Call>),
}

/// A tool call in no vendor's words.
#[derive(Clone, Debug)]
pub(crate) enum Call {
    /// Run this command line.
    Shell(String),
    /// Create this file, relative to the project, with this content.
    Write(String, String),
    /// In this file of the project, replace this line by that one.
    Edit(String, String, String),
    /// Give this task to a subagent; in the background where the agent can.
    Delegate(String),
    /// Wait for the subagent, where that is a call of its own (Codex).
    Wait,
}

/// Says a text.
pub(crate) fn says(text: &str) -> Answer {
    Answer::Says(text.to_owned())
}

/// Runs a command.
pub(crate) fn shell(command: impl Into<String>) -> Answer {
    Answer::Calls(vec![Call::Shell(command.into())])
}

/// Creates a file.
pub(crate) fn write(path: &str, content: &str) -> Answer {
    Answer::Calls(vec![Call::Write(path.to_owned(), content.to_owned())])
}

/// Replaces a line of a file that was created before.
pub(crate) fn edit(path: &str, old: &str, new: &str) -> Answer {
    Answer::Calls(vec![Call::Edit(
        path.to_owned(),
        old.to_owned(),
        new.to_owned(),
    )])
}

/// What a model is to answer in the conversation that begins with a task.
#[derive(Debug)]
struct Conversation {
    task: String,
    answers: VecDeque<Answer>,
}

/// A request for the model's next answer, told from the requests that agents make beside the conversation.
#[derive(Debug)]
struct Asked {
    /// What the conversation begins with: the task is in it.
    begins: String,
    /// All that the conversation holds so far.
    holds: String,
}

/// The server of one agent.
pub(crate) struct Model {
    /// Its port on loopback.
    pub(crate) port: u16,
    shared: Arc<Shared>,
    handle: ServerHandle,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    agent: Agent,
    project: PathBuf,
    conversations: Mutex<Vec<Conversation>>,
    /// A line for each request: `{"task","holds"}` in conversations, else `{"path","body"}`.
    record: PathBuf,
}

impl Model {
    /// Starts a server that keeps its requests in a file of this folder.
    pub(crate) fn start(agent: Agent, project: &Path, folder: &Path) -> Self {
        let shared = Arc::new(Shared {
            agent,
            project: project.to_owned(),
            conversations: Mutex::default(),
            record: folder.join("requests.ndjson"),
        });
        let (sender, receiver) = mpsc::channel();
        let data = web::Data::from(Arc::clone(&shared));
        let thread = thread::spawn(move || {
            actix_web::rt::System::new().block_on(async move {
                let limit = web::PayloadConfig::new(64 << 20);
                let app = move || {
                    App::new()
                        .app_data(data.clone())
                        .app_data(limit.clone())
                        .default_service(web::to(serve))
                };
                let server = HttpServer::new(app)
                    .workers(1)
                    .disable_signals()
                    .bind(("127.0.0.1", 0))
                    .expect("a port");
                let port = server.addrs()[0].port();
                let server = server.run();
                sender
                    .send((port, server.handle()))
                    .expect("the starter waits");
                server.await.expect("it serves");
            });
        });
        let (port, handle) = receiver.recv().expect("it starts");
        Self {
            port,
            shared,
            handle,
            thread: Some(thread),
        }
    }

    /// Says what to answer in the conversation that begins with this task, after what was said before.
    pub(crate) fn expect(&self, task: &str, answers: impl IntoIterator<Item = Answer>) {
        let mut conversations = self.shared.conversations();
        match conversations.iter_mut().find(|one| one.task == task) {
            Some(conversation) => conversation.answers.extend(answers),
            None => conversations.push(Conversation {
                task: task.to_owned(),
                answers: answers.into_iter().collect(),
            }),
        }
    }

    /// Returns whether all answers in the conversation of this task were given.
    pub(crate) fn is_over(&self, task: &str) -> bool {
        let conversations = self.shared.conversations();
        conversations
            .iter()
            .all(|one| one.task != task || one.answers.is_empty())
    }

    /// Returns what each request in the conversation of this task held, and asserts that all of its answers were
    /// asked for.
    pub(crate) fn asked(&self, task: &str) -> Vec<String> {
        for conversation in self
            .shared
            .conversations()
            .iter()
            .filter(|one| one.task == task)
        {
            assert_eq!(
                conversation.answers.len(),
                0,
                "the agent stopped before its script ended: {task}"
            );
        }
        let lines = fs::read_to_string(&self.shared.record).unwrap_or_default();
        // Another request may be written just now.
        let (whole, _) = lines.rsplit_once('\n').unwrap_or_default();
        let lines = whole
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("our own line"));
        lines
            .filter(|line| line["task"] == task)
            .map(|line| text(&line["holds"]))
            .collect()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        // The order is given by the call; what it returns would only wait.
        drop(self.handle.stop(false));
        drop(self.thread.take().map(JoinHandle::join));
    }
}

impl Shared {
    fn conversations(&self) -> std::sync::MutexGuard<'_, Vec<Conversation>> {
        self.conversations
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the answer to a request, and keeps the request.
    fn answer(&self, asked: &Asked) -> Answer {
        let mut conversations = self.conversations();
        // A whole text: what is asked beside the conversation only quotes it. Gemini sets before it what a hook said,
        // Copilot the date. Grok marks it.
        let is_in = |one: &Conversation, text: &str| {
            let task = json!(one.task).to_string();
            let marked = format!("<user_query>\\n{}\\n<", &task[1..task.len() - 1]);
            text.contains(&format!(":{task}"))
                || text.contains(&marked)
                || ["hook_context", "current_datetime"]
                    .iter()
                    .any(|before| text.contains(&format!("</{before}>\\n\\n{}", &task[1..])))
        };
        // What comes after a compaction begins with a summary, and maybe with what was said before it.
        let place = conversations
            .iter()
            .rposition(|one| is_in(one, &asked.begins));
        let place = place.or_else(|| {
            conversations
                .iter()
                .rposition(|one| is_in(one, &asked.holds))
        });
        let conversation = place.map(|place| &mut conversations[place]);
        let task = conversation.as_ref().map(|one| one.task.clone());
        // Where the script is over the agent is let go; the test sees that there was a request too many.
        let answer = conversation
            .and_then(|one| one.answers.pop_front())
            .unwrap_or_else(|| says("(not in the script)"));
        drop(conversations);
        self.keep(&json!({ "task": task, "holds": asked.holds }));
        answer
    }

    /// Says an answer in the vendor's words.
    fn reply(&self, path: &str, body: &Value, answer: &Answer) -> HttpResponse {
        let events = match self.agent {
            Agent::Claude => claude::speak(&self.project, answer),
            Agent::Gemini => gemini::speak(&self.project, body, answer),
            Agent::Codex => codex::speak(answer),
            _ => chat::speak(self.agent, &self.project, answer),
        };
        let is_chat = path.ends_with("/chat/completions");
        if is_chat && body["stream"] != true {
            return HttpResponse::Ok().json(chat::whole(&events));
        }
        let end = if is_chat { "data: [DONE]\n\n" } else { "" };
        // Gemini asks for some answers whole.
        if path.ends_with(":generateContent") {
            return HttpResponse::Ok().json(&events[0]);
        }
        HttpResponse::Ok()
            .content_type("text/event-stream")
            .body(events.iter().map(server_sent).collect::<String>() + end)
    }

    fn keep(&self, line: &Value) {
        let file = File::options().append(true).create(true).open(&self.record);
        file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()))
            .expect("the request is kept");
    }
}

async fn serve(request: HttpRequest, body: web::Bytes, shared: web::Data<Shared>) -> HttpResponse {
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let path = request.path();
    let (asked, compacts) = match shared.agent {
        Agent::Claude => (claude::asked(path, &body), claude::compacts(&body)),
        Agent::Gemini => (gemini::asked(path, &body), gemini::compacts(&body)),
        Agent::Codex => (codex::asked(path, &body), codex::compacts(&body)),
        agent => (chat::asked(path, &body), chat::compacts(agent, &body)),
    };
    if compacts {
        return shared.reply(path, &body, &says(SUMMARY));
    }
    let Some(asked) = asked else {
        shared.keep(&json!({ "path": path, "body": body }));
        let error = json!({ "type": "not_found_error", "message": "not in the script" });
        return HttpResponse::NotFound().json(json!({ "error": error }));
    };
    let answer = shared.answer(&asked);
    shared.reply(path, &body, &answer)
}

/// An event as it is sent, with its type where the protocol has one.
fn server_sent(event: &Value) -> String {
    match event["type"].as_str() {
        Some(kind) => format!("event: {kind}\ndata: {event}\n\n"),
        None => format!("data: {event}\n\n"),
    }
}

/// Returns the text of a JSON string, else nothing.
fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// A name for a tool call that none other has.
fn new_id(prefix: &str) -> String {
    format!("{prefix}{}", uuid::Uuid::new_v4().simple())
}
