//! The flags of jobs that do not say what the job does: attempts, resources, reports. `yunti run` and `yunti streaming`
//! have them all.

use std::path::PathBuf;

use clap::Args;
use yunti_engine::job::spec::change::parse_spill_codec;
use yunti_engine::job::spec::{SpillCodec, parse_scratch_dir, parse_size};
use yunti_engine::run::ScratchDir;
use yunti_program::control_group::ControlGroup;

use crate::command::numbers::{seconds, whole};
use crate::command::part::stores::{PREFIX, StoreFlags};

/// Flags of the job's tasks.
#[derive(Debug, Default, Args)]
pub struct TaskFlags {
    /// Attempts of a task before an error of user code ends the job [default: 4]
    #[arg(long, value_name = "N", value_parser = whole(1..=u32::MAX), help_heading = "The job")]
    pub attempts: Option<u32>,

    /// Records that user code fails at twice: fail, skip, skip:N or skip:P%; those left out are kept in
    /// OUT/_yunti/bad-records [default: fail]
    #[arg(long, value_name = "LIMIT", help_heading = "The job")]
    pub bad_records: Option<String>,

    /// Seconds after which a class or program that makes no progress is killed; 0: never [default: 600]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, help_heading = "The job")]
    pub timeout: Option<f64>,

    #[command(flatten)]
    pub stores: StoreFlags,
}

/// Flags of the job's share of the machine.
#[derive(Debug, Default, Args)]
pub struct ResourceFlags {
    /// Memory for the job, as in 512MiB [default: derived from the control group and the free memory]
    #[arg(short, long, value_name = "SIZE", value_parser = parse_size, help_heading = "Resources")]
    pub memory: Option<u64>,

    /// Number of threads [default: the number of processors]
    #[arg(short, long, value_name = "N", value_parser = whole(0..=65_536usize), help_heading = "Resources")]
    pub threads: Option<usize>,

    /// Size of a split of the input [default: 16MiB; 64MiB in mode none]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Resources")]
    pub split_size: Option<u64>,

    /// Local directory for spills, and the most bytes that a job may hold there, as in /nvme:200GiB; may be repeated:
    /// faster directories get more [default: the system's temporary directory]
    #[arg(long, value_name = "DIR[:SIZE]", value_parser = parse_scratch_dir, help_heading = "Resources")]
    pub scratch: Vec<ScratchDir>,

    /// Codec of spills: auto, none or lz4 [default: auto, which is none if the disk is faster than the codec]
    #[arg(long, value_name = "CODEC", value_parser = parse_spill_codec, help_heading = "Resources")]
    pub spill_codec: Option<SpillCodec>,

    /// Run in a control group of its own (version 2), with the job's programs: NAME[,memory=SIZE][,cpu=PROCESSORS]
    #[arg(long, value_name = "GROUP", help_heading = "Resources")]
    pub cgroup: Option<ControlGroup>,
}

/// Flags of what is printed and reported.
#[derive(Debug, Default, Args)]
pub struct ReportingFlags {
    /// Write the job's report to this file too
    #[arg(long, value_name = "FILE", help_heading = "Reports and messages")]
    pub report: Option<PathBuf>,

    /// Write the report to this file as one self-contained HTML page
    #[arg(long, value_name = "FILE", help_heading = "Reports and messages")]
    pub html: Option<PathBuf>,

    /// Print the report as one JSON document instead of text
    #[arg(long, help_heading = "Reports and messages")]
    pub json: bool,

    /// Print no progress and no summary on standard error
    #[arg(short, long, help_heading = "Reports and messages")]
    pub quiet: bool,

    /// Print the job as a job file and run nothing
    #[arg(long, help_heading = "Reports and messages")]
    pub print_job: bool,
}

impl TaskFlags {
    /// Returns the settings that the flags stand for.
    pub fn settings(&self) -> Vec<(String, String)> {
        let tasks = ["mapreduce.map.maxattempts", "mapreduce.reduce.maxattempts"];
        let attempts = self.attempts.map(|n| tasks.map(|key| (key.to_string(), n.to_string())));
        let timeout = self.timeout.map(|s| ("mapreduce.task.timeout".to_string(), format!("{:.0}", s * 1000.0)));
        let bad_records = self.bad_records.iter().map(|limit| ("bad.records".to_string(), limit.clone()));
        let stores = self.stores.settings().into_iter().map(|(name, value)| (format!("{PREFIX}{name}"), value));
        bad_records.chain(attempts.into_iter().flatten()).chain(timeout).chain(stores).collect()
    }
}
