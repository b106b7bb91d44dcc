//! Aggregates with the stages before them: the same groups, or an error where kernels have one.

use arrow_schema::DataType;
use yunti_engine::columns::vector::Value;
use yunti_sql_plan::{Aggregate, AggregateFunction, Batch, Expression, Node};

use super::expressions::{check, stages, table};
use super::for_seeds;
use super::random::{self, COLUMNS, Random, TYPES, types};

/// Returns a call, and the type of its result.
fn call(random: &mut Random, levels: usize) -> Aggregate {
    let of = random.pick(&TYPES).clone();
    let is_number = matches!(of, DataType::Int32 | DataType::Int64 | DataType::Decimal128(..));
    let (function, data_type) = match random.below(6) {
        0 => (AggregateFunction::Count, DataType::Int64),
        1 if of != DataType::Utf8 => (AggregateFunction::Min, of.clone()),
        2 if of != DataType::Utf8 => (AggregateFunction::Max, of.clone()),
        3..5 if is_number => {
            let sum = match &of {
                DataType::Decimal128(_, scale) => DataType::Decimal128(38, *scale),
                _ => DataType::Int64,
            };
            (AggregateFunction::Sum, sum)
        }
        5 if is_number => (AggregateFunction::Average, DataType::Float64),
        _ => (AggregateFunction::Count, DataType::Int64),
    };
    let has_argument = function != AggregateFunction::Count || random.one_in(2);
    let argument = has_argument.then(|| random::expression(random, &of, levels));
    let condition = random.one_in(4).then(|| random::expression(random, &DataType::Boolean, levels));
    Aggregate { function, argument, distinct: false, condition, data_type, foreign: None }
}

#[test]
fn code_gives_the_groups_of_kernels() {
    let (taken, all) = (std::cell::Cell::new(0u64), std::cell::Cell::new(0u64));
    for_seeds(400, |seed| {
        let mut random = Random(seed);
        let levels = random.below(3);
        let keys: Vec<usize> = (0..random.below(3)).map(|_| random.below(COLUMNS)).collect();
        let batches: Vec<Batch> = (0..1 + random.below(3))
            .map(|_| {
                let rows = *random.pick(&[0, 1, 9, 70, 300]);
                let of = types();
                let columns =
                    of.iter().enumerate().map(|(n, of)| random::vector(&mut random, of, rows, keys.contains(&n)));
                Batch::of(columns.collect(), rows)
            })
            .collect();
        let mut input = table(batches, types());
        let has_stages = random.one_in(2);
        if has_stages {
            let condition = random::expression(&mut random, &DataType::Boolean, levels);
            input = Node::Filter { input: Box::new(input), condition };
        } else if let (Node::Scan(scan), true) = (&mut input, random.one_in(2)) {
            scan.conditions.push(random::expression(&mut random, &DataType::Boolean, levels));
        }
        if random.one_in(3) {
            input = stages(&mut random, input, levels);
        }
        let of = input.types();
        let keys: Vec<Expression> = keys.iter().map(|&n| Expression::column(n, of[n].clone())).collect();
        let aggregates = (0..1 + random.below(4)).map(|_| call(&mut random, levels)).collect();
        let plan = Node::Aggregate { input: Box::new(input), keys, sets: Vec::new(), aggregates };
        let shown = || format!("YUNTI_SEED={seed}: {plan}");
        taken.set(taken.get() + u64::from(check(&plan, shown)));
        all.set(all.get() + 1);
    });
    assert!(all.get() < 100 || taken.get() * 4 > all.get(), "code took {} of {} plans", taken.get(), all.get());
}

/// Sums that leave 64 bits, and sums that leave their type.
#[test]
fn sums_are_exact() {
    use std::sync::Arc;
    use yunti_engine::columns::vector::{Data, Vector};
    let of = DataType::Decimal128(38, 0);
    for (units, expect) in [
        (vec![i64::MAX as i128; 5], Some(i64::MAX as i128 * 5)),
        (vec![i64::MIN as i128; 5], Some(i64::MIN as i128 * 5)),
        (vec![10i128.pow(37); 9], Some(9 * 10i128.pow(37))),
        (vec![10i128.pow(37); 10], None),
    ] {
        let codes = Vector::of(Data::NumberCodes(vec![0; units.len()], Arc::new(Data::Ints(vec![7]))));
        let rows = units.len();
        let batch = Batch::of(vec![codes, Vector::of(Data::Decimals(units))], rows);
        let input = table(vec![batch], vec![DataType::Int64, of.clone()]);
        let sum = Aggregate {
            function: AggregateFunction::Sum,
            argument: Some(Expression::column(1, of.clone())),
            distinct: false,
            condition: None,
            data_type: of.clone(),
            foreign: None,
        };
        let keys = vec![Expression::column(0, DataType::Int64)];
        let plan = Node::Aggregate { input: Box::new(input), keys, sets: Vec::new(), aggregates: vec![sum] };
        check(&plan, || plan.to_string());
        let found = super::expressions::rows_of(&plan, &super::expressions::context(1));
        assert_eq!(found.ok().map(|rows| rows[0][1].clone()), expect.map(Value::Decimal));
    }
}
