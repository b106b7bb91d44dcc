//! The executor of a task, on a thread of its own: the engine gives the task blocks, and the executor takes rows.
//!
//! ```text
//!   task's thread:      push(input, batch) ...  finish
//!                          |          ^
//!                          v          |  rows, some batches at most
//!   executor's thread:  Input n      out
//! ```
//!
//! Rows of one input come after those of the input before. A plan may want a later input first: then the rows of the
//! input that comes are kept, within the memory of the query.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;

use yunti_base::{Code, Error, Result};
use yunti_engine::memory::budget::Grant;
use yunti_sql_execute::store::size::batch_bytes;
use yunti_sql_execute::{Context, run};
use yunti_sql_plan::wire::Open;
use yunti_sql_plan::{Batch, Bounds, Morsel, MorselReader, Node, Statistics, Table, TablePlace, TableSource};

use crate::stage;

/// Batches of rows that wait for the task.
const WAITING_MAX: usize = 4;
/// Bytes of the executor's stack: plans are as deep as queries.
const STACK_BYTES: usize = 256 << 20;
/// Purpose of the memory of rows that an input has given too early.
const LATER: &str = "rows that are wanted later";

#[derive(Default)]
struct State {
    /// Batch that the task has given, with its input.
    given: Option<(u32, Batch)>,
    /// True once no batch comes any more.
    has_ended: bool,
    /// Input that the executor waits for.
    wanted: Option<u32>,
    /// Inputs whose rows are wanted no more.
    closed: Vec<u32>,
    /// Batches of inputs that are wanted later, with their memory.
    kept: VecDeque<(u32, Batch, Grant)>,
    /// Rows for the task.
    out: VecDeque<Batch>,
    /// Result of the executor.
    done: Option<Result<()>>,
    /// True once the task is gone.
    is_dead: bool,
}

struct Shared {
    state: Mutex<State>,
    moved: Condvar,
    context: Context,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        self.moved.wait(state).unwrap_or_else(|e| e.into_inner())
    }
}

/// An executor that runs.
pub struct Feed {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// Makes the plan on the executor's thread, whose stack is large.
type Make = dyn FnOnce(&mut Open<'_>) -> Result<Option<Node>> + Send;

/// Receives rows on the task's thread.
pub type Take<'t> = dyn FnMut(Batch) -> Result<()> + 't;

impl Feed {
    /// Starts the executor of the plan that `make` returns. Errors: `Memory` without a thread.
    pub fn start(
        context: &Context,
        make: impl FnOnce(&mut Open<'_>) -> Result<Option<Node>> + Send + 'static,
    ) -> Result<Feed> {
        let shared = Arc::new(Shared { state: Mutex::default(), moved: Condvar::new(), context: context.clone() });
        let own = shared.clone();
        let make: Box<Make> = Box::new(make);
        let work = move || {
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| execute(&own, make)));
            let done = done.unwrap_or_else(|panic| Err(yunti_base::error::of_panic(&*panic)));
            own.lock().done = Some(done);
            own.moved.notify_all();
        };
        let thread = std::thread::Builder::new().name("query".into()).stack_size(STACK_BYTES).spawn(work);
        let thread = thread.map_err(|e| Error::io(Code::Memory, "cannot start a thread for the query", &e))?;
        Ok(Feed { shared, thread: Some(thread) })
    }

    /// Gives the rows of an input, and takes rows that are ready. Fails with the error of the executor or of `take`.
    pub fn push(&mut self, input: u32, batch: Batch, take: &mut Take<'_>) -> Result<()> {
        if batch.rows == 0 {
            return Ok(());
        }
        let mut batch = Some(batch);
        loop {
            let mut state = self.shared.lock();
            loop {
                if !state.out.is_empty() {
                    break;
                }
                match &state.done {
                    Some(Ok(())) => return Ok(()),
                    Some(Err(error)) => return Err(error.clone()),
                    None => {}
                }
                if state.closed.contains(&input) {
                    return Ok(());
                }
                match state.wanted {
                    Some(wanted) if wanted == input && state.given.is_none() => {
                        state.given = batch.take().map(|batch| (input, batch));
                        state.wanted = None;
                        self.shared.moved.notify_all();
                        return Ok(());
                    }
                    // The executor waits for a later input: these rows are kept for it.
                    Some(wanted) if wanted > input => {
                        let Some(batch) = batch.take() else { return Ok(()) };
                        let grant = self.shared.context.budget.grant(batch_bytes(&batch), LATER)?;
                        state.kept.push_back((input, batch, grant));
                        return Ok(());
                    }
                    // The input that it waits for has ended.
                    Some(_) if state.given.is_none() => {
                        state.given = batch.take().map(|batch| (input, batch));
                        state.wanted = None;
                        self.shared.moved.notify_all();
                        return Ok(());
                    }
                    _ => state = self.shared.wait(state),
                }
            }
            self.drain(state, take)?;
        }
    }

    /// Ends the rows, and takes the rest of the result.
    pub fn finish(mut self, take: &mut Take<'_>) -> Result<()> {
        loop {
            let mut state = self.shared.lock();
            state.has_ended = true;
            self.shared.moved.notify_all();
            while state.out.is_empty() && state.done.is_none() {
                state = self.shared.wait(state);
            }
            if state.out.is_empty() {
                let done = state.done.clone().unwrap_or(Ok(()));
                drop(state);
                if let Some(thread) = self.thread.take() {
                    let _ = thread.join();
                }
                return done;
            }
            self.drain(state, take)?;
        }
    }

    fn drain(&self, mut state: MutexGuard<'_, State>, take: &mut Take<'_>) -> Result<()> {
        let ready = std::mem::take(&mut state.out);
        drop(state);
        self.shared.moved.notify_all();
        ready.into_iter().try_for_each(take)
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        self.shared.lock().is_dead = true;
        self.shared.context.cancel.set();
        self.shared.moved.notify_all();
        let _ = thread.join();
    }
}

fn execute(shared: &Arc<Shared>, make: Box<Make>) -> Result<()> {
    let context = &shared.context;
    let mut open = |of: yunti_sql_plan::wire::TableName| match of.place {
        TablePlace::Input(number) => {
            let source = Arc::new(Rows { number, shared: shared.clone() });
            let statistics = Statistics { rows: of.rows, columns: Vec::new() };
            Ok(Arc::new(Table { name: of.name, fields: of.fields, statistics, source }))
        }
        TablePlace::Files { .. } => stage::open(&of, context),
    };
    let plan = make(&mut open)?;
    let plan = plan.ok_or_else(|| Error::new(Code::Corrupt, "the stage has no such fragment"))?;
    run(&plan, context, &mut |batch| {
        let mut state = shared.lock();
        while state.out.len() >= WAITING_MAX && !state.is_dead {
            state = shared.wait(state);
        }
        if state.is_dead {
            return Err(Error::new(Code::Cancelled, "the task has ended"));
        }
        state.out.push_back(batch);
        drop(state);
        shared.moved.notify_all();
        Ok(())
    })
}

/// The rows of an input, as a table.
struct Rows {
    number: u32,
    shared: Arc<Shared>,
}

impl std::fmt::Debug for Rows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "input {}", self.number)
    }
}

