//! Records with named columns as keys and values, and the encoding of several columns in one byte string.
//!
//! ```text
//!   one column       its bytes as they are
//!   several          a TAB b TAB c      with \t \n \r \\ for these bytes in a column: records stay distinct
//! ```
//!
//! Records are built in their own buffer, key and value side by side, without the quotes and escapes of the file.

use crate::memory::budget::Grant;
use crate::memory::buffer::SLACK_BYTES;
use yunti_base::Result;

/// Names of the columns of a record's key and value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// Columns of the key.
    pub key: Vec<String>,
    /// Columns of the value.
    pub value: Vec<String>,
}

/// Treatment of bad records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadRecords {
    /// A bad record fails the job.
    Fail,
    /// Bad records are skipped and counted.
    Skip,
}

/// Builder of a batch's records.
pub struct RecordBuilder {
    bytes: Vec<u8>,
    grant: Option<Grant>,
    /// Offset of each key in `data`.
    pub key_offsets: Vec<u32>,
    /// Length of each key in bytes.
    pub key_lengths: Vec<u32>,
    /// Offset of each value in `data`.
    pub value_offsets: Vec<u32>,
    /// Length of each value in bytes.
    pub value_lengths: Vec<u32>,
}

impl RecordBuilder {
    /// Returns an empty builder. `grant` grows with the bytes, if there is one.
    pub fn new(grant: Option<Grant>) -> RecordBuilder {
        RecordBuilder {
            bytes: Vec::new(),
            grant,
            key_offsets: Vec::new(),
            key_lengths: Vec::new(),
            value_offsets: Vec::new(),
            value_lengths: Vec::new(),
        }
    }

    /// Removes all records.
    pub fn clear(&mut self) {
        self.bytes.clear();
        for column in [&mut self.key_offsets, &mut self.key_lengths, &mut self.value_offsets, &mut self.value_lengths] {
            column.clear();
        }
    }

    /// Returns the number of records.
    pub fn records(&self) -> usize {
        self.key_offsets.len()
    }

    /// Returns the bytes of all records so far.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Adds a record of these columns. Fails with `Code::Memory` if the budget has no room for it.
    pub fn push<'a>(
        &mut self,
        key: impl ExactSizeIterator<Item = &'a [u8]>,
        value: impl ExactSizeIterator<Item = &'a [u8]>,
    ) -> Result<()> {
        self.push_with(key, value, put_escaped)
    }

    /// Adds a record of columns of which none `needs_escapes`, as `push` does.
    pub fn push_plain<'a>(
        &mut self,
        key: impl ExactSizeIterator<Item = &'a [u8]>,
        value: impl ExactSizeIterator<Item = &'a [u8]>,
    ) -> Result<()> {
        self.push_with(key, value, |column, out| out.extend_from_slice(column))
    }

    fn push_with<'a>(
        &mut self,
        key: impl ExactSizeIterator<Item = &'a [u8]>,
        value: impl ExactSizeIterator<Item = &'a [u8]>,
        put_one: impl Fn(&[u8], &mut Vec<u8>),
    ) -> Result<()> {
        let start = self.bytes.len();
        put(key, &put_one, &mut self.bytes);
        let middle = self.bytes.len();
        put(value, &put_one, &mut self.bytes);
        let end = self.bytes.len();
        self.key_offsets.push(start as u32);
        self.key_lengths.push((middle - start) as u32);
        self.value_offsets.push(middle as u32);
        self.value_lengths.push((end - middle) as u32);
        match &mut self.grant {
            Some(grant) if self.bytes.capacity() as u64 > grant.bytes() => {
                grant.grow(self.bytes.capacity() as u64, "records with columns")
            }
            _ => Ok(()),
        }
    }

    /// Ends the batch: appends the slack that batches need behind the last record.
    pub fn seal(&mut self) {
        let len = self.bytes.len();
        self.bytes.resize(len + SLACK_BYTES, 0);
        self.bytes.truncate(len);
    }

    /// Returns the bytes of all records.
    pub fn data(&self) -> &[u8] {
        &self.bytes
    }
}

fn put<'a>(
    columns: impl ExactSizeIterator<Item = &'a [u8]>,
    put_one: &impl Fn(&[u8], &mut Vec<u8>),
    out: &mut Vec<u8>,
) {
    let several = columns.len() > 1;
    for (number, column) in columns.enumerate() {
        if number > 0 {
            out.push(b'\t');
        }
        if several { put_one(column, out) } else { out.extend_from_slice(column) }
    }
}

/// Returns true if bytes have one that `put_escaped` escapes. Without a branch for each byte, so that vectors do it.
pub fn needs_escapes(bytes: &[u8]) -> bool {
    bytes.iter().fold(false, |any, byte| any | matches!(byte, b'\t' | b'\n' | b'\r' | b'\\'))
}

/// Appends a column of several, with escapes for tabs, line ends and backslashes.
pub fn put_escaped(mut column: &[u8], out: &mut Vec<u8>) {
    while let Some(at) = column.iter().position(|b| matches!(b, b'\t' | b'\n' | b'\r' | b'\\')) {
        out.extend_from_slice(&column[..at]);
        out.extend_from_slice(match column[at] {
            b'\t' => b"\\t",
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            _ => b"\\\\",
        });
        column = &column[at + 1..];
    }
    out.extend_from_slice(column);
}

/// Appends a column of several without its escapes. A backslash before any other byte is kept.
pub fn put_unescaped(mut cell: &[u8], out: &mut Vec<u8>) {
    while let Some(at) = cell.iter().position(|&b| b == b'\\') {
        out.extend_from_slice(&cell[..at]);
        let byte = match cell.get(at + 1) {
            Some(b't') => b'\t',
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b'\\') => b'\\',
            _ => {
                out.push(b'\\');
                cell = &cell[at + 1..];
                continue;
            }
        };
        out.push(byte);
        cell = &cell[at + 2..];
    }
    out.extend_from_slice(cell);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_several_columns_unambiguously() {
        let mut built = RecordBuilder::new(None);
        let record = |built: &mut RecordBuilder, key: &[&[u8]], value: &[&[u8]]| {
            built.push(key.iter().copied(), value.iter().copied()).unwrap();
        };
        record(&mut built, &[b"a\tb"], &[b"1", b"x\ty\\\n\r", b""]);
        record(&mut built, &[], &[b"line\n"]);
        built.seal();
        let slice = |offset: u32, length: u32| &built.data()[offset as usize..][..length as usize];
        let got: Vec<_> = (0..built.records())
            .map(|i| {
                let key = slice(built.key_offsets[i], built.key_lengths[i]);
                (key, slice(built.value_offsets[i], built.value_lengths[i]))
            })
            .collect();
        assert_eq!(got, [(&b"a\tb"[..], &b"1\tx\\ty\\\\\\n\\r\t"[..]), (b"", b"line\n")]);
    }
}
