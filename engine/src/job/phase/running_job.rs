//! The running job: state that all of its phases share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::bytes::RecordBytes;
use crate::collect::spill::FinishedSpill;
use crate::env::crew::Stop;
use crate::env::sync::{Mutex, MutexGuard};
use crate::env::{Crew, Env};
use crate::job::control::{Control, ProgressStage};
use crate::job::journal::{Journal, Kept};
use crate::job::machine::elastic::Elastic;
use crate::job::plan::Plan;
use crate::job::plan::sizing::Sizing;
use crate::job::report::memory_trace::MemoryTrace;
use crate::job::report::meter::Meter;
use crate::job::report::partitions::PartitionMeter;
use crate::job::report::spill_rows;
use crate::job::report::workload_stats::WorkloadStats;
use crate::job::report::{JoinChoice, JoinTableUse, Spill};
use crate::job::spec::{JobSpec, Mode};
use crate::job::task_files::named_outputs::{DiscardedOutputs, NamedOutputs};
use crate::memory::{Budget, Grant};
use crate::operator::TaskContext;
use crate::operator::context::{CounterTable, JobContext, LENGTH_COUNTERS, Outputs, TASK_COUNTERS, add_counters};
use crate::run::passes::FinishedMerge;
use crate::run::{ScratchDir, ScratchSpace};
use crate::write::class_encoder::WriterClass;
use crate::write::output::{Edge, OutputTotals, WriterSetup};
use crate::write::{CompressorPool, Output, OutputWriter};
use yunti_base::Result;

/// Staging bytes for heads and feet, which are short.
const EDGE_BYTES: usize = 4 << 10;

/// State of a running job, shared by its phases and workers.
pub struct RunningJob<'a> {
    pub spec: &'a JobSpec,
    pub plan: &'a Plan,
    pub env: &'a Env,
    pub control: &'a Control,
    pub crew: Crew<'a>,
    pub budget: Arc<Budget>,
    pub sizing: Sizing,
    pub meter: Meter,
    pub memory: MemoryTrace,
    /// Memory that the job keeps to.
    pub elastic: Elastic,
    /// Input of each partition.
    pub partitions: PartitionMeter,
    pub totals: OutputTotals,
    /// Counters of finished work.
    pub counters: Mutex<CounterTable>,
    /// Bytes beyond the first of the lengths that Hadoop writes before the keys of map output, and before the values,
    /// if they are text.
    pub map_output_lengths: [AtomicU64; 2],
    /// Counters of each worker, until a checkpoint or the phase ends.
    pub worker_counters: Vec<Mutex<CounterTable>>,
    pub job: Arc<JobContext>,
    /// Named outputs, if the job has an output directory.
    pub outputs: Option<Arc<NamedOutputs>>,
    /// Memory grant of the side files.
    pub side_memory: Grant,
    /// Memory of reading ahead from stores.
    pub _transfers: Grant,
    /// Memory of the workspace of operators.
    pub _workspace: Option<Grant>,
    /// Scratch space of operators, if they have a workspace.
    pub scratch: Option<Arc<ScratchSpace>>,
    /// Table of a hash join, for the report.
    pub join_table: Option<JoinTableUse>,
    /// Way of a hash join, for the report.
    pub join_choice: Option<JoinChoice>,
    pub scratch_dirs: Vec<ScratchDir>,
    /// True if spills run beside the map: a job with one worker has another processor.
    pub spills_aside: bool,
    /// Bounds of a total order, if they were sampled elsewhere.
    pub bounds: Option<Arc<Vec<Vec<u8>>>>,
    pub spill: Mutex<Spill>,
    pub workload_stats: Mutex<WorkloadStats>,
    /// Compressors, if the output is compressed.
    pub compressors: Option<CompressorPool>,
    /// Journal, if the job can be resumed.
    pub journal: Option<Arc<Journal>>,
    /// Work of earlier attempts.
    pub kept: Kept,
}

