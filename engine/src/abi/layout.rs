//! The structs of yunti.h that only this boundary needs, field by field; `operator` has batch, groups and cursor.
//! One of the listed files with `unsafe`: it reads structs whose size another program has set.

use std::ffi::{c_char, c_void};

use crate::operator::Unit;
use crate::operator::cursor::{Out, RawStr};

/// Major version of the C ABI.
pub const ABI_MAJOR: u32 = 0;
/// Minor version of the C ABI.
pub const ABI_MINOR: u32 = 6;

/// YT_PURE: see `Flags::pure`.
pub const FLAG_PURE: u32 = 1;
/// YT_EMITS_REFS: see `Flags::emits_refs`.
pub const FLAG_EMITS_REFS: u32 = 2;
/// YT_EMITS_ONE: see `Flags::emits_one`.
pub const FLAG_EMITS_ONE: u32 = 4;
/// YT_WANTS_SPAN: see `Flags::wants_span`.
pub const FLAG_WANTS_SPAN: u32 = 8;
/// YT_GROUPS: see `Flags::groups`.
pub const FLAG_GROUPS: u32 = 16;

/// Status of a call (yt_status).
pub type Status = i32;
/// YT_DAMAGED: a source found that a file is damaged.
pub const STATUS_DAMAGED: Status = 5;
/// YT_UNSUPPORTED: a source cannot read a file, or has no such column.
pub const STATUS_UNSUPPORTED: Status = 6;

/// yt_context: functions and values of a task that an instance may use.
#[repr(C)]
pub struct Context {
    pub size: u32,
    pub abi_minor: u32,
    pub engine: *mut c_void,
    pub config: unsafe extern "C" fn(*mut c_void, RawStr) -> RawStr,
    pub counter: unsafe extern "C" fn(*mut c_void, RawStr, RawStr) -> *mut u64,
    pub error: unsafe extern "C" fn(*mut c_void, RawStr),
    pub status: unsafe extern "C" fn(*mut c_void, RawStr),
    pub mask_any: unsafe extern "C" fn(*const u8, u64, *const u8, u32, *mut u64),
    pub is_reduce: u32,
    pub task: u32,
    pub partitions: u32,
    pub pad: u32,
    pub edges: unsafe extern "C" fn(*const u8, u64, *const u8, u32, u32, *mut u32, *mut u32) -> u64,
    pub side_file: unsafe extern "C" fn(*mut c_void, RawStr) -> RawStr,
    pub input: unsafe extern "C" fn(*mut c_void, u32) -> RawStr,
    pub output: unsafe extern "C" fn(*mut c_void, RawStr, u32, u32) -> *mut Out,
    pub reserved: [u64; 4],
}

/// Creates an instance.
pub type Create = unsafe extern "C" fn(*const Context, *mut *mut c_void) -> Status;
/// Destroys an instance.
pub type Destroy = unsafe extern "C" fn(*mut c_void);
/// Processes a yt_batch or a yt_groups (`*const c_void`).
pub type Process = unsafe extern "C" fn(*mut c_void, *const c_void, *mut Out) -> Status;
/// Chooses partitions for a yt_batch.
pub type Partition = unsafe extern "C" fn(*mut c_void, *const c_void, u32, *mut u32) -> Status;
/// Orders the keys of a yt_batch (`KeyOrderer::order_keys`).
pub type Arrange = unsafe extern "C" fn(*mut c_void, *const c_void, *mut Out, *mut u32) -> Status;
/// Ends the input, or writes the head or foot of a part.
pub type Flush = unsafe extern "C" fn(*mut c_void, *mut Out) -> Status;

/// yt_folder: shape and functions of a folder class.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FolderTable {
    pub size: u32,
    pub state_size: u32,
    pub known: u32,
    pub exact: u32,
    pub init: Option<unsafe extern "C" fn(*mut c_void, *const *mut u8, u32) -> Status>,
    pub fold: Option<unsafe extern "C" fn(*mut c_void, *const *mut u8, *const RawStr, *const u64, u32) -> Status>,
    pub merge: Option<unsafe extern "C" fn(*mut c_void, *const *mut u8, *const *const u8, u32) -> Status>,
    pub finish: Option<unsafe extern "C" fn(*mut c_void, *const RawStr, *const *const u8, u32, *mut Out) -> Status>,
}

