//! Values of calls for the rows of a segment, each in a time that grows with the rows alone.
//!
//! ```text
//!   ranks.rs      numbers of rows                     sums.rs      counts, exact sums
//!   places.rs     rows whose value is taken           sliding.rs   states that rows enter and leave
//!   extremes.rs   rows with the least or largest value
//! ```

pub mod extremes;
pub mod places;
pub mod ranks;
pub mod sliding;
pub mod sums;
