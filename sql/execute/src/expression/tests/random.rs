//! Random expressions over random batches, in all shapes, against the reference. Seeds are printed with a failure:
//! `YUNTI_SEED=n` runs one case alone, `YUNTI_CASES=n` more of them.

use std::sync::Arc;

use arrow_schema::{DataType, TimeUnit};
use yunti_engine::columns::text::Builder;
use yunti_engine::columns::vector::{Bytes, Data, Value, Vector};
use yunti_sql_plan::{Arithmetic, Batch, Comparison, Expression, Function, Operation, kind_of};

use super::super::{Condition, Evaluator, Selection};
use super::reference;
use super::*;

/// Random numbers (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

const MICROS: DataType = DataType::Timestamp(TimeUnit::Microsecond, None);
const SMALL: DataType = DataType::Decimal128(5, 2);
const MONEY: DataType = DataType::Decimal128(15, 2);
const WIDE: DataType = DataType::Decimal128(38, 10);

const TYPES: [DataType; 14] = [
    DataType::Boolean,
    DataType::Int8,
    DataType::Int32,
    DataType::Int64,
    DataType::UInt8,
    DataType::UInt64,
    DataType::Float32,
    DataType::Float64,
    SMALL,
    MONEY,
    WIDE,
    DataType::Utf8,
    DataType::Date32,
    MICROS,
];

/// A batch has two columns of each type.
const COLUMNS: usize = 2 * TYPES.len();

const WORDS: [&str; 22] = [
    "",
    "a",
    "ab",
    "abc",
    " a ",
    "ÄÖ",
    "häß",
    "日本",
    "12",
    "-3",
    "1.5",
    "-0.25",
    "999999.995",
    "true",
    "f",
    "2020-02-29",
    "2021-02-29",
    "1999-12-31 23:59:59",
    "%",
    "a_b\\",
    "18446744073709551615",
    "ABC",
];

fn value(random: &mut Random, of: &DataType) -> Value {
    let edge = random.one_in(8);
    let small = random.below(21) as i64 - 10;
    match of {
        DataType::Boolean => Value::Bool(random.one_in(2)),
        DataType::Int8 => Value::Int(if edge { *random.pick(&[-128, 127]) } else { small }),
        DataType::Int32 => Value::Int(if edge { *random.pick(&[i32::MIN as i64, i32::MAX as i64]) } else { small }),
        DataType::Int64 => {
            Value::Int(if edge { *random.pick(&[i64::MIN, i64::MAX, 1 << 32, -1 << 31]) } else { small })
        }
        DataType::UInt8 => Value::Int(if edge { 255 } else { small.abs() }),
        DataType::UInt64 => {
            Value::Decimal(if edge { *random.pick(&[u64::MAX as i128, 1 << 63]) } else { small.abs().into() })
        }
        DataType::Float32 | DataType::Float64 => {
            let edges = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 1e30f32 as f64, 2f64.powi(63)];
            Value::Float(if edge { *random.pick(&edges) } else { (random.below(4000) as f64 - 2000.0) / 8.0 })
        }
        DataType::Decimal128(digits, _) => {
            let limit = 10i128.pow((*digits).into());
            let units = i128::from(random.next() as i64) * 1_000_000_007 * 1_000_000_007 % limit;
            Value::Decimal(if edge { units } else { units % 2000 })
        }
        DataType::Utf8 => Value::Bytes(random.pick(&WORDS).as_bytes().to_vec()),
        DataType::Date32 => {
            Value::Int(if edge { random.next() as i32 as i64 } else { random.below(40_000) as i64 - 10_000 })
        }
        _ => {
            let range = if edge { 1 << 60 } else { 1 << 50 };
            let micros = (random.next() as i64) % range;
            Value::Int(if random.one_in(2) { micros } else { micros / 1_000_000 * 1_000_000 })
        }
    }
}

/// Returns a column in a random shape that its type allows.
fn vector(random: &mut Random, of: &DataType, rows: usize) -> Vector {
    let nulls: Option<Vec<bool>> = match random.below(3) {
        0 => None,
        1 => Some((0..rows).map(|_| random.one_in(4)).collect()),
        _ => Some(vec![random.one_in(6); rows]),
    };
    let is_coded = random.one_in(2);
    // A dictionary can have values that no row has, and one value twice.
    let most = if random.one_in(4) { 5 * rows + 5 } else { 12 };
    let count = if is_coded { 1 + random.below(most) } else { rows };
    let values: Vec<Value> = (0..count).map(|_| value(random, of)).collect();
    let all = if count > 0 { data(&values, random) } else { Builder::new(kind_of(of).unwrap()).take().data };
    let data = match (is_coded, all) {
        (false, data) => data,
        (true, all) => {
            let codes: Vec<u32> = (0..rows).map(|_| random.below(count) as u32).collect();
            match all {
                Data::Bytes(values) => Data::Codes(codes, Arc::new(values)),
                numbers => Data::NumberCodes(codes, Arc::new(numbers)),
            }
        }
    };
    Vector { data, nulls }
}

