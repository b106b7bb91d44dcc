//! One statement: what it is, its plan, its rows.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use datafusion::arrow::array::{RecordBatch, RecordBatchOptions, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::{DataFusionError, ParamValues, TableReference};
use datafusion::datasource::{MemTable, source_as_provider};
use datafusion::execution::SessionState;
use datafusion::logical_expr::dml::InsertOp;
use datafusion::logical_expr::{DdlStatement, LogicalPlan, LogicalPlanBuilder, WriteOp};
use datafusion::physical_plan::{displayable, execute_stream};
use datafusion::sql::parser::Statement as Parsed;
use datafusion::sql::sqlparser::ast::{self, Statement as Sql};
use futures::StreamExt;
use tokio::sync::mpsc;
use yunti_base::{Code, Error, Result};
use yunti_sql_execute::Context;
use yunti_sql_execute::code::Compilation;
use yunti_sql_execute::meter::{Meter, Under};
use yunti_sql_plan::Node;

use super::parameters::value_of;
use super::syntax::{parse, parse_hive, shown_label};
use super::write::Target;
use super::{Dialect, Executor, Session, rules};
use crate::catalog::hive;
use crate::rows::Rows;
use crate::statements::Statement;
use crate::{arrow, failure, native};

/// Batches that wait for the reader of a result, at most.
const WAITING_BATCHES: usize = 2;
/// Time between two looks at the flag that cancels.
const CANCEL_TICK: Duration = Duration::from_millis(20);

/// Effect of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Done {
    /// It gave rows.
    Rows,
    /// It wrote rows: their number.
    Written(u64),
    /// It changed the session.
    Nothing,
}

/// How a query runs.
enum Plan {
    Native(Node),
    General(LogicalPlan),
}

impl Session {
    /// Runs a statement, which may have rows. Call it on a thread with a large stack (`runtime::with_large_stack`).
    ///
    /// Errors have the place in the text: `Usage` for text that is no query; those of files, memory and data.
    pub fn run(&mut self, statement: &Statement, rows: &mut dyn Rows) -> Result<Done> {
        let parsed = self.parse(statement)?;
        self.route(parsed, statement, rows)
    }

    /// Returns the plan of a query as text: operators, and what runs them.
    pub fn explain(&mut self, statement: &Statement) -> Result<String> {
        let parsed = self.parse(statement)?;
        let plan = self.plan_of(parsed, statement)?;
        self.explained(&plan, statement)
    }

    fn parse(&self, statement: &Statement) -> Result<Parsed> {
        match self.settings.dialect {
            Dialect::Own => {
                let state = self.context.state();
                parse(statement, &|name| {
                    state.scalar_functions().contains_key(name)
                        || state.aggregate_functions().contains_key(name)
                        || state.window_functions().contains_key(name)
                })
            }
            Dialect::Hive => parse_hive(statement),
        }
    }

