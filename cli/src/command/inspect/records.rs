//! The first records of a file, as `yunti run` reads them.

use std::borrow::Cow;

use serde_json::json;
use yunti_base::{Code, Error, Result};
use yunti_engine::env::Env;
use yunti_engine::format::framed;
use yunti_engine::job::inspect::{Inspection as Sample, inspect};
use yunti_engine::job::spec::InputFormat;

use super::{InspectFlags, Inspection, control, printable, recognise};
use crate::console;
use crate::console::paint::Paint;
use crate::text::numbers;
use crate::text::table::{Side, Table, cut, wrap};

/// Maximum number of records to show.
const RECORDS_MAX: usize = 100_000;

pub fn records(flags: &InspectFlags, head: &[u8], env: &Env) -> Result<Inspection> {
    let path = flags.path.to_string_lossy();
    let format = flags.input_format.clone().unwrap_or_else(|| guess(head));
    let by_content = recognise::compressed(head);
    if flags.records > RECORDS_MAX {
        let error = Error::new(Code::Usage, format!("{} records are too many to show", flags.records));
        return Err(error.hint(format!("at most {RECORDS_MAX}; yunti run identity writes all of them")));
    }
    let control = control();
    let sample = inspect(&path, &format, flags.records, flags.check, env, control.cancelled())?;
    // Jobs choose the codec by the file name.
    let misnamed = by_content.filter(|_| sample.codec.is_none());
    Ok(Inspection {
        text: text(&path, &format, &sample, misnamed, flags),
        document: document(&path, &format, &sample, misnamed),
    })
}

/// Guesses the format: framed records if the head has zero bytes and parses as such, else lines.
fn guess(head: &[u8]) -> InputFormat {
    let whole = || framed::whole(head).unwrap_or(0);
    if head.contains(&0) && recognise::compressed(head).is_none() && whole() > 0 {
        return InputFormat::Framed;
    }
    InputFormat::Text { delimiter: None }
}

fn name(format: &InputFormat) -> Cow<'static, str> {
    match format {
        InputFormat::Text { delimiter: None } => "lines of text".into(),
        InputFormat::Text { delimiter: Some(d) } => format!("text, divided by '{}'", printable(d)).into(),
        InputFormat::KeyValue { separator } => {
            format!("lines, divided into key and value by '{}'", printable(&[*separator])).into()
        }
        InputFormat::Fixed { record_bytes, key_bytes } => {
            format!("records of {record_bytes} bytes, {key_bytes} of them the key").into()
        }
        InputFormat::Framed => "framed records".into(),
        InputFormat::Csv { separator, .. } => format!("cells with '{}' between them", printable(&[*separator])).into(),
        InputFormat::Json => "a JSON object a line".into(),
        InputFormat::Class(name) => format!("records of {name}").into(),
    }
}

fn text(
    path: &str,
    format: &InputFormat,
    sample: &Sample,
    misnamed: Option<(&str, &str)>,
    flags: &InspectFlags,
) -> String {
    let width = console::width();
    let size = numbers::bytes(sample.bytes);
    if let Some((codec, extension)) = misnamed {
        let why = "jobs choose the codec by the name and would read the compressed bytes";
        let note = format!("the name has no extension of the codec: {why}; rename it to end in {extension}");
        return format!("{path}: compressed by {codec}, {size}\n") + &wrap("  ", &note, width);
    }
    let codec = sample.codec.map_or(String::new(), |codec| format!(", compressed by {codec}"));
    let mut out = format!("{path}: {}{codec}, {size}\n", name(format));
    let divided = if sample.divisible {
        "several workers can read it in parallel"
    } else if sample.bytes < 3 {
        "the file is almost empty"
    } else if sample.codec.is_some() {
        "one worker reads all of it: the compressed bytes cannot be divided"
    } else {
        "one worker reads all of it: the format does not mark where records begin"
    };
    out += &wrap("  ", divided, width);
    if let Some(counted) = sample.counted {
        let unpacked = sample.codec.map_or(String::new(), |_| ", decompressed".into());
        let all = format!(
            "{}, {}{unpacked}; no damage found",
            numbers::several(counted.records, "record"),
            numbers::bytes(counted.bytes)
        );
        out += &wrap("  ", &all, width);
    }
    if flags.records == 0 {
        return out;
    }
    let mut table = Table::new(&[("", Side::Right), ("key", Side::Left), ("value", Side::Left)]);
    let keyed = sample.records.iter().any(|r| !r.key.is_empty());
    let room = width.saturating_sub(12);
    let room = if keyed { room / 2 } else { room };
    for (i, record) in sample.records.iter().enumerate() {
        table.row(vec![
            numbers::count(i as u64 + 1),
            cut(&printable(&record.key), room),
            cut(&printable(&record.value), room),
        ]);
    }
    out.push('\n');
    out + &if table.is_empty() { "  no records\n".into() } else { table.print(Paint::OFF) }
}

fn document(path: &str, format: &InputFormat, sample: &Sample, misnamed: Option<(&str, &str)>) -> serde_json::Value {
    let records = sample.records.iter().map(|r| json!({ "key": printable(&r.key), "value": printable(&r.value) }));
    json!({
        "path": path,
        "kind": "records",
        "read_as": name(format),
        "bytes": sample.bytes,
        "codec": sample.codec,
        "codec_by_content": misnamed.map(|(codec, _)| codec),
        "divisible": sample.divisible,
        "records": records.collect::<Vec<_>>(),
        "counted": sample.counted.map(|c| json!({ "records": c.records, "bytes": c.bytes })),
    })
}
