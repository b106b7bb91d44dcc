//! Extended attributes inside an inode, behind its fields.
//!
//! ```text
//!   128 bytes | extra fields | magic (4) | entries: 16 bytes and a name each | 4 zero bytes | .. | values
//!                                                                            values grow backwards from the end
//! ```

use crate::disk::bytes::{u16_at, u32_at};

const MAGIC: u32 = 0xEA02_0000;
const ENTRY: usize = 16;
const OLD_BYTES: usize = 128;
/// Index of the `system` namespace; `system.data` holds the part of inline data that does not fit into the inode's
/// map.
const SYSTEM: u8 = 7;
const DATA: &[u8] = b"data";

/// Parsed attributes of one inode.
pub struct Xattrs<'a> {
    /// Bytes from the first entry on.
    bytes: &'a [u8],
    /// Bytes of entries and values, each rounded up to a multiple of four.
    used: usize,
    inline: Option<&'a [u8]>,
}

impl<'a> Xattrs<'a> {
    /// Parses all bytes of an inode. Entries that do not fit are skipped; the kernel reports them.
    pub fn of(inode: &'a [u8], extra_bytes: u16) -> Xattrs<'a> {
        let from = OLD_BYTES + usize::from(extra_bytes);
        let mut this = Xattrs { bytes: inode.get(from + 4..).unwrap_or_default(), used: 0, inline: None };
        if this.bytes.is_empty() || u32_at(inode, from) != MAGIC {
            return this;
        }
        let mut at = 0;
        while at + ENTRY <= this.bytes.len() && u32_at(this.bytes, at) != 0 {
            let (name_bytes, index) = (usize::from(this.bytes[at]), this.bytes[at + 1]);
            let (offset, value_inode, size) =
                (u16_at(this.bytes, at + 2), u32_at(this.bytes, at + 4), u32_at(this.bytes, at + 8) as usize);
            let name = this.bytes.get(at + ENTRY..at + ENTRY + name_bytes).unwrap_or_default();
            let value = if value_inode == 0 {
                this.bytes.get(usize::from(offset)..usize::from(offset).saturating_add(size))
            } else {
                Some(&[][..])
            };
            let entry_bytes = (ENTRY + name_bytes).next_multiple_of(4);
            this.used = this.used.saturating_add(entry_bytes + value.map_or(0, <[u8]>::len).next_multiple_of(4));
            if index == SYSTEM && name == DATA {
                this.inline = value;
            }
            at += entry_bytes;
        }
        this
    }

    /// Returns the part of inline data that is stored as an attribute.
    pub fn inline(&self) -> &'a [u8] {
        self.inline.unwrap_or_default()
    }

    /// Bytes that the value could have if inline data were stored here too: the kernel's
    /// `get_max_inline_xattr_value_size`.
    pub fn room_for_inline(&self) -> usize {
        const END: usize = 4;
        self.bytes.len().saturating_sub(self.used + END + ENTRY + DATA.len()) & !3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computes_room_for_inline_data() {
        // An inode of 256 bytes stores 128 bytes of a file: 60 in the map, and these (tested on Linux 6.18: 128 fit,
        // 132 do not).
        assert_eq!(Xattrs::of(&[0; 256], 32).room_for_inline(), 68);
        assert_eq!(Xattrs::of(&[0; 128], 0).room_for_inline(), 0);
        assert_eq!(Xattrs::of(&[0xff; 256], 0xffff).room_for_inline(), 0);
        let mut inode = [0; 256];
        inode[160..164].copy_from_slice(&MAGIC.to_le_bytes());
        inode[164..168].copy_from_slice(&[1, 1, 80, 0]);
        inode[172] = 10;
        // An entry with a name of one byte and a value of ten.
        assert_eq!(Xattrs::of(&inode, 32).room_for_inline(), 68 - 20 - 12);
    }
}
