//! The append cursor that operators emit into (yt_out of the C ABI), and the sink behind it.
//! One of the listed files with `unsafe`: user code moves raw pointers, and a callback returns through a `void *`.
//!
//! ```text
//!   COPY  | klen u32 | vlen u32 | key | value | pad to 8 |     a record of its own
//!   ONE   | koff u32 | klen u32 |                              a slice of the input batch, value 1
//!   REF   | koff u32 | klen u32 | value u64 |                  a slice of the input batch
//!   BYTES | .. |                                               no records: the output of a writer
//! ```

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::memory::buffer::SLACK_BYTES;
use yunti_base::{Code, Error, Result};

/// Bytes of a record or request that fits in a block, at most (YT_BIG_BYTES). Larger records go through the ABI's
/// `big`.
pub const LARGE_BYTES: usize = 64 << 10;
/// Bytes before the key in form COPY.
pub const HEADER_BYTES: usize = 8;
/// Bytes of one record's key and value together, at most.
pub const RECORD_BYTES_MAX: usize = (1 << 31) - 1;

/// Status of success (YT_OK).
pub const STATUS_OK: i32 = 0;
/// Status of a failure (YT_FAIL).
pub const STATUS_FAIL: i32 = 1;
/// Status of a cancelled job (YT_STOP).
pub const STATUS_STOP: i32 = 3;
/// Status of a failed allocation (YT_NOMEM).
pub const STATUS_NOMEM: i32 = 4;

/// Form of emitted records, with its number in the C ABI; see the drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Form {
    Copy = 1,
    One = 2,
    Ref = 3,
    Bytes = 4,
}

impl Form {
    /// Returns the form with this number in the C ABI; COPY for any other number.
    pub fn from_abi(number: u32) -> Form {
        match number {
            2 => Form::One,
            3 => Form::Ref,
            4 => Form::Bytes,
            _ => Form::Copy,
        }
    }

    /// Returns the bytes of an entry, for the forms ONE and REF.
    pub fn entry_bytes(self) -> usize {
        if self == Form::One { 8 } else { 16 }
    }
}

/// A byte string of the C ABI (yt_str).
#[repr(C)]
pub struct RawStr {
    /// Address of the first byte; may be null if `n` is 0.
    pub p: *const u8,
    /// Length in bytes.
    pub n: u64,
}

impl RawStr {
    /// Returns the slice as a byte string. The caller keeps the slice alive.
    pub fn of(bytes: &[u8]) -> RawStr {
        RawStr { p: bytes.as_ptr(), n: bytes.len() as u64 }
    }

    /// Returns the bytes; empty if `p` is null.
    ///
    /// # Safety
    /// `p` points to `n` bytes that live and are not written for 'a, or is null.
    pub unsafe fn bytes<'a>(&self) -> &'a [u8] {
        if self.p.is_null() {
            return &[];
        }
        // SAFETY: as the caller promises.
        unsafe { std::slice::from_raw_parts(self.p, self.n as usize) }
    }
}

/// The append cursor of one operator, in the layout of yt_out.
#[repr(C)]
pub struct Out {
    size: u32,
    form: u32,
    cur: *mut u8,
    end: *mut u8,
    ref_base: *const u8,
    full: unsafe extern "C" fn(*mut Out, u64) -> i32,
    big: unsafe extern "C" fn(*mut Out, RawStr, RawStr) -> i32,
    engine: *mut c_void,
    reserved: [u64; 4],
}

/// A status other than YT_OK from the sink. The emitter keeps the reason; the operator returns at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StopStatus(pub i32);

impl From<StopStatus> for Error {
    /// Returns a placeholder that the driver replaces by the sink's own error, which `Emitter::run` keeps.
    fn from(_: StopStatus) -> Error {
        Error::new(Code::Cancelled, "the task was stopped")
    }
}

impl Out {
    /// Returns the form of records in this cursor.
    pub fn form(&self) -> Form {
        Form::from_abi(self.form)
    }

