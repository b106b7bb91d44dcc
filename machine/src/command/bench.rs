//! `yunti machine bench`: gain of old settings on kernels of about 2010 and on this kernel.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};
use yunti_base::whole_file;
use yunti_base::{Cancel, Code, Error};
use yunti_program::failure::{Failure, Outcome};
use yunti_program::page::Page;
use yunti_program::page::markup::{note, section, table, tag};
use yunti_program::terminal::{signals, stdout};

use crate::bench::comparison::{Comparison, Verdict, median};
use crate::bench::{Bench, Measurement, Published, SUBJECTS, Subject};
use crate::scratch::{self, Scratch, tool};

/// Measure old tuning advice on this kernel: bigalloc, no journal, inline data, overlays, io_uring, writeback,
/// read-ahead, TIME_WAIT
///
/// Uses a temporary folder, with images and namespaces of its own. No setting of the machine is changed.
#[derive(Debug, Args)]
pub struct BenchFlags {
    /// Subjects to measure [default: all]
    #[arg(value_name = "SUBJECT")]
    subjects: Vec<String>,
    /// List the subjects
    #[arg(long)]
    list: bool,
    /// Folder for images and files [default: the system's temporary directory]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Size of the sparse image for bigalloc, in GiB
    #[arg(long, value_name = "GIB", value_parser = clap::value_parser!(u64).range(1..=16_384))]
    size: Option<u64>,
    /// Rounds of each comparison
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=99))]
    rounds: u32,
    /// Seconds of a subject after which no further round begins; up to three rounds, twice as many
    #[arg(long, value_name = "N", default_value_t = 75, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: u64,
    /// Run one short round, to test the benchmark only
    #[arg(long)]
    quick: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Also write the result as an HTML page
    #[arg(short, long, value_name = "FILE.html")]
    output: Option<PathBuf>,
}

const PAGE: &str = "the page";
const OWN_MOUNTS: &str = "YUNTI_HOST_OWN_MOUNTS";
const COLUMNS: [(&str, bool); 7] = [
    ("metric", false),
    ("old", true),
    ("new", true),
    ("new/old", true),
    ("noise", true),
    ("against", false),
    ("verdict", false),
];

/// Result of one subject.
struct SubjectResult {
    subject: &'static Subject,
    result: Result<Measurement, String>,
    is_skip: bool,
    seconds: f64,
}

