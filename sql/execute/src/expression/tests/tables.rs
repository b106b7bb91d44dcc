//! Cases with known results, for columns of each shape.

use arrow_schema::{DataType, TimeUnit};
use yunti_base::Code;
use yunti_engine::columns::vector::{Data, Value, Vector};
use yunti_sql_plan::{Arithmetic::*, Comparison, Expression, Function, Operation, kind_of};

use super::super::arithmetic::Typed;
use super::super::{Condition, Evaluator, Selection, cast as casts};
use super::*;

const INT: DataType = DataType::Int64;
const TEXT: DataType = DataType::Utf8;
const FLOAT: DataType = DataType::Float64;
const DATE: DataType = DataType::Date32;

fn decimal(digits: u8, scale: i8) -> DataType {
    DataType::Decimal128(digits, scale)
}

/// Rows: n 7, -3, null; name Anna, bob, "héé"; x 1.5, -0.25, null; price 12.50, 0.99, null; day 2026-11-25, 1969-12-31,
/// null; ok true, false, null.
fn table() -> Vec<Vector> {
    let with_null = |data: Data| Vector { data, nulls: Some(vec![false, false, true]) };
    vec![
        ints(&[Some(7), Some(-3), None]),
        texts(&[Some("Anna"), Some("bob"), Some("héé")]),
        with_null(Data::Floats(vec![1.5, -0.25, 0.0])),
        with_null(Data::SmallDecimals(vec![1250, 99, 0])),
        with_null(Data::Ints(vec![20_782, -1, 0])),
        with_null(Data::Bools(vec![true, false, false])),
    ]
}

fn n() -> Expression {
    column(0, INT)
}
fn name() -> Expression {
    column(1, TEXT)
}
fn x() -> Expression {
    column(2, FLOAT)
}
fn price() -> Expression {
    column(3, decimal(15, 2))
}
fn day() -> Expression {
    column(4, DATE)
}
fn ok() -> Expression {
    column(5, DataType::Boolean)
}

fn shown(expression: &Expression, columns: Vec<Vector>) -> yunti_base::Result<Vec<String>> {
    let vector = Evaluator::new(expression)?.evaluate(&batch(columns))?;
    assert!(vector.nulls.as_ref().is_none_or(|nulls| nulls.contains(&true)), "nulls without one: {expression}");
    let kind = kind_of(&expression.data_type).unwrap();
    let typed = Typed { data_type: &expression.data_type, kind };
    Ok(values(&vector)
        .iter()
        .map(|value| match value {
            Value::Null => "null".into(),
            value => casts::text_of(value, typed),
        })
        .collect())
}

/// Returns the results, the same with columns as they are and with codes.
fn results(expression: &Expression) -> yunti_base::Result<Vec<String>> {
    let plain = shown(expression, table());
    let with_codes = shown(expression, table().iter().map(coded).collect());
    match (plain, with_codes) {
        (Ok(plain), Ok(with_codes)) => {
            assert_eq!(plain, with_codes, "{expression}");
            Ok(plain)
        }
        (Err(plain), Err(with_codes)) => {
            assert_eq!(plain.to_string(), with_codes.to_string(), "{expression}");
            Err(plain)
        }
        (plain, with_codes) => panic!("{expression}: {plain:?} {with_codes:?}"),
    }
}

fn check(cases: Vec<(Expression, [&str; 3])>) {
    for (expression, expect) in cases {
        assert_eq!(results(&expression).unwrap_or_else(|e| panic!("{expression}: {e}")), expect, "{expression}");
    }
}

fn not(of: Expression) -> Expression {
    boolean(Operation::Not(Box::new(of)))
}

fn null(data_type: DataType) -> Expression {
    literal(Value::Null, data_type)
}

fn like(value: Expression, pattern: &str) -> Expression {
    let (pattern, escape) = (pattern.to_string(), None);
    boolean(Operation::Like { value: Box::new(value), pattern, escape, ignore_case: false, negated: false })
}

fn is_in(value: Expression, list: Vec<Value>, negated: bool) -> Expression {
    boolean(Operation::In { value: Box::new(value), list, negated })
}

fn divide(a: Expression, b: Expression) -> Expression {
    arithmetic(Divide, a, b, INT)
}

