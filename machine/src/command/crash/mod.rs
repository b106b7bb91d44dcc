//! `yunti machine crash`: what crashes on this machine, told once to who collects it.

mod tell;

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

/// Oopses, OOM kills, hung tasks, errors of file systems and fatal errors of JVMs: classified by their stacks, the same once, forwarded as syslog
///
/// Nothing else is ever sent: of the kernel's log and of hs_err files only names of functions and what is listed in docs/formats/crash-reports.md. It goes on
/// until ctrl-C or the time is over (-s).
#[derive(Debug, Args)]
pub struct CrashFlags {
    /// Send reports there: udp://HOST[:514] or tls://HOST[:6514], as syslog (RFC 5424); without it they are only shown
    #[arg(long, value_name = "URL")]
    collect: Option<String>,
    /// Whom to believe with tls://: certificates in PEM; by default the system's
    #[arg(long, value_name = "FILE", requires = "collect")]
    ca: Option<PathBuf>,
    /// Our own certificate for tls://, where the collector asks for one
    #[arg(long, value_name = "FILE", requires = "key")]
    certificate: Option<PathBuf>,
    /// Its private key
    #[arg(long, value_name = "FILE", requires = "certificate")]
    key: Option<PathBuf>,
    /// The same again within this time is counted, and told as one at its end
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    again_every: u64,
    /// Send at most so many reports a minute; the others wait
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=6000))]
    a_minute: u32,
    /// At most so many wait while the network is away; what comes then is counted, and told with the next
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    queue: u32,
    /// Look for hs_err files there too; where JVMs run is known
    #[arg(long, value_name = "DIR")]
    hs_err: Vec<PathBuf>,
    /// What the kernel has told since the system's start, too
    #[arg(long)]
    since_boot: bool,
    /// In place of the kernel's log: its records, a line each, as /dev/kmsg has them
    #[arg(long, value_name = "FILE", hide = true, default_value = kernel_log::DEVICE)]
    kernel_log: PathBuf,
    /// How long to watch; without it until ctrl-C
    #[arg(short, long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    seconds: Option<u64>,
    #[command(flatten)]
    pub answer: AnswerFlags,
}

const FOR_EVER: Duration = Duration::from_secs(10 * 31_536_000);
/// Lines of one report come together.
const QUIET: Duration = Duration::from_millis(200);
/// At the end, for what still waits.
const LAST_ATTEMPT: Duration = Duration::from_secs(5);
/// Of an answer: a machine that crashes for weeks has more.
const KEPT_MAX: usize = 1000;

/// What has been seen.
#[derive(Default)]
pub struct Seen {
    pub reports: Vec<Report>,
    /// By `Kind::ALL`; all, whatever became of them.
    pub counts: [u64; Kind::ALL.len()],
    pub again: u64,
}

impl Seen {
    fn add(&mut self, report: &Report, is_first: bool) {
        self.counts[report.kind as usize] += 1;
        if !is_first {
            self.again += 1;
        } else if self.reports.len() < KEPT_MAX {
            self.reports.push(report.clone());
        }
    }
}

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
        // Fatal errors of JVMs are told all the same.
        Err(e) if flags.kernel_log == Path::new(kernel_log::DEVICE) => {
            answer.skips.push(format!("oopses, OOM kills, hung tasks, errors of file systems: {e}"));
            None
        }
        Err(e) => return Err(e.into()),
    };
    let queue = Queue::new(flags.queue as usize, flags.a_minute as usize);
    let delivery = collector.map(|collector| Delivery::start(collector, teller(), queue));
    let (mut kernel, mut repeats) = (KernelReports::default(), Repeats::new(Duration::from_secs(flags.again_every)));
    let (mut seen, mut found) = (Seen::default(), Vec::new());
    let mut quiet_since = Instant::now();
    let mut trouble = None;
    eprintln!("watching crashes of this machine{}; ctrl-C ends it", tell::whereto(flags.collect.as_deref()));
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
        pass_on(&mut found, &mut repeats, delivery.as_ref(), &mut seen, is_shown);
        for (report, count) in repeats.due(Instant::now()) {
            again(report, count, delivery.as_ref(), is_shown);
        }
        if let Some(now) = delivery.as_ref().map(|d| d.progress().trouble)
            && now != trouble
        {
            eprintln!("{}", tell::of_trouble(now.as_deref()));
            trouble = now;
        }
        true
    });
    found.extend(kernel.end());
    pass_on(&mut found, &mut repeats, delivery.as_ref(), &mut seen, is_shown);
    for (report, count) in repeats.end() {
        again(report, count, delivery.as_ref(), is_shown);
    }
    let progress = delivery.map(|delivery| delivery.finish(LAST_ATTEMPT));
    answer.watched(&watched);
    answer.missing(log.as_ref().map_or(0, |log| log.overwritten), |n| {
        format!("records of the kernel's log: {n} times it was overwritten before it was read")
    });
    answer.missing(jvms.left_out, |n| {
        format!("{n} folders of JVMs: more cannot be watched at a time (fs.inotify.max_user_watches)")
    });
    answer.missing(jvms.overrun, |n| {
        format!("hs_err files: {n} times more happened in folders than could be taken (fs.inotify.max_queued_events)")
    });
    tell::tell(&seen, progress.as_ref(), jvms.counts(), &mut answer);
    let facts = facts(&seen, progress.as_ref());
    let told = answer.give(&flags.answer, watched.end, facts);
    // Ctrl-C is how it ends: that something has not arrived is worse.
    match progress {
        Some(progress) if progress.waiting > 0 => Err(Failure::Reported(Code::Output)),
        _ => told,
    }
}

fn teller() -> Teller {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let begun = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
    Teller::new(&host, std::process::id(), &boot, begun.as_millis())
}

fn open_log(path: &Path, since_boot: bool, skips: &mut Vec<String>) -> yunti_base::Result<KernelLog> {
    // A container's root may read the log where it is not kept from it.
    let log = KernelLog::open(path, since_boot)?;
    if !Path::new("/proc/sys/kernel/hung_task_timeout_secs").exists() {
        skips.push("hung tasks: this kernel does not look for them (CONFIG_DETECT_HUNG_TASK)".to_owned());
    }
    Ok(log)
}

fn pass_on(found: &mut Vec<Report>, repeats: &mut Repeats, to: Option<&Delivery>, seen: &mut Seen, is_shown: bool) {
    for report in found.drain(..) {
        let first = repeats.take(report.clone(), Instant::now());
        seen.add(&report, first.is_some());
        if let Some(report) = first {
            if is_shown {
                eprintln!("{}", tell::line(&report));
            }
            if let Some(delivery) = to {
                delivery.give(report, 1, false);
            }
        }
    }
}

fn again(report: Report, count: u64, to: Option<&Delivery>, is_shown: bool) {
    if is_shown {
        eprintln!("again, {count} times: {}", tell::line(&report));
    }
    if let Some(delivery) = to {
        delivery.give(report, count, true);
    }
}

fn facts(seen: &Seen, progress: Option<&Progress>) -> serde_json::Value {
    let counts = Kind::ALL.iter().zip(seen.counts).map(|(kind, n)| (kind.name().to_owned(), json!(n)));
    json!({
        "counts": counts.collect::<serde_json::Map<_, _>>(),
        "again": seen.again,
        "reports": seen.reports.iter().map(tell::document).collect::<Vec<_>>(),
        "delivery": progress.map(|p| json!({
            "delivered": p.delivered, "waiting": p.waiting, "not_taken": p.not_taken, "trouble": p.trouble,
        })),
    })
}
