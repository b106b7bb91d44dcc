//! The structs of yunti.h, field by field, and safe views of what the engine passes in them.
//! One of the listed files with `unsafe`: it reads through the ABI's pointers.
//!
//! `layout/tests.rs` compares sizes and offsets with a program in C that includes the header.

use std::ffi::{c_char, c_void};
use std::marker::PhantomData;

/// Major version of the C ABI.
pub const ABI_MAJOR: u32 = 0;
/// Minor version of the C ABI.
pub const ABI_MINOR: u32 = 6;

/// Success of a call.
pub const OK: i32 = 0;
/// Failure of a call, with the reason in the context.
pub const FAIL: i32 = 1;
/// The same of a source: a file is damaged.
pub const DAMAGED: i32 = 5;
/// The same of a source: a file cannot be read, or has no such column.
pub const UNSUPPORTED: i32 = 6;

/// Kinds of classes.
pub const MAPPER: u32 = 1;
pub const REDUCER: u32 = 2;
pub const COMBINER: u32 = 3;
pub const FOLDER: u32 = 4;
pub const PARTITIONER: u32 = 5;
pub const READER: u32 = 6;
pub const WRITER: u32 = 7;
pub const KEY_ORDER: u32 = 8;
pub const SOURCE: u32 = 9;

/// Flags of classes.
pub const PURE: u32 = 1;
pub const EMITS_REFS: u32 = 2;
pub const EMITS_ONE: u32 = 4;
pub const WANTS_SPAN: u32 = 8;
pub const GROUPS: u32 = 16;

/// Forms of emitted records.
pub const FORM_COPY: u32 = 1;
pub const FORM_ONE: u32 = 2;
pub const FORM_REF: u32 = 3;

/// Bytes of block above which a record goes through `big`, whole.
pub const BIG_BYTES: usize = 65_536;
const GROUP_MORE: u32 = 1;
const GROUP_CONT: u32 = 2;
const CHUNK_FIRST: u32 = 1;
const CHUNK_LAST: u32 = 2;
/// Flag of a writer whose instances write whole parts.
pub const WHOLE_PART: u32 = 1;
/// Position of a find that needs more bytes.
pub const FIND_MORE: u64 = u64::MAX;

/// A byte string.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawStr {
    pub p: *const u8,
    pub n: u64,
}

impl RawStr {
    pub fn of(bytes: &[u8]) -> RawStr {
        RawStr { p: bytes.as_ptr(), n: bytes.len() as u64 }
    }
}

/// yt_batch.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawBatch {
    size: u32,
    n: u32,
    base: *const u8,
    koff: *const u32,
    klen: *const u32,
    voff: *const u32,
    vlen: *const u32,
    bytes: u64,
    first_position: u64,
    flags: u32,
    file_index: u32,
}

/// yt_out.
#[repr(C)]
pub struct RawOut {
    pub size: u32,
    pub form: u32,
    pub cur: *mut u8,
    pub end: *mut u8,
    pub ref_base: *const u8,
    pub full: unsafe extern "C" fn(*mut RawOut, u64) -> i32,
    pub big: unsafe extern "C" fn(*mut RawOut, RawStr, RawStr) -> i32,
    pub engine: *mut c_void,
    pub reserved: [u64; 4],
}

/// yt_groups.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawGroups {
    size: u32,
    n: u32,
    base: *const u8,
    koff: *const u32,
    klen: *const u32,
    first: *const u32,
    voff: *const u32,
    vlen: *const u32,
    v8: *const u64,
    flags: u32,
    pad: u32,
    vkoff: *const u32,
    vklen: *const u32,
}

/// yt_chunk.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawChunk {
    size: u32,
    flags: u32,
    base: *const u8,
    bytes: u64,
    limit: u64,
    position: u64,
    file_index: u32,
    before: u32,
}