#[test]
fn comparisons_and_logic() {
    let greater = |a, b| compare(Comparison::Greater, a, b);
    let and = |all| boolean(Operation::And(all));
    let or = |all| boolean(Operation::Or(all));
    let is_null = |of| boolean(Operation::IsNull(Box::new(of)));
    let truth = |value| literal(Value::Bool(value), DataType::Boolean);
    check(vec![
        (greater(n(), int(0)), ["true", "false", "null"]),
        (greater(int(0), n()), ["false", "true", "null"]),
        (compare(Comparison::LessOrEqual, n(), n()), ["true", "true", "null"]),
        (compare(Comparison::NotEqual, n(), null(INT)), ["null"; 3]),
        (compare(Comparison::NotDistinct, n(), null(INT)), ["false", "false", "true"]),
        (compare(Comparison::Distinct, n(), int(7)), ["false", "true", "true"]),
        (compare(Comparison::NotDistinct, n(), n()), ["true"; 3]),
        (compare(Comparison::Equal, name(), text("bob")), ["false", "true", "false"]),
        (compare(Comparison::Less, name(), text("a")), ["true", "false", "false"]),
        (greater(price(), literal(Value::Decimal(99), decimal(15, 2))), ["true", "false", "null"]),
        (greater(price(), literal(Value::Decimal(1), decimal(15, 0))), ["true", "false", "null"]),
        (compare(Comparison::Equal, x(), literal(Value::Float(f64::NAN), FLOAT)), ["false", "false", "null"]),
        (compare(Comparison::Less, x(), literal(Value::Float(f64::NAN), FLOAT)), ["true", "true", "null"]),
        (and(vec![ok(), greater(n(), int(0))]), ["true", "false", "null"]),
        (and(vec![ok(), truth(false)]), ["false"; 3]),
        (or(vec![ok(), null(DataType::Boolean)]), ["true", "null", "null"]),
        (or(vec![and(vec![ok(), ok()]), truth(true)]), ["true"; 3]),
        (not(ok()), ["false", "true", "null"]),
        (is_null(n()), ["false", "false", "true"]),
        (is_null(is_null(n())), ["false"; 3]),
        (is_in(n(), vec![Value::Int(7), Value::Int(8)], false), ["true", "false", "null"]),
        (is_in(n(), vec![Value::Int(7), Value::Null], true), ["false", "null", "null"]),
        (is_in(n(), vec![Value::Null], false), ["null"; 3]),
        (is_in(n(), vec![], true), ["true"; 3]),
        (is_in(name(), vec![Value::Bytes(b"bob".to_vec())], false), ["false", "true", "false"]),
        (is_in(price(), vec![Value::Decimal(99), Value::Decimal(i128::MAX)], false), ["false", "true", "null"]),
        (is_in(x(), vec![Value::Float(-0.25)], true), ["true", "false", "null"]),
        (is_in(ok(), vec![Value::Bool(true)], false), ["true", "false", "null"]),
        (like(name(), "A%"), ["true", "false", "false"]),
        (like(name(), "h__"), ["false", "false", "true"]),
        (like(name(), "%b"), ["false", "true", "false"]),
        (like(name(), "%nn%"), ["true", "false", "false"]),
    ]);
}

#[test]
fn arithmetic_of_all_shapes() {
    let plus = |a, b, of| arithmetic(Add, a, b, of);
    check(vec![
        (plus(n(), int(1), INT), ["8", "-2", "null"]),
        (arithmetic(Subtract, int(1), n(), INT), ["-6", "4", "null"]),
        (arithmetic(Multiply, n(), n(), INT), ["49", "9", "null"]),
        (divide(n(), int(2)), ["3", "-1", "null"]),
        (arithmetic(Remainder, n(), int(4), INT), ["3", "-3", "null"]),
        (plus(n(), null(INT), INT), ["null"; 3]),
        (Expression::new(INT, Operation::Negate(Box::new(n()))), ["-7", "3", "null"]),
        (Expression::new(FLOAT, Operation::Negate(Box::new(x()))), ["-1.5", "0.25", "null"]),
        (Expression::new(decimal(15, 2), Operation::Negate(Box::new(price()))), ["-12.50", "-0.99", "null"]),
        (arithmetic(Divide, x(), literal(Value::Float(0.0), FLOAT), FLOAT), ["inf", "-inf", "null"]),
        (
            arithmetic(
                Divide,
                literal(Value::Float(1.0), DataType::Float32),
                literal(Value::Float(3.0), DataType::Float32),
                DataType::Float32,
            ),
            ["0.33333334"; 3],
        ),
        (plus(price(), literal(Value::Decimal(1), decimal(3, 3)), decimal(17, 3)), ["12.501", "0.991", "null"]),
        (arithmetic(Multiply, price(), price(), decimal(31, 4)), ["156.2500", "0.9801", "null"]),
        (
            arithmetic(Divide, price(), literal(Value::Decimal(300), decimal(15, 2)), decimal(21, 6)),
            ["4.166666", "0.330000", "null"],
        ),
        (
            arithmetic(Remainder, price(), literal(Value::Decimal(5), decimal(1, 0)), decimal(3, 2)),
            ["2.50", "0.99", "null"],
        ),
        (arithmetic(Subtract, day(), day(), INT), ["0", "0", "null"]),
        (plus(day(), int(7), DATE), ["2026-12-02", "1970-01-07", "null"]),
    ]);
}