    #[inline]
    fn room(&mut self, need: usize) -> std::result::Result<(), StopStatus> {
        if (self.end as usize) - (self.cur as usize) < need {
            // SAFETY: `full` and `engine` were set together by the Emitter that owns this cursor.
            let status = unsafe { (self.full)(self, need as u64) };
            if status != STATUS_OK {
                return Err(StopStatus(status));
            }
        }
        Ok(())
    }

    /// Emits a record by copy, in form COPY. Fails if the sink fails; the operator then returns.
    #[inline]
    pub fn emit(&mut self, key: &[u8], value: &[u8]) -> std::result::Result<(), StopStatus> {
        debug_assert!(self.form() == Form::Copy);
        let need = HEADER_BYTES + key.len() + value.len();
        if need > LARGE_BYTES - 8 {
            return self.emit_large(key, value);
        }
        self.room(need + 8)?;
        // SAFETY: `room` left need + 8 bytes, which the padding to 8 cannot exceed; the block is this cursor's alone.
        unsafe {
            let p = self.cur;
            p.cast::<[u32; 2]>().write_unaligned([key.len() as u32, value.len() as u32]);
            std::ptr::copy_nonoverlapping(key.as_ptr(), p.add(HEADER_BYTES), key.len());
            std::ptr::copy_nonoverlapping(value.as_ptr(), p.add(HEADER_BYTES + key.len()), value.len());
            self.cur = p.add(need.next_multiple_of(8));
        }
        Ok(())
    }

    /// Emits a record whose key and value are adjacent: `record[..key_len]` and the rest. Fails as `emit` does.
    #[inline]
    pub fn emit_adjacent(&mut self, record: &[u8], key_len: usize) -> std::result::Result<(), StopStatus> {
        debug_assert!(self.form() == Form::Copy && key_len <= record.len());
        let need = HEADER_BYTES + record.len();
        if need > LARGE_BYTES - 8 {
            let (key, value) = record.split_at(key_len);
            return self.emit_large(key, value);
        }
        self.room(need + 8)?;
        // SAFETY: as in `emit`.
        unsafe {
            let p = self.cur;
            p.cast::<[u32; 2]>().write_unaligned([key_len as u32, (record.len() - key_len) as u32]);
            std::ptr::copy_nonoverlapping(record.as_ptr(), p.add(HEADER_BYTES), record.len());
            self.cur = p.add(need.next_multiple_of(8));
        }
        Ok(())
    }

    /// Emits a slice of the batch, with the value 1 (form ONE) or `value` (form REF). Fails as `emit` does.
    #[inline]
    pub fn emit_ref(&mut self, koff: u32, klen: u32, value: u64) -> std::result::Result<(), StopStatus> {
        self.room(16)?;
        // SAFETY: `room` left 16 bytes in a block that is this cursor's alone.
        unsafe {
            self.cur.cast::<[u32; 2]>().write_unaligned([koff, klen]);
            if self.form == Form::Ref as u32 {
                self.cur.add(8).cast::<u64>().write_unaligned(value);
                self.cur = self.cur.add(16);
            } else {
                debug_assert!(self.form() == Form::One && value == 1);
                self.cur = self.cur.add(8);
            }
        }
        Ok(())
    }

    /// Emits slices of the batch, each with the value 1 (forms ONE and REF). `edges` are start, end, start, end ..
    /// Fails as `emit` does.
    #[inline]
    pub fn emit_spans(&mut self, edges: &[u32]) -> std::result::Result<(), StopStatus> {
        if self.form() != Form::One {
            for span in edges.chunks_exact(2) {
                self.emit_ref(span[0], span[1] - span[0], 1)?;
            }
            return Ok(());
        }
        let mut rest = edges;
        while rest.len() >= 2 {
            self.room(8)?;
            let room = ((self.end as usize) - (self.cur as usize)) / 8;
            let (now, later) = rest.split_at((room * 2).min(rest.len() & !1));
            // SAFETY: the block has room for `now.len() / 2` entries of eight bytes, and is this cursor's alone.
            let to = unsafe { std::slice::from_raw_parts_mut(self.cur.cast::<[u8; 8]>(), now.len() / 2) };
            for (entry, span) in to.iter_mut().zip(now.chunks_exact(2)) {
                let both = u64::from(span[0]) | u64::from(span[1]) << 32;
                *entry = both.wrapping_sub(both << 32).to_le_bytes();
            }
            self.cur = self.cur.wrapping_add(now.len() * 4);
            rest = later;
        }
        Ok(())
    }

