//! Descriptor or timer that a goroutine waits for.

use super::goroutine::Goroutine;
use super::layout::Layout;
use super::stacks::Copy;
use yunti_probe::code::GoProgram;
use yunti_probe::stack::{Frame, Kind};

/// Reason of a goroutine that waits for a descriptor.
pub const REASON: &str = "IO wait";
/// Words of the stack in which the frames of the runtime's poller are.
const WORDS: u64 = 96;
/// Descriptors below this number.
const DESCRIPTORS_MAX: u64 = 1 << 24;
/// Lowest address of structures outside of Go's heap, which begins at 0xc000000000 and is smaller.
const OUTSIDE: u64 = 1 << 40;
/// Channels of one select that are read.
const CHANNELS_MAX: usize = 8;

/// Descriptor that a goroutine waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Polled {
    pub descriptor: u64,
    /// True if it waits to write.
    pub is_write: bool,
}

/// Returns the descriptor of a goroutine that waits for one. Its `runtime.pollDesc` is on its stack, and names the
/// goroutine.
pub fn of(program: &GoProgram, layout: &Layout, goroutine: &Goroutine, copy: &Copy) -> Option<Polled> {
    let words = (0..WORDS).map_while(|i| copy.word(copy.sp + i * 8));
    let may_be = |address: &u64| *address >= OUTSIDE && *address < 1 << 56 && address.is_multiple_of(8);
    let mut last = 0;
    words.filter(may_be).find_map(|address| {
        if std::mem::replace(&mut last, address) == address {
            return None;
        }
        let mut bytes = [0; 48];
        program.read(address, &mut bytes).then_some(())?;
        in_structure(&bytes, layout.reader, goroutine.address)
    })
}

/// Parses `runtime.pollDesc`: link, descriptor, .., reader, writer.
fn in_structure(bytes: &[u8; 48], reader: usize, goroutine: u64) -> Option<Polled> {
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap_or_default());
    let descriptor = Some(word(8)).filter(|descriptor| *descriptor < DESCRIPTORS_MAX)?;
    let is_write = word(reader + 8) == goroutine;
    (is_write || word(reader) == goroutine).then_some(Polled { descriptor, is_write })
}

/// Returns the frame of a wait for a peer.
pub fn frame(peer: &str) -> Frame {
    Frame { name: format!("{REASON}: {peer}").into(), kind: Kind::Group }
}

/// Returns true if a goroutine waits for timers only, as at `<-time.After(..)`. Go 1.23 and later tell.
pub fn waits_for_a_timer(program: &GoProgram, layout: &Layout, goroutine: &Goroutine) -> bool {
    let Some(timer) = layout.timer else { return false };
    let mut wait = goroutine.waiting;
    for i in 0..CHANNELS_MAX {
        if wait == 0 {
            return i > 0;
        }
        let channel = program.word(wait + layout.channel as u64).filter(|channel| *channel != 0);
        if channel.and_then(|channel| program.word(channel + timer as u64)).unwrap_or(0) == 0 {
            return false;
        }
        wait = program.word(wait + layout.next_wait as u64).unwrap_or(0);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_of_readers_and_writers() {
        let goroutine = 0xc000_0041_c000;
        let check = |reader, words: [u64; 6], expected: Option<(u64, bool)>| {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let found = in_structure(&bytes.try_into().unwrap(), reader, goroutine);
            assert_eq!(found.map(|polled| (polled.descriptor, polled.is_write)), expected, "{words:x?}");
        };
        check(24, [0, 9, 0, goroutine, 0, 7], Some((9, false)));
        check(32, [0, 9, 1, 16, goroutine, 0], Some((9, false)));
        check(32, [0, 9, 1, 16, 0, goroutine], Some((9, true)));
        check(32, [0, 9, 1, 16, 0, 0], None);
        check(32, [0, 1 << 60, 1, 16, goroutine, 0], None);
    }
}