#[test]
fn choices_are_computed_by_need() {
    let zero_free = compare(Comparison::NotEqual, n(), int(7));
    let quotient = || divide(int(100), arithmetic(Subtract, n(), int(7), INT));
    let case = |branches, otherwise: Option<Expression>, of: DataType| {
        Expression::new(of, Operation::Case { branches, otherwise: otherwise.map(Box::new) })
    };
    let positive = || compare(Comparison::Greater, n(), int(0));
    let equal_one = compare(Comparison::Less, quotient(), int(1));
    let both = |or, first, second| match or {
        true => boolean(Operation::Or(vec![first, second])),
        false => boolean(Operation::And(vec![first, second])),
    };
    check(vec![
        (case(vec![(zero_free.clone(), quotient())], None, INT), ["null", "-10", "null"]),
        (both(false, zero_free.clone(), equal_one.clone()), ["false", "true", "null"]),
        (both(true, not(zero_free), equal_one), ["true", "true", "null"]),
        (case(vec![(positive(), text("plus")), (ok(), text("ok"))], Some(text("-")), TEXT), ["plus", "-", "-"]),
        (case(vec![(positive(), name())], Some(text("-")), TEXT), ["Anna", "-", "-"]),
        (case(vec![(positive(), price())], None, decimal(15, 2)), ["12.50", "null", "null"]),
        (
            case(
                vec![(positive(), price())],
                Some(literal(Value::Decimal(10i128.pow(30)), decimal(38, 2))),
                decimal(38, 2),
            ),
            ["12.50", "10000000000000000000000000000.00", "10000000000000000000000000000.00"],
        ),
        (case(vec![(ok(), ok())], Some(not(ok())), DataType::Boolean), ["true", "true", "null"]),
        (call(Function::Coalesce, vec![n(), divide(n(), int(0))], INT).clone_if_fails(), ["fails"; 3]),
        (call(Function::Coalesce, vec![n(), null(INT), int(5), divide(int(1), int(0))], INT), ["7", "-3", "5"]),
        (call(Function::Coalesce, vec![null(TEXT), name()], TEXT), ["Anna", "bob", "héé"]),
        (call(Function::NullIf, vec![n(), int(7)], INT), ["null", "-3", "null"]),
        (call(Function::NullIf, vec![name(), text("bob")], TEXT), ["Anna", "null", "héé"]),
    ]);
}

trait IfFails {
    fn clone_if_fails(self) -> Expression;
}

impl IfFails for Expression {
    /// A null divided by zero is null: nothing fails.
    fn clone_if_fails(self) -> Expression {
        assert_eq!(results(&self).unwrap(), ["7", "-3", "null"]);
        text("fails")
    }
}

