//! The response to a client that opens a table.

use yunti_base::{Code, Error, Result};
use yunti_table::format::schema::{Column, Kind, Schema};

use super::parts::{Parts, put_string};

/// Most shards of a table: a client looks for a server of each.
pub const SHARDS: u32 = 1 << 16;

/// A table of a server, seen by a client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opened {
    pub handle: u32,
    pub version: u64,
    pub keys: u64,
    pub rows: u64,
    /// Number of the shard, from 1, and of all shards.
    pub shard: (u32, u32),
    pub has_lists: bool,
    /// The server's file has the keys of all shards.
    pub is_whole: bool,
    pub key: Vec<Column>,
    pub columns: Vec<Column>,
}

impl Opened {
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.handle.to_le_bytes());
        [self.version, self.keys, self.rows].iter().for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
        out.extend_from_slice(&self.shard.0.to_le_bytes());
        out.extend_from_slice(&self.shard.1.to_le_bytes());
        out.push(u8::from(self.has_lists) | u8::from(self.is_whole) << 1);
        out.extend_from_slice(&(self.key.len() as u16).to_le_bytes());
        for column in &self.key {
            out.push(column.kind.number());
            put_string(column.name.as_bytes(), out);
        }
        Schema::encode_columns(&self.columns, out);
    }

    /// Checks that another server has a table with the same key and columns.
    pub fn require_columns(&self, other: &Opened) -> Result<()> {
        if self.key == other.key && self.columns == other.columns {
            return Ok(());
        }
        Err(Error::new(Code::Input, "the server has a table with other columns").hint("open the table again"))
    }

    /// Reads what a server wrote; `None` if it is nothing like that.
    pub fn read(payload: &[u8]) -> Option<Opened> {
        let mut parts = Parts(payload);
        let mut opened = Opened {
            handle: parts.u32()?,
            version: parts.u64()?,
            keys: parts.u64()?,
            rows: parts.u64()?,
            shard: (parts.u32()?, parts.u32()?),
            has_lists: false,
            is_whole: false,
            key: Vec::new(),
            columns: Vec::new(),
        };
        let flags = parts.u8()?;
        (opened.has_lists, opened.is_whole) = (flags & 1 == 1, flags & 2 == 2);
        for _ in 0..parts.u16()? {
            let kind = Kind::of_number(parts.u8()?).filter(|kind| kind.can_be_key())?;
            opened.key.push(Column::new(&parts.text()?, kind, false));
        }
        opened.columns = Schema::decode_columns(&mut parts.0)?;
        let is_shard = (1..=opened.shard.1).contains(&opened.shard.0) && opened.shard.1 <= SHARDS;
        (is_shard && !opened.key.is_empty() && parts.is_at_end()).then_some(opened)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let opened = Opened {
            handle: 3,
            version: 4,
            keys: 5,
            rows: 6,
            shard: (2, 4),
            has_lists: true,
            is_whole: true,
            key: vec![Column::new("shop", Kind::Utf8, false), Column::new("day", Kind::I32, false)],
            columns: vec![Column::new("sold", Kind::F64, true)],
        };
        let mut bytes = Vec::new();
        opened.write(&mut bytes);
        assert_eq!(Opened::read(&bytes), Some(opened));
        (0..bytes.len()).for_each(|length| assert_eq!(Opened::read(&bytes[..length]), None));
    }

    #[test]
    fn shards_that_no_table_has() {
        let key = vec![Column::new("id", Kind::U64, false)];
        for (shard, is_one) in [((1, SHARDS), true), ((1, SHARDS + 1), false), ((0, 1), false), ((3, 2), false)] {
            let mut bytes = Vec::new();
            Opened { shard, is_whole: true, key: key.clone(), ..Opened::default() }.write(&mut bytes);
            assert_eq!(Opened::read(&bytes).is_some(), is_one, "{shard:?}");
        }
    }
}
