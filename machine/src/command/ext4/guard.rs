//! `yunti machine ext4 guard`: counts errors of a file system and of its device, and acts when there are too many: before bad becomes worse.
//!
//! The rule is that by which the engine takes its spill directories out of use: `yunti_base::directory_health`.

use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::Args;
use rustix::mount::{MountFlags, mount_remount};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};
use yunti_base::directory_health::{DirectoryHealth, FailureRule};
use yunti_base::{Code, Error, Result};
use yunti_program::failure::{Failure, Outcome};

use super::place::Place;
use super::webhook;
use yunti_probe::answer::{Answer, Table};
use yunti_probe::kernel::system::{DeviceErrors, DeviceFault as Fault};
use yunti_probe::options::{AnswerFlags, duration};
use yunti_probe::stopping::{PULSE, Stopping};

/// Errors of a file system and its device: too many within a time, and what you name is done (remount read-only, a command, a web hook)
///
/// Errors within a window count together with those of the windows right before it; a window without errors forgets them. It ends when it has acted, when
/// the time is over (-s), or by ctrl-C.
#[derive(Debug, Args)]
pub struct GuardFlags {
    /// A device, or a directory of a mounted file system
    #[arg(value_name = "DEVICE|DIRECTORY")]
    place: PathBuf,
    /// So many errors are too many
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    errors: u32,
    /// Within this time, or in such windows in a row
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = window)]
    window: Duration,
    /// Mount it read-only then
    #[arg(long)]
    remount_read_only: bool,
    /// Run this by a shell then; it is told YUNTI_DEVICE, YUNTI_MOUNTED_AT, YUNTI_ERRORS and YUNTI_LAST_ERROR
    #[arg(long, value_name = "COMMAND")]
    run: Option<String>,
    /// Post this to a web hook then: a JSON document with host, device, mounted_at, errors and last_error
    #[arg(long, value_name = "URL", value_parser = webhook::url)]
    post: Option<String>,
    /// Only say what would be done
    #[arg(long)]
    dry_run: bool,
    /// How long to watch; without it until it has acted, or ctrl-C
    #[arg(short, long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    seconds: Option<u64>,
    #[command(flatten)]
    pub answer: AnswerFlags,
}

const FOR_EVER: Duration = Duration::from_secs(10 * 31_536_000);
const ERRORS_KEPT: usize = 1000;
const SHOWN: usize = 20;

fn window(text: &str) -> std::result::Result<Duration, String> {
    duration(text).and_then(|time| {
        if time.is_zero() { Err("a window of no time sees nothing; give one such as 5s".to_owned()) } else { Ok(time) }
    })
}

/// What was done, and whether it went well.
struct Act {
    what: String,
    result: std::result::Result<String, String>,
}

pub fn guard(flags: &GuardFlags) -> Outcome {
    let mut stopping = Stopping::new()?;
    let place = Place::find(&flags.place)?;
    let shown = place.shown();
    let Some((major, minor)) = place.device() else {
        return Err(Error::new(Code::Input, "this image is not mounted, so no errors come of it")
            .at_path(shown)
            .hint("name a device, or where it is mounted")
            .into());
    };
    if flags.remount_read_only && place.mounted_at.is_none() {
        return Err(Error::new(Code::Input, "it is not mounted, and cannot be mounted read-only")
            .at_path(shown)
            .hint("leave --remount-read-only out")
            .into());
    }
    let mut answer = Answer::of_device("ext4 guard", shown.clone());
    let mut errors = DeviceErrors::start(&shown, major, minor, &mut answer.skips)?;
    let health =
        DirectoryHealth::new(FailureRule { errors_max: flags.errors, window_ns: flags.window.as_nanos() as u64 });
    eprintln!("watching errors of {shown}; ctrl-C ends it");
    let begun = Instant::now();
    let mut seen: Vec<(f64, String)> = Vec::new();
    let mut count = 0u64;
    let watched = stopping.wait_for_time(flags.seconds.map_or(FOR_EVER, Duration::from_secs), PULSE, || {
        errors.collect(|time_ns, fault| {
            count += 1;
            health.note_error(time_ns);
            let told = (begun.elapsed().as_secs_f64(), say(&fault));
            if !flags.answer.json && count <= SHOWN as u64 {
                eprintln!("{:7.1} s  error {count}: {}", told.0, told.1);
            }
            if seen.len() < ERRORS_KEPT {
                seen.push(told);
            }
        });
        health.is_usable()
    });
    let acts = if health.is_usable() {
        Vec::new()
    } else {
        act(flags, &place, count, seen.last().map_or("", |(_, what)| what), &mut stopping)
    };
    answer.watched(&watched);
    answer.missing(errors.lost(), |n| {
        format!("{n} errors: they came faster than they could be taken, and are not counted")
    });
    answer.lead = match (health.is_usable(), count) {
        (true, 0) => "no errors.".to_owned(),
        (true, n) => format!("{n} errors; not {} in windows of {:?} in a row.", flags.errors, flags.window),
        (false, n) => format!(
            "{n} errors: too many. {}",
            if acts.is_empty() { "Nothing was to be done.".to_owned() } else { done(&acts) }
        ),
    };
    answer.tables.push(Table {
        title: "Errors".to_owned(),
        columns: vec![("after", true), ("what", false)],
        rows: seen.iter().map(|(at, what)| vec![format!("{at:.1} s"), what.clone()]).collect(),
        shown: SHOWN,
    });
    answer.give(&flags.answer, watched.end, json_of(&health, count, &seen, &acts))?;
    // What failed stands in the answer.
    if acts.iter().any(|act| act.result.is_err()) { Err(Failure::Reported(Code::Output)) } else { Ok(()) }
}