fn data(values: &[Value], random: &mut Random) -> Data {
    let is_wide = random.one_in(3);
    match values.first() {
        Some(Value::Bool(_)) => Data::Bools(values.iter().map(|v| *v == Value::Bool(true)).collect()),
        Some(Value::Float(_)) => {
            Data::Floats(values.iter().map(|v| if let Value::Float(v) = v { *v } else { 0.0 }).collect())
        }
        Some(Value::Decimal(_)) => {
            let units: Vec<i128> = values.iter().map(|v| if let Value::Decimal(v) = v { *v } else { 0 }).collect();
            match units.iter().map(|&unit| i64::try_from(unit)).collect::<Result<Vec<_>, _>>() {
                Ok(small) if !is_wide => Data::SmallDecimals(small),
                _ => Data::Decimals(units),
            }
        }
        Some(Value::Bytes(_)) => {
            let texts = values.iter().map(|v| if let Value::Bytes(v) = v { &v[..] } else { b"" });
            Data::Bytes(texts.collect::<Bytes>())
        }
        _ => Data::Ints(values.iter().map(|v| if let Value::Int(v) = v { *v } else { 0 }).collect()),
    }
}

fn table(random: &mut Random) -> Batch {
    let rows = *random.pick(&[0, 1, 2, 9, 40]);
    Batch::of((0..COLUMNS).map(|n| vector(random, &TYPES[n % TYPES.len()], rows)).collect(), rows)
}

fn is_float(of: &DataType) -> bool {
    matches!(of, DataType::Float32 | DataType::Float64)
}

fn is_decimal(of: &DataType) -> bool {
    matches!(of, DataType::Decimal128(..))
}

/// Returns a leaf: a column or a literal.
fn leaf(random: &mut Random, of: &DataType) -> Expression {
    let place = TYPES.iter().position(|one| one == of).unwrap();
    match random.below(10) {
        0 => literal(Value::Null, of.clone()),
        1..4 => literal(value(random, of), of.clone()),
        n => column(if n < 8 { place } else { place + TYPES.len() }, of.clone()),
    }
}

fn any_type(random: &mut Random) -> DataType {
    random.pick(&TYPES).clone()
}

/// Returns an expression of a type.
fn expression(random: &mut Random, of: &DataType, levels: usize) -> Expression {
    if levels == 0 || random.one_in(5) {
        return leaf(random, of);
    }
    let below = levels - 1;
    match random.below(8) {
        0 => {
            let branches = (0..1 + random.below(3))
                .map(|_| (expression(random, &DataType::Boolean, below), expression(random, of, below)))
                .collect();
            let otherwise = random.one_in(2).then(|| Box::new(expression(random, of, below)));
            return Expression::new(of.clone(), Operation::Case { branches, otherwise });
        }
        1 => {
            let arguments = (0..1 + random.below(3)).map(|_| expression(random, of, below)).collect();
            return call(Function::Coalesce, arguments, of.clone());
        }
        2 => {
            let arguments = vec![expression(random, of, below), expression(random, of, below)];
            return call(Function::NullIf, arguments, of.clone());
        }
        3 => return converted(random, of, below),
        _ => {}
    }
    let how = *random.pick(&[
        Arithmetic::Add,
        Arithmetic::Subtract,
        Arithmetic::Multiply,
        Arithmetic::Divide,
        Arithmetic::Remainder,
    ]);
    match of {
        DataType::Boolean => condition(random, below),
        DataType::Utf8 => of_texts(random, below),
        DataType::Date32 if random.one_in(2) => {
            let days = expression(random, of, below);
            let number = expression(random, &DataType::Int32, below);
            arithmetic(*random.pick(&[Arithmetic::Add, Arithmetic::Subtract]), days, number, of.clone())
        }
        DataType::Date32 | DataType::Timestamp(..) => {
            let unit = random.pick(&["year", "quarter", "month", "week", "day", "hour", "minute", "second"]);
            call(Function::DateTrunc, vec![text(unit), expression(random, of, below)], of.clone())
        }
        of if is_decimal(of) && random.one_in(2) => {
            let types = [SMALL, MONEY, WIDE];
            let (a, b) = (random.pick(&types).clone(), random.pick(&types).clone());
            let result = result_of(how, &a, &b);
            let sum = arithmetic(how, expression(random, &a, below), expression(random, &b, below), result.clone());
            if result == *of { sum } else { cast(sum, of.clone(), random.one_in(2)) }
        }
        of => {
            let functions =
                [Function::Abs, Function::Floor, Function::Ceil, Function::Round, Function::Sqrt, Function::RoundEven];
            let is_int = !is_float(of) && !is_decimal(of);
            match random.below(5) {
                0 => Expression::new(of.clone(), Operation::Negate(Box::new(expression(random, of, below)))),
                1 if is_int => part(random, of, below),
                1 => {
                    let function = *random.pick(&functions[..if is_float(of) { 6 } else { 4 }]);
                    let mut arguments = vec![expression(random, of, below)];
                    if function == Function::Round && is_decimal(of) {
                        arguments.push(int(random.below(6) as i64 - 3));
                    }
                    call(function, arguments, of.clone())
                }
                2 if is_int => call(Function::Abs, vec![expression(random, of, below)], of.clone()),
                _ if is_decimal(of) => converted(random, of, below),
                _ => arithmetic(how, expression(random, of, below), expression(random, of, below), of.clone()),
            }
        }
    }
}

