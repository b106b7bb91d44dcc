//! Live JVM: two counts of its objects, and samples of allocations that survive between them.
//!
//! ```text
//!   count | sampling of allocations ............ | count, then the samples whose object is alive
//! ```
//!
//! A count stops the JVM; sampling does not. The second count collects garbage first, so that a sampled object that is
//! not reachable is gone when the samples end. A heap dump would stop the JVM several times as long.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};
use yunti_base::{Code, Error, Result};
use yunti_probe::answer::{self, Answer, Graph, Table, bytes, percent};
use yunti_probe::stack::Tree;
use yunti_probe::stopping::{End, PULSE, Stopping};
use yunti_probe::target::{Process, Target};
use yunti_program::failure::Outcome;
use yunti_program::text::numbers::count as grouped;

use super::HeapFlags;
use super::figures::{signed, signed_bytes};
use super::growth::{ClassGrowth, classes, is_of_an_application, most};
use super::outside::{MemoryUse, heap_used, memory};
use super::paths::{self, Path};
use crate::jvm::{Counted, Histogram, OldObjects, Profiler, Sampling, perf_data, perf_data_file};

const SECONDS: Duration = Duration::from_secs(10);
/// Seconds for which a count stops a JVM, for each gigabyte of small objects, measured on JDK 17 and 25.
const SECONDS_A_GIGABYTE: f64 = 5.0;
/// The same without a collection.
const SECONDS_A_GIGABYTE_WITH_GARBAGE: f64 = 2.6;
const PATHS: &str = "paths to roots";
/// Frames of an allocation site that are shown.
const SITE_FRAMES: usize = 2;

/// Findings of a live JVM.
struct Findings {
    classes: Vec<ClassGrowth>,
    total: Counted,
    grown: i64,
    /// Stacks of allocations whose object is alive.
    survivors: Tree,
    samples: usize,
    memory: Vec<MemoryUse>,
    /// Durations of the counts.
    counts: [Duration; 2],
    /// Paths of sampled objects up to their roots; `None` without `--paths`.
    paths: Option<Vec<Path>>,
}

pub fn live(flags: &HeapFlags, target: &Target) -> Outcome {
    let mut stopping = Stopping::new()?;
    let process = &target.process;
    let time = flags.seconds.unwrap_or(SECONDS);
    let counters = perf_data_file(process).and_then(|file| perf_data(&file));
    let mut answer = Answer::new("heap", process);
    match counters.as_ref().map(heap_used) {
        Some(used) => check_pause(flags, process, used)?,
        None => answer.skips.push("expected pause: the JVM has no counters (-XX:-UsePerfData)".to_owned()),
    }
    let first = Histogram::of(process, flags.garbage)?;
    let profiler = Profiler::start(process, Sampling::Survivors, time + first.took * 2);
    let profiler = or_skip(profiler, "sites of survivors", &mut answer);
    let old_objects =
        if flags.paths { or_skip(OldObjects::start(process, flags.pause_max()), PATHS, &mut answer) } else { None };
    let watched = stopping.wait(process, time, PULSE, || true);
    // A process that has ended cannot be counted again.
    let second = match watched.end {
        End::TargetGone => {
            return Err(Error::new(Code::Input, format!("process {} ended between the two counts", process.pid))
                .hint("give a shorter time: --seconds 2")
                .into());
        }
        _ => Histogram::of(process, flags.garbage)?,
    };
    // After the collection, so that garbage is no longer sampled.
    let old_objects = old_objects.and_then(|recorder| or_skip(recorder.stop(), PATHS, &mut answer));
    let (mut survivors, mut samples) = (Tree::default(), 0);
    if let Some(profiler) = profiler {
        let recording = profiler.stop()?;
        answer.skips.extend(recording.broken);
        for sample in recording.samples.iter().filter(|sample| sample.is_survivor) {
            survivors.add(sample.frames.iter(), sample.value);
            samples += 1;
        }
    }
    answer.watched(&watched);
    let total = second.total();
    let findings = Findings {
        classes: classes(&first, &second),
        total,
        grown: total.bytes as i64 - first.total().bytes as i64,
        survivors,
        samples,
        memory: memory(process, perf_data_file(process).and_then(|file| perf_data(&file)).as_ref()),
        counts: [first.took, second.took],
        paths: old_objects.map(paths::paths),
    };
    render(flags, &findings, &mut answer);
    let facts = facts(flags, &findings);
    answer.give(&flags.answer, watched.end, facts)
}

