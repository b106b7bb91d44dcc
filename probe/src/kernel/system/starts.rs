//! Programs that are started, as they are: `bpf/machine/starts.bpf.c`.

use libbpf_rs::{Link, Object, RingBuffer};
use yunti_base::{Code, Error, Result};

use crate::kernel::programs::{Records, first_namespace, half, load_for, program, ring};

static IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/starts.bpf.o"));

/// A program at work; it is detached when this is dropped.
pub struct Starts {
    // Before the object that they belong to.
    _link: Link,
    ring: RingBuffer<'static>,
    records: Records,
    _object: Object,
}

impl Starts {
    pub fn start() -> Result<Starts> {
        first_namespace()?;
        let object = load_for(IMAGE, "starts of programs", &[], &["starts"])?;
        let (ring, records) = ring(&object, "started")?;
        let link = program(&object, "starts")?.attach_raw_tracepoint("sched_process_exec");
        let link = link.map_err(|e| Error::new(Code::Input, format!("starts of programs cannot be watched: {e}")))?;
        Ok(Starts { _link: link, ring, records, _object: object })
    }

    /// Processes that have begun another program since the last time.
    pub fn collect(&mut self) -> Vec<u32> {
        let _ = self.ring.consume();
        self.records.borrow_mut().drain(..).map(|bytes| half(&bytes, 0, 0)).collect()
    }
}
