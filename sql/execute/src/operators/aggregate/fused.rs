//! Aggregates by code: conditions, projections, arguments and states in one loop over a batch.
//!
//! ```text
//!   code 2 of 3 values | code 1 of 2 values --> place 2 + 1 x (3 + 1) --> sums and counts of that place
//!                                                                  each batch: --> states of the group of its key
//! ```
//!
//! Keys are columns of small dictionaries, so that the codes of a row side by side are the place of its group; a null
//! is one more code. Without keys there is one place. States are sums of whole numbers and decimals, counts, least and
//! largest numbers; all other aggregates stay in kernels, and so do batches whose dictionaries are large.

use std::sync::Arc;

use arrow_schema::DataType;
use yunti_base::Result;
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::vector::{Data, Dictionary, Vector};
use yunti_sql_plan::{Aggregate, Batch, Expression, Operation, kind_of};

use super::calls::{Calls, StateColumn, StateKind};
use crate::code::program::Number;
use crate::code::{Accumulator, AccumulatorKind, Constant, Id, Input, Op, Output, Sink, Type};
use crate::compile::bind::Shapes;
use crate::compile::lower::{self, Builder, Built};
use crate::compile::plan::{Plan, holds, with_extras};
use crate::compile::segment::inputs_of;
use crate::compile::tier::Tier;
use crate::context::Context;
use crate::expression::Evaluator;
use crate::pipeline::Pipeline;
use crate::pipeline::steps::{self, Kernels, Stage};

/// Places of a batch, at most.
const PLACES_MAX: usize = 4096;
/// Places for which rows of one group take turns in several copies, at most.
const LANES_PLACES_MAX: usize = 64;
const LANES: usize = 4;
/// Rows of a batch, at most: 2^17. Sums of one batch are 64 bits wide if no such number of values can be larger.
const ROWS_BITS: u32 = 17;
/// Bits of the numbers that make places.
const PLACE_BITS: u32 = 16;

/// Aggregates with the stages before them.
pub struct Fused {
    parts: Parts,
    stages: Vec<Stage>,
    tier: Tier,
}

/// Values that code computes, over the columns that come in.
struct Parts {
    plan: Plan,
    /// Columns of the keys among the input's.
    keys: Vec<usize>,
    arguments: Vec<Expression>,
    conditions: Vec<Expression>,
    /// With the number of the argument, and of the condition.
    states: Vec<(StateKind, Option<usize>, Option<usize>)>,
}

/// Takes the last stages of a pipeline, and the conditions of its scan, if code can have them with the aggregates.
pub fn take(
    input: &Pipeline,
    types: &[DataType],
    keys: &[Expression],
    calls: &Calls,
    context: &Context,
) -> Option<(Pipeline, Fused)> {
    let compilation = context.compilation.as_ref()?;
    let [branch] = input.branches.as_slice() else { return None };
    let mut branch = branch.clone();
    let (mut stages, mut types) = (Vec::new(), types.to_vec());
    if let Some((last, of)) = branch.steps.last().and_then(|step| step.stages()) {
        (stages, types) = (last.to_vec(), of.to_vec());
        branch.steps.pop();
    }
    if let (true, Some(open)) = (branch.steps.is_empty(), branch.source.without_conditions()) {
        stages.splice(0..0, open.stages);
        (branch.source, types) = (open.source, open.types);
    }
    let parts = Parts::new(&stages, &types, keys, calls)?;
    let tier = Tier::new(compilation, branch.source.rows());
    Some((Pipeline { branches: vec![branch] }, Fused { parts, stages, tier }))
}

impl Parts {
    /// Returns what code computes; None if it lacks a part of it.
    fn new(stages: &[Stage], types: &[DataType], keys: &[Expression], calls: &Calls) -> Option<Parts> {
        let mut plan = Plan::new(stages, types)?;
        let mut parts = 0;
        let mut columns = Vec::with_capacity(keys.len());
        for key in keys {
            match plan.over_inputs(key, &mut parts)?.operation {
                Operation::Column(number) if number < types.len() => columns.push(number),
                _ => return None,
            }
        }
        let mut all = |of: &mut dyn Iterator<Item = &Expression>| -> Option<Vec<Expression>> {
            of.map(|one| plan.over_inputs(one, &mut parts)).collect()
        };
        let arguments = all(&mut calls.arguments.iter().map(|argument| &argument.expression))?;
        let conditions = all(&mut calls.conditions.iter())?;
        let state = |of: &StateColumn| Some((calls.kind_of_state(of)?, of.argument, of.condition));
        let states = calls.states.iter().map(state).collect::<Option<_>>()?;
        Some(Parts { plan, keys: columns, arguments, conditions, states })
    }
}

/// Returns true if code can compute an aggregate whose input has some types, with the stages before it.
pub fn is_possible(stages: &[Stage], types: &[DataType], keys: &[Expression], aggregates: &[Aggregate]) -> bool {
    Calls::new(aggregates).is_ok_and(|calls| Parts::new(stages, types, keys, &calls).is_some())
}