#[test]
fn functions_of_texts() {
    let substring = |start: i64, len: Option<i64>| {
        let numbers = [Some(start), len].into_iter().flatten().map(int);
        call(Function::Substring, [name()].into_iter().chain(numbers).collect(), TEXT)
    };
    let padded = || call(Function::Join, vec![text("  "), name(), text(" ")], TEXT);
    check(vec![
        (substring(2, Some(2)), ["nn", "ob", "éé"]),
        (substring(3, None), ["na", "b", "é"]),
        (substring(0, Some(2)), ["A", "b", "h"]),
        (substring(-5, Some(6)), ["", "", ""]),
        (substring(-5, None), ["Anna", "bob", "héé"]),
        (substring(4, Some(9)), ["a", "", ""]),
        (substring(i64::MIN, Some(i64::MAX)), ["", "", ""]),
        (
            call(Function::Substring, vec![name(), int(1), call(Function::Abs, vec![n()], INT)], TEXT),
            ["Anna", "bob", "null"],
        ),
        (call(Function::Length, vec![name()], INT), ["4", "3", "3"]),
        (call(Function::Upper, vec![name()], TEXT), ["ANNA", "BOB", "HÉÉ"]),
        (call(Function::Lower, vec![name()], TEXT), ["anna", "bob", "héé"]),
        (call(Function::Trim, vec![padded()], TEXT), ["Anna", "bob", "héé"]),
        (call(Function::TrimStart, vec![padded()], TEXT), ["Anna ", "bob ", "héé "]),
        (call(Function::TrimEnd, vec![padded()], TEXT), ["  Anna", "  bob", "  héé"]),
        (call(Function::Concat, vec![name(), null(TEXT), text("!")], TEXT), ["Anna!", "bob!", "héé!"]),
        (call(Function::Join, vec![name(), null(TEXT)], TEXT), ["null"; 3]),
        (call(Function::StartsWith, vec![name(), text("b")], DataType::Boolean), ["false", "true", "false"]),
        (call(Function::EndsWith, vec![name(), text("a")], DataType::Boolean), ["true", "false", "false"]),
        (call(Function::Contains, vec![name(), text("é")], DataType::Boolean), ["false", "false", "true"]),
        (call(Function::Contains, vec![name(), name()], DataType::Boolean), ["true"; 3]),
    ]);
}

#[test]
fn functions_of_numbers_and_dates() {
    let of = |function, arguments, data_type| call(function, arguments, data_type);
    let part = |function| call(function, vec![day()], DataType::Int32);
    let truncated = |unit| call(Function::DateTrunc, vec![text(unit), day()], DATE);
    let stamp = DataType::Timestamp(TimeUnit::Microsecond, None);
    let later = |value, by: [i64; 3], of: DataType| {
        call(Function::AddInterval, [vec![value], by.map(int).to_vec()].concat(), of)
    };
    // 2026-11-25T17:03:59.5
    let at = || literal(Value::Int(1_795_626_239_500_000), stamp.clone());
    let at_part = |function| call(function, vec![at()], DataType::Int32);
    let at_trunc = |unit| call(Function::DateTrunc, vec![text(unit), at()], stamp.clone());
    check(vec![
        (of(Function::Abs, vec![n()], INT), ["7", "3", "null"]),
        (of(Function::Floor, vec![x()], FLOAT), ["1.0", "-1.0", "null"]),
        (of(Function::Ceil, vec![x()], FLOAT), ["2.0", "-0.0", "null"]),
        (of(Function::Round, vec![x()], FLOAT), ["2.0", "-0.0", "null"]),
        (of(Function::Round, vec![x(), int(1)], FLOAT), ["1.5", "-0.3", "null"]),
        (of(Function::Round, vec![price(), int(1)], decimal(15, 2)), ["12.50", "1.00", "null"]),
        (of(Function::Round, vec![price(), int(-1)], decimal(15, 2)), ["10.00", "0.00", "null"]),
        (of(Function::Round, vec![price(), int(0)], decimal(15, 0)), ["13", "1", "null"]),
        (of(Function::Floor, vec![price()], decimal(15, 0)), ["12", "0", "null"]),
        (of(Function::Ceil, vec![price()], decimal(15, 0)), ["13", "1", "null"]),
        (of(Function::Round, vec![n(), int(-1)], INT), ["10", "0", "null"]),
        (of(Function::Sqrt, vec![x()], FLOAT), ["1.224744871391589", "NaN", "null"]),
        (part(Function::Year), ["2026", "1969", "null"]),
        (part(Function::Month), ["11", "12", "null"]),
        (part(Function::Day), ["25", "31", "null"]),
        (part(Function::Quarter), ["4", "4", "null"]),
        (part(Function::DayOfWeek), ["3", "3", "null"]),
        (part(Function::DayOfYear), ["329", "365", "null"]),
        (part(Function::Hour), ["0", "0", "null"]),
        (truncated("month"), ["2026-11-01", "1969-12-01", "null"]),
        (truncated("quarter"), ["2026-10-01", "1969-10-01", "null"]),
        (truncated("week"), ["2026-11-23", "1969-12-29", "null"]),
        (later(day(), [3, 0, 0], DATE), ["2027-02-25", "1970-03-31", "null"]),
        (later(day(), [2, 1, 86_400_000_000_001], DATE), ["2027-01-27", "1970-03-02", "null"]),
        (later(day(), [-1, 0, -1], DATE), ["2026-10-25", "1969-11-30", "null"]),
        (later(at(), [-9, -25, 500_000_000], stamp.clone()), ["2026-01-31T17:04:00"; 3]),
        (truncated("YEAR"), ["2026-01-01", "1969-01-01", "null"]),
        (at_part(Function::Hour), ["17"; 3]),
        (at_part(Function::Minute), ["3"; 3]),
        (at_part(Function::Second), ["59"; 3]),
        (at_trunc("minute"), ["2026-11-25T17:03:00"; 3]),
        (at_trunc("year"), ["2026-01-01T00:00:00"; 3]),
        (at_trunc("millisecond"), ["2026-11-25T17:03:59.500"; 3]),
    ]);
}