impl RunningJob<'_> {
    /// Returns the context of a task. `task`: number of its split or partition.
    pub fn context(&self, is_reduce: bool, task: u32) -> Arc<TaskContext> {
        TaskContext::new(self.job.clone(), is_reduce, task, self.partitions_of_tasks())
    }

    /// Returns the number of partitions that tasks see; 0 without a reduce.
    pub fn partitions_of_tasks(&self) -> u32 {
        if self.spec.mode == Mode::None { 0 } else { self.plan.partitions }
    }

    /// Returns the context of an operator that may write to named outputs.
    pub fn context_with_outputs(&self, is_reduce: bool, task: u32) -> Arc<TaskContext> {
        let outputs = self.outputs.clone().map(|outputs| outputs as Arc<dyn Outputs>);
        TaskContext::with_outputs(self.job.clone(), is_reduce, task, self.partitions_of_tasks(), outputs)
    }

    /// Returns the context of an operator that only samples the input.
    pub fn context_of_sample(&self, task: u32) -> Arc<TaskContext> {
        TaskContext::with_outputs(
            self.job.clone(),
            false,
            task,
            self.partitions_of_tasks(),
            Some(Arc::new(DiscardedOutputs)),
        )
    }

    /// Adds `bytes` of done work to the progress, and samples the memory in use at each step of the trace.
    pub fn advance(&self, bytes: u64) {
        let done = self.control.advance(bytes);
        self.elastic.follow(&self.budget, self.control.memory_asked(), self.env, self.meter.start_ns());
        if self.memory.is_due(done.saturating_sub(bytes), done) {
            self.note_memory();
        }
    }

    /// Enters a stage: notes it in the progress, and samples the memory in use.
    pub fn enter(&self, stage: ProgressStage) {
        self.control.enter(stage);
        self.note_memory();
    }

    /// Adds a sample of the memory in use to the trace.
    pub fn note_memory(&self) {
        let at_ms = self.env.clock.now_ns().saturating_sub(self.meter.start_ns()) as f64 / 1e6;
        self.memory.add(at_ms, &self.budget);
    }

    /// Adds the row of a spill to the report.
    pub fn note_spill(&self, finished: &FinishedSpill) {
        let mut spill = self.spill.lock().unwrap_or_else(|e| e.into_inner());
        spill_rows::add_spill(&mut spill.rows, finished, self.meter.start_ns());
    }

    /// Adds the row of a merge of runs to the report.
    pub fn note_merge(&self, finished: &FinishedMerge) {
        let mut spill = self.spill.lock().unwrap_or_else(|e| e.into_inner());
        spill_rows::add_merge(&mut spill.rows, finished, self.meter.start_ns());
    }

    /// Adds `by` to a counter of the job.
    pub fn count(&self, group: &str, name: &str, by: u64) {
        let mut counters = self.counters.lock().unwrap_or_else(|e| e.into_inner());
        *counters.entry((group.into(), name.into())).or_insert(0) += by;
    }

    /// Adds `by` to a counter of a worker.
    pub fn count_on(&self, worker: usize, group: &str, name: &str, by: u64) {
        *self.counters_of(worker).entry((group.into(), name.into())).or_insert(0) += by;
    }

    /// Counts bytes of map output on a worker.
    pub fn count_map_output_bytes(&self, worker: usize, bytes: RecordBytes) {
        self.count_on(worker, TASK_COUNTERS, "MAP_OUTPUT_BYTES", bytes.content);
        self.add_map_output_lengths([bytes.key_lengths, bytes.value_lengths]);
    }

    fn add_map_output_lengths(&self, lengths: [u64; 2]) {
        for (total, more) in self.map_output_lengths.iter().zip(lengths) {
            total.fetch_add(more, Ordering::Relaxed);
        }
    }

    fn counters_of(&self, worker: usize) -> MutexGuard<'_, CounterTable> {
        self.worker_counters[worker].lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Adds the counters of a worker to the job's and returns them; without a worker, of all.
    pub fn settle(&self, worker: Option<usize>) -> CounterTable {
        let workers = worker.map_or(0..self.worker_counters.len(), |worker| worker..worker + 1);
        let mut settled = CounterTable::new();
        for worker in workers {
            add_counters(&mut settled, std::mem::take(&mut *self.counters_of(worker)));
        }
        self.add_counters(settled.clone());
        settled
    }

    /// Adds counters of finished work.
    pub fn add_counters(&self, counters: CounterTable) {
        add_counters(&mut self.counters.lock().unwrap_or_else(|e| e.into_inner()), counters);
    }

    /// Locks the statistics of groups and records.
    pub fn workload_stats(&self) -> MutexGuard<'_, WorkloadStats> {
        self.workload_stats.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Adds the counters of a finished task to its worker's, and shows its status.
    pub fn absorb(&self, worker: usize, context: &TaskContext) {
        let mut own = std::mem::take(&mut *context.counters.lock().unwrap_or_else(|e| e.into_inner()));
        let mut lengths = |of: &str| own.remove(&(LENGTH_COUNTERS.into(), of.into())).unwrap_or(0);
        self.add_map_output_lengths([lengths("KEYS"), lengths("VALUES")]);
        if !own.is_empty() {
            add_counters(&mut self.counters_of(worker), own);
        }
        if let Some(status) = context.status.lock().unwrap_or_else(|e| e.into_inner()).take() {
            self.control.set_status(Some(status));
        }
    }

    /// Returns the setup of all writers of a phase.
    pub fn writer_setup<'s>(&'s self, output: &'s Output, stop: Stop<'s>) -> WriterSetup<'s> {
        WriterSetup {
            output,
            encoder: &self.plan.encoder,
            cancel: self.control.cancelled(),
            stop,
            clock: &*self.env.clock,
            totals: &self.totals,
            staging_bytes: self.sizing.staging_bytes,
            compressors: self.compressors.as_ref(),
            class: self.plan.writer.as_ref().map(|class| WriterClass {
                class,
                job: &self.job,
                is_reduce: self.spec.mode != Mode::None,
                partitions: self.partitions_of_tasks(),
                counters: &self.counters,
                budget: &self.budget,
            }),
        }
    }

    /// Writes the heads or the feet of all parts, when no task writes records.
    pub fn write_edges(&self, output: &Output, edge: Edge) -> Result<()> {
        if !self.plan.has_schema() {
            return Ok(());
        }
        // A part with bytes of an earlier attempt has its head.
        let parts: Vec<usize> = match output {
            Output::Parts(parts) => (0..parts.len()).filter(|&i| edge == Edge::Foot || parts[i].is_empty()).collect(),
            Output::Stream(_) => vec![0],
            // The writers of directories write them.
            Output::Directories(_) | Output::Top(_) => Vec::new(),
        };
        let setup = WriterSetup { staging_bytes: EDGE_BYTES, ..self.writer_setup(output, &|| false) };
        parts.into_iter().try_for_each(|part| OutputWriter::new(setup, part, None, Vec::new()).write_edge(edge))
    }

    /// Returns the bytes of an output file without a record.
    pub fn empty_file(&self) -> &[u8] {
        self.compressors.as_ref().map_or(&[], |c| c.empty_file())
    }

    /// Returns the seed for sampling and hashing, the same in every run.
    pub fn seed(&self) -> u64 {
        self.env.seed
    }
}

/// Updates the output bytes in the progress.
pub fn show_output(running: &RunningJob<'_>) {
    running.control.output_bytes.store(running.totals.bytes.load(Ordering::Relaxed), Ordering::Relaxed);
}
