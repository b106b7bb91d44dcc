//! The only floor that knows the Java VM: one file per Java class. One of the listed files with `unsafe`, with some
//! beside it: it views bytes as Java sees them. Java holds native objects as numbers (`handles.rs`).
//!
//! Errors become exceptions here: an engine error an IOException of one line, a panic a RuntimeException. An exception
//! that Java code threw during a native call stays as it is.

mod combine_feed;
mod failure;
mod handles;
mod java_files;
mod java_messages;
mod key_comparator;
mod key_normals;
mod native_map_output;
mod native_reduce_input;
mod native_spare;
mod native_task;

use std::path::PathBuf;

use jni::Env;
use jni::objects::{JByteArray, JObjectArray, JString};
use jni::sys::jint;
use yunti_base::{Code, Error};

use self::failure::Result;
use crate::compress::{Codec, CodecKind};
use crate::key::{KeyForm, ValueForm};
use crate::sorted::TaskSpace;

fn bytes_of_java(bytes: &mut [u8]) -> &mut [i8] {
    // SAFETY: u8 and i8 have the same layout, and every bit pattern is valid in both.
    unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), bytes.len()) }
}

fn java_of_bytes(bytes: &[u8]) -> &[i8] {
    // SAFETY: as above.
    unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len()) }
}

/// Returns the new lines for the task's log, joined; empty if there are none.
fn new_log_lines<'local>(env: &mut Env<'local>, space: &TaskSpace) -> Result<JString<'local>> {
    Ok(env.new_string(space.log.take().join("\n"))?)
}

/// Copies a batch of records to Java and returns its bytes, or the required room as a negative number (see
/// `Frames::next_batch`).
fn hand_over(env: &Env<'_>, batch: std::result::Result<&[u8], usize>, into: &JByteArray<'_>) -> Result<jint> {
    match batch {
        Ok(records) => {
            into.set_region(env, 0, java_of_bytes(records))?;
            Ok(records.len() as jint)
        }
        Err(need) => Ok(-(need as jint)),
    }
}

fn form_of_java(number: jint) -> Result<KeyForm> {
    let form = u8::try_from(number).ok().and_then(KeyForm::from_number);
    form.ok_or_else(|| Error::new(Code::Usage, format!("there is no key form {number}")).into())
}

fn values_of_java(number: jint) -> Result<ValueForm> {
    let form = u8::try_from(number).ok().and_then(ValueForm::from_number);
    form.ok_or_else(|| Error::new(Code::Usage, format!("there is no value form {number}")).into())
}

fn codec_of_java(number: jint, level: jint, buffer_bytes: jint) -> Result<Codec> {
    let kind = u8::try_from(number).ok().and_then(CodecKind::from_number);
    let kind = kind.ok_or_else(|| Error::new(Code::Usage, format!("there is no codec {number}")))?;
    Ok(Codec { kind, level, buffer_bytes: buffer_bytes.max(0) as usize })
}

/// Returns the strings of an array.
fn strings_of_java(env: &mut Env<'_>, strings: &JObjectArray<'_, JString<'_>>) -> Result<Vec<String>> {
    (0..strings.len(env)?)
        .map(|i| {
            let string = strings.get_element(env, i)?;
            let text = string.try_to_string(env)?;
            // An array may be longer than the local references that a native method has room for.
            env.delete_local_ref(string);
            Ok(text)
        })
        .collect()
}

fn paths_of_java(env: &mut Env<'_>, paths: &JObjectArray<'_, JString<'_>>) -> Result<Vec<PathBuf>> {
    Ok(strings_of_java(env, paths)?.into_iter().map(PathBuf::from).collect())
}
