//! Output of the map phase: input of the phase that ends the job.

use std::sync::Arc;

use super::running_job::RunningJob;
use crate::collect::Store;
use crate::collect::collector::CollectedRecords;
use crate::collect::spill::Runs;
use crate::fold::{FoldTable, HashRanges};
use crate::operator::reducer::fold_reduce::FoldInput;
use crate::run::{RunSettings, ScratchSpace};

/// Output of the map phase.
pub struct MapOutput {
    pub store: Arc<Store>,
    pub collected: CollectedRecords,
    pub tables: Vec<FoldTable>,
    pub scratch: Arc<ScratchSpace>,
    pub runs: Runs,
    /// Runs of tables, in order of hash ranges.
    pub table_runs: Runs,
    pub hash_ranges: HashRanges,
    /// Form of the records for a folder: states of the map phase, or values of the mapper.
    pub fold_input: FoldInput,
    /// Bounds of a total order.
    pub bounds: Arc<Vec<Vec<u8>>>,
}

/// Returns the settings of all runs of a job.
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
