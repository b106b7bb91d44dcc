//! Tests of expressions: each as text, with its result as text.

use std::borrow::Cow;
use std::sync::Arc;

use super::parse::{parse, parse_list};
use super::{Field, bind};
use crate::columns::kind::{Kind, Unit};
use crate::columns::text::{Builder, put};
use crate::columns::vector::{Data, Vector};
use yunti_base::Result;

/// Columns of three rows; the last one is null, or empty text.
fn table() -> (Vec<Field>, Vec<Vector>) {
    let stamp = Kind::Timestamp { unit: Unit::Millisecond, utc: false };
    let columns = [
        ("n", Kind::Int, ["7", "-3", ""]),
        ("zero", Kind::Int, ["0", "0", "0"]),
        ("x", Kind::Float, ["1.5", "-0.25", ""]),
        ("price", Kind::Decimal { scale: 2 }, ["12.50", "0.99", ""]),
        ("name", Kind::Text, ["Anna", "bob", ""]),
        ("day", Kind::Date, ["2026-11-25", "1999-12-31", ""]),
        ("at", stamp, ["2026-11-25T17:03:59.5", "1969-12-31T23:59:59", ""]),
        ("ok", Kind::Boolean, ["true", "false", ""]),
        ("user.name", Kind::Text, ["a", "b", "c"]),
    ];
    let of = |(name, kind, cells): (&str, Kind, [&str; 3])| {
        let mut built = Builder::new(kind);
        cells.iter().for_each(|cell| assert!(built.push(cell.as_bytes()), "{cell}"));
        (Field { name: name.into(), kind }, built.take())
    };
    columns.into_iter().map(of).unzip()
}

fn results(text: &str) -> Result<Vec<String>> {
    let (fields, columns) = table();
    let typed = bind(&parse(text)?, &fields)?;
    let shown = |values: &Vector, row: usize| {
        let mut out = Vec::new();
        put(typed.kind, &values.value(row), &mut out);
        if values.is_null(row) { "null".into() } else { String::from_utf8(out).unwrap() }
    };
    let of = |columns: &[Vector], rows: usize| {
        let values = typed.evaluate(columns, rows)?;
        Ok((0..rows).map(|row| shown(&values, row)).collect::<Vec<String>>())
    };
    let plain: Result<Vec<String>> = of(&columns, 3);
    // Other shapes of the same values give the same.
    let turns: Vec<u32> = [0, 1, 2].repeat(4);
    for shape in [Vector::decoded, small, coded] {
        let columns: Vec<Vector> = columns.iter().map(|column| shape(&column.select(&turns)).into_owned()).collect();
        match (&plain, of(&columns, 12)) {
            (Ok(plain), other) => assert_eq!(vec![plain.clone(); 4].concat(), other.unwrap(), "{text}"),
            (Err(plain), other) => assert_eq!(plain.to_string(), other.unwrap_err().to_string(), "{text}"),
        }
    }
    plain
}

/// Gives decimals in 64 bits.
fn small(column: &Vector) -> Cow<'_, Vector> {
    let Data::Decimals(values) = &column.data else { return Cow::Borrowed(column) };
    let data = Data::SmallDecimals(values.iter().map(|v| i64::try_from(*v).unwrap()).collect());
    Cow::Owned(Vector { data, nulls: column.nulls.clone() })
}

/// Gives the values of three rows as codes, in a dictionary with one that no row has.
fn coded(column: &Vector) -> Cow<'_, Vector> {
    let mut values = small(column).data.select(&[2, 1, 0]);
    match &mut values {
        Data::Ints(v) | Data::SmallDecimals(v) => v.push(i64::MAX),
        Data::Floats(v) => v.push(f64::NAN),
        _ => return Cow::Borrowed(column),
    }
    let codes = (0..column.len() as u32).map(|row| 2 - row % 3).collect();
    Cow::Owned(Vector { data: Data::NumberCodes(codes, Arc::new(values)), nulls: column.nulls.clone() })
}

