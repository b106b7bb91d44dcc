//! The only floor that knows the Java VM: one file a Java class. One of the listed files with `unsafe`, with those beside it: a
//! handle comes back from Java as a number.
//!
//! Errors become exceptions here: an engine error an IOException of one line, a panic a RuntimeException. An exception that Java
//! code threw in a call of ours stays as it is.

mod combine_feed;
mod failure;
mod native_map_output;

use std::sync::Mutex;

use self::failure::{Failure, Result};

/// What a handle of Java's points to.
struct Handle<T> {
    /// None once it is finished.
    value: Mutex<Option<T>>,
}

fn of_java<'a, T>(handle: i64) -> Result<&'a T> {
    // SAFETY: Java holds a handle from `create` until `close`, of which it calls the latter once, and last (see the Java class).
    unsafe { (handle as *const T).as_ref() }.ok_or(Failure::NoHandle)
}

fn bytes_of_java(bytes: &mut [u8]) -> &mut [i8] {
    // SAFETY: u8 and i8 have the same layout, and every bit pattern is valid in both.
    unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), bytes.len()) }
}
