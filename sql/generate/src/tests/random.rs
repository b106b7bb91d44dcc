//! Random columns and expressions of numbers, booleans, dates and a few texts.

use std::sync::Arc;

use arrow_schema::DataType;
use yunti_engine::columns::vector::{Bytes, Data, Value, Vector};
use yunti_sql_plan::{Arithmetic, Batch, Comparison, Expression, Function, Operation};

/// Random numbers (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

pub const MONEY: DataType = DataType::Decimal128(15, 2);
const RATE: DataType = DataType::Decimal128(5, 4);
const WIDE: DataType = DataType::Decimal128(38, 6);

pub const TYPES: [DataType; 10] = [
    DataType::Boolean,
    DataType::Int32,
    DataType::Int64,
    DataType::Float64,
    DataType::Float32,
    MONEY,
    RATE,
    WIDE,
    DataType::Date32,
    DataType::Utf8,
];

/// A batch has two columns of each type.
pub const COLUMNS: usize = 2 * TYPES.len();

pub fn types() -> Vec<DataType> {
    (0..COLUMNS).map(|n| TYPES[n % TYPES.len()].clone()).collect()
}

pub fn value(random: &mut Random, of: &DataType) -> Value {
    let edge = random.one_in(30);
    let small = random.below(41) as i64 - 20;
    match of {
        DataType::Boolean => Value::Bool(random.one_in(2)),
        DataType::Int32 => Value::Int(if edge { *random.pick(&[i32::MIN as i64, i32::MAX as i64]) } else { small }),
        DataType::Int64 => Value::Int(if edge { *random.pick(&[i64::MIN, i64::MAX, 1 << 40, -1]) } else { small }),
        DataType::Float32 | DataType::Float64 => {
            let edges = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.0, 1e30f32 as f64, -9.3e18];
            Value::Float(if edge { *random.pick(&edges) } else { (random.below(400) as f64 - 200.0) / 8.0 })
        }
        DataType::Decimal128(digits, _) => {
            let limit = 10i128.pow((*digits).into());
            let units = i128::from(random.next() as i64) * 1_000_000_007 * 1_000_000_007 % limit;
            Value::Decimal(if edge { units } else { units % 2000 })
        }
        DataType::Utf8 => Value::Bytes(random.pick(&["", "a", "ab", "b", "10", "x7"]).as_bytes().to_vec()),
        _ => Value::Int(random.below(40_000) as i64 - 10_000),
    }
}

pub fn data(values: &[Value], of: &DataType, random: &mut Random) -> Data {
    let int = |value: &Value| if let Value::Int(value) = value { *value } else { 0 };
    match of {
        DataType::Boolean => Data::Bools(values.iter().map(|v| *v == Value::Bool(true)).collect()),
        DataType::Float32 | DataType::Float64 => {
            Data::Floats(values.iter().map(|v| if let Value::Float(v) = v { *v } else { 0.0 }).collect())
        }
        DataType::Decimal128(..) => {
            let units: Vec<i128> = values.iter().map(|v| if let Value::Decimal(v) = v { *v } else { 0 }).collect();
            match units.iter().map(|&unit| i64::try_from(unit)).collect::<Result<Vec<_>, _>>() {
                Ok(small) if !random.one_in(3) => Data::SmallDecimals(small),
                _ => Data::Decimals(units),
            }
        }
        DataType::Utf8 => {
            let texts = values.iter().map(|v| if let Value::Bytes(v) = v { &v[..] } else { b"" });
            Data::Bytes(texts.collect::<Bytes>())
        }
        _ => Data::Ints(values.iter().map(int).collect()),
    }
}

