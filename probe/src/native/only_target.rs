//! Filter that keeps one process's samples of a clock of the whole machine: `bpf/samples.bpf.c`.

use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};

use libbpf_rs::{Link, Object};
use yunti_base::Result;

use crate::programs::{Settings, attached, load, program};
use crate::target::Process;

static IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/samples.bpf.o"));

/// Filter at work, detached when dropped.
pub struct OnlyTarget {
    links: Vec<Link>,
    object: Object,
}

impl OnlyTarget {
    /// Loads the filter for a process.
    pub fn of(process: &Process) -> Result<OnlyTarget> {
        let settings = Settings { pid: process.pid, ..Settings::default() };
        Ok(OnlyTarget { links: Vec::new(), object: load(IMAGE, settings, &["is_of_target"])? })
    }

    /// Attaches the filter to a perf event. `event`: a descriptor of its own, which libbpf closes with the link.
    pub fn attach(&mut self, process: &Process, event: OwnedFd) -> Result<()> {
        let link = program(&self.object, "is_of_target")?.attach_perf_event(event.as_raw_fd());
        self.links.push(attached("the clock of the machine", process, link)?);
        let _ = event.into_raw_fd();
        Ok(())
    }
}