/// yt_context. An older engine lacks the last functions.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawContext {
    pub size: u32,
    pub abi_minor: u32,
    pub engine: *mut c_void,
    pub config: Option<unsafe extern "C" fn(*mut c_void, RawStr) -> RawStr>,
    pub counter: Option<unsafe extern "C" fn(*mut c_void, RawStr, RawStr) -> *mut u64>,
    pub error: Option<unsafe extern "C" fn(*mut c_void, RawStr)>,
    pub status: Option<unsafe extern "C" fn(*mut c_void, RawStr)>,
    pub mask_any: Option<unsafe extern "C" fn(*const u8, u64, *const u8, u32, *mut u64)>,
    pub is_reduce: u32,
    pub task: u32,
    pub partitions: u32,
    pub pad: u32,
    pub edges: Option<FindEdges>,
    pub side_file: Option<unsafe extern "C" fn(*mut c_void, RawStr) -> RawStr>,
    pub input: Option<unsafe extern "C" fn(*mut c_void, u32) -> RawStr>,
    pub output: Option<unsafe extern "C" fn(*mut c_void, RawStr, u32, u32) -> *mut RawOut>,
    pub reserved: [u64; 4],
}

/// yt_context.edges.
pub type FindEdges = unsafe extern "C" fn(*const u8, u64, *const u8, u32, u32, *mut u32, *mut u32) -> u64;

/// yt_folder.
#[repr(C)]
pub struct RawFolder {
    pub size: u32,
    pub state_size: u32,
    pub known: u32,
    pub exact: u32,
    pub init: Option<unsafe extern "C" fn(*mut c_void, *const *mut c_void, u32) -> i32>,
    pub fold: Option<unsafe extern "C" fn(*mut c_void, *const *mut c_void, *const RawStr, *const u64, u32) -> i32>,
    pub merge: Option<unsafe extern "C" fn(*mut c_void, *const *mut c_void, *const *const c_void, u32) -> i32>,
    pub finish: Option<unsafe extern "C" fn(*mut c_void, *const RawStr, *const *const c_void, u32, *mut RawOut) -> i32>,
}

/// yt_reader.
#[repr(C)]
pub struct RawReader {
    pub size: u32,
    pub flags: u32,
    pub look_back: u32,
    pub pad: u32,
    pub find: Option<unsafe extern "C" fn(*mut c_void, *const RawChunk, *mut u64) -> i32>,
    pub read: Option<unsafe extern "C" fn(*mut c_void, *const RawChunk, *mut RawOut, *mut u64) -> i32>,
}

/// Head or foot of a part, or the end of a task.
pub type Emit = unsafe extern "C" fn(*mut c_void, *mut RawOut) -> i32;

/// yt_writer.
#[repr(C)]
pub struct RawWriter {
    pub size: u32,
    pub flags: u32,
    pub begin: Option<Emit>,
    pub write: Option<unsafe extern "C" fn(*mut c_void, *const RawBatch, *mut RawOut) -> i32>,
    pub end: Option<Emit>,
    pub extension: *const c_char,
}

/// yt_file.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawFile {
    pub size: u32,
    pub file_index: u32,
    pub bytes: u64,
    pub name: RawStr,
    pub engine: *mut c_void,
    pub read_at: unsafe extern "C" fn(*mut c_void, u64, *mut u8, u64) -> i32,
    pub hold: unsafe extern "C" fn(*mut c_void, u64) -> i32,
}

/// yt_scan.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawScan {
    pub size: u32,
    pub flags: u32,
    pub key: *const RawStr,
    pub value: *const RawStr,
    pub n_key: u32,
    pub n_value: u32,
    pub condition: RawStr,
    pub from: u64,
    pub to: u64,
}

/// Flags of a scan.
pub const SCAN_NO_VALUE: u32 = 1;
pub const SCAN_MARKS_NULLS: u32 = 2;
pub const SCAN_BLOCKS: u32 = 4;

/// Flag of a source: it can give blocks.
pub const SOURCE_BLOCKS: u32 = 1;

/// Part of a file that one task reads (yt_unit).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unit {
    /// Number, or another value by which `open` finds the unit.
    pub number: u64,
    /// Offset of its first byte in the file.
    pub position: u64,
    /// Stored bytes of the columns that the scan uses.
    pub bytes: u64,
    /// Records, before the condition is applied.
    pub records: u64,
}

/// yt_units.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawUnits {
    pub size: u32,
    pub pad: u32,
    pub engine: *mut c_void,
    pub add: unsafe extern "C" fn(*mut c_void, *const Unit) -> i32,
}

