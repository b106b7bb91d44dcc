//! Description of a file as JSON: rows, stripes, columns with their types, sizes, encodings and statistics.

use arrow_schema::{DataType, TimeUnit};
use chrono::DateTime;
use serde_json::json;
use yunti_api::Result;

use super::failure::damaged;
use super::proto::{Fields, Value};
use super::schema::{Kind, Type};
use super::stripe::Stripe;
use super::tail::Tail;
use crate::file::describe;
use crate::file::input::Input;

/// Milliseconds from 1970 whose nanoseconds fit 64 bits: the years 1678 to 2261.
const NANOS_MAX: i64 = 9_214_646_400_000;

/// Returns the JSON document of a file.
pub fn document(tail: &Tail, file: &Input) -> Result<String> {
    let mut leaves = Vec::new();
    put_leaves(&tail.top, &mut String::new(), &mut leaves);
    let mut stored: Vec<Stored> = Vec::new();
    for place in &tail.stripes {
        let stripe = Stripe::load(file, tail, place)?;
        stored.resize_with(leaves.len(), Stored::default);
        for (sum, (_, leaf)) in stored.iter_mut().zip(&leaves) {
            sum.bytes += stripe.stored_bytes(&[leaf.number]);
            if !leaf.is_nested()
                && let Ok(encoding) = stripe.encoding(leaf.number)
            {
                sum.encodings.push(encoding.name());
            }
        }
    }
    stored.resize_with(leaves.len(), Stored::default);
    let columns: Vec<serde_json::Value> = leaves
        .iter()
        .zip(&mut stored)
        .map(|((path, leaf), stored)| column(tail, path, leaf, stored))
        .collect::<Result<_>>()?;
    let version = tail.version.iter().map(u32::to_string).collect::<Vec<_>>().join(".");
    Ok(json!({
        "format": "ORC",
        "version": version,
        "created_by": tail.writer,
        "rows": tail.rows,
        "units": tail.stripes.len(),
        "unit": "stripe",
        "index_stride": tail.index_stride,
        "schema": schema(&tail.top),
        "columns": columns,
        "fields": fields(&tail.top, tail)?,
    })
    .to_string())
}

/// Stored bytes and encodings of a column in all stripes.
#[derive(Default)]
struct Stored {
    bytes: u64,
    encodings: Vec<&'static str>,
}

/// Adds all columns that have values of their own, with their paths.
fn put_leaves<'a>(of: &'a Type, path: &mut String, to: &mut Vec<(String, &'a Type)>) {
    let begin = path.len();
    for (number, below) in of.below.iter().enumerate() {
        let number_text = number.to_string();
        let name = match of.kind {
            Kind::Struct => of.names[number].as_str(),
            Kind::List => "item",
            Kind::Map => ["key", "value"][number.min(1)],
            _ => number_text.as_str(),
        };
        if begin > 0 {
            path.push('.');
        }
        path.push_str(name);
        if below.below.is_empty() {
            to.push((path.clone(), below));
        } else {
            put_leaves(below, path, to);
        }
        path.truncate(begin);
    }
}

/// Returns the members of a struct as `file::describe::fields` gives those of a schema.
fn fields(of: &Type, tail: &Tail) -> Result<serde_json::Value> {
    let field = |(name, of): (&String, &Type)| {
        let (kind, texts) = (of.arrow().to_string(), text_type(of, tail)?.to_string());
        let mut one = json!({ "name": name, "type": kind, "text_type": texts });
        if of.kind == Kind::Struct {
            one["members"] = fields(of, tail)?;
        }
        Ok(one)
    };
    of.names.iter().zip(&of.below).map(field).collect()
}

/// Returns the type as which the texts of a column are read back without loss.
fn text_type(of: &Type, tail: &Tail) -> Result<DataType> {
    Ok(match of.kind {
        // Years such as 9999 have no nanoseconds of 64 bits.
        Kind::Timestamp | Kind::Instant => {
            let (least, most) = bounds(tail, of.number)?.times;
            let is_near = |at: Option<i64>| at.is_none_or(|at| at.abs() < NANOS_MAX);
            let unit = if is_near(least) && is_near(most) { TimeUnit::Nanosecond } else { TimeUnit::Microsecond };
            DataType::Timestamp(unit, (of.kind == Kind::Instant).then(|| "+00:00".into()))
        }
        _ => describe::text_type(&of.arrow()),
    })
}

