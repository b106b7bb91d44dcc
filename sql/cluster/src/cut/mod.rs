//! A plan as stages. Operators move to where the rows are, and rows move only where an operator needs all rows of a
//! key, or all rows.
//!
//! ```text
//!   rows are ..     what they are                                     an operator over them
//!   everywhere      of small tables, or of shared ones that are       runs in each task that needs its rows
//!                   looked up: any task makes all of them
//!   split           of map tasks, some in each                        runs in the map tasks, if rows alone suffice
//!   reduced         of reduce tasks: all, or all of a key, in one     runs in the reduce tasks
//! ```
//!
//! ```text
//!   rows.rs        the three kinds
//!   parts.rs       tables of several parts, as unions
//!   tables.rs      scans: which table is small, and what a fragment reads of one
//!   aggregate.rs   aggregates in two steps
//!   join.rs        joins: a small side everywhere, or both sides by their keys
//!   jobs.rs        stages of rows that are done
//! ```
//!
//! With one reduce task a query is one stage, whatever its operators are. Rows that must move from one reduce task to
//! another end a stage: a stock cluster has one shuffle in a job.

mod aggregate;
mod jobs;
mod join;
mod parts;
mod rows;
mod tables;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use yunti_base::{Code, Error, Result};
use yunti_sql_plan::wire::Stage;
use yunti_sql_plan::{Expression, Node};

use rows::{Part, Reduced, Rows, Spread, by_hash, input_scan};

/// Where the input of a fragment is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Drive {
    /// Files of a table.
    Files(Vec<PathBuf>),
    /// Rows of an earlier stage, by its number.
    Stage(usize),
    /// Nowhere: one task runs the fragment once.
    Once,
}

/// A stage with what its job needs.
#[derive(Clone, Debug)]
pub struct Job {
    pub stage: Stage,
    /// Input of each fragment.
    pub drives: Vec<Drive>,
    /// Reduce tasks; 0 without a reduction.
    pub reduces: u32,
    /// Files that each task gets, with their names there.
    pub shipped: Vec<(PathBuf, String)>,
}

/// Choices of a cut.
#[derive(Clone, Debug)]
pub struct Choices {
    /// Stored bytes of tables that every task may read whole.
    pub small_bytes: u64,
    /// Stored bytes of tables for each reduce task.
    pub reduce_bytes: u64,
    /// Reduce tasks; None: by the tables.
    pub reduces: Option<u32>,
    /// Stored bytes of a shared table for each task that scans a part of it.
    pub part_bytes: u64,
}

/// Reduce tasks that a query gets by the sizes of its tables, at most.
const REDUCES_MAX: u64 = 64;

impl Default for Choices {
    fn default() -> Choices {
        Choices { small_bytes: 32 << 20, reduce_bytes: 256 << 20, reduces: None, part_bytes: 128 << 20 }
    }
}

/// Returns the stored bytes of a file.
pub type Size<'f> = dyn Fn(&std::path::Path) -> Result<u64> + 'f;

/// Returns the jobs of a plan, in the order in which they run. The last gives the rows.
///
/// Errors: `Usage` for what tasks cannot do; those of `size`.
pub fn cut(plan: &Node, choices: &Choices, size: &Size<'_>) -> Result<Vec<Job>> {
    let plan = &parts::unfolded(plan.clone());
    let mut cutter = Cutter::new(choices, size);
    let bytes = cutter.moving_bytes(plan)?;
    let by_size = (bytes / choices.reduce_bytes.max(1) + 1).min(REDUCES_MAX) as u32;
    cutter.reduces = choices.reduces.unwrap_or(by_size).max(1);
    let rows = cutter.rows(plan)?;
    cutter.end(rows)?;
    Ok(cutter.jobs)
}

/// Returns true if tasks can read all tables of a plan whole.
pub fn is_small(plan: &Node, choices: &Choices, size: &Size<'_>) -> Result<bool> {
    let plan = &parts::unfolded(plan.clone());
    let cutter = Cutter::new(choices, size);
    Ok(cutter.bytes(plan)? <= cutter.small_bytes)
}

