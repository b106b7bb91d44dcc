//! Rows of a plan that is being cut: everywhere, split, or reduced.

use std::sync::Arc;

use arrow_schema::DataType;
use yunti_base::{Code, Error, Result};
use yunti_sql_execute::operators::shared;
use yunti_sql_plan::wire::Input;
use yunti_sql_plan::{
    Bounds, Expression, Field, Morsel, MorselReader, Node, Operation, Scan, Statistics, Table, TableIndex, TablePlace,
    TableSource,
};

use super::Drive;

/// A fragment: a plan over the rows of one input, which is its input 0.
#[derive(Clone, Debug)]
pub struct Part {
    pub plan: Node,
    pub input: Input,
    pub drive: Drive,
}

/// How the rows of reduce tasks are divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spread {
    /// All are in one task.
    One,
    /// Divided by the hash of keys: for each key the columns that have its values. A key may have none any more.
    Hash(Vec<Vec<usize>>),
}

/// Rows of reduce tasks: a plan over the inputs that fragments send.
#[derive(Clone, Debug)]
pub struct Reduced {
    pub plan: Node,
    /// Fragments of each input, and the keys by which their rows are divided.
    pub sends: Vec<(Vec<Part>, Vec<Expression>)>,
    pub spread: Spread,
}

/// Rows of a plan.
#[derive(Clone, Debug)]
pub enum Rows {
    Everywhere(Node),
    Split(Vec<Part>),
    Reduced(Reduced),
}

/// Returns the place of a column behind an operator; None if it has none.
type Place<'p> = dyn Fn(usize) -> Option<usize> + 'p;

impl Rows {
    /// Puts an operator over the rows. `place`: where it passes on a column.
    pub fn map(self, of: impl Fn(Box<Node>) -> Node, place: &Place<'_>) -> Rows {
        match self {
            Rows::Everywhere(plan) => Rows::Everywhere(of(Box::new(plan))),
            Rows::Split(parts) => {
                let part = |part: Part| Part { plan: of(Box::new(part.plan)), ..part };
                Rows::Split(parts.into_iter().map(part).collect())
            }
            Rows::Reduced(reduced) => Rows::Reduced(reduced.map(of, place)),
        }
    }
}

impl Spread {
    /// Returns the spread behind an operator.
    pub fn moved(self, place: &Place<'_>) -> Spread {
        match self {
            Spread::One => Spread::One,
            Spread::Hash(keys) => {
                let moved = |columns: Vec<usize>| columns.into_iter().filter_map(place).collect();
                Spread::Hash(keys.into_iter().map(moved).collect())
            }
        }
    }

    /// Returns true if rows with equal keys are in one task.
    pub fn has_whole_groups(&self, keys: &[Expression]) -> bool {
        match self {
            Spread::One => true,
            Spread::Hash(own) => own.iter().all(|columns| keys.iter().any(|key| is_among(key, columns))),
        }
    }

    /// Returns true if rows are divided by these keys, in their order.
    pub fn is_by(&self, keys: &[Expression]) -> bool {
        match self {
            Spread::One => keys.is_empty(),
            Spread::Hash(own) => {
                own.len() == keys.len() && own.iter().zip(keys).all(|(columns, key)| is_among(key, columns))
            }
        }
    }

    /// Returns the spread of rows that have the columns of both: their keys are equal.
    pub fn and(self, other: Spread) -> Spread {
        match (self, other) {
            (Spread::Hash(own), Spread::Hash(other)) => {
                Spread::Hash(own.into_iter().zip(other).map(|(a, b)| a.into_iter().chain(b).collect()).collect())
            }
            (own, _) => own,
        }
    }
}

impl Reduced {
    /// Puts an operator over the rows.
    pub fn map(self, of: impl FnOnce(Box<Node>) -> Node, place: &Place<'_>) -> Reduced {
        Reduced { plan: of(Box::new(self.plan)), sends: self.sends, spread: self.spread.moved(place) }
    }