    fn route(&mut self, parsed: Parsed, statement: &Statement, rows: &mut dyn Rows) -> Result<Done> {
        match parsed {
            Parsed::Explain(explain) if !explain.options.analyze => {
                let plan = self.plan_of(*explain.statement, statement)?;
                let text = self.explained(&plan, statement)?;
                give_lines("plan", text.lines(), rows)?;
                Ok(Done::Rows)
            }
            Parsed::Explain(explain) => {
                let plan = self.plan_of(*explain.statement, statement)?;
                self.analyzed(plan, statement, rows)
            }
            Parsed::CopyTo(copy) => {
                let target = Target::of_copy(&copy)?;
                let query = match copy.source {
                    datafusion::sql::parser::CopyToSource::Query(query) => *query,
                    datafusion::sql::parser::CopyToSource::Relation(name) => all_of(&name, statement)?,
                };
                self.write_query(query, target, statement)
            }
            Parsed::CreateExternalTable(create) => {
                self.writes("create external table")?;
                let (name, place) = super::write::place_of(&create)?;
                for path in &place.paths {
                    self.world.check(std::path::Path::new(path))?;
                }
                self.names.set_place(&name, place);
                Ok(Done::Nothing)
            }
            Parsed::Statement(sql) => match *sql {
                Sql::Copy { source, to: true, target, options, .. } => {
                    let target = Target::of_sql_copy(&target, &options)?;
                    let query = match source {
                        ast::CopySource::Query(query) => *query,
                        ast::CopySource::Table { table_name, .. } => all_of(&table_name, statement)?,
                    };
                    self.write_query(query, target, statement)
                }
                Sql::Directory { overwrite, path, file_format, source, .. } => {
                    let target = Target::of_directory(&path, file_format.map(|of| of.to_string()), overwrite);
                    self.write_query(*source, target, statement)
                }
                Sql::CreateTable(create) if super::write::location_of(&create).is_some() => {
                    let (name, target) = Target::of_create(&create)?;
                    let place = target.place();
                    let Some(query) = create.query else {
                        self.names.set_place(&name, place);
                        return Ok(Done::Nothing);
                    };
                    let done = self.write_query(*query, target, statement)?;
                    self.names.set_place(&name, place);
                    Ok(done)
                }
                Sql::ShowTables { .. } => {
                    let names = self.names.all();
                    give_lines("table_name", names.iter().map(String::as_str), rows)?;
                    Ok(Done::Rows)
                }
                other => self.planned(Parsed::Statement(Box::new(other)), statement, rows),
            },
            other => self.planned(other, statement, rows),
        }
    }

    /// Fails in a session that reads alone.
    pub(crate) fn writes(&self, what: &str) -> Result<()> {
        match self.settings.is_read_only {
            true => Err(Error::new(Code::Usage, format!("'{what}' writes, which --read-only forbids"))),
            false => Ok(()),
        }
    }

    fn planned(&mut self, parsed: Parsed, statement: &Statement, rows: &mut dyn Rows) -> Result<Done> {
        match self.plan_of(parsed, statement)? {
            LogicalPlan::Ddl(DdlStatement::CreateMemoryTable(create)) => self.create_table(create, statement),
            LogicalPlan::Dml(dml) => {
                self.writes("insert")?;
                let provider = source_as_provider(&dml.target).map_err(|e| failure::of(e, statement))?;
                let any: &dyn std::any::Any = provider.as_ref();
                match (&dml.op, any.downcast_ref::<MemTable>()) {
                    (WriteOp::Insert(op), Some(table)) => {
                        let mut kept = Kept::default();
                        self.rows_of(&dml.input, statement, &mut kept)?;
                        let count = kept.count();
                        self.wait(insert(table, kept.batches, *op), statement)?;
                        Ok(Done::Written(count))
                    }
                    _ => Err(Error::new(
                        Code::Usage,
                        format!("'{}' can only insert into tables in memory", dml.op.name().to_lowercase()),
                    )
                    .hint("write files with insert into directory, or copy .. to")),
                }
            }
            plan @ (LogicalPlan::Ddl(_) | LogicalPlan::Statement(_)) => {
                if matches!(plan, LogicalPlan::Ddl(_)) {
                    self.writes("a statement that changes tables")?;
                }
                let context = self.context.clone();
                let frame = self.wait(async move { context.execute_logical_plan(plan).await }, statement)?;
                let (_, plan) = frame.into_parts();
                if plan.schema().fields().is_empty() {
                    return Ok(Done::Nothing);
                }
                self.rows_of(&plan, statement, rows)?;
                Ok(Done::Rows)
            }
            plan => {
                self.rows_of(&plan, statement, rows)?;
                Ok(Done::Rows)
            }
        }
    }

    fn create_table(
        &mut self,
        create: datafusion::logical_expr::CreateMemoryTable,
        statement: &Statement,
    ) -> Result<Done> {
        self.writes("create table")?;
        let name = create.name.clone();
        let exists = self.names_has(&name);
        if exists && create.if_not_exists {
            return Ok(Done::Nothing);
        }
        if exists && !create.or_replace {
            return Err(Error::new(Code::Usage, format!("there is already a table '{}'", name.table())));
        }
        let mut kept = Kept::default();
        self.rows_of(&create.input, statement, &mut kept)?;
        let count = kept.count();
        let table = MemTable::try_new(kept.schema, vec![kept.batches]).map_err(|e| failure::of(e, statement))?;
        let table = table
            .with_constraints(create.constraints)
            .with_column_defaults(create.column_defaults.into_iter().collect());
        self.context.register_table(name, Arc::new(table)).map_err(|e| failure::of(e, statement))?;
        Ok(Done::Written(count))
    }

