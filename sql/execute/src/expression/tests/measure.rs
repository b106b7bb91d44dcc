//! Nanoseconds a row of common expressions. Each runs once in the tests; `YUNTI_MEASURE=1` prints them:
//! `YUNTI_MEASURE=1 cargo test --release -p yunti-sql-execute measure -- --nocapture`.

use std::sync::Arc;
use std::time::Instant;

use arrow_schema::DataType;
use yunti_engine::columns::vector::{Bytes, Data, Value, Vector};
use yunti_sql_plan::{Arithmetic, Batch, Comparison, Expression, Function, Operation};

use super::super::{Condition, Evaluator};
use super::*;

const ROWS: usize = 8192;

fn scattered(n: usize) -> i64 {
    ((n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as i64
}

/// Columns: 0 whole numbers below 2^24, 1 floats, 2 prices, 3 prices in 128 bits, 4 discounts by code, 5 texts, 6 a few
/// texts by code, 7 dates, 8 dates by code.
fn table() -> Batch {
    let numbers: Vec<i64> = (0..ROWS).map(scattered).collect();
    let words: Bytes = numbers
        .iter()
        .map(|n| format!("the word {n} in a comment"))
        .collect::<Vec<_>>()
        .iter()
        .map(|w| w.as_bytes())
        .collect();
    let codes = |of: i64| numbers.iter().map(|n| (n % of) as u32).collect::<Vec<u32>>();
    let few: Bytes = [&b"AIR"[..], b"FOB", b"MAIL", b"RAIL", b"REG AIR", b"SHIP", b"TRUCK"].into_iter().collect();
    let dates: Vec<i64> = numbers.iter().map(|n| 8000 + n % 2500).collect();
    Batch::of(
        vec![
            Vector::of(Data::Ints(numbers.clone())),
            Vector::of(Data::Floats(numbers.iter().map(|n| *n as f64).collect())),
            Vector::of(Data::SmallDecimals(numbers.clone())),
            Vector::of(Data::Decimals(numbers.iter().map(|n| i128::from(*n) << 60).collect())),
            Vector::of(Data::NumberCodes(codes(11), Arc::new(Data::SmallDecimals((0..11).collect())))),
            Vector::of(Data::Bytes(words)),
            Vector::of(Data::Codes(codes(7), Arc::new(few))),
            Vector::of(Data::Ints(dates)),
            Vector::of(Data::NumberCodes(codes(2500), Arc::new(Data::Ints((8000..10_500).collect())))),
        ],
        ROWS,
    )
}

fn report(name: &str, mut run: impl FnMut()) {
    run();
    if std::env::var_os("YUNTI_MEASURE").is_none() {
        return;
    }
    let mut best = f64::MAX;
    for _ in 0..30 {
        let begin = Instant::now();
        (0..20).for_each(|_| run());
        best = best.min(begin.elapsed().as_nanos() as f64 / (20 * ROWS) as f64);
    }
    println!("{best:8.2} ns  {name}");
}

fn values_of(name: &str, expression: Expression) {
    let batch = table();
    let mut evaluator = Evaluator::new(&expression).unwrap();
    report(name, || drop(evaluator.evaluate(&batch).unwrap()));
}

fn rows_of(name: &str, all: Vec<Expression>) {
    let batch = table();
    let mut condition = Condition::new(&all).unwrap();
    report(name, || drop(condition.select(&batch).unwrap()));
}

#[test]
fn measure() {
    let money = |scale| DataType::Decimal128(15, scale);
    let number = || column(0, DataType::Int64);
    let date = DataType::Date32;
    let less = |value, below: i64| compare(Comparison::Less, value, int(below));
    let like = |value, pattern: &str| {
        let (pattern, escape) = (pattern.to_string(), None);
        boolean(Operation::Like { value: Box::new(value), pattern, escape, ignore_case: false, negated: false })
    };
    let is_in = |value, list| boolean(Operation::In { value: Box::new(value), list, negated: false });
    let comment = || column(5, DataType::Utf8);
    let mode = || column(6, DataType::Utf8);
    let one = || literal(Value::Decimal(1), DataType::Decimal128(1, 0));
    let rest = arithmetic(Arithmetic::Subtract, one(), column(4, money(2)), DataType::Decimal128(16, 2));
    let price = arithmetic(Arithmetic::Multiply, column(2, money(2)), rest, DataType::Decimal128(32, 4));
    let tax = arithmetic(Arithmetic::Add, one(), column(4, money(2)), DataType::Decimal128(16, 2));
    let charge = arithmetic(Arithmetic::Multiply, price.clone(), tax, DataType::Decimal128(38, 6));
    let wide = arithmetic(Arithmetic::Add, column(3, DataType::Decimal128(38, 2)), one(), DataType::Decimal128(38, 2));
    let quotient = arithmetic(
        Arithmetic::Divide,
        column(2, money(2)),
        literal(Value::Decimal(700), money(2)),
        DataType::Decimal128(21, 6),
    );
    let all = 1i64 << 24;

    rows_of("number < c, half", vec![less(number(), all / 2)]);
    rows_of("number < c, 2 of 100", vec![less(number(), all / 50)]);
    rows_of(
        "float < c",
        vec![compare(Comparison::Less, column(1, DataType::Float64), literal(Value::Float(1e6), DataType::Float64))],
    );
    rows_of(
        "date between, by code",
        vec![
            compare(Comparison::GreaterOrEqual, column(8, date.clone()), literal(Value::Int(8365), date.clone())),
            compare(Comparison::Less, column(8, date.clone()), literal(Value::Int(8730), date.clone())),
        ],
    );
    rows_of("text = 'MAIL', by code", vec![compare(Comparison::Equal, mode(), text("MAIL"))]);
    rows_of("text = c, 25 bytes", vec![compare(Comparison::Equal, comment(), text("the word 4711 in a comment"))]);
    rows_of("number in 5 values", vec![is_in(number(), (0..5).map(|n| Value::Int(n * 777)).collect())]);
    rows_of("number in 5,000 values", vec![is_in(number(), (0..5000).map(|n| Value::Int(scattered(n))).collect())]);
    rows_of(
        "text in 5,000 values",
        vec![is_in(
            comment(),
            (0..5000).map(|n| Value::Bytes(format!("the word {n} in a comment").into_bytes())).collect(),
        )],
    );
    rows_of("like 'the%'", vec![like(comment(), "the%")]);
    rows_of("like '%77%'", vec![like(comment(), "%77%")]);
    rows_of("like '%77%comment%'", vec![like(comment(), "%77%comment%")]);
    for percent in [50, 30, 20, 10, 5, 2] {
        let first = less(number(), all / 100 * percent);
        rows_of(
            &format!("{percent} % of rows, then number < c"),
            vec![first.clone(), less(number(), all / 200 * percent)],
        );
        rows_of(&format!("{percent} % of rows, then like '%77%'"), vec![first, like(comment(), "%77%")]);
    }
    values_of("number + number", arithmetic(Arithmetic::Add, number(), number(), DataType::Int64));
    values_of("number * number", arithmetic(Arithmetic::Multiply, number(), number(), DataType::Int64));
    values_of(
        "float * float",
        arithmetic(Arithmetic::Multiply, column(1, DataType::Float64), column(1, DataType::Float64), DataType::Float64),
    );
    values_of("price * (1 - discount)", price);
    values_of("price * (1 - discount) * (1 + tax)", charge);
    values_of("decimals of 128 bits + 1", wide);
    values_of("price / 7.00", quotient);
    values_of("year(date)", call(Function::Year, vec![column(7, date.clone())], DataType::Int32));
    values_of("year(date), by code", call(Function::Year, vec![column(8, date)], DataType::Int32));
    values_of("substring(text, 1, 2)", call(Function::Substring, vec![comment(), int(1), int(2)], DataType::Utf8));
    values_of(
        "case when number < c then number else 0 end",
        Expression::new(
            DataType::Int64,
            Operation::Case { branches: vec![(less(number(), all / 2), number())], otherwise: Some(Box::new(int(0))) },
        ),
    );
    values_of("cast(number as text)", cast(number(), DataType::Utf8, false));
    values_of("cast(price as double)", cast(column(2, money(2)), DataType::Float64, false));
}