/// yt_chunk: see `operator::Chunk`.
#[repr(C)]
pub struct RawChunk {
    pub size: u32,
    pub flags: u32,
    pub base: *const u8,
    pub bytes: u64,
    pub limit: u64,
    pub position: u64,
    pub file_index: u32,
    pub before: u32,
}

/// The chunk begins the file.
pub const CHUNK_FIRST: u32 = 1;
/// The chunk ends the file.
pub const CHUNK_LAST: u32 = 2;
/// Result of `find` if more bytes are needed.
pub const FIND_MORE: u64 = u64::MAX;

/// yt_reader: functions of a reader class.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ReaderTable {
    pub size: u32,
    pub flags: u32,
    pub look_back: u32,
    pub pad: u32,
    pub find: Option<unsafe extern "C" fn(*mut c_void, *const RawChunk, *mut u64) -> Status>,
    pub read: Option<unsafe extern "C" fn(*mut c_void, *const RawChunk, *mut Out, *mut u64) -> Status>,
}

/// Flag of a writer: see `Flags::whole_part`.
pub const FLAG_WHOLE_PART: u32 = 1;

/// yt_writer: functions of a writer class.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct WriterTable {
    pub size: u32,
    pub flags: u32,
    pub begin: Option<Flush>,
    /// Takes a yt_batch.
    pub write: Option<Process>,
    pub end: Option<Flush>,
    pub extension: *const c_char,
}

/// yt_file: a file that a source reads at any position.
#[repr(C)]
pub struct RawFile {
    pub size: u32,
    pub file_index: u32,
    pub bytes: u64,
    pub name: RawStr,
    pub engine: *mut c_void,
    pub read_at: unsafe extern "C" fn(*mut c_void, u64, *mut u8, u64) -> Status,
    pub hold: unsafe extern "C" fn(*mut c_void, u64) -> Status,
}

/// yt_scan: columns and condition of a job's records.
#[repr(C)]
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

/// The value is not used.
pub const SCAN_NO_VALUE: u32 = 1;
/// Nulls are marked.
pub const SCAN_MARKS_NULLS: u32 = 2;
/// Blocks of columns instead of records.
pub const SCAN_BLOCKS: u32 = 4;
/// Flag of a source: it can give blocks.
pub const FLAG_SOURCE_BLOCKS: u32 = 1;

/// yt_units: takes the units of a file.
#[repr(C)]
pub struct RawUnits {
    pub size: u32,
    pub pad: u32,
    pub engine: *mut c_void,
    pub add: unsafe extern "C" fn(*mut c_void, *const Unit) -> Status,
}

/// yt_source: functions of a source class.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SourceTable {
    pub size: u32,
    pub flags: u32,
    pub plan: Option<unsafe extern "C" fn(*mut c_void, *const RawFile, *const RawScan, *const RawUnits) -> Status>,
    pub open: Option<unsafe extern "C" fn(*mut c_void, *const RawFile, *const RawScan, u64) -> Status>,
    pub next: Option<unsafe extern "C" fn(*mut c_void, *mut Out, *mut u32) -> Status>,
    pub describe: Option<unsafe extern "C" fn(*mut c_void, *const RawFile, *mut Out) -> Status>,
}

/// yt_column: values of some rows.
#[repr(C)]
pub struct RawColumn {
    pub size: u32,
    pub kind: u32,
    pub values: *const c_void,
    pub nulls: *const u8,
    pub bytes: *const u8,
    pub offsets: *const u32,
    pub codes: *const u32,
}

/// yt_result: values that a call returns.
#[repr(C)]
pub struct RawResult {
    pub size: u32,
    pub kind: u32,
    pub values: *mut c_void,
    pub nulls: *mut u8,
    pub engine: *mut c_void,
    pub append: unsafe extern "C" fn(*mut c_void, *const RawStr, u32) -> Status,
}

