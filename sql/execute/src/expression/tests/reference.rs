//! Expressions computed in the plainest way, one row after the other, as a reference. `Err` stands for any error.

use arrow_schema::{DataType, TimeUnit};
use yunti_engine::columns::text::{civil_of, days_of};
use yunti_engine::columns::vector::Value::{self, *};
use yunti_sql_plan::{Arithmetic, Comparison, Expression, Function, Operation};

type Outcome = Result<Value, ()>;

fn scale(of: &DataType) -> u32 {
    if let DataType::Decimal128(_, scale) = of { *scale as u32 } else { 0 }
}

fn range(of: &DataType) -> (i128, i128) {
    match of {
        DataType::Int8 => (-128, 127),
        DataType::Int32 | DataType::Date32 => (-(1 << 31), (1 << 31) - 1),
        DataType::UInt8 => (0, 255),
        DataType::UInt64 => (0, (1 << 64) - 1),
        DataType::Decimal128(digits, _) => (1 - 10i128.pow((*digits).into()), 10i128.pow((*digits).into()) - 1),
        _ => (i64::MIN.into(), i64::MAX.into()),
    }
}

fn is_decimal(of: &DataType) -> bool {
    matches!(of, DataType::Decimal128(..) | DataType::UInt64)
}

/// Returns a whole number or units as a value of a type, if they are in its range.
fn fitted(units: i128, of: &DataType) -> Outcome {
    let (min, max) = range(of);
    match (min..=max).contains(&units) {
        false => Err(()),
        true if is_decimal(of) => Ok(Decimal(units)),
        true => Ok(Int(units as i64)),
    }
}

fn single(value: f64, of: &DataType) -> Value {
    Float(if *of == DataType::Float32 { f64::from(value as f32) } else { value })
}

fn units(value: &Value) -> i128 {
    match value {
        Int(value) => (*value).into(),
        Decimal(value) => *value,
        other => panic!("{other:?} is no number"),
    }
}

fn string(value: &Value) -> String {
    if let Bytes(bytes) = value { String::from_utf8(bytes.clone()).unwrap() } else { panic!("{value:?} is no text") }
}

fn bytes(text: String) -> Value {
    Bytes(text.into_bytes())
}

fn order(a: &Value, b: &Value, scales: [u32; 2]) -> std::cmp::Ordering {
    match (a, b) {
        (Float(a), Float(b)) => match (a.is_nan(), b.is_nan()) {
            (false, false) => a.partial_cmp(b).unwrap(),
            (a, b) => a.cmp(&b),
        },
        (Bool(a), Bool(b)) => a.cmp(b),
        (Bytes(a), Bytes(b)) => a.cmp(b),
        (a, b) => {
            assert_eq!(scales[0], scales[1]);
            units(a).cmp(&units(b))
        }
    }
}

