//! Calls of a replay: their bytes, their order, their connections and their outcome.

pub mod feed;
pub mod order;
pub mod outcome;
pub mod player;
pub mod request;