/// yt_source.
#[repr(C)]
pub struct RawSource {
    pub size: u32,
    pub flags: u32,
    pub plan: Option<unsafe extern "C" fn(*mut c_void, *const RawFile, *const RawScan, *const RawUnits) -> i32>,
    pub open: Option<unsafe extern "C" fn(*mut c_void, *const RawFile, *const RawScan, u64) -> i32>,
    pub next: Option<unsafe extern "C" fn(*mut c_void, *mut RawOut, *mut u32) -> i32>,
    pub describe: Option<unsafe extern "C" fn(*mut c_void, *const RawFile, *mut RawOut) -> i32>,
}

/// yt_class.
#[repr(C)]
pub struct RawClass {
    pub size: u32,
    pub kind: u32,
    pub name: *const c_char,
    pub flags: u32,
    pub key_type: u32,
    pub value_type: u32,
    pub in_value_type: u32,
    pub create: Option<unsafe extern "C" fn(*const RawContext, *mut *mut c_void) -> i32>,
    pub destroy: Option<unsafe extern "C" fn(*mut c_void)>,
    pub map: Option<unsafe extern "C" fn(*mut c_void, *const RawBatch, *mut RawOut) -> i32>,
    pub reduce: Option<unsafe extern "C" fn(*mut c_void, *const RawGroups, *mut RawOut) -> i32>,
    pub partition: Option<unsafe extern "C" fn(*mut c_void, *const RawBatch, u32, *mut u32) -> i32>,
    pub folder: *const RawFolder,
    pub flush: Option<Emit>,
    pub reader: *const RawReader,
    pub writer: *const RawWriter,
    pub arrange: Option<unsafe extern "C" fn(*mut c_void, *const RawBatch, *mut RawOut, *mut u32) -> i32>,
    pub source: *const RawSource,
    /// yt_function and yt_aggregate, which this crate does not have.
    pub function: *const c_void,
    pub aggregate: *const c_void,
}

/// yt_library.
#[repr(C)]
pub struct RawLibrary {
    pub size: u32,
    pub abi_major: u32,
    pub abi_minor: u32,
    pub n: u32,
    pub name: *const c_char,
    pub version: *const c_char,
    pub classes: *const *const RawClass,
}

/// A struct of plain numbers and pointers whose first field is its size.
///
/// # Safety
/// All-zero bytes are a value of the type, and its first four bytes are a `u32` size.
pub unsafe trait Sized32: Copy {}
// SAFETY: repr(C), size first; pointers and options of functions are null as zeros.
unsafe impl Sized32 for RawBatch {}
// SAFETY: as above.
unsafe impl Sized32 for RawGroups {}
// SAFETY: as above.
unsafe impl Sized32 for RawChunk {}
// SAFETY: as above.
unsafe impl Sized32 for RawContext {}
// SAFETY: as above.
unsafe impl Sized32 for RawScan {}

/// Copies a file of the engine; its first version has all fields.
///
/// # Safety
/// `from` leads to a yt_file.
pub unsafe fn file(from: *const RawFile) -> RawFile {
    // SAFETY: as the caller promises.
    unsafe { from.read_unaligned() }
}

/// Copies a struct of the engine as far as both sides know it; fields of a newer version are zero.
///
/// # Safety
/// `from` leads to a struct whose first four bytes are the number of its readable bytes.
pub unsafe fn read<T: Sized32>(from: *const T) -> T {
    // SAFETY: as the caller and the trait promise.
    unsafe {
        let size = from.cast::<u32>().read_unaligned() as usize & !(size_of::<*const u8>() - 1);
        let mut to = std::mem::MaybeUninit::<T>::zeroed();
        std::ptr::copy_nonoverlapping(from.cast::<u8>(), to.as_mut_ptr().cast::<u8>(), size.min(size_of::<T>()));
        to.assume_init()
    }
}

/// Returns n items at p; none if p is null.
///
/// # Safety
/// p is null, or leads to n items that live and are not written for 'a.
pub unsafe fn slice<'a, T>(p: *const T, n: usize) -> &'a [T] {
    // SAFETY: as the caller promises.
    if p.is_null() { &[] } else { unsafe { std::slice::from_raw_parts(p, n) } }
}

