//! Rows and keys as text.

use yunti_base::{Code, Error, Result};
use yunti_table::format::{Column, Schema, values};
use yunti_table::index::keys;
use yunti_table::read::{Row, Table};

/// Returns the values of the first columns of a key from their words.
pub fn key_values(schema: &Schema, words: &[&str]) -> Result<Vec<Vec<u8>>> {
    if words.len() > schema.keys.len() {
        return Err(wrong_count(schema));
    }
    let one = |(column, word): (&usize, &&str)| {
        let column = &schema.columns[*column];
        let mut bytes = Vec::new();
        match values::parse(column.kind, word.as_bytes(), &mut bytes) {
            true => Ok(bytes),
            false => {
                let what = format!("key {}: \"{word}\" is no {}", column.name, column.kind.name());
                Err(Error::new(Code::Usage, what))
            }
        }
    };
    schema.keys.iter().zip(words).map(one).collect()
}

fn wrong_count(schema: &Schema) -> Error {
    let names: Vec<&str> = schema.keys.iter().map(|column| schema.columns[*column].name.as_str()).collect();
    Error::new(Code::Usage, format!("a key has {} values: {}", names.len(), names.join(",")))
}

/// Returns the words of a key: of several columns, there are commas between them.
pub fn words<'t>(schema: &Schema, text: &'t str) -> Vec<&'t str> {
    if schema.keys.len() == 1 { vec![text] } else { text.split(',').collect() }
}

/// Returns the bytes of a whole key.
pub fn key(schema: &Schema, text: &str) -> Result<Vec<u8>> {
    let words = words(schema, text);
    if words.len() != schema.keys.len() {
        return Err(wrong_count(schema));
    }
    let values = key_values(schema, &words)?;
    let mut out = Vec::new();
    keys::encode(schema, values.iter().map(Vec::as_slice), &mut out);
    Ok(out)
}

/// Returns the key of a row, as `get` takes it.
pub fn key_text(table: &Table, row: &Row<'_>) -> Result<String> {
    let values = table.schema().keys.iter().map(|column| Ok(row.text(*column)?.unwrap_or_default()));
    Ok(values.collect::<Result<Vec<_>>>()?.join(","))
}

/// Returns a line for a row.
pub fn line(table: &Table, row: &Row<'_>, json: bool) -> Result<String> {
    if json {
        return Ok(format!("{}\n", row.object()?));
    }
    Ok(format!("{}\n", named(&table.schema().columns, |column| row.text(column))?))
}

/// Returns `name=value` of each column, with tabs between them.
pub fn named(columns: &[Column], text: impl Fn(usize) -> Result<Option<String>>) -> Result<String> {
    let value =
        |(at, column): (usize, &Column)| Ok(format!("{}={}", column.name, text(at)?.unwrap_or_else(|| "-".to_owned())));
    Ok(columns.iter().enumerate().map(value).collect::<Result<Vec<_>>>()?.join("\t"))
}