    /// Appends whole records in form COPY, or bytes in form BYTES: at most `LARGE_BYTES`, which the caller has checked.
    /// Fails as `emit` does.
    pub fn append_checked(&mut self, block: &[u8]) -> std::result::Result<(), StopStatus> {
        debug_assert!(block.len() <= LARGE_BYTES);
        self.room(block.len())?;
        // SAFETY: `room` left as many bytes in a block that is this cursor's alone.
        unsafe {
            std::ptr::copy_nonoverlapping(block.as_ptr(), self.cur, block.len());
            self.cur = self.cur.add(block.len());
        }
        Ok(())
    }

    /// Appends `len` bytes of entries of the forms ONE and REF. `fill` writes them, each time as many as its buffer
    /// takes, and checks that they name bytes of the batch. Fails as `emit` does, and with the error of `fill`.
    pub fn append_entries(&mut self, len: usize, mut fill: impl FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        let unit = self.form().entry_bytes();
        let mut left = len;
        while left > 0 {
            // A block for references may be smaller than one for records.
            self.room(unit)?;
            let room = (self.end as usize) - (self.cur as usize);
            let n = (room - room % unit).min(left);
            // SAFETY: `room` left as many bytes in a block that is this cursor's alone.
            let to = unsafe { std::slice::from_raw_parts_mut(self.cur, n) };
            fill(to)?;
            // SAFETY: as above.
            self.cur = unsafe { self.cur.add(n) };
            left -= n;
        }
        Ok(())
    }

    /// Appends entries of the forms ONE and REF that the caller has checked. Fails as `emit` does.
    pub fn append_checked_entries(&mut self, entries: &[u8]) -> Result<()> {
        let mut rest = entries;
        self.append_entries(entries.len(), |to| {
            let (now, later) = rest.split_at(to.len());
            to.copy_from_slice(now);
            rest = later;
            Ok(())
        })
    }

    /// Appends bytes of the output, in form BYTES. Fails as `emit` does.
    pub fn append(&mut self, bytes: &[u8]) -> std::result::Result<(), StopStatus> {
        debug_assert!(self.form() == Form::Bytes);
        if bytes.len() > LARGE_BYTES {
            return self.emit_large(bytes, &[]);
        }
        self.append_checked(bytes)
    }

    #[cold]
    fn emit_large(&mut self, key: &[u8], value: &[u8]) -> std::result::Result<(), StopStatus> {
        // SAFETY: `big` and `engine` were set together by the Emitter that owns this cursor; the slices outlive the
        // call.
        let status = unsafe { (self.big)(self, RawStr::of(key), RawStr::of(value)) };
        if status == STATUS_OK { Ok(()) } else { Err(StopStatus(status)) }
    }
}

/// The sink behind a cursor: it takes filled blocks and gives room.
///
/// Call order: `begin` once, which gives the first block. Then `filled` any number of times, each with the bytes
/// appended since the block was given. `large` may come in between; appended bytes are passed to `filled` first.
pub trait Sink: Send {
    /// Returns the form that this sink wants, from an operator with the abilities `refs` and `one`.
    fn form(&self, _refs: bool, _one: bool) -> Form {
        Form::Copy
    }

    /// Returns the block to fill: its first byte, and its length without the slack.
    fn begin(&mut self) -> Result<(*mut u8, usize)>;

    /// Takes `len` bytes at the start of the last block. Returns the next block to fill, with room for at least `need`
    /// bytes. `data` is the batch that references point into (empty in form COPY).
    fn filled(&mut self, len: usize, need: usize, data: &[u8]) -> Result<(*mut u8, usize)>;

