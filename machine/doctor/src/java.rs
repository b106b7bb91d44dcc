//! JVMs: flags of running JVMs against the limits of their control groups, and the start time with and without a class
//! archive.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use yunti_settings::System;

use super::cgroup;
use super::finding::{Finding, Level};
use yunti_program::text::numbers;

const AREA: &str = "java";
/// JVMs with a finding of their own; the rest are left out.
const JVMS_MAX: usize = 16;
/// Environment variables that carry JVM options, in the order of their precedence.
const OPTIONS: [&str; 3] = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"];
/// Share of the group's memory. The rest is for code, metadata, stacks and buffers beside the heap.
const HEAP_SHARE_MAX: f64 = 0.9;
/// Bytes. A JVM with less memory, or with one processor, chooses the serial collector.
const SERVER_BYTES: u64 = 1792 << 20;
/// Longest start that is measured; a slower one ends the measurement.
const START_TIME_MAX: Duration = Duration::from_millis(700);

/// Returns a finding for each JVM that does not fit its control group, or one `ok` finding if all fit.
pub fn findings(system: &System, processors: usize) -> Vec<Finding> {
    let pids = system.names("proc").into_iter().filter(|name| name.parse::<u32>().is_ok());
    let jvms: Vec<(String, Vec<String>)> =
        pids.filter_map(|pid| Some((pid.clone(), arguments(system, &pid)?))).collect();
    let mut findings: Vec<Finding> =
        jvms.iter().filter_map(|(pid, words)| misfit(system, pid, words, processors)).take(JVMS_MAX).collect();
    if findings.is_empty() && !jvms.is_empty() {
        let seen = format!("{} running, each fits its control group", numbers::several(jvms.len() as u64, "JVM"));
        findings.push(Finding::new(
            AREA,
            "limits",
            seen,
            "a heap larger than its group's memory ends by a kill, a smaller one wastes it",
        ));
    }
    findings
}

/// Options of a JVM: of its environment first, then of its command line, which overrides them. `None`: not a JVM, or
/// not readable.
fn arguments(system: &System, pid: &str) -> Option<Vec<String>> {
    let line = system.text(format!("proc/{pid}/cmdline"))?;
    let mut options = line.split('\0').filter(|word| !word.is_empty()).map(str::to_owned);
    let program = options.next()?;
    if Path::new(&program).file_name()? != "java" {
        return None;
    }
    let environment = system.text(format!("proc/{pid}/environ")).unwrap_or_default();
    let inherited = environment.split('\0').filter_map(|variable| {
        let (name, value) = variable.split_once('=')?;
        OPTIONS.contains(&name).then(|| value.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    });
    Some(inherited.flatten().chain(options).collect())
}

/// Returns the rest of the last option that begins with `start`.
fn option_value<'a>(words: &'a [String], start: &str) -> Option<&'a str> {
    words.iter().rev().find_map(|word| word.strip_prefix(start))
}

/// Returns the last of `-XX:+Name` and `-XX:-Name`.
fn switch_value(words: &[String], name: &str) -> Option<bool> {
    words.iter().rev().find_map(|word| match word.strip_prefix("-XX:")?.split_at_checked(1)? {
        ("+", rest) if rest == name => Some(true),
        ("-", rest) if rest == name => Some(false),
        _ => None,
    })
}

/// Parses a size in bytes with an optional unit, such as `512m`.
fn size(text: &str) -> Option<u64> {
    let at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let shift = match text[at..].to_ascii_lowercase().as_str() {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return None,
    };
    text[..at].parse::<u64>().ok()?.checked_shl(shift)
}

