//! What each fuzz target checks of any bytes. The engine's tests replay the committed corpora through the same functions.

pub mod decoders;
pub mod job_file;
pub mod run_block;
