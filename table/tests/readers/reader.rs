//! Reader of tables in Rust, for readers_test.py: answers queries as canonical text.
//!
//! ```text
//!   standard input    TABLE \t QUERIES \t ANSWERS    three files a line
//!   standard output   done | error: ..               a line for each
//! ```
//!
//! readers_test.py describes queries and answers. A range ends with its last key, as `Table::range` has it.

use std::error::Error;
use std::fmt::Write as _;
use std::io::{BufRead, Write};
use std::path::Path;

use yunti_table::format::row::{Layout, list};
use yunti_table::format::{Column, Kind, Schema};
use yunti_table::index::keys;
use yunti_table::read::{Limits, Row, Table};

type Done<T> = Result<T, Box<dyn Error>>;

/// Answers to the queries of one table.
struct Answers<'t> {
    table: &'t Table,
    /// Columns of the key, with integers of 8 bytes: `keys::encode` takes numbers that no key of the table has.
    wide: Schema,
    out: String,
    /// Keys of the batch that the next lines may continue.
    batch: Vec<Vec<u8>>,
}

impl Answers<'_> {
    fn of(table: &Table) -> Done<Answers<'_>> {
        let wide = |at: &usize| {
            let column = &table.schema().columns[*at];
            Column::new(&column.name, column.kind.width().map_or(Kind::Bytes, |_| Kind::U64), false)
        };
        let columns: Vec<Column> = table.schema().keys.iter().map(wide).collect();
        let numbers = (0..columns.len()).collect();
        Ok(Answers { table, wide: Schema::new(columns, numbers)?, out: String::new(), batch: Vec::new() })
    }

    /// Returns the bytes of a whole key.
    fn key(&self, text: &str) -> Done<Vec<u8>> {
        let values = values(self.table.schema(), text, true)?;
        let mut out = Vec::new();
        keys::encode(&self.wide, values.iter().map(Vec::as_slice), &mut out);
        Ok(out)
    }

    fn answer(&mut self, query: &str) -> Done<()> {
        let words: Vec<&str> = query.split(' ').collect();
        let schema = self.table.schema();
        if words[0] != "batch" {
            self.end_batch()?;
        }
        match words[0] {
            "get" => match self.table.get(&self.key(words[1])?)? {
                Some(row) => write_row(&row, &mut self.out)?,
                None => self.out.push_str("none\n"),
            },
            "all" => self.write_rows(self.table.get_all(&self.key(words[1])?)?)?,
            "batch" => {
                let key = self.key(words[1])?;
                self.batch.push(key);
            }
            "range" => {
                let bound = |word: &str| (word != "*").then(|| values(schema, word, false)).transpose();
                let (from, to) = (bound(words[1])?, bound(words[2])?);
                let limits = Limits { from: from.as_deref(), to: to.as_deref(), is_prefix: false };
                self.write_rows(self.table.range(limits)?)?;
            }
            "prefix" => {
                let from = values(schema, words[1], false)?;
                self.write_rows(self.table.range(Limits { from: Some(&from), to: None, is_prefix: true })?)?;
            }
            "walk" => self.write_rows(self.table.rows())?,
            "scan" => {
                let slots = self.table.header().all_slots();
                let parts = [0..slots / 3, slots / 3..slots];
                self.write_rows(parts.into_iter().flat_map(|slots| self.table.rows_of_slots(slots)))?;
            }
            _ => return Err(format!("no query: {query}").into()),
        }
        Ok(())
    }

    fn end_batch(&mut self) -> Done<()> {
        let keys = std::mem::take(&mut self.batch);
        let mut texts = vec![String::new(); keys.len()];
        let mut failed = Ok(());
        self.table.get_batch(&keys, |at, row| match row {
            Some(row) => {
                if let Err(e) = write_row(&row, &mut texts[at]) {
                    failed = Err(e);
                }
            }
            None => texts[at].push_str("none\n"),
        })?;
        self.out.extend(texts);
        failed
    }

    fn write_rows<'a>(&mut self, rows: impl Iterator<Item = yunti_base::Result<Row<'a>>>) -> Done<()> {
        let mut text = String::new();
        let mut count = 0;
        for row in rows {
            write_row(&row?, &mut text)?;
            count += 1;
        }
        writeln!(self.out, "{count} rows")?;
        self.out.push_str(&text);
        Ok(())
    }
}

