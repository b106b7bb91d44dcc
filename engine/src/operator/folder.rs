//! Folders: one state a key, in a table that the engine owns (yt_folder of the C ABI).
//! One of the listed files with `unsafe`: states are named by pointers.

use super::Out;
use yunti_base::Result;

/// Folds that the engine does by itself: state and value are numbers of eight bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownFold {
    Count,
    /// Wraps around.
    SumI64,
    MinI64,
    MaxI64,
    /// Inexact: the order of additions shows in the last bits.
    SumF64,
}

impl KnownFold {
    /// The state of a key after its first value.
    #[inline]
    pub fn first(self, value: u64) -> u64 {
        if self == KnownFold::Count { 1 } else { value }
    }

    #[inline]
    pub fn fold(self, state: u64, value: u64) -> u64 {
        match self {
            KnownFold::Count => state.wrapping_add(1),
            _ => self.merge(state, value),
        }
    }

    #[inline]
    pub fn merge(self, into: u64, from: u64) -> u64 {
        match self {
            KnownFold::Count | KnownFold::SumI64 => into.wrapping_add(from),
            KnownFold::MinI64 => (into as i64).min(from as i64) as u64,
            KnownFold::MaxI64 => (into as i64).max(from as i64) as u64,
            KnownFold::SumF64 => (f64::from_bits(into) + f64::from_bits(from)).to_bits(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoldShape {
    /// Bytes of a state, 1 to 65,536. States are plain bytes: moved, spilled and loaded by memcpy, never destroyed.
    pub state_bytes: usize,
    pub known: Option<KnownFold>,
    /// Merge is associative and commutative to the bit: partial states may be made, merged and evicted in any order.
    pub exact: bool,
    /// Values have eight bytes and come as numbers.
    pub eight: bool,
}

/// Values of a call of `fold`.
#[derive(Clone, Copy)]
pub enum FoldValues<'a> {
    Slices(&'a [&'a [u8]]),
    Eight(&'a [u64]),
}

impl FoldValues<'_> {
    pub fn len(&self) -> usize {
        match self {
            FoldValues::Slices(v) => v.len(),
            FoldValues::Eight(v) => v.len(),
        }
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// At most this many states in one call.
pub const FOLD_BATCH: usize = 64;

/// States are named by pointers to `state_bytes` bytes of any alignment; a pointer may occur several times in a call of `fold`,
/// to be folded in the order given. For a known fold none of init, fold and merge is called.
pub trait Folder: Send {
    fn shape(&self) -> FoldShape;
    fn init(&mut self, states: &[*mut u8]) -> Result<()>;
    fn fold(&mut self, states: &[*mut u8], values: FoldValues<'_>) -> Result<()>;
    fn merge(&mut self, into: &[*mut u8], from: &[*const u8]) -> Result<()>;
    /// Emits what becomes of each key and its state; for a known fold (key, state).
    fn finish(&mut self, keys: &[&[u8]], states: &[*const u8], out: &mut Out) -> Result<()>;
}

/// The bytes of a state that `finish` was given.
pub fn state_bytes<'a>(state: &'a *const u8, len: usize) -> &'a [u8] {
    // SAFETY: the contract of `Folder`: a state pointer names `state_bytes` readable bytes for the length of the call.
    unsafe { std::slice::from_raw_parts(*state, len) }
}

/// The number in a state of eight bytes that `fold` was given.
pub fn state_number(state: *mut u8) -> u64 {
    // SAFETY: as above, for a shape of eight bytes.
    unsafe { state.cast::<u64>().read_unaligned() }
}

/// Sets a state of eight bytes that `init` was given.
pub fn set_state_number(state: *mut u8, number: u64) {
    // SAFETY: the contract of `Folder`: states given to `init` are writable for the length of the call.
    unsafe { state.cast::<u64>().write_unaligned(number) }
}
