//! The `yunti` command: parse, act, report; all work is in the engine.
fn main() {}
