//! Neighbouring conditions and projections of a pipeline as one step: kernels, and code when it pays.

use std::sync::Arc;
use std::time::Instant;

use arrow_schema::DataType;
use yunti_base::Result;
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::vector::{Data, Vector};
use yunti_sql_plan::{Batch, Expression, Operation, kind_of};

use super::bind::{self, Shapes};
use super::lower::{self, Builder, Built};
use super::plan::{Plan, with_extras};
use super::tier::{Ready, Tier};
use crate::code::{Column, Compilation, Given, Input, Mode, Output, Sink};
use crate::context::Context;
use crate::expression::Evaluator;
use crate::pipeline::steps::{self, Stage};
use crate::pipeline::{LocalStep, Next, Pipeline, Step};

/// Stages of a pipeline.
pub struct Segment {
    stages: Vec<Stage>,
    /// Types of the columns that come in.
    types: Vec<DataType>,
    compiled: Option<Arc<Compiled>>,
}

/// The part of a segment that can be code.
struct Compiled {
    plan: Plan,
    tier: Tier,
}

/// Adds a stage to all branches of a pipeline, whose rows have some types. It joins a segment that stands last.
pub fn push(pipeline: &mut Pipeline, stage: &Stage, types: &[DataType], context: &Context) {
    for branch in &mut pipeline.branches {
        let (mut stages, mut of) = (Vec::new(), types.to_vec());
        if let Some((before, types)) = branch.steps.last().and_then(|step| step.stages()) {
            (stages, of) = (before.to_vec(), types.to_vec());
            branch.steps.pop();
        }
        stages.push(stage.clone());
        let rows = branch.source.rows();
        let compiled = context.compilation.as_ref().and_then(|with| compiled(&stages, &of, with, rows));
        branch.steps.push(Arc::new(Segment { stages, types: of, compiled }));
    }
}

fn compiled(stages: &[Stage], types: &[DataType], with: &Compilation, rows: Option<u64>) -> Option<Arc<Compiled>> {
    let plan = Plan::new(stages, types)?;
    let is_wanted = plan.has_work() || (with.mode == Mode::On && !stages.is_empty());
    is_wanted.then(|| Arc::new(Compiled { plan, tier: Tier::new(with, rows) }))
}

impl Step for Segment {
    fn local(&self) -> Result<Box<dyn LocalStep>> {
        let kernels = steps::kernels(&self.stages)?;
        let Some(compiled) = &self.compiled else { return Ok(Box::new(kernels)) };
        let evaluators = compiled.plan.evaluators()?;
        let (shapes, no_nulls) = (Shapes::default(), Vec::new());
        let wanted = compiled.plan.wanted(computed(&compiled.plan));
        Ok(Box::new(Local { compiled: compiled.clone(), kernels, evaluators, wanted, shapes, no_nulls }))
    }

    fn stages(&self) -> Option<(&[Stage], &[DataType])> {
        Some((&self.stages, &self.types))
    }
}

struct Local {
    compiled: Arc<Compiled>,
    kernels: steps::Kernels,
    evaluators: Vec<Evaluator>,
    /// Columns of which the shapes count.
    wanted: Vec<bool>,
    shapes: Shapes,
    no_nulls: Vec<bool>,
}

impl LocalStep for Local {
    fn push(&mut self, batch: Batch, next: Next<'_>) -> Result<()> {
        if let Some(done) = self.by_code(&batch)? {
            return if done.rows > 0 { next(done) } else { Ok(()) };
        }
        let (start, rows) = (Instant::now(), batch.rows);
        let done = self.kernels.run(batch)?;
        self.compiled.tier.measure(rows, start.elapsed().as_nanos() as u64);
        match done {
            Some(batch) => next(batch),
            None => Ok(()),
        }
    }
}

impl Local {
    /// Returns what code makes of a batch; None if there is none for it, or a row needs an error.
    fn by_code(&mut self, batch: &Batch) -> Result<Option<Batch>> {
        let Compiled { plan, tier } = &*self.compiled;
        if !plan.takes(batch) {
            return Ok(None);
        }
        let Some(wide) = with_extras(batch, &mut self.evaluators) else { return Ok(None) };
        let shapes = self.shapes.of(&wide, &self.wanted);
        let Some(ready) = tier.code(&shapes, batch.rows, || build(plan, shapes.clone())) else { return Ok(None) };
        let Some(inputs) = inputs_of(&ready, &wide, &mut self.no_nulls) else { return Ok(None) };
        let mut output = Output::default();
        let kept = ready.code.run(batch.rows, &inputs, &ready.built.constants, &mut output)?;
        tier.note(batch.rows, kept.is_none());
        Ok(kept.map(|kept| outputs_of(plan, &wide, &ready, output, kept)))
    }
}

/// Returns the columns of a batch as the inputs of code.
pub fn inputs_of<'a>(ready: &Ready, batch: &'a Batch, no_nulls: &'a mut Vec<bool>) -> Option<Vec<Column<'a>>> {
    if no_nulls.len() < batch.rows {
        no_nulls.resize(batch.rows, false);
    }
    let no_nulls = &*no_nulls;
    let column = |&number: &usize| bind::column(&batch.columns[number], ready.shape(number)?, no_nulls);
    ready.built.columns.iter().map(column).collect()
}

fn build(plan: &Plan, shapes: Vec<Option<Input>>) -> Option<Built> {
    let mut builder = Builder::new(shapes);
    if !plan.lower_actions(&mut builder) {
        return None;
    }
    let mut columns = Vec::new();
    for output in computed(plan) {
        let kept = builder.kept();
        let value = lower::lower(&mut builder, output, kept)?;
        columns.push((value.id, value.null));
    }
    (!builder.is_large()).then(|| builder.finish(Sink::Columns(columns)))
}

/// Returns the outputs that are no columns of the input.
fn computed(plan: &Plan) -> impl Iterator<Item = &Expression> {
    plan.outputs.iter().filter(|of| !matches!(of.operation, Operation::Column(_)))
}

fn outputs_of(plan: &Plan, batch: &Batch, ready: &Ready, output: Output, kept: usize) -> Batch {
    let is_all = ready.built.program.keep.is_none() || kept == batch.rows;
    let mut given = output.columns.into_iter();
    let columns = plan.outputs.iter().map(|of| match of.operation {
        Operation::Column(number) if is_all => batch.columns[number].clone(),
        Operation::Column(number) => Arc::new(batch.columns[number].select(&output.rows)),
        _ => {
            let (values, nulls) = given.next().unwrap_or((Given::Bools(Vec::new()), None));
            Arc::new(vector(values, nulls, kind_of(&of.data_type).unwrap_or(Kind::Int)))
        }
    });
    Batch { columns: columns.collect(), rows: kept }
}

fn vector(values: Given, nulls: Option<Vec<u8>>, kind: Kind) -> Vector {
    let data = match (values, kind) {
        (Given::Bools(values), _) => Data::Bools(values.into_iter().map(|value| value != 0).collect()),
        (Given::Ints(values), Kind::Decimal { .. }) => Data::SmallDecimals(values),
        (Given::Ints(values), _) => Data::Ints(values),
        (Given::Wide(values), Kind::Decimal { .. }) => Data::Decimals(values),
        // All are within the limits of their type.
        (Given::Wide(values), _) => Data::Ints(values.into_iter().map(|value| value as i64).collect()),
        (Given::Floats(values), _) => Data::Floats(values),
    };
    let nulls = nulls.filter(|nulls| nulls.contains(&1));
    Vector { data, nulls: nulls.map(|nulls| nulls.into_iter().map(|null| null != 0).collect()) }
}
