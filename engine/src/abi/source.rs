//! A source of a class library: files, scans and units cross the boundary here.
//! One of the listed files with `unsafe`: it calls functions of class libraries and is called back through a `void *`.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::adapters::Instance;
use super::layout::{RawFile, RawScan, RawUnits, SCAN_BLOCKS, SCAN_MARKS_NULLS, SCAN_NO_VALUE, SourceTable, Status};
use crate::operator::cursor::{Out, RawStr, STATUS_FAIL, STATUS_OK};
use crate::operator::{Scan, Source, SourceFile, Unit};
use yunti_base::{Error, Result};

/// Units of a file, at most: more are no plan but damage.
const UNITS_MAX: usize = 16 << 20;

/// A source of a class library.
pub struct ForeignSource {
    instance: Instance,
    table: SourceTable,
    /// Files that the instance may read until it is destroyed, which happens before they are dropped.
    files: Vec<Lent>,
}

/// A file that the instance has.
struct Lent {
    raw: Box<RawFile>,
    file: Arc<SourceFile>,
}

// SAFETY: the raw file leads to the file beside it, which may be used from any thread.
unsafe impl Send for Lent {}
// SAFETY: the table is constant data of a library that is never closed; the rest is Send.
unsafe impl Send for ForeignSource {}

impl ForeignSource {
    /// Returns the source of an instance.
    pub fn new(instance: Instance, table: SourceTable) -> ForeignSource {
        ForeignSource { instance, table, files: Vec::new() }
    }

    /// Returns the address of a file for the instance.
    fn lend(&mut self, file: &Arc<SourceFile>) -> *const RawFile {
        if let Some(lent) = self.files.iter().find(|lent| Arc::ptr_eq(&lent.file, file)) {
            return &*lent.raw;
        }
        let raw = Box::new(RawFile {
            size: size_of::<RawFile>() as u32,
            file_index: file.index(),
            bytes: file.len(),
            name: RawStr::of(file.path().as_bytes()),
            engine: Arc::as_ptr(file).cast_mut().cast(),
            read_at,
            hold,
        });
        let address: *const RawFile = &*raw;
        self.files.push(Lent { raw, file: file.clone() });
        address
    }

    /// Returns the error of a call: a failed read or grant comes before what the class says of it.
    fn check(&mut self, status: Status) -> Result<()> {
        let failed = self.files.iter().find_map(|lent| lent.file.take_failure());
        match (self.instance.check(status), failed) {
            (Ok(()), _) => Ok(()),
            (Err(_), Some(cause)) => Err(cause),
            (Err(said), None) => Err(said),
        }
    }
}

fn named(error: Error, file: &SourceFile) -> Error {
    if error.path().is_some() { error } else { error.at_path(file.path()) }
}

/// Columns of a scan for one call.
struct Columns {
    key: Vec<RawStr>,
    value: Vec<RawStr>,
}

impl Columns {
    fn of(scan: &Scan) -> Columns {
        let raw = |names: &[String]| names.iter().map(|name| RawStr::of(name.as_bytes())).collect();
        Columns { key: raw(&scan.key), value: raw(&scan.value) }
    }

    fn scan(&self, scan: &Scan) -> RawScan {
        RawScan {
            size: size_of::<RawScan>() as u32,
            flags: [(scan.no_value, SCAN_NO_VALUE), (scan.marks_nulls, SCAN_MARKS_NULLS), (scan.blocks, SCAN_BLOCKS)]
                .into_iter()
                .fold(0, |flags, (is_set, flag)| if is_set { flags | flag } else { flags }),
            key: self.key.as_ptr(),
            value: self.value.as_ptr(),
            n_key: self.key.len() as u32,
            n_value: self.value.len() as u32,
            condition: RawStr::of(scan.condition.as_bytes()),
            from: scan.from,
            to: scan.to,
        }
    }
}

impl Source for ForeignSource {
    fn plan(&mut self, file: &Arc<SourceFile>, scan: &Scan) -> Result<Vec<Unit>> {
        let Some(plan) = self.table.plan else { return Err(self.instance.lacks("plan")) };
        let (raw, columns) = (self.lend(file), Columns::of(scan));
        let mut found: Vec<Unit> = Vec::new();
        let units = RawUnits {
            size: size_of::<RawUnits>() as u32,
            pad: 0,
            engine: std::ptr::from_mut(&mut found).cast(),
            add: add_unit,
        };
        // SAFETY: the ABI; the arguments live for the call, and the file until the instance is destroyed.
        let status = unsafe { plan(self.instance.this, raw, &columns.scan(scan), &units) };
        self.check(status).map_err(|e| named(e, file))?;
        Ok(found)
    }

    fn open(&mut self, file: &Arc<SourceFile>, scan: &Scan, unit: u64) -> Result<()> {
        let Some(open) = self.table.open else { return Err(self.instance.lacks("open")) };
        let (raw, columns) = (self.lend(file), Columns::of(scan));
        // SAFETY: as in `plan`.
        let status = unsafe { open(self.instance.this, raw, &columns.scan(scan), unit) };
        self.check(status).map_err(|e| named(e, file))
    }

    fn next(&mut self, out: &mut Out) -> Result<bool> {
        let Some(next) = self.table.next else { return Err(self.instance.lacks("next")) };
        let mut more = 0;
        // SAFETY: the ABI; `out` is a live cursor in form COPY.
        let status = unsafe { next(self.instance.this, out, &mut more) };
        self.check(status)?;
        Ok(more != 0)
    }

    fn describe(&mut self, file: &Arc<SourceFile>, out: &mut Out) -> Result<()> {
        let Some(describe) = self.table.describe else { return Err(self.instance.lacks("describe")) };
        let raw = self.lend(file);
        // SAFETY: the ABI; `out` is a live cursor in form BYTES.
        let status = unsafe { describe(self.instance.this, raw, out) };
        self.check(status).map_err(|e| named(e, file))
    }
}

unsafe extern "C" fn add_unit(engine: *mut c_void, unit: *const Unit) -> Status {
    // SAFETY: `plan` passed the vector, which only this call uses; the ABI: `unit` is readable.
    let (found, unit) = unsafe { (&mut *engine.cast::<Vec<Unit>>(), unit.read_unaligned()) };
    if found.len() >= UNITS_MAX {
        return STATUS_FAIL;
    }
    found.push(unit);
    STATUS_OK
}

/// Calls `call` with the file behind `engine`, and returns a status for the class.
///
/// # Safety
/// `lend` made the pointer, and the file lives.
unsafe fn with_file(engine: *mut c_void, call: impl FnOnce(&SourceFile) -> Result<()>) -> Status {
    // SAFETY: as the caller promises; the file may be used from any thread.
    let file = unsafe { &*engine.cast::<SourceFile>().cast_const() };
    match catch_unwind(AssertUnwindSafe(|| call(file))) {
        Ok(Ok(())) => STATUS_OK,
        _ => STATUS_FAIL,
    }
}

unsafe extern "C" fn read_at(engine: *mut c_void, offset: u64, to: *mut u8, n: u64) -> Status {
    if n == 0 {
        return STATUS_OK;
    }
    // SAFETY: the ABI: n writable bytes at `to`, and the engine of a file.
    unsafe { with_file(engine, |file| file.read_at(std::slice::from_raw_parts_mut(to, n as usize), offset)) }
}

unsafe extern "C" fn hold(engine: *mut c_void, bytes: u64) -> Status {
    // SAFETY: the ABI: the engine of a file.
    unsafe { with_file(engine, |file| file.hold(bytes)) }
}
