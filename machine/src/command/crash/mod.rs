//! `yunti machine crash`: crashes on this machine, reported once to a collector.

mod report;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::json;
use yunti_base::Code;
use yunti_program::failure::{Failure, Outcome};

use crate::crash::collector::{Collector, Credentials};
use crate::crash::delivery::{Delivery, Progress};
use crate::crash::jvms::Jvms;
use crate::crash::kernel::KernelReports;
use crate::crash::kernel_log::{self, KernelLog};
use crate::crash::queue::Queue;
use crate::crash::repeats::Repeats;
use crate::crash::syslog::Teller;
use crate::crash::{Kind, Report};
use yunti_probe::answer::Answer;
use yunti_probe::options::AnswerFlags;
use yunti_probe::stopping::{PULSE, Stopping};

/// Report oopses, OOM kills, hung tasks, file system errors and fatal JVM errors: classified by stack, repeats joined,
/// forwarded as syslog
///
/// Sends function names and the fields listed in docs/formats/crash-reports.md from the kernel's log and hs_err files;
/// nothing else. Runs until ctrl-C, or for -s seconds.
#[derive(Debug, Args)]
pub struct CrashFlags {
    /// Send reports to udp://HOST[:514] or tls://HOST[:6514], as syslog (RFC 5424) [default: only show them]
    #[arg(long, value_name = "URL")]
    collect: Option<String>,
    /// Trust these certificates (PEM) with tls:// [default: the system's]
    #[arg(long, value_name = "FILE", requires = "collect")]
    ca: Option<PathBuf>,
    /// Use this certificate with tls://, if the collector requests one
    #[arg(long, value_name = "FILE", requires = "key")]
    certificate: Option<PathBuf>,
    /// Private key of the certificate
    #[arg(long, value_name = "FILE", requires = "certificate")]
    key: Option<PathBuf>,
    /// Join repeats within this time to one report at its end
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=86_400))]
    again_every: u64,
    /// Send at most this many reports a minute; the rest wait
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=6000))]
    a_minute: u32,
    /// Queue at most this many reports; the rest are counted, and their number is sent with the next one
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    queue: u32,
    /// Watch this folder for hs_err files too; the folders of running JVMs are known
    #[arg(long, value_name = "DIR")]
    hs_err: Vec<PathBuf>,
    /// Report the kernel's log since boot too
    #[arg(long)]
    since_boot: bool,
    /// Read records from this file instead of the kernel's log, a line each, in the format of /dev/kmsg
    #[arg(long, value_name = "FILE", hide = true, default_value = kernel_log::DEVICE)]
    kernel_log: PathBuf,
    /// Watch for this long [default: until ctrl-C]
    #[arg(short, long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    seconds: Option<u64>,
    #[command(flatten)]
    pub answer: AnswerFlags,
}

const FOR_EVER: Duration = Duration::from_secs(10 * 31_536_000);
/// Silence after which a report of the kernel is complete.
const QUIET: Duration = Duration::from_millis(200);
/// Time for waiting reports at the end.
const LAST_ATTEMPT: Duration = Duration::from_secs(5);
/// Reports in the answer; a long run may have more.
const KEPT_MAX: usize = 1000;

/// Crashes of this run.
#[derive(Default)]
pub struct CrashSample {
    /// First reports of each cause.
    pub reports: Vec<Report>,
    /// Crashes by kind, in the order of `Kind::ALL`, repeats included.
    pub counts: [u64; Kind::ALL.len()],
    /// Repeats.
    pub again: u64,
}

impl CrashSample {
    fn add(&mut self, report: &Report, is_first: bool) {
        self.counts[report.kind as usize] += 1;
        if !is_first {
            self.again += 1;
        } else if self.reports.len() < KEPT_MAX {
            self.reports.push(report.clone());
        }
    }
}

