//! `org.yunti.hadoop.task.NativeTask`: whole tasks.
//! One of the listed files with `unsafe`: Java finds these functions by their names (`no_mangle`).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jni::objects::{JBooleanArray, JClass, JIntArray, JObject, JObjectArray, JString};
use jni::sys::{jboolean, jint, jlong};
use jni::{Env, EnvUnowned};
use yunti_base::Code;
use yunti_engine::env::NamedFile;
use yunti_engine::job::Control;
use yunti_engine::job::task::{self, Counters, TaskSplit, merge_order};

use super::failure::{Result, ThrowPolicy};
use super::java_files::JavaFiles;
use super::java_messages::JavaMessages;
use super::native_reduce_input::input;
use super::{codec_of_java, paths_of_java, strings_of_java};
use crate::task::{
    TaskFacts, TaskJob, bounds_of_text, bounds_to_text, completed, extension, framed, map_task, needs_formats,
    reduce_task,
};

/// Bytes of memory for readers of a sample.
const SAMPLE_MEMORY_BYTES: u64 = 64 << 20;

/// A job, and the outside world of its task.
type JobAndEnv = (TaskJob, yunti_engine::env::Env);

/// Returns the engine's outside world, with Hadoop's files in it.
fn env_of_java(env: &mut Env<'_>, files: &JObject<'_>) -> Result<yunti_engine::env::Env> {
    let mut outside = yunti_engine::env::Env::real();
    let files = JavaFiles::new(env.new_global_ref(files)?);
    outside.messages = Arc::new(JavaMessages::new(files.java(), outside.clock.clone()));
    outside.files = Arc::new(files);
    Ok(outside)
}

/// Returns a task's job, with `memory` bytes for records and its scratch directories, and the task's facts.
fn task_of_java(
    env: &mut Env<'_>,
    (job, facts, files): (&JString<'_>, &JObjectArray<'_, JString<'_>>, &JObject<'_>),
    memory: jlong,
    directories: Vec<PathBuf>,
) -> Result<(TaskJob, TaskFacts, yunti_engine::env::Env)> {
    let mut outside = env_of_java(env, files)?;
    let facts = TaskFacts::of(strings_of_java(env, facts)?)?;
    let job = TaskJob::new(&job.try_to_string(env)?, memory.max(0) as u64, directories, &facts, &mut outside)?;
    Ok((job, facts, outside))
}

/// Returns the job before it is submitted; `libraries` are the paths of its class libraries.
fn submitted_of_java(
    env: &mut Env<'_>,
    (job, facts): (&JString<'_>, &JObjectArray<'_, JString<'_>>),
    libraries: &JObjectArray<'_, JString<'_>>,
    mut outside: yunti_engine::env::Env,
) -> Result<JobAndEnv> {
    let libraries = paths_of_java(env, libraries)?;
    let facts = TaskFacts::of(strings_of_java(env, facts)?)?;
    let job = job.try_to_string(env)?;
    Ok((TaskJob::submitted(&job, SAMPLE_MEMORY_BYTES, libraries, &facts, &mut outside)?, outside))
}

fn output_of_java(env: &Env<'_>, outside: &yunti_engine::env::Env, name: &JString<'_>) -> Result<NamedFile> {
    let name = name.try_to_string(env)?;
    Ok(NamedFile::create(&*outside.files, Path::new(&name), Code::Output)?)
}

fn split_of_java(
    env: &Env<'_>,
    path: &JString<'_>,
    (start, end): (jlong, jlong),
    (source, number): (jint, jint),
    attempt: u32,
) -> Result<TaskSplit> {
    let path = PathBuf::from(path.try_to_string(env)?);
    let (start, end) = (start as u64, end as u64);
    Ok(TaskSplit { path, start, end, number: number as u32, source: source as usize, attempt })
}

/// Returns files, each with the number of its source.
fn files_of_java(
    env: &mut Env<'_>,
    paths: &JObjectArray<'_, JString<'_>>,
    sources: &JIntArray<'_>,
) -> Result<Vec<(usize, String)>> {
    let paths = paths_of_java(env, paths)?;
    let mut numbers = vec![0; paths.len()];
    sources.get_region(env, 0, &mut numbers)?;
    let of = |(path, source): (PathBuf, jint)| (source as usize, path.to_string_lossy().into_owned());
    Ok(paths.into_iter().zip(numbers).map(of).collect())
}

/// Returns counters as lines `group TAB name TAB number`.
fn lines<'local>(
    env: &mut Env<'local>,
    first: Option<String>,
    counters: Counters,
) -> Result<JObjectArray<'local, JString<'local>>> {
    let counters = counters.into_iter().map(|(group, name, n)| format!("{group}\t{name}\t{n}"));
    lines_of(env, &first.into_iter().chain(counters).collect::<Vec<_>>())
}

