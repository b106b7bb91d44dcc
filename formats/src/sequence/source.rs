//! The source: stretches between markers as units, the columns `key` and `value`.

use arrow_schema::{Field, Schema};
use serde_json::json;
use yunti_api::{Bytes, Class, Context, Counter, Error, Out, Result, Scan, Sink, Source, SourceFile, Unit};

use super::header::Header;
use super::records::Records;
use super::writable::Writable;
use crate::cells::record::put_escaped;
use crate::emit::EMIT_BYTES;
use crate::failure::{guarded, line};
use crate::file::describe;
use crate::file::input::Input;
use crate::file::stretch::Stretch;
use crate::scan::Picked;

/// Names of the columns.
const COLUMNS: [&str; 2] = ["key", "value"];

/// Reader of SequenceFiles.
pub struct SequenceSource {
    /// Rows that were read.
    rows: Counter,
    header: Option<Header>,
    unit: Option<OpenUnit>,
}

/// Records that are being read.
struct OpenUnit {
    records: Records,
    classes: [Writable; 2],
    /// Columns of the key and of the value: 0 for `key`, 1 for `value`.
    key: Vec<usize>,
    value: Vec<usize>,
    marks_nulls: bool,
    space: [Vec<u8>; 4],
}

impl Class for SequenceSource {
    fn create(context: &Context) -> Result<Self> {
        Ok(SequenceSource { rows: context.counter("Formats", "ROWS")?, header: None, unit: None })
    }
}

fn of_panic(text: &str) -> Error {
    Error::damaged(format!("the SequenceFile is damaged ({})", line(text)))
}

impl SequenceSource {
    fn header(&mut self, file: &SourceFile) -> Result<&Header> {
        if self.header.is_none() {
            self.header = Some(guarded(of_panic, || Header::load(&Input::File(file.clone())))?);
        }
        Ok(self.header.as_ref().expect("it was just loaded"))
    }
}

impl Source for SequenceSource {
    type Key = Bytes;
    type Value = Bytes;

    fn plan(&mut self, file: &SourceFile, scan: &Scan) -> Result<Vec<Unit>> {
        let header = self.header(file)?;
        places(scan, header)?;
        let stretch = Stretch::of_file(file.len());
        let mut units = Vec::new();
        let mut start = 0;
        while start < file.len() {
            let end = (start + stretch.bytes()).min(file.len());
            if end > header.end && scan.covers(start) {
                let number = stretch.number(start)?;
                units.push(Unit { number, position: start, bytes: end - start, records: 0 });
            }
            start = end;
        }
        Ok(units)
    }

    fn open(&mut self, file: &SourceFile, scan: &Scan, unit: u64) -> Result<()> {
        self.unit = None;
        let header = self.header(file)?;
        let (key, value) = places(scan, header)?;
        self.unit = Some(OpenUnit {
            records: Records::open(&Input::File(file.clone()), header, Stretch::range(unit))?,
            classes: [header.key, header.value],
            key,
            value,
            marks_nulls: scan.marks_nulls,
            space: Default::default(),
        });
        Ok(())
    }

    fn next(&mut self, out: &mut Out<'_, Bytes, Bytes>) -> Result<bool> {
        let Some(unit) = &mut self.unit else { return Ok(false) };
        let mut emitted = 0;
        while emitted < EMIT_BYTES {
            match guarded(of_panic, || unit.emit(out))? {
                Some(bytes) => emitted += bytes + 8,
                None => {
                    self.unit = None;
                    return Ok(false);
                }
            }
            self.rows.add(1);
        }
        Ok(true)
    }

    fn describe(&mut self, file: &SourceFile, out: &mut Sink<'_>) -> Result<()> {
        let header = self.header(file)?.clone();
        let mut records = Records::open(&Input::File(file.clone()), &header, 0..u64::MAX)?;
        let (mut rows, mut plain) = (0u64, [0u64; 2]);
        while let Some((key, value)) = guarded(of_panic, || Ok(records.next()?.map(|(k, v)| (k.len(), v.len()))))? {
            rows += 1;
            plain[0] += key as u64;
            plain[1] += value as u64;
        }
        let columns = [(COLUMNS[0], header.key, plain[0]), (COLUMNS[1], header.value, plain[1])];
        let codec = header.codec.map_or("none", |codec| codec.class());
        let how = match (header.codec, header.in_blocks) {
            (None, _) => "none",
            (_, false) => "record",
            (_, true) => "block",
        };
        let mut schema: String =
            columns.iter().map(|(name, class, _)| format!("{name}: {}\n", class.class())).collect();
        for (name, value) in &header.metadata {
            schema += &format!("metadata {name}: {value}\n");
        }
        let described = columns.iter().map(|(name, class, plain)| {
            json!({ "path": name, "type": class.class(), "plain_bytes": plain, "codec": codec, "encodings": how })
        });
        let document = json!({
            "format": "Hadoop sequence",
            "version": header.version,
            "compression": how,
            "rows": rows,
            "units": Stretch::of_file(file.len()).count(file.len()),
            "unit": "stretch",
            "schema": schema,
            "columns": described.collect::<Vec<_>>(),
            "fields": describe::fields(&schema_of(&header)),
        });
        out.put(document.to_string().as_bytes())?;
        Ok(())
    }
}

/// Returns the columns of a file as Arrow has them.
fn schema_of(header: &Header) -> Schema {
    let classes = COLUMNS.into_iter().zip([header.key, header.value]);
    Schema::new(classes.map(|(name, class)| Field::new(name, class.kind(), true)).collect::<Vec<_>>())
}

/// Returns the columns of a scan's key and value. Fails for another name than `key` and `value`.
fn places(scan: &Scan, header: &Header) -> Result<(Vec<usize>, Vec<usize>)> {
    let picked = Picked::find(scan, &schema_of(header))?;
    let places = |paths: &[Vec<String>]| paths.iter().map(|path| usize::from(path[0] == COLUMNS[1])).collect();
    Ok((places(&picked.key), places(&picked.value)))
}

impl OpenUnit {
    /// Emits a record. Returns its bytes; None at the end of the unit.
    fn emit(&mut self, out: &mut Out<'_, Bytes, Bytes>) -> Result<Option<usize>> {
        let OpenUnit { records, classes, key, value, marks_nulls, space } = self;
        let Some(stored) = records.next()? else { return Ok(None) };
        let [first, second, third, fourth] = space;
        let is_used = |column| key.contains(&column) || value.contains(&column);
        // A column that the job does not use is not parsed.
        let text = |column: usize, bytes, space| match is_used(column) {
            true => classes[column].text(bytes, space),
            false => Ok(None),
        };
        let texts = [text(0, stored.0, first)?, text(1, stored.1, second)?];
        let key = put(key, &texts, *marks_nulls, third);
        let value = put(value, &texts, *marks_nulls, fourth);
        out.emit(key, value)?;
        Ok(Some(key.len() + value.len()))
    }
}

/// Returns the columns of a record as one byte string, in `space` unless there is one that stands as it is.
fn put<'a>(columns: &[usize], texts: &[Option<&'a [u8]>; 2], marks_nulls: bool, space: &'a mut Vec<u8>) -> &'a [u8] {
    if let ([only], false) = (columns, marks_nulls) {
        return texts[*only].unwrap_or_default();
    }
    space.clear();
    for (number, column) in columns.iter().enumerate() {
        if number > 0 {
            space.push(b'\t');
        }
        match texts[*column] {
            Some(text) => put_escaped(text, space),
            None if marks_nulls => space.extend_from_slice(b"\\N"),
            None => {}
        }
    }
    space
}
