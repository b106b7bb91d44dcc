//! Random jobs on real files and threads, with at most one fault.

use std::fs;
use std::sync::Arc;

use yunti_base::Code;
use yunti_engine::env::faulty::{Fault, FaultyFiles, Place, Step};
use yunti_engine::env::random::Random as Numbers;
use yunti_engine::env::real::RealFiles;
use yunti_engine::env::threads::RealThreads;
use yunti_engine::env::{Env, Threads};
use yunti_engine::job::JobSpec;

use crate::job::{Limits, Random};
use crate::shapes::{chance, magnitude, pick};
use crate::support::{Temp, run_in};

/// A fault: kind, files, and the operation at which it begins.
#[derive(Clone, Copy, Debug)]
struct Trouble {
    nth: u64,
    sticky: bool,
    fault: Fault,
    scratch_only: bool,
}

/// A random job and what goes wrong.
pub struct RealJob {
    job: Random,
    trouble: Option<Trouble>,
}

/// System that starts at most this many threads.
struct FewThreads(usize);

impl Threads for FewThreads {
    fn run(&self, n: usize, body: &(dyn Fn(usize) + Sync)) {
        RealThreads.run(n.min(self.0), body);
    }
    fn processors(&self) -> usize {
        4
    }
}

fn trouble(random: &mut Numbers) -> Option<Trouble> {
    if chance(random, 60) {
        return None;
    }
    let errno = Fault::Errno(pick(random, &[libc::EIO, libc::ENOSPC, libc::EINTR, libc::EACCES, libc::EMFILE]));
    let fault = pick(random, &[errno, errno, errno, Fault::Short, Fault::Slow(1), Fault::Torn]);
    let sticky = match fault {
        // An operation that is always interrupted would never end.
        Fault::Errno(libc::EINTR) | Fault::Slow(_) => false,
        _ => chance(random, 30),
    };
    // A flipped bit in the input would be other input.
    let scratch_only = fault == Fault::Torn || chance(random, 30);
    Some(Trouble { nth: 1 + magnitude(random, 600), sticky, fault, scratch_only })
}

impl RealJob {
    pub fn of(seed: u64) -> RealJob {
        let random = &mut Numbers::new(seed);
        let mut job = Random::of(random, &Limits::default());
        let trouble = trouble(random);
        // If the new directory can neither be synced nor changed, both outputs stay.
        job.spec.durable &= !(job.older && trouble.is_some_and(|t| t.sticky && !t.scratch_only));
        RealJob { job, trouble }
    }

    pub fn describe(&self) -> String {
        format!("{}, fault: {:?}", self.job.describe(), self.trouble)
    }

    /// Runs the job once. Returns a name of the outcome.
    pub fn run(&self) -> &'static str {
        let temp = Temp::new("random");
        for (name, bytes) in &self.job.files {
            temp.write(&format!("in/{name}"), bytes);
        }
        ["s", "t"].iter().for_each(|s| fs::create_dir(temp.path(s)).unwrap());
        if self.job.older {
            temp.write("out/older", b"older");
        }
        let spec = self.job.spec_in(&temp.path(""));
        let mut outcome = "troubled, the same";
        let mut result = run_in(&self.env(), &spec);
        if result.as_ref().is_err_and(|e| e.code() == Code::Memory) && spec.memory_bytes < Some(256 << 20) {
            // Encoders of some codecs need more memory than the least budget.
            self.job.expect_nothing(&RealFiles, &temp.path(""));
            let more = JobSpec { memory_bytes: Some(256 << 20), ..spec.clone() };
            outcome = "with more memory";
            result = run_in(&self.env(), &more);
        }
        match (result, self.trouble) {
            (Ok(_), None) if outcome == "with more memory" => {}
            (Ok(_), None) => outcome = "the same",
            (Ok(_), Some(_)) => {}
            (Err(e), None) => panic!("{e}"),
            (Err(e), Some(t)) => {
                let allowed: &[Code] = match t.fault {
                    Fault::Errno(libc::EINTR) | Fault::Short | Fault::Slow(_) => &[],
                    Fault::Torn => &[Code::Corrupt],
                    Fault::Errno(_) | Fault::Killed => &[Code::Input, Code::Output],
                };
                assert!(allowed.contains(&e.code()) && e.path().is_some(), "{:?}: {e}", e.code());
                self.job.expect_nothing(&RealFiles, &temp.path(""));
                return "troubled, one error";
            }
        }
        self.job.expect_output(&RealFiles, &temp.path(""));
        outcome
    }

    fn env(&self) -> Env {
        let threads = Arc::new(FewThreads(self.job.threads_given));
        let mut env = Env { cache_dir: None, threads, maps_files: self.job.maps_files, ..Env::real() };
        if let Some(t) = self.trouble {
            // Failed removals leave files behind; the sweep tests cover them.
            let counted = move |step: &Step| match step.place {
                Place::Scratch => true,
                _ => !t.scratch_only && !step.operation.is_removal(),
            };
            env.files = Arc::new(FaultyFiles::only(Arc::new(RealFiles), t.nth, t.sticky, t.fault, counted));
        }
        env
    }
}