/// Measures the selected subjects and prints the results.
pub fn bench(flags: &BenchFlags) -> Outcome {
    if flags.list {
        return stdout::print(&SUBJECTS.iter().map(|s| format!("{:<14} {}\n", s.name, s.what)).collect::<String>());
    }
    for name in &flags.subjects {
        if !SUBJECTS.iter().any(|s| s.name == name) {
            let names = SUBJECTS.map(|s| s.name).join(", ");
            return Err(Error::new(Code::Usage, format!("unknown subject '{name}'"))
                .hint(format!("use one of {names}"))
                .into());
        }
    }
    if let Some(path) = &flags.output {
        whole_file::check(path, PAGE)?;
    }
    enter_mount_namespace();
    let cancel = Cancel::default();
    signals::cancel_on_signals(&cancel);
    let dir = flags.dir.clone().unwrap_or_else(std::env::temp_dir);
    let dir = dir
        .canonicalize()
        .map_err(|e| Error::io(Code::Input, "cannot use this folder", &e).at_path(dir.to_string_lossy()))?;
    for left in scratch::clear_leftovers(&dir) {
        eprintln!("removed files of an interrupted run: {}", left.display());
    }
    let in_memory = scratch::is_in_memory(&dir);
    if in_memory {
        eprintln!(
            "{} is in memory: cold reads and disks cannot be measured there; set another folder with --dir",
            dir.display()
        );
    }
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let mut all = Vec::new();
    let size = flags.size.unwrap_or(if flags.quick { 4 } else { 64 }) << 30;
    for subject in
        SUBJECTS.iter().filter(|s| flags.subjects.is_empty() || flags.subjects.iter().any(|name| name == s.name))
    {
        if let Some(reason) = subject.missing() {
            eprintln!("SKIP {}: {reason}", subject.name);
            all.push(SubjectResult { subject, result: Err(reason), is_skip: true, seconds: 0.0 });
            continue;
        }
        eprintln!("measuring {}", subject.name);
        let scratch = Scratch::new(&dir)?;
        let begun = Instant::now();
        let rounds = if flags.quick { 1 } else { flags.rounds as usize };
        let time_max = Duration::from_secs(if flags.quick { 3 } else { flags.seconds });
        // The comparisons of a subject share its time.
        let bench = Bench {
            scratch: &scratch,
            rounds,
            quick: flags.quick,
            image_bytes: size,
            cancel: &cancel,
            begun,
            time_max,
        };
        let result = (subject.measure)(&bench);
        drop(scratch);
        if cancel.is_set() {
            return Err(Error::new(Code::Cancelled, "cancelled; temporary files are removed").into());
        }
        let result = result.map_err(|e| e.to_string());
        if let Err(why) = &result {
            eprintln!("FAILED {}: {why}", subject.name);
        }
        all.push(SubjectResult { subject, result, is_skip: false, seconds: begun.elapsed().as_secs_f64() });
    }
    if all.iter().all(|done| done.is_skip) {
        let reason = all.first().and_then(|done| done.result.as_ref().err()).cloned().unwrap_or_default();
        return Err(Error::new(Code::Input, format!("nothing could be measured: {reason}")).into());
    }
    if let Some(path) = &flags.output {
        whole_file::write(path, &page(&all), PAGE)?;
    }
    if flags.json {
        stdout::print_json(&as_json(&all, &load, in_memory))?
    } else {
        stdout::print(&text(&all, &load, in_memory))?
    }
    if all.iter().any(|done| done.result.is_err() && !done.is_skip) {
        Err(Failure::Reported(Code::Output))
    } else {
        Ok(())
    }
}

/// Continues in a mount namespace of its own if possible: the kernel removes its mounts when the process ends.
fn enter_mount_namespace() {
    let is_done = std::env::var_os(OWN_MOUNTS).is_some();
    if is_done
        || !rustix::process::geteuid().is_root()
        || tool::missing("unshare").is_some()
        || tool::run("unshare", ["--mount", "true"]).is_err()
    {
        return;
    }
    let Ok(me) = std::env::current_exe() else { return };
    let words = std::env::args_os().skip(1);
    // `exec` returns only on failure.
    let _ = Command::new("unshare")
        .args(["--mount", "--propagation", "private"])
        .arg(me)
        .args(words)
        .env(OWN_MOUNTS, "1")
        .exec();
}

fn figures(values: &[f64]) -> String {
    let (min, max) = values.iter().fold((f64::MAX, f64::MIN), |(min, max), v| (min.min(*v), max.max(*v)));
    if min == max { figure(min) } else { format!("{} ({}-{})", figure(median(values)), figure(min), figure(max)) }
}

