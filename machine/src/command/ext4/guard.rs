//! `yunti machine ext4 guard`: counts errors of a file system and its device, and acts on too many before they cause
//! more damage.
//!
//! The rule is the one by which the engine stops using a spill directory: `yunti_base::directory_health`.

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

/// Act on too many errors of a file system and its device: remount read-only, run a command, call a web hook
///
/// Errors in a window count together with the windows directly before it; a window without errors resets the count.
/// Ends after the action, after -s seconds, or by ctrl-C.
#[derive(Debug, Args)]
pub struct GuardFlags {
    /// A device, or a directory of a mounted file system
    #[arg(value_name = "DEVICE|DIRECTORY")]
    place: PathBuf,
    /// Act on this many errors
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    errors: u32,
    /// Count errors within this time, or in consecutive windows of it
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = window)]
    window: Duration,
    /// Remount the file system read-only
    #[arg(long)]
    remount_read_only: bool,
    /// Run this command in a shell, with YUNTI_DEVICE, YUNTI_MOUNTED_AT, YUNTI_ERRORS and YUNTI_LAST_ERROR set
    #[arg(long, value_name = "COMMAND")]
    run: Option<String>,
    /// Post a JSON document to this URL, with host, device, mounted_at, errors and last_error
    #[arg(long, value_name = "URL", value_parser = webhook::url)]
    post: Option<String>,
    /// Only print the action
    #[arg(long)]
    dry_run: bool,
    /// Watch for this long [default: until the action or ctrl-C]
    #[arg(short, long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    seconds: Option<u64>,
    #[command(flatten)]
    pub answer: AnswerFlags,
}

const FOR_EVER: Duration = Duration::from_secs(10 * 31_536_000);
const ERRORS_KEPT: usize = 1000;
const SHOWN: usize = 20;
/// Result of an action that succeeded.
const DONE: &str = "done";

fn window(text: &str) -> std::result::Result<Duration, String> {
    duration(text).and_then(|time| {
        if time.is_zero() {
            Err("a window of length 0 counts nothing; give one such as 5s".to_owned())
        } else {
            Ok(time)
        }
    })
}

/// An action and its result.
struct Action {
    what: String,
    result: std::result::Result<String, String>,
}

/// Watches for errors and acts on too many. Fails if an action failed.
pub fn guard(flags: &GuardFlags) -> Outcome {
    let mut stopping = Stopping::new()?;
    let place = Place::find(&flags.place)?;
    let shown = place.shown();
    let Some((major, minor)) = place.device() else {
        return Err(Error::new(Code::Input, "this image is not mounted, so it reports no errors")
            .at_path(shown)
            .hint("name a device or a mount point")
            .into());
    };
    if flags.remount_read_only && place.mounted_at.is_none() {
        return Err(Error::new(Code::Input, "not mounted, so it cannot be remounted read-only")
            .at_path(shown)
            .hint("omit --remount-read-only")
            .into());
    }
    let mut answer = Answer::of_device("ext4 guard", shown.clone());
    let mut errors = DeviceErrors::start(&shown, major, minor, &mut answer.skips)?;
    let health =
        DirectoryHealth::new(FailureRule { errors_max: flags.errors, window_ns: flags.window.as_nanos() as u64 });
    eprintln!("watching errors of {shown}; ctrl-C ends it");
    let begun = Instant::now();
    let mut errors_kept: Vec<(f64, String)> = Vec::new();
    let mut count = 0u64;
    let watched = stopping.wait_for_time(flags.seconds.map_or(FOR_EVER, Duration::from_secs), PULSE, || {
        errors.collect(|time_ns, fault| {
            count += 1;
            health.note_error(time_ns);
            let error = (begun.elapsed().as_secs_f64(), describe(&fault));
            if !flags.answer.json && count <= SHOWN as u64 {
                eprintln!("{:7.1} s  error {count}: {}", error.0, error.1);
            }
            if errors_kept.len() < ERRORS_KEPT {
                errors_kept.push(error);
            }
        });
        health.is_usable()
    });
    let actions = if health.is_usable() {
        Vec::new()
    } else {
        act(flags, &place, count, errors_kept.last().map_or("", |(_, what)| what), &mut stopping)
    };
    answer.watched(&watched);
    answer.missing(errors.lost(), |n| {
        format!("{n} errors: they came faster than they could be read, and are not counted")
    });
    answer.lead = match (health.is_usable(), count) {
        (true, 0) => "no errors.".to_owned(),
        (true, n) => format!("{n} errors; fewer than {} in consecutive windows of {:?}.", flags.errors, flags.window),
        (false, n) => format!(
            "{n} errors: too many. {}",
            if actions.is_empty() { "No action was requested.".to_owned() } else { summary(&actions) }
        ),
    };
    answer.tables.push(Table {
        title: "Errors".to_owned(),
        columns: vec![("after", true), ("what", false)],
        rows: errors_kept.iter().map(|(at, what)| vec![format!("{at:.1} s"), what.clone()]).collect(),
        shown: SHOWN,
    });
    answer.give(&flags.answer, watched.end, json_of(&health, count, &errors_kept, &actions))?;
    // The answer reports failed actions.
    if actions.iter().any(|act| act.result.is_err()) { Err(Failure::Reported(Code::Output)) } else { Ok(()) }
}

