//! Threads of the front end: one with a large stack for parser and planner, which recurse as deep as a query is, and
//! workers of the general executor, which start with the first query that needs them.

use std::future::Future;
use std::sync::OnceLock;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use yunti_base::{Code, Error, Result};

/// Bytes of the stack on which queries are planned. Pages that are not touched take no memory.
pub const PLANNER_STACK_BYTES: usize = 512 << 20;
/// Bytes of the stack of a worker: expressions are as deep as the query is.
const WORKER_STACK_BYTES: usize = 64 << 20;
/// Time that workers have to end with the session.
const SHUTDOWN_MAX: Duration = Duration::from_millis(500);

/// Calls `f` on a thread with a stack for deep queries, and returns its result. A panic passes on.
pub fn with_large_stack<T: Send>(f: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("yunti-sql".into()).stack_size(PLANNER_STACK_BYTES);
        match builder.spawn_scoped(scope, f) {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(e) => panic!("cannot start a thread: {e}"),
        }
    })
}

/// Executors of futures.
pub struct Runtimes {
    own: Runtime,
    workers: OnceLock<Option<Runtime>>,
    threads: usize,
}

impl Runtimes {
    pub fn new(threads: usize) -> Result<Runtimes> {
        let own = Builder::new_current_thread()
            .enable_time()
            .thread_stack_size(WORKER_STACK_BYTES)
            .build()
            .map_err(cannot_start)?;
        Ok(Runtimes { own, workers: OnceLock::new(), threads })
    }

    /// Waits for a future on this thread.
    pub fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.own.block_on(future)
    }

    /// Starts a future on the workers.
    pub fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) -> Result<JoinHandle<()>> {
        let workers = self.workers.get_or_init(|| {
            let mut builder = Builder::new_multi_thread();
            builder.enable_time();
            builder.worker_threads(self.threads).thread_name("yunti-sql").thread_stack_size(WORKER_STACK_BYTES);
            builder.build().ok()
        });
        match workers {
            Some(workers) => Ok(workers.spawn(future)),
            None => Err(Error::new(Code::Internal, "cannot start the threads of a query")),
        }
    }
}

impl Drop for Runtimes {
    /// Gives workers of a cancelled query a moment to remove their files. One that computes for longer ends with the
    /// process.
    fn drop(&mut self) {
        if let Some(workers) = self.workers.take().flatten() {
            workers.shutdown_timeout(SHUTDOWN_MAX);
        }
    }
}

fn cannot_start(e: std::io::Error) -> Error {
    Error::io(Code::Internal, "cannot start the threads of a query", &e)
}
