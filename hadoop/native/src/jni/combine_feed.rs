//! `org.yunti.hadoop.collect.CombineFeed`: records for a Java combiner, and its results.
//! One of the listed files with `unsafe`: the feed goes through Java as a number.

use jni::objects::{JByteArray, JClass, JObject, JValue};
use jni::refs::Global;
use jni::sys::{jint, jlong};
use jni::{EnvUnowned, JavaVM, jni_sig, jni_str};
use yunti_base::{Code, Error};

use super::failure::{Failure, Result, ThrowPolicy};
use super::{bytes_of_java, hand_over};
use crate::sorted::{Combine, Feed};

/// A Java object with a method `void combine(long feed)`.
pub struct JavaCombiner(pub Global<JObject<'static>>);

impl Combine for JavaCombiner {
    fn combine(&mut self, feed: &mut Feed<'_>) -> yunti_base::Result<()> {
        let feed = std::ptr::from_mut(feed) as jlong;
        let call = || -> std::result::Result<(), jni::errors::Error> {
            JavaVM::singleton()?.attach_current_thread(|env| {
                env.call_method(&self.0, jni_str!("combine"), jni_sig!("(J)V"), &[JValue::Long(feed)])?;
                Ok(())
            })
        };
        call().map_err(|e| Error::new(Code::UserCode, format!("the combiner failed: {e}")))
    }
}

/// Returns the feed of a number that `combine` passed to Java.
fn feed<'a>(feed: jlong) -> Result<&'a mut Feed<'a>> {
    // SAFETY: the number is the address of the Feed that `combine` holds while the Java method runs. Only this method
    // calls back, on the same thread, and does not keep the number (see CombineFeed.java). No one else uses the Feed
    // until the method returns.
    unsafe { (feed as *mut Feed<'a>).as_mut() }.ok_or(Failure::NoHandle)
}

/// `static native int next(long feed, byte[] into)`: returns the bytes of the next records, 0 at the end. If they do
/// not fit, returns the required length as a negative number; the next call returns these records.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_collect_CombineFeed_next<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    into: JByteArray<'local>,
) -> jint {
    env.with_env(|env| -> Result<jint> {
        let room = into.len(env)?;
        hand_over(env, feed(handle)?.next_batch(room)?, &into)
    })
    .resolve::<ThrowPolicy>()
}

/// `static native void put(long feed, byte[] records, int length)`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_collect_CombineFeed_put<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    records: JByteArray<'local>,
    length: jint,
) {
    env.with_env(|env| -> Result<()> {
        let mut bytes = vec![0; length as usize];
        records.get_region(env, 0, bytes_of_java(&mut bytes))?;
        feed(handle)?.put(&bytes)?;
        Ok(())
    })
    .resolve::<ThrowPolicy>()
}