    fn names_has(&self, name: &TableReference) -> bool {
        self.context.table_exist(name.clone()).unwrap_or(false)
    }

    /// Returns the logical plan of a statement, with its parameters.
    pub(crate) fn plan_of(&mut self, mut parsed: Parsed, statement: &Statement) -> Result<LogicalPlan> {
        self.libraries.name(&mut parsed);
        let state = self.context.state();
        let plan = self.wait(async move { state.statement_to_plan(parsed).await }, statement)?;
        let wants = !self.settings.parameters.is_empty()
            && !matches!(plan, LogicalPlan::Statement(_))
            && plan.get_parameter_names().is_ok_and(|names| !names.is_empty());
        match wants {
            true => plan.with_param_values(self.parameters()?).map_err(|e| failure::of(e, statement)),
            false => Ok(plan),
        }
    }

    fn parameters(&self) -> Result<ParamValues> {
        let all = self.settings.parameters.iter().map(|(name, value)| value_of(name, value));
        let all = all.collect::<Result<Vec<_>>>()?;
        let numbers: Option<Vec<usize>> = all.iter().map(|(name, _)| name.parse().ok()).collect();
        let Some(numbers) = numbers else {
            return Ok(ParamValues::from(all.into_iter().collect::<std::collections::HashMap<_, _>>()));
        };
        let mut sorted: Vec<_> = numbers.into_iter().zip(all.into_iter().map(|(_, value)| value)).collect();
        sorted.sort_by_key(|(number, _)| *number);
        if sorted.iter().enumerate().any(|(n, (number, _))| n + 1 != *number) {
            return Err(Error::new(Code::Usage, "numbers of parameters must run from 1 without a gap"));
        }
        Ok(ParamValues::from(sorted.into_iter().map(|(_, value)| value).collect::<Vec<_>>()))
    }

    /// Decides what runs a query.
    fn choose(&self, plan: &LogicalPlan, statement: &Statement) -> Result<Plan> {
        let state = self.context.state();
        let optimized = optimized(plan, &state).map_err(|e| failure::of(e, statement))?;
        if self.settings.cluster.is_some() && is_of_front_end(&optimized) && reads_files(&optimized) {
            return Err(not_on_cluster("'explain analyze' (add --analyze), and tables of the system beside others"));
        }
        let needs_own =
            || Error::new(Code::Usage, "a subquery beside rows that a limit picks needs Yunti's own executor");
        if self.settings.executor == Executor::General || is_of_front_end(&optimized) {
            return match rules::picks_rows_twice(&optimized) {
                true => Err(needs_own().hint("leave out --executor general")),
                false => Ok(Plan::General(optimized)),
            };
        }
        match native::translate(&optimized, &state, &self.world.budget) {
            Ok(node) => Ok(Plan::Native(node)),
            Err(reason) if self.settings.cluster.is_some() => Err(not_on_cluster(&reason)),
            Err(reason) if self.settings.executor == Executor::Native => {
                Err(Error::new(Code::Usage, format!("Yunti's own executor lacks {reason}"))
                    .hint("leave out --executor native"))
            }
            Err(reason) if self.settings.is_memory_set => Err(Error::new(
                Code::Usage,
                format!(
                    "this query needs the general executor, which may not keep to --memory: the own one lacks {reason}"
                ),
            )
            .hint("leave out --memory, or add --executor general")),
            Err(reason) if rules::picks_rows_twice(&optimized) => Err(needs_own().hint(format!("it lacks {reason}"))),
            Err(reason) => {
                if !self.settings.is_quiet {
                    eprintln!(
                        "yunti: this query runs on the general executor, on one node: the own one lacks {reason}"
                    );
                }
                Ok(Plan::General(optimized))
            }
        }
    }