/// Code of one worker.
pub struct LocalFused {
    kernels: Kernels,
    evaluators: Vec<Evaluator>,
    /// Columns of which the shapes count.
    wanted: Vec<bool>,
    shapes: Shapes,
    no_nulls: Vec<bool>,
    output: Output,
}

/// Sums and counts of a batch for each group.
pub struct Partials {
    /// Keys of the groups.
    pub keys: Vec<Option<Arc<Vector>>>,
    pub groups: usize,
    pub rows: usize,
    /// For each state and group: its number, and the number of its values.
    pub states: Vec<Vec<(i128, i64)>>,
}

impl Fused {
    pub fn local(&self) -> Result<LocalFused> {
        Ok(LocalFused {
            kernels: steps::kernels(&self.stages)?,
            evaluators: self.parts.plan.evaluators()?,
            wanted: self.parts.wanted(),
            shapes: Shapes::default(),
            no_nulls: Vec::new(),
            output: Output::default(),
        })
    }

    /// Notes the time that kernels took for some rows.
    pub fn measure(&self, rows: usize, nanos: u64) {
        self.tier.measure(rows, nanos);
    }
}

impl Parts {
    /// Returns the program for some shapes. Its notes have for each state its accumulator, and its count's.
    fn build(&self, shapes: Vec<Option<Input>>, places: usize) -> Option<Built> {
        let mut builder = Builder::new(shapes);
        if !self.plan.lower_actions(&mut builder) {
            return None;
        }
        let mut arguments = Vec::new();
        for argument in &self.arguments {
            let kept = builder.kept();
            // Texts can be counted alone: their nulls are enough.
            arguments.push(match argument.operation {
                Operation::Column(column) if kind_of(&argument.data_type)? == Kind::Text => builder.nulls(column)?,
                _ => lower::lower(&mut builder, argument, kept)?,
            });
        }
        let mut conditions = Vec::new();
        for condition in &self.conditions {
            let kept = builder.kept();
            let value = lower::lower(&mut builder, condition, kept)?;
            conditions.push(holds(&mut builder, value));
        }
        // Without keys all rows go the same way, so that sums stay in registers.
        let keep = if self.keys.is_empty() { builder.take_keep() } else { None };
        let count = |when| Accumulator { kind: AccumulatorKind::Count, value: None, when, is_wide: false };
        let mut all = vec![count(keep)];
        let mut notes = Vec::new();
        for &(kind, argument, condition) in &self.states {
            let argument = argument.map(|number| arguments[number]);
            let mut when = keep;
            if let Some(condition) = condition {
                when = Some(builder.and_if(when, conditions[condition]));
            }
            if let Some(null) = argument.and_then(|value| value.null) {
                let known = builder.not(null);
                when = Some(builder.and_if(when, known));
            }
            let of_count = put(&mut all, count(when));
            let kind = match kind {
                StateKind::Count => {
                    notes.push((of_count, of_count));
                    continue;
                }
                StateKind::Sum => AccumulatorKind::Sum,
                StateKind::Least => AccumulatorKind::Least,
                StateKind::Largest => AccumulatorKind::Largest,
            };
            let value = argument?;
            let number = match builder.type_of(value.id) {
                Type::F64 if kind == AccumulatorKind::Sum => return None,
                Type::F64 => builder.order(value.id),
                Type::Bool => builder.add(Op::BoolToWhole(value.id), Type::I64),
                _ => value.id,
            };
            let one = builder.accumulator(kind, number, when, ROWS_BITS)?;
            notes.push((put(&mut all, one), of_count));
        }
        let place = self.place(&mut builder)?;
        let lanes = if self.keys.is_empty() || places > LANES_PLACES_MAX { 1 } else { LANES };
        if builder.is_large() {
            return None;
        }
        let mut built = builder.finish(Sink::Accumulators { place, all, lanes });
        built.notes = notes;
        Some(built)
    }

    /// Returns the place of a row. Its numbers are the last constants: for each key the width, and the code of a null.
    fn place(&self, builder: &mut Builder) -> Option<Option<Id>> {
        let mut place: Option<Id> = None;
        for &key in &self.keys {
            let (width, null) = (builder.constant_of(PLACE_BITS), builder.constant_of(PLACE_BITS));
            let code = builder.code(key)?;
            let code = match code.null {
                None => code.id,
                Some(is_null) => builder.choose(is_null, null, code.id),
            };
            let part = builder.number(Number::Multiply, code, width)?;
            place = Some(match place {
                None => part,
                Some(place) => builder.number(Number::Add, place, part)?,
            });
        }
        Some(place)
    }

    /// Returns true for each column that code needs.
    fn wanted(&self) -> Vec<bool> {
        let mut wanted = self.plan.wanted(self.arguments.iter().chain(&self.conditions));
        self.keys.iter().for_each(|&key| wanted[key] = true);
        wanted
    }

    /// Returns the dictionaries of the keys, and the number of places; None if a key has no codes, or they are many.
    fn dictionaries(&self, batch: &Batch) -> Option<(Vec<Dictionary>, usize)> {
        let mut places = 1usize;
        let mut all = Vec::with_capacity(self.keys.len());
        for &key in &self.keys {
            let (_, dictionary) = batch.columns.get(key)?.data.codes()?;
            places = places.checked_mul(dictionary.len() + 1).filter(|places| *places <= PLACES_MAX)?;
            all.push(dictionary);
        }
        Some((all, places))
    }
}