/// Returns a part of the measurement; without it a skip says why.
fn or_skip<T>(part: Result<T>, name: &str, answer: &mut Answer) -> Option<T> {
    part.map_err(|error| answer.skips.push(format!("{name}: {error}"))).ok()
}

/// Returns an error if a count is expected to stop the JVM for too long.
fn check_pause(flags: &HeapFlags, process: &Process, used: u64) -> Result<()> {
    let most = flags.pause_max().as_secs_f64();
    let expected = expected_pause_seconds(used, flags.garbage);
    if expected <= most {
        return Ok(());
    }
    let what = format!(
        "a count of {} in the JVM {} may stop it for {expected:.1} s, twice; the limit is {most:.1} s",
        bytes(used),
        process.pid
    );
    let cheaper = if flags.garbage { "" } else { ", or --garbage, which halves it" };
    Err(Error::new(Code::Input, what).hint(format!("allow it with --pause-max {:.0}{cheaper}", expected.ceil())))
}

/// Returns the seconds for which a count of a heap of small objects stops a JVM.
fn expected_pause_seconds(used: u64, with_garbage: bool) -> f64 {
    used as f64 / 1e9 * if with_garbage { SECONDS_A_GIGABYTE_WITH_GARBAGE } else { SECONDS_A_GIGABYTE }
}

fn render(flags: &HeapFlags, findings: &Findings, answer: &mut Answer) {
    let Findings { classes, total, grown, survivors, samples, memory, counts, paths } = findings;
    let what = if flags.garbage { "objects, garbage among them," } else { "live objects" };
    let held = format!("{} {what} take {}", grouped(total.objects), bytes(total.bytes));
    let sites = sites_of(survivors);
    let moved = match most(classes, *total) {
        Some(class) => format!(
            ", {} in {:.0} s; {} grew most: {} objects, {}",
            signed_bytes(*grown),
            answer.seconds,
            class.class,
            signed(class.objects),
            signed_bytes(class.bytes)
        ),
        None => format!(", and no class grew in {:.0} s", answer.seconds),
    };
    let from = match sites.first() {
        Some((value, site)) if *grown > 0 => {
            format!("; {} of the survivors come from {site}", percent(*value, survivors.total()))
        }
        _ => String::new(),
    };
    answer.lead = format!("{held}{moved}{from}");
    let stopped: Vec<String> = counts.iter().map(|took| format!("{:.2} s", took.as_secs_f64())).collect();
    answer.notes.push(format!("The two counts stopped the JVM for about {}.", stopped.join(" and ")));
    let top = usize::from(flags.top);
    let rows = |classes: &[&ClassGrowth]| -> Vec<Vec<String>> {
        let row = |class: &&ClassGrowth| {
            vec![
                grouped(class.now.objects),
                bytes(class.now.bytes),
                percent(class.now.bytes, total.bytes),
                signed(class.objects),
                signed_bytes(class.bytes),
                class.class.clone(),
            ]
        };
        classes.iter().map(row).collect()
    };
    let columns =
        || vec![("objects", true), ("bytes", true), ("share", true), ("more", true), ("bytes", true), ("class", false)];
    let mut grew: Vec<&ClassGrowth> = classes.iter().filter(|class| class.bytes > 0).collect();
    grew.sort_by_key(|class| (-class.bytes, &class.class));
    answer.tables.push(Table {
        title: "Classes that grew".to_owned(),
        columns: columns(),
        rows: rows(&grew),
        shown: top,
    });
    answer.tables.push(Table {
        title: "Classes by the bytes of their objects".to_owned(),
        columns: columns(),
        rows: rows(&classes.iter().collect::<Vec<_>>()),
        shown: top,
    });
    answer.tables.push(Table {
        title: "Sites of allocations that survived".to_owned(),
        columns: vec![("share", true), ("about", true), ("methods, innermost first", false)],
        rows: sites
            .iter()
            .map(|(value, site)| vec![percent(*value, survivors.total()), bytes(*value), site.clone()])
            .collect(),
        shown: top,
    });
    answer.tables.push(Table {
        title: "Memory of the process".to_owned(),
        columns: vec![("bytes", true), ("what", false)],
        rows: memory.iter().map(|memory| vec![answer::bytes(memory.bytes), memory.name.clone()]).collect(),
        shown: memory.len(),
    });
    if *samples == 0 {
        answer.notes.push("No sampled allocation survived.".to_owned());
    }
    match paths {
        Some(paths) if paths.is_empty() => {
            answer.notes.push("The recorder sampled no object that is alive.".to_owned())
        }
        Some(paths) => answer.tables.push(paths::table(paths, top)),
        None => answer.notes.push(
            "--paths also shows what keeps sampled objects alive. All of it only a dump shows, which stops the JVM \
             for longer: `jcmd PID GC.heap_dump FILE`."
                .to_owned(),
        ),
    }
    answer.graph = Graph::of("Allocations that survived", survivors.clone(), 0.0);
}

