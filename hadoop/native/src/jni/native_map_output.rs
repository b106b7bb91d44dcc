//! `org.yunti.hadoop.collect.NativeMapOutput`: a map task's collector.
//! One of the listed files with `unsafe`: Java finds its functions by name.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use jni::objects::{JByteArray, JClass, JIntArray, JLongArray, JObject, JObjectArray, JString};
use jni::sys::{jint, jlong};
use jni::{Env, EnvUnowned};
use yunti_base::{Code, Error};

use super::combine_feed::JavaCombiner;
use super::failure::{Failure, Result, ThrowPolicy};
use super::handles::Handles;
use super::key_comparator::JavaComparator;
use super::{bytes_of_java, codec_of_java, form_of_java, new_log_lines, paths_of_java, values_of_java};
use crate::collect::{MapOutput, Settings, UserCode};
use crate::sorted::{Combine, TaskSpace};

static OUTPUTS: Handles<Output> = Handles::new();

struct Output {
    /// The output; None once it is finished.
    output: Mutex<Option<MapOutput>>,
    /// The task's space, for `ticks`, which another thread calls during `finish`.
    space: Arc<TaskSpace>,
}

impl Output {
    fn with<T>(&self, act: impl FnOnce(&mut MapOutput) -> Result<T>) -> Result<T> {
        let mut output = self.output.lock().unwrap_or_else(|e| e.into_inner());
        act(output.as_mut().ok_or(Failure::NoHandle)?)
    }
}

/// `static native long create(int partitions, int form, int codec, int level, int codecBuffer, long memory, String[]
/// directories, int combineSpillsMin, int values, Object combiner, Object comparator)`: returns the handle.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_collect_NativeMapOutput_create<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    partitions: jint,
    form: jint,
    codec: jint,
    level: jint,
    codec_buffer: jint,
    memory: jlong,
    directories: JObjectArray<'local, JString<'local>>,
    combine_spills_min: jint,
    values: jint,
    combiner: JObject<'local>,
    comparator: JObject<'local>,
) -> jlong {
    env.with_env(|env| -> Result<jlong> {
        let settings = Settings {
            partitions: partitions as u32,
            form: form_of_java(form)?,
            values: values_of_java(values)?,
            codec: codec_of_java(codec, level, codec_buffer)?,
            memory_bytes: memory.max(0) as u64,
            scratch: paths_of_java(env, &directories)?,
            combine_spills_min: combine_spills_min.max(0) as usize,
        };
        let combiners = if combiner.is_null() {
            None
        } else {
            // One object serves the spills and the end, which never overlap.
            let one = |env: &Env<'_>| -> Result<Box<dyn Combine>> {
                Ok(Box::new(JavaCombiner(env.new_global_ref(&combiner)?)))
            };
            Some([one(env)?, one(env)?])
        };
        let user_code = UserCode { combiners, comparator: JavaComparator::of(env, &comparator)? };
        let output = MapOutput::new(settings, yunti_engine::env::Env::real(), user_code)?;
        let space = output.space();
        let output = Output { output: Mutex::new(Some(output)), space };
        Ok(OUTPUTS.add(output))
    })
    .resolve::<ThrowPolicy>()
}

/// `static native int batchBytes(long handle)`: returns the bytes of a batch, at most.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_collect_NativeMapOutput_batchBytes<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
) -> jint {
    env.with_env(|_| OUTPUTS.get(handle)?.with(|output| Ok(output.batch_bytes() as jint))).resolve::<ThrowPolicy>()
}

/// `static native void put(long handle, byte[] records, int length, int[] partitions, int count)`: adds a batch.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_collect_NativeMapOutput_put<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    records: JByteArray<'local>,
    length: jint,
    partitions: JIntArray<'local>,
    count: jint,
) {
    env.with_env(|env| -> Result<()> {
        let mut chosen = vec![0i32; count as usize];
        partitions.get_region(env, 0, &mut chosen)?;
        let chosen: Vec<u32> = chosen.into_iter().map(|p| p as u32).collect();
        OUTPUTS.get(handle)?.with(|output| {
            output.put(length as usize, &chosen, |to| {
                let copied = records.get_region(env, 0, bytes_of_java(to));
                copied.map_err(|e| Error::new(Code::Internal, format!("a batch cannot be read: {e}")))
            })?;
            Ok(())
        })
    })
    .resolve::<ThrowPolicy>()
}

/// `static native void putBig(long handle, byte[] record, int from, int keyLength, int valueLength, int partition)`:
/// adds one record larger than a batch.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_collect_NativeMapOutput_putBig<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    record: JByteArray<'local>,
    from: jint,
    key_length: jint,
    value_length: jint,
    partition: jint,
) {
    env.with_env(|env| -> Result<()> {
        OUTPUTS.get(handle)?.with(|output| {
            output.put_large(key_length as usize, value_length as usize, partition as u32, |to| {
                let copied = record.get_region(env, from, bytes_of_java(to));
                copied.map_err(|e| Error::new(Code::Internal, format!("a record cannot be read: {e}")))
            })?;
            Ok(())
        })
    })
    .resolve::<ThrowPolicy>()
}

/// `static native long ticks(long handle)`: returns a number that grows as long as the task advances.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_collect_NativeMapOutput_ticks<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
) -> jlong {
    env.with_env(|_| Ok(OUTPUTS.get(handle)?.space.ticks() as jlong)).resolve::<ThrowPolicy>()
}

/// `static native String log(long handle)`: returns new lines for the task's log, empty if there are none.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_collect_NativeMapOutput_log<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
) -> JString<'local> {
    env.with_env(|env| new_log_lines(env, &OUTPUTS.get(handle)?.space)).resolve::<ThrowPolicy>()
}

/// `static native long[] finish(long handle, String path)`: returns spills, spilled records, records of a native sum,
/// times of spills; then start, raw and file bytes of each partition.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_collect_NativeMapOutput_finish<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    path: JString<'local>,
) -> JLongArray<'local> {
    env.with_env(|env| -> Result<JLongArray<'local>> {
        let path = PathBuf::from(path.try_to_string(env)?);
        let output = OUTPUTS.get(handle)?.output.lock().unwrap_or_else(|e| e.into_inner()).take();
        let done = output.ok_or(Failure::NoHandle)?.finish(&path)?;
        let [spill_ns, last_spill_ns] = done.spill_ns;
        let mut numbers = vec![done.spills, done.spilled_records, done.summed_records, spill_ns, last_spill_ns];
        numbers.extend(done.segments.iter().flat_map(|s| [s.start, s.raw_bytes, s.file_bytes]));
        let numbers: Vec<i64> = numbers.into_iter().map(|n| n as i64).collect();
        let array = JLongArray::new(env, numbers.len())?;
        array.set_region(env, 0, &numbers)?;
        Ok(array)
    })
    .resolve::<ThrowPolicy>()
}

/// `static native void close(long handle)`: calls in progress end normally.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_collect_NativeMapOutput_close<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
) {
    env.with_env(|_| -> Result<()> {
        OUTPUTS.close(handle);
        Ok(())
    })
    .resolve::<ThrowPolicy>()
}
