//! Plans as bytes, so that another process can run a part of a query (docs/formats/sql-stage.md is the layout).
//!
//! ```text
//!   bytes.rs         numbers, texts and lists; the only place that reads damaged bytes
//!   types.rs         types of values, and values
//!   expressions.rs   expressions and aggregates
//!   nodes.rs         operators, and tables by their places
//!   windows.rs       windows and their frames
//!   stage.rs         the work of one job: fragments, and the rows that pass between them
//! ```
//!
//! Bytes are never trusted: a number that no variant has, a column that the input has not, and a depth that no query
//! has are errors of code `Corrupt`.

mod bytes;
mod expressions;
mod nodes;
pub mod stage;
#[cfg(test)]
mod tests;
mod types;
mod windows;

use std::sync::Arc;

use yunti_base::{Code, Error, Result};

pub use bytes::{Reader, Writer};
pub use stage::{Fragment, Input, Reduction, Route, Stage};

use crate::node::Node;
use crate::table::{Field, Table, TablePlace};

/// A table as a plan names it: its place, and the columns that it must have.
#[derive(Clone, Debug, PartialEq)]
pub struct TableName {
    pub name: String,
    pub place: TablePlace,
    pub fields: Vec<Field>,
    /// Rows, if their number is known.
    pub rows: Option<u64>,
}

/// Opens the tables of a plan.
pub type Open<'f> = dyn FnMut(TableName) -> Result<Arc<Table>> + 'f;

/// Appends a plan.
///
/// Errors: `Usage` for a function or a table that no other process knows, with its name.
pub fn put_node(node: &Node, to: &mut Writer) -> Result<()> {
    nodes::put(node, to)
}

/// Takes a plan, whose tables `open` opens. Errors: `Corrupt`; those of `open`.
pub fn take_node(from: &mut Reader<'_>, open: &mut Open<'_>) -> Result<Node> {
    nodes::take(from, open)
}

/// Returns the error for bytes that are no plan.
fn damaged(what: &str) -> Error {
    Error::new(Code::Corrupt, format!("the plan of a task is damaged: {what}"))
}

/// Returns the error for a part of a plan that cannot leave this process.
fn stays(what: &str) -> Error {
    Error::new(Code::Usage, format!("a task of a cluster lacks {what}"))
}
