//! Effect of changes of a service: the same demands with the changes made, simulated again.

mod answer;
mod apply;
mod change;
mod mix;
mod names;
mod overlap;
mod words;

pub use answer::{Answer, Prospect, Response, prospect, what_if};
pub use apply::apply;
pub use change::{Amount, Change, Conversion};
pub use words::parse;
