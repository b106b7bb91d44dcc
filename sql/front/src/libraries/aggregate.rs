//! An aggregate of a class library: for the planner, for the general executor a group at a time, and for Yunti's
//! executor over the states of all groups.

use std::fmt;
use std::sync::{Arc, Mutex};

use arrow_schema::{DataType, Field, FieldRef};
use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::common::{Result, ScalarValue, not_impl_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDFImpl, Signature, Volatility};
use yunti_base::Error;
use yunti_engine::columns::vector::{Value, Vector};
use yunti_sql_plan::{ForeignAggregate, kind_of};

use super::class::{Chosen, QueryClass, vector_of};
use super::types::{coerced, data_type};
use crate::{arrow, failure};

/// An aggregate, for the planner.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct ClassAggregate {
    pub class: Arc<QueryClass>,
    signature: Signature,
}

impl ClassAggregate {
    pub fn new(class: Arc<QueryClass>) -> ClassAggregate {
        ClassAggregate { class, signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl AggregateUDFImpl for ClassAggregate {
    fn name(&self) -> &str {
        self.class.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(data_type(self.class.signature().result))
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        coerced(self.class.name(), self.class.signature(), types)
    }

    fn accumulator(&self, arguments: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        if arguments.is_distinct {
            return not_impl_err!("{} of distinct values", self.class.name());
        }
        let states = States::new(self.class.clone());
        let mut state = vec![0; states.state_bytes()];
        states.init(&mut state);
        states.check()?;
        Ok(Box::new(OneGroup { states, state }))
    }

    fn state_fields(&self, arguments: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(Field::new(format!("{}[state]", arguments.name), DataType::Binary, true))])
    }
}

/// The state of one group, for the general executor.
#[derive(Debug)]
struct OneGroup {
    states: States,
    state: Vec<u8>,
}

impl Accumulator for OneGroup {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let rows = values.first().map_or(0, |array| array.len());
        let vectors =
            values.iter().map(|array| arrow::vector(array).map(Arc::new)).collect::<yunti_base::Result<Vec<_>>>();
        self.states.add(&mut self.state, &vec![0; rows], None, &vectors.map_err(failure::wrapped)?);
        self.states.check()
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let Some(array) = states.first() else { return Ok(()) };
        for state in array.as_binary::<i32>().iter().flatten() {
            if state.len() != self.state.len() {
                return not_impl_err!("a state of another size");
            }
            self.states.merge(&mut self.state, &[0], state, &[0]);
        }
        self.states.check()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![ScalarValue::Binary(Some(self.state.clone()))])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let vector = self.states.finish(&self.state, &[0]);
        self.states.check()?;
        let of = data_type(self.states.class.signature().result);
        let array = arrow::array(&vector, &of).map_err(failure::wrapped)?;
        ScalarValue::try_from_array(&array, 0)
    }

    fn size(&self) -> usize {
        size_of::<OneGroup>() + self.state.capacity()
    }
}

/// States of many groups. The first failure of a call is kept.
pub struct States {
    class: Arc<QueryClass>,
    failure: Mutex<Option<Error>>,
}

impl States {
    pub fn new(class: Arc<QueryClass>) -> States {
        States { class, failure: Mutex::default() }
    }

    fn check(&self) -> Result<()> {
        match self.failure() {
            Some(error) => Err(failure::wrapped(error)),
            None => Ok(()),
        }
    }

    /// Runs a call unless one has failed; keeps its failure.
    fn run<T>(&self, call: impl FnOnce() -> yunti_base::Result<T>) -> Option<T> {
        if self.failure().is_some() {
            return None;
        }
        call().map_err(|e| self.failure.lock().unwrap_or_else(|e| e.into_inner()).get_or_insert(e).clone()).ok()
    }
}

impl fmt::Debug for States {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.class.fmt(f)
    }
}

impl ForeignAggregate for States {
    fn name(&self) -> &str {
        self.class.name()
    }

    fn state_bytes(&self) -> usize {
        self.class.signature().state_bytes
    }

    fn init(&self, states: &mut [u8]) {
        self.run(|| self.class.with_aggregate(|of| of.init(states)));
    }

    fn add(&self, states: &mut [u8], groups: &[u32], rows: Option<&[u32]>, arguments: &[Arc<Vector>]) {
        self.run(|| {
            let all = arguments.first().map_or(0, |of| of.len());
            let (mut kept_groups, mut kept_rows) = (Vec::new(), Vec::new());
            let passed = match (self.class.passed(arguments, all), rows) {
                (None, None) => None,
                (None, Some(rows)) => Some((groups, rows)),
                (Some(passed), rows) => {
                    let mut has_no_null = vec![false; all];
                    passed.iter().for_each(|&row| has_no_null[row as usize] = true);
                    for (n, &group) in groups.iter().enumerate() {
                        let row = rows.map_or(n as u32, |rows| rows[n]);
                        if has_no_null[row as usize] {
                            kept_groups.push(group);
                            kept_rows.push(row);
                        }
                    }
                    Some((&kept_groups[..], &kept_rows[..]))
                }
            };
            let (groups, rows) = passed.map_or((groups, None), |(groups, rows)| (groups, Some(rows)));
            if groups.is_empty() {
                return Ok(());
            }
            let chosen = Chosen::of(arguments, rows);
            let columns = chosen.columns(self.class.signature())?;
            self.class.with_aggregate(|of| of.add(states, groups, &columns))
        });
    }

    fn merge(&self, states: &mut [u8], to: &[u32], from: &[u8], groups: &[u32]) {
        self.run(|| self.class.with_aggregate(|of| of.merge(states, to, from, groups)));
    }

    fn finish(&self, states: &[u8], groups: &[u32]) -> Vector {
        let bytes = self.class.string_bytes();
        let done = self.run(|| vector_of(self.class.with_aggregate(|of| of.finish(states, groups, bytes))?));
        done.unwrap_or_else(|| {
            let kind = kind_of(&data_type(self.class.signature().result));
            Vector::constant(&Value::Null, kind.unwrap_or(yunti_engine::columns::kind::Kind::Int), groups.len())
        })
    }

    fn failure(&self) -> Option<Error> {
        self.failure.lock().unwrap_or_else(|e| e.into_inner()).clone()
    }
}