/// Watches for crashes until its time is over, and prints the result. Fails if reports could not be delivered.
pub fn crash(flags: &CrashFlags) -> Outcome {
    let mut stopping = Stopping::new()?;
    let credentials =
        Credentials { roots: flags.ca.clone(), certificate: flags.certificate.clone(), key: flags.key.clone() };
    let collector = flags.collect.as_deref().map(|url| Collector::new(url, &credentials)).transpose()?;
    let mut answer = Answer::of_device("crash", "this machine".to_owned());
    let log = open_log(&flags.kernel_log, flags.since_boot, &mut answer.skips);
    let mut jvms = Jvms::watch(&flags.hs_err, &mut answer.skips)?;
    let mut log = match log {
        Ok(log) => Some(log),
        // Fatal errors of JVMs are reported without the kernel's log.
        Err(e) if flags.kernel_log == Path::new(kernel_log::DEVICE) => {
            answer.skips.push(format!("oopses, OOM kills, hung tasks, file system errors: {e}"));
            None
        }
        Err(e) => return Err(e.into()),
    };
    let queue = Queue::new(flags.queue as usize, flags.a_minute as usize);
    let delivery = collector.map(|collector| Delivery::start(collector, teller(), queue));
    let (mut kernel, mut repeats) = (KernelReports::default(), Repeats::new(Duration::from_secs(flags.again_every)));
    let (mut sample, mut found) = (CrashSample::default(), Vec::new());
    let mut quiet_since = Instant::now();
    let mut trouble = None;
    eprintln!("watching crashes of this machine{}; ctrl-C ends it", report::destination(flags.collect.as_deref()));
    let is_shown = !flags.answer.json;
    let watched = stopping.wait_for_time(flags.seconds.map_or(FOR_EVER, Duration::from_secs), PULSE, || {
        if let Some(log) = &mut log {
            let mut records = Vec::new();
            log.collect(|record| records.push(record));
            if !records.is_empty() {
                quiet_since = Instant::now();
            }
            for record in records {
                found.extend(kernel.take(&record, log.time_of(&record)));
            }
            if quiet_since.elapsed() > QUIET {
                found.extend(kernel.end());
            }
        }
        jvms.collect(|report| found.push(report));
        pass_on(&mut found, &mut repeats, delivery.as_ref(), &mut sample, is_shown);
        for (report, count) in repeats.due(Instant::now()) {
            again(report, count, delivery.as_ref(), is_shown);
        }
        if let Some(now) = delivery.as_ref().map(|d| d.progress().trouble)
            && now != trouble
        {
            eprintln!("{}", report::delivery_status(now.as_deref()));
            trouble = now;
        }
        true
    });
    found.extend(kernel.end());
    pass_on(&mut found, &mut repeats, delivery.as_ref(), &mut sample, is_shown);
    for (report, count) in repeats.end() {
        again(report, count, delivery.as_ref(), is_shown);
    }
    let progress = delivery.map(|delivery| delivery.finish(LAST_ATTEMPT));
    answer.watched(&watched);
    answer.missing(log.as_ref().map_or(0, |log| log.overwritten), |n| {
        format!("records of the kernel's log: overwritten {n} times before they were read")
    });
    answer.missing(jvms.left_out, |n| {
        format!("{n} folders of JVMs: the limit of watches is reached (fs.inotify.max_user_watches)")
    });
    answer.missing(jvms.overrun, |n| {
        format!("hs_err files: the queue of folder events overflowed {n} times (fs.inotify.max_queued_events)")
    });
    report::report(&sample, progress.as_ref(), jvms.counts(), &mut answer);
    let facts = facts(&sample, progress.as_ref());
    let given = answer.give(&flags.answer, watched.end, facts);
    // Undelivered reports are worse than a run ended by ctrl-C.
    match progress {
        Some(progress) if progress.waiting > 0 => Err(Failure::Reported(Code::Output)),
        _ => given,
    }
}

fn teller() -> Teller {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let begun = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
    Teller::new(&host, std::process::id(), &boot, begun.as_millis())
}

fn open_log(path: &Path, since_boot: bool, skips: &mut Vec<String>) -> yunti_base::Result<KernelLog> {
    // Root in a container may read the log, if nothing forbids it.
    let log = KernelLog::open(path, since_boot)?;
    if !Path::new("/proc/sys/kernel/hung_task_timeout_secs").exists() {
        skips.push("hung tasks: this kernel does not detect them (CONFIG_DETECT_HUNG_TASK)".to_owned());
    }
    Ok(log)
}

fn pass_on(
    found: &mut Vec<Report>,
    repeats: &mut Repeats,
    to: Option<&Delivery>,
    sample: &mut CrashSample,
    is_shown: bool,
) {
    for report in found.drain(..) {
        let first = repeats.take(report.clone(), Instant::now());
        sample.add(&report, first.is_some());
        if let Some(report) = first {
            if is_shown {
                eprintln!("{}", report::line(&report));
            }
            if let Some(delivery) = to {
                delivery.give(report, 1, false);
            }
        }
    }
}

fn again(report: Report, count: u64, to: Option<&Delivery>, is_shown: bool) {
    if is_shown {
        eprintln!("again, {count} times: {}", report::line(&report));
    }
    if let Some(delivery) = to {
        delivery.give(report, count, true);
    }
}

fn facts(sample: &CrashSample, progress: Option<&Progress>) -> serde_json::Value {
    let counts = Kind::ALL.iter().zip(sample.counts).map(|(kind, n)| (kind.name().to_owned(), json!(n)));
    json!({
        "counts": counts.collect::<serde_json::Map<_, _>>(),
        "again": sample.again,
        "reports": sample.reports.iter().map(report::document).collect::<Vec<_>>(),
        "delivery": progress.map(|p| json!({
            "delivered": p.delivered, "waiting": p.waiting, "not_taken": p.not_taken, "trouble": p.trouble,
        })),
    })
}