/// Bytes at base + offsets[i], lengths[i] of them; empty without offsets.
///
/// # Safety
/// The columns are null, or have more than i items, and slice i lives for 'a.
#[inline(always)]
unsafe fn item<'a>(base: *const u8, offsets: *const u32, lengths: *const u32, i: usize) -> &'a [u8] {
    if offsets.is_null() {
        return &[];
    }
    // SAFETY: as the caller promises.
    unsafe { slice(base.add(*offsets.add(i) as usize), *lengths.add(i) as usize) }
}

/// Input records: slices of one buffer.
#[derive(Clone, Copy)]
pub struct Batch<'a> {
    raw: RawBatch,
    lives: PhantomData<&'a [u8]>,
}

impl<'a> Batch<'a> {
    /// # Safety
    /// The engine passed `raw`, and what it leads to lives for 'a.
    pub unsafe fn of(raw: *const RawBatch) -> Batch<'a> {
        // SAFETY: as the caller promises.
        Batch { raw: unsafe { read(raw) }, lives: PhantomData }
    }

    pub fn len(&self) -> usize {
        self.raw.n as usize
    }
    pub fn is_span(&self) -> bool {
        self.raw.voff.is_null()
    }
    pub fn has_keys(&self) -> bool {
        !self.raw.koff.is_null()
    }
    pub fn file_index(&self) -> u32 {
        self.raw.file_index
    }

    /// All bytes that the records of a text lie in.
    pub fn data(&self) -> &'a [u8] {
        // SAFETY: the ABI: the batch is [base, base + bytes), and lives for 'a.
        unsafe { slice(self.raw.base, self.raw.bytes as usize) }
    }

    /// Key of record i; empty without keys. Panics if there is no such record.
    #[inline(always)]
    pub fn key(&self, i: usize) -> &'a [u8] {
        assert!(i < self.len());
        // SAFETY: the ABI: columns of n slices that live for 'a, or null.
        unsafe { item(self.raw.base, self.raw.koff, self.raw.klen, i) }
    }

    /// Value of record i; empty for a span. Panics if there is no such record.
    #[inline(always)]
    pub fn value(&self, i: usize) -> &'a [u8] {
        assert!(i < self.len());
        // SAFETY: as in `key`.
        unsafe { item(self.raw.base, self.raw.voff, self.raw.vlen, i) }
    }

    /// Byte offset of record i in its file.
    #[inline(always)]
    pub fn position(&self, i: usize) -> u64 {
        assert!(i < self.len() || self.is_span());
        let column = if self.has_keys() { self.raw.koff } else { self.raw.voff };
        // SAFETY: as in `key`.
        self.raw.first_position + if column.is_null() { 0 } else { u64::from(unsafe { *column.add(i) }) }
    }
}

/// Groups of values in the order of their keys.
#[derive(Clone, Copy)]
pub struct Groups<'a> {
    raw: RawGroups,
    lives: PhantomData<&'a [u8]>,
}

