//! Runs the user's listener commands when an agent finished, needs attention, or was sent a checkpoint
//! (spec LISTEN-5 to LISTEN-9).
//!
//! Only newly appended events notify listeners; a replay does not. A notification is journaled before its commands run,
//! so each is sent at most once. An agent's text goes into a command's input and environment, never into its arguments.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::prelude::*;
use checkpoint::SessionState;
use checkpoint::announce::{self, Announcement};
use checkpoint::config::{Listeners, UserCommand, VariableName};
use journal::{Envelope, Event, Notification, Timestamp};
use tokio::sync::oneshot;

use crate::desktop;
use crate::draft::derived;
use crate::failed_commands::{DESKTOP, FailedCommands, name};
use crate::process::{self, Failure};
use crate::shared::Shared;

/// Older events notify no listener: they were spooled, or come from a recording.
const NOTIFY_WITHIN: Duration = Duration::from_secs(60);
/// Commands that wait to run; if there are more, the oldest are dropped.
const WAITING_MAX: usize = 64;

/// The actor that runs the listener commands.
pub struct Listener {
    shared: Arc<Shared>,
    waiting: VecDeque<Run>,
    running: usize,
}

impl Listener {
    /// Creates the actor; no command waits yet.
    pub fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            waiting: VecDeque::new(),
            running: 0,
        }
    }

    /// Starts waiting commands, up to the configured number at once.
    fn start_more(&mut self, ctx: &mut Context<Self>) {
        while self.running < self.shared.config().settings.listeners.at_once.get() {
            let Some(run) = self.waiting.pop_front() else {
                return;
            };
            self.running += 1;
            let (done, ended) = oneshot::channel::<()>();
            // A thread of its own: the pool for blocking work is for decisions, and the daemon may end before the command.
            let started = std::thread::Builder::new()
                .name("listener".into())
                .spawn(move || {
                    run.finish();
                    drop(done);
                });
            if let Err(error) = started {
                tracing::warn!(%error, "Could not run a listener.");
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

/// An event that listeners may have to be notified of was appended.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Notify(Envelope);

/// Passes on events that listeners may have to be notified of. Never waits: events beyond the mailbox are dropped.
pub fn notify(listener: &Addr<Listener>, events: &[Envelope]) {
    for envelope in events
        .iter()
        .filter(|envelope| announce::news_of(&envelope.event).is_some())
    {
        let _ = listener.try_send(Notify(envelope.clone()));
    }
}

impl Handler<Notify> for Listener {
    type Result = ();

    fn handle(&mut self, Notify(envelope): Notify, ctx: &mut Self::Context) {
        let Some(news) = announce::news_of(&envelope.event) else {
            return;
        };
        let config = self.shared.config();
        let listeners = &config.settings.listeners;
        let commands = commands_for(listeners, news);
        let is_shown = listeners.desktop && news != Notification::CheckpointSent;
        let is_wanted = is_shown || !commands.is_empty();
        if !is_wanted || Timestamp::now().since(envelope.at) > NOTIFY_WITHIN {
            return;
        }
        let named = |command: &UserCommand| (name(command), command.clone());
        let mut commands: Vec<_> = commands.iter().map(named).collect();
        let within = config.settings.listeners.timeout.0;
        let kept = config.settings.listeners.env.clone();
        let work = journal_announcement(Arc::clone(&self.shared), envelope);
        // One after the other: whether an event is announced depends on earlier announcements.
        ctx.wait(work.into_actor(self).map(move |announced, actor, ctx| {
            let Some(Announced {
                announcement,
                variables,
                shown,
            }) = announced
            else {
                return;
            };
            commands.extend(
                shown
                    .filter(|_| is_shown)
                    .map(|command| (DESKTOP.to_owned(), command)),
            );
            for (name, command) in commands {
                if actor.waiting.len() == WAITING_MAX {
                    tracing::warn!("Too many listeners wait; dropping the oldest.");
                    actor.waiting.pop_front();
                }
                actor.waiting.push_back(Run {
                    news,
                    name,
                    command,
                    variables: variables.clone(),
                    input: announcement.output.clone(),
                    kept: kept.clone(),
                    within,
                    failed: Arc::clone(&actor.shared.failed_commands),
                });
            }
            actor.start_more(ctx);
        }));
    }
}

fn commands_for(listeners: &Listeners, news: Notification) -> &[UserCommand] {
    match news {
        Notification::AgentFinished => &listeners.agent_finished,
        Notification::NeedsAttention => &listeners.needs_attention,
        Notification::CheckpointSent => &listeners.checkpoint_sent,
    }
}

type Variables = Vec<(&'static str, String)>;

/// An announcement that was journaled.
struct Announced {
    announcement: Announcement,
    variables: Variables,
    /// The command that shows it on the desktop.
    shown: Option<UserCommand>,
}

/// Journals an announcement of the event, and returns it with what its commands need. Returns `None` if the event needs
/// no announcement or has one already.
async fn journal_announcement(shared: Arc<Shared>, envelope: Envelope) -> Option<Announced> {
    let reader = Arc::clone(&shared);
    let about = envelope.clone();
    let read = tokio::task::spawn_blocking(move || {
        let state = reader.load(&about.stream).ok()?;
        let announcement = announce::announce(&state, &about)?;
        let project = state.project().to_owned();
        let announced = Announced {
            variables: variables(&announcement, &state),
            shown: desktop::command(announcement.news, &state),
            announcement,
        };
        Some((announced, project))
    });
    let (announced, project) = read.await.ok().flatten()?;
    let folder = project.clone();
    let is_on = move |shared: &Shared| shared.project(&folder).policy.enabled;
    if !shared.look_at(&project, is_on).await? {
        return None;
    }
    let event = Event::Announced {
        about: envelope.seq,
        news: announced.announcement.news,
        output: announced.announcement.digest,
    };
    let draft = derived(&envelope.stream, Timestamp::now(), event, envelope.seq);
    match shared.append_and_settle(vec![draft]).await {
        Ok(appended) if appended.iter().all(|own| !own.duplicate) => Some(announced),
        Ok(_) => None,
        Err(error) => {
            tracing::warn!(session = %envelope.stream.session, %error, "Could not journal an announcement; no listener runs.");
            None
        }
    }
}

fn variables(announcement: &Announcement, state: &SessionState) -> Variables {
    // A variable cannot hold a NUL, but texts from hosts may.
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

/// A command that waits to run.
struct Run {
    news: Notification,
    /// Its name in `status`.
    name: String,
    command: UserCommand,
    variables: Variables,
    input: String,
    /// Names of variables that the command gets in addition to those of every command.
    kept: Vec<VariableName>,
    within: Duration,
    failed: Arc<FailedCommands>,
}

impl Run {
    /// Runs the command. Kills it and every process that it started after the timeout.
    fn finish(self) {
        let mut command = process::of_user(&self.command, &self.kept);
        command.envs(self.variables).current_dir("/");
        let event = self.news.word();
        let how = match process::feed(command, self.input.as_bytes(), Instant::now() + self.within)
        {
            Ok(output) if output.is_good() => {
                tracing::debug!(event, "A listener ran.");
                self.failed.works(&self.name);
                return;
            }
            // The output may quote the agent, whose text the log has only on demand.
            Ok(output) => {
                tracing::warn!(event, exit = %output.exit, "A listener failed.");
                tracing::debug!(
                    event,
                    complaint = output.complaint(),
                    "Error output of a listener."
                );
                output.exit.to_string()
            }
            Err(Failure::Missing) => {
                tracing::warn!(event, "A listener's program does not exist.");
                "its program does not exist".to_owned()
            }
            Err(Failure::Timeout) => {
                tracing::warn!(event, "A listener timed out and was killed.");
                "it took too long and was killed (`listeners.timeout`)".to_owned()
            }
            Err(Failure::System(error)) => {
                tracing::warn!(event, %error, "Could not run a listener.");
                error.to_string()
            }
        };
        self.failed.failed(self.name, how);
    }
}
