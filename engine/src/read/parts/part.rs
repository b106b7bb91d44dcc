//! Parts of a compressed file that decode alone, and what is known about their cuts.
//!
//! ```text
//!   file:    [ member  member ][ member ][ member  member ]       cuts lie at starts of members
//!            |<--- part 0 --->|<-part 1>|<---- part 2 --->|
//!   part:    [before] bytes start..data_end of the file [behind]  a whole file of its format
//! ```
//!
//! A plan may guess cuts, because each is *proven* later. Part 0 begins where the file does. If a decoder arrives at
//! the end of a part between two members, the next part begins where a decoder of the whole file would begin a member.
//! So parts that all arrive give the bytes of one decoder in order, for any file. A part that does not arrive leaves a
//! doubt; the job then begins again and reads the file in order, which also gives the error of a damaged file.
//!
//! Rejected: a proof by the bytes around a cut. A stored block of deflate may contain whole members, with checksums.

use std::sync::atomic::{AtomicBool, Ordering};

/// A stretch of a compressed file that decodes alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// First byte in the file.
    pub start: u64,
    /// End of the bytes that are decoded.
    pub data_end: u64,
    /// Start of the next part, or the end of the file. The plan has checked the bytes from `data_end` on.
    pub end: u64,
    /// Bytes to decode first, such as the header of a stream that began earlier.
    pub before: Vec<u8>,
    /// Bytes to decode last, such as the end of a stream that ends later.
    pub behind: Vec<u8>,
}

/// Parts of one file, in order, and the state of their proofs.
#[derive(Debug)]
pub struct Parts {
    parts: Vec<Part>,
    /// Bytes of memory that the decoder of a part needs.
    memory_bytes: u64,
    state: Vec<PartState>,
    failed: AtomicBool,
}

#[derive(Debug, Default)]
struct PartState {
    opened: AtomicBool,
    proven: AtomicBool,
}

impl PartialEq for Parts {
    fn eq(&self, other: &Parts) -> bool {
        self.parts == other.parts
    }
}

impl Eq for Parts {}

impl Parts {
    /// Returns the parts of a file, none of them proven. `memory_bytes`: need of a decoder.
    pub fn new(parts: Vec<Part>, memory_bytes: u64) -> Parts {
        let state = parts.iter().map(|_| PartState::default()).collect();
        Parts { parts, memory_bytes, state, failed: AtomicBool::new(false) }
    }

    /// Returns the parts, in the order of the file.
    pub fn all(&self) -> &[Part] {
        &self.parts
    }

    /// Returns the bytes of memory that the decoder of a part needs.
    pub fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }

    /// Returns the number of the part that begins at `start`.
    pub fn number_at(&self, start: u64) -> Option<usize> {
        self.parts.binary_search_by_key(&start, |part| part.start).ok()
    }

    /// Notes that the part is read.
    pub fn note_opened(&self, part: usize) {
        self.state[part].opened.store(true, Ordering::Relaxed);
    }

    /// Notes that a decoder of the part arrived at its end between two members.
    pub fn note_proven(&self, part: usize) {
        self.state[part].proven.store(true, Ordering::Relaxed);
    }

    /// Notes that a decoder of a part failed.
    pub fn note_failed(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Returns true if a decoder of a part failed.
    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Returns the parts on which the parts read so far depend, and which are not proven.
    pub fn unproven(&self) -> Vec<usize> {
        let last = self.state.iter().rposition(|part| part.opened.load(Ordering::Relaxed));
        (0..last.unwrap_or(0)).filter(|&part| !self.state[part].proven.load(Ordering::Relaxed)).collect()
    }
}