    /// Takes a record that does not fit in a block. Returns the next block to fill.
    fn large(&mut self, key: &[u8], value: &[u8]) -> Result<(*mut u8, usize)>;
}

struct Behind<S> {
    sink: S,
    start: *mut u8,
    error: Option<Error>,
    /// Batch being mapped, for the forms with references.
    data: (*const u8, usize),
}

impl<S: Sink + ?Sized> Sink for Box<S> {
    fn form(&self, refs: bool, one: bool) -> Form {
        (**self).form(refs, one)
    }
    fn begin(&mut self) -> Result<(*mut u8, usize)> {
        (**self).begin()
    }
    fn filled(&mut self, len: usize, need: usize, data: &[u8]) -> Result<(*mut u8, usize)> {
        (**self).filled(len, need, data)
    }
    fn large(&mut self, key: &[u8], value: &[u8]) -> Result<(*mut u8, usize)> {
        (**self).large(key, value)
    }
}

/// A cursor and its sink; an operator's call gets the cursor.
pub struct Emitter<S: Sink> {
    out: Out,
    behind: Box<Behind<S>>,
}

// SAFETY: the pointers lead into memory that the sink owns, and the sink is Send; one thread uses an Emitter at a time.
unsafe impl<S: Sink> Send for Emitter<S> {}

impl<S: Sink> Emitter<S> {
    /// Returns a cursor into `sink`. `refs` and `one` are the operator's abilities beyond COPY. Fails with the error of
    /// `Sink::begin`.
    pub fn new(mut sink: S, refs: bool, one: bool) -> Result<Self> {
        let form = sink.form(refs, one);
        let (start, room) = sink.begin()?;
        let behind = Box::new(Behind { sink, start, error: None, data: (std::ptr::null(), 0) });
        let out = Out {
            size: size_of::<Out>() as u32,
            form: form as u32,
            cur: start,
            end: start.wrapping_add(room),
            ref_base: std::ptr::null(),
            full: full::<S>,
            big: big::<S>,
            engine: std::ptr::null_mut(),
            reserved: [0; 4],
        };
        Ok(Emitter { out, behind })
    }

    /// Returns the sink.
    pub fn sink(&self) -> &S {
        &self.behind.sink
    }
    /// Returns the sink.
    pub fn sink_mut(&mut self) -> &mut S {
        &mut self.behind.sink
    }

    /// Runs an operator's call. `data` is the batch that its references point into. A sink's error takes precedence
    /// over the operator's.
    pub fn run(&mut self, data: &[u8], call: impl FnOnce(&mut Out) -> Result<()>) -> Result<()> {
        let result = self.call(data, call)?;
        if self.out.form() != Form::Copy {
            // References do not outlive their batch, even if the call failed and is tried again.
            self.hand_over()?;
        }
        result?;
        self.behind.data = (std::ptr::null(), 0);
        Ok(())
    }

    /// Makes an operator's call and returns its result. Fails with the error of the sink.
    fn call(&mut self, data: &[u8], call: impl FnOnce(&mut Out) -> Result<()>) -> Result<Result<()>> {
        self.behind.data = (data.as_ptr(), data.len());
        self.out.ref_base = data.as_ptr();
        self.out.engine = (&raw mut *self.behind).cast();
        let result = call(&mut self.out);
        if let Some(error) = self.behind.error.take() {
            return Err(error);
        }
        Ok(result)
    }

    /// Runs the only call of this emitter. Returns the bytes at the start of the sink's block that the sink has not
    /// been given. Errors as `run`.
    pub fn run_last(&mut self, data: &[u8], call: impl FnOnce(&mut Out) -> Result<()>) -> Result<usize> {
        self.call(data, call)?.map(|()| self.out.cur as usize - self.behind.start as usize)
    }

