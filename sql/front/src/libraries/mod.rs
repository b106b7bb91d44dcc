//! Functions and aggregates of class libraries in queries.
//!
//! ```text
//!   class.rs       a class: calls over columns, on any thread
//!   scalar.rs      a function, for the planner and the general executor
//!   aggregate.rs   an aggregate, for both executors
//!   running.rs     the function that runs on each thread
//!   names.rs       `geo.CELL(..)` in a text -> the class Geo.cell
//! ```

pub mod aggregate;
pub mod class;
mod names;
pub mod running;
pub mod scalar;
mod types;

use std::path::PathBuf;
use std::sync::Arc;

use datafusion::execution::SessionState;
use datafusion::logical_expr::registry::FunctionRegistry;
use datafusion::logical_expr::{AggregateUDF, ScalarUDF};
use datafusion::sql::parser::Statement as Parsed;
use yunti_base::{Code, Error, Result};
use yunti_engine::abi;
use yunti_engine::memory::Budget;
use yunti_engine::operator::context::JobContext;

use self::aggregate::ClassAggregate;
use self::class::QueryClass;
use self::names::Names;
use self::scalar::ClassFunction;
use crate::failure;

/// Functions of a session's class libraries.
#[derive(Default)]
pub struct Libraries {
    classes: Vec<Arc<QueryClass>>,
    names: Names,
}

impl Libraries {
    /// Loads libraries. A class of an earlier library hides those of its name.
    ///
    /// Errors: `UserCode` for a library that cannot be loaded, or has no function for queries.
    pub fn load(libraries: &[PathBuf], budget: &Arc<Budget>) -> Result<Libraries> {
        let mut all = Libraries::default();
        let job = JobContext::empty();
        for path in libraries {
            let library = abi::load(path)?;
            let mut n = 0;
            for name in library.names() {
                let Some(class) = library.find(&name) else { continue };
                let Some(class) = QueryClass::new(class, &job, budget) else { continue };
                n += 1;
                if all.names.add(&name) {
                    all.classes.push(Arc::new(class));
                }
            }
            if n == 0 {
                let error = Error::new(Code::UserCode, "the class library has no function and no aggregate");
                return Err(error.at_path(path.to_string_lossy()).hint("register them with yunti::function"));
            }
        }
        Ok(all)
    }

    /// Makes the functions known to the planner.
    pub fn register(&self, state: &mut SessionState) -> Result<()> {
        for class in &self.classes {
            if class.signature().state_bytes == 0 {
                let function = ScalarUDF::from(ClassFunction::new(class.clone()));
                state.register_udf(Arc::new(function)).map_err(failure::plain)?;
            } else {
                let function = AggregateUDF::from(ClassAggregate::new(class.clone()));
                state.register_udaf(Arc::new(function)).map_err(failure::plain)?;
            }
        }
        Ok(())
    }

    /// Writes the names of functions in a statement as their classes have them, whatever their case.
    pub fn name(&self, statement: &mut Parsed) {
        self.names.replace(statement);
    }
}
