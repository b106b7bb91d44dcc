//! Store: a folder for each watch with its settings and its records, one file each (docs/formats/watch.md).
//!
//! ```text
//!   STORE/measuring.lock                one measurement at a time on this machine
//!   STORE/<watch>/watch.json            settings
//!   STORE/<watch>/0000000042.record     gzip of three JSON lines
//!   STORE/<watch>/damaged/              records that `repair` set aside
//! ```

mod folder;
mod history;
mod settings;

pub use folder::{Store, default_folder};
pub use history::History;
pub use settings::Settings;
