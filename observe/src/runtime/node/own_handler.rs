//! Handlers of signals that a program of Node.js has set itself. Node.js catches SIGUSR1 to open its inspector; a
//! program that catches it too gets the signal instead, and may do anything: open its log again, or end.
//!
//! The kernel reports that a signal is caught, not by whom. libuv keeps the handlers of all its loops in one tree:
//!
//! ```text
//!   uv__signal_tree -> uv_signal_t   16 type   104 signum   112 left   120 right     (64-bit, libuv 1.x)
//! ```

use std::fs::File;
use std::os::unix::fs::FileExt;

use yunti_probe::code::address_of;
use yunti_probe::target::Process;

const TREE: &str = "uv__signal_tree";
/// Positions in uv_signal_t, and its type.
const TYPE_AT: usize = 16;
const SIGNAL_AT: usize = 104;
const CHILDREN_AT: [usize; 2] = [112, 120];
const BYTES: usize = 128;
const UV_SIGNAL: u32 = 16;
/// Handlers read at most.
const HANDLERS_MAX: usize = 1000;

/// Returns true if the program has a handler of its own for a signal; `None` if that cannot be read.
pub fn has_own_handler(process: &Process, signal: u32) -> Option<bool> {
    let program = process.executable()?.to_string_lossy().into_owned();
    let tree =
        address_of(process, TREE, |file| file == program || file.contains("libuv.so") || file.contains("libnode"))?;
    let memory = File::open(format!("/proc/{}/mem", process.pid)).ok()?;
    let mut root = [0; 8];
    memory.read_exact_at(&mut root, tree).ok()?;
    let mut left = vec![u64::from_ne_bytes(root)];
    for _ in 0..HANDLERS_MAX {
        let Some(address) = left.pop() else { return Some(false) };
        if address == 0 {
            continue;
        }
        let mut handler = [0; BYTES];
        memory.read_exact_at(&mut handler, address).ok()?;
        let number = |at: usize| u32::from_ne_bytes(handler[at..at + 4].try_into().unwrap_or_default());
        // Another layout, or a change at this moment.
        if number(TYPE_AT) != UV_SIGNAL {
            return None;
        }
        if number(SIGNAL_AT) == signal {
            return Some(true);
        }
        let pointer = |at: usize| u64::from_ne_bytes(handler[at..at + 8].try_into().unwrap_or_default());
        left.extend(CHILDREN_AT.map(pointer));
    }
    None
}
