//! `org.yunti.hadoop.task.TaskFiles`: files of Hadoop's file systems as engine files.
//!
//! A name with a scheme (`hdfs://..`) belongs to Hadoop; any other name is a file of this machine.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use jni::objects::{JByteArray, JObject, JValue};
use jni::refs::Global;
use jni::strings::JNIStr;
use jni::sys::jint;
use jni::{Env, JavaVM, jni_sig, jni_str};
use yunti_engine::env::files::{LockScope, Meta};
use yunti_engine::env::real::RealFiles;
use yunti_engine::env::{File, Files};

use super::{bytes_of_java, java_of_bytes};

/// Bytes passed to Java and back at once.
const CHUNK_BYTES: usize = 256 << 10;

/// The Java object behind the files of a task.
pub struct Java(Global<JObject<'static>>);

impl Java {
    /// Calls the object; an exception becomes an error with its text.
    pub fn call<T>(&self, act: impl FnOnce(&mut Env<'_>, &JObject<'_>) -> jni::errors::Result<T>) -> io::Result<T> {
        let attached = || -> jni::errors::Result<io::Result<T>> {
            JavaVM::singleton()?.attach_current_thread(|env| -> jni::errors::Result<io::Result<T>> {
                match act(env, self.0.as_obj()) {
                    Ok(value) => Ok(Ok(value)),
                    Err(error) => Ok(Err(thrown(env).unwrap_or_else(|| io::Error::other(error.to_string())))),
                }
            })
        };
        attached().unwrap_or_else(|error| Err(io::Error::other(error.to_string())))
    }
}

impl Java {
    /// Returns the length of a file that Java reads.
    fn length(&self, path: &Path) -> io::Result<u64> {
        let name = path.to_string_lossy();
        let len = self.call(|env, object| {
            let name = env.new_string(&*name)?;
            let arguments = [JValue::Object(&name)];
            env.call_method(object, jni_str!("length"), jni_sig!("(Ljava/lang/String;)J"), &arguments)?.j()
        })?;
        Ok(len as u64)
    }
}

/// Returns the pending exception as an error, and clears it.
fn thrown(env: &mut Env<'_>) -> Option<io::Error> {
    let exception = env.exception_occurred()?;
    env.exception_clear();
    let text = || -> jni::errors::Result<String> {
        let text = env.call_method(&exception, jni_str!("toString"), jni_sig!("()Ljava/lang/String;"), &[])?.l()?;
        env.as_cast::<jni::objects::JString>(&text)?.try_to_string(env)
    };
    let text = { text }();
    Some(io::Error::other(text.unwrap_or_else(|_| "an exception without a text".into())))
}

/// Files of one task.
pub struct JavaFiles {
    java: Arc<Java>,
    local: RealFiles,
}

impl JavaFiles {
    /// Returns the files of a TaskFiles object.
    pub fn new(object: Global<JObject<'static>>) -> JavaFiles {
        JavaFiles { java: Arc::new(Java(object)), local: RealFiles }
    }

    /// Returns the Java object.
    pub fn java(&self) -> Arc<Java> {
        self.java.clone()
    }

    /// Opens a file by a method of TaskFiles that returns a number.
    fn open_by(&self, method: &'static JNIStr, path: &Path) -> io::Result<Arc<dyn File>> {
        let name = path.to_string_lossy();
        let (number, array) = self.java.call(|env, object| {
            let name = env.new_string(&*name)?;
            let arguments = [JValue::Object(&name)];
            let number = env.call_method(object, method, jni_sig!("(Ljava/lang/String;)I"), &arguments)?.i()?;
            let array = env.new_byte_array(CHUNK_BYTES)?;
            Ok((number, env.new_global_ref(&array)?))
        })?;
        Ok(Arc::new(JavaFile { java: self.java.clone(), path: path.into(), number, array: Mutex::new(array) }))
    }
}

fn is_javas(path: &Path) -> bool {
    path.to_string_lossy().split_once(':').is_some_and(|(scheme, rest)| {
        rest.starts_with('/') && !scheme.is_empty() && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'+')
    })
}

fn unsupported<T>(path: &Path) -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::Unsupported, format!("not on this file system: {}", path.display())))
}

