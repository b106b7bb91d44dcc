//! A table from rows, within a memory budget and by several threads.
//!
//! ```text
//!   text/          CSV and lines of JSON -> values
//!   table.rs       rows of another table
//!   dictionary.rs  texts of a dict column -> numbers
//!   gather.rs      values -> rows, hashed, in 256 partitions by the first bits of the hash
//!   partitions.rs  rows in memory, and beyond the budget in a file without a name
//!   sorted.rs      one partition in the order of hashes; rows of one key
//!   parts.rs       sorted rows -> pilots, rows in the order of slots
//!   order.rs       keys in their order, by runs beyond the budget
//!   output.rs      the file, without a name until it is whole
//!   write.rs       all of these, in this order
//! ```

mod dictionary;
mod gather;
mod order;
mod output;
mod partitions;
mod parts;
mod sorted;
pub mod table;
pub mod text;
mod write;

pub use gather::{Feeder, Gather};
pub use write::{Built, write};

/// Rows that stay if a key has several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// Several rows of a key are an error.
    #[default]
    Refuse,
    KeepFirst,
    KeepLast,
    /// All of them, as a list.
    List,
}

/// How a table is built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    pub duplicates: Duplicates,
    /// Write the order of keys too.
    pub is_sorted: bool,
    /// Memory for rows and buffers; rows beyond it are in a temporary file beside the table.
    pub budget_bytes: u64,
    pub threads: usize,
    /// Number of the part to build, from 1, and of the parts that the keys are divided into; zeros for all keys.
    pub shard: (u32, u32),
}

impl Default for Settings {
    fn default() -> Settings {
        let duplicates = Duplicates::Refuse;
        Settings { duplicates, is_sorted: false, budget_bytes: 1 << 30, threads: 2, shard: (0, 0) }
    }
}
