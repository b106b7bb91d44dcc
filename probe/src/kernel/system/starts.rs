//! Starts of programs: `bpf/system/starts.bpf.c`.

use libbpf_rs::{Link, Object, RingBuffer};
use yunti_base::{Code, Error, Result};

use crate::programs::{Records, first_namespace, half, load_for, program, ring};

static IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/starts.bpf.o"));

/// Program at work, detached when dropped.
pub struct Starts {
    // Dropped before the object that it belongs to.
    _link: Link,
    ring: RingBuffer<'static>,
    records: Records,
    _object: Object,
}

impl Starts {
    /// Attaches the program.
    pub fn start() -> Result<Starts> {
        first_namespace()?;
        let object = load_for(IMAGE, "starts of programs", &[], &["starts"])?;
        let (ring, records) = ring(&object, "started")?;
        let link = program(&object, "starts")?.attach_raw_tracepoint("sched_process_exec");
        let link = link.map_err(|e| Error::new(Code::Input, format!("starts of programs cannot be watched: {e}")))?;
        Ok(Starts { _link: link, ring, records, _object: object })
    }

    /// Returns the processes that have executed a program since the last call.
    pub fn collect(&mut self) -> Vec<u32> {
        let _ = self.ring.consume();
        self.records.borrow_mut().drain(..).map(|bytes| half(&bytes, 0, 0)).collect()
    }
}
