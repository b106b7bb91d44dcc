//! The rows of a stripe, in batches of about a megabyte, whatever these rows are: the size of a batch sets the rows of
//! the next one.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions, cast::AsArray};
use arrow_schema::Schema;
use yunti_api::Result;

use super::{Column, Memory};
use crate::file::input::Input;
use crate::orc::columns::Want;
use crate::orc::failure::damaged;
use crate::orc::stripe::Stripe;
use crate::orc::tail::Tail;

/// Bytes of decoded columns in a batch, about.
const BATCH_BYTES: u64 = 1 << 20;
/// Rows of a batch, at most; and of the first one of a stripe.
const BATCH_ROWS: (u64, u64) = (8192, 512);

/// Reader of a stripe.
pub struct StripeReader {
    top: Column,
    memory: Memory,
    rows_left: u64,
    /// Rows of the next batch.
    batch_rows: u64,
}

impl StripeReader {
    /// Opens a stripe for the columns that are wanted.
    pub fn open(file: &Input, tail: &Tail, number: u64, want: &Want) -> Result<StripeReader> {
        let place = usize::try_from(number).ok().and_then(|number| tail.stripes.get(number));
        let place = place.ok_or_else(|| damaged("it has fewer stripes than before"))?;
        let columns = want.numbers(tail)?;
        let mut stripe = Stripe::load(file, tail, place)?;
        stripe.fetch(&columns, tail.memory)?;
        let mut memory = Memory::new(file, tail.memory + stripe.memory);
        let top = Column::open(&tail.top, want, true, &mut stripe, &mut memory)?;
        Ok(StripeReader { top, memory, rows_left: place.rows, batch_rows: BATCH_ROWS.1 })
    }

    /// Returns the rows that were not decoded yet.
    pub fn rows_left(&self) -> u64 {
        self.rows_left
    }

    /// Decodes the next batch; None at the end of the stripe.
    pub fn next(&mut self) -> Result<Option<RecordBatch>> {
        let n = self.rows_left.min(self.batch_rows);
        if n == 0 {
            return Ok(None);
        }
        self.memory.begin();
        let table = self.top.read(n as usize, None, &mut self.memory)?;
        self.rows_left -= n;
        // Four times the rows at most, so that long values after short ones do not need much memory at once.
        let bytes = self.memory.used().max(1);
        let fitting = (u128::from(n) * u128::from(BATCH_BYTES) / u128::from(bytes)) as u64;
        self.batch_rows = fitting.min(4 * n).clamp(1, BATCH_ROWS.0);
        // Its columns are null where it is.
        let (fields, columns, _) = table.as_struct().clone().into_parts();
        let options = RecordBatchOptions::new().with_row_count(Some(n as usize));
        let batch = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options);
        batch.map(Some).map_err(damaged)
    }
}
