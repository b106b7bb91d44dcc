//! Folders: one state per key, in a table of the engine (yt_folder of the C ABI).
//! One of the listed files with `unsafe`: states are named by pointers.

use super::Out;
use yunti_base::{Code, Error, Result};

/// Folds that the engine runs itself; state and value are numbers of eight bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownFold {
    /// Number of values.
    Count,
    /// Sum of integers; wraps around.
    SumI64,
    /// Smallest integer.
    MinI64,
    /// Largest integer.
    MaxI64,
    /// Sum of floats. Inexact: the order of additions affects the last bits.
    SumF64,
}

impl KnownFold {
    /// Known folds, in the order of their numbers in the C ABI, from 1.
    const ALL: [KnownFold; 5] =
        [KnownFold::Count, KnownFold::SumI64, KnownFold::MinI64, KnownFold::MaxI64, KnownFold::SumF64];

    /// Returns the fold with this number in the C ABI.
    pub fn from_abi(number: u32) -> Option<KnownFold> {
        KnownFold::ALL.get((number as usize).checked_sub(1)?).copied()
    }
    /// Returns the number in the C ABI.
    pub fn to_abi(self) -> u32 {
        self as u32 + 1
    }

    /// Returns the state of a key after its first value.
    #[inline]
    pub fn first(self, value: u64) -> u64 {
        if self == KnownFold::Count { 1 } else { value }
    }

    #[inline]
    /// Returns the state after one more value.
    pub fn fold(self, state: u64, value: u64) -> u64 {
        match self {
            KnownFold::Count => state.wrapping_add(1),
            _ => self.merge(state, value),
        }
    }

    #[inline]
    /// Returns the merge of two states.
    pub fn merge(self, into: u64, from: u64) -> u64 {
        match self {
            KnownFold::Count | KnownFold::SumI64 => into.wrapping_add(from),
            KnownFold::MinI64 => (into as i64).min(from as i64) as u64,
            KnownFold::MaxI64 => (into as i64).max(from as i64) as u64,
            KnownFold::SumF64 => (f64::from_bits(into) + f64::from_bits(from)).to_bits(),
        }
    }
}

/// Shape of a folder's states and values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoldShape {
    /// Bytes of a state, 1 to 65,536. States are plain bytes: moved, spilled and loaded by memcpy, never destroyed.
    pub state_bytes: usize,
    /// Fold that the engine runs itself, if the folder is one.
    pub known: Option<KnownFold>,
    /// True if merging is associative and commutative to the bit: partial states may be made, merged and evicted in any
    /// order.
    pub exact: bool,
    /// True if values have eight bytes and are passed as numbers.
    pub eight: bool,
}

/// Values of a call of `fold`.
#[derive(Clone, Copy)]
pub enum FoldValues<'a> {
    /// Values of any length.
    Slices(&'a [&'a [u8]]),
    /// Values of eight bytes.
    Eight(&'a [u64]),
}

impl FoldValues<'_> {
    /// Returns the number of values.
    pub fn len(&self) -> usize {
        match self {
            FoldValues::Slices(v) => v.len(),
            FoldValues::Eight(v) => v.len(),
        }
    }
    /// Returns true if there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// States in one call, at most.
pub const FOLD_BATCH: usize = 64;

/// A folder of one worker.
///
/// States are pointers to `state_bytes` bytes of any alignment. A call of `fold` may name a state several times; its
/// values are folded in order. For a known fold, init, fold and merge are never called.
pub trait Folder: Send {
    /// Returns the shape of its states.
    fn shape(&self) -> FoldShape;
    /// Sets the states of new keys.
    fn init(&mut self, states: &[*mut u8]) -> Result<()>;
    /// Folds value i into state i.
    fn fold(&mut self, states: &[*mut u8], values: FoldValues<'_>) -> Result<()>;
    /// Merges state `from[i]` into state `into[i]`.
    fn merge(&mut self, into: &[*mut u8], from: &[*const u8]) -> Result<()>;
    /// Emits the result of each key and its state; for a known fold, the pair (key, state).
    fn finish(&mut self, keys: &[&[u8]], states: &[*const u8], out: &mut Out) -> Result<()>;
}

/// A known fold as a folder.
pub struct KnownFolder(pub KnownFold);

impl Folder for KnownFolder {
    fn shape(&self) -> FoldShape {
        FoldShape { state_bytes: 8, known: Some(self.0), exact: self.0 != KnownFold::SumF64, eight: true }
    }
    // The engine folds known folds itself.
    fn init(&mut self, _: &[*mut u8]) -> Result<()> {
        Err(Error::new(Code::Internal, "init of a known fold was called"))
    }
    fn fold(&mut self, _: &[*mut u8], _: FoldValues<'_>) -> Result<()> {
        Err(Error::new(Code::Internal, "fold of a known fold was called"))
    }
    fn merge(&mut self, _: &[*mut u8], _: &[*const u8]) -> Result<()> {
        Err(Error::new(Code::Internal, "merge of a known fold was called"))
    }
    fn finish(&mut self, keys: &[&[u8]], states: &[*const u8], out: &mut Out) -> Result<()> {
        for (key, state) in keys.iter().zip(states) {
            out.emit(key, state_bytes(state, 8))?;
        }
        Ok(())
    }
}

/// Returns the bytes of a state passed to `finish`.
pub fn state_bytes(state: &*const u8, len: usize) -> &[u8] {
    // SAFETY: the contract of `Folder`: a state pointer names `state_bytes` readable bytes for the length of the call.
    unsafe { std::slice::from_raw_parts(*state, len) }
}

/// Returns the number in a state of eight bytes passed to `fold`.
pub fn state_number(state: *mut u8) -> u64 {
    // SAFETY: as above, for a shape of eight bytes.
    unsafe { state.cast::<u64>().read_unaligned() }
}

/// Sets a state of eight bytes passed to `init`.
pub fn set_state_number(state: *mut u8, number: u64) {
    // SAFETY: the contract of `Folder`: states given to `init` are writable for the length of the call.
    unsafe { state.cast::<u64>().write_unaligned(number) }
}