/// Returns the value of an expression for a row.
pub fn evaluate(expression: &Expression, row: &[Value]) -> Outcome {
    let of = &expression.data_type;
    let one = |part: &Expression| evaluate(part, row);
    match &expression.operation {
        Operation::Column(number) => Ok(row[*number].clone()),
        Operation::Literal(value) => Ok(value.clone()),
        Operation::Compare(how, sides) => {
            let (a, b) = (one(&sides[0])?, one(&sides[1])?);
            let scales = [0, 1].map(|side| scale(&sides[side].data_type));
            let order = || order(&a, &b, scales);
            Ok(Bool(match (how, a == Null || b == Null) {
                (Comparison::NotDistinct, true) => a == b,
                (Comparison::Distinct, true) => a != b,
                (_, true) => return Ok(Null),
                (Comparison::Equal | Comparison::NotDistinct, _) => order().is_eq(),
                (Comparison::NotEqual | Comparison::Distinct, _) => order().is_ne(),
                (Comparison::Less, _) => order().is_lt(),
                (Comparison::LessOrEqual, _) => order().is_le(),
                (Comparison::Greater, _) => order().is_gt(),
                (Comparison::GreaterOrEqual, _) => order().is_ge(),
            }))
        }
        Operation::Arithmetic(how, sides) => {
            let (a, b) = (one(&sides[0])?, one(&sides[1])?);
            let scales = [0, 1].map(|side| scale(&sides[side].data_type));
            if a == Null || b == Null { Ok(Null) } else { arithmetic(*how, &a, &b, scales, of) }
        }
        Operation::Negate(part) => match one(part)? {
            Null => Ok(Null),
            Float(value) => Ok(Float(-value)),
            value => fitted(-units(&value), of),
        },
        Operation::And(parts) | Operation::Or(parts) => {
            let decides = Bool(matches!(expression.operation, Operation::Or(_)));
            let mut result = Bool(decides == Bool(false));
            for part in parts {
                match one(part)? {
                    Null => result = Null,
                    value if value == decides => return Ok(value),
                    _ => {}
                }
            }
            Ok(result)
        }
        Operation::Not(part) => Ok(match one(part)? {
            Bool(value) => Bool(!value),
            other => other,
        }),
        Operation::IsNull(part) => Ok(Bool(one(part)? == Null)),
        Operation::Case { branches, otherwise } => {
            for (condition, value) in branches {
                if one(condition)? == Bool(true) {
                    return one(value);
                }
            }
            otherwise.as_ref().map_or(Ok(Null), |value| one(value))
        }
        Operation::Cast { value, lenient } => {
            let from = &value.data_type;
            match one(value)? {
                Null => Ok(Null),
                value => match (convert(&value, from, of), lenient) {
                    (Err(()), true) => Ok(Null),
                    (converted, _) => converted,
                },
            }
        }
        Operation::In { value, list, negated } => {
            let value = one(value)?;
            if list.is_empty() {
                return Ok(Bool(*negated));
            }
            let is = |other: &&Value| **other != Null && order(&value, other, [0, 0]).is_eq();
            Ok(match &value {
                Null => Null,
                _ if list.iter().any(|other| is(&other)) => Bool(!negated),
                _ if list.contains(&Null) => Null,
                _ => Bool(*negated),
            })
        }
        Operation::Like { value, pattern, escape, ignore_case, negated } => Ok(match one(value)? {
            Null => Null,
            value => {
                let fold = |text: &str| if *ignore_case { text.to_lowercase() } else { text.to_string() };
                let text: Vec<char> = fold(&string(&value)).chars().collect();
                let pattern: Vec<char> = fold(pattern).chars().collect();
                Bool(like(&pattern, &text, escape.unwrap_or('\\')) != *negated)
            }
        }),
        Operation::Call(function, arguments) => called(*function, arguments, of, row),
        Operation::Scalar(_) => panic!("no plans here"),
        Operation::Foreign(..) => panic!("no foreign functions here"),
    }
}

fn like(pattern: &[char], text: &[char], escape: char) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some((c, rest)) if *c == escape && !rest.is_empty() => {
            text.first() == Some(&rest[0]) && like(&rest[1..], &text[1..], escape)
        }
        Some(('%', rest)) => (0..=text.len()).any(|at| like(rest, &text[at..], escape)),
        Some(('_', rest)) => !text.is_empty() && like(rest, &text[1..], escape),
        Some((c, rest)) => text.first() == Some(c) && like(rest, &text[1..], escape),
    }
}

fn arithmetic(how: Arithmetic, a: &Value, b: &Value, scales: [u32; 2], of: &DataType) -> Outcome {
    if let (Float(a), Float(b)) = (a, b) {
        return Ok(single(
            match how {
                Arithmetic::Add => a + b,
                Arithmetic::Subtract => a - b,
                Arithmetic::Multiply => a * b,
                Arithmetic::Divide => a / b,
                Arithmetic::Remainder => a % b,
            },
            of,
        ));
    }
    let (a, b) = (units(a), units(b));
    let up = |units: i128, by: u32| units.checked_mul(10i128.pow(by)).ok_or(());
    let common = scales[0].max(scales[1]);
    let both = || Ok::<_, ()>((up(a, common - scales[0])?, up(b, common - scales[1])?));
    if b == 0 && matches!(how, Arithmetic::Divide | Arithmetic::Remainder) {
        return Err(());
    }
    let result = match how {
        Arithmetic::Add => both()?.0.checked_add(both()?.1).ok_or(())?,
        Arithmetic::Subtract => both()?.0.checked_sub(both()?.1).ok_or(())?,
        Arithmetic::Multiply => a.checked_mul(b).ok_or(())?,
        Arithmetic::Remainder => both()?.0 % both()?.1,
        Arithmetic::Divide => up(a, scale(of) + scales[1] - scales[0])? / b,
    };
    fitted(result, of)
}

fn half_away(units: i128, step: i128) -> i128 {
    let (whole, rest) = (units / step, units % step);
    if rest.abs() * 2 >= step { whole + units.signum() } else { whole }
}

