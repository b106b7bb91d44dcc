//! What all phases of a running job share.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::env::crew::Stop;
use crate::env::{Crew, Env};
use crate::job::control::{Control, ProgressStage};
use crate::job::named_outputs::{DiscardedOutputs, NamedOutputs};
use crate::job::plan::Plan;
use crate::job::plan::sizing::Sizing;
use crate::job::report::Spill;
use crate::job::report::memory_trace::MemoryTrace;
use crate::job::report::meter::Meter;
use crate::job::report::partitions::PartitionMeter;
use crate::job::report::workload_stats::WorkloadStats;
use crate::job::spec::{JobSpec, Mode};
use crate::memory::{Budget, Grant};
use crate::operator::TaskContext;
use crate::operator::context::{CounterTable, JobContext, Outputs};
use crate::write::class_encoder::WriterClass;
use crate::write::output::{Edge, OutputTotals, WriterSetup};
use crate::write::{CompressorPool, Output, OutputWriter};
use yunti_base::Result;

/// Heads and feet are short.
const EDGE_BYTES: usize = 4 << 10;

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
    /// What each partition was given.
    pub partitions: PartitionMeter,
    pub totals: OutputTotals,
    pub counters: Mutex<CounterTable>,
    pub job: Arc<JobContext>,
    /// Beside the parts, where the job has an output directory.
    pub outputs: Option<Arc<NamedOutputs>>,
    /// For the contents of side files.
    pub side_memory: Grant,
    pub scratch_dirs: Vec<PathBuf>,
    /// Bounds of a total order that were sampled elsewhere.
    pub bounds: Option<Arc<Vec<Vec<u8>>>>,
    pub spill: Mutex<Spill>,
    pub workload_stats: Mutex<WorkloadStats>,
    /// Where the output is compressed.
    pub compressors: Option<CompressorPool>,
}

impl RunningJob<'_> {
    /// Of a task: of its split, or of its partition.
    pub fn context(&self, is_reduce: bool, task: u32) -> Arc<TaskContext> {
        TaskContext::new(self.job.clone(), is_reduce, task, self.partitions_of_tasks())
    }

    /// As tasks see them: none where there is no reduce.
    pub fn partitions_of_tasks(&self) -> u32 {
        if self.spec.mode == Mode::None { 0 } else { self.plan.partitions }
    }

    /// The same for an operator that may write to named outputs.
    pub fn context_with_outputs(&self, is_reduce: bool, task: u32) -> Arc<TaskContext> {
        let outputs = self.outputs.clone().map(|outputs| outputs as Arc<dyn Outputs>);
        TaskContext::with_outputs(self.job.clone(), is_reduce, task, self.partitions_of_tasks(), outputs)
    }

    /// The same for one that only looks into the input.
    pub fn context_of_sample(&self, task: u32) -> Arc<TaskContext> {
        TaskContext::with_outputs(
            self.job.clone(),
            false,
            task,
            self.partitions_of_tasks(),
            Some(Arc::new(DiscardedOutputs)),
        )
    }

    /// So many bytes of the job's work are done. Now and then the memory in use is written down.
    pub fn advance(&self, bytes: u64) {
        let done = self.control.advance(bytes);
        if self.memory.is_due(done.saturating_sub(bytes), done) {
            self.note_memory();
        }
    }

    pub fn enter(&self, stage: ProgressStage) {
        self.control.enter(stage);
        self.note_memory();
    }

    pub fn note_memory(&self) {
        let at_ms = self.env.clock.now_ns().saturating_sub(self.meter.start_ns()) as f64 / 1e6;
        self.memory.add(at_ms, &self.budget);
    }

    pub fn count(&self, group: &str, name: &str, by: u64) {
        let mut counters = self.counters.lock().unwrap_or_else(|e| e.into_inner());
        *counters.entry((group.into(), name.into())).or_insert(0) += by;
    }

    pub fn workload_stats(&self) -> MutexGuard<'_, WorkloadStats> {
        self.workload_stats.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Takes over what a finished task counted.
    pub fn absorb(&self, context: &TaskContext) {
        let own = std::mem::take(&mut *context.counters.lock().unwrap_or_else(|e| e.into_inner()));
        if !own.is_empty() {
            let mut counters = self.counters.lock().unwrap_or_else(|e| e.into_inner());
            for (name, n) in own {
                *counters.entry(name).or_insert(0) += n;
            }
        }
        if let Some(status) = context.status.lock().unwrap_or_else(|e| e.into_inner()).take() {
            self.control.set_status(Some(status));
        }
    }

    /// What the writers of a phase share.
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

    /// The heads of all parts, or their feet, while nobody writes records.
    pub fn write_edges(&self, output: &Output, edge: Edge) -> Result<()> {
        let has_head = self.plan.encoder.as_columns().is_some_and(|c| !c.head().is_empty());
        if self.plan.writer.is_none() && !has_head {
            return Ok(());
        }
        let parts = match output {
            Output::Parts(parts) => parts.len(),
            Output::Stream(_) => 1,
            Output::Top(_) => 0,
        };
        let setup = WriterSetup { staging_bytes: EDGE_BYTES, ..self.writer_setup(output, &|| false) };
        (0..parts).try_for_each(|part| OutputWriter::new(setup, part, None, Vec::new()).write_edge(edge))
    }

    /// What a file of the output without a record consists of.
    pub fn empty_file(&self) -> &[u8] {
        self.compressors.as_ref().map_or(&[], |c| c.empty_file())
    }

    /// The next number for sampling: the same in every run.
    pub fn seed(&self) -> u64 {
        self.env.seed
    }
}

/// Tells the progress how much output there is.
pub fn show_output(running: &RunningJob<'_>) {
    running.control.output_bytes.store(running.totals.bytes.load(Ordering::Relaxed), Ordering::Relaxed);
}
