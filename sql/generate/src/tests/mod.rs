//! Code against kernels: random expressions over random columns, in all shapes. A failure prints its seed:
//! `YUNTI_SEED=n` runs one case alone, `YUNTI_CASES=n` more of them.

mod aggregates;
mod expressions;
mod random;

use std::sync::Arc;

use yunti_sql_execute::code::{Compilation, Mode};

use crate::Generator;

/// Returns a compiler without files, for the first batch already.
fn compilation() -> Compilation {
    Compilation { compiler: Arc::new(Generator::new(None)), mode: Mode::On, counts: Arc::default() }
}

/// Runs a check for some seeds.
fn for_seeds(cases: u64, check: impl Fn(u64)) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    if let Some(seed) = number("YUNTI_SEED") {
        return check(seed);
    }
    (0..number("YUNTI_CASES").unwrap_or(cases)).for_each(check);
}
