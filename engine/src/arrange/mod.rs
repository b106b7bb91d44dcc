//! Floor 6: keys in the order of a class: each record goes on with a form of its key that orders as bytes (bytes::arranged).

pub mod arranging;
pub mod collecting;

pub use arranging::Arranging;
pub use collecting::ArrangingCollector;
