//! Tells people: runs the user's own commands when an agent finished, needs attention, or was sent a checkpoint.
//!
//! Hears of events only as they are appended, so a replay tells nobody anything. That something is announced is journaled
//! before a command is run, so each thing is told at most once. What an agent wrote goes into a command's input and
//! environment, never into its words.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::prelude::*;
use checkpoint::SessionState;
use checkpoint::announce::{self, Announcement};
use checkpoint::config::{Listeners, UserCommand};
use journal::{Envelope, Event, News, Timestamp};
use tokio::sync::oneshot;

use crate::draft::derived;
use crate::evidence;
use crate::process::{self, Failure};
use crate::shared::Shared;

/// What happened longer ago is no news: it was spooled, or is somebody's recording.
const NEWS_WITHIN: Duration = Duration::from_secs(60);
/// Commands that wait for their turn; of more, the oldest are left out.
const WAITING_MAX: usize = 64;

/// The actor that runs the user's commands.
pub struct Listener {
    shared: Arc<Shared>,
    waiting: VecDeque<Run>,
    running: usize,
}

impl Listener {
    /// Begins with nothing to tell.
    pub fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            waiting: VecDeque::new(),
            running: 0,
        }
    }

    /// Starts what waits, as far as there is room.
    fn start_more(&mut self, ctx: &mut Context<Self>) {
        while self.running < self.shared.config().settings.listeners.at_once.get() {
            let Some(run) = self.waiting.pop_front() else {
                return;
            };
            self.running += 1;
            let (done, ended) = oneshot::channel::<()>();
            // A thread of its own: the daemon's threads for blocking work are for decisions, and it may end before this.
            let started = std::thread::Builder::new()
                .name("listener".into())
                .spawn(move || {
                    run.finish();
                    drop(done);
                });
            if let Err(error) = started {
                tracing::warn!(%error, "A listener could not be run.");
            }
            let freed = async move { drop(ended.await) };
            ctx.spawn(freed.into_actor(self).map(|(), actor, ctx| {
                actor.running -= 1;
                actor.start_more(ctx);
            }));
        }
    }
}

impl Actor for Listener {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.set_mailbox_capacity(self.shared.config().settings.daemon.mailbox.get());
    }
}

/// An event that may be news was appended.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Heard(pub Envelope);

/// Tells a listener of those of the events that may be news. Never waits; a listener that cannot follow misses some.
pub fn tell(listener: &Addr<Listener>, events: &[Envelope]) {
    for envelope in events
        .iter()
        .filter(|envelope| announce::news_of(&envelope.event).is_some())
    {
        let _ = listener.try_send(Heard(envelope.clone()));
    }
}

impl Handler<Heard> for Listener {
    type Result = ();

    fn handle(&mut self, Heard(envelope): Heard, ctx: &mut Self::Context) {
        let Some(news) = announce::news_of(&envelope.event) else {
            return;
        };
        let config = self.shared.config();
        let commands = commands_for(&config.settings.listeners, news);
        if commands.is_empty() || Timestamp::now().since(envelope.at) > NEWS_WITHIN {
            return;
        }
        let (commands, within) = (commands.to_vec(), config.settings.listeners.timeout.0);
        let work = announced(Arc::clone(&self.shared), envelope);
        // One after the other: whether something was announced depends on what was announced before.
        ctx.wait(work.into_actor(self).map(move |announced, actor, ctx| {
            let Some((announcement, facts)) = announced else {
                return;
            };
            for command in commands {
                if actor.waiting.len() == WAITING_MAX {
                    tracing::warn!("Too many listeners wait; the oldest is left out.");
                    actor.waiting.pop_front();
                }
                let (facts, input) = (facts.clone(), announcement.output.clone());
                actor.waiting.push_back(Run {
                    news,
                    command,
                    facts,
                    input,
                    within,
                });
            }
            actor.start_more(ctx);
        }));
    }
}

fn commands_for(listeners: &Listeners, news: News) -> &[UserCommand] {
    match news {
        News::AgentFinished => &listeners.agent_finished,
        News::NeedsAttention => &listeners.needs_attention,
        News::CheckpointSent => &listeners.checkpoint_sent,
    }
}

/// The variables that a command gets.
type Facts = Vec<(&'static str, String)>;

/// Journals that an event is announced, and returns what to tell; none where it is no news, or was told already.
async fn announced(shared: Arc<Shared>, envelope: Envelope) -> Option<(Announcement, Facts)> {
    let (looker, about) = (Arc::clone(&shared), envelope.clone());
    let looked = tokio::task::spawn_blocking(move || {
        let state = looker.load(&about.stream).ok()?;
        let announcement = announce::announce(&state, &about)?;
        let policy = evidence::project_policy(&looker.config(), state.project(), &mut Vec::new());
        policy
            .enabled
            .then(|| (facts(&announcement, &state), announcement))
    });
    let (facts, announcement) = looked.await.ok().flatten()?;
    let event = Event::Announced {
        about: envelope.seq,
        news: announcement.news,
        output: announcement.digest,
    };
    let draft = derived(
        &envelope.stream,
        Timestamp::now(),
        event,
        &envelope.seq.to_string(),
    );
    match shared.append_and_settle(vec![draft]).await {
        Ok(appended) if appended.iter().all(|own| !own.duplicate) => Some((announcement, facts)),
        Ok(_) => None,
        Err(error) => {
            tracing::warn!(session = %envelope.stream.session, %error, "Could not journal an announcement; nothing is told.");
            None
        }
    }
}

fn facts(announcement: &Announcement, state: &SessionState) -> Facts {
    // No variable can hold a NUL, and hosts say what they like.
    let clean = |text: &str| text.replace('\0', " ");
    vec![
        ("CHECKPOINTD_LISTENER", "1".into()),
        ("CHECKPOINTD_EVENT", announcement.news.word().into()),
        ("CHECKPOINTD_REASON", clean(&announcement.reason)),
        ("CHECKPOINTD_MESSAGE", clean(&announcement.message)),
        ("CHECKPOINTD_SESSION", state.session().to_string()),
        ("CHECKPOINTD_NATIVE_SESSION", clean(&state.stream.native())),
        ("CHECKPOINTD_AGENT", state.stream.agent.word().into()),
        ("CHECKPOINTD_PROJECT", clean(state.project())),
        ("CHECKPOINTD_TURN", state.turns.to_string()),
    ]
}

/// One command that is to be run.
struct Run {
    news: News,
    command: UserCommand,
    facts: Facts,
    input: String,
    within: Duration,
}

impl Run {
    /// Runs it, and kills it with all that it started when it takes too long.
    fn finish(self) {
        let mut command = process::of_user(&self.command);
        command.envs(self.facts).current_dir("/");
        let event = self.news.word();
        match process::feed(command, self.input.as_bytes(), Instant::now() + self.within) {
            Ok(output) if output.is_good() => tracing::debug!(event, "A listener was run."),
            // What it printed may be what the agent wrote, which the log holds on demand only.
            Ok(output) => {
                tracing::warn!(event, exit = %output.exit, "A listener failed.");
                tracing::debug!(
                    event,
                    complaint = output.complaint(),
                    "A listener complained."
                );
            }
            Err(Failure::Missing) => {
                tracing::warn!(event, "There is no such program as a listener names.")
            }
            Err(Failure::Timeout) => {
                tracing::warn!(event, "A listener took too long and was killed.")
            }
            Err(Failure::System(error)) => {
                tracing::warn!(event, %error, "A listener could not be run.")
            }
        }
    }
}
