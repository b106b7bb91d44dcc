//! Threads of the job, marked as the engine's own, each with a signal stack.

use std::sync::Arc;

use yunti_engine::env::Threads;

use super::{handlers, running};

pub struct WatchedThreads(pub Arc<dyn Threads>);

impl Threads for WatchedThreads {
    fn run(&self, n: usize, body: &(dyn Fn(usize) + Sync)) {
        self.0.run(n, &|worker| {
            running::mark_thread();
            running::set_input(None, 0);
            handlers::give_signal_stack();
            body(worker);
        });
    }

    fn processors(&self) -> usize {
        self.0.processors()
    }
}
