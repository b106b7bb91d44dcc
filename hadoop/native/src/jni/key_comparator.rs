//! `org.yunti.hadoop.key.KeyComparator` and `KeyMerge`: the job's comparator, called for many keys at once.

use std::sync::Arc;

use jni::objects::{JByteArray, JIntArray, JObject, JValue};
use jni::refs::Global;
use jni::{Env, JavaVM, jni_sig, jni_str};
use yunti_base::{Code, Error};

use super::java_of_bytes;
use crate::key::KeyBatch;
use crate::sorted::{Comparator, KeyMerge};

/// Local references of one call: two arrays, and what the method returns.
const REFERENCES: usize = 4;

const COMPARATOR: &str = "the comparator";

/// A KeyComparator object.
pub struct JavaComparator(Global<JObject<'static>>);

impl JavaComparator {
    /// Returns the comparator behind a KeyComparator object, or None for null.
    pub fn of(env: &mut Env<'_>, object: &JObject<'_>) -> jni::errors::Result<Option<Arc<dyn Comparator>>> {
        if object.is_null() {
            return Ok(None);
        }
        Ok(Some(Arc::new(JavaComparator(env.new_global_ref(object)?))))
    }
}

/// Runs `act` with local references of its own. An exception stays pending: its thrower keeps it as well.
pub(super) fn call<T>(what: &str, act: impl FnOnce(&mut Env<'_>) -> jni::errors::Result<T>) -> yunti_base::Result<T> {
    let attached = || JavaVM::singleton()?.attach_current_thread(|env| env.with_local_frame(REFERENCES, act));
    attached().map_err(|e: jni::errors::Error| Error::new(Code::UserCode, format!("{what} failed: {e}")))
}

pub(super) fn java_of_keys<'local>(
    env: &mut Env<'local>,
    keys: &KeyBatch,
) -> jni::errors::Result<(JByteArray<'local>, JIntArray<'local>)> {
    let bytes = env.new_byte_array(keys.bytes.len())?;
    bytes.set_region(env, 0, java_of_bytes(&keys.bytes))?;
    let ends = JIntArray::new(env, keys.len())?;
    ends.set_region(env, 0, &keys.ends)?;
    Ok((bytes, ends))
}

fn numbers_of_java(env: &mut Env<'_>, numbers: JObject<'_>) -> jni::errors::Result<Vec<u32>> {
    let array = env.cast_local::<JIntArray>(numbers)?;
    let mut signed = vec![0; array.len(env)?];
    array.get_region(env, 0, &mut signed)?;
    Ok(signed.into_iter().map(|n: i32| n as u32).collect())
}

impl Comparator for JavaComparator {
    fn sort(&self, keys: &KeyBatch) -> yunti_base::Result<Vec<u32>> {
        call(COMPARATOR, |env| {
            let (bytes, ends) = java_of_keys(env, keys)?;
            let arguments = [JValue::Object(&bytes), JValue::Object(&ends)];
            let order = env.call_method(&self.0, jni_str!("sort"), jni_sig!("([B[I)[I"), &arguments)?.l()?;
            numbers_of_java(env, order)
        })
    }

    fn merge(&self, sources: usize) -> yunti_base::Result<Box<dyn KeyMerge>> {
        call(COMPARATOR, |env| {
            let signature = jni_sig!("(I)Lorg/yunti/hadoop/key/KeyMerge;");
            let merge = env.call_method(&self.0, jni_str!("merge"), signature, &[JValue::Int(sources as i32)])?.l()?;
            Ok(Box::new(JavaMerge(env.new_global_ref(&merge)?)) as Box<dyn KeyMerge>)
        })
    }
}

/// A KeyMerge object.
struct JavaMerge(Global<JObject<'static>>);

impl KeyMerge for JavaMerge {
    fn put(&mut self, source: usize, keys: &KeyBatch) -> yunti_base::Result<()> {
        call(COMPARATOR, |env| {
            let (bytes, ends) = java_of_keys(env, keys)?;
            let arguments = [JValue::Int(source as i32), JValue::Object(&bytes), JValue::Object(&ends)];
            env.call_method(&self.0, jni_str!("put"), jni_sig!("(I[B[I)V"), &arguments)?;
            Ok(())
        })
    }

    fn next(&mut self) -> yunti_base::Result<Vec<u32>> {
        call(COMPARATOR, |env| {
            let sources = env.call_method(&self.0, jni_str!("next"), jni_sig!("()[I"), &[])?.l()?;
            numbers_of_java(env, sources)
        })
    }
}
