//! Time of an aggregate like TPC-H's Q1 over batches in memory, by kernels and by code, and of its compilation.
//!
//!     cargo run --release -p yunti-sql-generate --example pricing [MILLION ROWS]

use std::sync::Arc;
use std::time::Instant;

use arrow_schema::DataType;
use yunti_base::{Cancel, Result};
use yunti_engine::columns::vector::{Bytes, Data, Value, Vector};
use yunti_engine::env::Env;
use yunti_engine::memory::Budget;
use yunti_sql_execute::Context;
use yunti_sql_execute::code::{Compilation, Mode};
use yunti_sql_generate::Generator;
use yunti_sql_plan::{
    Aggregate, AggregateFunction, Arithmetic, Batch, Bounds, Comparison, Expression, Field, Morsel, MorselReader, Node,
    Operation, Scan, Statistics, Table, TableSource,
};

const ROWS: usize = 8192;
const MONEY: DataType = DataType::Decimal128(15, 2);

/// The same batch, as often as it takes.
#[derive(Debug)]
struct Repeated(Batch, usize);

struct Reader(Batch, usize);

impl MorselReader for Reader {
    fn next(&mut self) -> Result<Option<Batch>> {
        self.1 = self.1.saturating_sub(1);
        Ok((self.1 > 0).then(|| self.0.clone()))
    }
}

impl TableSource for Repeated {
    fn morsels(&self, _: &[usize], _: &[Bounds]) -> Result<Vec<Morsel>> {
        Ok(vec![Morsel { file: 0, unit: 0, rows: (self.1 * ROWS) as u64, bytes: 0 }])
    }

    fn open(&self, _: &Morsel, columns: &[usize], _: &[Bounds]) -> Result<Box<dyn MorselReader>> {
        Ok(Box::new(Reader(self.0.project(columns), self.1 + 1)))
    }
}

fn number(seed: &mut u64, below: usize) -> usize {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) as usize % below
}

fn batch() -> Batch {
    let mut seed = 7;
    let mut codes = |below: usize| -> Vec<u32> { (0..ROWS).map(|_| number(&mut seed, below) as u32).collect() };
    let money = |of: Vec<i64>, codes| Vector::of(Data::NumberCodes(codes, Arc::new(Data::SmallDecimals(of))));
    let texts = |of: &[&str], codes| {
        Vector::of(Data::Codes(codes, Arc::new(of.iter().map(|text| text.as_bytes()).collect::<Bytes>())))
    };
    let dates = Arc::new(Data::Ints((8000..10_521).collect()));
    let columns = vec![
        money((1..=50).map(|n| n * 100).collect(), codes(50)),
        money((0..100_000).map(|n| 90_000 + n * 104).collect(), codes(100_000)),
        money((0..11).collect(), codes(11)),
        money((0..9).collect(), codes(9)),
        texts(&["A", "N", "R"], codes(3)),
        texts(&["F", "O"], codes(2)),
        Vector::of(Data::NumberCodes(codes(2521), dates)),
    ];
    Batch::of(columns, ROWS)
}

/// Returns the plan of Q1 over some batches.
fn plan(batches: usize) -> Node {
    let types = vec![MONEY, MONEY, MONEY, MONEY, DataType::Utf8, DataType::Utf8, DataType::Date32];
    let fields = types.iter().map(|of| Field { name: "c".into(), data_type: of.clone(), nullable: true }).collect();
    let source = Arc::new(Repeated(batch(), batches));
    let table = Arc::new(Table { name: "lineitem".into(), fields, statistics: Statistics::default(), source });
    let date = Expression::new(DataType::Date32, Operation::Literal(Value::Int(10_471)));
    let sides = Box::new([Expression::column(6, DataType::Date32), date]);
    let shipped = Expression::new(DataType::Boolean, Operation::Compare(Comparison::LessOrEqual, sides));
    let input = Node::Scan(Scan { table, columns: (0..6).collect(), conditions: vec![shipped], limit: None });
    let wide = |digits| DataType::Decimal128(digits, 2);
    let one = || Expression::new(DataType::Decimal128(20, 2), Operation::Literal(Value::Decimal(100)));
    let compute =
        |how, a: Expression, b: Expression, of| Expression::new(of, Operation::Arithmetic(how, Box::new([a, b])));
    let column = |n| Expression::column(n, MONEY);
    let price = compute(
        Arithmetic::Multiply,
        column(1),
        compute(Arithmetic::Subtract, one(), column(2), wide(23)),
        DataType::Decimal128(38, 4),
    );
    let charge = compute(
        Arithmetic::Multiply,
        price.clone(),
        compute(Arithmetic::Add, one(), column(3), wide(23)),
        DataType::Decimal128(38, 6),
    );
    let call = |function, argument: Option<Expression>, data_type| Aggregate {
        function,
        argument,
        distinct: false,
        condition: None,
        data_type,
        foreign: None,
    };
    let sum = |of: Expression| {
        let DataType::Decimal128(_, scale) = of.data_type else { unreachable!("sums are of decimals") };
        call(AggregateFunction::Sum, Some(of), DataType::Decimal128(38, scale))
    };
    let mean = |n| call(AggregateFunction::Average, Some(column(n)), DataType::Decimal128(19, 6));
    let aggregates = vec![
        sum(column(0)),
        sum(column(1)),
        sum(price),
        sum(charge),
        mean(0),
        mean(1),
        mean(2),
        call(AggregateFunction::Count, None, DataType::Int64),
    ];
    let keys = vec![Expression::column(4, DataType::Utf8), Expression::column(5, DataType::Utf8)];
    Node::Aggregate { input: Box::new(input), keys, sets: Vec::new(), aggregates }
}

fn main() -> Result<()> {
    let million: usize = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(6);
    let plan = plan(million * 1_000_000 / ROWS);
    let mut rows = Vec::new();
    for (name, mode) in [("kernels", None), ("code at once", Some(Mode::On)), ("code if it pays", Some(Mode::Auto))] {
        let mut context = Context::new(Env::real(), Budget::new(1 << 30), 1, Cancel::default());
        context.compilation =
            mode.map(|mode| Compilation { compiler: Arc::new(Generator::new(None)), mode, counts: Arc::default() });
        let (start, mut out) = (Instant::now(), Vec::new());
        yunti_sql_execute::run(&plan, &context, &mut |batch| {
            out.extend((0..batch.rows).map(|row| batch.columns.iter().map(|of| of.value(row)).collect::<Vec<_>>()));
            Ok(())
        })?;
        let nanos = start.elapsed().as_nanos() as f64 / (million as f64 * 1e6);
        let counts = context.compilation.map(|of| of.counts.to_string()).unwrap_or_default();
        println!("{name}: {nanos:.2} ns a row; {counts}");
        if rows.is_empty() {
            rows = out;
        } else {
            assert_eq!(rows, out, "code gives other rows than kernels");
        }
    }
    Ok(())
}
