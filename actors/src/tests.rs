//! The actors in one process, on a real journal: supervision by replay, one decision a stop, answers in time.

mod contents;

use std::pin::pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use actix::prelude::*;
use checkpoint::config::Config;
use journal::{Agent, Envelope, Event, Home, Journal, Options, Reason, Stream};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::Shared;
use crate::hook_headers::HookHeaders;
use crate::hook_reply::HookReply;
use crate::ingest::{self, AcceptHook, Accepted, Ingest};
use crate::registry::{DecideIn, EventsAppended, GetStateOf, SessionRegistry};
use crate::session::Decide;
use crate::session::Routes;
use crate::spool;
use crate::tmux::TmuxDelivery;

const SESSION: &str = "10e54898-3d7e-4d3d-bff0-5aa71c2b471a";

/// Makes a session's actor panic.
#[derive(Clone, Copy, Message)]
#[rtype(result = "()")]
pub(crate) struct Panic;

impl Handler<Panic> for crate::session::Session {
    type Result = ();

    fn handle(&mut self, _: Panic, _: &mut Self::Context) {
        panic!("asked for by a test");
    }
}

struct World {
    shared: Arc<Shared>,
    sessions: Addr<SessionRegistry>,
    ingest: Addr<Ingest>,
    calls: u128,
    _folder: tempfile::TempDir,
}

impl World {
    fn new(config: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::under(folder.path());
        let (journal, _) = Journal::open(&home.journal, Options::default()).expect("opens");
        let config = Config::load(Some(("config.yml", config))).expect("right");
        let shared = Arc::new(Shared::new(journal.clone(), home, config).expect("reads"));
        let replies = HookReply::new(Arc::clone(&shared)).start();
        let tmux = TmuxDelivery::new(Arc::clone(&shared)).start();
        let sessions = SessionRegistry::new(
            Arc::clone(&shared),
            Routes {
                replies: replies.clone(),
                tmux,
            },
        )
        .start();
        let ingest = Ingest::new(Arc::clone(&shared), sessions.clone(), replies).start();
        let poke = sessions.clone();
        journal.observe(move |events| {
            let _ = poke.try_send(EventsAppended(
                events
                    .iter()
                    .map(|envelope| envelope.stream.session)
                    .collect(),
            ));
        });
        Self {
            shared,
            sessions,
            ingest,
            calls: 0,
            _folder: folder,
        }
    }

    async fn call(&mut self, event: &str, fields: Value, waits: Option<Duration>) -> Accepted {
        let call = self.hand_over(event, fields, waits).await;
        call.await.expect("an outcome").expect("taken")
    }

    /// Hands a call over, whose outcome comes later.
    async fn hand_over(
        &mut self,
        event: &str,
        fields: Value,
        waits: Option<Duration>,
    ) -> oneshot::Receiver<Result<Accepted, ingest::Refusal>> {
        self.calls += 1;
        let mut payload =
            json!({ "session_id": SESSION, "cwd": "/nowhere", "hook_event_name": event });
        payload["n"] = json!(self.calls as u64);
        for (key, value) in fields.as_object().expect("an object") {
            payload[key] = value.clone();
        }
        let payload = payload.to_string();
        let headers = HookHeaders {
            id: Uuid::from_u128(self.calls),
            ..HookHeaders::read("claude", |_| None)
        };
        let normal = ingest::read_call(&self.shared, headers, payload)
            .await
            .expect("a good payload");
        let (outcome, taken) = oneshot::channel();
        self.ingest
            .send(AcceptHook {
                normal,
                waits,
                outcome,
            })
            .await
            .expect("it lives");
        taken
    }

    async fn stop(&mut self) -> Accepted {
        self.call("Stop", json!({}), Some(Duration::from_secs(60)))
            .await
    }

    async fn state(&self) -> Box<checkpoint::SessionState> {
        self.shared.settle().await.expect("settles");
        let stream = Stream::of_native(Agent::Claude, SESSION);
        self.sessions
            .send(GetStateOf(stream))
            .await
            .expect("it lives")
            .expect("a session")
    }

    fn decisions(&self) -> Vec<Reason> {
        self.shared.journal.settle().expect("settles");
        let events = self
            .shared
            .journal
            .events_from(1)
            .map(|envelope| envelope.expect("reads").event);
        events
            .filter_map(|event| {
                if let Event::Decided(decision) = event {
                    Some(decision.reason)
                } else {
                    None
                }
            })
            .collect()
    }
}