fn lines_of<'local>(env: &mut Env<'local>, lines: &[String]) -> Result<JObjectArray<'local, JString<'local>>> {
    let array = JObjectArray::<JString>::new(env, lines.len(), JString::null())?;
    for (i, line) in lines.iter().enumerate() {
        let line = env.new_string(line)?;
        array.set_element(env, i, &line)?;
        // A native call has room for 16 local references, and a job may have many counters.
        env.delete_local_ref(line);
    }
    Ok(array)
}

/// `static native String[] map(String job, String[] facts, TaskFiles files, String path, long start, long end, int
/// source, int number, long memory, String[] directories, int codec, int level, int codecBuffer, String bounds, String
/// output)`:
///
/// returns start, raw and file bytes of each partition in the first line, separated by spaces; then the counters.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_task_NativeTask_map<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    job: JString<'local>,
    facts: JObjectArray<'local, JString<'local>>,
    files: JObject<'local>,
    path: JString<'local>,
    start: jlong,
    end: jlong,
    source: jint,
    number: jint,
    memory: jlong,
    directories: JObjectArray<'local, JString<'local>>,
    codec: jint,
    level: jint,
    codec_buffer: jint,
    bounds: JString<'local>,
    output: JString<'local>,
) -> JObjectArray<'local, JString<'local>> {
    env.with_env(|env| -> Result<JObjectArray<'local, JString<'local>>> {
        let bounds = match bounds.is_null() {
            true => None,
            false => Some(bounds_of_text(&bounds.try_to_string(env)?)?),
        };
        let directories = paths_of_java(env, &directories)?;
        let (job, facts, outside) = task_of_java(env, (&job, &facts, &files), memory, directories)?;
        let split = split_of_java(env, &path, (start, end), (source, number), facts.attempt)?;
        let output = PathBuf::from(output.try_to_string(env)?);
        let codec = codec_of_java(codec, level, codec_buffer)?;
        let (segments, counters) = map_task::run(&job, &outside, &Control::new(), &split, bounds, codec, &output)?;
        let numbers = segments.iter().flat_map(|s| [s.start, s.raw_bytes, s.file_bytes]);
        let first = numbers.map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
        lines(env, Some(first), counters)
    })
    .resolve::<ThrowPolicy>()
}

/// `static native String[] mapToFile(String job, String[] facts, TaskFiles files, String path, long start, long end,
/// int source, int number, long memory, String output)`: returns the counters.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_task_NativeTask_mapToFile<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    job: JString<'local>,
    facts: JObjectArray<'local, JString<'local>>,
    files: JObject<'local>,
    path: JString<'local>,
    start: jlong,
    end: jlong,
    source: jint,
    number: jint,
    memory: jlong,
    output: JString<'local>,
) -> JObjectArray<'local, JString<'local>> {
    env.with_env(|env| -> Result<JObjectArray<'local, JString<'local>>> {
        let (job, facts, outside) = task_of_java(env, (&job, &facts, &files), memory, Vec::new())?;
        let split = split_of_java(env, &path, (start, end), (source, number), facts.attempt)?;
        let file = output_of_java(env, &outside, &output)?;
        let counters = task::map_to_file(&job.spec, &outside, &job.classes, &Control::new(), &split, file)?;
        lines(env, None, counters)
    })
    .resolve::<ThrowPolicy>()
}

