//! `yunti machine cgroup`: what containers, services and jobs use, and what they wait for.

mod counters;
mod hierarchy;
mod instance;
mod jobs;
mod live;
mod look;
mod names;
mod sharing;
mod tell;

use clap::{Args, ValueEnum};
use yunti_base::{Code, Error};
use yunti_program::failure::Outcome;

use hierarchy::Hierarchies;
use yunti_probe::answer::Answer;
use yunti_probe::mounts;
use yunti_probe::options::OutputFlags;
use yunti_probe::stopping::Stopping;

/// Containers, services and jobs by their control groups: processors, throttling, switches, waits, memory, page cache, I/O, pressure
#[derive(Debug, Args)]
pub struct CgroupFlags {
    /// Only these: a path from the root of the hierarchy on, or a part of a name [default: all]
    #[arg(value_name = "PATH|NAME")]
    only: Vec<String>,
    /// What comes first
    #[arg(long, value_enum, default_value = "cpu")]
    sort: Sort,
    #[command(flatten)]
    pub output: OutputFlags,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// Processor time
    Cpu,
    /// Time in which threads were ready and another ran
    Wait,
    Switches,
    Throttled,
    Memory,
    /// Bytes read and written
    Io,
}

pub fn cgroup(flags: &CgroupFlags) -> Outcome {
    let mut stopping = Stopping::new()?;
    let hierarchies = Hierarchies::of(&mounts::all());
    if hierarchies.is_empty() {
        let error = Error::new(Code::Input, "no control groups are mounted here");
        return Err(error.hint("mount -t cgroup2 none /sys/fs/cgroup; in a container, mount them into it").into());
    }
    let mut skips = Vec::new();
    let live = live::Live::new(!flags.output.answer.json, &flags.only, flags.sort);
    let mut look = look::Look::start(hierarchies, live, &mut skips);
    if !flags.only.is_empty() && !look.has_any(&flags.only) {
        let error = Error::new(Code::Input, format!("no control group is called {}", flags.only.join(", ")));
        return Err(error.hint("yunti machine cgroup without names shows those that there are").into());
    }
    eprintln!("watching control groups; ctrl-C ends it");
    let watched = stopping.wait_for_time(flags.output.seconds, look::PULSE, || look.pass());
    let seen = look.end(&mut skips)?;
    let mut answer = Answer::of_device("cgroup", "control groups".to_owned());
    answer.skips = skips;
    answer.watched(&watched);
    answer.missing(seen.lost, |n| format!("ends of {n} threads: they came faster than they could be taken"));
    let facts = tell::tell(&seen, &flags.only, flags.sort, &mut answer);
    answer.give(&flags.output.answer, watched.end, facts)
}
