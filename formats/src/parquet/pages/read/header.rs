//! Headers of pages, in Thrift's compact protocol:
//! <https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>. The structures are those of
//! <https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift>.
//!
//! ```text
//!   field: number-of-fields-since-the-last << 4 | type      0: the structure ends
//!          type                                             the number follows, zigzag
//! ```
//!
//! Statistics, and fields of later versions, are passed over.

use parquet::basic::Encoding;

use crate::file::varint;

/// Depth of structures that are passed over, at most.
const DEPTH_MAX: usize = 16;

/// Header of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// Bytes of the header itself.
    pub bytes: usize,
    /// Bytes of the page in the file, and without compression.
    pub stored: usize,
    pub plain: usize,
    pub crc: Option<u32>,
    pub kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    Dictionary {
        values: u32,
        encoding: Encoding,
        is_sorted: bool,
    },
    Data {
        values: u32,
        encoding: Encoding,
        definition: Encoding,
        repetition: Encoding,
    },
    DataV2 {
        values: u32,
        nulls: u32,
        rows: u32,
        encoding: Encoding,
        definition_bytes: u32,
        repetition_bytes: u32,
        is_compressed: bool,
    },
    /// A page that readers pass over, such as one of an index.
    Other,
}

/// How reading a header failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failed {
    /// The bytes end before the header does.
    Short,
    Damaged,
}

type Result<T> = std::result::Result<T, Failed>;

/// Types of fields that are needed or passed over.
mod of {
    pub const TRUE: u8 = 1;
    pub const FALSE: u8 = 2;
    pub const BYTE: u8 = 3;
    pub const I16: u8 = 4;
    pub const I64: u8 = 6;
    pub const DOUBLE: u8 = 7;
    pub const BINARY: u8 = 8;
    pub const LIST: u8 = 9;
    pub const SET: u8 = 10;
    pub const MAP: u8 = 11;
    pub const STRUCT: u8 = 12;
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn byte(&mut self) -> Result<u8> {
        let byte = *self.bytes.get(self.at).ok_or(Failed::Short)?;
        self.at += 1;
        Ok(byte)
    }

    fn number(&mut self) -> Result<u64> {
        varint::read(|| self.byte())?.ok_or(Failed::Damaged)
    }

    fn signed(&mut self) -> Result<i64> {
        let n = self.number()?;
        Ok((n >> 1) as i64 ^ -((n & 1) as i64))
    }

    fn pass(&mut self, bytes: u64) -> Result<()> {
        let left = (self.bytes.len() - self.at) as u64;
        if bytes > left {
            return Err(Failed::Short);
        }
        self.at += bytes as usize;
        Ok(())
    }

    /// Calls `each` with the number and the type of each field of a structure.
    fn fields(&mut self, mut each: impl FnMut(&mut Self, i64, u8) -> Result<()>) -> Result<()> {
        let mut number = 0i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(());
            }
            number = match head >> 4 {
                0 => self.signed()?,
                more => number.checked_add(i64::from(more)).ok_or(Failed::Damaged)?,
            };
            each(self, number, head & 15)?;
        }
    }

    /// Passes over a value.
    fn skip(&mut self, kind: u8, depth: usize) -> Result<()> {
        if depth > DEPTH_MAX {
            return Err(Failed::Damaged);
        }
        match kind {
            of::TRUE | of::FALSE => Ok(()),
            of::BYTE => self.pass(1),
            of::I16..=of::I64 => self.number().map(drop),
            of::DOUBLE => self.pass(8),
            of::BINARY => {
                let len = self.number()?;
                self.pass(len)
            }
            of::LIST | of::SET => {
                let head = self.byte()?;
                let len = if head >> 4 == 15 { self.number()? } else { u64::from(head >> 4) };
                self.skip_all(&[head & 15], len, depth)
            }
            of::MAP => match self.number()? {
                0 => Ok(()),
                len => {
                    let kinds = self.byte()?;
                    self.skip_all(&[kinds >> 4, kinds & 15], len, depth)
                }
            },
            of::STRUCT => self.fields(|reader, _, kind| reader.skip(kind, depth + 1)),
            _ => Err(Failed::Damaged),
        }
    }

    /// Passes over items of a list. A boolean has a byte there.
    fn skip_all(&mut self, kinds: &[u8], len: u64, depth: usize) -> Result<()> {
        for _ in 0..len {
            for &kind in kinds {
                self.skip(if kind == of::FALSE || kind == of::TRUE { of::BYTE } else { kind }, depth + 1)?;
            }
            // Items have a byte each at least, but for empty structures, which have none to end a hostile length.
            if self.at == self.bytes.len() {
                return Err(Failed::Short);
            }
        }
        Ok(())
    }

    /// Reads a number of 32 bits that is not negative.
    fn size(&mut self, kind: u8) -> Result<u32> {
        match kind {
            of::I16..=of::I64 => u32::try_from(self.signed()?).map_err(|_| Failed::Damaged),
            _ => Err(Failed::Damaged),
        }
    }

    fn encoding(&mut self, kind: u8) -> Result<Encoding> {
        let number = i32::try_from(self.size(kind)?).map_err(|_| Failed::Damaged)?;
        encoding(number).ok_or(Failed::Damaged)
    }
}

