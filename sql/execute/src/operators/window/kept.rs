//! Rows of a window that is computed as a whole, in order: in memory while the budget grants it, then in a file.

use std::sync::{Arc, Mutex};

use yunti_base::Result;
use yunti_engine::columns::kind::Kind;
use yunti_engine::memory::{Budget, Grant};
use yunti_sql_plan::{Batch, MorselReader};

use crate::pipeline::Source;
use crate::spill::{Block, Spill};
use crate::store::size::{Dictionaries, batch_bytes};

/// Bytes that need no grant.
const LOOSE_BYTES_MAX: u64 = if cfg!(test) { 2 << 10 } else { 1 << 20 };

enum Stored {
    Memory(Batch),
    File(Vec<Block>),
}

/// Batches in order.
pub struct Keep {
    stored: Vec<Stored>,
    bytes: u64,
    grant: Option<Grant>,
    dictionaries: Dictionaries,
    budget: Arc<Budget>,
    spill: Arc<Spill>,
    kinds: Vec<Kind>,
}

impl Keep {
    /// Returns no rows; `kinds` has the shapes of their columns.
    pub fn new(budget: Arc<Budget>, spill: Arc<Spill>, kinds: Vec<Kind>) -> Keep {
        let dictionaries = Dictionaries::default();
        Keep { stored: Vec::new(), bytes: 0, grant: None, dictionaries, budget, spill, kinds }
    }

    /// Adds a batch. Errors: `Output` with the directory.
    pub fn push(&mut self, batch: Batch) -> Result<()> {
        let bytes = batch_bytes(&batch) + self.dictionaries.add(&batch);
        let loose = (self.bytes + bytes).saturating_sub(LOOSE_BYTES_MAX);
        let held = self.grant.as_ref().map_or(0, Grant::bytes);
        if loose <= held || self.budget.try_add(&mut self.grant, loose - held) {
            self.bytes += bytes;
            self.stored.push(Stored::Memory(batch));
            return Ok(());
        }
        let mut blocks = Vec::new();
        let decoded = batch.columns.iter().map(|column| match column.decoded() {
            std::borrow::Cow::Owned(column) => Arc::new(column),
            std::borrow::Cow::Borrowed(_) => column.clone(),
        });
        self.spill.write(&Batch { columns: decoded.collect(), rows: batch.rows }, (), &mut blocks)?;
        self.stored.push(Stored::File(blocks.into_iter().map(|((), block)| block).collect()));
        Ok(())
    }

    /// Returns the rows as a source, each batch a morsel.
    pub fn into_source(self) -> Arc<Kept> {
        let stored = self.stored.into_iter().map(Some).collect();
        let of = Arc::new(Shared { spill: self.spill, kinds: self.kinds, _grant: self.grant });
        Arc::new(Kept { stored: Mutex::new(stored), of })
    }
}

/// Kept rows. A batch leaves memory when it has been read.
pub struct Kept {
    stored: Mutex<Vec<Option<Stored>>>,
    of: Arc<Shared>,
}

struct Shared {
    spill: Arc<Spill>,
    kinds: Vec<Kind>,
    _grant: Option<Grant>,
}

impl Source for Kept {
    fn morsels(&self) -> Result<usize> {
        Ok(self.stored.lock().unwrap_or_else(|e| e.into_inner()).len())
    }

    fn open(&self, morsel: usize) -> Result<Box<dyn MorselReader>> {
        let stored = self.stored.lock().unwrap_or_else(|e| e.into_inner())[morsel].take();
        let (batch, blocks) = match stored {
            Some(Stored::Memory(batch)) => (Some(batch), Vec::new()),
            Some(Stored::File(blocks)) => (None, blocks),
            None => (None, Vec::new()),
        };
        Ok(Box::new(Reader { batch, blocks: blocks.into_iter(), of: self.of.clone() }))
    }
}

struct Reader {
    batch: Option<Batch>,
    blocks: std::vec::IntoIter<Block>,
    of: Arc<Shared>,
}

impl MorselReader for Reader {
    fn next(&mut self) -> Result<Option<Batch>> {
        if let Some(batch) = self.batch.take() {
            return Ok(Some(batch));
        }
        let Some(block) = self.blocks.next() else { return Ok(None) };
        let batch = self.of.spill.read(&block, &self.of.kinds)?;
        self.of.spill.free(&block);
        Ok(Some(batch))
    }
}