impl TableSource for Rows {
    fn morsels(&self, _: &[usize], _: &[Bounds]) -> Result<Vec<Morsel>> {
        Ok(vec![Morsel { file: 0, unit: 0, rows: 0, bytes: 0 }])
    }

    fn open(&self, _: &Morsel, columns: &[usize], _: &[Bounds]) -> Result<Box<dyn MorselReader>> {
        Ok(Box::new(Reader { number: self.number, shared: self.shared.clone(), columns: columns.to_vec() }))
    }

    fn place(&self) -> Option<TablePlace> {
        Some(TablePlace::Input(self.number))
    }
}

struct Reader {
    number: u32,
    shared: Arc<Shared>,
    columns: Vec<usize>,
}

impl Reader {
    /// Returns the next batch of the input; None at its end.
    fn take(&self) -> Result<Option<Batch>> {
        let mut state = self.shared.lock();
        loop {
            if let Some(at) = state.kept.iter().position(|(input, ..)| *input == self.number) {
                return Ok(state.kept.remove(at).map(|(_, batch, _)| batch));
            }
            match &state.given {
                Some((input, _)) if *input == self.number => {
                    return Ok(state.given.take().map(|(_, batch)| batch));
                }
                // Inputs come in the order of their numbers.
                Some((input, _)) if *input > self.number => return Ok(None),
                Some((input, _)) if state.closed.contains(input) => state.given = None,
                Some(_) => {
                    // Rows of an earlier input, which the plan wants later.
                    let Some((input, batch)) = state.given.take() else { continue };
                    let grant = self.shared.context.budget.grant(batch_bytes(&batch), LATER)?;
                    state.kept.push_back((input, batch, grant));
                }
                None => {}
            }
            if state.has_ended || state.is_dead {
                return Ok(None);
            }
            state.wanted = Some(self.number);
            self.shared.moved.notify_all();
            state = self.shared.wait(state);
        }
    }
}

