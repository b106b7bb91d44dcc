//! Rows of another table: other columns, another key, another order.

use std::path::Path;

use yunti_base::{Code, Error, Result};

use super::parts::in_parallel;
use super::text::Wanted;
use super::{Gather, Settings};
use crate::format::schema::{Column, Kind};
use crate::format::values;
use crate::read::Table;

/// Slots that a thread reads at a time.
const SLOTS: u64 = 1 << 16;

/// Reads the rows of the table `from`, for a table at `path`. Without `columns`, all stay.
pub fn read(from: &Path, keys: &[Wanted], columns: &[Wanted], path: &Path, settings: &Settings) -> Result<Gather> {
    let table = Table::open(from)?;
    let name = from.to_string_lossy();
    let (schema, places) = super::text::schema(&table.schema().columns, &name, keys, columns)?;
    let conversions: Vec<(usize, Conversion)> = schema
        .columns
        .iter()
        .zip(&places)
        .map(|(to, place)| Ok((*place, Conversion::of(&table.schema().columns[*place], to, &name)?)))
        .collect::<Result<_>>()?;
    let gather = Gather::new(schema, path, settings);
    let all = table.header().all_slots();
    let some = |number: usize| -> Result<()> {
        let slots = number as u64 * SLOTS..all.min((number as u64 + 1) * SLOTS);
        let mut feeder = gather.feeder();
        let mut converted: Vec<Vec<u8>> = vec![Vec::new(); conversions.len()];
        for (row, at) in table.rows_of_slots(slots.clone()).zip(1..) {
            let row = row?;
            let mut is_there = Vec::with_capacity(converted.len());
            for ((place, conversion), out) in conversions.iter().zip(&mut converted) {
                out.clear();
                is_there.push(match row.value(*place)? {
                    Some(value) => conversion.write(value, out).map_err(|e| e.at_path(name.clone()))?,
                    None => false,
                });
            }
            let values: Vec<Option<&[u8]>> =
                converted.iter().zip(is_there).map(|(value, is_there)| is_there.then_some(value.as_slice())).collect();
            let missing = gather
                .schema
                .columns
                .iter()
                .zip(&values)
                .find(|(column, value)| value.is_none() && !column.is_nullable);
            if let Some((column, _)) = missing {
                let what = format!("column {} has missing values", column.name);
                return Err(Error::new(Code::Input, what).at_path(name.clone()).hint("write its type with ?"));
            }
            feeder.add(&values, slots.start + at)?;
        }
        feeder.finish()
    };
    in_parallel(settings.threads, all.div_ceil(SLOTS) as usize, some).into_iter().collect::<Result<Vec<()>>>()?;
    Ok(gather)
}

/// How a value of one column becomes one of another.
enum Conversion {
    Same,
    /// As text, which fits or does not.
    Text {
        from: Kind,
        to: Column,
    },
}

impl Conversion {
    fn of(from: &Column, to: &Column, name: &str) -> Result<Conversion> {
        let is_text = |kind: Kind| matches!(kind, Kind::Utf8 | Kind::Dict);
        let is_nested = |column: &Column| !column.inner.is_empty();
        if from.inner == to.inner && (from.kind == to.kind || is_text(from.kind) && is_text(to.kind)) {
            return Ok(Conversion::Same);
        }
        if is_nested(from) || is_nested(to) {
            let what = format!("column {} is {} and cannot become {}", from.name, from.type_name(), to.type_name());
            return Err(Error::new(Code::Usage, what).at_path(name));
        }
        Ok(Conversion::Text { from: from.kind, to: to.clone() })
    }

    fn write(&self, value: &[u8], out: &mut Vec<u8>) -> Result<bool> {
        match self {
            Conversion::Same => out.extend_from_slice(value),
            Conversion::Text { from, to } => {
                let mut text = String::new();
                values::print(*from, value, &mut text);
                if !values::parse(to.kind, text.as_bytes(), out) {
                    let what = format!("column {}: \"{text}\" is no {}", to.name, to.kind.name());
                    return Err(Error::new(Code::Input, what));
                }
            }
        }
        Ok(true)
    }
}
