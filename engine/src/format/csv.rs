//! CSV (RFC 4180): fields between separators; the first record of the file names the columns. Fields with separators,
//! quotes (doubled) or line ends are in quotes. csv-core finds the cells without allocating.
//!
//! A position in the middle of a file does not show if it is within quotes, so a file is read from its beginning to its
//! end. Rejected: counting the quotes of all splits before the first record is mapped. It reads the input twice, and
//! one extra quote would invert the rest.

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

use super::columns::{BadRecords, Columns, RecordBuilder, needs_escapes};
use crate::operator::cursor::RECORD_BYTES_MAX;
use yunti_base::{Code, Error, Result};

/// Shape of the CSV data and the columns that a job uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvShape {
    /// Byte between fields.
    pub separator: u8,
    /// True if the first record has the names of the columns; otherwise columns are numbered from 1.
    pub header: bool,
    /// Columns of keys and values.
    pub columns: Columns,
    /// Treatment of bad records.
    pub bad: BadRecords,
}

/// A parser of CSV data. Call order for each file: `begin`, then `parse` with its bytes in stretches, `last` with the
/// last one.
pub struct CsvParser {
    shape: CsvShape,
    reader: Reader,
    /// Cells of the unfinished record, unquoted, and the end of each.
    cells: Vec<u8>,
    ends: Vec<usize>,
    cell_bytes: usize,
    cell_count: usize,
    /// Positions of the columns in a record; None before they are known.
    places: Option<Places>,
    /// Offset of the unfinished record.
    begin: u64,
    /// Number of skipped records.
    pub bad_records: u64,
}

struct Places {
    key: Vec<usize>,
    value: Vec<usize>,
    /// Cells of each record; None: any number that includes the used columns.
    cells: Option<usize>,
}

impl CsvParser {
    /// Returns a parser before the first file.
    pub fn new(shape: CsvShape) -> CsvParser {
        let reader = reader(&shape);
        CsvParser {
            shape,
            reader,
            cells: vec![0; 1 << 10],
            ends: vec![0; 64],
            cell_bytes: 0,
            cell_count: 0,
            places: None,
            begin: 0,
            bad_records: 0,
        }
    }

    /// Starts a file.
    pub fn begin(&mut self) {
        self.reader = reader(&self.shape);
        (self.cell_bytes, self.cell_count, self.begin) = (0, 0, 0);
        self.places = None;
    }

    /// Parses bytes at `position` of the file, until they are used up or `built` has `enough` bytes. Returns the number
    /// of bytes taken.
    ///
    /// Fails with `Code::Corrupt` for a bad record, `Code::Input` for a missing column or a record that is too long,
    /// each with the offset. `Code::Memory`: the budget has no room for the records.
    pub fn parse(
        &mut self,
        input: &[u8],
        position: u64,
        last: bool,
        enough: usize,
        built: &mut RecordBuilder,
    ) -> Result<usize> {
        let mut at = 0;
        while built.bytes() < enough && (at < input.len() || last) {
            let (result, read, written, ends) = self.reader.read_record(
                &input[at..],
                &mut self.cells[self.cell_bytes..],
                &mut self.ends[self.cell_count..],
            );
            at += read;
            self.cell_bytes += written;
            self.cell_count += ends;
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull if self.cells.len() >= RECORD_BYTES_MAX => {
                    let error = Error::new(Code::Input, format!("a record is longer than {RECORD_BYTES_MAX} bytes"));
                    return Err(error.at_offset(self.begin).hint("check the quotes of the CSV data"));
                }
                ReadRecordResult::OutputFull => self.cells.resize(2 * self.cells.len(), 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(2 * self.ends.len(), 0),
                ReadRecordResult::Record => {
                    let record = self.record(built);
                    (self.cell_bytes, self.cell_count) = (0, 0);
                    record.map_err(|e| e.at_offset(self.begin))?;
                    self.begin = position + at as u64;
                }
                ReadRecordResult::End => break,
            }
        }
        Ok(at)
    }