/// Returns the values of a key's first columns: as they are in a row, or `wide`, integers as 8 bytes.
fn values(schema: &Schema, text: &str, is_wide: bool) -> Done<Vec<Vec<u8>>> {
    let one = |(column, word): (&usize, &str)| -> Done<Vec<u8>> {
        let kind = schema.columns[*column].kind;
        if let Some(digits) = word.strip_prefix('x') {
            let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16);
            return Ok((0..digits.len()).step_by(2).map(byte).collect::<Result<_, _>>()?);
        }
        let number = if kind.is_signed() { word.parse::<i64>()? as u64 } else { word.parse::<u64>()? };
        let width = if is_wide { 8 } else { kind.width().unwrap_or(8) };
        Ok(number.to_le_bytes()[..width].to_vec())
    };
    schema.keys.iter().zip(text.split(',')).map(one).collect()
}

fn write_row(row: &Row<'_>, out: &mut String) -> Done<()> {
    for (at, column) in row.table().schema().columns.iter().enumerate() {
        write_value(column, row.value(at)?, out)?;
        out.push(' ');
    }
    out.pop();
    out.push('\n');
    Ok(())
}

fn write_value(column: &Column, value: Option<&[u8]>, out: &mut String) -> Done<()> {
    let Some(bytes) = value else {
        out.push('-');
        return Ok(());
    };
    macro_rules! number {
        ($type:ty) => {
            write!(out, "{}", <$type>::from_le_bytes(bytes.try_into()?))?
        };
    }
    match column.kind {
        Kind::Bool => out.push_str(if bytes == [0] { "false" } else { "true" }),
        Kind::I8 => number!(i8),
        Kind::I16 => number!(i16),
        Kind::I32 => number!(i32),
        Kind::I64 => number!(i64),
        Kind::U8 => number!(u8),
        Kind::U16 => number!(u16),
        Kind::U32 => number!(u32),
        Kind::U64 => number!(u64),
        Kind::F32 => write!(out, "{:08x}", u32::from_le_bytes(bytes.try_into()?))?,
        Kind::F64 => write!(out, "{:016x}", u64::from_le_bytes(bytes.try_into()?))?,
        Kind::Utf8 | Kind::Bytes | Kind::Dict => {
            out.push('x');
            for byte in bytes {
                write!(out, "{byte:02x}")?;
            }
        }
        Kind::Record => {
            let layout = Layout::of(&column.inner);
            let fields = column.inner.iter().enumerate().map(|(at, field)| Ok((field, layout.value(bytes, at)?)));
            write_inner(['{', '}'], fields, out)?;
        }
        Kind::List => {
            let elements = list(&column.inner[0], bytes)?;
            write_inner(['[', ']'], elements.into_iter().map(|value| Ok((&column.inner[0], value))), out)?;
        }
    }
    Ok(())
}

fn write_inner<'v>(
    brackets: [char; 2],
    values: impl Iterator<Item = Done<(&'v Column, Option<&'v [u8]>)>>,
    out: &mut String,
) -> Done<()> {
    out.push(brackets[0]);
    for (at, one) in values.enumerate() {
        let (column, value) = one?;
        if at > 0 {
            out.push(' ');
        }
        write_value(column, value, out)?;
    }
    out.push(brackets[1]);
    Ok(())
}

fn run(line: &str) -> Done<()> {
    let places: Vec<&str> = line.split('\t').collect();
    let table = Table::open(Path::new(places[0]))?;
    let mut answers = Answers::of(&table)?;
    for query in std::fs::read_to_string(places[1])?.lines() {
        answers.answer(query)?;
    }
    answers.end_batch()?;
    Ok(std::fs::write(places[2], answers.out)?)
}

fn main() -> Done<()> {
    for line in std::io::stdin().lock().lines() {
        match run(&line?) {
            Ok(()) => println!("done"),
            Err(e) => println!("error: {e}"),
        }
        std::io::stdout().flush()?;
    }
    Ok(())
}