    fn explained(&mut self, plan: &LogicalPlan, statement: &Statement) -> Result<String> {
        let state = self.context.state();
        let optimized = optimized(plan, &state).map_err(|e| failure::of(e, statement))?;
        let reason = match (self.settings.executor, native::translate(&optimized, &state, &self.world.budget)) {
            (Executor::General, _) => "--executor general".to_string(),
            (_, Ok(node)) => {
                if let Some(cluster) = &self.settings.cluster {
                    return cluster.explain(&node, &self.world.env);
                }
                let mut text = format!("executor: native\n{node}");
                if self.settings.compilation.is_some() {
                    for line in yunti_sql_execute::run::explain::machine_code(&node) {
                        text.push_str(&format!("machine code, when it pays: {line}\n"));
                    }
                }
                return Ok(text);
            }
            (_, Err(reason)) if self.settings.cluster.is_some() => return Err(not_on_cluster(&reason)),
            (_, Err(reason)) => format!("the own one lacks {reason}"),
        };
        let planned = optimized.clone();
        let physical =
            self.wait(async move { state.query_planner().create_physical_plan(&planned, &state).await }, statement);
        let text = match physical {
            Ok(physical) => displayable(&*physical).indent(false).to_string(),
            Err(_) => optimized.display_indent().to_string(),
        };
        Ok(format!("executor: general ({reason})\n{text}"))
    }

    /// Returns the means of the own executor.
    fn execution(&self) -> Context {
        let (env, budget) = (self.world.env.clone(), self.world.budget.clone());
        let compilation = self.settings.compilation.as_ref().map(Compilation::for_query);
        Context { compilation, ..Context::new(env, budget, self.settings.threads, self.cancel.clone()) }
    }

    /// Runs a plan and drops its rows. Gives a line for each operator: rows, time of all threads, and what it does.
    fn analyzed(&mut self, plan: LogicalPlan, statement: &Statement, rows: &mut dyn Rows) -> Result<Done> {
        let node = match self.choose(&plan, statement)? {
            Plan::Native(node) => node,
            Plan::General(optimized) => {
                let analyze = LogicalPlanBuilder::from(optimized).explain(false, true).and_then(|plan| plan.build());
                let analyze = analyze.map_err(|e| failure::of(e, statement))?;
                self.general(&analyze, analyze.schema().as_arrow(), statement, rows)?;
                return Ok(Done::Rows);
            }
        };
        let meter = Arc::<Meter>::default();
        let context = Context { under: Some(Under::top(&meter)), ..self.execution() };
        let (begin, mut count) = (Instant::now(), 0);
        yunti_sql_execute::run(&node, &context, &mut |batch| {
            count += batch.rows;
            Ok(())
        })?;
        let seconds = begin.elapsed().as_secs_f64();
        let head = format!("executor: native, {} threads, {seconds:.3} s, {count} rows", context.threads);
        let columns = format!("{:>13}  {:>12}  {}", "rows", "thread time", "operator");
        let lines: Vec<String> = meter.measured().iter().map(|of| of.to_string()).collect();
        give_lines("plan", [&head, &columns].into_iter().chain(&lines).map(String::as_str), rows)?;
        Ok(Done::Rows)
    }

    /// Runs a plan that gives rows.
    pub(crate) fn rows_of(&mut self, plan: &LogicalPlan, statement: &Statement, rows: &mut dyn Rows) -> Result<()> {
        match self.choose(plan, statement)? {
            Plan::Native(node) => {
                let schema = shown(plan.schema().as_arrow(), node.types());
                if let Some(cluster) = &self.settings.cluster {
                    // Nothing is printed of a query that fails.
                    let mut begun = false;
                    cluster.run(&node, &self.world.env, &self.cancel, &mut |batch| {
                        if !std::mem::replace(&mut begun, true) {
                            rows.begin(&schema)?;
                        }
                        rows.rows(&arrow::record_batch(&batch, &schema)?)
                    })?;
                    return if begun { Ok(()) } else { rows.begin(&schema) };
                }
                rows.begin(&schema)?;
                let context = self.execution();
                let done = yunti_sql_execute::run(&node, &context, &mut |batch| {
                    rows.rows(&arrow::record_batch(&batch, &schema)?)
                });
                if let (Some(compilation), true) = (&context.compilation, self.settings.reports_compilation) {
                    eprintln!("yunti: {}", compilation.counts);
                }
                done.map_err(|e| if e.code() == Code::Cancelled { cancelled_error() } else { e })
            }
            Plan::General(optimized) => self.general(&optimized, plan.schema().as_arrow(), statement, rows),
        }
    }

