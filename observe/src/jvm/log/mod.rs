//! The JVM's own log (`-Xlog`), as it can be changed while the JVM runs: what it says of pauses, and what it is not to say.

mod pauses;
mod quiet;

pub use pauses::{Pause, PauseLog};
pub use quiet::{Quiet, warn_again};