    fn record(&mut self, built: &mut RecordBuilder) -> Result<()> {
        let (cells, ends) = (&self.cells[..], &self.ends[..self.cell_count]);
        let cell = |n: usize| &cells[if n == 0 { 0 } else { ends[n - 1] }..ends[n]];
        let Some(places) = &self.places else {
            let header: Vec<&[u8]> = (0..ends.len()).map(cell).collect();
            let places = find(&self.shape, &header)?;
            let places = self.places.insert(places);
            if self.shape.header {
                return Ok(());
            }
            return built.push(places.key.iter().map(|&n| cell(n)), places.value.iter().map(|&n| cell(n)));
        };
        let fits = match places.cells {
            Some(n) => ends.len() == n,
            None => places.key.iter().chain(&places.value).all(|&n| n < ends.len()),
        };
        if fits {
            let (key, value) = (places.key.iter().map(|&n| cell(n)), places.value.iter().map(|&n| cell(n)));
            let all = &cells[..ends.last().copied().unwrap_or(0)];
            return if needs_escapes(all) { built.push(key, value) } else { built.push_plain(key, value) };
        }
        if self.shape.bad == BadRecords::Skip {
            self.bad_records += 1;
            return Ok(());
        }
        let expected = places.cells.map_or("the job uses more".into(), |n| format!("the header has {n}"));
        Err(Error::new(Code::Corrupt, format!("a CSV record has {} cells, but {expected}", ends.len()))
            .hint("check its quotes and separators, or skip such records with -D skip.bad.records=true"))
    }
}

fn reader(shape: &CsvShape) -> Reader {
    ReaderBuilder::new().delimiter(shape.separator).build()
}