fn run(body: impl Future<Output = ()>) {
    System::new().block_on(body);
}

const EVERY_STOP: &str = "min_turn: 0s\nheadless: always\n";

#[test]
fn a_session_that_panics_is_replayed_and_goes_on() {
    run(async {
        let mut world = World::new(EVERY_STOP);
        world
            .call(
                "UserPromptSubmit",
                json!({ "prompt": "go", "prompt_id": "p" }),
                None,
            )
            .await;
        let before = world.state().await;
        for deaths in 1..=3 {
            world
                .sessions
                .send(crate::registry::Kill(before.session()))
                .await
                .expect("it lives");
            let after = world.state().await;
            assert_eq!(after, before, "the same state after death {deaths}");
        }
        assert!(world.stop().await.reply.contains("block"), "and it decides");
        assert!(world.shared.counters.restarted.load(Ordering::Relaxed) >= 1);
        assert_eq!(world.decisions(), [Reason::Generic]);
    });
}

/// Prompts and stops take longer than tool calls, which do not overtake them.
#[test]
fn calls_are_journaled_in_the_order_in_which_they_came() {
    run(async {
        let mut world = World::new(EVERY_STOP);
        let mut outcomes = Vec::new();
        for number in 0..400 {
            let event = ["PostToolUse", "UserPromptSubmit", "PostToolUse", "Stop"][number % 4];
            let id = format!("id-{number}");
            let fields = json!({ "tool_use_id": id, "prompt": "go", "tool_name": "Bash" });
            outcomes.push(world.hand_over(event, fields, None).await);
        }
        let mut seqs = Vec::new();
        for outcome in outcomes {
            seqs.push(outcome.await.expect("an outcome").expect("taken").seq);
        }
        assert!(seqs.is_sorted(), "{seqs:?}");
    });
}

