//! `org.yunti.hadoop.key.KeyNormals`: the normal forms of keys that only a normaliser of the job knows.

use std::sync::Arc;

use jni::objects::{JByteArray, JObject, JValue};
use jni::refs::Global;
use jni::{Env, jni_sig, jni_str};

use super::bytes_of_java;
use super::key_comparator::{call, java_of_keys};
use crate::key::{KeyBatch, Normaliser};

/// A KeyNormals object.
pub struct JavaNormals(Global<JObject<'static>>);

impl JavaNormals {
    /// Returns the normaliser behind a KeyNormals object, or None for null.
    pub fn of(env: &mut Env<'_>, object: &JObject<'_>) -> jni::errors::Result<Option<Arc<dyn Normaliser>>> {
        if object.is_null() {
            return Ok(None);
        }
        Ok(Some(Arc::new(JavaNormals(env.new_global_ref(object)?))))
    }
}

impl Normaliser for JavaNormals {
    fn normalise(&self, keys: &KeyBatch) -> yunti_base::Result<KeyBatch> {
        call("the key normaliser", |env| {
            let (bytes, ends) = java_of_keys(env, keys)?;
            let arguments = [JValue::Object(&bytes), JValue::Object(&ends)];
            let normals = env.call_method(&self.0, jni_str!("normalise"), jni_sig!("([B[I)[B"), &arguments)?.l()?;
            let normals = env.cast_local::<JByteArray>(normals)?;
            let mut found = KeyBatch { bytes: vec![0; normals.len(env)?], ends: vec![0; keys.len()] };
            normals.get_region(env, 0, bytes_of_java(&mut found.bytes))?;
            ends.get_region(env, 0, &mut found.ends)?;
            Ok(found)
        })
    }
}