fn figure(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

fn row(c: &Comparison) -> Vec<String> {
    let unit = if c.unit.is_empty() { String::new() } else { format!(", {}", c.unit) };
    let (ratio, noise) = (ratio_of(c), noise_of(c));
    vec![
        format!("{}{unit}", c.metric),
        figures(&c.old_values),
        figures(&c.new_values),
        ratio,
        noise,
        format!("{} / {}", c.old, c.new),
        c.verdict.name().to_owned(),
    ]
}

/// New to old with its 95 % confidence interval, or only the ratio of a count.
fn ratio_of(c: &Comparison) -> String {
    if !c.ratio.is_finite() || !(1e-3..1e3).contains(&c.ratio) {
        return "-".to_owned();
    }
    let (low, high) = c.ratio_interval;
    if c.exact || c.old_values.len() < 2 {
        figure(c.ratio)
    } else {
        format!("{} ({}-{})", figure(c.ratio), figure(low), figure(high))
    }
}

fn noise_of(c: &Comparison) -> String {
    if c.exact { "count".to_owned() } else { format!("{:.0} %", c.noise * 100.0) }
}

/// Published ratio beside the measured one. `None`: the figure has no ratio, or its metric was not measured.
fn beside(published: &Published, result: &Result<Measurement, String>) -> Option<String> {
    let ratio = published.ratio.as_ref()?;
    let c = ratio.comparison(&result.as_ref().ok()?.comparisons)?;
    Some(format!(
        "new/old {} then, {} here (noise {}, {}): {}, {} / {}",
        figure(ratio.value),
        ratio_of(c),
        noise_of(c),
        c.verdict.name(),
        c.metric,
        c.old,
        c.new
    ))
}

fn machine(load: &str) -> String {
    let uname = rustix::system::uname();
    let cpus = std::thread::available_parallelism().map_or(0, usize::from);
    format!(
        "Linux {}, {cpus} processors, load {} at the start",
        uname.release().to_string_lossy(),
        load.split(' ').next().unwrap_or("?")
    )
}

fn text(all: &[SubjectResult], load: &str, in_memory: bool) -> String {
    let memory = if in_memory { "\n--dir is in memory: cold reads and disks cannot be measured there" } else { "" };
    let mut out = machine(load)
        + memory
        + "\nold and new in turns; noise: largest difference of old from itself; medians (min-max); new/old with its 95 % \
           interval\n";
    for done in all {
        out += &format!("\n{}: {}\n", done.subject.name, done.subject.what);
        for published in done.subject.published {
            out += &format!("  published: {} [{}]\n", published.figure, published.source);
            out += &beside(published, &done.result).map(|text| format!("    {text}\n")).unwrap_or_default();
        }
        match &done.result {
            Err(why) => {
                out += &format!("  {} {}: {why}\n", if done.is_skip { "SKIP" } else { "FAILED" }, done.subject.name)
            }
            Ok(measured) => {
                for c in &measured.comparisons {
                    let [metric, old, new, ratio, noise, against, verdict] = row(c).try_into().unwrap_or_default();
                    out += &format!(
                        "  {metric:<38} {old:>26} {new:>26} {ratio:>17} {noise:>6}  {verdict:<20}  {against}\n"
                    );
                }
                for note in &measured.notes {
                    out += &format!("  note: {note}\n");
                }
            }
        }
    }
    for verdict in
        [Verdict::WorthIt, Verdict::Solved, Verdict::Same, Verdict::Costs, Verdict::TooNoisy, Verdict::TooFew]
    {
        let names: Vec<String> = with_verdict(all, verdict);
        if !names.is_empty() {
            out += &format!("\n{}:\n  {}\n", verdict.name(), names.join("\n  "));
        }
    }
    out
}

fn with_verdict(all: &[SubjectResult], verdict: Verdict) -> Vec<String> {
    let measured = all.iter().filter_map(|done| Some((done.subject, done.result.as_ref().ok()?)));
    let names = measured
        .flat_map(|(subject, m)| m.comparisons.iter().map(move |c| (subject, c)))
        .filter(|(_, c)| c.verdict == verdict);
    names
        .map(|(s, c)| {
            format!(
                "{}: {}: {}{}",
                s.name,
                c.new,
                c.metric,
                if verdict == Verdict::Solved { format!(": {}", c.since) } else { String::new() }
            )
        })
        .collect()
}

fn as_json(all: &[SubjectResult], load: &str, in_memory: bool) -> Value {
    let subjects = all.iter().map(|done| {
        json!({
            "subject": done.subject.name,
            "what": done.subject.what,
            "published": done.subject.published.iter().map(|p| published(p, &done.result)).collect::<Vec<_>>(),
            "skipped": if done.is_skip { done.result.as_ref().err() } else { None },
            "failed": if done.is_skip { None } else { done.result.as_ref().err() },
            "comparisons": done.result.as_ref().ok().map(|m| &m.comparisons),
            "notes": done.result.as_ref().ok().map(|m| &m.notes),
            "seconds": done.seconds,
        })
    });
    json!({"command": "bench", "machine": machine(load), "load": load.trim(), "in_memory": in_memory,
    "subjects": subjects.collect::<Vec<_>>()})
}

fn published(p: &Published, result: &Result<Measurement, String>) -> Value {
    let measured = result.as_ref().ok().zip(p.ratio.as_ref()).and_then(|(m, r)| r.comparison(&m.comparisons));
    json!({
        "figure": p.figure, "source": p.source, "ratio": p.ratio.as_ref().map(|r| r.value),
        "metric": p.ratio.as_ref().map(|r| r.metric), "beside": beside(p, result),
        "ratio_here": measured.map(|c| c.ratio), "noise_here": measured.map(|c| c.noise),
    })
}

fn page(all: &[SubjectResult]) -> String {
    let title = "Old tuning advice, measured on this kernel";
    let page = Page { title, style: "", script: None, foot: "Yunti. docs/guide/machine.md explains the terms." };
    let head = tag("header").add(tag("p").class("eyebrow").say("yunti machine bench")).add(tag("h1").say(title));
    let sections = all.iter().map(|done| {
        let mut part = section(done.subject.name, done.subject.what);
        for p in done.subject.published {
            let beside = beside(p, &done.result).map(|text| format!(": {text}")).unwrap_or_default();
            part = part.add(note(format!("Published: {} ({}){beside}", p.figure, p.source)));
        }
        match &done.result {
            Err(why) => part.add(note(format!("{} {why}", if done.is_skip { "SKIP" } else { "FAILED" }))),
            Ok(m) => m
                .notes
                .iter()
                .fold(part.add(table(done.subject.what, &COLUMNS, m.comparisons.iter().map(row))), |part, n| {
                    part.add(note(n))
                }),
        }
    });
    page.of([head].into_iter().chain(sections))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::comparison::Better;

    /// Each published ratio names a metric of its subject, and stands beside the measured one.
    #[test]
    fn published_ratios_stand_beside_measured_ones() {
        let comparison = |metric: &'static str, new: &str| Comparison {
            metric,
            unit: "",
            better: Better::More,
            exact: false,
            old: "a".to_owned(),
            new: if new.is_empty() { "b".to_owned() } else { new.to_owned() },
            old_values: vec![10.0, 11.0],
            old_again_values: vec![10.0, 11.0],
            new_values: vec![20.0, 21.0],
            ratio: 2.0,
            ratio_interval: (1.5, 2.5),
            noise: 0.07,
            verdict: Verdict::WorthIt,
            since: "",
        };
        let mut found = 0;
        for subject in &SUBJECTS {
            for p in subject.published {
                assert!(!p.figure.contains("known") && !p.source.is_empty(), "{}", p.figure);
                let Some(ratio) = &p.ratio else {
                    assert_eq!(beside(p, &Ok(Measurement::default())), None);
                    continue;
                };
                found += 1;
                let comparisons = vec![comparison("another", ""), comparison(ratio.metric, ratio.new)];
                let text = beside(p, &Ok(Measurement { comparisons, notes: Vec::new() })).unwrap();
                let then = figure(ratio.value);
                let expected = format!("new/old {then} then, 2.00 (1.50-2.50) here (noise 7 %, worth it)");
                assert!(text.starts_with(&expected), "{text}");
                assert_eq!(beside(p, &Err("skipped".to_owned())), None);
            }
        }
        assert!(found >= 6, "{found}");
    }
}
