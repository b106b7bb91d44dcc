//! Operations whose value is true, false or null.
//!
//! ```text
//!   compare.rs      two vectors, or a vector and a value
//!   logic.rs        `and`, `or`, `not`, `is null`
//!   membership.rs   `in` for a list of values
//!   like.rs         patterns of texts
//! ```

pub mod compare;
pub mod like;
pub mod logic;
pub mod membership;
