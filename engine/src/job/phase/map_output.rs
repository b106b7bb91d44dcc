//! What the map phase leaves to the phases that end a job.

use std::sync::Arc;

use super::running_job::RunningJob;
use crate::collect::Store;
use crate::collect::collector::CollectedRecords;
use crate::collect::spill::Runs;
use crate::fold::{FoldTable, HashRanges};
use crate::reduce::fold_reduce::FoldInput;
use crate::run::{RunSettings, ScratchSpace};

/// What the map phase left.
pub struct MapOutput {
    pub store: Arc<Store>,
    pub collected: CollectedRecords,
    pub tables: Vec<FoldTable>,
    pub scratch: Arc<ScratchSpace>,
    pub runs: Runs,
    /// Runs of tables, by ranges of the hash.
    pub table_runs: Runs,
    pub hash_ranges: HashRanges,
    /// What a folder finds in the records: states of the map phase, or the mapper's values, to be folded now.
    pub fold_input: FoldInput,
    /// Bounds of a total order, as the map phase sampled them.
    pub bounds: Arc<Vec<Vec<u8>>>,
}

/// What all runs of a job have in common.
pub fn run_settings(running: &RunningJob<'_>) -> RunSettings {
    use crate::job::spec::SpillCodec as Spec;
    use crate::run::SpillCodec as Codec;
    RunSettings {
        order: running.plan.order,
        block_bytes: running.sizing.run_block_bytes,
        codec: match running.spec.spill_codec {
            Spec::Auto => Codec::Auto,
            Spec::None => Codec::None,
            Spec::Lz4 => Codec::Lz4,
        },
    }
}
