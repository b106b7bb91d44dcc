//! `yunti machine cgroup`: use of the machine by containers, services and jobs, and their waits.

mod counters;
mod hierarchy;
mod instance;
mod jobs;
mod live;
mod measure;
mod names;
mod report;
mod sample;
mod sharing;

use clap::{Args, ValueEnum};
use yunti_base::{Code, Error};
use yunti_program::failure::Outcome;

use hierarchy::Hierarchies;
use yunti_base::mounts;
use yunti_probe::answer::Answer;
use yunti_probe::options::OutputFlags;
use yunti_probe::stopping::Stopping;

/// Measure containers, services and jobs by control group: processors, throttling, switches, run queue, memory, page
/// cache, I/O, pressure
#[derive(Debug, Args)]
pub struct CgroupFlags {
    /// Only these: a path from the root of the hierarchy, or a part of a name [default: all]
    #[arg(value_name = "PATH|NAME")]
    only: Vec<String>,
    /// Sort rows by this
    #[arg(long, value_enum, default_value = "cpu")]
    sort: Sort,
    #[command(flatten)]
    pub output: OutputFlags,
}

/// Order of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// Processor time
    Cpu,
    /// Time in the run queue
    Wait,
    /// Context switches
    Switches,
    /// Time stopped by the quota
    Throttled,
    /// Memory charged
    Memory,
    /// Bytes read and written
    Io,
}

/// Measures control groups until its time is over, and prints the result.
pub fn cgroup(flags: &CgroupFlags) -> Outcome {
    let mut stopping = Stopping::new()?;
    let hierarchies = Hierarchies::of(&mounts::all());
    if hierarchies.is_empty() {
        let error = Error::new(Code::Input, "no control groups are mounted");
        return Err(error.hint("mount -t cgroup2 none /sys/fs/cgroup; in a container, mount them into it").into());
    }
    let mut skips = Vec::new();
    let live = live::Live::new(!flags.output.answer.json, &flags.only, flags.sort);
    let mut measurement = measure::CgroupMeasurement::start(hierarchies, live, &mut skips);
    if !flags.only.is_empty() && !measurement.has_any(&flags.only) {
        let error = Error::new(Code::Input, format!("no control group is named {}", flags.only.join(", ")));
        return Err(error.hint("run yunti machine cgroup without names to list all").into());
    }
    eprintln!("watching control groups; ctrl-C ends it");
    let watched = stopping.wait_for_time(flags.output.seconds, measure::PULSE, || measurement.pass());
    let sample = measurement.end(&mut skips)?;
    let mut answer = Answer::of_device("cgroup", "control groups".to_owned());
    answer.skips = skips;
    answer.watched(&watched);
    answer.missing(sample.lost, |n| format!("ends of {n} threads: they came faster than they could be read"));
    let facts = report::report(&sample, &flags.only, flags.sort, &mut answer);
    answer.give(&flags.output.answer, watched.end, facts)
}