const DAY: i64 = 86_400_000_000;

pub fn text_of(value: &Value, of: &DataType) -> String {
    let date = |days: i64| {
        let (year, month, day) = civil_of(days);
        let year = if (0..=9999).contains(&year) { format!("{year:04}") } else { format!("{year:+05}") };
        format!("{year}-{month:02}-{day:02}")
    };
    match (value, of) {
        (Bool(value), _) => value.to_string(),
        (Bytes(_), _) => string(value),
        (Int(days), DataType::Date32) => date(*days),
        (Int(micros), DataType::Timestamp(..)) => {
            let (days, of_day) = (micros.div_euclid(DAY), micros.rem_euclid(DAY));
            let (seconds, part) = (of_day / 1_000_000, of_day % 1_000_000);
            let clock = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
            let part = match part {
                0 => String::new(),
                part if part % 1000 == 0 => format!(".{:03}", part / 1000),
                part => format!(".{part:06}"),
            };
            format!("{}T{clock}{part}", date(days))
        }
        (Int(value), _) => value.to_string(),
        (Decimal(units), of) if scale(of) > 0 => {
            let one = 10u128.pow(scale(of));
            let (whole, rest) = (units.unsigned_abs() / one, units.unsigned_abs() % one);
            let sign = if *units < 0 { "-" } else { "" };
            format!("{sign}{whole}.{rest:0width$}", width = scale(of) as usize)
        }
        (Decimal(units), _) => units.to_string(),
        (Float(value), of) => {
            // Numbers of the tests are small or huge: Rust writes them as ryu does, but for the ends of its range.
            let text = if *of == DataType::Float32 { format!("{:?}", *value as f32) } else { format!("{value:?}") };
            text.replace("E", "e")
        }
        (Null, _) => panic!("a null has no text"),
    }
}

fn convert(value: &Value, from: &DataType, to: &DataType) -> Outcome {
    use DataType as T;
    if from == to {
        return Ok(value.clone());
    }
    let is_float = |of: &DataType| matches!(of, T::Float32 | T::Float64);
    match (value, to) {
        (value, T::Utf8) => Ok(bytes(text_of(value, from))),
        (Bytes(_), to) => parse(&string(value), to),
        (Bool(value), to) if is_float(to) => Ok(Float(f64::from(u8::from(*value)))),
        (Bool(value), to) => fitted(i128::from(*value) * 10i128.pow(scale(to)), to),
        (Float(value), T::Boolean) => Ok(Bool(*value != 0.0)),
        (Float(value), to) if is_float(to) => Ok(single(*value, to)),
        (Float(value), to) => {
            let value = if is_decimal(to) { (value * 10f64.powi(scale(to) as i32)).round() } else { value.trunc() };
            if value.is_nan() || value.abs() >= 1.7e38 { Err(()) } else { fitted(value as i128, to) }
        }
        (Int(_) | Decimal(_), T::Boolean) => Ok(Bool(units(value) != 0)),
        (Int(value), T::Float32) => Ok(Float(f64::from(*value as f32))),
        (Int(value), T::Float64) => Ok(Float(*value as f64)),
        (Decimal(value), to) if is_float(to) => Ok(single(*value as f64 / 10f64.powi(scale(from) as i32), to)),
        (Int(days), T::Timestamp(..)) if *from == T::Date32 => days.checked_mul(DAY).map(Int).ok_or(()),
        (Int(micros), T::Date32) if matches!(from, T::Timestamp(..)) => fitted(micros.div_euclid(DAY).into(), to),
        (value, to) => {
            let (have, want) = (scale(from), scale(to));
            let units = units(value);
            let units = if want >= have {
                units.checked_mul(10i128.pow(want - have)).ok_or(())?
            } else if is_decimal(to) {
                half_away(units, 10i128.pow(have - want))
            } else {
                units / 10i128.pow(have - want)
            };
            fitted(units, to)
        }
    }
}

