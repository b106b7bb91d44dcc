//! `org.yunti.hadoop.shuffle.NativeReduceInput`: a reduce task's segments.
//! One of the listed files with `unsafe`: Java finds its functions by name.

use std::path::PathBuf;
use std::sync::Arc;

use jni::EnvUnowned;
use jni::objects::{JByteArray, JClass, JObject, JObjectArray, JString};
use jni::sys::{jboolean, jint, jlong};
use yunti_engine::bytes::KeyOrder;
use yunti_engine::env::Env;

use super::combine_feed::JavaCombiner;
use super::failure::{Result, ThrowPolicy};
use super::handles::Handles;
use super::key_comparator::JavaComparator;
use super::key_normals::JavaNormals;
use super::{bytes_of_java, codec_of_java, form_of_java, hand_over, new_log_lines, paths_of_java};
use crate::shuffle::{ReduceInput, ReduceSettings};
use crate::sorted::Combine;

static INPUTS: Handles<ReduceInput> = Handles::new();

pub(super) fn input(handle: jlong) -> Result<Arc<ReduceInput>> {
    INPUTS.get(handle)
}

/// `static native long create(int form, int codec, int level, int codecBuffer, boolean reversed, boolean apart, long
/// memory, String[] directories, Object combiner, Object comparator, Object normals)`: returns the handle.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_shuffle_NativeReduceInput_create<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    form: jint,
    codec: jint,
    level: jint,
    codec_buffer: jint,
    reversed: jboolean,
    apart: jboolean,
    memory: jlong,
    directories: JObjectArray<'local, JString<'local>>,
    combiner: JObject<'local>,
    comparator: JObject<'local>,
    normals: JObject<'local>,
) -> jlong {
    env.with_env(|env| -> Result<jlong> {
        let settings = ReduceSettings {
            form: form_of_java(form)?,
            order: KeyOrder { descending: reversed, ..KeyOrder::BYTES },
            codec: codec_of_java(codec, level, codec_buffer)?,
            apart,
            memory_bytes: memory.max(0) as u64,
            scratch: paths_of_java(env, &directories)?,
        };
        let combiner: Option<Box<dyn Combine>> = match combiner.is_null() {
            true => None,
            false => Some(Box::new(JavaCombiner(env.new_global_ref(&combiner)?))),
        };
        let comparator = JavaComparator::of(env, &comparator)?;
        let input = ReduceInput::new(settings, Env::real(), combiner, comparator);
        Ok(INPUTS.add(input.with_normaliser(JavaNormals::of(env, &normals)?)))
    })
    .resolve::<ThrowPolicy>()
}

/// `static native long begin(long handle, String name, long length, boolean onDisk)`: returns the segment's number.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_shuffle_NativeReduceInput_begin<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    name: JString<'local>,
    length: jlong,
    on_disk: jboolean,
) -> jlong {
    env.with_env(|env| -> Result<jlong> {
        let name = name.try_to_string(env)?;
        Ok(input(handle)?.begin(name, length.max(0) as u64, on_disk)? as jlong)
    })
    .resolve::<ThrowPolicy>()
}

/// `static native void addMapFile(long handle, String name, String path, long offset, long length)`: adds a
/// segment of a map's file on this machine.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_shuffle_NativeReduceInput_addMapFile<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    name: JString<'local>,
    path: JString<'local>,
    offset: jlong,
    length: jlong,
) {
    env.with_env(|env| -> Result<()> {
        let (name, path) = (name.try_to_string(env)?, PathBuf::from(path.try_to_string(env)?));
        input(handle)?.add_map_file(name, path, offset.max(0) as u64, length.max(0) as u64);
        Ok(())
    })
    .resolve::<ThrowPolicy>()
}

/// `static native void append(long handle, long segment, byte[] bytes, int length)`: adds received bytes.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_shuffle_NativeReduceInput_append<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    segment: jlong,
    bytes: JByteArray<'local>,
    length: jint,
) {
    env.with_env(|env| -> Result<()> {
        let mut copy = vec![0; length as usize];
        bytes.get_region(env, 0, bytes_of_java(&mut copy))?;
        Ok(input(handle)?.append(segment as u64, &copy)?)
    })
    .resolve::<ThrowPolicy>()
}

/// `static native void seal(long handle, long segment)`: throws if the segment must be fetched again.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_shuffle_NativeReduceInput_seal<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    segment: jlong,
) {
    env.with_env(|_| -> Result<()> { Ok(input(handle)?.seal(segment as u64)?) }).resolve::<ThrowPolicy>()
}

/// `static native void commit(long handle, long segment)`: accepts a sealed segment.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_shuffle_NativeReduceInput_commit<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    segment: jlong,
) {
    env.with_env(|_| -> Result<()> { Ok(input(handle)?.commit(segment as u64)?) }).resolve::<ThrowPolicy>()
}

/// `static native void abort(long handle, long segment)`: drops a segment.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_shuffle_NativeReduceInput_abort<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    segment: jlong,
) {
    env.with_env(|_| -> Result<()> {
        input(handle)?.abort(segment as u64);
        Ok(())
    })
    .resolve::<ThrowPolicy>()
}

/// `static native long merge(long handle)`: merges the segments in memory into runs and returns the bytes freed.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_shuffle_NativeReduceInput_merge<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
) -> jlong {
    env.with_env(|_| -> Result<jlong> { Ok(input(handle)?.merge_memory()? as jlong) }).resolve::<ThrowPolicy>()
}

/// `static native void open(long handle)`: starts the merge of all segments.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_shuffle_NativeReduceInput_open<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
) {
    env.with_env(|_| -> Result<()> { Ok(input(handle)?.open()?) }).resolve::<ThrowPolicy>()
}

/// `static native int next(long handle, byte[] into)`: as in CombineFeed.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_shuffle_NativeReduceInput_next<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    into: JByteArray<'local>,
) -> jint {
    env.with_env(|env| -> Result<jint> {
        let room = into.len(env)?;
        input(handle)?.next_batch(room, |batch| hand_over(env, batch, &into))?
    })
    .resolve::<ThrowPolicy>()
}

/// `static native String log(long handle)`: returns new lines for the task's log, empty if there are none.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_shuffle_NativeReduceInput_log<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
) -> JString<'local> {
    env.with_env(|env| new_log_lines(env, input(handle)?.space())).resolve::<ThrowPolicy>()
}

/// `static native long ticks(long handle)`: returns a number that grows as long as the task advances.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_shuffle_NativeReduceInput_ticks<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
) -> jlong {
    env.with_env(|_| -> Result<jlong> { Ok(input(handle)?.space().ticks() as jlong) }).resolve::<ThrowPolicy>()
}

/// `static native long spilledRecords(long handle)`: returns the number of records written to runs.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_shuffle_NativeReduceInput_spilledRecords<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
) -> jlong {
    env.with_env(|_| -> Result<jlong> { Ok(input(handle)?.space().spilled_records() as jlong) })
        .resolve::<ThrowPolicy>()
}

/// `static native void close(long handle)`: calls in progress end normally.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_shuffle_NativeReduceInput_close<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
) {
    env.with_env(|_| -> Result<()> {
        INPUTS.close(handle);
        Ok(())
    })
    .resolve::<ThrowPolicy>()
}
