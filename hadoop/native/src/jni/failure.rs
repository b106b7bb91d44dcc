//! Errors as Java exceptions.

use jni::Env;
use jni::errors::ErrorPolicy;
use jni::strings::JNIString;
use jni::{jni_str, strings::JNIStr};
use yunti_base::Code;

/// Result of native functions.
pub type Result<T> = std::result::Result<T, Failure>;

#[derive(Debug)]
/// Failure of a native function.
pub enum Failure {
    Engine(yunti_base::Error),
    Jni(jni::errors::Error),
    /// A call after `close`, or before `create`.
    NoHandle,
}

/// Settings of Hadoop that give a task more memory.
const MEMORY_SETTINGS: &str = "mapreduce.task.io.sort.mb for maps, yunti.hadoop.reduce.memory.mb for reduces";

impl From<yunti_base::Error> for Failure {
    fn from(error: yunti_base::Error) -> Self {
        Failure::Engine(error)
    }
}

impl From<jni::errors::Error> for Failure {
    fn from(error: jni::errors::Error) -> Self {
        Failure::Jni(error)
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            // The engine's hint names an option of `yunti run`, which a task does not have.
            Failure::Engine(error) if error.code() == Code::Memory => {
                write!(f, "Yunti: {}: raise {MEMORY_SETTINGS}", error.what())
            }
            Failure::Engine(error) => {
                write!(f, "Yunti: {error}")?;
                // Below the line, for the log of the task and for the client.
                error.detail_text().map_or(Ok(()), |detail| write!(f, "\n{detail}"))
            }
            Failure::Jni(error) => write!(f, "Yunti: {error}"),
            Failure::NoHandle => f.write_str("Yunti: a native object is used after it was closed"),
        }
    }
}

impl Failure {
    /// Returns the exception of Java. The shuffle fetches again after an IOException, but not after a local disk
    /// failed or after a bug of ours. The client of a job knows failures of user code, and of its settings, by their
    /// class.
    fn class(&self) -> &'static JNIStr {
        match self {
            Failure::Engine(error) => match error.code() {
                Code::Output => jni_str!("java/nio/file/FileSystemException"),
                Code::Internal => jni_str!("java/lang/RuntimeException"),
                Code::UserCode => jni_str!("org/yunti/hadoop/UserCodeFailure"),
                Code::Usage => jni_str!("org/yunti/hadoop/UsageFailure"),
                _ => jni_str!("java/io/IOException"),
            },
            _ => jni_str!("java/io/IOException"),
        }
    }
}

/// Throws an IOException for an error, a RuntimeException for a panic. A pending exception stays.
#[derive(Debug)]
pub struct ThrowPolicy;

fn throw(env: &mut Env<'_>, class: &'static JNIStr, message: String) {
    if !env.exception_check() {
        // The `throw` function returns an error to signal the exception.
        let _ = env.throw_new(class, JNIString::from(message));
    }
}

impl<T: Default> ErrorPolicy<T, Failure> for ThrowPolicy {
    type Captures<'unowned: 'native, 'native> = ();

    fn on_error<'unowned: 'native, 'native>(
        env: &mut Env<'unowned>,
        _: &mut Self::Captures<'unowned, 'native>,
        failure: Failure,
    ) -> jni::errors::Result<T> {
        throw(env, failure.class(), failure.to_string());
        Ok(T::default())
    }

    fn on_panic<'unowned: 'native, 'native>(
        env: &mut Env<'unowned>,
        _: &mut Self::Captures<'unowned, 'native>,
        payload: Box<dyn std::any::Any + Send + 'static>,
    ) -> jni::errors::Result<T> {
        let error = yunti_base::error::of_panic(&*payload);
        throw(env, jni_str!("java/lang/RuntimeException"), format!("Yunti: {error}"));
        Ok(T::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_setting_of_hadoop_for_too_little_memory() {
        let error = yunti_engine::memory::Budget::new(1 << 20).grant(2 << 20, "collecting records").err().unwrap();
        assert!(error.to_string().contains("--memory"), "the engine's own hint: {error}");
        assert_eq!(
            Failure::from(error).to_string(),
            "Yunti: the memory budget of 1 MiB is too small: collecting records needs 2 MiB more: raise mapreduce.task.io.sort.mb \
             for maps, yunti.hadoop.reduce.memory.mb for reduces"
        );
    }
}