/// `static native String framed(String job, boolean input, boolean output)`: returns the job with framed records there.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_task_NativeTask_framed<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    job: JString<'local>,
    input: jboolean,
    output: jboolean,
) -> JString<'local> {
    env.with_env(|env| -> Result<JString<'local>> {
        let text = framed(&job.try_to_string(env)?, input, output)?;
        Ok(env.new_string(text)?)
    })
    .resolve::<ThrowPolicy>()
}

/// `static native String outputTypes(String job, String[] facts, String[] libraries)`: returns the types of key and
/// value, separated by a space. Without libraries, those named in the job are loaded.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_task_NativeTask_outputTypes<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    job: JString<'local>,
    facts: JObjectArray<'local, JString<'local>>,
    libraries: JObjectArray<'local, JString<'local>>,
) -> JString<'local> {
    env.with_env(|env| -> Result<JString<'local>> {
        let mut outside = yunti_engine::env::Env::real();
        let (job, outside) = match libraries.is_null() {
            true => {
                let facts = TaskFacts::of(strings_of_java(env, &facts)?)?;
                let text = job.try_to_string(env)?;
                (TaskJob::new(&text, SAMPLE_MEMORY_BYTES, Vec::new(), &facts, &mut outside)?, outside)
            }
            false => submitted_of_java(env, (&job, &facts), &libraries, outside)?,
        };
        let (key, value) = task::output_types(&job.spec, &outside, &job.classes)?;
        Ok(env.new_string(format!("{} {}", key.name(), value.name()))?)
    })
    .resolve::<ThrowPolicy>()
}

/// `static native String bounds(String job, String[] facts, TaskFiles files, String[] libraries, String[] paths, int[]
/// sources)`: returns the bounds of a total order, from a sample of the files (each with its source), or null if the
/// job has none.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_task_NativeTask_bounds<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    job: JString<'local>,
    facts: JObjectArray<'local, JString<'local>>,
    files: JObject<'local>,
    libraries: JObjectArray<'local, JString<'local>>,
    paths: JObjectArray<'local, JString<'local>>,
    sources: JIntArray<'local>,
) -> JString<'local> {
    env.with_env(|env| -> Result<JString<'local>> {
        let outside = env_of_java(env, &files)?;
        let (job, outside) = submitted_of_java(env, (&job, &facts), &libraries, outside)?;
        let paths = files_of_java(env, &paths, &sources)?;
        match task::bounds(&job.spec, &outside, &job.classes, &Control::new(), paths)? {
            Some(bounds) => Ok(env.new_string(bounds_to_text(&bounds))?),
            None => Ok(JString::null()),
        }
    })
    .resolve::<ThrowPolicy>()
}

/// `static native String[] complete(String job, String[] facts, TaskFiles files, String[] libraries, String[] paths,
/// int[] sources, boolean recognises)`: completes a job by the first file of each source, and checks it. Returns the
/// job, and the number of its reduces.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_task_NativeTask_complete<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    job: JString<'local>,
    facts: JObjectArray<'local, JString<'local>>,
    files: JObject<'local>,
    libraries: JObjectArray<'local, JString<'local>>,
    paths: JObjectArray<'local, JString<'local>>,
    sources: JIntArray<'local>,
    recognises: jboolean,
) -> JObjectArray<'local, JString<'local>> {
    env.with_env(|env| -> Result<JObjectArray<'local, JString<'local>>> {
        let mut outside = env_of_java(env, &files)?;
        let firsts = files_of_java(env, &paths, &sources)?;
        let facts = TaskFacts::of(strings_of_java(env, &facts)?)?;
        let (job, reduces) = completed(&job.try_to_string(env)?, &facts, &outside, firsts, recognises)?;
        let libraries = paths_of_java(env, &libraries)?;
        let checked = TaskJob::submitted(&job, SAMPLE_MEMORY_BYTES, libraries, &facts, &mut outside)?;
        task::check(&checked.spec, &outside, &checked.classes)?;
        lines_of(env, &[job, reduces.to_string()])
    })
    .resolve::<ThrowPolicy>()
}

/// `static native boolean needsFormats(String job)`: returns true if the job reads or writes files of columns.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_task_NativeTask_needsFormats<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    job: JString<'local>,
) -> jboolean {
    env.with_env(|env| -> Result<jboolean> { Ok(needs_formats(&job.try_to_string(env)?)?) }).resolve::<ThrowPolicy>()
}