    /// Adds to the numbers of all inputs.
    pub fn shift(&mut self, by: u32) {
        renumber(&mut self.plan, &|number| number + by);
    }
}

/// Changes the numbers of the inputs of a plan.
pub fn renumber(plan: &mut Node, number: &dyn Fn(u32) -> u32) {
    if let Node::Scan(scan) = plan
        && let Some(TablePlace::Input(old)) = scan.table.source.place()
    {
        let new = number(old);
        let source = Arc::new(Placed { place: TablePlace::Input(new), index: None });
        let name = format!("input {new}");
        scan.table = Arc::new(Table { name, source, ..(*scan.table).clone() });
    }
    plan.inputs_mut().into_iter().for_each(|input| renumber(input, number));
}

/// Returns the number of a column that an expression is.
pub fn column_of(of: &Expression) -> Option<usize> {
    if let Operation::Column(column) = of.operation { Some(column) } else { None }
}

fn is_among(key: &Expression, columns: &[usize]) -> bool {
    column_of(key).is_some_and(|column| columns.contains(&column))
}

/// Returns the spread of rows by the hash of keys.
pub fn by_hash(keys: &[Expression]) -> Spread {
    Spread::Hash(keys.iter().map(|key| column_of(key).into_iter().collect()).collect())
}

/// Returns expressions for the columns of some types.
pub fn columns(types: &[DataType]) -> Vec<Expression> {
    types.iter().enumerate().map(|(n, of)| Expression::column(n, of.clone())).collect()
}

/// Returns a fragment's input without a column.
pub fn no_input() -> Input {
    Input::default()
}

/// Returns the scan of an input, and its columns.
pub fn input_scan(number: u32, types: &[DataType]) -> (Node, Vec<Field>) {
    let field = |(n, of): (usize, &DataType)| Field { name: format!("c{n}"), data_type: of.clone(), nullable: true };
    let fields: Vec<Field> = types.iter().enumerate().map(field).collect();
    let table = placed(format!("input {number}"), fields.clone(), None, TablePlace::Input(number));
    let columns = (0..fields.len()).collect();
    (Node::Scan(Scan { table, columns, conditions: Vec::new(), limit: None }), fields)
}

/// Returns a table that is nothing but its place.
pub fn placed(name: String, fields: Vec<Field>, rows: Option<u64>, place: TablePlace) -> Arc<Table> {
    let statistics = Statistics { rows, columns: Vec::new() };
    Arc::new(Table { name, fields, statistics, source: Arc::new(Placed { place, index: None }) })
}

/// Returns a table at another place, which keeps its index: look-ups of the plan are the same.
pub fn moved(table: &Table, place: TablePlace) -> Arc<Table> {
    let statistics = Statistics { rows: table.statistics.rows, columns: Vec::new() };
    let source = Arc::new(Placed { place, index: table.source.index() });
    Arc::new(Table { name: table.name.clone(), fields: table.fields.clone(), statistics, source })
}

/// A table whose rows only tasks have.
#[derive(Debug)]
struct Placed {
    place: TablePlace,
    index: Option<Arc<dyn TableIndex>>,
}

impl TableSource for Placed {
    fn morsels(&self, _: &[usize], _: &[Bounds]) -> Result<Vec<Morsel>> {
        Err(Error::new(Code::Internal, "the rows of a task are not here"))
    }

    fn open(&self, _: &Morsel, _: &[usize], _: &[Bounds]) -> Result<Box<dyn MorselReader>> {
        Err(Error::new(Code::Internal, "the rows of a task are not here"))
    }

    fn place(&self) -> Option<TablePlace> {
        Some(self.place.clone())
    }

    fn index(&self) -> Option<Arc<dyn TableIndex>> {
        self.index.clone()
    }

    fn extent(&self) -> String {
        let TablePlace::Files { format, .. } = &self.place else { return String::new() };
        let part = shared::Part::of_format(format).filter(|part| !part.is_whole());
        part.map_or(String::new(), |part| format!("part {} of {}", part.number + 1, part.count))
    }
}