impl Files for JavaFiles {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        if is_javas(path) { self.open_by(jni_str!("open"), path) } else { self.local.open(path) }
    }
    fn create(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        if is_javas(path) { self.open_by(jni_str!("create"), path) } else { self.local.create(path) }
    }
    fn open_to_write(&self, _: &Path) -> io::Result<Arc<dyn File>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// A task has one output.
    fn open_max(&self) -> usize {
        usize::MAX
    }

    fn scratch(&self, dir: &Path) -> io::Result<Arc<dyn File>> {
        self.local.scratch(dir)
    }
    fn stdin(&self) -> Arc<dyn File> {
        self.local.stdin()
    }
    fn stdout(&self) -> Arc<dyn File> {
        self.local.stdout()
    }
    fn meta(&self, path: &Path) -> io::Result<Meta> {
        if !is_javas(path) {
            return self.local.meta(path);
        }
        Ok(Meta { len: self.java.length(path)?, is_dir: false, is_stream: false, modified_ms: 0 })
    }
    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        if is_javas(dir) { unsupported(dir) } else { self.local.list(dir) }
    }
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        if is_javas(path) { unsupported(path) } else { self.local.create_dir(path) }
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        if is_javas(from) { unsupported(from) } else { self.local.rename(from, to) }
    }
    fn exchange(&self, a: &Path, b: &Path) -> io::Result<()> {
        if is_javas(a) { unsupported(a) } else { self.local.exchange(a, b) }
    }
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        if is_javas(path) { unsupported(path) } else { self.local.remove_file(path) }
    }
    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        if is_javas(path) { unsupported(path) } else { self.local.remove_dir(path) }
    }
    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        if is_javas(path) { unsupported(path) } else { self.local.remove_dir_all(path) }
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        if is_javas(path) { unsupported(path) } else { self.local.sync_dir(path) }
    }
    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        if is_javas(path) { unsupported(path) } else { self.local.free_bytes(path) }
    }
}

/// A Java stream: reads at any offset, writes from start to end.
struct JavaFile {
    java: Arc<Java>,
    path: PathBuf,
    number: jint,
    array: Mutex<Global<JByteArray<'static>>>,
}

impl File for JavaFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let array = self.array.lock().unwrap_or_else(|e| e.into_inner());
        let n = buffer.len().min(CHUNK_BYTES);
        self.java.call(|env, object| {
            let arguments = [
                JValue::Int(self.number),
                JValue::Long(offset as i64),
                JValue::Object(array.as_ref()),
                JValue::Int(n as jint),
            ];
            let read = env.call_method(object, jni_str!("read"), jni_sig!("(IJ[BI)I"), &arguments)?.i()?;
            let read = read.clamp(0, n as jint) as usize;
            array.get_region(env, 0, bytes_of_java(&mut buffer[..read]))?;
            Ok(read)
        })
    }

    fn write_at(&self, bytes: &[u8], _: u64) -> io::Result<usize> {
        let array = self.array.lock().unwrap_or_else(|e| e.into_inner());
        let n = bytes.len().min(CHUNK_BYTES);
        self.java.call(|env, object| {
            array.set_region(env, 0, java_of_bytes(&bytes[..n]))?;
            let arguments = [JValue::Int(self.number), JValue::Object(array.as_ref()), JValue::Int(n as jint)];
            env.call_method(object, jni_str!("write"), jni_sig!("(I[BI)V"), &arguments)?;
            Ok(n)
        })
    }

    fn len(&self) -> io::Result<u64> {
        self.java.length(&self.path)
    }
    fn allocate(&self, _: u64) -> io::Result<()> {
        Ok(())
    }
    fn truncate(&self, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
    fn punch(&self, _: u64, _: u64) {}
    /// Always fails: Hadoop commits the files of tasks, and HDFS allows one writer per file.
    fn lock(&self) -> io::Result<LockScope> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl Drop for JavaFile {
    fn drop(&mut self) {
        // Java closes written files and reports a failure; this only ends reading.
        let _ = self.java.call(|env, object| {
            env.call_method(object, jni_str!("done"), jni_sig!("(I)V"), &[JValue::Int(self.number)])?;
            Ok(())
        });
    }
}