/// Returns a column in a random shape that its type allows.
pub fn vector(random: &mut Random, of: &DataType, rows: usize, always_coded: bool) -> Vector {
    let nulls: Option<Vec<bool>> = match random.below(3) {
        0 => Some((0..rows).map(|_| random.one_in(4)).collect()),
        _ => None,
    };
    let is_coded = always_coded || random.one_in(2);
    let count = if is_coded { 1 + random.below(9) } else { rows };
    let values: Vec<Value> = (0..count).map(|_| value(random, of)).collect();
    let data = match (is_coded, data(&values, of, random)) {
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

pub fn batch(random: &mut Random) -> Batch {
    let rows = *random.pick(&[0, 1, 2, 9, 70, 300]);
    Batch::of(types().iter().map(|of| vector(random, of, rows, false)).collect(), rows)
}

fn boxed(random: &mut Random, of: &DataType, levels: usize) -> Box<Expression> {
    Box::new(expression(random, of, levels))
}

fn leaf(random: &mut Random, of: &DataType) -> Expression {
    let place = TYPES.iter().position(|one| one == of).unwrap();
    match random.below(10) {
        0 if random.one_in(4) => Expression::new(of.clone(), Operation::Literal(Value::Null)),
        0..3 => Expression::new(of.clone(), Operation::Literal(value(random, of))),
        n => Expression::column(if n < 7 { place } else { place + TYPES.len() }, of.clone()),
    }
}

/// Returns an expression of a type.
pub fn expression(random: &mut Random, of: &DataType, levels: usize) -> Expression {
    if levels == 0 || random.one_in(6) || *of == DataType::Utf8 {
        return leaf(random, of);
    }
    let below = levels - 1;
    let new = |operation| Expression::new(of.clone(), operation);
    match random.below(9) {
        0 => {
            let mut branches = Vec::new();
            for _ in 0..1 + random.below(3) {
                branches.push((expression(random, &DataType::Boolean, below), expression(random, of, below)));
            }
            let otherwise = random.one_in(2).then(|| boxed(random, of, below));
            return new(Operation::Case { branches, otherwise });
        }
        1 => {
            let arguments = (0..1 + random.below(3)).map(|_| expression(random, of, below)).collect();
            return new(Operation::Call(Function::Coalesce, arguments));
        }
        2 => {
            let from = loop {
                let from = random.pick(&TYPES[..9]).clone();
                if (from == DataType::Date32) == (*of == DataType::Date32) {
                    break from;
                }
            };
            let value = boxed(random, &from, below);
            return new(Operation::Cast { value, lenient: random.one_in(2) });
        }
        _ => {}
    }
    let all = [Arithmetic::Add, Arithmetic::Subtract, Arithmetic::Multiply, Arithmetic::Divide, Arithmetic::Remainder];
    let how = *random.pick(&all);
    match of {
        DataType::Boolean => condition(random, below),
        DataType::Date32 => {
            let sides = [expression(random, of, below), expression(random, &DataType::Int32, below)];
            new(Operation::Arithmetic(*random.pick(&all[..2]), Box::new(sides)))
        }
        DataType::Decimal128(..) => {
            let types = [MONEY, RATE, WIDE];
            let (a, b) = (random.pick(&types).clone(), random.pick(&types).clone());
            let result = result_of(how, &a, &b);
            let sides = [expression(random, &a, below), expression(random, &b, below)];
            let value = Expression::new(result.clone(), Operation::Arithmetic(how, Box::new(sides)));
            match result == *of {
                true => value,
                false => new(Operation::Cast { value: Box::new(value), lenient: random.one_in(2) }),
            }
        }
        _ if random.one_in(5) => new(Operation::Negate(boxed(random, of, below))),
        _ => {
            let sides = [expression(random, of, below), expression(random, of, below)];
            new(Operation::Arithmetic(how, Box::new(sides)))
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

fn condition(random: &mut Random, below: usize) -> Expression {
    let of = random.pick(&TYPES).clone();
    let hows = [
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::Less,
        Comparison::LessOrEqual,
        Comparison::Greater,
        Comparison::GreaterOrEqual,
        Comparison::NotDistinct,
        Comparison::Distinct,
    ];
    let operation = match random.below(8) {
        0..3 => {
            let sides = [expression(random, &of, below), expression(random, &of, below)];
            Operation::Compare(*random.pick(&hows), Box::new(sides))
        }
        3 | 4 => {
            let parts = (0..2 + random.below(2)).map(|_| expression(random, &DataType::Boolean, below)).collect();
            if random.one_in(2) { Operation::And(parts) } else { Operation::Or(parts) }
        }
        5 => Operation::Not(boxed(random, &DataType::Boolean, below)),
        6 => Operation::IsNull(boxed(random, &of, below)),
        _ => {
            let len = *random.pick(&[0, 1, 3, 9, 40]);
            let mut list: Vec<Value> = (0..len).map(|_| value(random, &of)).collect();
            if random.one_in(4) {
                list.push(Value::Null);
            }
            Operation::In { value: boxed(random, &of, below), list, negated: random.one_in(2) }
        }
    };
    Expression::new(DataType::Boolean, operation)
}
