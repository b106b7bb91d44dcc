//! Output cursor: records and bytes are appended to a block of the engine.
//! One of the listed files with `unsafe`: it writes into the engine's block.
//!
//! ```text
//!   COPY  | klen u32 | vlen u32 | key | value | pad to 8 |     a record of its own
//!   ONE   | koff u32 | klen u32 |                              a slice of the input batch, value 1
//!   REF   | koff u32 | klen u32 | value u64 |                  a slice of the input batch
//! ```

use std::marker::PhantomData;

use crate::error::{Error, Result, fail};
use crate::layout::{BIG_BYTES, OK, RawOut, RawStr};

/// Bytes of key and value that a record has at most.
const RECORD_BYTES_MAX: usize = 0x7fff_ffff;
/// Bytes that are copied at a time; the slack of both sides is larger.
const STEP: usize = 16;

/// The cursor of one call, held in registers: `commit` returns it to the engine.
pub struct Cursor<'a> {
    raw: *mut RawOut,
    cur: *mut u8,
    end: *mut u8,
    ref_base: *const u8,
    /// Bytes with slack behind them: slices of it are copied in steps, and may be references.
    input: *const u8,
    input_bytes: usize,
    lives: PhantomData<&'a mut RawOut>,
}

impl<'a> Cursor<'a> {
    /// # Safety
    /// `raw` is a cursor of the engine that nothing else uses for 'a.
    pub unsafe fn of(raw: *mut RawOut) -> Cursor<'a> {
        // SAFETY: as the caller promises.
        let (cur, end, ref_base) = unsafe { ((*raw).cur, (*raw).end, (*raw).ref_base) };
        Cursor { raw, cur, end, ref_base, input: std::ptr::null(), input_bytes: 0, lives: PhantomData }
    }

    /// Declares bytes with slack behind them.
    ///
    /// # Safety
    /// The bytes are of a buffer of the engine: 64 bytes behind their end are readable. They live for 'a.
    pub unsafe fn set_input(&mut self, input: &[u8]) {
        (self.input, self.input_bytes) = (input.as_ptr(), input.len());
    }

    /// Returns the cursor to the engine. Without it, what was emitted since the last full block is lost.
    pub fn commit(&mut self) {
        // SAFETY: the cursor is this value's alone (`of`).
        unsafe { (*self.raw).cur = self.cur }
    }

    #[inline(always)]
    fn room(&self) -> usize {
        self.end.addr() - self.cur.addr()
    }

    #[inline(always)]
    fn holds(&self, bytes: &[u8]) -> bool {
        let at = bytes.as_ptr().addr().wrapping_sub(self.input.addr());
        at <= self.input_bytes && bytes.len() <= self.input_bytes - at
    }

    #[cold]
    #[inline(never)]
    fn next_block(&mut self, need: usize) -> Result<()> {
        self.commit();
        // SAFETY: the ABI: a block of this cursor is full; need is at most 64 KiB.
        let status = unsafe { ((*self.raw).full)(self.raw, need as u64) };
        self.take(status)?;
        if self.room() < need {
            return fail("the engine gave a block that is too small: use a library and an engine of one version");
        }
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn big(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        if key.len() > RECORD_BYTES_MAX || value.len() > RECORD_BYTES_MAX - key.len() {
            return fail(format!(
                "a record of {} + {} bytes was emitted; key and value together have at most {RECORD_BYTES_MAX}: emit \
                 smaller records",
                key.len(),
                value.len()
            ));
        }
        self.commit();
        // SAFETY: the ABI: the engine copies key and value.
        let status = unsafe { ((*self.raw).big)(self.raw, RawStr::of(key), RawStr::of(value)) };
        self.take(status)
    }

    fn take(&mut self, status: i32) -> Result<()> {
        if status != OK {
            return Err(Error::stopped(status));
        }
        // SAFETY: the cursor is this value's alone (`of`).
        (self.cur, self.end) = unsafe { ((*self.raw).cur, (*self.raw).end) };
        Ok(())
    }

    /// Copies bytes to `at` bytes behind the cursor. `is_number`: the bytes have a length that the compiler knows.
    ///
    /// # Safety
    /// The room holds at + bytes.len() bytes.
    #[inline(always)]
    unsafe fn write(&self, at: usize, bytes: &[u8], is_number: bool) {
        // SAFETY: as the caller promises; slices of the input have slack behind them, and so has the block.
        unsafe {
            let to = self.cur.add(at);
            if is_number || !self.holds(bytes) {
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len());
                return;
            }
            let mut i = 0;
            loop {
                std::ptr::copy_nonoverlapping(bytes.as_ptr().add(i), to.add(i), STEP);
                i += STEP;
                if i >= bytes.len() {
                    return;
                }
            }
        }
    }

    /// Appends a record in form COPY. Fails for a record of more than 2 GiB, and if the engine stops the task.
    #[inline(always)]
    pub fn copy(&mut self, key: &[u8], value: &[u8], key_is_number: bool, value_is_number: bool) -> Result<()> {
        let Some(need) = key.len().checked_add(value.len()).and_then(|n| n.checked_add(15)) else {
            return self.big(key, value);
        };
        let need = need & !7;
        if need > self.room() {
            if need > BIG_BYTES {
                return self.big(key, value);
            }
            self.next_block(need)?;
        }
        // SAFETY: the room holds `need` bytes, in which header, key and value fit.
        unsafe {
            self.cur.cast::<u64>().write_unaligned(key.len() as u64 | (value.len() as u64) << 32);
            self.write(8, key, key_is_number);
            self.write(8 + key.len(), value, value_is_number);
            self.cur = self.cur.add(need);
        }
        Ok(())
    }

    /// Appends a record whose key is a slice of the input batch: in form REF with a value, in form ONE without. Fails
    /// for another key.
    #[inline(always)]
    pub fn refer(&mut self, key: &[u8], value: Option<u64>) -> Result<()> {
        let at = if self.holds(key) {
            key.as_ptr().addr().wrapping_sub(self.ref_base.addr()) as u32
        } else if key.is_empty() {
            0
        } else {
            return not_a_slice();
        };
        let need = if value.is_some() { 16 } else { 8 };
        if self.room() < need {
            self.next_block(need)?;
        }
        // SAFETY: the room holds `need` bytes.
        unsafe {
            self.cur.cast::<u64>().write_unaligned(u64::from(at) | (key.len() as u64) << 32);
            if let Some(value) = value {
                self.cur.add(8).cast::<u64>().write_unaligned(value);
            }
            self.cur = self.cur.add(need);
        }
        Ok(())
    }

    /// Appends slices of the input batch in form ONE: pairs of start and end, counted from byte `at` of `text`, modulo
    /// 2^32. Fails if a slice is not in the text.
    pub fn refer_all(&mut self, text: &[u8], at: usize, mut edges: &[u32]) -> Result<()> {
        if !self.holds(text) {
            return not_a_slice();
        }
        let from = text.as_ptr().addr().wrapping_sub(self.ref_base.addr()).wrapping_add(at) as u32;
        while !edges.is_empty() {
            if self.room() < 8 {
                self.next_block(8)?;
            }
            let n = (edges.len() / 2).min(self.room() / 8);
            let (now, rest) = edges.split_at(2 * n);
            for (i, edge) in now.chunks_exact(2).enumerate() {
                let (start, len) = (edge[0].wrapping_add(from), edge[1].wrapping_sub(edge[0]));
                // SAFETY: the room holds n entries of 8 bytes.
                unsafe { self.cur.cast::<u64>().add(i).write_unaligned(u64::from(start) | u64::from(len) << 32) };
            }
            // SAFETY: as above.
            self.cur = unsafe { self.cur.add(8 * n) };
            edges = rest;
        }
        Ok(())
    }

    /// Appends bytes in form BYTES.
    #[inline(always)]
    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        if bytes.len() > self.room() {
            if bytes.len() > BIG_BYTES {
                return self.big(bytes, &[]);
            }
            self.next_block(bytes.len())?;
        }
        // SAFETY: the room holds the bytes.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.cur, bytes.len());
            self.cur = self.cur.add(bytes.len());
        }
        Ok(())
    }
}

#[cold]
fn not_a_slice() -> Result<()> {
    fail("a mapper that declares KEYS_ARE_SLICES emitted a key that is no slice of its input: remove the declaration")
}
