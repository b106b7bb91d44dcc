//! Requests to a block device: `bpf/system/blocks.bpf.c`.

use std::os::unix::fs::MetadataExt;

use libbpf_rs::{Link, Object, RingBuffer};
use yunti_base::{Code, Error, Result};

use crate::programs::{Records, half, load_for, lookup, program, ring, word};

const WORDS: usize = 2;
const OPERATION: u32 = 0xff;
const TYPE_REGULAR: u32 = 0o100_000;
const TYPE_SYMLINK: u32 = 0o120_000;
const TYPE_DEVICE: u32 = 0o060_000;

static IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/blocks.bpf.o"));

/// Operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Read,
    Write,
    /// Write of the device's cache.
    Flush,
    Discard,
    Other,
}

/// Owner of the pages that a request transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    /// Regular file, by its inode.
    File(u64),
    /// Symbolic link, by its inode.
    Symlink(u64),
    /// The device's own inode: metadata.
    Device,
    /// No inode: direct I/O, or a copy.
    None,
}

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// First sector, in 512 bytes from the start of the whole disk.
    pub sector: u64,
    /// Length.
    pub bytes: u32,
    /// Operation.
    pub operation: Operation,
    /// Owner of its pages.
    pub owner: Owner,
}

/// Program at work, detached when dropped.
pub struct Requests {
    // Dropped before the object that it belongs to.
    _link: Link,
    ring: RingBuffer<'static>,
    records: Records,
    object: Object,
}

impl Requests {
    /// Attaches the program to the device `major`:`minor`. `name`: its name in errors.
    pub fn start(name: &str, major: u32, minor: u32) -> Result<Requests> {
        // The kernel's own number of the device of /proc/self/ns/pid.
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

    /// Calls `each` for the requests since the last call.
    pub fn collect(&mut self, mut each: impl FnMut(Request)) {
        let _ = self.ring.consume();
        for bytes in self.records.borrow_mut().drain(..) {
            let inode = word(&bytes, 1);
            each(Request {
                sector: word(&bytes, 0),
                bytes: half(&bytes, WORDS, 0),
                operation: match half(&bytes, WORDS, 1) & OPERATION {
                    0 => Operation::Read,
                    // Write-zeroes requests are writes.
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

    /// Returns the requests that did not fit into the ring buffer.
    pub fn lost(&self) -> u64 {
        word(&lookup(&self.object, "accounts", &0u32.to_le_bytes()), 0)
    }
}
