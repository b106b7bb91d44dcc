//! Threads, passed in: run a function on n workers and return when all are done.

pub mod crew;
pub mod heartbeat;
pub mod schedule;
#[cfg(test)]
mod schedule_test;
pub mod sync;

pub use crew::Crew;
pub use heartbeat::Heartbeat;

/// Threads for the workers of a job.
pub trait Threads: Send + Sync {
    /// Calls `body(0)` to `body(n - 1)` and returns when all have returned. Each call has a thread of its own, as far
    /// as threads are available; body 0 runs on the calling thread.
    ///
    /// A body does not panic: the crew catches panics of tasks inside it.
    fn run(&self, n: usize, body: &(dyn Fn(usize) + Sync));
    /// Returns the number of processors that this process may use.
    fn processors(&self) -> usize;
}

/// The operating system's threads.
pub struct RealThreads;

impl Threads for RealThreads {
    fn run(&self, n: usize, body: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| {
            for worker in 1..n {
                let spawned = std::thread::Builder::new()
                    .name(format!("yunti-{worker}"))
                    .spawn_scoped(scope, move || body(worker));
                // Fewer threads only cost time: bodies share one queue of tasks.
                if spawned.is_err() {
                    break;
                }
            }
            body(0);
        });
    }

    fn processors(&self) -> usize {
        std::thread::available_parallelism().map_or(1, |n| n.get())
    }
}
