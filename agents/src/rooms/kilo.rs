//! Kilo CLI, a fork of opencode: the same plugin calls its hooks, and its database and its screen are like opencode's.

use std::sync::LazyLock;

use journal::Agent;

use super::opencode::{self, OPENCODE};
use crate::adapter::{Adapter, Library, Variables};
use crate::known::{Known, known};
use crate::tools::Tools;

pub(super) const KILO: Adapter = Adapter {
    agent: Agent::Kilo,
    program: "kilo",
    variables: Variables::session("CHECKPOINTD_KILO_SESSION"),
    tools: &Tools {
        known: || &KNOWN,
        ..opencode::TOOLS
    },
    library: Library::of("XDG_DATA_HOME", ".local/share", &["kilo/kilo*.db"]),
    ..OPENCODE
};

static KNOWN: LazyLock<Known> = known!("kilo");