/// Returns the positions of the columns, by the names in the header or by number. By default the first column is the
/// key, and all columns that are not in the key are the value.
fn find(shape: &CsvShape, first: &[&[u8]]) -> Result<Places> {
    let place = |name: &String| {
        let found = match shape.header {
            true => first.iter().position(|cell| *cell == name.as_bytes()),
            false => name.parse::<usize>().ok().and_then(|n| n.checked_sub(1)).filter(|&n| n < first.len()),
        };
        found.ok_or_else(|| {
            let names: Vec<_> = first.iter().take(20).map(|cell| String::from_utf8_lossy(cell)).collect();
            let error = Error::new(Code::Input, format!("the CSV data has no column '{name}'"));
            error.hint(match shape.header {
                true => format!("it has {}", names.join(", ")),
                false => format!("without a header columns are called 1 to {}", first.len()),
            })
        })
    };
    let mut key: Vec<usize> = shape.columns.key.iter().map(place).collect::<Result<_>>()?;
    let mut value: Vec<usize> = shape.columns.value.iter().map(place).collect::<Result<_>>()?;
    if key.is_empty() && shape.columns.value.is_empty() {
        key.push(0);
    }
    if value.is_empty() {
        value.extend((0..first.len()).filter(|n| !key.contains(n)));
    }
    Ok(Places { key, value, cells: shape.header.then_some(first.len()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str, key: &[&str], value: &[&str]) -> CsvShape {
        let names = |names: &[&str]| names.iter().map(|n| n.to_string()).collect();
        let (separator, header) = (text.as_bytes()[0], text.len() == 1);
        let columns = Columns { key: names(key), value: names(value) };
        CsvShape { separator, header, columns, bad: BadRecords::Fail }
    }

    /// The result is the same for all stretches and sizes of batches.
    fn parse(shape: &CsvShape, text: &str) -> Result<Vec<(String, String)>> {
        let mut results = Vec::new();
        for (step, enough) in [(1, 1), (3, 10), (7, 1000), (10_000, 1), (10_000, 100_000)] {
            let mut parser = CsvParser::new(shape.clone());
            parser.begin();
            let mut records = Vec::new();
            let mut one = || -> Result<()> {
                let mut at = 0;
                loop {
                    let end = (at + step).min(text.len());
                    let mut built = RecordBuilder::new(None);
                    at += parser.parse(&text.as_bytes()[at..end], at as u64, end == text.len(), enough, &mut built)?;
                    built.seal();
                    let slice =
                        |o: u32, l: u32| String::from_utf8(built.data()[o as usize..][..l as usize].to_vec()).unwrap();
                    let before = records.len();
                    records.extend((0..built.records()).map(|i| {
                        let key = slice(built.key_offsets[i], built.key_lengths[i]);
                        (key, slice(built.value_offsets[i], built.value_lengths[i]))
                    }));
                    if at == text.len() && records.len() == before {
                        return Ok(());
                    }
                }
            };
            results.push(one().map(|()| records));
        }
        assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "{results:?}");
        results.swap_remove(0)
    }

    fn check(shape: &CsvShape, text: &str, expect: &[(&str, &str)]) {
        let got = parse(shape, text).unwrap();
        assert_eq!(got, expect.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect::<Vec<_>>(), "{text:?}");
    }

    #[test]
    fn cells_in_quotes_may_hold_any_bytes() {
        let text = "id,name,\"the text\"\r\n1,a,\"x, \"\"y\"\"\r\nz\"\n\n2,\"b\tc\",\n\"3\nd\",,e";
        check(&shape(",", &[], &[]), text, &[("1", "a\tx, \"y\"\\r\\nz"), ("2", "b\\tc\t"), ("3\nd", "\te")]);
        let text_column = shape(",", &["name"], &["the text"]);
        check(&text_column, text, &[("a", "x, \"y\"\r\nz"), ("b\tc", ""), ("", "e")]);
        check(
            &shape(",", &["name", "id"], &[]),
            text,
            &[("a\t1", "x, \"y\"\r\nz"), ("b\\tc\t2", ""), ("\t3\\nd", "e")],
        );
        check(&shape(",", &[], &["id"]), text, &[("", "1"), ("", "2"), ("", "3\nd")]);
        check(&shape(";", &[], &[]), "\u{feff}a;b\n1;2", &[("1", "2")]);
        check(&shape(";0", &["2"], &["1"]), "a;b\n1;2;3\n", &[("b", "a"), ("2", "1")]);
        check(&shape(",", &[], &[]), "a,b\n", &[]);
        check(&shape(",", &[], &[]), "", &[]);
        let long = format!("a,b\n{},{}", "k".repeat(5000), "v".repeat(70_000));
        check(&shape(",", &[], &[]), &long, &[(&"k".repeat(5000), &"v".repeat(70_000))]);
        let wide = format!("{}\n{}", vec!["x"; 500].join(","), vec!["1"; 500].join(","));
        check(&shape(",", &[], &[]), &wide, &[("1", &vec!["1"; 499].join("\t"))]);
    }

    #[test]
    fn bad_records_fail_or_are_skipped() {
        let text = "a,b\n1,2\n3\n4,5,6\n7,8\n";
        let error = parse(&shape(",", &[], &[]), text).unwrap_err();
        assert_eq!((error.code(), error.offset()), (Code::Corrupt, Some(8)), "{error}");
        assert_eq!(error.what(), "a CSV record has 1 cells, but the header has 2");
        check(&CsvShape { bad: BadRecords::Skip, ..shape(",", &[], &[]) }, text, &[("1", "2"), ("7", "8")]);
        let error = parse(&shape(",", &["c"], &[]), text).unwrap_err();
        assert!(error.to_string().starts_with("the CSV data has no column 'c': byte 0: it has a, b"), "{error}");
        let error = parse(&shape(",0", &["4"], &[]), "1,2,3\n").unwrap_err();
        assert!(error.to_string().ends_with("without a header columns are called 1 to 3"), "{error}");
    }
}
