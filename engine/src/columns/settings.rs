//! Settings of jobs over columns.

/// Names of the columns in a record's value, a line each, in their order.
pub const NAMES: &str = "columns.names";
/// Their types, a line each, as Arrow spells them.
pub const TYPES: &str = "columns.types";
/// Types that the user names, as `name=Type`, a line each.
pub const TYPES_GIVEN: &str = "columns.type";
/// Condition that rows must meet.
pub const WHERE: &str = "columns.where";
/// Columns and expressions to select: `city, amount * 2 as double`.
pub const SELECT: &str = "columns.select";
/// Columns by which rows are grouped, a line each.
pub const BY: &str = "aggregate.by";
/// Aggregates: `sum(amount) as total, count`.
pub const OF: &str = "aggregate.of";
/// True if a null is written as `\N`, and all columns are escaped.
pub const MARK_NULLS: &str = "columns.mark.nulls";
