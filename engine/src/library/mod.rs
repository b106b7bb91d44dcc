//! Floor 8: content of the engine: classes by name (`Yunti.X`), generators of data and their validators.

pub mod applications;
pub mod classes;
mod field_order;
pub mod fold;
pub mod generate;
mod hadoop;
pub mod identity;
mod inverse;
mod key_directories;
pub mod settings;
pub mod tables;
pub mod tokenize;
pub mod validate;

pub use classes::builtin_classes;