#[test]
fn conversions() {
    let to = |value, of| cast(value, of, false);
    let stamp = DataType::Timestamp(TimeUnit::Millisecond, None);
    let parsed = |value: &str, of| cast(text(value), of, false);
    check(vec![
        (to(n(), TEXT), ["7", "-3", "null"]),
        (to(n(), FLOAT), ["7.0", "-3.0", "null"]),
        (to(n(), decimal(10, 2)), ["7.00", "-3.00", "null"]),
        (to(n(), DataType::Boolean), ["true", "true", "null"]),
        (to(x(), INT), ["1", "0", "null"]),
        (to(x(), decimal(5, 1)), ["1.5", "-0.3", "null"]),
        (to(x(), TEXT), ["1.5", "-0.25", "null"]),
        (to(price(), INT), ["12", "0", "null"]),
        (to(price(), decimal(15, 1)), ["12.5", "1.0", "null"]),
        (to(price(), decimal(20, 4)), ["12.5000", "0.9900", "null"]),
        (to(price(), FLOAT), ["12.5", "0.99", "null"]),
        (to(price(), TEXT), ["12.50", "0.99", "null"]),
        (to(ok(), INT), ["1", "0", "null"]),
        (to(ok(), TEXT), ["true", "false", "null"]),
        (to(day(), stamp.clone()), ["2026-11-25T00:00:00", "1969-12-31T00:00:00", "null"]),
        (to(to(day(), stamp.clone()), DATE), ["2026-11-25", "1969-12-31", "null"]),
        (to(day(), DataType::Int32), ["20782", "-1", "null"]),
        (to(day(), TEXT), ["2026-11-25", "1969-12-31", "null"]),
        (parsed("12", INT), ["12"; 3]),
        (parsed("2026-11-25 17:03:59.5", stamp.clone()), ["2026-11-25T17:03:59.500"; 3]),
        (cast(name(), INT, true), ["null"; 3]),
        (cast(n(), DataType::UInt8, true), ["7", "null", "null"]),
        (cast(price(), decimal(3, 2), true), ["null", "0.99", "null"]),
        (to(null(DataType::Null), INT), ["null"; 3]),
    ]);
}

