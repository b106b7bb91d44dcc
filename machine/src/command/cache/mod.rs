//! `yunti machine cache`: how much of what files and processes ask for is in the page cache, and what is brought in for that.

mod account;
mod ahead;
mod look;
mod names;
mod sampling;
mod tell;

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::PathBuf;

use clap::Args;
use rustix::fs::{major, minor};
use yunti_base::{Code, Error, Result};
use yunti_program::failure::Outcome;

use yunti_probe::answer::Answer;
use yunti_probe::kernel::system::User;
use yunti_probe::options::OutputFlags;
use yunti_probe::stopping::Stopping;
use yunti_probe::target::Process;

/// How much of what is read, mapped and written is in the page cache: by device, file and process; and what is read ahead for nothing
#[derive(Debug, Args)]
pub struct CacheFlags {
    /// Only of the file system on this device, or below this directory [default: all]
    #[arg(value_name = "DEVICE|DIRECTORY")]
    place: Option<PathBuf>,
    /// Only of these processes, by their numbers
    #[arg(short, long, value_name = "PID")]
    pid: Vec<u32>,
    #[command(flatten)]
    pub output: OutputFlags,
}

/// What is told of.
struct Wanted {
    device: Option<(u32, u32)>,
    pids: Vec<u32>,
    own: u32,
}

impl Wanted {
    fn find(flags: &CacheFlags) -> Result<Wanted> {
        for pid in &flags.pid {
            Process::of(*pid)?;
        }
        let device = flags.place.as_deref().map(|path| -> Result<(u32, u32)> {
            let found = std::fs::metadata(path).map_err(|e| {
                Error::io(Code::Input, "there is no such device or directory", &e).at_path(path.display().to_string())
            })?;
            let number = if found.file_type().is_block_device() { found.rdev() } else { found.dev() };
            Ok((major(number), minor(number)))
        });
        Ok(Wanted { device: device.transpose()?, pids: flags.pid.clone(), own: std::process::id() })
    }

    fn has(&self, user: &User) -> bool {
        user.pid != self.own
            && self.device.is_none_or(|device| user.file.device() == device)
            && (self.pids.is_empty() || self.pids.contains(&user.pid))
    }
}

pub fn cache(flags: &CacheFlags) -> Outcome {
    let mut stopping = Stopping::new()?;
    let wanted = Wanted::find(flags)?;
    let subject = flags.place.as_ref().map_or("the page cache".to_owned(), |path| path.display().to_string());
    let mut skips = Vec::new();
    let mut look = look::Look::start(wanted, !flags.output.answer.json, &mut skips)?;
    eprintln!("watching {subject}; ctrl-C ends it");
    let watched = stopping.wait_for_time(flags.output.seconds, look::PULSE, || look.pass());
    let seen = look.end()?;
    let mut answer = Answer::of_device("cache", subject);
    answer.skips = skips;
    answer.watched(&watched);
    answer.missing(seen.lost, |n| format!("{n} files of processes or folios: there were too many to count all"));
    let facts = tell::tell(&seen, &mut answer);
    answer.give(&flags.output.answer, watched.end, facts)
}
