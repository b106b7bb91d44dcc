//! ORC, version 1: stripes as units, columns by name or path. A decoder and an encoder of our own
//! (docs/decisions/columns.md); names are those of the specification.
//!
//! ```text
//!   'ORC' | stripe: index streams, data streams, its footer | .. | statistics | footer | postscript | its length: u8
//! ```

#[cfg(any(test, fuzzing))]
pub mod check;
mod columns;
mod decode;
mod describe;
mod encode;
mod failure;
mod proto;
mod schema;
pub mod source;
mod store;
mod stripe;
mod tail;
pub mod writer;
