//! Floor 8: what comes with the engine: classes by name (`Yunti.X`), ready jobs, generators of data and their validators.

pub mod classes;
mod columns;
mod distinct;
pub mod fold;
pub mod generate;
mod grep;
pub mod identity;
mod inverted_index;
mod join;
mod k_means;
mod page_rank;
mod sample;
mod settings;
pub mod tokenize;
mod top;
pub mod validate;
mod word_lengths;

pub use classes::builtin_classes;
