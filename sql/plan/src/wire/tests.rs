//! Random plans, there and back; and damaged bytes.

use std::sync::Arc;

use arrow_schema::{DataType, TimeUnit};
use yunti_base::{Code, Error, Result};
use yunti_engine::columns::vector::Value;
use yunti_engine::env::random::Random;

use super::stage::Route;
use super::*;
use crate::aggregate::Aggregate;
use crate::expression::{Arithmetic, Comparison, Expression, Foreign, Operation};
use crate::node::{Join, JoinKind, Scan, SortKey, Window};
use crate::table::{Bounds, Morsel, MorselReader, Statistics, TableSource};
use crate::window::{Frame, FrameEnd, FrameUnit, Interval, Offset, WindowCall, WindowFunction};

/// A table that is nothing but its place.
#[derive(Debug)]
struct Nowhere(TablePlace);

impl TableSource for Nowhere {
    fn morsels(&self, _: &[usize], _: &[Bounds]) -> Result<Vec<Morsel>> {
        Ok(Vec::new())
    }
    fn open(&self, _: &Morsel, _: &[usize], _: &[Bounds]) -> Result<Box<dyn MorselReader>> {
        Err(Error::new(Code::Internal, "there is no row"))
    }
    fn place(&self) -> Option<TablePlace> {
        Some(self.0.clone())
    }
}

fn open(of: TableName) -> Result<Arc<Table>> {
    let statistics = Statistics { rows: of.rows, columns: Vec::new() };
    Ok(Arc::new(Table { name: of.name, fields: of.fields, statistics, source: Arc::new(Nowhere(of.place)) }))
}

