//! Values of prepared expressions for the rows of a scope.
//!
//! Parts are computed for all rows of the scope, except where SQL asks for fewer: a branch of `case` for the rows that
//! take it, later parts of `and` and `or` for the rows that the earlier ones leave open, later arguments of `coalesce`
//! for rows that are null so far. A division by zero elsewhere is none.

use std::sync::Arc;

use yunti_base::{Code, Error, Result};
use yunti_engine::columns::expression::{Side, rows_true};
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::vector::{Data, Dictionary, Vector};
use yunti_sql_plan::{Batch, Comparison, Foreign, Function};

use super::arithmetic::{self, Typed};
use super::codes;
use super::conditional::{Branches, Merge, split};
use super::node::{Case, Column, Node, Prepared};
use super::operand::{Operand, Texts, bools, nothing, shapes_differ, some_nulls};
use super::predicate::compare;
use super::predicate::like::{Loop, Matcher};
use super::predicate::logic::{self, Logic};
use super::scope::Scope;
use super::{cast, functions};

impl Node {
    /// Returns the type of the values.
    pub fn typed(&self) -> Typed<'_> {
        Typed { data_type: &self.data_type, kind: self.kind }
    }

    fn scale(&self) -> u8 {
        if let Kind::Decimal { scale } = self.kind { scale } else { 0 }
    }

    /// Returns true for a part that is computed by code where its column has codes.
    fn takes_codes(&self, scope: &Scope<'_>) -> Option<usize> {
        match (self.column, &self.operation) {
            (_, Prepared::Column(_)) => None,
            (Column::One(column), _) if !scope.is_dictionary() => Some(column),
            _ => None,
        }
    }
}

/// Returns the value of each row of a scope.
///
/// This is the one function that calls itself: its frame is small, and what operations need is in functions of theirs.
pub fn evaluate(node: &mut Node, scope: &Scope<'_>) -> Result<Operand> {
    if let Some(column) = node.takes_codes(scope)
        && let Some(vector) = by_codes(node, column, scope, false)
    {
        return Ok(Operand::Vector(Arc::new(vector)));
    }
    match &mut node.operation {
        Prepared::Column(number) => Ok(Operand::Vector(scope.decoded(*number))),
        Prepared::Literal(value) => Ok(Operand::Constant(value.clone())),
        Prepared::Compare(_, sides) | Prepared::Arithmetic(_, sides) => {
            let left = evaluate(&mut sides[0], scope)?;
            let right = evaluate(&mut sides[1], scope)?;
            two(node, &left, &right, scope.rows())
        }
        Prepared::Negate(of)
        | Prepared::Not(of)
        | Prepared::IsNull(of)
        | Prepared::Cast { value: of, .. }
        | Prepared::In { value: of, .. }
        | Prepared::Like { value: of, .. } => {
            let value = evaluate(of, scope)?;
            one(node, &value, scope.rows())
        }
        Prepared::Logic { or, parts } => logic_of(*or, parts, scope),
        Prepared::Case(case) => case_of(case, node.kind, scope),
        Prepared::Call(Function::Coalesce, arguments) => coalesce(arguments, node.kind, scope),
        Prepared::Call(Function::NullIf, arguments) => null_if(arguments, node.kind, scope),
        Prepared::Call(_, arguments) | Prepared::Foreign(_, arguments) => {
            let mut values = Vec::with_capacity(arguments.len());
            for argument in arguments {
                values.push(evaluate(argument, scope)?);
            }
            several(node, values, scope.rows())
        }
    }
}

/// Returns the value of each row, numbers that come from a dictionary as codes.
pub fn evaluate_coded(node: &mut Node, scope: &Scope<'_>) -> Result<Arc<Vector>> {
    if let Prepared::Column(number) = node.operation {
        return Ok(scope.column(number));
    }
    if let Some(column) = node.takes_codes(scope)
        && let Some(vector) = by_codes(node, column, scope, true)
    {
        return Ok(Arc::new(vector));
    }
    let kind = node.kind;
    Ok(evaluate(node, scope)?.into_vector(kind, scope.rows()))
}