struct Cutter<'f> {
    small_bytes: u64,
    part_bytes: u64,
    /// Reduce tasks of rows that are divided by keys.
    reduces: u32,
    size: &'f Size<'f>,
    jobs: Vec<Job>,
}

impl<'f> Cutter<'f> {
    fn new(choices: &Choices, size: &'f Size<'f>) -> Cutter<'f> {
        let Choices { small_bytes, part_bytes, .. } = *choices;
        Cutter { small_bytes, part_bytes, reduces: 1, size, jobs: Vec::new() }
    }

    /// Returns the rows of a plan.
    fn rows(&mut self, node: &Node) -> Result<Rows> {
        if self.bytes(node)? <= self.small_bytes {
            return Ok(Rows::Everywhere(node.clone()));
        }
        match node {
            Node::Scan(scan) => self.scan(scan),
            Node::Values { .. } => Ok(Rows::Everywhere(node.clone())),
            Node::Filter { input, condition } => {
                let rows = self.rows(input)?;
                Ok(rows.map(|input| Node::Filter { input, condition: condition.clone() }, &|column| Some(column)))
            }
            Node::Project { input, expressions } => {
                let rows = self.rows(input)?;
                let place = |column| expressions.iter().position(|of| rows::column_of(of) == Some(column));
                Ok(rows.map(|input| Node::Project { input, expressions: expressions.clone() }, &place))
            }
            Node::Aggregate { input, keys, sets, aggregates } => {
                let rows = self.rows(input)?;
                self.aggregate(rows, keys, sets, aggregates)
            }
            Node::Join(join) => self.join(join),
            Node::Sort { input, keys, limit } => {
                let sort = |input, limit| Node::Sort { input, keys: keys.clone(), limit };
                let rows = self.rows(input)?;
                // The first rows of all are among the first rows of each task.
                self.in_one(rows, limit.map(|limit| move |input| sort(input, Some(limit))), |input| sort(input, *limit))
            }
            Node::Limit { input, skip, count } => {
                let rows = self.rows(input)?;
                let first = count.and_then(|count| count.checked_add(*skip));
                let first = first.map(|count| move |input| Node::Limit { input, skip: 0, count: Some(count) });
                self.in_one(rows, first, |input| Node::Limit { input, skip: *skip, count: *count })
            }
            Node::Union { inputs } => {
                let all = inputs.iter().map(|input| self.rows_of_one(input)).collect::<Result<Vec<_>>>()?;
                self.union(all)
            }
            Node::Recursive(_) | Node::Work { .. } => {
                let error = Error::new(Code::Usage, "a cluster cannot run a recursive query");
                Err(error.hint("leave out --on yarn"))
            }
            Node::Window(window) => {
                let rows = self.rows(&window.input)?;
                let of = |input| Node::Window(yunti_sql_plan::Window { input, ..window.clone() });
                match rows {
                    Rows::Everywhere(input) => Ok(Rows::Everywhere(of(Box::new(input)))),
                    rows => {
                        let reduced = self.by_keys(rows, &window.partition)?;
                        Ok(Rows::Reduced(reduced.map(of, &|column| Some(column))))
                    }
                }
            }
        }
    }

    /// Returns the rows of one of several inputs that are large together: files of a table are split, however small.
    fn rows_of_one(&mut self, node: &Node) -> Result<Rows> {
        match node {
            Node::Scan(scan) => self.scan(scan),
            Node::Project { input, expressions } if matches!(**input, Node::Scan(_)) => {
                let rows = self.rows_of_one(input)?;
                Ok(rows.map(|input| Node::Project { input, expressions: expressions.clone() }, &|_| None))
            }
            other => self.rows(other),
        }
    }

    /// Returns the rows of an operator that needs all rows in one task. `before` may run in each task first.
    fn in_one<B: FnOnce(Box<Node>) -> Node + Clone>(
        &mut self,
        rows: Rows,
        before: Option<B>,
        of: impl FnOnce(Box<Node>) -> Node,
    ) -> Result<Rows> {
        match rows {
            Rows::Everywhere(input) => Ok(Rows::Everywhere(of(Box::new(input)))),
            Rows::Reduced(reduced) if reduced.spread == Spread::One => {
                let plan = of(Box::new(reduced.plan));
                Ok(Rows::Reduced(Reduced { plan, ..reduced }))
            }
            rows => {
                let rows = match before {
                    Some(before) => rows.map(|input| before.clone()(input), &|_| None),
                    None => rows,
                };
                let parts = self.split(rows)?;
                let reduced = self.gather(parts, Vec::new())?;
                Ok(Rows::Reduced(Reduced { plan: of(Box::new(reduced.plan)), ..reduced }))
            }
        }
    }

    /// Returns rows in fragments: rows that reduce tasks have become the rows of a stage.
    fn split(&mut self, rows: Rows) -> Result<Vec<Part>> {
        match rows {
            Rows::Everywhere(plan) => Ok(vec![Part { plan, input: rows::no_input(), drive: Drive::Once }]),
            Rows::Split(parts) => Ok(parts),
            Rows::Reduced(reduced) => {
                let types = reduced.plan.types();
                let stage = self.stage(reduced)?;
                let (plan, fields) = input_scan(0, &types);
                let input = yunti_sql_plan::wire::Input { fields, ..rows::no_input() };
                Ok(vec![Part { plan, input, drive: Drive::Stage(stage) }])
            }
        }
    }

    /// Returns rows as reduce tasks get them: those with equal keys in one task, or all in one.
    fn gather(&mut self, parts: Vec<Part>, keys: Vec<Expression>) -> Result<Reduced> {
        let types = parts.first().map(|part| part.plan.types()).unwrap_or_default();
        let (plan, _) = input_scan(0, &types);
        let spread = match keys.is_empty() || self.reduces == 1 {
            true => Spread::One,
            false => by_hash(&keys),
        };
        Ok(Reduced { plan, sends: vec![(parts, keys)], spread })
    }

    /// Returns rows so that those with equal keys are in one task.
    fn by_keys(&mut self, rows: Rows, keys: &[Expression]) -> Result<Reduced> {
        match rows {
            Rows::Reduced(reduced) if reduced.spread.has_whole_groups(keys) => Ok(reduced),
            rows => {
                let parts = self.split(rows)?;
                self.gather(parts, keys.to_vec())
            }
        }
    }

    fn union(&mut self, all: Vec<Rows>) -> Result<Rows> {
        if all.iter().all(|rows| matches!(rows, Rows::Everywhere(_))) {
            let inputs =
                all.into_iter().filter_map(|rows| if let Rows::Everywhere(of) = rows { Some(of) } else { None });
            return Ok(Rows::Everywhere(Node::Union { inputs: inputs.collect() }));
        }
        let is_one = |rows: &Rows| matches!(rows, Rows::Reduced(reduced) if reduced.spread == Spread::One);
        if self.reduces > 1 || !all.iter().any(is_one) {
            let mut parts = Vec::new();
            for rows in all {
                parts.extend(self.split(rows)?);
            }
            return Ok(Rows::Split(parts));
        }
        let (mut sends, mut inputs) = (Vec::new(), Vec::new());
        for rows in all {
            let mut reduced = match rows {
                Rows::Everywhere(plan) => Reduced { plan, sends: Vec::new(), spread: Spread::One },
                Rows::Reduced(reduced) if reduced.spread == Spread::One => reduced,
                rows => {
                    let parts = self.split(rows)?;
                    self.gather(parts, Vec::new())?
                }
            };
            reduced.shift(sends.len() as u32);
            sends.extend(reduced.sends);
            inputs.push(reduced.plan);
        }
        Ok(Rows::Reduced(Reduced { plan: Node::Union { inputs }, sends, spread: Spread::One }))
    }

    /// Ends the plan: its rows are those of the last stage.
    fn end(&mut self, rows: Rows) -> Result<()> {
        match rows {
            Rows::Reduced(reduced) => self.stage(reduced).map(drop),
            rows => {
                let parts = self.split(rows)?;
                self.map_stage(parts)
            }
        }
    }
}