    fn general(
        &mut self,
        plan: &LogicalPlan,
        names: &Schema,
        statement: &Statement,
        rows: &mut dyn Rows,
    ) -> Result<()> {
        let state = self.context.state();
        let physical = self.wait(state.query_planner().create_physical_plan(plan, &state), statement)?;
        let schema = shown(names, physical.schema().fields().iter().map(|field| field.data_type().clone()).collect());
        let task = state.task_ctx();
        let (sender, mut receiver) = mpsc::channel(WAITING_BATCHES);
        // Operators may compute for long without a pause, so that they run on workers, and this thread sees the flag.
        let mut worker = self.runtimes.spawn(async move {
            let mut stream = match execute_stream(physical, task) {
                Ok(stream) => stream,
                Err(e) => return drop(sender.send(Err(e)).await),
            };
            while let Some(next) = stream.next().await {
                if sender.send(next).await.is_err() {
                    return;
                }
            }
        })?;
        let cancel = &self.cancel;
        let mut begun = false;
        self.runtimes.wait(async {
            loop {
                let next = tokio::select! {
                    next = receiver.recv() => next,
                    () = cancelled(cancel) => {
                        worker.abort();
                        return Err(cancelled_error());
                    }
                };
                let batch = next.transpose().map_err(|e| failure::of(e, statement))?;
                if batch.is_none() {
                    // The worker has ended; a panic goes on here.
                    (&mut worker).await.map_err(ended)?;
                }
                if !begun {
                    rows.begin(&schema)?;
                    begun = true;
                }
                match batch {
                    Some(batch) if batch.num_rows() > 0 => {
                        let count = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
                        let columns = batch.columns().to_vec();
                        let batch = RecordBatch::try_new_with_options(schema.clone(), columns, &count);
                        rows.rows(&batch.map_err(|e| failure::of(e.into(), statement))?)?
                    }
                    Some(_) => {}
                    None => return Ok(()),
                }
            }
        })
    }

    pub(crate) fn wait<T>(
        &self,
        future: impl Future<Output = std::result::Result<T, DataFusionError>>,
        statement: &Statement,
    ) -> Result<T> {
        self.runtimes.wait(future).map_err(|e| failure::of(e, statement))
    }

    fn write_query(&mut self, query: ast::Query, target: Target, statement: &Statement) -> Result<Done> {
        self.writes("copy to files")?;
        let plan = self.plan_of(Parsed::Statement(Box::new(Sql::Query(Box::new(query)))), statement)?;
        let mut writer = target.writer(&self.world, self.settings.overwrite)?;
        self.rows_of(&plan, statement, &mut writer)?;
        Ok(Done::Written(writer.finish()?))
    }
}

/// Returns the columns of a result: names of the text, types of what runs. The optimizer settles types later than
/// names, and its promises that a column has no null do not hold for each plan: every column may have one.
fn shown(names: &Schema, types: Vec<DataType>) -> SchemaRef {
    let name = |n: usize| names.fields().get(n).map_or(String::new(), |field| shown_label(field.name()).to_string());
    let fields = types.into_iter().enumerate().map(|(n, data_type)| Field::new(name(n), data_type, true));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// Returns the optimized plan of a query, in which the tables of a metastore are those of their files.
fn optimized(plan: &LogicalPlan, state: &SessionState) -> std::result::Result<LogicalPlan, DataFusionError> {
    hive::resolve(state.optimize(plan)?, state)
}

/// Passes on the panic of a worker, or returns why it has ended.
fn ended(error: tokio::task::JoinError) -> Error {
    match error.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(e) => Error::new(Code::Internal, format!("a worker of the query has ended: {e}")),
    }
}

