//! Header and schema of a table that another process maps: they are read by position, and no row is.

use yunti_base::Result;

use crate::format::header::{self, Header};
use crate::format::schema::Schema;
use crate::format::sums::{self, BLOCK};

/// Header and schema of a table.
#[derive(Debug)]
pub struct Head {
    pub header: Header,
    pub schema: Schema,
}

impl Head {
    /// Reads the head of a file of `length` bytes. `read` fills a buffer from an offset.
    ///
    /// Errors: `Input` for a file that is no table, `Corrupt` for damage; those of `read`.
    pub fn read(length: u64, read: &mut dyn FnMut(&mut [u8], u64) -> Result<()>) -> Result<Head> {
        let mut bytes = vec![0; length.min(header::BYTES as u64) as usize];
        read(&mut bytes, 0)?;
        let header = Header::decode(&bytes, length)?;
        let (place, sums) = (header.sections.schema, header.sections.sums);
        let (first, last) = (place.begin / BLOCK, place.end().saturating_sub(1).max(place.begin) / BLOCK);
        let begin = first * BLOCK;
        let mut blocks = vec![0; (sums.begin.min((last + 1) * BLOCK) - begin) as usize];
        read(&mut blocks, begin)?;
        let mut own_sums = vec![0; 4 * (last - first + 1) as usize];
        read(&mut own_sums, sums.begin + 4 * first)?;
        for (number, block) in blocks.chunks(BLOCK as usize).enumerate() {
            if !sums::is_right(block, number, &own_sums) {
                return Err(sums::wrong(begin + number as u64 * BLOCK));
            }
        }
        let at = (place.begin - begin) as usize;
        let schema = Schema::decode(&blocks[at..at + place.bytes as usize])?;
        if !header.fits(&schema) {
            return Err(header::other_schema());
        }
        Ok(Head { header, schema })
    }
}
