//! Threads, passed in: run a function on n workers and return when all are done.

pub trait Threads: Send + Sync {
    /// Calls `body(0)` .. `body(n - 1)`, each on a thread of its own as far as there are any, and returns when all have returned.
    /// A body does not panic (the scheduler catches panics of tasks inside it).
    fn run(&self, n: usize, body: &(dyn Fn(usize) + Sync));
    /// Processors that this process may use.
    fn processors(&self) -> usize;
}

pub struct RealThreads;

impl Threads for RealThreads {
    fn run(&self, n: usize, body: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| {
            for worker in 1..n {
                let spawned = std::thread::Builder::new()
                    .name(format!("yunti-{worker}"))
                    .spawn_scoped(scope, move || body(worker));
                // Fewer threads than asked for are slower and not wrong: bodies share one queue of tasks.
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
