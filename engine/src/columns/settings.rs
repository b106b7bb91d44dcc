//! Settings of jobs over columns.

use crate::operator::TaskContext;

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
/// Names of the result's columns, those of the key first, a line each; and how many are those of the key.
pub const RESULTS: &str = "columns.results";
pub const RESULT_KEYS: &str = "columns.results.key";
/// Columns by which rows are grouped, a line each.
pub const BY: &str = "aggregate.by";
/// Aggregates: `sum(amount) as total, count`.
pub const OF: &str = "aggregate.of";
/// Columns by which `top` orders rows, a line each: `desc NAME` or `asc NAME`.
pub const TOP_BY: &str = "top.by";
/// Types in which the keys of both sides are compared, a line each.
pub const JOIN_KEY_TYPES: &str = "join.key.types";
/// Settings of the left side of a join of tables.
pub const JOIN_LEFT: JoinSide =
    JoinSide { names: "join.left.names", types: "join.left.types", keys: "join.left.keys", rest: "join.left.rest" };
/// Settings of the right side.
pub const JOIN_RIGHT: JoinSide =
    JoinSide { names: "join.right.names", types: "join.right.types", keys: "join.right.keys", rest: "join.right.rest" };
/// True if a null is written as `\N`, and all columns are escaped.
pub const MARK_NULLS: &str = "columns.mark.nulls";
/// True if records that break their format are skipped, instead of failing.
pub const SKIP_BAD_RECORDS: &str = "skip.bad.records";

/// Settings of one side of a join of tables.
pub struct JoinSide {
    /// Names of the columns that are read, a line each, in their order.
    pub names: &'static str,
    /// Their types, a line each.
    pub types: &'static str,
    /// Names of the key columns, a line each.
    pub keys: &'static str,
    /// Names of the other columns of the output, a line each.
    pub rest: &'static str,
}

/// Returns true if a setting is true. The plan has checked that it is true or false.
pub fn is_true(context: &TaskContext, key: &str) -> bool {
    context.setting(key).is_some_and(|value| value.trim() == "true")
}
