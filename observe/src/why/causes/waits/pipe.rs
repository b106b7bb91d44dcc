//! Writers that wait because a pipe is full: its reader is too slow.

use std::fs;
use std::time::Duration;

use crate::why::account::waiting::{self, Waiting, shown};
use crate::why::causes::finding::{Finding, while_processors_are_free};
use crate::why::facts::{Facts, Moment};
use yunti_probe::target::{Process, each_descriptor, label, number_writes};

/// Writers that wait at a time, on average, from which on they count.
pub const WRITERS_MIN: f64 = 0.25;
/// Returns true if a unit waits for room in a pipe.
fn writes(moment: &Moment) -> bool {
    moment.waiting != Waiting::Not && waiting::is_in_pipe_write(&moment.frames)
}

/// Looks for a thread that writes.
const TRIES: usize = 20;
const TRY_EVERY: Duration = Duration::from_millis(5);

/// Returns the units that wait at a time for room in a pipe.
pub fn writers(facts: &Facts) -> f64 {
    facts.moments().filter(|moment| writes(moment)).map(|m| m.share).sum()
}

/// Returns the process that reads the pipe for which threads wait: `gzip 4711`.
pub fn reader(process: &Process, facts: &Facts) -> Option<String> {
    if writers(facts) < WRITERS_MIN {
        return None;
    }
    let waits: Vec<u64> =
        facts.threads.iter().filter(|thread| thread.moments.iter().any(writes)).map(|thread| thread.id).collect();
    let pipe = |tid: u64| {
        let (call, arguments) = process.waiting_call(tid as u32)?;
        let descriptor = arguments.first().filter(|_| number_writes(call))?;
        let link = fs::read_link(format!("/proc/{}/fd/{descriptor}", process.pid)).ok()?;
        link.to_string_lossy().starts_with("pipe:").then_some(link)
    };
    // Threads take turns in writing, so that none may do so at one moment.
    let pipe = (0..TRIES).find_map(|_| {
        let found = waits.iter().find_map(|tid| pipe(*tid));
        if found.is_none() {
            std::thread::sleep(TRY_EVERY);
        }
        found
    })?;
    // The reading end is open for reading only.
    let is_reading = |pid: u32, descriptor: &str| {
        let info = fs::read_to_string(format!("/proc/{pid}/fdinfo/{descriptor}")).unwrap_or_default();
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:")?.trim().chars().last());
        flags == Some('0')
    };
    let mut found = None;
    each_descriptor(|pid, descriptor, link| {
        if pid != process.pid && link == pipe && is_reading(pid, descriptor) {
            found = Some(pid);
        }
        found.is_none()
    });
    Some(format!("{} {}", label(&Process::of(found?).ok()?), found?))
}

/// Finds writers that wait for room in a pipe.
pub fn full_pipe(facts: &Facts) -> Option<Finding> {
    let waiting = writers(facts);
    if waiting < WRITERS_MIN {
        return None;
    }
    let moments = facts.moments().filter(|moment| writes(moment));
    let largest = moments.max_by(|a, b| a.share.total_cmp(&b.share))?;
    let place = waiting::user_frame(&largest.frames).map_or_else(String::new, |f| format!(", in {}", shown(&f.name)));
    let reader = facts.details.pipe_reader.as_deref().unwrap_or("another process");
    Some(Finding {
        cause: "full-pipe",
        cost: waiting / facts.busy_threads().max(waiting) * while_processors_are_free(facts),
        sentence: format!(
            "A full pipe bounds it: {waiting:.1} threads at a time wait to write into it{place}, because its reader, \
             {reader}, reads too slowly."
        ),
        evidence: vec!["a pipe holds 64 KiB (F_SETPIPE_SZ changes that)".to_owned()],
        cure: format!("find what bounds {reader} (`yunti observe why` there); or write less, to a file, or compressed"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::why::facts::ThreadFacts;
    use yunti_probe::stack::{Frame, Kind};

    #[test]
    fn a_reader_that_is_too_slow() {
        let frame = |(name, kind): &(&str, Kind)| Frame { name: (*name).into(), kind: *kind };
        let frames = [("export::write_row", Kind::Native), ("anon_pipe_write", Kind::Kernel)];
        let mut thread = ThreadFacts::default();
        thread.add(Waiting::Resource, &frames.iter().map(frame).collect(), 0.9);
        let mut facts = Facts { seconds: 5.0, processors: 2.0, threads: vec![thread], ..Facts::default() };
        facts.details.pipe_reader = Some("gzip 47".to_owned());
        let found = full_pipe(&facts).unwrap();
        assert!(found.cost > 0.9 && found.sentence.contains("its reader, gzip 47"), "{}", found.sentence);
        facts.threads.clear();
        assert!(full_pipe(&facts).is_none());
    }
}