/// Returns the rows for which a condition is true, by code; None if its column has no codes, or they do not pay.
pub fn rows_by_codes(node: &mut Node, scope: &Scope<'_>) -> Option<Vec<u32>> {
    let column = node.takes_codes(scope)?;
    let vector = scope.column(column);
    let (codes, dictionary) = vector.data.codes()?;
    prepare_codes(node, &dictionary, scope.rows());
    let truths = node.codes.as_ref()?.table()?.truths()?;
    let null = *truths.last()?;
    let mut kept = vec![0u32; codes.len()];
    let mut n = 0;
    match &vector.nulls {
        None => {
            for (row, &code) in codes.iter().enumerate() {
                kept[n] = row as u32;
                n += usize::from(truths[code as usize]);
            }
        }
        Some(nulls) => {
            for (row, (&code, &is_null)) in codes.iter().zip(nulls).enumerate() {
                kept[n] = row as u32;
                n += usize::from(if is_null { null } else { truths[code as usize] });
            }
        }
    }
    kept.truncate(n);
    Some(kept)
}

/// Returns the values by code; None if the column has no codes, or they do not pay.
fn by_codes(node: &mut Node, column: usize, scope: &Scope<'_>, coded: bool) -> Option<Vector> {
    let vector = scope.column(column);
    let (codes, dictionary) = vector.data.codes()?;
    prepare_codes(node, &dictionary, scope.rows());
    let table = node.codes.as_ref()?.table()?;
    Some(table.map(codes, vector.nulls.as_ref(), coded))
}

/// Computes the values of a dictionary if that pays.
#[inline(never)]
fn prepare_codes(node: &mut Node, dictionary: &Dictionary, rows: usize) {
    let mut known = node.codes.take().unwrap_or_default();
    if known.ask(dictionary, rows) {
        let values = Arc::new(codes::values_of(dictionary));
        let of = Scope::of_dictionary(&values);
        let kind = node.kind;
        let computed = evaluate(node, &of).map(|values| values.into_vector(kind, of.rows()));
        known.note(computed.ok().as_deref());
    }
    node.codes = Some(known);
}

#[inline(never)]
fn two(node: &Node, left: &Operand, right: &Operand, rows: usize) -> Result<Operand> {
    match &node.operation {
        Prepared::Compare(how, sides) => {
            let scales = [sides[0].scale(), sides[1].scale()];
            compare::compare(*how, left, right, scales, rows).map(Operand::of)
        }
        Prepared::Arithmetic(how, sides) => {
            let types = [sides[0].typed(), sides[1].typed()];
            arithmetic::compute(*how, [left, right], types, node.typed(), rows).map(Operand::of)
        }
        _ => Err(shapes_differ()),
    }
}

#[inline(never)]
fn one(node: &Node, value: &Operand, rows: usize) -> Result<Operand> {
    let vector = match &node.operation {
        Prepared::Negate(_) => arithmetic::negate(value, node.typed(), rows)?,
        Prepared::Not(_) => logic::not(value, rows)?,
        Prepared::IsNull(_) => logic::is_null(value, rows),
        Prepared::Cast { value: of, lenient } => {
            if of.data_type == node.data_type {
                return Ok(value.clone());
            }
            cast::cast(value, of.typed(), node.typed(), *lenient, rows)?
        }
        Prepared::In { set, negated, .. } => set.contain(value, *negated, rows)?,
        Prepared::Like { matcher, negated, .. } => like(matcher, value, *negated, rows)?,
        _ => return Err(shapes_differ()),
    };
    Ok(Operand::of(vector))
}

#[inline(never)]
fn several(node: &Node, values: Vec<Operand>, rows: usize) -> Result<Operand> {
    let vector = match &node.operation {
        Prepared::Call(function, arguments) => {
            let types: Vec<Typed<'_>> = arguments.iter().map(Node::typed).collect();
            functions::call(*function, &values, &types, node.typed(), rows)?
        }
        Prepared::Foreign(function, arguments) => {
            let kinds = arguments.iter().map(|argument| argument.kind);
            let values: Vec<Arc<Vector>> =
                values.into_iter().zip(kinds).map(|(value, kind)| value.into_vector(kind, rows)).collect();
            foreign(&**function, &values, rows)?
        }
        _ => return Err(shapes_differ()),
    };
    Ok(Operand::of(vector))
}

fn foreign(function: &dyn Foreign, values: &[Arc<Vector>], rows: usize) -> Result<Vector> {
    let vector = function.evaluate(values, rows).map_err(|error| match error.code() {
        // A function of the user is named already.
        Code::UserCode => error,
        _ => error.within(function.name()),
    })?;
    if vector.len() != rows || vector.nulls.as_ref().is_some_and(|nulls| nulls.len() != rows) {
        let what = format!("{} gave {} values for {rows} rows", function.name(), vector.len());
        return Err(Error::new(Code::UserCode, what));
    }
    Ok(vector)
}

/// A loop of `like` over texts.
struct Matches<'a> {
    texts: Texts<'a>,
    rows: usize,
}