#[test]
fn errors_name_the_values() {
    let max = || literal(Value::Int(i64::MAX), INT);
    let product = arithmetic(Multiply, n(), max(), INT);
    let small = |value| literal(Value::Int(value), DataType::Int8);
    let wide = || literal(Value::Decimal(10i128.pow(37)), decimal(38, 0));
    for (expression, expect) in [
        (arithmetic(Add, n(), max(), INT), "7 + 9223372036854775807 is out of range of Int64"),
        (product, "7 * 9223372036854775807 is out of range of Int64"),
        (arithmetic(Add, small(100), small(100), DataType::Int8), "100 + 100 is out of range of Int8"),
        (
            arithmetic(
                Subtract,
                cast(n(), DataType::UInt64, true),
                literal(Value::Decimal(8), DataType::UInt64),
                DataType::UInt64,
            ),
            "7 - 8 is out of range of UInt64",
        ),
        (arithmetic(Multiply, price(), wide(), decimal(38, 2)), "is out of range of Decimal128(38, 2)"),
        (divide(n(), int(0)), "division by zero: 7 / 0"),
        (divide(n(), arithmetic(Add, n(), int(3), INT)), "division by zero: -3 / 0"),
        (arithmetic(Remainder, price(), literal(Value::Decimal(0), decimal(3, 2)), decimal(3, 2)), "12.50 % 0"),
        (cast(name(), INT, false), "'Anna' cannot be converted to Int64"),
        (cast(n(), DataType::UInt8, false), "'-3' cannot be converted to UInt8"),
        (cast(text("a\nb"), DATE, false), "'a b' cannot be converted to Date32"),
        (call(Function::Substring, vec![name(), int(1), int(-1)], TEXT), "negative length: -1"),
        (call(Function::Abs, vec![literal(Value::Int(i64::MIN), INT)], INT), "abs of -9223372036854775808"),
    ] {
        let error = results(&expression).expect_err(&expression.to_string());
        assert_eq!(error.code(), Code::Invalid, "{expression}");
        let line = error.to_string();
        assert!(line.contains(expect) && !line.contains('\n'), "{expression}: {line}");
        // No row, no error; and a null has no value that could be wrong.
        let none = table().iter().map(|column| column.select(&[])).collect();
        assert_eq!(shown(&expression, none).unwrap(), [""; 0], "{expression}");
    }
}

#[test]
fn wrong_units_are_named() {
    let error = results(&call(Function::DateTrunc, vec![text("blink"), day()], DATE)).unwrap_err();
    assert!(error.to_string().contains("does not know the unit 'blink'"), "{error}");
}

#[test]
fn conditions_choose_rows() {
    let positive = || compare(Comparison::Greater, n(), int(0));
    let chosen = |all: &[Expression], columns: Vec<Vector>| match Condition::new(all)?.select(&batch(columns))? {
        Selection::All => Ok::<_, yunti_base::Error>(vec![9]),
        Selection::Rows(rows) => Ok(rows),
    };
    for (all, expect) in [
        (vec![], &[9][..]),
        (vec![positive()], &[0]),
        (vec![not(positive())], &[1]),
        (vec![boolean(Operation::IsNull(Box::new(n())))], &[2]),
        (vec![not(boolean(Operation::IsNull(Box::new(name()))))], &[9]),
        (vec![literal(Value::Bool(true), DataType::Boolean)], &[9]),
        (vec![null(DataType::Boolean)], &[]),
        (vec![like(name(), "%"), like(name(), "%n%"), ok()], &[0]),
        (
            vec![
                compare(Comparison::Less, n(), int(7)),
                compare(Comparison::Less, divide(int(1), arithmetic(Subtract, n(), int(7), INT)), int(5)),
            ],
            &[1],
        ),
    ] {
        for columns in [table(), table().iter().map(coded).collect()] {
            assert_eq!(chosen(&all, columns).unwrap(), expect, "{all:?}");
        }
    }
}

#[test]
fn deep_expressions_fit_the_stack() {
    // A worker has 2 MiB: a third of it is left to the pipeline.
    let deep = |levels: usize| {
        let mut sum = n();
        (1..levels).for_each(|_| sum = arithmetic(Add, std::mem::replace(&mut sum, int(0)), int(1), INT));
        sum
    };
    let run = move || {
        let expression = deep(super::super::node::DEPTH_MAX);
        assert_eq!(shown(&expression, table()).unwrap(), ["1006", "996", "null"]);
        let mut choice = n();
        for _ in 0..super::super::node::DEPTH_MAX - 1 {
            let branches = vec![(ok(), std::mem::replace(&mut choice, int(0)))];
            choice = Expression::new(INT, Operation::Case { branches, otherwise: Some(Box::new(int(3))) });
        }
        assert_eq!(shown(&choice, table()).unwrap(), ["7", "3", "3"]);
        let error = Evaluator::new(&deep(super::super::node::DEPTH_MAX + 1)).err().expect("too deep");
        assert_eq!(error.code(), Code::Usage);
    };
    let worker = std::thread::Builder::new().stack_size(5 << 18).spawn(run).unwrap();
    worker.join().unwrap();
}
