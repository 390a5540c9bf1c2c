//! What leaves the machine holds nothing that is not on the list, and merging is translation only.

mod leaving;
mod merging;

use journal::{Agent, Draft, Event, Host, Journal, Options, Stream, Timestamp};
use proptest::prelude::*;
use uuid::Uuid;

struct Place {
    _folder: tempfile::TempDir,
    journal: Journal,
}

fn place() -> Place {
    let folder = tempfile::tempdir().expect("a folder");
    let (journal, _) = Journal::open(folder.path(), Options::default()).expect("opens");
    Place {
        _folder: folder,
        journal,
    }
}

/// What a machine does next.
#[derive(Clone, Debug)]
enum Does {
    /// An agent of this session calls a tool.
    Tool(u8),
    /// A delivery is about an earlier event.
    About(u8, u8),
    /// The daemon starts.
    Starts,
}

fn does() -> impl Strategy<Value = Does> {
    prop_oneof![
        (0..3u8).prop_map(Does::Tool),
        (0..3u8, 0..9u8).prop_map(|(session, back)| Does::About(session, back)),
        Just(Does::Starts),
    ]
}

fn draft(number: usize, does: &Does) -> Draft {
    let seq = number as u64 + 1;
    let (session, event) = match does {
        Does::Tool(session) => (
            *session,
            Event::ModelStepped {
                host: Host::default(),
            },
        ),
        Does::About(session, back) => {
            let decision = seq.saturating_sub(u64::from(*back)).max(1);
            let by = "notify".to_owned();
            (*session, Event::DeliveryConfirmed { decision, by })
        }
        Does::Starts => {
            let version = "0.1.0".to_owned();
            let recovery = Vec::new();
            (9, Event::DaemonStarted { version, recovery })
        }
    };
    let stream = match session {
        9 => Stream::daemon(),
        session => Stream::of_native(Agent::Claude, &format!("session {session}")),
    };
    Draft {
        stream,
        at: Timestamp::from_micros(1_000_000 * seq as i64),
        id: Uuid::from_u128(seq.into()),
        event,
        payload: None,
    }
}