impl Loop<Vec<bool>> for Matches<'_> {
    fn run(self, test: impl FnMut(&[u8]) -> bool) -> Vec<bool> {
        self.texts.map(self.rows, test)
    }
}

fn like(matcher: &Matcher, value: &Operand, negated: bool, rows: usize) -> Result<Vector> {
    if value.is_null() {
        return Ok(nothing(Kind::Boolean, rows));
    }
    let texts = Texts::of(value).ok_or_else(shapes_differ)?;
    let mut found = matcher.each(Matches { texts, rows });
    if negated {
        found.iter_mut().for_each(|found| *found = !*found);
    }
    Ok(Vector { data: Data::Bools(found), nulls: value.nulls().cloned() })
}

/// Computes `and` of some parts, or with `or` its opposite.
#[inline(never)]
fn logic_of(or: bool, parts: &mut [Node], scope: &Scope<'_>) -> Result<Operand> {
    let rows = scope.rows();
    let mut logic = Logic::new(or, rows);
    for (number, part) in parts.iter_mut().enumerate() {
        let open = if number == 0 { rows } else { logic.open() };
        if open == 0 && number > 0 {
            break;
        }
        if part.is_for_all(open, rows) {
            let value = evaluate(part, scope)?;
            logic.add(&value)?;
        } else {
            let at = logic.open_rows();
            let value = evaluate(part, &scope.choose(&at))?;
            logic.add_at(&value, &at)?;
        }
    }
    Ok(Operand::of(logic.finish()))
}

/// Returns numbers among the rows of a scope for numbers among some of them.
fn within(of: &Option<Vec<u32>>, numbers: Vec<u32>) -> Vec<u32> {
    match of {
        None => numbers,
        Some(of) => numbers.into_iter().map(|number| of[number as usize]).collect(),
    }
}

/// Evaluates a part for some rows of a scope.
fn evaluate_at(node: &mut Node, at: &[u32], scope: &Scope<'_>) -> Result<Operand> {
    match node.operation {
        _ if at.len() == scope.rows() => evaluate(node, scope),
        Prepared::Literal(_) => evaluate(node, scope),
        _ => evaluate(node, &scope.choose(at)),
    }
}

#[inline(never)]
fn case_of(case: &mut Case, kind: Kind, scope: &Scope<'_>) -> Result<Operand> {
    let rows = scope.rows();
    let mut merge = match case.texts {
        Some(_) => Chosen::Branches(Branches::new(rows)),
        None => Chosen::Merge(Merge::new(kind, rows)),
    };
    // None for all rows.
    let mut left: Option<Vec<u32>> = None;
    for (number, (condition, value)) in case.branches.iter_mut().enumerate() {
        let (hits, rest) = match &left {
            None => split(&evaluate(condition, scope)?, rows)?,
            Some(left) => split(&evaluate_at(condition, left, scope)?, left.len())?,
        };
        let hits = within(&left, hits);
        if !hits.is_empty() {
            merge.put(number, value, &hits, scope)?;
        }
        let rest = within(&left, rest);
        let is_done = rest.is_empty();
        left = Some(rest);
        if is_done {
            break;
        }
    }
    let left = left.unwrap_or_else(|| (0..rows as u32).collect());
    if let (Some(otherwise), false) = (&mut case.otherwise, left.is_empty()) {
        merge.put(case.branches.len(), otherwise, &left, scope)?;
    }
    Ok(Operand::of(match (merge, &case.texts) {
        (Chosen::Merge(merge), _) => merge.finish(),
        (Chosen::Branches(branches), Some(texts)) => branches.finish(texts),
        (Chosen::Branches(_), None) => return Err(shapes_differ()),
    }))
}

/// Values of a choice so far.
enum Chosen {
    Merge(Merge),
    Branches(Branches),
}

impl Chosen {
    fn put(&mut self, branch: usize, value: &mut Node, at: &[u32], scope: &Scope<'_>) -> Result<()> {
        match (self, &value.operation) {
            (Chosen::Merge(merge), _) => merge.put(evaluate_at(value, at, scope)?, at),
            (Chosen::Branches(branches), Prepared::Literal(text)) => {
                branches.put(branch, text, at);
                Ok(())
            }
            (Chosen::Branches(_), _) => Err(shapes_differ()),
        }
    }
}