fn encoding(number: i32) -> Option<Encoding> {
    Some(match number {
        0 => Encoding::PLAIN,
        2 => Encoding::PLAIN_DICTIONARY,
        3 => Encoding::RLE,
        #[expect(deprecated, reason = "files of old writers have it")]
        4 => Encoding::BIT_PACKED,
        5 => Encoding::DELTA_BINARY_PACKED,
        6 => Encoding::DELTA_LENGTH_BYTE_ARRAY,
        7 => Encoding::DELTA_BYTE_ARRAY,
        8 => Encoding::RLE_DICTIONARY,
        9 => Encoding::BYTE_STREAM_SPLIT,
        _ => return None,
    })
}

/// Reads the header that the bytes begin with.
pub fn read(bytes: &[u8]) -> Result<Header> {
    let mut reader = Reader { bytes, at: 0 };
    let (mut kind, mut plain, mut stored, mut crc) = (None, None, None, None);
    let mut of_page = None;
    reader.fields(|reader, number, of| {
        match number {
            1 => kind = Some(reader.size(of)?),
            2 => plain = Some(reader.size(of)?),
            3 => stored = Some(reader.size(of)?),
            // A checksum is a number of 32 bits with a sign.
            4 if (of::I16..=of::I64).contains(&of) => crc = Some(reader.signed()? as u32),
            5 if of == of::STRUCT => of_page = Some(data(reader)?),
            7 if of == of::STRUCT => of_page = Some(dictionary(reader)?),
            8 if of == of::STRUCT => of_page = Some(data_v2(reader)?),
            _ => reader.skip(of, 0)?,
        }
        Ok(())
    })?;
    let kind = match (kind, of_page) {
        (Some(0), Some(page @ Kind::Data { .. }))
        | (Some(2), Some(page @ Kind::Dictionary { .. }))
        | (Some(3), Some(page @ Kind::DataV2 { .. })) => page,
        (None | Some(0 | 2 | 3), _) => return Err(Failed::Damaged),
        _ => Kind::Other,
    };
    let (plain, stored) = plain.zip(stored).ok_or(Failed::Damaged)?;
    Ok(Header { bytes: reader.at, stored: stored as usize, plain: plain as usize, crc, kind })
}

fn data(reader: &mut Reader<'_>) -> Result<Kind> {
    let (mut values, mut encodings) = (None, [None; 3]);
    reader.fields(|reader, number, of| {
        match number {
            1 => values = Some(reader.size(of)?),
            2..=4 => encodings[number as usize - 2] = Some(reader.encoding(of)?),
            _ => reader.skip(of, 0)?,
        }
        Ok(())
    })?;
    let [Some(encoding), Some(definition), Some(repetition)] = encodings else { return Err(Failed::Damaged) };
    let values = values.ok_or(Failed::Damaged)?;
    Ok(Kind::Data { values, encoding, definition, repetition })
}

