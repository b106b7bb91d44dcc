//! The means of a query: memory, threads, files, and the flag that ends it.

use std::sync::Arc;

use yunti_base::{Cancel, Error, Result};
use yunti_engine::env::Env;
use yunti_engine::memory::Budget;

use crate::code::Compilation;
use crate::meter::Under;

/// Settings of one query.
#[derive(Clone)]
pub struct Context {
    pub env: Env,
    /// Memory of the query. What does not fit in it goes to files in the temporary directory.
    pub budget: Arc<Budget>,
    /// Workers.
    pub threads: usize,
    pub cancel: Cancel,
    /// Compiler of the query; None: kernels alone.
    pub compilation: Option<Compilation>,
    /// True if an operator above puts the rows in an order of its own.
    pub any_order: bool,
    /// Operator for which work is done, if rows and times are counted.
    pub under: Option<Under>,
}

impl Context {
    /// Returns the means of a query that kernels alone run, and that counts nothing.
    pub fn new(env: Env, budget: Arc<Budget>, threads: usize, cancel: Cancel) -> Context {
        Context { env, budget, threads, cancel, compilation: None, any_order: false, under: None }
    }

    /// Fails once the query is cancelled. Workers call it for each batch. Errors: `Cancelled`.
    pub fn check(&self) -> Result<()> {
        self.cancel.check().map_err(|_| Error::new(yunti_base::Code::Cancelled, "the query was cancelled"))
    }
}
