//! checkpointd
fn main() {}