impl<'a> Groups<'a> {
    /// # Safety
    /// The engine passed `raw`, and what it leads to lives for 'a.
    pub unsafe fn of(raw: *const RawGroups) -> Groups<'a> {
        // SAFETY: as the caller promises.
        Groups { raw: unsafe { read(raw) }, lives: PhantomData }
    }

    /// Values of one group without its key, from columns of a caller: `values` and `keys` are offsets and lengths in
    /// `data`; without keys their columns are empty, and with numbers the columns of values are.
    pub fn values_of(data: &'a [u8], values: [&'a [u32]; 2], numbers: &'a [u64], keys: [&'a [u32]; 2]) -> Groups<'a> {
        for [offsets, lengths] in [values, keys] {
            let inside = |(&at, &n): (&u32, &u32)| at as usize + n as usize <= data.len();
            assert!(offsets.len() == lengths.len() && offsets.iter().zip(lengths).all(inside));
        }
        let n = values[0].len().max(numbers.len());
        assert!((numbers.is_empty() || values[0].is_empty()) && (keys[0].is_empty() || keys[0].len() == n));
        let column = |items: &'a [u32]| if items.is_empty() { std::ptr::null() } else { items.as_ptr() };
        let none = std::ptr::null();
        Groups {
            raw: RawGroups {
                size: size_of::<RawGroups>() as u32,
                n: n as u32,
                base: data.as_ptr(),
                koff: none,
                klen: none,
                first: none,
                voff: column(values[0]),
                vlen: column(values[1]),
                v8: if numbers.is_empty() { std::ptr::null() } else { numbers.as_ptr() },
                flags: 0,
                pad: 0,
                vkoff: column(keys[0]),
                vklen: column(keys[1]),
            },
            lives: PhantomData,
        }
    }

    pub fn len(&self) -> usize {
        self.raw.n as usize
    }
    /// True if the last group goes on in the next batch.
    pub fn is_cut(&self) -> bool {
        self.raw.flags & GROUP_MORE != 0
    }
    /// True if the first group began in the batch before.
    pub fn is_continued(&self) -> bool {
        self.raw.flags & GROUP_CONT != 0
    }
    /// True if the values are numbers of eight bytes.
    pub fn has_numbers(&self) -> bool {
        !self.raw.v8.is_null()
    }
    /// True if each value has its own key.
    pub fn has_value_keys(&self) -> bool {
        !self.raw.vkoff.is_null()
    }

    pub fn key(&self, i: usize) -> &'a [u8] {
        assert!(i < self.len());
        // SAFETY: the ABI: columns of n slices that live for 'a, or null.
        unsafe { item(self.raw.base, self.raw.koff, self.raw.klen, i) }
    }

    /// Numbers of the values of group i.
    pub fn values(&self, i: usize) -> ValueRange<'a> {
        assert!(i < self.len());
        // SAFETY: the ABI: n + 1 ascending numbers.
        let (from, to) = unsafe { (*self.raw.first.add(i), *self.raw.first.add(i + 1)) };
        ValueRange { groups: *self, from: from as usize, to: (to as usize).max(from as usize) }
    }

    /// All values of groups that `values_of` made.
    pub fn all_values(&self) -> ValueRange<'a> {
        assert!(self.raw.first.is_null());
        ValueRange { groups: *self, from: 0, to: self.len() }
    }
}

/// Values of one group: columns that the groups vouch for.
#[derive(Clone, Copy)]
pub struct ValueRange<'a> {
    groups: Groups<'a>,
    from: usize,
    to: usize,
}

impl<'a> ValueRange<'a> {
    pub fn groups(&self) -> &Groups<'a> {
        &self.groups
    }
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.to - self.from
    }

    /// Bytes of value i; those of its number if values are numbers.
    #[inline(always)]
    pub fn bytes(&self, i: usize) -> &'a [u8] {
        assert!(i < self.len());
        let raw = &self.groups.raw;
        // SAFETY: the range is one of the groups' own, whose columns have an item for each of its values.
        unsafe {
            if raw.v8.is_null() {
                item(raw.base, raw.voff, raw.vlen, self.from + i)
            } else {
                slice(raw.v8.add(self.from + i).cast(), 8)
            }
        }
    }

    /// Key of value i; empty if the keys of a group are all equal.
    pub fn key(&self, i: usize) -> &'a [u8] {
        assert!(i < self.len());
        let raw = &self.groups.raw;
        // SAFETY: as in `bytes`.
        unsafe { item(raw.base, raw.vkoff, raw.vklen, self.from + i) }
    }
}

/// Returns a chunk of a file: bytes, flags for its first and last bytes, limit, position, file, bytes before the cut.
///
/// # Safety
/// The engine passed `raw`, and what it leads to lives for 'a.
pub unsafe fn chunk<'a>(raw: *const RawChunk) -> (&'a [u8], bool, bool, [u64; 2], [u32; 2]) {
    // SAFETY: as the caller promises.
    let (raw, bytes) = unsafe {
        let raw = read(raw);
        (raw, slice(raw.base, raw.bytes as usize))
    };
    let (first, last) = (raw.flags & CHUNK_FIRST != 0, raw.flags & CHUNK_LAST != 0);
    (bytes, first, last, [raw.limit, raw.position], [raw.file_index, raw.before])
}

#[cfg(test)]
mod tests;
