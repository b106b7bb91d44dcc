//! The only floor that knows the Java VM: one file a Java class. One of the listed files with `unsafe`, with those beside it: a
//! handle comes back from Java as a number.
//!
//! Errors become exceptions here: an engine error an IOException of one line, a panic a RuntimeException. An exception that Java
//! code threw in a call of ours stays as it is.

mod combine_feed;
mod failure;
mod java_files;
mod native_map_output;
mod native_reduce_input;
mod native_task;

use std::path::PathBuf;

use jni::Env;
use jni::objects::{JObjectArray, JString};
use jni::sys::jint;
use yunti_engine::base::{Code, Error};

use self::failure::{Failure, Result};
use crate::compress::{Codec, CodecKind};
use crate::key::{KeyForm, ValueForm};

fn of_java<'a, T>(handle: i64) -> Result<&'a T> {
    // SAFETY: Java holds a handle from `create` until `close`, of which it calls the latter once, and last (see the Java class).
    unsafe { (handle as *const T).as_ref() }.ok_or(Failure::NoHandle)
}

fn bytes_of_java(bytes: &mut [u8]) -> &mut [i8] {
    // SAFETY: u8 and i8 have the same layout, and every bit pattern is valid in both.
    unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), bytes.len()) }
}

fn java_of_bytes(bytes: &[u8]) -> &[i8] {
    // SAFETY: as above.
    unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len()) }
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

fn paths_of_java(env: &mut Env<'_>, paths: &JObjectArray<'_, JString<'_>>) -> Result<Vec<PathBuf>> {
    (0..paths.len(env)?)
        .map(|i| {
            let path = paths.get_element(env, i)?;
            Ok(PathBuf::from(path.try_to_string(env)?))
        })
        .collect()
}