#[test]
fn values_of_rows() {
    for (text, expect) in [
        ("n", ["7", "-3", "null"]),
        ("n + 1", ["8", "-2", "null"]),
        ("1 + 2 * n", ["15", "-5", "null"]),
        ("-n - -1", ["-6", "4", "null"]),
        ("n % 4", ["3", "-3", "null"]),
        ("n / 2", ["3.5", "-1.5", "null"]),
        ("n / zero", ["null", "null", "null"]),
        ("n % zero", ["null", "null", "null"]),
        ("n * 1.5", ["10.5", "-4.5", "null"]),
        ("price * 2", ["25.00", "1.98", "null"]),
        ("price * 1.1", ["13.750", "1.089", "null"]),
        ("price + 1", ["13.50", "1.99", "null"]),
        ("price - 0.001", ["12.499", "0.989", "null"]),
        ("x * price", ["18.75", "-0.2475", "null"]),
        ("-9223372036854775808 + zero", ["-9223372036854775808"; 3]),
        ("99999999999999999999 + zero", ["99999999999999999999"; 3]),
        ("1e3 + zero", ["1000.0"; 3]),
        ("n > 0", ["true", "false", "null"]),
        ("n <> 7", ["false", "true", "null"]),
        ("n != 7 or n is null", ["false", "true", "true"]),
        ("x >= -0.25", ["true", "true", "null"]),
        ("price = 12.5", ["true", "false", "null"]),
        ("price > n", ["true", "true", "null"]),
        ("n between -3 and 0", ["false", "true", "null"]),
        ("n not between -3 and 0", ["true", "false", "null"]),
        ("n in (7, 8)", ["true", "false", "null"]),
        ("n not in (7, null)", ["false", "null", "null"]),
        ("price in (0.990, 1)", ["false", "true", "null"]),
        ("name in ('bob', '')", ["false", "true", "true"]),
        ("n in (zero, 7)", ["true", "false", "null"]),
        ("name = 'Anna'", ["true", "false", "false"]),
        ("name < 'a'", ["true", "false", "true"]),
        ("name like '%n_'", ["true", "false", "false"]),
        ("name not like '%n%'", ["false", "true", "true"]),
        ("name || '-' || n", ["Anna-7", "bob--3", "-"]),
        ("upper(name) || lower(name)", ["ANNAanna", "BOBbob", ""]),
        ("length(name)", ["4", "3", "0"]),
        ("substr(name, 2, 2)", ["nn", "ob", ""]),
        ("substring(name, 3)", ["na", "b", ""]),
        ("substr(name, 0, 2)", ["A", "b", ""]),
        ("trim('  a ')", ["a"; 3]),
        ("day < date '2000-01-01'", ["false", "true", "null"]),
        ("day = '2026-11-25'", ["true", "false", "null"]),
        ("day + 7", ["2026-12-02", "2000-01-07", "null"]),
        ("day - date '2026-11-01'", ["24", "-9802", "null"]),
        ("at > '2000-01-01'", ["true", "false", "null"]),
        ("at >= day", ["true", "false", "null"]),
        ("year(day) * 100 + month(at)", ["202611", "199912", "null"]),
        ("hour(at) * 60 + minute(at)", ["1023", "1439", "null"]),
        ("cast(at as date)", ["2026-11-25", "1969-12-31", "null"]),
        ("cast(name as varchar(3))", ["Anna", "bob", ""]),
        ("cast(n as text)", ["7", "-3", "null"]),
        ("cast(x as bigint)", ["2", "0", "null"]),
        ("cast(price as decimal(10, 1))", ["12.5", "1.0", "null"]),
        ("cast('12' as int) + n", ["19", "9", "null"]),
        ("cast(n as Decimal128(10, 2))", ["7.00", "-3.00", "null"]),
        ("cast(ok as int)", ["1", "0", "null"]),
        ("ok", ["true", "false", "null"]),
        ("not ok", ["false", "true", "null"]),
        ("ok and n > 0", ["true", "false", "null"]),
        ("ok or true", ["true"; 3]),
        ("false and ok", ["false"; 3]),
        ("ok = true", ["true", "false", "null"]),
        ("ok is not null", ["true", "true", "false"]),
        ("null is null", ["true"; 3]),
        ("n = null", ["null"; 3]),
        ("null + 1", ["null"; 3]),
        ("coalesce(n, zero, 9)", ["7", "-3", "0"]),
        ("coalesce(x, n)", ["1.5", "-0.25", "null"]),
        ("nullif(n, 7)", ["null", "-3", "null"]),
        ("abs(n) + abs(x)", ["8.5", "3.25", "null"]),
        ("round(x)", ["2.0", "-0.0", "null"]),
        ("round(price, 1)", ["12.50", "1.00", "null"]),
        ("round(1250, -2) + zero", ["1300"; 3]),
        ("floor(x) + ceil(x)", ["3.0", "-1.0", "null"]),
        ("case when n > 0 then 'plus' when n < 0 then 'minus' end", ["plus", "minus", "null"]),
        ("case when ok then n else 0.5 end", ["7.0", "0.5", "0.5"]),
        ("\"user.name\"", ["a", "b", "c"]),
        ("user.name", ["a", "b", "c"]),
        ("NOT N = 1", ["error"; 3]),
    ] {
        let found = results(text).unwrap_or_else(|_| vec!["error".into(); 3]);
        assert_eq!(found, expect, "{text}");
    }
}