fn act(flags: &GuardFlags, place: &Place, count: u64, last: &str, stopping: &mut Stopping) -> Vec<Act> {
    let mut acts = Vec::new();
    let mut go = |what: String, how: &mut dyn FnMut() -> std::result::Result<String, String>| {
        let result = if flags.dry_run { Ok("not done: --dry-run".to_owned()) } else { how() };
        acts.push(Act { what, result });
    };
    // First what keeps the data, then who is told of it.
    if let Some(at) = place.mounted_at.as_deref().filter(|_| flags.remount_read_only) {
        go(format!("{at} is mounted read-only"), &mut || {
            remount(at).map(|()| "done".to_owned()).map_err(|e| e.to_string())
        });
    }
    if let Some(command) = &flags.run {
        let mut shell = Command::new("/bin/sh");
        shell
            .args(["-c", command])
            .env("YUNTI_DEVICE", &place.path)
            .env("YUNTI_MOUNTED_AT", place.mounted_at.as_deref().unwrap_or_default())
            .env("YUNTI_ERRORS", count.to_string())
            .env("YUNTI_LAST_ERROR", last);
        go(format!("'{command}' is run"), &mut || run(&mut shell, stopping));
    }
    if let Some(url) = &flags.post {
        let document = json!({
            "host": rustix::system::uname().nodename().to_string_lossy(),
            "device": place.shown(),
            "mounted_at": place.mounted_at,
            "errors": count,
            "last_error": last,
        });
        go(format!("{url} is told"), &mut || webhook::post(url, &document).map(|()| "done".to_owned()));
    }
    acts
}

/// To its end, or until the user has waited long enough: then it is killed with what it has started. What it says is no part of the answer.
fn run(command: &mut Command, stopping: &mut Stopping) -> std::result::Result<String, String> {
    let failed = |e: std::io::Error| e.to_string();
    let said = std::io::stderr().as_fd().try_clone_to_owned().map_err(failed)?;
    let mut child = command.process_group(0).stdin(Stdio::null()).stdout(said).spawn().map_err(failed)?;
    let mut ended = None;
    stopping.wait_for_time(FOR_EVER, PULSE, || {
        ended = child.try_wait().transpose();
        ended.is_none()
    });
    match ended {
        Some(Ok(status)) if status.success() => Ok("done".to_owned()),
        Some(Ok(status)) => Err(format!("it ended with {status}")),
        Some(Err(e)) => Err(e.to_string()),
        None => {
            let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
            let _ = child.wait();
            Err("it did not end, and was killed when you had waited long enough".to_owned())
        }
    }
}

/// What else the mount has stays: a remount sets all of it anew.
fn remount(at: &str) -> Result<()> {
    const KEPT: [(&str, MountFlags); 7] = [
        ("nosuid", MountFlags::NOSUID),
        ("nodev", MountFlags::NODEV),
        ("noexec", MountFlags::NOEXEC),
        ("noatime", MountFlags::NOATIME),
        ("nodiratime", MountFlags::NODIRATIME),
        ("relatime", MountFlags::RELATIME),
        ("sync", MountFlags::SYNCHRONOUS),
    ];
    let options = super::place::mount_options(at);
    let kept = KEPT.iter().filter(|(name, _)| options.iter().any(|o| o == name));
    let flags = kept.fold(MountFlags::RDONLY, |sum, (_, flag)| sum | *flag);
    mount_remount(Path::new(at), flags, "").map_err(|e| Error::io(Code::Output, "the remount", &e.into()))
}

fn say(fault: &Fault) -> String {
    // BLK_STS_.. of blk_types.h, those that disks give.
    let reason = |status: u32| match status {
        1 => "not supported",
        2 => "it took too long",
        3 => "no space",
        4 => "the link failed",
        5 => "the target failed",
        7 => "a block cannot be read or written",
        8 => "its checksum is wrong",
        9 => "no memory",
        10 => "input/output error",
        _ => "another reason",
    };
    match fault {
        Fault::Ext4 { function, line } => format!("ext4: {function}, line {line}"),
        Fault::Request { sector, operation, status } => {
            let name = match operation {
                0 => "a read",
                1 => "a write",
                2 => "a flush",
                3 => "a discard",
                _ => "a request",
            };
            format!("{name} at sector {sector} failed: {} ({status})", reason(*status))
        }
    }
}

fn done(acts: &[Act]) -> String {
    let told = acts.iter().map(|act| match &act.result {
        Ok(how) => format!("{}: {how}.", act.what),
        Err(why) => format!("{}: FAILED: {why}.", act.what),
    });
    told.collect::<Vec<_>>().join(" ")
}

fn json_of(health: &DirectoryHealth, count: u64, seen: &[(f64, String)], acts: &[Act]) -> Value {
    json!({
        "too_many": !health.is_usable(),
        "errors": count,
        "seen": seen.iter().map(|(at, what)| json!({"after_seconds": at, "what": what})).collect::<Vec<_>>(),
        "acts": acts.iter().map(|act| json!({"what": act.what, "done": act.result.is_ok(), "how": act.result.as_ref().unwrap_or_else(|e| e)})).collect::<Vec<_>>(),
    })
}