/// Returns the error for a query that needs the general executor.
fn not_on_cluster(reason: &str) -> Error {
    Error::new(Code::Usage, format!("this query cannot run on a cluster: Yunti's own executor lacks {reason}"))
        .hint("leave out --on yarn")
}

fn cancelled_error() -> Error {
    Error::new(Code::Cancelled, "the query was cancelled")
}

/// Returns once the flag is set.
async fn cancelled(cancel: &yunti_base::Cancel) {
    while !cancel.is_set() {
        tokio::time::sleep(CANCEL_TICK).await;
    }
}

/// Returns true for plans that the front end answers itself.
fn is_of_front_end(plan: &LogicalPlan) -> bool {
    matches!(plan, LogicalPlan::DescribeTable(_) | LogicalPlan::Explain(_) | LogicalPlan::Analyze(_))
        || plan.inputs().iter().any(|input| is_of_front_end(input))
        || matches!(plan, LogicalPlan::TableScan(scan) if scan.table_name.schema() == Some("information_schema"))
}

/// Returns true for a plan that runs and reads other tables than those of the system.
fn reads_files(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Explain(_) | LogicalPlan::DescribeTable(_) => false,
        LogicalPlan::TableScan(scan) => scan.table_name.schema() != Some("information_schema"),
        plan => plan.inputs().iter().any(|input| reads_files(input)),
    }
}

/// Returns the query of all rows of a table.
fn all_of(name: &ast::ObjectName, statement: &Statement) -> Result<ast::Query> {
    let text = Statement { text: format!("select * from {name}"), ..statement.clone() };
    match parse(&text, &|_| true)? {
        Parsed::Statement(sql) => match *sql {
            Sql::Query(query) => Ok(*query),
            _ => Err(Error::new(Code::Usage, format!("'{name}' is no table"))),
        },
        _ => Err(Error::new(Code::Usage, format!("'{name}' is no table"))),
    }
}

fn give_lines<'l>(name: &str, lines: impl Iterator<Item = &'l str>, rows: &mut dyn Rows) -> Result<()> {
    let schema = Arc::new(Schema::new(vec![Field::new(name, DataType::Utf8, false)]));
    rows.begin(&schema)?;
    // An array takes an iterator of known length alone.
    let lines = StringArray::from(lines.collect::<Vec<_>>());
    let batch = RecordBatch::try_new(schema, vec![Arc::new(lines)]);
    rows.rows(&batch.map_err(|e| failure::plain(e.into()))?)
}

/// Appends rows to a table in memory.
async fn insert(table: &MemTable, batches: Vec<RecordBatch>, op: InsertOp) -> std::result::Result<(), DataFusionError> {
    use datafusion::catalog::TableProvider;
    let Some(partition) = table.batches.first() else { return Ok(()) };
    let mut rows = partition.write().await;
    if op != InsertOp::Append {
        rows.clear();
    }
    let schema = table.schema();
    for batch in batches {
        let batch = RecordBatch::try_new(schema.clone(), batch.columns().to_vec())?;
        // Small inserts join the last rows, so that a thousand of them are no thousand batches.
        match rows.last_mut() {
            Some(last) if last.num_rows() + batch.num_rows() <= 8192 => {
                *last = datafusion::arrow::compute::concat_batches(&schema, [&*last, &batch])?;
            }
            _ => rows.push(batch),
        }
    }
    Ok(())
}

/// Rows kept in memory.
pub struct Kept {
    pub schema: SchemaRef,
    pub batches: Vec<RecordBatch>,
}

impl Default for Kept {
    fn default() -> Kept {
        Kept { schema: Arc::new(Schema::empty()), batches: Vec::new() }
    }
}

impl Kept {
    pub fn count(&self) -> u64 {
        self.batches.iter().map(|batch| batch.num_rows() as u64).sum()
    }
}

impl Rows for Kept {
    fn begin(&mut self, schema: &SchemaRef) -> Result<()> {
        self.schema = schema.clone();
        Ok(())
    }

    fn rows(&mut self, batch: &RecordBatch) -> Result<()> {
        self.batches.push(batch.clone());
        Ok(())
    }
}
