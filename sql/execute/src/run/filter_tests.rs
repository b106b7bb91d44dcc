//! Plans over tables, whose scans take filters and whose morsels may have keys of their own, against the same plans
//! over rows in the query, which have neither.

use std::sync::Arc;

use arrow_schema::DataType;
use yunti_base::Result;
use yunti_engine::columns::vector::Value;
use yunti_engine::env::random::Random;
use yunti_sql_plan::{
    Aggregate, AggregateFunction, Batch, Bounds, Comparison, Expression, Field, Join, Morsel, MorselReader, Node,
    Operation, Scan, SortKey, Statistics, Table, TableSource,
};

use crate::operators::join::tests::KINDS;
use crate::pipeline::rows::Once;
use crate::store::random::{Row, below, column, context, rows, text, vector};

/// Batches, each of them a morsel. `is_ordered`: the first column has no null, and ascends.
#[derive(Debug)]
struct Memory {
    batches: Vec<Batch>,
    is_ordered: bool,
}

impl TableSource for Memory {
    fn morsels(&self, _: &[usize], _: &[Bounds]) -> Result<Vec<Morsel>> {
        let of = |(unit, batch): (u64, &Batch)| Morsel { file: 0, unit, rows: batch.rows as u64, bytes: 0 };
        Ok((0..).zip(&self.batches).map(of).collect())
    }

    fn open(&self, morsel: &Morsel, columns: &[usize], _: &[Bounds]) -> Result<Box<dyn MorselReader>> {
        Ok(Box::new(Once(Some(self.batches[morsel.unit as usize].project(columns)))))
    }

    fn own_range(&self, morsel: &Morsel, column: usize) -> Option<(i64, i64)> {
        let batch = &self.batches[morsel.unit as usize];
        let value = |row| match batch.columns[0].value(row) {
            Value::Int(value) => value,
            other => panic!("{other:?} is no number"),
        };
        (self.is_ordered && column == 0).then(|| (value(0), value(batch.rows - 1)))
    }
}

fn number(n: usize) -> Expression {
    column(n, &DataType::Int64)
}

/// Returns a table and its rows as leaves of two plans.
fn leaf(random: &mut Random) -> [Node; 2] {
    let types = vec![DataType::Int64; 1 + below(random, 3)];
    let (count, distinct) = (below(random, 60), [5, 20, 100][below(random, 3)]);
    let mut all: Vec<Row> = rows(random, &types, count, distinct, 5);
    let is_ordered = below(random, 2) == 0;
    if is_ordered {
        let first = |row: &Row| if let Value::Int(value) = row[0] { Some(value) } else { None };
        all.retain(|row| first(row).is_some());
        all.sort_by_key(first);
    }
    let mut batches = Vec::new();
    for part in all.chunks(1 + below(random, 30)) {
        let columns = (0..types.len()).map(|n| vector(random, &types[n], part.iter().map(|row| &row[n]))).collect();
        batches.push(Batch::of(columns, part.len()));
    }
    let field = |n: usize| Field { name: format!("c{n}"), data_type: DataType::Int64, nullable: true };
    let table = Table {
        name: "t".into(),
        fields: (0..types.len()).map(field).collect(),
        statistics: Statistics::default(),
        source: Arc::new(Memory { batches, is_ordered }),
    };
    let scan =
        Scan { table: Arc::new(table), columns: (0..types.len()).collect(), conditions: Vec::new(), limit: None };
    [Node::Scan(scan), Node::Values { types, rows: all }]
}

/// Returns the same plan over tables and over rows.
fn plans(random: &mut Random, depth: usize) -> [Node; 2] {
    let choice = if depth == 0 { 0 } else { below(random, 12) };
    if choice == 0 {
        return leaf(random);
    }
    let input = plans(random, depth - 1);
    let columns = input[0].types();
    let numbers: Vec<usize> = (0..columns.len()).filter(|&n| columns[n] == DataType::Int64).collect();
    let one = numbers[below(random, numbers.len())];
    match choice {
        1 => {
            let literal = Expression::new(DataType::Int64, Operation::Literal(Value::Int(below(random, 20) as i64)));
            let sides = Box::new([number(one), literal]);
            let condition = Expression::new(DataType::Boolean, Operation::Compare(Comparison::GreaterOrEqual, sides));
            input.map(|input| Node::Filter { input: Box::new(input), condition: condition.clone() })
        }
        2 => {
            let of: Vec<usize> = (0..1 + below(random, 3)).map(|_| numbers[below(random, numbers.len())]).collect();
            let expressions: Vec<Expression> = of.into_iter().map(number).collect();
            input.map(|input| Node::Project { input: Box::new(input), expressions: expressions.clone() })
        }
        3 => {
            let keys: Vec<Expression> =
                (0..1 + below(random, 2)).map(|_| number(numbers[below(random, numbers.len())])).collect();
            let count = Aggregate {
                function: AggregateFunction::Count,
                argument: None,
                distinct: false,
                condition: None,
                data_type: DataType::Int64,
                foreign: None,
            };
            input.map(|input| Node::Aggregate {
                input: Box::new(input),
                keys: keys.clone(),
                sets: Vec::new(),
                aggregates: vec![count.clone()],
            })
        }
        4 => {
            let limit = [None, Some(7)][below(random, 2)];
            let keys = vec![SortKey { value: number(one), descending: false, nulls_first: false }];
            input.map(|input| Node::Sort { input: Box::new(input), keys: keys.clone(), limit })
        }
        5 => {
            let cut = |node: Node| Node::Project { input: Box::new(node), expressions: vec![number(one)] };
            let other = plans(random, depth - 1).map(|node| {
                let first = node.types().iter().position(|of| *of == DataType::Int64).unwrap();
                Node::Project { input: Box::new(node), expressions: vec![number(first)] }
            });
            let [a, b] = input;
            let [c, d] = other;
            [Node::Union { inputs: vec![cut(a), c] }, Node::Union { inputs: vec![cut(b), d] }]
        }
        _ => {
            let other = plans(random, depth - 1);
            let kind = KINDS[below(random, 9)];
            let right = other[0].types().iter().position(|of| *of == DataType::Int64).unwrap();
            let mut keys = vec![(number(one), number(right))];
            if below(random, 3) == 0 {
                keys.push((number(numbers[0]), number(right)));
            }
            let (nulls_equal, build_left) = (below(random, 5) == 0, below(random, 2) == 0);
            let pair = |left: Node, right: Node| {
                Node::Join(Join {
                    left: Box::new(left),
                    right: Box::new(right),
                    kind,
                    keys: keys.clone(),
                    nulls_equal,
                    condition: None,
                    build_left,
                })
            };
            let [a, b] = input;
            let [c, d] = other;
            [pair(a, c), pair(b, d)]
        }
    }
}

#[test]
fn filters_change_no_result() {
    let mut random = Random::new(41);
    let mut filtered = 0;
    for round in 0..3000 {
        let depth = 1 + below(&mut random, 4);
        let both = plans(&mut random, depth);
        let threads = 1 + below(&mut random, 3);
        let [have, want] = both.map(|plan| {
            let mut all = Vec::new();
            crate::run(&plan, &context(threads, 1 << 28), &mut |batch: Batch| {
                assert!(all.len() < 1 << 20, "round {round}: an explosion of rows");
                all.extend((0..batch.rows).map(|row| text(&batch.columns.iter().map(|of| of.value(row)).collect())));
                Ok(())
            })
            .unwrap();
            all.sort();
            filtered += all.len();
            all
        });
        assert_eq!(have, want, "round {round}");
    }
    assert!(filtered > 10_000, "plans have rows");
}
