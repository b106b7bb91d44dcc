//! Sorts against a stable sort of the rows by all their columns.

use std::cmp::Ordering;

use arrow_schema::DataType;
use yunti_engine::columns::normal::ordered_float;
use yunti_engine::columns::vector::Value;
use yunti_engine::env::random::Random;
use yunti_sql_plan::SortKey;

use crate::store::random::{self, Row, below, column, context, text};

fn compare(a: &Value, b: &Value, descending: bool, nulls_first: bool) -> Ordering {
    let order = match (a, b) {
        (Value::Null, Value::Null) => return Ordering::Equal,
        (Value::Null, _) => return if nulls_first { Ordering::Less } else { Ordering::Greater },
        (_, Value::Null) => return if nulls_first { Ordering::Greater } else { Ordering::Less },
        (Value::Float(a), Value::Float(b)) => ordered_float(*a).cmp(&ordered_float(*b)),
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Decimal(a), Value::Decimal(b)) => a.cmp(b),
        (Value::Bytes(a), Value::Bytes(b)) => a.cmp(b),
        _ => panic!("values of two types"),
    };
    if descending { order.reverse() } else { order }
}

/// Returns rows in order. -0.0 becomes 0.0, and NaN one NaN: they are the same to an order.
fn expect(rows: &[Row], keys: &[SortKey], places: &[usize], limit: Option<usize>) -> Vec<String> {
    let mut rows = rows.to_vec();
    rows.sort_by(|a, b| {
        let by_key = keys.iter().zip(places).map(|(key, &n)| compare(&a[n], &b[n], key.descending, key.nulls_first));
        let by_column = (0..a.len()).map(|n| compare(&a[n], &b[n], false, false));
        by_key.chain(by_column).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    });
    rows.iter().take(limit.unwrap_or(usize::MAX)).map(|row| plain(&text(row))).collect()
}

fn plain(text: &str) -> String {
    text.replace("Float(-0.0)", "Float(0.0)")
}

pub fn check(random: &mut Random, types: &[DataType], rows: &[Row], limit: Option<usize>, threads: usize, bytes: u64) {
    let places: Vec<usize> = (0..1 + below(random, 3)).map(|_| below(random, types.len())).collect();
    let keys: Vec<SortKey> = places
        .iter()
        .map(|&n| SortKey {
            value: column(n, &types[n]),
            descending: below(random, 2) == 0,
            nulls_first: below(random, 2) == 0,
        })
        .collect();
    let context = context(threads, bytes);
    let most = [1, 7, 100, 5000][below(random, 4)];
    let input = random::pipeline(random, types, rows, most);
    let pipeline = super::run(&input, &keys, limit, &context).unwrap();
    let have: Vec<String> = random::run(&pipeline, &context).unwrap().iter().map(|row| plain(row)).collect();
    drop(pipeline);
    assert_eq!(context.budget.used_bytes(), 0, "memory is given back");
    let mut want = expect(rows, &keys, &places, limit);
    // A key that comes twice has the order of the first.
    want.truncate(limit.unwrap_or(usize::MAX));
    assert!(have == want, "{} rows, limit {limit:?}, by {keys:?}\n{:?}\n{:?}", rows.len(), first(&have, &want), types);
}

fn first<'a>(a: &'a [String], b: &'a [String]) -> Option<(usize, &'a String, &'a String)> {
    a.iter().zip(b).enumerate().find(|(_, (a, b))| a != b).map(|(n, (a, b))| (n, a, b))
}

#[test]
fn equals_a_stable_sort_for_each_type() {
    let mut random = Random::new(31);
    for _ in 0..400 {
        let types: Vec<DataType> =
            (0..1 + below(&mut random, 4)).map(|_| random::all_types()[below(&mut random, 7)].clone()).collect();
        let (n, distinct) = ([0, 1, 30, 800][below(&mut random, 4)], [2, 10, 1000][below(&mut random, 3)]);
        let rows = random::rows(&mut random, &types, n, distinct, 10);
        let limit = [None, Some(0), Some(1), Some(10), Some(200)][below(&mut random, 5)];
        let threads = 1 + below(&mut random, 4);
        check(&mut random, &types, &rows, limit, threads, 1 << 30);
    }
}

/// Budgets that allow no row, or some of them in memory.
#[test]
fn small_budgets_give_the_same_order() {
    let mut random = Random::new(35);
    for _ in 0..150 {
        let types: Vec<DataType> =
            (0..1 + below(&mut random, 4)).map(|_| random::all_types()[below(&mut random, 7)].clone()).collect();
        let (n, distinct) = ([30, 2000][below(&mut random, 2)], [2, 10, 1000][below(&mut random, 3)]);
        let rows = random::rows(&mut random, &types, n, distinct, 10);
        let limit = [None, Some(1), Some(10), Some(900)][below(&mut random, 4)];
        let threads = 1 + below(&mut random, 4);
        let bytes = [0, 2 << 10, 30 << 10, 200 << 10][below(&mut random, 4)];
        check(&mut random, &types, &rows, limit, threads, bytes);
    }
}
