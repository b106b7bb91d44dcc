//! Objects that requests hold only from their own frames while they wait in a remote call, by one heap dump under
//! traffic.
//!
//! The dump comes before all else: the measurement changes methods, and the JVM then runs them interpreted for a
//! while. Interpreted frames keep objects that the compiler knows to be dead.

use std::collections::HashMap;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use yunti_base::Result;
use yunti_heap::answer::threads::held::{HeldObject, Requests, held_by_requests};
use yunti_heap::{Heap, Settings};
use yunti_probe::answer::bytes;
use yunti_probe::stopping::{PULSE, Stopping};
use yunti_probe::target::Process;

use crate::jvm::HeapDump;

/// Objects of the document.
const OBJECTS_MAX: usize = 20;
/// Bytes of an object for each waiting request, below which it is left out.
const BYTES_MIN: f64 = 1024.0;
/// Dumps, at most: more if no request waited in the one before.
const DUMPS_MAX: usize = 3;
/// Time after a dump in which the service works off what has queued up, at least.
const SETTLE_MIN: Duration = Duration::from_secs(1);

/// Takes a heap dump, and returns the objects that requests held.
///
/// @param method method whose calls are requests
/// @param pause_max time for which the JVM may stand still
pub fn measure(process: &Process, method: &str, pause_max: Duration, stopping: &mut Stopping) -> Result<Value> {
    let mut stopped = Vec::new();
    let mut dump_bytes = 0;
    let mut requests = Requests::default();
    for _ in 0..DUMPS_MAX {
        let cost = HeapDump::cost(process, pause_max)?;
        eprintln!(
            "A heap dump stops process {} for up to {:.1} s and takes up to {} of disk until it is read.",
            process.pid,
            cost.seconds.max(0.1),
            bytes(cost.bytes)
        );
        let dump = HeapDump::write(process, cost)?;
        stopped.push(dump.took.as_secs_f64());
        dump_bytes = dump.bytes();
        eprintln!("It stopped the process for {:.2} s and has {}.", dump.took.as_secs_f64(), bytes(dump_bytes));
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let settings = Settings { threads: processors.div_ceil(2), scratch: &std::env::temp_dir() };
        let heap = Heap::read(&dump.path(), settings)?;
        requests = held_by_requests(&heap, method)?;
        let settle = SETTLE_MIN.max(dump.took);
        drop((heap, dump));
        stopping.wait(process, settle, PULSE, || true);
        if !requests.waiting.is_empty() {
            break;
        }
    }
    Ok(json!({
        "in_process": requests.in_process,
        "waiting": requests.waiting.len(),
        "stopped_seconds": stopped,
        "dump_bytes": dump_bytes,
        "objects": objects(&requests),
    }))
}

/// Class of an object, outermost and innermost method that hold it, and the call.
type Place<'a> = (&'a str, &'a str, Option<&'a str>, &'a str);

/// Returns the objects with their bytes for each waiting request, on average, the largest first.
fn objects(requests: &Requests) -> Vec<Value> {
    let mut all: HashMap<Place<'_>, (u64, usize)> = HashMap::new();
    for request in &requests.waiting {
        let mut seen = Vec::new();
        for HeldObject { class, bytes, held_in, handed_to, call } in &request.held {
            let key = (&**class, &**held_in, handed_to.as_deref(), &**call);
            let (sum, count) = all.entry(key).or_default();
            *sum += bytes;
            // Several objects of one class in one frame are one finding.
            if !seen.contains(&key) {
                *count += 1;
                seen.push(key);
            }
        }
    }
    let waiting = requests.waiting.len().max(1) as f64;
    let mut all: Vec<_> = all.into_iter().filter(|(_, (sum, _))| *sum as f64 / waiting >= BYTES_MIN).collect();
    all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    all.truncate(OBJECTS_MAX);
    let object = |((class, held_in, handed_to, call), (sum, count))| {
        json!({
            "class": class, "bytes": sum as f64 / waiting, "requests": count, "held_in": held_in,
            "handed_to": handed_to, "call": call,
        })
    };
    all.into_iter().map(object).collect()
}

#[cfg(test)]
mod tests {
    use yunti_heap::answer::threads::held::WaitingRequest;

    use super::*;

    #[test]
    fn objects_are_means_of_waiting_requests() {
        let held = |class: &str, bytes| HeldObject {
            class: class.to_owned(),
            bytes,
            held_in: "shop.Orders.total:17".to_owned(),
            handed_to: None,
            call: "shop.Client.call".to_owned(),
        };
        let waiting = vec![
            WaitingRequest { held: vec![held("byte[]", 6000), held("byte[]", 2000), held("shop.Order", 64)] },
            WaitingRequest { held: vec![held("byte[]", 4000)] },
            WaitingRequest { held: vec![] },
        ];
        let found = objects(&Requests { in_process: 5, waiting });
        let [only] = &found[..] else { panic!("{found:?}") };
        assert_eq!((only["bytes"].as_f64(), only["requests"].as_u64()), (Some(4000.0), Some(2)));
        assert_eq!((only["class"].as_str(), only["call"].as_str()), (Some("byte[]"), Some("shop.Client.call")));
        assert!(objects(&Requests::default()).is_empty());
    }
}
