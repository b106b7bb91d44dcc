//! Messages of user code in a task: lines in the task's standard error, status and progress in Hadoop, by
//! `org.yunti.hadoop.task.TaskFiles`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jni::objects::JValue;
use jni::{jni_sig, jni_str};
use yunti_engine::env::messages::StandardError;
use yunti_engine::env::{Clock, Messages};

use super::java_files::Java;

/// Nanoseconds between two reports of progress.
const PROGRESS_NS: u64 = 1_000_000_000;

/// Messages of one task.
pub struct JavaMessages {
    java: Arc<Java>,
    clock: Arc<dyn Clock>,
    /// Time of the last report of progress.
    reported_ns: AtomicU64,
}

impl JavaMessages {
    /// Returns the messages of a TaskFiles object.
    pub fn new(java: Arc<Java>, clock: Arc<dyn Clock>) -> JavaMessages {
        JavaMessages { java, clock, reported_ns: AtomicU64::new(0) }
    }
}

impl Messages for JavaMessages {
    fn show(&self, line: &str) {
        // The container's file `stderr`, where Hadoop Streaming has these lines too.
        StandardError.show(line);
    }

    fn set_status(&self, status: &str) {
        // A status that cannot be shown is no reason to fail.
        let _ = self.java.call(|env, object| {
            let status = env.new_string(status)?;
            let arguments = [JValue::Object(&status)];
            env.call_method(object, jni_str!("status"), jni_sig!("(Ljava/lang/String;)V"), &arguments)?;
            env.delete_local_ref(status);
            Ok(())
        });
    }

    fn note_waiting(&self) {
        let now = self.clock.now_ns();
        let before = self.reported_ns.load(Ordering::Relaxed);
        if now.saturating_sub(before) < PROGRESS_NS && before > 0 {
            return;
        }
        self.reported_ns.store(now, Ordering::Relaxed);
        // The engine itself ends user code that takes too long, with a line that names it.
        let _ = self.java.call(|env, object| {
            env.call_method(object, jni_str!("progress"), jni_sig!("()V"), &[])?;
            Ok(())
        });
    }
}
