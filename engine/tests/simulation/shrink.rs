//! Shrinks a failing case: fewer troubles, less input, fewer jobs, parts and threads, while it still fails.

use std::time::{Duration, Instant};

use crate::case::{Case, Only};

/// Time of a shrinking, at most. A job that fails because it never ends takes half a minute each time.
const TIME_MAX: Duration = Duration::from_secs(120);

/// Returns the smallest variant of a seed that fails, beginning at `only`. `fails` runs one.
pub fn shrink(seed: u64, only: Only, mut fails: impl FnMut(&Only) -> bool) -> Only {
    let mut best = only;
    let began = Instant::now();
    loop {
        let smaller = candidates(seed, &best)
            .into_iter()
            .find(|candidate| began.elapsed() < TIME_MAX && *candidate != best && fails(candidate));
        match smaller {
            Some(smaller) => best = smaller,
            None => return best,
        }
    }
}

/// Returns variants that are smaller in one thing, the smallest first.
fn candidates(seed: u64, only: &Only) -> Vec<Only> {
    let case = Case::of(seed, only);
    let mut all = Vec::new();
    let kept: Vec<usize> = only.troubles.clone().unwrap_or_else(|| (0..case.troubles.len()).collect());
    for n in 0..kept.len() {
        let mut fewer = kept.clone();
        fewer.remove(n);
        all.push(Only { troubles: Some(fewer), ..only.clone() });
    }
    let mut limited = |change: &dyn Fn(&mut Only)| {
        let mut smaller = only.clone();
        change(&mut smaller);
        all.push(smaller);
    };
    if only.limits.later > 0 && !case.job.spec.then.is_empty() {
        limited(&|only| only.limits.later = 0);
    }
    let bytes: u64 = case.job.files.iter().map(|(_, bytes)| bytes.len() as u64).sum();
    for share in [100, 10, 2] {
        let fewer = only.limits.bytes.min(bytes) / share;
        if bytes > 0 && fewer < only.limits.bytes {
            limited(&|only| only.limits.bytes = fewer);
        }
    }
    let reduces = case.job.spec.reduces;
    for fewer in [1, reduces / 2] {
        if fewer > 0 && fewer < reduces {
            limited(&|only| only.limits.reduces = fewer);
        }
    }
    let threads = case.job.spec.threads.unwrap_or(1);
    for fewer in [1, threads / 2] {
        if fewer > 0 && fewer < threads {
            limited(&|only| only.limits.threads = fewer);
        }
    }
    all
}