/// Returns the worst finding about a JVM's flags and its group's limits.
fn misfit(system: &System, pid: &str, words: &[String], processors: usize) -> Option<Finding> {
    let memory = cgroup::memory_bytes_of(system, pid);
    let quota = cgroup::processors_of(system, pid);
    let heap = option_value(words, "-Xmx").or_else(|| option_value(words, "-XX:MaxHeapSize=")).and_then(size);
    let share = option_value(words, "-XX:MaxRAMPercentage=").and_then(|text| text.parse::<f64>().ok());
    let finding = |level: Level, seen: String, why: &str, change: String| {
        let seen = match counters(system, pid) {
            Some(counted) => format!("{seen}; counted: {counted}"),
            None => seen,
        };
        let flags = words.iter().filter(|word| word.starts_with("-X")).cloned().collect::<Vec<_>>().join(" ");
        let mut finding = Finding::new(AREA, "limits", seen, why)
            .level(level)
            .change(change)
            .cost("a restart of the JVM; a larger heap or group takes memory from other processes")
            .undo(format!("restart it as before:{}", if flags.is_empty() { "without flags" } else { &flags }));
        finding.place = Some(format!("process {pid}"));
        Some(finding)
    };
    if let Some(limit) = memory {
        let limit_text = numbers::memory(limit);
        let may_take = heap.unwrap_or((limit as f64 * share.unwrap_or(25.0) / 100.0) as u64);
        if may_take > limit {
            return finding(
                Level::Warning,
                format!("a heap of {}, in a control group of {limit_text}", numbers::memory(may_take)),
                "the kernel kills the JVM before the heap is full, without an OutOfMemoryError",
                format!(
                    "-XX:MaxRAMPercentage=75 instead of -Xmx, or a limit above {}",
                    numbers::memory(may_take + may_take / 4)
                ),
            );
        }
        if switch_value(words, "UseContainerSupport") == Some(false) && heap.is_none() {
            return finding(
                Level::Warning,
                format!("-XX:-UseContainerSupport, in a control group of {limit_text}"),
                "the default heap is a share of the machine's memory, not of the group's",
                "remove -XX:-UseContainerSupport".to_owned(),
            );
        }
        if may_take as f64 > limit as f64 * HEAP_SHARE_MAX {
            return finding(
                Level::Note,
                format!("a heap of {}, in a control group of {limit_text}", numbers::memory(may_take)),
                "code, metadata, stacks and buffers need memory beside the heap; with them the kernel may kill the JVM",
                "-XX:MaxRAMPercentage=75, or a larger limit".to_owned(),
            );
        }
        if heap.is_none() && share.is_none() {
            return finding(
                Level::Note,
                format!("a quarter of its control group's {limit_text} for the heap, the default"),
                "the page cache may use the rest; without file I/O it stays unused",
                "-XX:MaxRAMPercentage=75".to_owned(),
            );
        }
    }
    let seen_processors = quota.map_or(processors as f64, |q| q.min(processors as f64));
    let forced = option_value(words, "-XX:ActiveProcessorCount=").and_then(|text| text.parse::<u32>().ok());
    if let Some(count) = forced.filter(|count| f64::from(*count) > seen_processors.ceil()) {
        return finding(
            Level::Warning,
            format!("-XX:ActiveProcessorCount={count}, with {} to run on", numbers::three(seen_processors)),
            "the JVM starts one garbage collection thread per processor it counts; they use up the quota, and all \
             threads stop until the next period",
            "remove it, or a larger quota".to_owned(),
        );
    }
    let chosen = words.iter().any(|word| word.starts_with("-XX:+Use") && word.ends_with("GC"));
    let is_small = seen_processors.ceil() < 2.0 || memory.is_some_and(|bytes| bytes < SERVER_BYTES);
    if is_small && !chosen && (memory.is_some() || quota.is_some()) {
        return finding(
            Level::Note,
            "the serial collector: its group has one processor, or less than 1792 MiB".to_owned(),
            "with a heap of some hundred megabytes its pauses are long",
            "-XX:+UseParallelGC for throughput, -XX:+UseG1GC for pauses; or a larger group".to_owned(),
        );
    }
    None
}

