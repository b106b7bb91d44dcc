//! Functions whose arguments are all computed first.

mod checked;
mod dates;
pub mod intervals;
mod numbers;
mod texts;

use yunti_base::Result;
use yunti_engine::columns::vector::{Data, Vector};
use yunti_sql_plan::Function;

use super::arithmetic::Typed;
use super::operand::{Operand, nothing, shapes_differ};

/// Computes a function. `types` are those of the arguments.
pub fn call(
    function: Function,
    arguments: &[Operand],
    types: &[Typed<'_>],
    result: Typed<'_>,
    rows: usize,
) -> Result<Vector> {
    if function == Function::Concat {
        return texts::join(arguments, rows);
    }
    let (Some(first), Some(of)) = (arguments.first(), types.first()) else { return Err(shapes_differ()) };
    if arguments.iter().any(Operand::is_null) {
        return Ok(nothing(result.kind, rows));
    }
    let nulls = all_nulls(arguments);
    let data = match function {
        Function::Join => texts::join(arguments, rows)?.data,
        Function::Lower | Function::Upper => texts::change_case(first, function == Function::Upper, rows)?,
        Function::Trim => texts::trim(first, true, true, rows)?,
        Function::TrimStart => texts::trim(first, true, false, rows)?,
        Function::TrimEnd => texts::trim(first, false, true, rows)?,
        Function::Length => numbers::of_ints(texts::lengths(first, rows)?, result),
        Function::Substring => texts::substring(arguments, nulls.as_deref(), rows)?,
        Function::StartsWith | Function::EndsWith | Function::Contains => {
            let Some(second) = arguments.get(1) else { return Err(shapes_differ()) };
            Data::Bools(texts::find(function, first, second, rows)?)
        }
        Function::Abs | Function::Floor | Function::Ceil | Function::Sqrt | Function::Round | Function::RoundEven => {
            numbers::call(function, arguments, types, result, nulls.as_deref(), rows)?
        }
        Function::Mean => {
            let (Some(second), Some(of)) = (arguments.get(1), types.first()) else { return Err(shapes_differ()) };
            numbers::means([first, second], *of, result, nulls.as_deref(), rows)?
        }
        Function::DateTrunc => {
            let (Some(second), Some(of)) = (arguments.get(1), types.get(1)) else { return Err(shapes_differ()) };
            Data::Ints(dates::truncate(first, second, *of, result, nulls.as_deref(), rows)?)
        }
        Function::AddInterval => Data::Ints(intervals::add(arguments, *of, result, nulls.as_deref(), rows)?),
        Function::Year
        | Function::Month
        | Function::Day
        | Function::Hour
        | Function::Minute
        | Function::Second
        | Function::Quarter
        | Function::DayOfWeek
        | Function::DayOfYear => numbers::of_ints(dates::parts(function, first, *of, rows)?, result),
        // Arguments of these are computed by need.
        Function::Concat | Function::Coalesce | Function::NullIf => return Err(shapes_differ()),
    };
    Ok(Vector { data, nulls })
}

/// Returns the rows that have a null among their arguments.
fn all_nulls(arguments: &[Operand]) -> Option<Vec<bool>> {
    let mut all: Option<Vec<bool>> = None;
    for nulls in arguments.iter().filter_map(Operand::nulls) {
        match &mut all {
            None => all = Some(nulls.clone()),
            Some(all) => all.iter_mut().zip(nulls).for_each(|(all, null)| *all |= null),
        }
    }
    all
}
