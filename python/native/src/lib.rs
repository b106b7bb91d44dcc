//! Native code of the Python package, for ctypes: a batch at a time, without the interpreter.
//! One of the listed files with `unsafe`: it views memory of the caller as slices.
//!
//! Without this library, the package does the work of the kernels by NumPy, and its tests compare both. Shared tables
//! (`table`) need it.
//!
//! SAFETY of this file: the package passes buffers of NumPy that live during the call, with their own lengths, and
//! writes into buffers that nobody else sees.

mod cut;
mod numbers;
mod slices;
mod table;

use slices::{Columns, Slices};

/// Version of these functions; the package refuses another one.
const VERSION: u32 = 2;

/// Slices of a buffer, as the caller has them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawSlices {
    data: *const u8,
    data_bytes: usize,
    offsets: *const u32,
    /// None for pairs: a length stands behind each offset.
    lengths: Option<std::ptr::NonNull<u32>>,
    count: usize,
}

/// Result of a function that was given slices beyond their buffer.
const BEYOND: i64 = -2;

fn view<'a, T>(first: *const T, count: usize) -> &'a [T] {
    if count == 0 {
        return &[];
    }
    unsafe { std::slice::from_raw_parts(first, count) }
}

fn view_mut<'a, T>(first: *mut T, count: usize) -> &'a mut [T] {
    if count == 0 {
        return &mut [];
    }
    unsafe { std::slice::from_raw_parts_mut(first, count) }
}

impl RawSlices {
    fn columns<'a>(&self) -> Columns<'a> {
        match self.lengths {
            Some(lengths) => Columns::Apart(view(self.offsets, self.count), view(lengths.as_ptr(), self.count)),
            None => Columns::Pairs(view(self.offsets, 2 * self.count)),
        }
    }

    fn slices<'a>(&self) -> Option<Slices<'a>> {
        Slices::new(view(self.data, self.data_bytes), self.columns())
    }

    fn with(&self, run: impl FnOnce(&Slices<'_>) -> Result<(), usize>) -> i64 {
        match self.slices().map(|slices| run(&slices)) {
            None => BEYOND,
            Some(Ok(())) => -1,
            Some(Err(number)) => number as i64,
        }
    }
}

/// Returns the version of these functions.
#[unsafe(no_mangle)]
pub extern "C" fn yunti_python_version() -> u32 {
    VERSION
}

/// Writes the words of a text as pairs of offset and length, `room` pairs at most. Returns the number of all.
#[unsafe(no_mangle)]
pub extern "C" fn yunti_python_words(data: *const u8, bytes: usize, to: *mut u32, room: usize) -> usize {
    cut::words(view(data, bytes), view_mut(to, 2 * room))
}

/// `yunti_python_words` for lines.
#[unsafe(no_mangle)]
pub extern "C" fn yunti_python_lines(data: *const u8, bytes: usize, to: *mut u32, room: usize) -> usize {
    cut::lines(view(data, bytes), view_mut(to, 2 * room))
}

/// Writes a field of each slice as pairs. Returns -1.
#[unsafe(no_mangle)]
pub extern "C" fn yunti_python_fields(slices: &RawSlices, number: usize, separator: u8, to: *mut u32) -> i64 {
    slices.with(|s| {
        cut::fields(s, number, separator, view_mut(to, 2 * s.len()));
        Ok(())
    })
}

/// Writes the slices as whole numbers. Returns -1, or the first slice that is none.
#[unsafe(no_mangle)]
pub extern "C" fn yunti_python_to_i64(slices: &RawSlices, to: *mut i64) -> i64 {
    slices.with(|s| numbers::to_i64(s, view_mut(to, s.len())))
}

/// Writes the slices as floating-point numbers. Returns -1, or the first slice that is none.
#[unsafe(no_mangle)]
pub extern "C" fn yunti_python_to_f64(slices: &RawSlices, to: *mut f64) -> i64 {
    slices.with(|s| numbers::to_f64(s, view_mut(to, s.len())))
}

/// Writes offset, length and value of each slice, 16 bytes a record. The buffer of the slices is not read.
#[unsafe(no_mangle)]
pub extern "C" fn yunti_python_triples(slices: &RawSlices, values: *const u64, to: *mut u64) {
    let columns = slices.columns();
    numbers::triples(columns, view(values, columns.len()), view_mut(to, 2 * columns.len()));
}

/// Copies the slices, one behind the other, into `bytes` bytes. Returns -1, or the bytes of all if they differ.
#[unsafe(no_mangle)]
pub extern "C" fn yunti_python_gather(slices: &RawSlices, to: *mut u8, bytes: usize) -> i64 {
    slices.with(|s| match numbers::gather(s, view_mut(to, bytes)) {
        all if all == bytes => Ok(()),
        all => Err(all),
    })
}