/// Returns the type of arithmetic of two decimals, as DataFusion settles it.
fn result_of(how: Arithmetic, a: &DataType, b: &DataType) -> DataType {
    let (DataType::Decimal128(p1, s1), DataType::Decimal128(p2, s2)) = (a, b) else { panic!("no decimals") };
    let (p1, s1, p2, s2) = (*p1 as i8, *s1, *p2 as i8, *s2);
    let common = s1.max(s2);
    let (digits, scale) = match how {
        Arithmetic::Add | Arithmetic::Subtract => (common + (p1 - s1).max(p2 - s2) + 1, common),
        Arithmetic::Multiply => (p1 + p2 + 1, s1 + s2),
        Arithmetic::Divide => (p1 - s1 + s2 + s1 + 4 + s2, s1 + 4),
        Arithmetic::Remainder => ((p1 - s1).min(p2 - s2) + common, common),
    };
    DataType::Decimal128(digits.min(38) as u8, scale)
}

/// Returns a part of a date, or the length of a text, as a whole number.
fn part(random: &mut Random, of: &DataType, below: usize) -> Expression {
    let number = if random.one_in(3) {
        call(Function::Length, vec![expression(random, &DataType::Utf8, below)], DataType::Int64)
    } else {
        let function = *random.pick(&[
            Function::Year,
            Function::Month,
            Function::Day,
            Function::Quarter,
            Function::DayOfWeek,
            Function::DayOfYear,
            Function::Hour,
            Function::Minute,
            Function::Second,
        ]);
        let date = if random.one_in(2) { DataType::Date32 } else { MICROS };
        call(function, vec![expression(random, &date, below)], DataType::Int32)
    };
    if number.data_type == *of { number } else { cast(number, of.clone(), random.one_in(2)) }
}

/// Returns a conversion from a type that has one.
fn converted(random: &mut Random, of: &DataType, below: usize) -> Expression {
    let is_date = |of: &DataType| matches!(of, DataType::Date32 | DataType::Timestamp(..));
    let from = loop {
        let from = any_type(random);
        let fits = match (&from, of) {
            (DataType::Utf8, _) | (_, DataType::Utf8) => true,
            (from, of) => is_date(from) == is_date(of),
        };
        if fits {
            break from;
        }
    };
    // Texts of floats are compared where their spelling is plain.
    let value = match (&from, of) {
        (from, DataType::Utf8) if is_float(from) => leaf(random, from),
        (from, _) => expression(random, from, below),
    };
    cast(value, of.clone(), random.one_in(2))
}

fn condition(random: &mut Random, below: usize) -> Expression {
    let of = any_type(random);
    let boxed = |random: &mut Random, of: &DataType| Box::new(expression(random, of, below));
    boolean(match random.below(9) {
        0..3 => {
            let how = *random.pick(&[
                Comparison::Equal,
                Comparison::NotEqual,
                Comparison::Less,
                Comparison::LessOrEqual,
                Comparison::Greater,
                Comparison::GreaterOrEqual,
                Comparison::NotDistinct,
                Comparison::Distinct,
            ]);
            Operation::Compare(how, Box::new([expression(random, &of, below), expression(random, &of, below)]))
        }
        3 | 4 => {
            let parts = (0..2 + random.below(2)).map(|_| expression(random, &DataType::Boolean, below)).collect();
            if random.one_in(2) { Operation::And(parts) } else { Operation::Or(parts) }
        }
        5 => Operation::Not(boxed(random, &DataType::Boolean)),
        6 => Operation::IsNull(boxed(random, &of)),
        7 => {
            let len = *random.pick(&[0, 1, 3, 9, 40]);
            let mut list: Vec<Value> = (0..len).map(|_| value(random, &of)).collect();
            if random.one_in(4) {
                list.push(Value::Null);
            }
            Operation::In { value: boxed(random, &of), list, negated: random.one_in(2) }
        }
        _ if random.one_in(3) => {
            let function = *random.pick(&[Function::StartsWith, Function::EndsWith, Function::Contains]);
            let arguments =
                vec![expression(random, &DataType::Utf8, below), expression(random, &DataType::Utf8, below)];
            Operation::Call(function, arguments)
        }
        _ => {
            let pieces = ["%", "_", "a", "b", "Ä", "1", "\\%", "#_", "."];
            let pattern: String = (0..random.below(5)).map(|_| *random.pick(&pieces)).collect();
            let escape = *random.pick(&[None, Some('#'), Some('\\')]);
            let ignore_case = random.one_in(3);
            Operation::Like {
                value: boxed(random, &DataType::Utf8),
                pattern,
                escape,
                ignore_case,
                negated: random.one_in(2),
            }
        }
    })
}

