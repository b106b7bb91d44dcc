//! Reads of blocks at given offsets by io_uring, several in flight.
//!
//! One of the listed files with `unsafe`: the kernel writes into buffers of the ring, which stay in place until no
//! request is in flight.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::time::Instant;

use io_uring::{IoUring, opcode, types};

/// Bytes of a read.
pub const BLOCK: usize = 4096;

/// Ring with a buffer for each request in flight.
pub struct Ring {
    ring: IoUring,
    buffers: Vec<Box<[u8; BLOCK]>>,
}

impl Ring {
    /// Returns a ring for `depth` requests in flight.
    pub fn new(depth: usize) -> std::io::Result<Ring> {
        Ok(Ring { ring: IoUring::new(depth as u32)?, buffers: (0..depth).map(|_| Box::new([0; BLOCK])).collect() })
    }

    /// Reads the blocks at all `places`, as byte offsets. Returns the latency of each in nanoseconds. `each` is called
    /// after each wait for completions.
    pub fn read(mut self, file: &File, places: &[u64], mut each: impl FnMut()) -> std::io::Result<Vec<u64>> {
        let mut took = Vec::with_capacity(places.len());
        let mut begun = vec![Instant::now(); self.buffers.len()];
        let mut idle: Vec<usize> = (0..self.buffers.len()).collect();
        let (mut next, mut under_way, mut wrong) = (0, 0, None);
        while under_way > 0 || next < places.len() && wrong.is_none() {
            while next < places.len() && wrong.is_none() {
                let Some(slot) = idle.pop() else { break };
                let buffer = self.buffers[slot].as_mut_ptr();
                let read =
                    opcode::Read::new(types::Fd(file.as_raw_fd()), buffer, BLOCK as u32).offset(places[next]).build();
                begun[slot] = Instant::now();
                // SAFETY: the buffer has BLOCK bytes and is in no other request (its slot was idle). It is not touched
                // or freed before the completion: this function returns only with no request in flight, or by an error
                // below, which leaks the buffers. The file outlives the loop.
                let pushed = unsafe { self.ring.submission().push(&read.user_data(slot as u64)) };
                debug_assert!(pushed.is_ok(), "there are as many entries as slots");
                next += 1;
                under_way += 1;
            }
            match self.ring.submit_and_wait(1) {
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(e) => {
                    // The kernel may still write into the buffers.
                    std::mem::forget(std::mem::take(&mut self.buffers));
                    return Err(e);
                }
                Ok(_) => {}
            }
            each();
            for done in self.ring.completion() {
                let slot = done.user_data() as usize;
                took.push(begun[slot].elapsed().as_nanos() as u64);
                if done.result() != BLOCK as i32 {
                    wrong = Some(match done.result() {
                        n if n < 0 => std::io::Error::from_raw_os_error(-n),
                        n => std::io::Error::other(format!("only {n} of {BLOCK} bytes were read")),
                    });
                }
                idle.push(slot);
                under_way -= 1;
            }
        }
        wrong.map_or(Ok(took), Err)
    }
}
