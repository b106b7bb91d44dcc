//! Rows become columns, in the layout of Arrow: values or bytes, ends, and a mark for each value that is there. A
//! record or a list comes before its fields or its elements.

use yunti_base::{Code, Error, Result};
use yunti_table::format::row::{Layout, damaged, list};
use yunti_table::format::{Column, Kind};
use yunti_table::read::{Row, Table};
use yunti_table_remote::client::RemoteTable;

use super::answer::{Answer, Buffers};
use super::keys::Keys;

/// Keys of one call of `Table::get_batch`: their places take little memory.
const BATCH: usize = 4096;

/// A column that grows by values.
struct Builder<'t> {
    column: &'t Column,
    /// Layout of the fields of a record.
    layout: Layout,
    buffers: Buffers,
    inner: Vec<Builder<'t>>,
}

impl<'t> Builder<'t> {
    fn of(column: &'t Column) -> Builder<'t> {
        let mut buffers = Buffers::default();
        if column.kind.width().is_none() && column.kind != Kind::Record {
            buffers.ends.push(0);
        }
        let inner = column.inner.iter().map(Builder::of).collect();
        Builder { column, layout: Layout::of(&column.inner), buffers, inner }
    }

    /// Appends a value by its bytes in a row; `None` if it is missing.
    fn push(&mut self, value: Option<&[u8]>) -> Result<()> {
        let Buffers { values, ends, marks, missing } = &mut self.buffers;
        marks.push(u8::from(value.is_some()));
        *missing += usize::from(value.is_none());
        match self.column.kind {
            Kind::Record => {
                for (at, field) in self.inner.iter_mut().enumerate() {
                    field.push(value.map_or(Ok(None), |bytes| self.layout.value(bytes, at))?)?;
                }
            }
            Kind::List => {
                let element = self.inner.first_mut().ok_or_else(damaged)?;
                if let Some(bytes) = value {
                    list(element.column, bytes)?.into_iter().try_for_each(|value| element.push(value))?;
                }
                ends.push(element.buffers.marks.len() as i64);
            }
            kind => match (kind.width(), value) {
                (Some(width), None) => values.resize(values.len() + width, 0),
                (Some(width), Some(bytes)) if bytes.len() != width => return Err(damaged()),
                (Some(_), Some(bytes)) => values.extend_from_slice(bytes),
                (None, value) => {
                    let bytes = value.unwrap_or_default();
                    if kind == Kind::Utf8 {
                        check_text(bytes)?;
                    }
                    values.extend_from_slice(bytes);
                    ends.push(values.len() as i64);
                }
            },
        }
        Ok(())
    }

    /// Appends this column, and what is in it.
    fn finish(self, out: &mut Vec<Buffers>) {
        out.push(self.buffers);
        self.inner.into_iter().for_each(|inner| inner.finish(out));
    }
}

/// Callers take these bytes as text without another check.
fn check_text(bytes: &[u8]) -> Result<()> {
    let what = "the table is damaged: a text is not UTF-8";
    std::str::from_utf8(bytes).map(drop).map_err(|_| Error::new(Code::Corrupt, what))
}

/// The wanted columns of a table, or of rows that servers sent.
struct Wanted<'t>(Vec<(usize, Builder<'t>)>);

impl<'t> Wanted<'t> {
    fn of(columns: &'t [Column], numbers: &[u32]) -> Result<Wanted<'t>> {
        let one = |number: &u32| {
            let column = columns.get(*number as usize);
            let column = column.ok_or_else(|| Error::new(Code::Usage, format!("there is no column {number}")))?;
            Ok((*number as usize, Builder::of(column)))
        };
        Ok(Wanted(numbers.iter().map(one).collect::<Result<_>>()?))
    }

    /// Appends the values of a row. `value` returns the bytes of one, and the number of a text in a dictionary.
    #[inline]
    fn push<'a>(&mut self, value: impl Fn(usize) -> Result<Option<&'a [u8]>>) -> Result<()> {
        self.0.iter_mut().try_for_each(|(number, builder)| builder.push(value(*number)?))
    }

    fn push_row(&mut self, row: Option<Row<'_>>) -> Result<()> {
        let Some(row) = row else { return self.push(|_| Ok(None)) };
        let columns = &row.table().schema().columns;
        self.push(|number| {
            if columns[number].kind == Kind::Dict {
                // The column gets the number of the text, and this checks that there is one.
                row.value(number)?;
            }
            row.raw_value(number)
        })
    }

