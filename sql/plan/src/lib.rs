//! Physical plans of queries: what a front end makes of SQL text and an executor runs. It names no front end and no
//! executor, so that each can change alone, and a plan can travel.
//!
//! ```text
//!   table.rs        rows that come from files or from another system, a morsel at a time
//!   expression.rs   values computed from the columns of a row
//!   aggregate.rs    values computed from the rows of a group
//!   window.rs       calls of windows, and their frames
//!   node.rs         operators: each takes the rows of its inputs and gives rows
//!   lookup.rs       scans and joins that need only some keys of a table with an index
//!   order/          order of joins
//!   kind.rs         shape of a type's values in memory
//!   wire/           plans as bytes, for other processes
//! ```

pub mod aggregate;
pub mod batch;
pub mod display;
pub mod expression;
pub mod kind;
pub mod lookup;
pub mod node;
pub mod order;
pub mod table;
pub mod window;
pub mod wire;

pub use aggregate::{Aggregate, AggregateFunction, ForeignAggregate, ForeignCall};
pub use batch::Batch;
pub use expression::{Arithmetic, Comparison, Expression, Foreign, Function, Operation, ValuePlan};
pub use kind::kind_of;
pub use node::{Join, JoinKind, Node, Recursive, Scan, SortKey, Window};
pub use table::{
    Bounds, Field, Found, Morsel, MorselReader, PartColumn, Statistics, Table, TableIndex, TablePart, TablePlace,
    TableSource, ValueSet,
};
pub use window::{Frame, FrameEnd, FrameUnit, Interval, Offset, WindowCall, WindowFunction};
