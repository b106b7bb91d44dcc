//! What is read from a device and written to it: `bpf/machine/blocks.bpf.c`.

use std::os::unix::fs::MetadataExt;

use libbpf_rs::{Link, Object, RingBuffer};
use yunti_base::{Code, Error, Result};

use crate::kernel::programs::{Records, half, load_for, lookup, program, ring, word};

const WORDS: usize = 2;
const OPERATION: u32 = 0xff;
const TYPE_REGULAR: u32 = 0o100_000;
const TYPE_SYMLINK: u32 = 0o120_000;
const TYPE_DEVICE: u32 = 0o060_000;

static IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/blocks.bpf.o"));

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Read,
    Write,
    /// What the device holds back is to be written.
    Flush,
    Discard,
    Other,
}

/// Under whose inode the pages are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    File(u64),
    Symlink(u64),
    /// The device's: metadata.
    Device,
    /// Nobody's: direct I/O, or a copy.
    None,
}

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Of 512 bytes, from the beginning of the whole disk.
    pub sector: u64,
    pub bytes: u32,
    pub operation: Operation,
    pub owner: Owner,
}

/// The program at work; it is detached when this is dropped.
pub struct Requests {
    // Before the object that it belongs to.
    _link: Link,
    ring: RingBuffer<'static>,
    records: Records,
    object: Object,
}

impl Requests {
    /// @param device its number's two parts
    pub fn start(name: &str, major: u32, minor: u32) -> Result<Requests> {
        // Of /proc/self/ns/pid; the kernel has its own numbers of devices.
        let own =
            std::fs::metadata("/proc/self/ns/pid").map_err(|e| Error::io(Code::Internal, "/proc/self/ns/pid", &e))?;
        let device = rustix::fs::major(own.dev()) << 20 | rustix::fs::minor(own.dev());
        let settings = [major << 20 | minor, std::process::id(), device, 0, own.ino() as u32, (own.ino() >> 32) as u32];
        let object = load_for(IMAGE, name, &settings, &["queued"])?;
        let (ring, records) = ring(&object, "requests")?;
        let link = program(&object, "queued")?.attach_raw_tracepoint("block_bio_queue");
        let link = link
            .map_err(|e| Error::new(Code::Input, format!("the tracepoint block_bio_queue cannot be watched: {e}")))?;
        Ok(Requests { _link: link, ring, records, object })
    }

    /// Hands on what has come since the last time.
    pub fn collect(&mut self, mut each: impl FnMut(Request)) {
        let _ = self.ring.consume();
        for bytes in self.records.borrow_mut().drain(..) {
            let inode = word(&bytes, 1);
            each(Request {
                sector: word(&bytes, 0),
                bytes: half(&bytes, WORDS, 0),
                operation: match half(&bytes, WORDS, 1) & OPERATION {
                    0 => Operation::Read,
                    // Zeroes, too, are written.
                    1 | 9 => Operation::Write,
                    2 => Operation::Flush,
                    3 => Operation::Discard,
                    _ => Operation::Other,
                },
                owner: match half(&bytes, WORDS, 2) {
                    TYPE_REGULAR => Owner::File(inode),
                    TYPE_SYMLINK => Owner::Symlink(inode),
                    TYPE_DEVICE => Owner::Device,
                    _ => Owner::None,
                },
            });
        }
    }

    /// Requests that there was no room for.
    pub fn lost(&self) -> u64 {
        word(&lookup(&self.object, "accounts", &0u32.to_le_bytes()), 0)
    }
}