#[inline(never)]
fn coalesce(arguments: &mut [Node], kind: Kind, scope: &Scope<'_>) -> Result<Operand> {
    let rows = scope.rows();
    let Some((first, others)) = arguments.split_first_mut() else { return Err(shapes_differ()) };
    let value = evaluate(first, scope)?;
    if !value.is_null() && value.nulls().is_none() {
        return Ok(value);
    }
    let mut merge = Merge::new(kind, rows);
    let all: Vec<u32> = (0..rows as u32).collect();
    let mut left: Vec<u32> = all.iter().copied().filter(|&row| is_null(&value, row as usize)).collect();
    merge.put(value, &all)?;
    for argument in others {
        if left.is_empty() {
            break;
        }
        let value = evaluate_at(argument, &left, scope)?;
        let nulls: Vec<u32> = (0..).zip(&left).filter(|(n, _)| is_null(&value, *n)).map(|(_, row)| *row).collect();
        merge.put(value, &left)?;
        left = nulls;
    }
    Ok(Operand::of(merge.finish()))
}

fn is_null(value: &Operand, row: usize) -> bool {
    value.is_null() || value.nulls().is_some_and(|nulls| nulls[row])
}

#[inline(never)]
fn null_if(arguments: &mut [Node], kind: Kind, scope: &Scope<'_>) -> Result<Operand> {
    let [first, second] = arguments else { return Err(shapes_differ()) };
    let rows = scope.rows();
    let scales = [first.scale(), second.scale()];
    let value = evaluate(first, scope)?;
    // The second is not needed where the first is null.
    let at: Vec<u32> = match value.nulls() {
        _ if value.is_null() => return Ok(value),
        Some(_) if second.can_fail => (0..rows as u32).filter(|&row| !is_null(&value, row as usize)).collect(),
        _ => (0..rows as u32).collect(),
    };
    let other = evaluate_at(second, &at, scope)?;
    let vector = value.clone().into_vector(kind, rows);
    let compared = match at.len() == rows {
        true => value,
        false => Operand::Vector(Arc::new(vector.select(&at))),
    };
    let equal = compare::compare(Comparison::Equal, &compared, &other, scales, at.len())?;
    let Data::Bools(equal_values) = &equal.data else { return Err(shapes_differ()) };
    let mut nulls = vector.nulls.clone().unwrap_or_else(|| vec![false; rows]);
    for (number, &row) in at.iter().enumerate() {
        nulls[row as usize] |= equal_values[number] & !equal.is_null(number);
    }
    Ok(Operand::of(Vector { data: vector.data.clone(), nulls: some_nulls(Some(nulls)) }))
}

/// Returns the rows for which a condition is true.
pub fn rows_where(node: &mut Node, scope: &Scope<'_>) -> Result<Vec<u32>> {
    if let Some(rows) = rows_by_codes(node, scope) {
        return Ok(rows);
    }
    let rows = scope.rows();
    let value = evaluate(node, scope)?;
    let values = match bools(&value) {
        _ if value.is_null() => return Ok(Vec::new()),
        None => return Err(shapes_differ()),
        Some(Side::One(value)) => return Ok(if value { (0..rows as u32).collect() } else { Vec::new() }),
        Some(Side::Many(values)) => values,
    };
    Ok(rows_true(values, value.nulls().map(Vec::as_slice)))
}

/// Returns the rows among others for which a condition is true, computed for all rows of the scope.
pub fn rows_where_among(node: &mut Node, among: &[u32], scope: &Scope<'_>) -> Result<Vec<u32>> {
    let value = evaluate(node, scope)?;
    let values = match bools(&value) {
        _ if value.is_null() => return Ok(Vec::new()),
        None => return Err(shapes_differ()),
        Some(Side::One(value)) => return Ok(if value { among.to_vec() } else { Vec::new() }),
        Some(Side::Many(values)) => values,
    };
    let mut kept = vec![0u32; among.len()];
    let mut n = 0;
    for &row in among {
        kept[n] = row;
        let null = value.nulls().is_some_and(|nulls| nulls[row as usize]);
        n += usize::from(values[row as usize] & !null);
    }
    kept.truncate(n);
    Ok(kept)
}

/// Returns a part that has no column as the literal of its value. What fails stays, and fails only if a row needs it.
pub fn fold(mut node: Node) -> Node {
    if node.column != Column::None || matches!(node.operation, Prepared::Literal(_)) {
        return node;
    }
    let batch = Batch { columns: Vec::new(), rows: 1 };
    match evaluate(&mut node, &Scope::of(&batch)) {
        Ok(value) => {
            let literal = Arc::new(value.value(0));
            Node { operation: Prepared::Literal(literal), can_fail: false, ..node }
        }
        Err(_) => node,
    }
}
