//! Reads any bytes as an ORC file, to its end.

use arrow_array::RecordBatch;
use yunti_api::Result;

use super::columns::Want;
use super::decode::StripeReader;
use super::describe;
use super::tail::Tail;
use crate::file::input::{Input, ROWS_MAX};

/// Reads metadata, description and stripes.
pub fn check(bytes: &[u8]) -> Result<()> {
    read(bytes).map(drop)
}

/// Returns the batches of a file, of the first rows at least.
pub fn read(bytes: &[u8]) -> Result<Vec<RecordBatch>> {
    let file = &Input::of_bytes(bytes);
    let tail = Tail::load(file)?;
    describe::document(&tail, file)?;
    let (mut batches, mut rows) = (Vec::new(), 0);
    for stripe in 0..tail.stripes.len() as u64 {
        let mut reader = StripeReader::open(file, &tail, stripe, &Want::All)?;
        while let Some(batch) = reader.next()? {
            rows += batch.num_rows();
            batches.push(batch);
            if rows > ROWS_MAX {
                return Ok(batches);
            }
        }
    }
    Ok(batches)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::replay::replay;

    #[test]
    fn hostile_files() {
        replay("orc", check);
    }
}