/// YT_SEES_NULLS: see `Signature::sees_nulls`.
pub const FLAG_SEES_NULLS: u32 = 1;
/// YT_EXACT: an aggregate depends on no order.
pub const FLAG_EXACT: u32 = 2;
/// YT_ARGUMENTS_MAX.
pub const ARGUMENTS_MAX: u32 = 64;

/// yt_function: types and function of a function class.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FunctionTable {
    pub size: u32,
    pub flags: u32,
    pub n_arguments: u32,
    pub result: u32,
    pub arguments: *const u32,
    pub call: Option<unsafe extern "C" fn(*mut c_void, *const RawColumn, u32, *mut RawResult) -> Status>,
}

/// yt_aggregate: types and functions of an aggregate class.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct AggregateTable {
    pub size: u32,
    pub flags: u32,
    pub state_size: u32,
    pub n_arguments: u32,
    pub result: u32,
    pub pad: u32,
    pub arguments: *const u32,
    pub init: Option<unsafe extern "C" fn(*mut c_void, *const *mut u8, u32) -> Status>,
    pub add: Option<unsafe extern "C" fn(*mut c_void, *const *mut u8, *const RawColumn, u32) -> Status>,
    pub merge: Option<unsafe extern "C" fn(*mut c_void, *const *mut u8, *const *const u8, u32) -> Status>,
    pub finish: Option<unsafe extern "C" fn(*mut c_void, *const *const u8, u32, *mut RawResult) -> Status>,
}

/// yt_class: description and functions of a class.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ClassTable {
    pub size: u32,
    pub kind: u32,
    pub name: *const c_char,
    pub flags: u32,
    pub key_type: u32,
    pub value_type: u32,
    pub in_value_type: u32,
    pub create: Option<Create>,
    pub destroy: Option<Destroy>,
    pub map: Option<Process>,
    pub reduce: Option<Process>,
    pub partition: Option<Partition>,
    pub folder: *const FolderTable,
    pub flush: Option<Flush>,
    pub reader: *const ReaderTable,
    pub writer: *const WriterTable,
    pub arrange: Option<Arrange>,
    pub source: *const SourceTable,
    pub function: *const FunctionTable,
    pub aggregate: *const AggregateTable,
}

/// yt_library: the classes of a library.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LibraryTable {
    pub size: u32,
    pub abi_major: u32,
    pub abi_minor: u32,
    pub n: u32,
    pub name: *const c_char,
    pub version: *const c_char,
    pub classes: *const *const ClassTable,
}

/// A struct of plain numbers and pointers, valid as zeros, whose first field is its size.
///
/// # Safety
/// All-zero bytes are a value of the type, and its first four bytes are a `u32` size.
pub unsafe trait Sized32: Copy {}

// SAFETY: repr(C), size first; options of functions and raw pointers are null as zeros.
unsafe impl Sized32 for FolderTable {}
// SAFETY: as above.
unsafe impl Sized32 for ReaderTable {}
// SAFETY: as above.
unsafe impl Sized32 for WriterTable {}
// SAFETY: as above.
unsafe impl Sized32 for ClassTable {}
// SAFETY: as above.
unsafe impl Sized32 for SourceTable {}
// SAFETY: as above.
unsafe impl Sized32 for FunctionTable {}
// SAFETY: as above.
unsafe impl Sized32 for AggregateTable {}
// SAFETY: as above.
unsafe impl Sized32 for LibraryTable {}

/// Copies a struct of another program as far as both sides know it; missing fields are zero.
///
/// # Safety
/// `from` points to a struct whose first four bytes are the number of its readable bytes.
pub unsafe fn read<T: Sized32>(from: *const T) -> T {
    // SAFETY: as the caller and the trait promise.
    unsafe {
        // A size that ends within a pointer belongs to no version; half a pointer is invalid.
        let size = from.cast::<u32>().read_unaligned() as usize & !(size_of::<*const u8>() - 1);
        let mut to = std::mem::MaybeUninit::<T>::zeroed();
        std::ptr::copy_nonoverlapping(from.cast::<u8>(), to.as_mut_ptr().cast::<u8>(), size.min(size_of::<T>()));
        to.assume_init()
    }
}
