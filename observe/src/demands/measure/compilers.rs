//! Compilers of a JVM before its other threads, while it compiles its methods again.
//!
//! The first change of a class by an agent makes a JVM that was started without one throw all compiled code away. Under
//! load, threads of requests then keep the processors busy with interpreted code, and the compilers that would help
//! get a thread's share of the time: the service answered nothing for 8 seconds (measured: 48 threads, 2 processors).

use rustix::process::{Pid, getpriority_process, setpriority_process};
use yunti_probe::target::Process;

use crate::why::facts::is_compiler;

/// Nice value of the compilers.
const FIRST: i32 = -15;

/// Compilers that come first, until this is dropped.
pub struct CompilersFirst {
    /// Threads, and the nice values that they had.
    before: Vec<(Pid, i32)>,
}

impl CompilersFirst {
    /// Lets the compilers come first, as far as that is allowed.
    pub fn of(process: &Process) -> CompilersFirst {
        let is_compiler = |tid: &u32| process.thread_name(*tid).is_some_and(|name| is_compiler(&name));
        let thread = |tid: u32| {
            // Linux has nice values of threads, by their numbers.
            let thread = Pid::from_raw(i32::try_from(tid).ok()?)?;
            let before = getpriority_process(Some(thread)).ok().filter(|nice| *nice > FIRST)?;
            setpriority_process(Some(thread), FIRST).ok()?;
            Some((thread, before))
        };
        CompilersFirst { before: process.threads().into_iter().filter(is_compiler).filter_map(thread).collect() }
    }
}

impl Drop for CompilersFirst {
    fn drop(&mut self) {
        for (thread, before) in &self.before {
            // A thread that has ended needs none.
            let _ = setpriority_process(Some(*thread), *before);
        }
    }
}
