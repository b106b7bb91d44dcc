//! The front end of queries: SQL text in, rows out.
//!
//! ```text
//!   text --statements.rs--> statement --session/--> logical plan --native/--> plan of Yunti's executor --> rows
//!                                |                       `-- why not --> general executor (DataFusion's) --> rows
//!                                `-- tables/: names of files in it; store/: their bytes
//!   rows --output/--> terminal, text, files
//! ```
//!
//! Parser, planner, optimizer and general executor are DataFusion's (docs/decisions/sql.md). No other crate of the
//! workspace but the command sees it.

pub mod arrow;
mod catalog;
pub mod failure;
pub mod functions;
pub mod libraries;
pub mod native;
pub mod output;
pub mod rows;
pub mod runtime;
pub mod session;
pub mod statements;
pub mod store;
pub mod tables;

pub use datafusion;