#[test]
fn errors_name_the_place_or_the_types() {
    for (text, expect) in [
        ("", "expected a value at character 1, found the end"),
        ("n +", "expected a value at character 4, found the end"),
        ("n 1", "expected an operator or the end at character 3, found '1'"),
        ("(n", "expected ')' at character 3, found the end"),
        ("n = 'a", "the quote at character 5 has no end"),
        ("n ? 1", "the character 3 (?) begins nothing known"),
        ("n and", "expected a value at character 6"),
        ("n in ()", "expected a value at character 7"),
        ("case n end", "expected 'when' at character 6"),
        ("cast(n as)", "expected a name at character 10"),
        ("m > 1", "there is no column m"),
        ("name > 1", "cannot be compared"),
        ("name + 1", "arithmetic needs numbers"),
        ("n and ok", "need true or false"),
        ("not n", "need true or false"),
        ("n like '7'", "like needs a text"),
        ("name like name", "must be a text in single quotes"),
        ("day = 'soon'", "'soon' is no value of the type Date32"),
        ("frob(n)", "there is no function frob"),
        ("sum(n)", "there is no function sum"),
        ("length()", "cannot have 0 arguments"),
        ("year(n)", "needs a date or a time"),
        ("cast(day as bigint)", "cannot be made from another type"),
        ("9223372036854775807 + n", "too large for Int64"),
        ("cast(name as int)", "'Anna' cannot be converted to Int64"),
    ] {
        let found = results(text).expect_err(text).to_string();
        assert!(found.contains(expect), "{text}: {found}");
        assert!(!found.contains('\n'), "{found}");
    }
    let deep = "(".repeat(5000);
    assert!(results(&deep).expect_err("deep").to_string().contains("nested"));
    assert!(results(&vec!["n = 1"; 5000].join(" or ")).expect_err("long").to_string().contains("more than"));
    let deep = "not ".repeat(50_000) + "ok";
    assert_eq!(results(&deep).unwrap()[0], "true");
}

#[test]
fn lists_have_names_and_texts() {
    let list = parse_list("sum(n) as total, count(*),  max( x )").unwrap();
    let names: Vec<_> = list.iter().map(|(_, name, text)| (name.as_deref(), &text[..])).collect();
    assert_eq!(names, [(Some("total"), "sum(n)"), (None, "count(*)"), (None, "max( x )")]);
    assert!(parse_list("n,").is_err() && parse_list("n as").is_err() && parse_list("n m").is_err());
}

#[test]
fn conditions_choose_rows() {
    let (fields, columns) = table();
    for (text, expect) in [("n > 0", &[0][..]), ("n is null or n < 0", &[1, 2]), ("ok", &[0]), ("true", &[0, 1, 2])] {
        let typed = bind(&parse(text).unwrap(), &fields).unwrap().into_condition().unwrap();
        assert_eq!(typed.rows(&columns, 3).unwrap(), expect, "{text}");
    }
}
