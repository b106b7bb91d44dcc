//! Reads any bytes as an Avro file, to its end.

use yunti_api::{Result, Scan};

use super::blocks::Blocks;
use super::describe;
use super::header::Header;
use crate::file::input::{Input, ROWS_MAX};
use crate::scan::Picked;

/// Reads header, blocks, description, and the rows of all columns.
pub fn check(bytes: &[u8]) -> Result<()> {
    let file = &Input::of_bytes(bytes);
    let header = Header::load(file)?;
    describe::document(file, &header)?;
    file.hold(header.memory)?;
    let picked = Picked::find(&Scan::default(), &header.columns)?;
    let mut blocks = Blocks::open(file.clone(), &header, &picked, header.end..u64::MAX)?;
    let mut rows = 0;
    while let Some(batch) = blocks.next_batch(&header, |_| {})? {
        rows += batch.num_rows();
        if rows > ROWS_MAX {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::replay::replay;

    #[test]
    fn hostile_files() {
        replay("avro", check);
    }
}