/// `static native String splittable(String job, String[] facts, String[] libraries)`: returns for each source,
/// separated by commas, how its files may be cut (`Cut` of the engine).
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_task_NativeTask_splittable<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    job: JString<'local>,
    facts: JObjectArray<'local, JString<'local>>,
    libraries: JObjectArray<'local, JString<'local>>,
) -> JString<'local> {
    env.with_env(|env| -> Result<JString<'local>> {
        let outside = yunti_engine::env::Env::real();
        let (job, outside) = submitted_of_java(env, (&job, &facts), &libraries, outside)?;
        let each = task::cuts(&job.spec, &outside, &job.classes)?;
        Ok(env.new_string(each.iter().map(|cut| cut.name()).collect::<Vec<_>>().join(","))?)
    })
    .resolve::<ThrowPolicy>()
}

/// `static native boolean compressed(String path)`: returns true if the engine reads a file of this name through a
/// codec.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_task_NativeTask_compressed<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    path: JString<'local>,
) -> jboolean {
    env.with_env(|env| -> Result<jboolean> {
        Ok(yunti_engine::codec::CodecKind::from_path(Path::new(&path.try_to_string(env)?)).is_some())
    })
    .resolve::<ThrowPolicy>()
}

/// `static native boolean hasBlocks(String path)`: returns true if a task finds the blocks in a stretch of a file of
/// this name.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_task_NativeTask_hasBlocks<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    path: JString<'local>,
) -> jboolean {
    env.with_env(|env| -> Result<jboolean> {
        Ok(task::has_blocks(yunti_engine::codec::CodecKind::from_path(Path::new(&path.try_to_string(env)?))))
    })
    .resolve::<ThrowPolicy>()
}

/// `static native String extension(String job)`: returns the extension of an output file.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_task_NativeTask_extension<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    job: JString<'local>,
) -> JString<'local> {
    env.with_env(|env| -> Result<JString<'local>> { Ok(env.new_string(extension(&job.try_to_string(env)?)?)?) })
        .resolve::<ThrowPolicy>()
}

/// `static native boolean[] merging(String job, String[] facts, String[] libraries)`: returns true if keys are merged
/// against the order of their bytes; then true if reduces take the records of each map apart.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_task_NativeTask_merging<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    job: JString<'local>,
    facts: JObjectArray<'local, JString<'local>>,
    libraries: JObjectArray<'local, JString<'local>>,
) -> JBooleanArray<'local> {
    env.with_env(|env| -> Result<JBooleanArray<'local>> {
        let outside = yunti_engine::env::Env::real();
        let (job, outside) = submitted_of_java(env, (&job, &facts), &libraries, outside)?;
        let reversed = merge_order(&job.spec, &outside, &job.classes)?.reversed();
        let apart = task::takes_maps_apart(&job.spec, &outside, &job.classes)?;
        let array = JBooleanArray::new(env, 2)?;
        array.set_region(env, 0, &[reversed, apart])?;
        Ok(array)
    })
    .resolve::<ThrowPolicy>()
}

/// `static native String[] reduce(String job, String[] facts, TaskFiles files, long input, int partition, long memory,
/// String[] directories, String output)`: returns the counters.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_task_NativeTask_reduce<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    job: JString<'local>,
    facts: JObjectArray<'local, JString<'local>>,
    files: JObject<'local>,
    handle: jlong,
    partition: jint,
    memory: jlong,
    directories: JObjectArray<'local, JString<'local>>,
    output: JString<'local>,
) -> JObjectArray<'local, JString<'local>> {
    env.with_env(|env| -> Result<JObjectArray<'local, JString<'local>>> {
        let directories = paths_of_java(env, &directories)?;
        let (job, _, outside) = task_of_java(env, (&job, &facts, &files), memory, directories)?;
        let file = output_of_java(env, &outside, &output)?;
        let counters = reduce_task::run(&job, &outside, &Control::new(), &*input(handle)?, partition as u32, file)?;
        lines(env, None, counters)
    })
    .resolve::<ThrowPolicy>()
}