/// Throttled periods and kills that the group's counters show, as text.
fn counters(system: &System, pid: &str) -> Option<String> {
    let (throttled, periods) = cgroup::throttled_of(system, pid).unwrap_or((0, 0));
    let killed = cgroup::killed_of(system, pid);
    let share = (periods > 0)
        .then(|| format!("throttled in {:.1} % of {periods} periods", throttled as f64 * 100.0 / periods as f64));
    let killed = killed.map(|n| format!("{n} killed for lack of memory"));
    let all: Vec<String> = share.into_iter().chain(killed).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// Measures the start of the JVM at `java` with and without its class archive. `measures`: false checks only that the
/// archive exists.
pub fn start(java: &Path, measures: bool) -> Option<Finding> {
    let real = java.canonicalize().ok()?;
    let home = real.parent()?.parent()?;
    let archive =
        ["lib/server/classes.jsa", "lib/server/classes_nocoops.jsa"].iter().any(|file| home.join(file).exists());
    let mut seen = if archive { "a class archive of the JDK" } else { "no class archive of the JDK" }.to_owned();
    if measures && let Some((with, without)) = measure_start(&real) {
        let ms = |time: Duration| numbers::milliseconds(time.as_secs_f64() * 1e3);
        seen += &format!("; measured: starts in {}, without the archive in {}", ms(with), ms(without));
    }
    let why = "short jobs and commands spend most of their time in the JVM's start. For an application's classes: \
        -XX:ArchiveClassesAtExit=app.jsa once, then -XX:SharedArchiveFile=app.jsa; with JDK 24 and later \
        -XX:AOTCacheOutput=app.aot, then -XX:AOTCache=app.aot";
    let finding = Finding::new(AREA, "start", seen, why).note_if(!archive);
    Some(
        finding
            .change(format!("sudo {} -Xshare:dump", real.display()))
            .cost("a few seconds once, and 13 MB of disk space")
            .undo(format!("sudo rm {}/lib/server/classes.jsa", home.display())),
    )
}

/// Times of the fastest start with the archive and without, of two starts each. `None`: a start failed or took too
/// long.
fn measure_start(java: &Path) -> Option<(Duration, Duration)> {
    let (mut with, mut without) = (None, None);
    for _ in 0..2 {
        with = Some(time_start(java, "-Xshare:auto")?.min(with.unwrap_or(Duration::MAX)));
        without = Some(time_start(java, "-Xshare:off")?.min(without.unwrap_or(Duration::MAX)));
    }
    with.zip(without)
}

/// Time of one start, or `None` if it fails or takes longer than `START_TIME_MAX`.
fn time_start(java: &Path, share: &str) -> Option<Duration> {
    let begin = Instant::now();
    let mut command = Command::new(java);
    // Options that the environment passes to all JVMs would distort the measurement.
    for name in OPTIONS {
        command.env_remove(name);
    }
    let mut child = command
        .args([share, "-version"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.success().then(|| begin.elapsed()),
            Ok(None) if begin.elapsed() < START_TIME_MAX => std::thread::sleep(Duration::from_millis(1)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use yunti_settings::tree::Tree;

    use super::*;

    /// Findings of one JVM with these options, environment, memory limit and CPU quota.
    fn findings_of(words: &str, environment: &str, memory: Option<u64>, quota: Option<&str>) -> Vec<Finding> {
        let (memory, quota) = (memory.map_or("max".to_owned(), |m| m.to_string()), quota.unwrap_or("max 100000"));
        let tree = Tree::of(&[
            ("proc/77/cmdline", &format!("/usr/bin/java {words} -jar x.jar ").replace(' ', "\0")),
            ("proc/77/environ", &environment.replace(';', "\0")),
            ("proc/77/cgroup", "0::/pod\n"),
            ("proc/88/cmdline", "python3\0-Xmx99g\0"),
            ("sys/fs/cgroup/pod/memory.max", &memory),
            ("sys/fs/cgroup/pod/cpu.max", quota),
            ("sys/fs/cgroup/pod/cpu.stat", "usage_usec 9\nnr_periods 40\nnr_throttled 10\n"),
            ("sys/fs/cgroup/pod/memory.events", "low 0\noom 3\noom_kill 2\n"),
        ]);
        findings(&tree.system(), 4)
    }

    #[test]
    fn flags_against_limits() {
        use Level::{Note, Ok, Warning};
        let gib = 1u64 << 30;
        for (words, environment, memory, quota, level, expected) in [
            ("-Xmx1g", "", None, None, Ok, "fits"),
            ("-Xmx4g", "", Some(8 * gib), None, Ok, "fits"),
            ("-Xmx9g", "", Some(8 * gib), None, Warning, "a heap of"),
            ("-Xmx9g -Xmx6g", "", Some(8 * gib), None, Ok, "fits"),
            ("", "JAVA_TOOL_OPTIONS=-Xmx9g;X=1", Some(8 * gib), None, Warning, "a heap of"),
            ("-Xmx6g", "JAVA_TOOL_OPTIONS=-Xmx9g", Some(8 * gib), None, Ok, "fits"),
            ("-Xmx7800m", "", Some(8 * gib), None, Note, "a heap of"),
            ("", "", Some(8 * gib), None, Note, "a quarter"),
            ("-XX:MaxRAMPercentage=70", "", Some(8 * gib), None, Ok, "fits"),
            ("-XX:MaxRAMPercentage=95", "", Some(8 * gib), None, Note, "a heap of"),
            ("-XX:-UseContainerSupport", "", Some(8 * gib), None, Warning, "UseContainerSupport"),
            (
                "-Xmx4g -XX:ActiveProcessorCount=8",
                "",
                Some(8 * gib),
                Some("200000 100000"),
                Warning,
                "ActiveProcessorCount",
            ),
            ("-Xmx4g -XX:ActiveProcessorCount=2", "", Some(8 * gib), Some("200000 100000"), Ok, "fits"),
            ("-Xmx500m", "", Some(gib), None, Note, "serial"),
            ("-Xmx500m -XX:+UseG1GC", "", Some(gib), None, Ok, "fits"),
            ("-Xmx500m", "", None, Some("50000 100000"), Note, "serial"),
        ] {
            let found = findings_of(words, environment, memory, quota);
            assert_eq!(found.len(), 1, "{words}: {found:?}");
            assert!(found[0].level == level && found[0].seen.contains(expected), "{words} {environment}: {found:?}");
            if level != Ok {
                assert!(found[0].seen.contains("throttled in 25.0 % of 40 periods, 2 killed"), "{found:?}");
                assert!(found[0].cost.is_some() && found[0].undo.is_some(), "{found:?}");
            }
        }
    }

    #[test]
    fn no_jvm_is_no_finding() {
        assert!(findings(&Tree::of(&[("proc/88/cmdline", "python3\0java\0")]).system(), 4).is_empty());
        assert!(start(Path::new("/nowhere/java"), true).is_none());
    }
}
