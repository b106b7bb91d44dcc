//! Floor 6: a class's key order: each record is collected with an ordered key, whose bytes sort in the class's order.
//!
//! `bytes::ordered_record` is the layout of these records. `bytes::key_order` is the built-in order of plain keys.

pub mod collector;
pub mod ordered_keys;

pub use collector::KeyOrderCollector;
pub use ordered_keys::OrderedKeyEncoder;
