//! Reading files that an agent or a project names ([`journal::named_file`]), also from their end.

mod backward;

pub use journal::named_file::{Links, beginning, bytes, open, open_own, own, put_aside, text};

pub(crate) use backward::Backward;

#[cfg(test)]
mod tests;