    /// Returns the cursor for records between calls, as long as this value lives and does not move. `refused` returns
    /// their error.
    pub fn open(&mut self) -> &mut Out {
        self.out.engine = (&raw mut *self.behind).cast();
        &mut self.out
    }

    /// Returns the error of records emitted through the open cursor, if there is one.
    pub fn refused(&mut self) -> Option<Error> {
        self.behind.error.take()
    }

    /// Passes the bytes in the block to the sink. Fails with the sink's error.
    pub fn hand_over(&mut self) -> Result<()> {
        // SAFETY: between calls the cursor is not in use; `data` still names the batch, or nothing.
        let (start, room) = unsafe { self.behind.take(self.out.cur, 0)? };
        self.out.cur = start;
        self.out.end = start.wrapping_add(room);
        Ok(())
    }

    /// Returns the sink; bytes since the last `hand_over` are lost.
    pub fn into_sink(self) -> S {
        self.behind.sink
    }

    /// Passes the rest to the sink and returns it. Fails with the sink's error.
    pub fn finish(mut self) -> Result<S> {
        self.hand_over()?;
        Ok(self.behind.sink)
    }
}

impl<S: Sink> Behind<S> {
    /// # Safety
    /// `cur` points into the last block, and `data` is alive.
    unsafe fn take(&mut self, cur: *mut u8, need: usize) -> Result<(*mut u8, usize)> {
        let len = cur as usize - self.start as usize;
        // SAFETY: as the caller promises.
        let data = unsafe { RawStr { p: self.data.0, n: self.data.1 as u64 }.bytes() };
        let (start, room) = self.sink.filled(len, need, data)?;
        debug_assert!(room >= need);
        self.start = start;
        Ok((start, room))
    }

    fn status(&mut self, result: std::thread::Result<Result<()>>) -> i32 {
        match result {
            Ok(Ok(())) => STATUS_OK,
            Ok(Err(error)) => {
                let stop = error.code() == Code::Cancelled;
                self.error.get_or_insert(error);
                if stop { STATUS_STOP } else { STATUS_FAIL }
            }
            Err(panic) => {
                self.error.get_or_insert(yunti_base::error::of_panic(&*panic));
                STATUS_FAIL
            }
        }
    }
}

unsafe extern "C" fn full<S: Sink>(out: *mut Out, need: u64) -> i32 {
    // SAFETY: `run` set `engine` to the Behind of the Emitter that owns this cursor; no one else uses it during the
    // call.
    unsafe {
        let behind = &mut *(*out).engine.cast::<Behind<S>>();
        if need as usize > LARGE_BYTES {
            behind.error.get_or_insert(Error::new(Code::UserCode, format!("full() requested {need} bytes at once")));
            return STATUS_FAIL;
        }
        let result = catch_unwind(AssertUnwindSafe(|| {
            let (start, room) = behind.take((*out).cur, need as usize)?;
            (*out).cur = start;
            (*out).end = start.wrapping_add(room);
            Ok(())
        }));
        behind.status(result)
    }
}

unsafe extern "C" fn big<S: Sink>(out: *mut Out, key: RawStr, value: RawStr) -> i32 {
    // SAFETY: as in `full`; the strings are the caller's and outlive the call.
    unsafe {
        let behind = &mut *(*out).engine.cast::<Behind<S>>();
        let result = catch_unwind(AssertUnwindSafe(|| {
            let total = key.n.saturating_add(value.n);
            if total > RECORD_BYTES_MAX as u64 {
                return Err(Error::new(Code::UserCode, format!("a record of {total} bytes was emitted"))
                    .hint(format!("key and value together have at most {RECORD_BYTES_MAX} bytes")));
            }
            behind.take((*out).cur, 0)?;
            let (start, room) = behind.sink.large(key.bytes(), value.bytes())?;
            behind.start = start;
            (*out).cur = start;
            (*out).end = start.wrapping_add(room);
            Ok(())
        }));
        behind.status(result)
    }
}