fn dictionary(reader: &mut Reader<'_>) -> Result<Kind> {
    let (mut values, mut encoding, mut is_sorted) = (None, None, false);
    reader.fields(|reader, number, of| {
        match number {
            1 => values = Some(reader.size(of)?),
            2 => encoding = Some(reader.encoding(of)?),
            3 => is_sorted = of == of::TRUE,
            _ => reader.skip(of, 0)?,
        }
        Ok(())
    })?;
    let (values, encoding) = values.zip(encoding).ok_or(Failed::Damaged)?;
    Ok(Kind::Dictionary { values, encoding, is_sorted })
}

fn data_v2(reader: &mut Reader<'_>) -> Result<Kind> {
    let (mut sizes, mut of_values, mut is_compressed) = ([None; 6], None, true);
    reader.fields(|reader, number, of| {
        match number {
            1..=3 | 5..=6 => sizes[number as usize - 1] = Some(reader.size(of)?),
            4 => of_values = Some(reader.encoding(of)?),
            7 => is_compressed = of == of::TRUE,
            _ => reader.skip(of, 0)?,
        }
        Ok(())
    })?;
    let [Some(values), Some(nulls), Some(rows), _, Some(definition_bytes), Some(repetition_bytes)] = sizes else {
        return Err(Failed::Damaged);
    };
    let encoding = of_values.ok_or(Failed::Damaged)?;
    Ok(Kind::DataV2 { values, nulls, rows, encoding, definition_bytes, repetition_bytes, is_compressed })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A dictionary page of 5 values (PLAIN, sorted) with a checksum and a field that no version has.
    const DICTIONARY: [u8; 23] =
        [0x15, 4, 0x15, 80, 0x15, 60, 0x15, 1, 0x3c, 0x15, 10, 0x15, 0, 0x11, 0, 0x29, 0x28, 1, 65, 1, 66, 0, 7];

    #[test]
    fn a_header_and_what_is_missing_of_it() {
        let header = read(&DICTIONARY).unwrap();
        let kind = Kind::Dictionary { values: 5, encoding: Encoding::PLAIN, is_sorted: true };
        assert_eq!(header, Header { bytes: 22, stored: 30, plain: 40, crc: Some(u32::MAX), kind });
        for len in 0..22 {
            assert_eq!(read(&DICTIONARY[..len]), Err(Failed::Short), "{len}");
        }
        // Any byte may be wrong: a header or a failure, and never a panic.
        for at in 0..22 {
            for byte in 0..=255 {
                let mut damaged = DICTIONARY;
                damaged[at] = byte;
                let _ = read(&damaged);
            }
        }
    }

    #[test]
    fn headers_of_data() {
        let v1 = [0x15, 0, 0x15, 80, 0x15, 60, 0x2c, 0x15, 10, 0x15, 16, 0x15, 6, 0x15, 6, 0x1c, 0x18, 1, 9, 0, 0, 0];
        let kind = Kind::Data {
            values: 5,
            encoding: Encoding::RLE_DICTIONARY,
            definition: Encoding::RLE,
            repetition: Encoding::RLE,
        };
        assert_eq!(read(&v1).map(|header| (header.bytes, header.kind)), Ok((22, kind)));
        let v2 =
            [0x15, 6, 0x15, 80, 0x15, 60, 0x5c, 0x15, 10, 0x15, 2, 0x15, 10, 0x15, 0, 0x15, 8, 0x15, 0, 0x12, 0, 0];
        let kind = Kind::DataV2 {
            values: 5,
            nulls: 1,
            rows: 5,
            encoding: Encoding::PLAIN,
            definition_bytes: 4,
            repetition_bytes: 0,
            is_compressed: false,
        };
        assert_eq!(read(&v2).map(|header| header.kind), Ok(kind));
        // A page of an index; a page without what its kind has; a negative size.
        assert_eq!(read(&[0x15, 2, 0x15, 80, 0x15, 60, 0]).map(|header| header.kind), Ok(Kind::Other));
        assert_eq!(read(&[0x15, 0, 0x15, 80, 0x15, 60, 0]), Err(Failed::Damaged));
        assert_eq!(read(&[0x15, 2, 0x15, 1, 0x15, 60, 0]), Err(Failed::Damaged));
    }
}