/// Reads the canonical spellings alone: texts of the tests have these, or are no values at all.
fn parse(text: &str, to: &DataType) -> Outcome {
    match to {
        DataType::Boolean => {
            let text = text.to_ascii_lowercase();
            let begins = |words: &[&str]| words.iter().any(|word| word.starts_with(text.trim()));
            match text.trim() {
                "" | "o" => Err(()),
                "of" | "0" => Ok(Bool(false)),
                _ if begins(&["true", "yes", "on", "1"]) => Ok(Bool(true)),
                _ if begins(&["false", "no", "off"]) => Ok(Bool(false)),
                _ => Err(()),
            }
        }
        DataType::Float64 => text.parse().map(Float).map_err(|_| ()),
        DataType::Float32 => text.parse::<f32>().map(|value| Float(value.into())).map_err(|_| ()),
        DataType::Date32 | DataType::Timestamp(..) => {
            let is_date = *to == DataType::Date32;
            if is_date && text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit()) {
                return parse(&format!("{}-{}-{}", &text[..4], &text[4..6], &text[6..]), to);
            }
            let (sign, unsigned) = match text.strip_prefix('-') {
                Some(rest) => (-1, rest),
                None => (1, text.strip_prefix('+').unwrap_or(text)),
            };
            let has_sign = unsigned.len() < text.len();
            let split = if has_sign { None } else { text.split_at_checked(text.len().min(10)) };
            let (day_text, clock) = split.unwrap_or((unsigned, ""));
            let parts: Vec<i64> =
                day_text.split('-').map(|part| part.parse().map_err(|_| ())).collect::<Result<_, _>>()?;
            let [year, month, day] = parts[..] else { return Err(()) };
            let lens: Vec<usize> = day_text.split('-').map(str::len).collect();
            if !(4..=if has_sign { 10 } else { 4 }).contains(&lens[0]) || lens[1].max(lens[2]) > 2 {
                return Err(());
            }
            let days = days_of(sign * year, month, day);
            if !(1..=12).contains(&month) || civil_of(days) != (sign * year, month, day) || (has_sign && !is_date) {
                return Err(());
            }
            let (clock, part) = clock.split_once('.').unwrap_or((clock, ""));
            let micros = match clock.len() {
                0 => 0,
                9 => {
                    let clock: Vec<i64> = clock[1..].split(':').map(|part| part.parse().unwrap()).collect();
                    let part: i64 = format!("{part:0<6}").parse().unwrap();
                    (clock[0] * 3600 + clock[1] * 60 + clock[2]) * 1_000_000 + part
                }
                _ => return Err(()),
            };
            fitted(if is_date { days.into() } else { i128::from(days) * i128::from(DAY) + i128::from(micros) }, to)
        }
        to if scale(to) > 0 => {
            let (whole, fraction) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
            let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
            let unsigned = whole.trim_start_matches('-');
            let is_empty = unsigned.is_empty() && fraction.is_empty();
            if is_empty || whole.len() > unsigned.len() + 1 || !digits(unsigned) || !digits(fraction) {
                return Err(());
            }
            // More digits change nothing: they are not zero up to there, or their sum is far out of range.
            let fraction = &fraction[..fraction.len().min(24)];
            let all: i128 = format!("{unsigned}{fraction}").parse().map_err(|_| ())?;
            let units = match scale(to).checked_sub(fraction.len() as u32) {
                Some(more) => all.checked_mul(10i128.pow(more)).ok_or(())?,
                None => half_away(all, 10i128.pow(fraction.len() as u32 - scale(to))),
            };
            fitted(if whole.starts_with('-') { -units } else { units }, to)
        }
        DataType::UInt64 => text.parse::<u64>().map(|value| Decimal(value.into())).map_err(|_| ()),
        to => text.parse::<i64>().map_err(|_| ()).and_then(|value| fitted(value.into(), to)),
    }
}