struct Draw(Random);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        (self.0.next_u64() % n as u64) as usize
    }

    fn flag(&mut self) -> bool {
        self.below(2) == 0
    }

    fn data_type(&mut self) -> DataType {
        let unit =
            [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond][self.below(4)];
        match self.below(12) {
            0 => DataType::Boolean,
            1 => DataType::Int32,
            2 => DataType::Int64,
            3 => DataType::UInt64,
            4 => DataType::Float64,
            5 => DataType::Utf8,
            6 => DataType::Decimal128(15, 2),
            7 => DataType::Decimal128(38, -3),
            8 => DataType::Date32,
            9 => DataType::Timestamp(unit, Some("Asia/Tokyo".into())),
            10 => DataType::Timestamp(unit, None),
            _ => DataType::Time64(unit),
        }
    }

    fn value(&mut self) -> Value {
        match self.below(6) {
            0 => Value::Null,
            1 => Value::Bool(self.flag()),
            2 => Value::Int(self.0.next_u64() as i64),
            3 => Value::Float(f64::from_bits(0x3ff0_0000_0000_0000 | self.0.next_u64() >> 12)),
            4 => Value::Decimal(i128::from(self.0.next_u64()) << 60),
            _ => Value::Bytes((0..self.below(9)).map(|_| self.0.next_u64() as u8).collect()),
        }
    }

    fn expression(&mut self, columns: usize, depth: usize) -> Expression {
        let data_type = self.data_type();
        let operation = match self.below(if depth == 0 { 2 } else { 15 }) {
            0 if columns > 0 => Operation::Column(self.below(columns)),
            0 | 1 => Operation::Literal(self.value()),
            2 => Operation::Compare(Comparison::Less, Box::new([(), ()].map(|()| self.expression(columns, depth - 1)))),
            3 => Operation::Arithmetic(
                Arithmetic::Divide,
                Box::new([(), ()].map(|()| self.expression(columns, depth - 1))),
            ),
            4 => Operation::Negate(Box::new(self.expression(columns, depth - 1))),
            5 => Operation::And((0..self.below(4)).map(|_| self.expression(columns, depth - 1)).collect()),
            6 => Operation::Or((0..self.below(4)).map(|_| self.expression(columns, depth - 1)).collect()),
            7 => Operation::Not(Box::new(self.expression(columns, depth - 1))),
            8 => Operation::IsNull(Box::new(self.expression(columns, depth - 1))),
            9 => Operation::Case {
                branches: (0..self.below(3))
                    .map(|_| (self.expression(columns, depth - 1), self.expression(columns, depth - 1)))
                    .collect(),
                otherwise: self.flag().then(|| Box::new(self.expression(columns, depth - 1))),
            },
            10 => Operation::Cast { value: Box::new(self.expression(columns, depth - 1)), lenient: self.flag() },
            11 => Operation::In {
                value: Box::new(self.expression(columns, depth - 1)),
                list: (0..self.below(5)).map(|_| self.value()).collect(),
                negated: self.flag(),
            },
            12 => Operation::Like {
                value: Box::new(self.expression(columns, depth - 1)),
                pattern: "云%".into(),
                escape: self.flag().then_some('\\'),
                ignore_case: self.flag(),
                negated: self.flag(),
            },
            13 => {
                let function = expressions::FUNCTIONS[self.below(expressions::FUNCTIONS.len())];
                Operation::Call(function, (0..self.below(3)).map(|_| self.expression(columns, depth - 1)).collect())
            }
            _ => Operation::Scalar(Arc::new(self.node(depth - 1))),
        };
        Expression { data_type, operation }
    }

    fn expressions(&mut self, columns: usize) -> Vec<Expression> {
        (0..self.below(4)).map(|_| self.expression(columns, 3)).collect()
    }

    fn scan(&mut self) -> Node {
        let fields: Vec<Field> = (0..self.below(5) + 1)
            .map(|n| Field { name: format!("c{n}"), data_type: self.data_type(), nullable: self.flag() })
            .collect();
        let place = match self.flag() {
            true => TablePlace::Input(self.below(9) as u32),
            false => TablePlace::Files { format: "parquet".into(), paths: vec!["a/b.parquet".into(), "云".into()] },
        };
        let rows = self.flag().then_some(77);
        let columns = (0..self.below(4)).map(|_| self.below(fields.len())).collect();
        let conditions = self.expressions(fields.len());
        let table = open(TableName { name: "t".into(), place, fields, rows }).unwrap();
        Node::Scan(Scan { table, columns, conditions, limit: self.flag().then_some(5) })
    }

    fn node(&mut self, depth: usize) -> Node {
        if depth == 0 {
            return match self.flag() {
                true => self.scan(),
                false => {
                    let types: Vec<DataType> = (0..self.below(3)).map(|_| self.data_type()).collect();
                    let rows = (0..self.below(3)).map(|_| types.iter().map(|_| self.value()).collect()).collect();
                    Node::Values { types, rows }
                }
            };
        }
        let input = Box::new(self.node(depth - 1));
        let columns = input.types().len();
        let keys = |draw: &mut Draw| {
            let keys = draw.expressions(columns).into_iter();
            keys.map(|value| SortKey { value, descending: draw.flag(), nulls_first: draw.flag() }).collect()
        };
        match self.below(9) {
            0 => Node::Filter { condition: self.expression(columns, 3), input },
            1 => Node::Project { expressions: self.expressions(columns), input },
            2 => {
                let keys = self.expressions(columns);
                let sets = if keys.is_empty() { Vec::new() } else { vec![vec![0], (0..keys.len()).collect()] };
                let aggregates = (0..self.below(4)).map(|_| Aggregate {
                    function: expressions::AGGREGATES[self.below(expressions::AGGREGATES.len())],
                    argument: self.flag().then(|| self.expression(columns, 2)),
                    distinct: self.flag(),
                    condition: self.flag().then(|| self.expression(columns, 2)),
                    data_type: self.data_type(),
                    foreign: None,
                });
                Node::Aggregate { aggregates: aggregates.collect(), input, keys, sets }
            }
            3 => {
                let right = Box::new(self.node(depth - 1));
                let sides = (columns, right.types().len());
                let keys = (0..self.below(3)).map(|_| (self.expression(sides.0, 2), self.expression(sides.1, 2)));
                Node::Join(Join {
                    keys: keys.collect(),
                    left: input,
                    right,
                    kind: [JoinKind::Inner, JoinKind::LeftMark, JoinKind::RightAnti][self.below(3)],
                    nulls_equal: self.flag(),
                    condition: self.flag().then(|| self.expression(sides.0 + sides.1, 2)),
                    build_left: self.flag(),
                })
            }
            4 => Node::Sort { keys: keys(self), input, limit: self.flag().then_some(10) },
            5 => Node::Limit { input, skip: self.below(1000), count: self.flag().then_some(1) },
            6 => {
                let other = (*input).clone();
                Node::Union { inputs: vec![*input, other] }
            }
            7 => {
                let partition = self.expressions(columns);
                let order = keys(self);
                let calls = (0..self.below(3)).map(|_| self.window_call(columns)).collect();
                Node::Window(Window { input, partition, order, calls })
            }
            _ => *input,
        }
    }

    fn window_call(&mut self, columns: usize) -> WindowCall {
        let function = [
            WindowFunction::RowNumber,
            WindowFunction::Rank,
            WindowFunction::DenseRank,
            WindowFunction::PercentRank,
            WindowFunction::CumeDist,
            WindowFunction::Ntile(u64::MAX),
            WindowFunction::Lag(i64::MIN),
            WindowFunction::FirstValue,
            WindowFunction::LastValue,
            WindowFunction::NthValue(-2),
            WindowFunction::Aggregate(expressions::AGGREGATES[self.below(expressions::AGGREGATES.len())]),
        ][self.below(11)];
        let frame = Frame {
            unit: [FrameUnit::Rows, FrameUnit::Range, FrameUnit::Groups][self.below(3)],
            start: self.frame_end(),
            end: self.frame_end(),
        };
        WindowCall {
            function,
            arguments: self.expressions(columns),
            condition: self.flag().then(|| self.expression(columns, 2)),
            distinct: self.flag(),
            ignores_nulls: self.flag(),
            frame,
            data_type: self.data_type(),
        }
    }

    fn frame_end(&mut self) -> FrameEnd {
        let interval = Interval { months: -1, days: i32::MIN, nanos: 1 << 40 };
        match self.below(6) {
            0 => FrameEnd::UnboundedPreceding,
            1 => FrameEnd::Preceding(Offset::Value(self.value())),
            2 => FrameEnd::Preceding(Offset::Interval(interval)),
            3 => FrameEnd::CurrentRow,
            4 => FrameEnd::Following(Offset::Value(self.value())),
            _ => FrameEnd::UnboundedFollowing,
        }
    }

    fn stage(&mut self) -> Stage {
        let fragment = |draw: &mut Draw| {
            let plan = draw.node(3);
            let columns = plan.types().len();
            let route = draw.flag().then(|| Route { input: 0, keys: draw.expressions(columns) });
            let input = Input { format: "orc".into(), condition: "a\t<\t5".into(), ..Input::default() };
            Fragment { input, plan, route }
        };
        let fragments = (0..self.below(3)).map(|_| fragment(self)).collect();
        let inputs = vec![vec![self.data_type()], Vec::new()];
        Stage { tag: 3, fragments, reduction: Some(Reduction { plan: self.node(4), inputs }) }
    }
}

