//! Answer of `yunti capacity`: as text, as JSON, and as a page.
//!
//! ```text
//!   text (terminal)   page/ (HTML)   document (JSON)
//!        `-- marks, resources, kinds, names --'
//! ```

mod document;
mod kinds;
mod marks;
mod names;
mod page;
mod resources;
mod text;
mod tried;

use yunti_model::advice::Advice;
use yunti_model::curve::Curve;
use yunti_model::demands::Demands;

pub use page::page;
pub use text::text;
pub use tried::{Tried, predicted};

/// Answer: what was measured, and what follows from it.
pub struct Report<'a> {
    pub demands: &'a Demands,
    pub curve: &'a Curve,
    pub advice: &'a Advice,
    pub skips: &'a [String],
    /// Numbers of clients that were tried with load of our own.
    pub tried: &'a [Tried],
}
