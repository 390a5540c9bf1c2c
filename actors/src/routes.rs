//! Where a session sends its decisions: to the waiting hook call, or to the terminal.

use actix::prelude::*;

use crate::hook_reply::HookReply;
use crate::tmux::TmuxDelivery;

/// The delivery actors that a session hands its decisions to.
#[derive(Clone)]
pub struct Routes {
    /// Answers waiting hook calls.
    pub replies: Addr<HookReply>,
    /// Types into terminals.
    pub tmux: Addr<TmuxDelivery>,
}