/// Returns allocation sites: the innermost methods of the application, or of the JDK if there are none.
fn sites_of(survivors: &Tree) -> Vec<(u64, String)> {
    let mut sites: HashMap<String, u64> = HashMap::new();
    for (value, frames) in survivors.dearest(usize::MAX) {
        let inner = frames.iter().rev().map(|frame| &*frame.name);
        let own: Vec<&str> = inner.clone().skip_while(|name| !is_of_an_application(name)).take(SITE_FRAMES).collect();
        let site = if own.is_empty() { inner.take(SITE_FRAMES).collect() } else { own };
        *sites.entry(site.join(" <- ")).or_default() += value;
    }
    let mut sites: Vec<(u64, String)> = sites.into_iter().map(|(site, value)| (value, site)).collect();
    sites.sort_by(|a, b| (b.0, &a.1).cmp(&(a.0, &b.1)));
    sites
}

fn facts(flags: &HeapFlags, findings: &Findings) -> Value {
    let Findings { classes, total, grown, survivors, samples, memory, counts, paths } = findings;
    json!({
        "objects": total.objects,
        "bytes": total.bytes,
        "grown_bytes": grown,
        "with_garbage": flags.garbage,
        "grew_most": most(classes, *total).map(|class| &class.class),
        "count_seconds": counts.map(|took| took.as_secs_f64()),
        "classes": classes.iter().map(|class| json!({
            "class": class.class,
            "objects": class.now.objects,
            "bytes": class.now.bytes,
            "grown_objects": class.objects,
            "grown_bytes": class.bytes,
        })).collect::<Vec<_>>(),
        "survivor_samples": samples,
        "survivors": sites_of(survivors).into_iter().map(|(value, site)| json!({
            "site": site, "sampled_bytes": value,
        })).collect::<Vec<_>>(),
        "paths": paths.as_ref().map(|paths| paths::facts(paths)),
        "memory": memory.iter().map(|memory| json!({
            "what": memory.name.trim(), "bytes": memory.bytes,
        })).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use yunti_probe::stack::{Frame, Kind};

    use super::*;

    #[test]
    fn pauses_grow_with_the_heap() {
        for (used, with_garbage, seconds) in [(0, false, 0.0), (1_000_000_000, false, 5.0), (2_000_000_000, true, 5.2)]
        {
            assert!((expected_pause_seconds(used, with_garbage) - seconds).abs() < 1e-6, "{used}");
        }
    }

    #[test]
    fn sites_are_methods_of_the_application() {
        let mut survivors = Tree::default();
        let mut add = |names: &[&str], value| {
            let frames: Vec<Frame> =
                names.iter().map(|&name| Frame { name: name.into(), kind: Kind::Compiled }).collect();
            survivors.add(&frames, value);
        };
        add(&["shop.Main.main", "shop.Cart.add", "java.util.ArrayList.grow"], 5);
        add(&["shop.Main.main", "shop.Cart.add", "shop.Row.<init>"], 7);
        add(&["shop.Main.main", "shop.Cart.add", "java.util.ArrayList.copy", "java.util.Arrays.copyOf"], 4);
        add(&["java.lang.Thread.run", "java.util.Timer.loop"], 1);
        assert_eq!(
            sites_of(&survivors),
            [
                (9, "shop.Cart.add <- shop.Main.main".to_owned()),
                (7, "shop.Row.<init> <- shop.Cart.add".to_owned()),
                (1, "java.util.Timer.loop <- java.lang.Thread.run".to_owned()),
            ]
        );
    }
}