fn on_a_large_stack(f: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(256 << 20).spawn(f).unwrap().join().unwrap();
}

#[test]
fn random_stages_come_back() {
    on_a_large_stack(|| {
        let mut draw = Draw(Random::new(27));
        for _ in 0..500 {
            let stage = draw.stage();
            let bytes = stage.to_bytes().unwrap();
            let back = Stage::of_bytes(&bytes, &mut open).unwrap();
            assert_eq!(format!("{stage:?}"), format!("{back:?}"));
        }
    });
}

#[test]
fn damaged_bytes_are_errors() {
    on_a_large_stack(|| {
        let mut draw = Draw(Random::new(28));
        for _ in 0..60 {
            let bytes = draw.stage().to_bytes().unwrap();
            let mut wrong = bytes.clone();
            let at = draw.below(wrong.len());
            wrong[at] ^= 1 << draw.below(8);
            assert_eq!(Stage::of_bytes(&wrong, &mut open).unwrap_err().code(), Code::Corrupt);
            assert!(Stage::of_bytes(&bytes[..at], &mut open).is_err());
            // Bytes whose checksum is right may be another stage, but never a panic.
            for _ in 0..200 {
                let mut wrong = bytes[..bytes.len() - 4].to_vec();
                for _ in 0..=draw.below(3) {
                    let at = draw.below(wrong.len());
                    wrong[at] = draw.0.next_u64() as u8;
                }
                if let Err(e) = Stage::of_checked(&wrong, &mut open) {
                    assert_eq!(e.code(), Code::Corrupt);
                }
            }
        }
    });
}

#[test]
fn depth_has_a_limit() {
    on_a_large_stack(|| {
        let deep = |levels: usize| {
            let mut of = Expression::column(0, DataType::Int64);
            for _ in 0..levels {
                of = Expression::new(DataType::Int64, Operation::Negate(Box::new(of)));
            }
            let mut to = Writer::default();
            expressions::put(&of, &mut to).unwrap();
            expressions::take(&mut Reader::new(&to.0), 1, &mut open).map(drop)
        };
        assert_eq!(deep(5000), Ok(()));
        assert_eq!(deep(7000).unwrap_err().code(), Code::Corrupt);
    });
}

#[test]
fn what_cannot_travel_is_named() {
    #[derive(Debug)]
    struct Mine;
    impl Foreign for Mine {
        fn name(&self) -> &str {
            "mine"
        }
        fn evaluate(
            &self,
            _: &[Arc<yunti_engine::columns::vector::Vector>],
            _: usize,
        ) -> Result<yunti_engine::columns::vector::Vector> {
            Err(Error::new(Code::Internal, "never"))
        }
    }
    let call = Expression::new(DataType::Int64, Operation::Foreign(Arc::new(Mine), Vec::new()));
    let error = expressions::put(&call, &mut Writer::default()).unwrap_err();
    assert_eq!((error.code(), error.to_string()), (Code::Usage, "a task of a cluster lacks the function mine".into()));
    assert!(types::put(&DataType::Decimal256(50, 2), &mut Writer::default()).is_err());
}