/// Adds an accumulator unless it is there. Returns its number.
fn put(all: &mut Vec<Accumulator>, one: Accumulator) -> usize {
    all.iter().position(|other| *other == one).unwrap_or_else(|| {
        all.push(one);
        all.len() - 1
    })
}

impl LocalFused {
    /// Returns what the stages make of a batch, by kernels; None if no row is left.
    pub fn by_kernels(&mut self, batch: Batch) -> Result<Option<Batch>> {
        self.kernels.run(batch)
    }

    /// Returns the sums and counts of a batch; None if kernels take it.
    pub fn by_code(&mut self, of: &Fused, batch: &Batch) -> Result<Option<Partials>> {
        if batch.rows > 1 << ROWS_BITS || !of.parts.plan.takes(batch) {
            return Ok(None);
        }
        let Some((dictionaries, places)) = of.parts.dictionaries(batch) else { return Ok(None) };
        let Some(wide) = with_extras(batch, &mut self.evaluators) else { return Ok(None) };
        let shapes = self.shapes.of(&wide, &self.wanted);
        let Some(ready) = of.tier.code(&shapes, batch.rows, || of.parts.build(shapes.clone(), places)) else {
            return Ok(None);
        };
        let Some(inputs) = inputs_of(&ready, &wide, &mut self.no_nulls) else { return Ok(None) };
        let mut constants = ready.built.constants.clone();
        let first = constants.len() - 2 * dictionaries.len();
        let mut width = 1;
        for (numbers, dictionary) in constants[first..].chunks_mut(2).zip(&dictionaries) {
            numbers.copy_from_slice(&[Constant::Int(width), Constant::Int(dictionary.len() as i64)]);
            width *= dictionary.len() as i64 + 1;
        }
        let Sink::Accumulators { all, lanes, .. } = &ready.built.program.sink else { return Ok(None) };
        let words: Vec<u64> = all.iter().flat_map(|one| one.first()[..one.words()].to_vec()).collect();
        let output = &mut self.output;
        output.places = places;
        output.accumulators.clear();
        (0..places * lanes).for_each(|_| output.accumulators.extend_from_slice(&words));
        let kept = ready.code.run(batch.rows, &inputs, &constants, output)?;
        of.tier.note(batch.rows, kept.is_none());
        if kept.is_none() {
            return Ok(None);
        }
        let sums = Sums { all, words: &output.accumulators, width: words.len(), lanes: *lanes };
        Ok(Some(partials(&sums, places, &dictionaries, &ready.built.notes)))
    }
}

/// Accumulators of all places.
struct Sums<'a> {
    all: &'a [Accumulator],
    words: &'a [u64],
    /// Words of one place in one lane.
    width: usize,
    lanes: usize,
}

impl Sums<'_> {
    /// Returns an accumulator of a place, of all lanes.
    fn get(&self, place: usize, number: usize) -> i128 {
        let one = self.all[number];
        let word = self.all[..number].iter().map(Accumulator::words).sum::<usize>();
        let lanes = (0..self.lanes).map(|lane| {
            let at = (place * self.lanes + lane) * self.width + word;
            match one.is_wide {
                true => (i128::from(self.words[at + 1]) << 64) | i128::from(self.words[at]),
                false => i128::from(self.words[at] as i64),
            }
        });
        match one.kind {
            // No sum of a batch leaves 127 bits.
            AccumulatorKind::Count | AccumulatorKind::Sum => lanes.fold(0, i128::wrapping_add),
            AccumulatorKind::Least => lanes.min().unwrap_or(0),
            AccumulatorKind::Largest => lanes.max().unwrap_or(0),
        }
    }
}

/// Returns the sums of the places that have rows, with their keys.
fn partials(sums: &Sums<'_>, places: usize, dictionaries: &[Dictionary], notes: &[(usize, usize)]) -> Partials {
    let counts: Vec<i128> = (0..places).map(|place| sums.get(place, 0)).collect();
    let taken: Vec<usize> = (0..places).filter(|&place| counts[place] > 0).collect();
    let mut width = 1;
    let keys = dictionaries.iter().map(|dictionary| {
        let len = dictionary.len();
        let code = |&place: &usize| place / width % (len + 1);
        let nulls: Vec<bool> = taken.iter().map(|place| code(place) == len).collect();
        let codes = taken.iter().map(|place| code(place) % len).map(|code| code as u32).collect();
        width *= len + 1;
        let data: Data = dictionary.coded(codes);
        Some(Arc::new(Vector { data, nulls: nulls.contains(&true).then_some(nulls) }))
    });
    let keys = keys.collect();
    let of = |&(number, count): &(usize, usize)| {
        taken.iter().map(|&place| (sums.get(place, number), sums.get(place, count) as i64)).collect()
    };
    let rows = counts.iter().sum::<i128>() as usize;
    Partials { keys, groups: taken.len(), rows, states: notes.iter().map(of).collect() }
}