fn of_texts(random: &mut Random, below: usize) -> Expression {
    let one = |random: &mut Random| expression(random, &DataType::Utf8, below);
    let (function, arguments) = match random.below(4) {
        0 => {
            let numbers = 1 + random.below(2);
            let mut arguments = vec![one(random)];
            for _ in 0..numbers {
                let is_plain = random.one_in(2);
                arguments.push(match is_plain {
                    true => int(random.below(5) as i64 - 1),
                    false => expression(random, &DataType::Int64, below),
                });
            }
            (Function::Substring, arguments)
        }
        1 => (*random.pick(&[Function::Concat, Function::Join]), (0..2).map(|_| one(random)).collect()),
        _ => {
            let functions = [Function::Lower, Function::Upper, Function::Trim, Function::TrimStart, Function::TrimEnd];
            (*random.pick(&functions), vec![one(random)])
        }
    };
    call(function, arguments, DataType::Utf8)
}

fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
        (a, b) => a == b,
    }
}

fn check(seed: u64) {
    let mut random = Random(seed);
    let of = any_type(&mut random);
    let levels = 1 + random.below(4);
    let expression = expression(&mut random, &of, levels);
    let shown = || format!("YUNTI_SEED={seed}: {expression}");
    let mut evaluator = Evaluator::new(&expression).unwrap_or_else(|error| panic!("{}: {error}", shown()));
    let mut condition = Condition::new(std::slice::from_ref(&expression)).unwrap();
    for _ in 0..3 {
        let batch = table(&mut random);
        let rows: Vec<Vec<Value>> =
            (0..batch.rows).map(|row| batch.columns.iter().map(|column| column.value(row)).collect()).collect();
        let expect: Result<Vec<Value>, ()> = rows.iter().map(|row| reference::evaluate(&expression, row)).collect();
        // Twice: the second time values of dictionaries may be known.
        for _ in 0..2 {
            let found = evaluator.evaluate(&batch);
            match (&expect, found) {
                (Ok(expect), Ok(found)) => {
                    assert!(found.nulls.as_ref().is_none_or(|nulls| nulls.contains(&true)), "no null: {}", shown());
                    assert_eq!(found.len(), batch.rows, "{}", shown());
                    for (row, expect) in expect.iter().enumerate() {
                        let value = found.value(row);
                        assert!(
                            same(&value, expect),
                            "{}\nrow {row} {:?}: {value:?}, not {expect:?}",
                            shown(),
                            rows[row]
                        );
                    }
                }
                (Err(()), Err(error)) => {
                    let line = error.to_string();
                    assert!(!line.contains('\n') && line.len() < 400, "{}: {line}", shown());
                    assert_eq!(error.code(), yunti_base::Code::Invalid, "{}: {line}", shown());
                }
                (Ok(_), Err(error)) => panic!("{}: {error}", shown()),
                (Err(()), Ok(_)) => panic!("{}: no error", shown()),
            }
            if of != DataType::Boolean {
                continue;
            }
            match (&expect, condition.select(&batch)) {
                (Ok(expect), Ok(selection)) => {
                    let holds = (0u32..).zip(expect).filter(|(_, value)| **value == Value::Bool(true));
                    let expect: Vec<u32> = holds.map(|(row, _)| row).collect();
                    match selection {
                        Selection::All => assert_eq!(expect.len(), batch.rows, "{}", shown()),
                        Selection::Rows(rows) => assert_eq!(rows, expect, "{}", shown()),
                    }
                }
                // A row that an earlier part excludes need not fail; one null so far is excluded too.
                (Err(()), _) => {}
                (Ok(_), Err(error)) => panic!("{}: select: {error}", shown()),
            }
        }
    }
}

#[test]
fn agrees_with_the_reference() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    if let Some(seed) = number("YUNTI_SEED") {
        return check(seed);
    }
    (0..number("YUNTI_CASES").unwrap_or(6000)).for_each(check);
}
