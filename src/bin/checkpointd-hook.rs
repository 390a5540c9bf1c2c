//! hook client
fn main() {}
