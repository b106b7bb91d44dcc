//! A clock of the whole machine, of whose samples only those of one process are kept: `bpf/samples.bpf.c`.

use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};

use libbpf_rs::{Link, Object};
use yunti_base::Result;

use super::programs::{Settings, attached, load, program};
use crate::target::Process;

static IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/samples.bpf.o"));

/// At work as long as it is there.
pub struct OnlyTarget {
    links: Vec<Link>,
    object: Object,
}

impl OnlyTarget {
    pub fn of(process: &Process) -> Result<OnlyTarget> {
        let settings = Settings { pid: process.pid, ..Settings::default() };
        Ok(OnlyTarget { links: Vec::new(), object: load(IMAGE, settings, &["is_of_target"])? })
    }

    /// @param event of perf, a descriptor for us alone: libbpf closes it with the link
    pub fn attach(&mut self, process: &Process, event: OwnedFd) -> Result<()> {
        let link = program(&self.object, "is_of_target")?.attach_perf_event(event.as_raw_fd());
        self.links.push(attached("the clock of the machine", process, link)?);
        let _ = event.into_raw_fd();
        Ok(())
    }
}
