//! `yunti machine cache`: share of reads, mappings and writes that the page cache serves, and the pages that are
//! brought in.

mod account;
mod measure;
mod names;
mod read_ahead;
mod report;
mod sampling;

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::PathBuf;

use clap::Args;
use rustix::fs::{major, minor};
use yunti_base::{Code, Error, Result};
use yunti_program::failure::Outcome;

use yunti_probe::answer::{Answer, own_cpu_seconds};
use yunti_probe::kernel::system::User;
use yunti_probe::options::OutputFlags;
use yunti_probe::stopping::Stopping;
use yunti_probe::target::Process;

/// Measure the share of reads, mapped accesses and writes served from the page cache, by device, file and process, and
/// unused read-ahead
#[derive(Debug, Args)]
pub struct CacheFlags {
    /// Only the file system on this device, or the one of this directory [default: all]
    #[arg(value_name = "DEVICE|DIRECTORY")]
    place: Option<PathBuf>,
    /// Only these processes
    #[arg(short, long, value_name = "PID")]
    pid: Vec<u32>,
    #[command(flatten)]
    pub output: OutputFlags,
}

/// Selection of users that are measured.
struct Filter {
    device: Option<(u32, u32)>,
    pids: Vec<u32>,
    own: u32,
}

impl Filter {
    fn find(flags: &CacheFlags) -> Result<Filter> {
        for pid in &flags.pid {
            Process::of(*pid)?;
        }
        let device = flags.place.as_deref().map(|path| -> Result<(u32, u32)> {
            let found = std::fs::metadata(path).map_err(|e| {
                Error::io(Code::Input, "no such device or directory", &e).at_path(path.display().to_string())
            })?;
            let number = if found.file_type().is_block_device() { found.rdev() } else { found.dev() };
            Ok((major(number), minor(number)))
        });
        Ok(Filter { device: device.transpose()?, pids: flags.pid.clone(), own: std::process::id() })
    }

    fn has(&self, user: &User) -> bool {
        user.pid != self.own
            && self.device.is_none_or(|device| user.file.device() == device)
            && (self.pids.is_empty() || self.pids.contains(&user.pid))
    }
}

/// Measures the page cache until its time is over, and prints the result.
pub fn cache(flags: &CacheFlags) -> Outcome {
    let mut stopping = Stopping::new()?;
    let filter = Filter::find(flags)?;
    let subject = flags.place.as_ref().map_or("the page cache".to_owned(), |path| path.display().to_string());
    let mut skips = Vec::new();
    let mut measurement = measure::CacheMeasurement::start(filter, !flags.output.answer.json, &mut skips)?;
    let start_cpu_seconds = own_cpu_seconds();
    eprintln!("watching {subject}; ctrl-C ends it");
    let watched = stopping.wait_for_time(flags.output.seconds, measure::PULSE, || measurement.pass());
    let sample = measurement.end()?;
    let mut answer = Answer::of_device("cache", subject);
    answer.skips = skips;
    answer.start_cpu_seconds = start_cpu_seconds;
    answer.watched(&watched);
    answer.missing(sample.lost, |n| format!("{n} files of processes or folios: too many to count all"));
    let facts = report::report(&sample, &mut answer);
    answer.give(&flags.output.answer, watched.end, facts)
}