impl MorselReader for Reader {
    fn next(&mut self) -> Result<Option<Batch>> {
        self.shared.context.check()?;
        Ok(self.take()?.map(|batch| batch.project(&self.columns)))
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.closed.push(self.number);
        state.kept.retain(|(input, ..)| *input != self.number);
        if state.given.as_ref().is_some_and(|(input, _)| *input == self.number) {
            state.given = None;
        }
        drop(state);
        self.shared.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use arrow_schema::DataType;
    use yunti_base::Cancel;
    use yunti_engine::columns::vector::{Data, Value, Vector};
    use yunti_engine::env::Env;
    use yunti_engine::memory::Budget;
    use yunti_sql_plan::wire::TableName;
    use yunti_sql_plan::{Aggregate, AggregateFunction, Expression, Field, Join, JoinKind, Scan};

    use super::*;

    fn context(bytes: u64) -> Context {
        Context::new(Env::real(), Budget::new(bytes), 1, Cancel::default())
    }

    fn input(number: u32, open: &mut Open<'_>) -> Node {
        let field = Field { name: "k".into(), data_type: DataType::Int64, nullable: false };
        let of = TableName { name: "t".into(), place: TablePlace::Input(number), fields: vec![field], rows: None };
        Node::Scan(Scan { table: open(of).unwrap(), columns: vec![0], conditions: Vec::new(), limit: None })
    }

    fn column() -> Expression {
        Expression::column(0, DataType::Int64)
    }

    fn count(of: Node) -> Node {
        let function = AggregateFunction::Count;
        let data_type = DataType::Int64;
        let call = Aggregate { function, argument: None, distinct: false, condition: None, data_type, foreign: None };
        Node::Aggregate { input: Box::new(of), keys: Vec::new(), sets: Vec::new(), aggregates: vec![call] }
    }

    /// Returns the first column of the rows of a plan over inputs, each with its batches.
    fn rows(make: fn(&mut Open<'_>) -> Node, inputs: &[&[&[i64]]], bytes: u64) -> Result<Vec<Value>> {
        let mut feed = Feed::start(&context(bytes), move |open| Ok(Some(make(open))))?;
        let mut rows = Vec::new();
        let mut take = |batch: Batch| {
            rows.extend((0..batch.rows).map(|row| batch.columns[0].value(row)));
            Ok(())
        };
        for (number, batches) in inputs.iter().enumerate() {
            for values in *batches {
                let batch = Batch::of(vec![Vector::of(Data::Ints(values.to_vec()))], values.len());
                feed.push(number as u32, batch, &mut take)?;
            }
        }
        feed.finish(&mut take)?;
        Ok(rows)
    }

    fn join(open: &mut Open<'_>) -> Node {
        let (left, right) = (Box::new(input(0, open)), Box::new(input(1, open)));
        let keys = vec![(column(), column())];
        Node::Join(Join {
            left,
            right,
            kind: JoinKind::Inner,
            keys,
            nulls_equal: false,
            condition: None,
            build_left: true,
        })
    }

    #[test]
    fn rows_pass_through_plans() {
        let ints = |values: &[i64]| values.iter().map(|&value| Value::Int(value)).collect::<Vec<_>>();
        let one: &[&[i64]] = &[&[1, 2], &[], &[3]];
        assert_eq!(rows(|open| input(0, open), &[one], 1 << 20).unwrap(), ints(&[1, 2, 3]));
        assert_eq!(rows(|open| count(input(0, open)), &[one], 1 << 24).unwrap(), ints(&[3]));
        // Without a row there is a row.
        assert_eq!(rows(|open| count(input(0, open)), &[&[]], 1 << 24).unwrap(), ints(&[0]));
        let two: &[&[i64]] = &[&[3, 3], &[4, 1]];
        assert_eq!(rows(join, &[one, two], 1 << 24).unwrap(), ints(&[3, 3, 1]));
        // A table without rows ends the plan before the rows that look into it.
        assert_eq!(rows(join, &[&[], two], 1 << 24).unwrap(), ints(&[]));
    }

    #[test]
    fn a_later_input_may_be_wanted_first() {
        // The count takes all of input 1 before the union gives the rows of input 0.
        fn union(open: &mut Open<'_>) -> Node {
            let (first, second) = (input(0, open), input(1, open));
            Node::Union { inputs: vec![first, count(second)] }
        }
        let (zero, one): (&[&[i64]], &[&[i64]]) = (&[&[5], &[6]], &[&[1, 1, 1]]);
        let rows_of = |bytes| rows(union, &[zero, one], bytes);
        let mut found = rows_of(1 << 24).unwrap();
        found.sort_by_key(|value| if let Value::Int(value) = value { *value } else { 0 });
        assert_eq!(found, [3, 5, 6].map(Value::Int));
        assert_eq!(rows_of(1).unwrap_err().code(), Code::Memory);
    }

    #[test]
    fn errors_and_an_early_end_stop_the_executor() {
        let limit = |open: &mut Open<'_>| Node::Limit { input: Box::new(input(0, open)), skip: 0, count: Some(1) };
        let many: Vec<&[i64]> = vec![&[7, 8]; 100];
        assert_eq!(rows(limit, &[&many], 1 << 20).unwrap(), [Value::Int(7)]);
        let error =
            Feed::start(&context(1), |_| Err(Error::new(Code::Corrupt, "no plan"))).unwrap().finish(&mut |_| Ok(()));
        assert_eq!(error.unwrap_err().code(), Code::Corrupt);
        // A task that goes away leaves no thread.
        drop(Feed::start(&context(1 << 20), |open| Ok(Some(input(0, open)))).unwrap());
        let mut feed = Feed::start(&context(1 << 20), |open| Ok(Some(input(0, open)))).unwrap();
        let stop = |_| Err(Error::new(Code::Output, "full"));
        let batch = || Batch::of(vec![Vector::of(Data::Ints(vec![1]))], 1);
        let failed = (0..100).find_map(|_| feed.push(0, batch(), &mut { stop }).err());
        assert_eq!(failed.unwrap().code(), Code::Output);
    }
}