    fn finish(self, first: Option<Buffers>) -> Answer {
        let mut all: Vec<Buffers> = first.into_iter().collect();
        self.0.into_iter().for_each(|(_, builder)| builder.finish(&mut all));
        Answer::of(all)
    }
}

/// Returns a column of 1 or 0 for each key, and the wanted columns of their first rows.
pub fn of_keys(table: &Table, keys: &Keys<'_>, wanted: &[u32]) -> Result<Answer> {
    let mut wanted = Wanted::of(&table.schema().columns, wanted)?;
    let mut found = Vec::with_capacity(keys.len());
    let mut failed = None;
    let mut batch: Vec<&[u8]> = Vec::with_capacity(BATCH);
    for begin in (0..keys.len()).step_by(BATCH) {
        batch.clear();
        for at in begin..keys.len().min(begin + BATCH) {
            batch.push(keys.get(at)?);
        }
        table.get_batch(&batch, |_, row| {
            found.push(u8::from(row.is_some()));
            if failed.is_none() {
                failed = wanted.push_row(row).err();
            }
        })?;
        if let Some(e) = failed {
            return Err(e);
        }
    }
    Ok(wanted.finish(Some(marked(found))))
}

/// Returns the same as [`of_keys`] from the servers of a table.
pub fn of_servers(table: &RemoteTable, keys: &Keys<'_>, wanted: &[u32]) -> Result<Answer> {
    let mut wanted = Wanted::of(table.columns(), wanted)?;
    let mut found = Vec::with_capacity(keys.len());
    let all = (0..keys.len()).map(|at| keys.get(at)).collect::<Result<Vec<_>>>()?;
    let answers = table.get(&all, false)?;
    for at in 0..keys.len() {
        let row = answers.first(at);
        found.push(u8::from(row.is_some()));
        wanted.push(|number| row.map_or(Ok(None), |row| row.value(number)))?;
    }
    Ok(wanted.finish(Some(marked(found))))
}

/// Returns a column of 1 or 0, without missing values.
fn marked(found: Vec<u8>) -> Buffers {
    Buffers { marks: vec![1; found.len()], values: found, ..Buffers::default() }
}

/// Returns the wanted columns of all rows, in the order of the file.
pub fn of_rows(table: &Table, wanted: &[u32]) -> Result<Answer> {
    let mut wanted = Wanted::of(&table.schema().columns, wanted)?;
    for row in table.rows() {
        wanted.push_row(Some(row?))?;
    }
    Ok(wanted.finish(None))
}

/// Returns a column of texts.
pub fn of_texts(texts: &[&[u8]]) -> Result<Answer> {
    texts.iter().try_for_each(|text| check_text(text))?;
    Ok(Answer::of_bytes(texts.iter().copied()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use yunti_table::format::row::write_list;

    #[test]
    fn nested_values_become_buffers_one_behind_the_other() {
        let element = Column::new("", Kind::Utf8, true);
        let list = Column::new("tags", Kind::List, true).with(vec![element.clone()]);
        let record = Column::new("r", Kind::Record, true).with(vec![Column::new("n", Kind::I16, false), list]);
        let (mut tags, mut row) = (Vec::new(), Vec::new());
        write_list(&element, &[Some(b"ab"), None], &mut tags);
        Layout::of(&record.inner).write(&[Some(&[1, 2]), Some(&tags)], &mut row);
        let mut builder = Builder::of(&record);
        builder.push(Some(&row)).unwrap();
        builder.push(None).unwrap();
        assert!(builder.push(Some(&row[..2])).is_err());
        let mut all = Vec::new();
        builder.finish(&mut all);
        let [r, n, tags, texts] = all.as_slice() else { panic!("{} columns", all.len()) };
        assert_eq!((&r.marks[..2], &n.values[..4], &tags.ends[..3]), (&[1, 0][..], &[1, 2, 0, 0][..], &[0, 2, 2][..]));
        assert_eq!((&texts.values[..], &texts.ends[..], &texts.marks[..]), (&b"ab"[..], &[0, 2, 2][..], &[1, 0][..]));
    }

    #[test]
    fn a_text_that_is_no_text_is_damage() {
        let column = Column::new("t", Kind::Utf8, false);
        assert_eq!(Builder::of(&column).push(Some(b"\xff")).unwrap_err().code(), Code::Corrupt);
    }
}