/// The agent of a parked session stops normally.
#[test]
fn a_session_that_keeps_dying_is_parked() {
    run(async {
        let mut world = World::new(EVERY_STOP);
        world
            .call(
                "UserPromptSubmit",
                json!({ "prompt": "go", "prompt_id": "p" }),
                None,
            )
            .await;
        let session = world.state().await.session();
        // A parked session is not started again, so the count stops.
        while world.shared.counters.restarted.load(Ordering::Relaxed) <= 5 {
            world
                .sessions
                .send(crate::registry::Kill(session))
                .await
                .expect("it lives");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let stop = world.stop().await;
        assert_eq!(stop.reply, "", "nothing is sent, and the call returns soon");
        assert_eq!(world.decisions(), []);
    });
}

/// The second hook call gets the same answer.
#[test]
fn a_stop_asked_about_twice_is_decided_once() {
    run(async {
        let mut world = World::new(EVERY_STOP);
        world
            .call(
                "UserPromptSubmit",
                json!({ "prompt": "go", "prompt_id": "p" }),
                None,
            )
            .await;
        let first = world.stop().await;
        world.calls -= 1;
        // The same call again: its daemon died before the answer arrived.
        let second = world.stop().await;
        assert_eq!(
            (second.seq, second.duplicate, &second.reply),
            (first.seq, true, &first.reply)
        );
        assert!(!first.reply.is_empty());
        assert_eq!(world.decisions(), [Reason::Generic]);
    });
}

/// Its decision is on disk by then, which is enough.
#[test]
fn a_stop_that_passes_is_answered_before_its_decision_can_be_read() {
    run(async {
        let mut world = World::new("min_turn: 1h\n");
        let (go_on, may_go_on) = std::sync::mpsc::channel::<()>();
        let may_go_on = Mutex::new(may_go_on);
        // The store's thread waits before it says that the decision can be read.
        world.shared.journal.observe(move |events| {
            let is_decision = |envelope: &Envelope| matches!(envelope.event, Event::Decided(_));
            if events.iter().any(is_decision) {
                let _ = may_go_on.lock().expect("no panic").recv();
            }
        });
        world
            .call("UserPromptSubmit", json!({ "prompt": "go" }), None)
            .await;
        let stop = tokio::time::timeout(Duration::from_secs(20), world.stop()).await;
        assert_eq!(stop.expect("an answer").reply, "");
        drop(go_on);
        assert_eq!(world.decisions(), [Reason::BelowThreshold]);
    });
}

#[test]
fn a_decision_that_nobody_waits_for_passes() {
    run(async {
        let mut world = World::new(EVERY_STOP);
        world
            .call(
                "UserPromptSubmit",
                json!({ "prompt": "go", "prompt_id": "p" }),
                None,
            )
            .await;
        let taken = world.call("Stop", json!({}), None).await;
        let session = Stream::of_native(Agent::Claude, SESSION).session;
        let order = DecideIn {
            session,
            decide: Decide {
                seq: taken.seq,
                answered: false,
            },
        };
        world.sessions.send(order).await.expect("it lives");
        while world.decisions().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(world.decisions(), [Reason::NobodyWaiting]);
        assert_eq!(world.state().await.blocks_this_turn(), 0, "it was no block");
    });
}

#[test]
fn an_answer_comes_in_time_even_when_no_decision_does() {
    run(async {
        let mut world = World::new(EVERY_STOP);
        world
            .call(
                "UserPromptSubmit",
                json!({ "prompt": "go", "prompt_id": "p" }),
                None,
            )
            .await;
        // All room for gathering is taken: the decision waits, its caller does not.
        let slots = Arc::clone(&world.shared.gathering)
            .acquire_many_owned(4)
            .await
            .expect("room");
        let taken = world
            .call("Stop", json!({}), Some(Duration::from_millis(50)))
            .await;
        assert_eq!(taken.reply, "");
        drop(slots);
        while world.decisions().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        // It is known that it did not arrive.
        while world.state().await.delivery.is_some() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
}

#[test]
fn quiet_sessions_make_room_and_come_back_as_they_were() {
    run(async {
        let mut world = World::new("min_turn: 0s\ndaemon:\n  sessions_awake_max: 1\n");
        world
            .call(
                "UserPromptSubmit",
                json!({ "prompt": "go", "prompt_id": "p" }),
                None,
            )
            .await;
        let before = world.state().await;
        world
            .call(
                "UserPromptSubmit",
                json!({ "session_id": "another", "prompt": "go", "prompt_id": "p" }),
                None,
            )
            .await;
        assert_eq!(world.state().await, before);
    });
}

#[test]
fn a_newer_checkpoint_closes_the_delivery_of_the_one_before() {
    run(async {
        let mut world = World::new("min_turn: 0s\nheadless: always\nmax_blocks_per_turn: 2\n");
        world
            .call("UserPromptSubmit", json!({ "prompt": "go" }), None)
            .await;
        // Without a host turn id nothing confirms the first one.
        assert!(!world.stop().await.reply.is_empty() && !world.stop().await.reply.is_empty());
        world.shared.settle().await.expect("settles");
        let open = world.shared.journal.unsettled().expect("reads");
        assert_eq!(open.len(), 1, "only the newer one is open: {open:?}");
    });
}

/// Whether a future is not done when it is polled for the first time.
async fn is_pending_at_first<F: Future>(future: &mut std::pin::Pin<&mut F>) -> bool {
    std::future::poll_fn(|context| Poll::Ready(future.as_mut().poll(context).is_pending())).await
}

/// A spool file of many megabytes once kept every other call waiting while it was read and redacted.
#[test]
fn large_payloads_are_read_off_the_actors_thread() {
    run(async {
        let world = World::new("");
        let prompt = "password=hunter2 ".repeat(60_000);
        let payload = json!({ "session_id": SESSION, "hook_event_name": "Stop", "prompt": prompt })
            .to_string();
        let headers = HookHeaders::read("claude", |_| None);
        let mut call = pin!(ingest::read_call(&world.shared, headers, payload));
        assert!(is_pending_at_first(&mut call).await, "it was read at once");
        call.await.expect("a good payload");

        let spool = &world.shared.home.spool;
        std::fs::create_dir_all(spool).expect("a folder");
        let file = spool.join("1").with_extension(spool::ENDING);
        std::fs::write(&file, &prompt).expect("writes");
        let rejected = || world.shared.counters.rejected.load(Ordering::Relaxed);
        let mut drain = pin!(spool::drain(&world.shared, &world.ingest));
        assert!(is_pending_at_first(&mut drain).await && rejected() == 0);
        assert_eq!((drain.await.expect("it is taken"), rejected()), (1, 1));
    });
}