fn schema(top: &Type) -> String {
    let lines = top.names.iter().zip(&top.below).map(|(name, of)| format!("  {name}: {}\n", of.text()));
    format!("struct {{\n{}}}\n", lines.collect::<String>())
}

fn column(tail: &Tail, path: &str, of: &Type, stored: &mut Stored) -> Result<serde_json::Value> {
    stored.encodings.sort_unstable();
    stored.encodings.dedup();
    let bounds = bounds(tail, of.number)?;
    let nulls = match (bounds.values, bounds.has_null) {
        (Some(values), _) if tail.rows >= values && !path.contains('.') => Some(tail.rows - values),
        (_, Some(false)) => Some(0),
        _ => None,
    };
    Ok(json!({
        "path": path,
        "type": of.text(),
        "stored_bytes": stored.bytes,
        "plain_bytes": null,
        "codec": tail.unpacker.codec.name(),
        "encodings": stored.encodings.join(", "),
        "nulls": nulls,
        "min": bounds.least,
        "max": bounds.most,
        "bloom_filter": false,
        "page_index": tail.index_stride > 0,
    }))
}

/// Statistics of a column, as texts.
#[derive(Default)]
struct Bounds {
    values: Option<u64>,
    has_null: Option<bool>,
    least: Option<String>,
    most: Option<String>,
    /// Bounds of timestamps in milliseconds from 1970.
    times: (Option<i64>, Option<i64>),
}

fn bounds(tail: &Tail, column: u32) -> Result<Bounds> {
    let mut bounds = Bounds::default();
    let Some(message) = tail.statistics.get(column as usize) else { return Ok(bounds) };
    for field in Fields::of(message) {
        let (number, value) = field?;
        match number {
            1 => bounds.values = Some(value.number()),
            2 => both(&mut bounds, value, 1, 2, |v| v.signed().to_string())?,
            3 => both(&mut bounds, value, 1, 2, |v| v.double().to_string())?,
            // Long bounds are cut.
            4 => {
                both(&mut bounds, value, 4, 5, |v| v.text())?;
                both(&mut bounds, value, 1, 2, |v| v.text())?;
            }
            6 => both(&mut bounds, value, 1, 2, |v| v.text())?,
            7 => both(&mut bounds, value, 1, 2, |v| date(v.signed()))?,
            9 => {
                // Those from UTC come second, so that they win.
                both(&mut bounds, value, 1, 2, |v| time(v.signed()))?;
                both(&mut bounds, value, 3, 4, |v| time(v.signed()))?;
                for field in Fields::of(value.bytes()) {
                    match field? {
                        (1 | 3, value) => bounds.times.0 = Some(value.signed()),
                        (2 | 4, value) => bounds.times.1 = Some(value.signed()),
                        _ => {}
                    }
                }
            }
            10 => bounds.has_null = Some(value.number() != 0),
            _ => {}
        }
    }
    Ok(bounds)
}

/// Sets the bounds to two members of a message, as far as it has them.
fn both(
    bounds: &mut Bounds,
    message: Value<'_>,
    least: u32,
    most: u32,
    text: impl Fn(Value<'_>) -> String,
) -> Result<()> {
    for field in Fields::of(message.bytes()) {
        let (number, value) = field.map_err(|_| damaged("its statistics"))?;
        if number == least {
            bounds.least = Some(text(value));
        } else if number == most {
            bounds.most = Some(text(value));
        }
    }
    Ok(())
}

fn date(days: i64) -> String {
    let time = days.checked_mul(86400).and_then(|seconds| DateTime::from_timestamp(seconds, 0));
    time.map_or(format!("day {days}"), |time| time.date_naive().to_string())
}

fn time(milliseconds: i64) -> String {
    let time = DateTime::from_timestamp_millis(milliseconds);
    time.map_or(format!("{milliseconds} ms"), |time| format!("{:?}", time.naive_utc()))
}