fn act(flags: &GuardFlags, place: &Place, count: u64, last: &str, stopping: &mut Stopping) -> Vec<Action> {
    let mut actions = Vec::new();
    let mut go = |what: String, how: &mut dyn FnMut() -> std::result::Result<String, String>| {
        let result = if flags.dry_run { Ok("not done (--dry-run)".to_owned()) } else { how() };
        actions.push(Action { what, result });
    };
    // The action that protects the data comes first, notifications after it.
    if let Some(at) = place.mounted_at.as_deref().filter(|_| flags.remount_read_only) {
        go(format!("Remounted {at} read-only"), &mut || {
            remount(at).map(|()| DONE.to_owned()).map_err(|e| e.to_string())
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
        go(format!("Ran '{command}'"), &mut || run(&mut shell, stopping));
    }
    if let Some(url) = &flags.post {
        let document = json!({
            "host": rustix::system::uname().nodename().to_string_lossy(),
            "device": place.shown(),
            "mounted_at": place.mounted_at,
            "errors": count,
            "last_error": last,
        });
        go(format!("Notified {url}"), &mut || webhook::post(url, &document).map(|()| DONE.to_owned()));
    }
    actions
}

/// Runs the command to its end. If the user cancels, it is killed with its process group. Its output goes to standard
/// error.
fn run(command: &mut Command, stopping: &mut Stopping) -> std::result::Result<String, String> {
    let failed = |e: std::io::Error| e.to_string();
    let stderr = std::io::stderr().as_fd().try_clone_to_owned().map_err(failed)?;
    let mut child = command.process_group(0).stdin(Stdio::null()).stdout(stderr).spawn().map_err(failed)?;
    let mut ended = None;
    stopping.wait_for_time(FOR_EVER, PULSE, || {
        ended = child.try_wait().transpose();
        ended.is_none()
    });
    match ended {
        Some(Ok(status)) if status.success() => Ok(DONE.to_owned()),
        Some(Ok(status)) => Err(format!("it ended with {status}")),
        Some(Err(e)) => Err(e.to_string()),
        None => {
            let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
            let _ = child.wait();
            Err("it did not end, and was killed when you cancelled".to_owned())
        }
    }
}

/// Remounts read-only, with the mount's other options: a remount replaces all of them.
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
    mount_remount(Path::new(at), flags, "").map_err(|e| Error::io(Code::Output, "cannot remount", &e.into()))
}

fn describe(fault: &Fault) -> String {
    // BLK_STS_.. of blk_types.h, as disks report them.
    let reason = |status: u32| match status {
        1 => "not supported",
        2 => "timeout",
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

fn summary(actions: &[Action]) -> String {
    let parts = actions.iter().map(|action| match &action.result {
        Ok(how) if how == DONE => format!("{}.", action.what),
        Ok(how) => format!("{}: {how}.", action.what),
        Err(why) => format!("{}: FAILED: {why}.", action.what),
    });
    parts.collect::<Vec<_>>().join(" ")
}

fn json_of(health: &DirectoryHealth, count: u64, errors: &[(f64, String)], actions: &[Action]) -> Value {
    json!({
        "too_many": !health.is_usable(),
        "errors": count,
        "seen": errors.iter().map(|(at, what)| json!({"after_seconds": at, "what": what})).collect::<Vec<_>>(),
        "acts": actions.iter().map(|act| json!({"what": act.what, "done": act.result.is_ok(),
        "how": act.result.as_ref().unwrap_or_else(|e| e)})).collect::<Vec<_>>(),
    })
}