/// Iterates over the records of a block in form COPY: (offset of the record, key length, value length).
pub fn copied(block: &[u8]) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let header = block.get(at..at + HEADER_BYTES)?;
        let klen = u32::from_le_bytes([header[0], header[1], header[2], header[3]]) as usize;
        let vlen = u32::from_le_bytes([header[4], header[5], header[6], header[7]]) as usize;
        let record = at;
        at = (at + HEADER_BYTES + klen + vlen).next_multiple_of(8);
        Some((record, klen, vlen))
    })
}

/// An entry of form REF as it is stored in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct RefEntry {
    /// Offset of the key in the batch.
    pub koff: u32,
    /// Length of the key in bytes.
    pub klen: u32,
    /// Value, eight bytes.
    pub value: u64,
}

/// A reusable block for sinks (all but the collector, which keeps its blocks).
pub struct Scratch {
    buffer: crate::memory::Buffer,
}

impl Scratch {
    /// Bytes of the block: at least twice the largest request.
    pub const BYTES: usize = 128 << 10;

    /// Returns an empty block. Fails with `Code::Memory` if the system cannot map it.
    pub fn new() -> Result<Self> {
        Ok(Scratch { buffer: crate::memory::Buffer::new(Self::BYTES, None)? })
    }

    /// Returns the address and the length of the block, for `Sink::begin` and `Sink::filled`.
    pub fn block(&mut self) -> (*mut u8, usize) {
        (self.buffer.with_slack_mut().as_mut_ptr(), Self::BYTES)
    }

    /// Returns the first `len` bytes.
    pub fn bytes(&self, len: usize) -> &[u8] {
        &self.buffer[..len]
    }

    /// Returns the first `len` bytes as entries of form ONE: offset and length of the key.
    pub fn ones(&self, len: usize) -> &[[u32; 2]] {
        self.view(len)
    }

    /// Returns the first `len` bytes as entries of form REF.
    pub fn refs(&self, len: usize) -> &[RefEntry] {
        self.view(len)
    }

    fn view<T: Entry>(&self, len: usize) -> &[T] {
        let bytes = self.bytes(len);
        // SAFETY: the buffer is page-aligned, and any bytes are a valid Entry.
        unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), len / size_of::<T>()) }
    }
}

/// Destination of a `RecordSink`.
pub trait RecordTarget: Send {
    /// Takes one record. `key` and `value` are valid during the call only.
    fn append(&mut self, key: &[u8], value: &[u8]) -> Result<()>;
}

/// A sink that passes emitted records to its target, one by one.
pub struct RecordSink<T> {
    target: T,
    block: Scratch,
}

impl<T: RecordTarget> RecordSink<T> {
    /// Returns a sink with an empty block in front of `target`. Fails if there is no memory for the block.
    pub fn new(target: T) -> Result<Self> {
        Ok(RecordSink { target, block: Scratch::new()? })
    }

    /// Returns the target.
    pub fn target_mut(&mut self) -> &mut T {
        &mut self.target
    }

    /// Returns the target; records in the block that the emitter has not handed over are lost.
    pub fn into_target(self) -> T {
        self.target
    }
}

impl<T: RecordTarget> Sink for RecordSink<T> {
    fn begin(&mut self) -> Result<(*mut u8, usize)> {
        Ok(self.block.block())
    }

    fn filled(&mut self, len: usize, _: usize, _: &[u8]) -> Result<(*mut u8, usize)> {
        let bytes = self.block.bytes(len);
        for (at, klen, vlen) in copied(bytes) {
            let key = at + HEADER_BYTES;
            self.target.append(&bytes[key..key + klen], &bytes[key + klen..key + klen + vlen])?;
        }
        Ok(self.block.block())
    }

    fn large(&mut self, key: &[u8], value: &[u8]) -> Result<(*mut u8, usize)> {
        self.target.append(key, value)?;
        Ok(self.block.block())
    }
}

/// Plain numbers without padding, aligned to at most 4096.
trait Entry: Copy {}
impl Entry for [u32; 2] {}
impl Entry for RefEntry {}

const _: () = assert!(SLACK_BYTES >= 64);