fn called(function: Function, arguments: &[Expression], of: &DataType, row: &[Value]) -> Outcome {
    match function {
        Function::Coalesce => {
            for argument in arguments {
                let value = evaluate(argument, row)?;
                if value != Null {
                    return Ok(value);
                }
            }
            return Ok(Null);
        }
        Function::NullIf => {
            let first = evaluate(&arguments[0], row)?;
            if first == Null {
                return Ok(Null);
            }
            let second = evaluate(&arguments[1], row)?;
            return Ok(if second != Null && order(&first, &second, [0, 0]).is_eq() { Null } else { first });
        }
        _ => {}
    }
    let values = arguments.iter().map(|argument| evaluate(argument, row)).collect::<Result<Vec<_>, _>>()?;
    if function == Function::Concat {
        return Ok(bytes(values.iter().filter(|value| **value != Null).map(string).collect()));
    }
    if values.contains(&Null) {
        return Ok(Null);
    }
    let first_type = &arguments[0].data_type;
    let int = |at: usize| if let Int(value) = values[at] { value } else { panic!("{:?} is no number", values[at]) };
    let text = |at: usize| string(&values[at]);
    let is_micros = matches!(first_type, DataType::Timestamp(TimeUnit::Microsecond, _));
    let days = |at: usize| if is_micros { int(at).div_euclid(DAY) } else { int(at) };
    let seconds = || if is_micros { int(0).rem_euclid(DAY) / 1_000_000 } else { 0 };
    Ok(match function {
        Function::Join => bytes(values.iter().map(string).collect()),
        Function::Lower => bytes(text(0).to_lowercase()),
        Function::Upper => bytes(text(0).to_uppercase()),
        Function::Trim => bytes(text(0).trim_matches(' ').into()),
        Function::TrimStart => bytes(text(0).trim_start_matches(' ').into()),
        Function::TrimEnd => bytes(text(0).trim_end_matches(' ').into()),
        Function::Length => Int(text(0).chars().count() as i64),
        Function::StartsWith => Bool(text(0).starts_with(&text(1))),
        Function::EndsWith => Bool(text(0).ends_with(&text(1))),
        Function::Contains => Bool(text(0).contains(&text(1))),
        Function::Substring => {
            let (start, len) = (int(1), values.get(2).map(|_| int(2)));
            if len.is_some_and(|len| len < 0) {
                return Err(());
            }
            let end = len.map_or(i64::MAX, |len| start.saturating_add(len));
            bytes((1..).zip(text(0).chars()).filter(|(at, _)| (start..end).contains(at)).map(|(_, c)| c).collect())
        }
        Function::Year => Int(civil_of(days(0)).0),
        Function::Month => Int(civil_of(days(0)).1),
        Function::Day => Int(civil_of(days(0)).2),
        Function::Quarter => Int((civil_of(days(0)).1 - 1) / 3 + 1),
        Function::DayOfWeek => Int((days(0) + 4).rem_euclid(7)),
        Function::DayOfYear => Int(days(0) - days_of(civil_of(days(0)).0, 1, 1) + 1),
        Function::Hour => Int(seconds() / 3600),
        Function::Minute => Int(seconds() / 60 % 60),
        Function::Second => Int(seconds() % 60),
        Function::DateTrunc => {
            let is_micros = *of != DataType::Date32;
            let (day, of_day) = if is_micros { (int(1).div_euclid(DAY), int(1).rem_euclid(DAY)) } else { (int(1), 0) };
            let (year, month, _) = civil_of(day);
            let (day, of_day) = match &text(0)[..] {
                "year" => (days_of(year, 1, 1), 0),
                "quarter" => (days_of(year, (month - 1) / 3 * 3 + 1, 1), 0),
                "month" => (days_of(year, month, 1), 0),
                "week" => (monday(day), 0),
                "day" => (day, 0),
                "hour" => (day, of_day / 3_600_000_000 * 3_600_000_000),
                "minute" => (day, of_day / 60_000_000 * 60_000_000),
                "second" => (day, of_day / 1_000_000 * 1_000_000),
                other => panic!("{other}"),
            };
            if is_micros { Int(day * DAY + of_day) } else { Int(day) }
        }
        Function::Sqrt => match &values[0] {
            Float(value) => single(value.sqrt(), of),
            other => panic!("{other:?}"),
        },
        Function::Abs | Function::Floor | Function::Ceil | Function::Round | Function::RoundEven => match &values[0] {
            Float(value) => single(
                match function {
                    Function::Abs => value.abs(),
                    Function::Floor => value.floor(),
                    Function::Ceil => value.ceil(),
                    Function::RoundEven if value.fract().abs() == 0.5 => (value / 2.0).round() * 2.0,
                    Function::RoundEven => value.round(),
                    _ => value.round(),
                },
                of,
            ),
            value => {
                let digits = if values.len() > 1 { int(1) } else { 0 };
                let cut = (i64::from(scale(first_type)) - digits).max(0) as u32;
                let (value, step) = (units(value), 10i128.pow(cut.min(38)));
                let result = match function {
                    Function::Abs => value.abs(),
                    Function::Floor => value.div_euclid(step) * step,
                    Function::Ceil => -(-value).div_euclid(step) * step,
                    _ => half_away(value, step) * step,
                };
                return fitted(result, of);
            }
        },
        other => panic!("{other:?}"),
    })
}

/// Returns the last Monday up to a day.
fn monday(day: i64) -> i64 {
    // 1970-01-05 was a Monday.
    (0..7).map(|back| day - back).find(|day| (day - 4).rem_euclid(7) == 0).unwrap()
}
