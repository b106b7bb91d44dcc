//! Errors of a file system and its device: `bpf/system/errors.bpf.c`.

use libbpf_rs::{Link, Object, RingBuffer};
use yunti_base::{Code, Error, Result};

use crate::programs::{Records, half, load_for, lookup, program, ring, word};

const WORDS: usize = 2;
const IS_REQUEST: u32 = 1;
const NAME: std::ops::Range<usize> = 32..72;
/// Programs and their tracepoints.
const TRACEPOINTS: [(&str, &str); 2] = [("complains", "ext4_error"), ("fails", "block_rq_error")];

static IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/errors.bpf.o"));

/// Error of a file system or a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// ext4 found impossible structures; function and line of its source.
    Ext4 { function: String, line: u32 },
    /// A request failed with this status of the kernel: `BLK_STS_..` of `blk_types.h`.
    Request { sector: u64, operation: u32, status: u32 },
}

/// Programs at work, detached when dropped.
pub struct DeviceErrors {
    // Dropped before the object that they belong to.
    _links: Vec<Link>,
    ring: RingBuffer<'static>,
    records: Records,
    object: Object,
}

impl DeviceErrors {
    /// Attaches the programs to the device `major`:`minor`. A tracepoint that this kernel lacks is added to `skips`;
    /// fails if it lacks both.
    pub fn start(name: &str, major: u32, minor: u32, skips: &mut Vec<String>) -> Result<DeviceErrors> {
        let object = load_for(IMAGE, name, &[major << 20 | minor], &TRACEPOINTS.map(|(program, _)| program))?;
        let (ring, records) = ring(&object, "errors")?;
        let mut links = Vec::new();
        for (name, tracepoint) in TRACEPOINTS {
            match program(&object, name)?.attach_raw_tracepoint(tracepoint) {
                Ok(link) => links.push(link),
                Err(e) => skips.push(format!("errors reported by {tracepoint}: {e}")),
            }
        }
        if links.is_empty() {
            return Err(Error::new(Code::Input, "no errors of devices or file systems can be watched here")
                .hint("Linux 5.18 or later is needed"));
        }
        Ok(DeviceErrors { _links: links, ring, records, object })
    }

    /// Calls `each` for the errors since the last call, with their time on CLOCK_MONOTONIC.
    pub fn collect(&mut self, mut each: impl FnMut(u64, Fault)) {
        let _ = self.ring.consume();
        for bytes in self.records.borrow_mut().drain(..) {
            let number = half(&bytes, WORDS, 1);
            let fault = if half(&bytes, WORDS, 0) == IS_REQUEST {
                Fault::Request { sector: word(&bytes, 1), operation: half(&bytes, WORDS, 2) & 0xff, status: number }
            } else {
                let name = bytes.get(NAME).unwrap_or_default();
                let end = name.iter().position(|b| *b == 0).unwrap_or(name.len());
                Fault::Ext4 { function: String::from_utf8_lossy(&name[..end]).into_owned(), line: number }
            };
            each(word(&bytes, 0), fault);
        }
    }

    /// Returns the errors that did not fit into the ring buffer.
    pub fn lost(&self) -> u64 {
        word(&lookup(&self.object, "accounts", &0u32.to_le_bytes()), 0)
    }
}
