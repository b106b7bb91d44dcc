//! Parts of expressions that Yunti's executor lacks, computed by DataFusion's functions over arrays.
//!
//! ```text
//!   regexp_replace(lower(url), '^https?://', '')
//!                  ----------  native: the only argument
//!   ------------------------------------------- foreign, over that column; literals stay in it
//! ```
//!
//! The smallest part that the executor lacks becomes one foreign function. Its arguments are the parts below it whose
//! values have a shape of the executor. Parts without one (lists, intervals) stay within. So do parts that SQL computes
//! for some rows alone (branches of `case`): there the arguments are columns.
//!
//! A function of one column is computed once for each value of its dictionary, as every expression of one column.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use arrow_schema::Field;
use datafusion::arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use datafusion::arrow::compute::concat;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, DataFusionError};
use datafusion::logical_expr::execution_props::ExecutionProps;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{Expr, ExprSchemable};
use datafusion::physical_expr::{PhysicalExpr, create_physical_expr};
use yunti_base::{Code, Error, Result};
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::vector::Vector;
use yunti_engine::memory::Budget;
use yunti_sql_plan::{Expression, Foreign, Operation, kind_of};

use crate::{arrow, failure};

use super::Translation;
use super::panics::caught;

/// Levels of a part that stays within one function, at most: each takes stack when it is computed.
const LEVELS_MAX: usize = 64;
/// Rows of the first slice of texts; its size decides the rows of the next.
const FIRST_ROWS: usize = 256;
/// Bytes of texts that a slice should have, at most.
const SLICE_BYTES: usize = 8 << 20;
/// Bytes of texts of a batch above which they are taken from the memory of the query.
const FREE_BYTES: usize = 1 << 20;

/// Needs of all functions of a query.
pub struct Library {
    props: ExecutionProps,
    budget: Arc<Budget>,
    /// True once a part has failed here: then the whole query has no native plan, and no part above is tried.
    has_failed: Cell<bool>,
}

impl Library {
    pub fn new(props: ExecutionProps, budget: Arc<Budget>) -> Library {
        Library { props, budget, has_failed: Cell::new(false) }
    }
}

impl Translation<'_> {
    /// Returns true if DataFusion may compute an expression that the executor lacks. It must have arguments: the
    /// executor lacks a column for its type alone.
    pub fn may_be_foreign(self, of: &Expr, schema: &DFSchema) -> bool {
        let is_leaf = matches!(
            of,
            Expr::Column(_)
                | Expr::Literal(..)
                | Expr::Alias(_)
                | Expr::ScalarSubquery(_)
                | Expr::Exists(_)
                | Expr::InSubquery(_)
                | Expr::OuterReferenceColumn(..)
                | Expr::AggregateFunction(_)
                | Expr::WindowFunction(_)
        );
        !is_leaf
            && !self.library.has_failed.get()
            && of.get_type(schema).is_ok_and(|data_type| kind_of(&data_type).is_some())
    }

    /// Returns an expression that DataFusion computes. Fails with `lacks`, or with what makes it impossible.
    pub fn foreign(self, of: &Expr, schema: &DFSchema, lacks: String) -> std::result::Result<Expression, String> {
        let done = match of.is_volatile_node() {
            true => Err(format!("{lacks}, whose values differ from call to call")),
            false => self.computed(of, schema).map_err(|reason| reason.unwrap_or(lacks)),
        };
        self.library.has_failed.set(done.is_err());
        done
    }

    /// Returns an expression that DataFusion computes, or a reason why not if there is one.
    fn computed(self, of: &Expr, schema: &DFSchema) -> std::result::Result<Expression, Option<String>> {
        let data_type = of.get_type(schema).map_err(|_| None)?;
        let mut arguments = Arguments { translation: self, schema, all: Vec::new(), failure: None };
        let body = of.clone().map_children(|part| arguments.replace(part, is_lazy(of), 1));
        let body = body.map_err(|_| arguments.failure.take())?.data;
        let (parts, fields): (Vec<_>, Vec<_>) = arguments.all.into_iter().map(|(_, part, field)| (part, field)).unzip();
        let names = DFSchema::from_unqualified_fields(fields.into(), HashMap::new()).map_err(|_| None)?;
        let context = PhysicalPlanningContext::default();
        let body = create_physical_expr(&body, &names, &self.library.props, &context).map_err(|_| None)?;
        let schema: SchemaRef = Arc::new(names.as_arrow().clone());
        let kind = kind_of(&body.data_type(&schema).map_err(|_| None)?).ok_or(None)?;
        if kind_of(&data_type) != Some(kind) {
            return Err(None);
        }
        let function = Function { name: name_of(of), schema, body, kind, budget: self.library.budget.clone() };
        Ok(Expression::new(data_type, Operation::Foreign(Arc::new(function), parts)))
    }
}

/// Returns true for an expression that computes parts for some rows alone.
fn is_lazy(of: &Expr) -> bool {
    of.short_circuits() || matches!(of, Expr::Lambda(_))
}

/// Returns the name of an expression in plans and messages.
fn name_of(of: &Expr) -> String {
    match of {
        Expr::ScalarFunction(function) => function.name().to_string(),
        Expr::HigherOrderFunction(function) => function.name().to_string(),
        Expr::BinaryExpr(of) => of.op.to_string(),
        Expr::Cast(_) => "cast".into(),
        Expr::TryCast(_) => "try_cast".into(),
        Expr::Case(_) => "case".into(),
        Expr::Like(_) => "like".into(),
        Expr::SimilarTo(_) => "similar to".into(),
        Expr::InList(_) => "in".into(),
        other => other.variant_name().to_lowercase(),
    }
}

/// Arguments of a function as they are found: each part, what computes it, and its type.
struct Arguments<'t> {
    translation: Translation<'t>,
    schema: &'t DFSchema,
    all: Vec<(Expr, Expression, Field)>,
    failure: Option<String>,
}

impl Arguments<'_> {
    /// Puts columns of arguments in the place of parts.
    fn replace(
        &mut self,
        of: Expr,
        lazy: bool,
        level: usize,
    ) -> std::result::Result<Transformed<Expr>, DataFusionError> {
        let stop = || DataFusionError::Plan("no native plan".into());
        let is_column = matches!(of, Expr::Column(_) | Expr::ScalarSubquery(_));
        let is_argument = || {
            let varies = |of: &Expr| Ok(matches!(of, Expr::Column(_) | Expr::ScalarSubquery(_)));
            !matches!(of, Expr::Alias(_) | Expr::Lambda(_))
                && of.get_type(self.schema).is_ok_and(|data_type| kind_of(&data_type).is_some())
                && of.exists(varies).unwrap_or(false)
        };
        if is_column || (!lazy && is_argument()) {
            return match self.argument(of) {
                Ok(column) => Ok(Transformed::yes(column)),
                Err(reason) => {
                    self.failure = Some(reason);
                    Err(stop())
                }
            };
        }
        if of.is_volatile_node() {
            self.failure = Some(format!("the function {}, whose values differ from call to call", name_of(&of)));
            return Err(stop());
        }
        if level >= LEVELS_MAX {
            return Err(stop());
        }
        let lazy = lazy || is_lazy(&of);
        of.map_children(|part| self.replace(part, lazy, level + 1))
    }

    /// Returns the column of an argument.
    fn argument(&mut self, of: Expr) -> std::result::Result<Expr, String> {
        let known = self.all.iter().position(|(known, ..)| *known == of);
        let number = match known {
            Some(number) => number,
            None => {
                let field = of.to_field(self.schema).map_err(|e| e.to_string())?.1;
                let part = self.translation.expression(&of, self.schema)?;
                let number = self.all.len();
                let field = field.as_ref().clone().with_name(number.to_string()).with_nullable(true);
                self.all.push((of, part, field));
                number
            }
        };
        Ok(Expr::Column(Column::from_name(number.to_string())))
    }
}

/// A function of DataFusion, over columns of arguments.
struct Function {
    name: String,
    /// Types of the arguments.
    schema: SchemaRef,
    body: Arc<dyn PhysicalExpr>,
    kind: Kind,
    budget: Arc<Budget>,
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.body)
    }
}

impl Foreign for Function {
    fn name(&self) -> &str {
        &self.name
    }

    fn evaluate(&self, arguments: &[Arc<Vector>], rows: usize) -> Result<Vector> {
        let columns = arguments.iter().zip(self.schema.fields());
        let columns =
            columns.map(|(column, field)| arrow::array(column, field.data_type())).collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)
            .map_err(|e| failure::plain(e.into()))?;
        match self.kind {
            Kind::Text => self.texts(&batch),
            _ => arrow::vector(&self.array(&batch)?),
        }
    }
}

impl Function {
    fn array(&self, batch: &RecordBatch) -> Result<ArrayRef> {
        caught(|| {
            let values = self.body.evaluate(batch).map_err(failure::plain)?;
            values.into_array(batch.num_rows()).map_err(failure::plain)
        })
    }

    /// Returns texts, which may be far larger than the arguments: in slices, and in the memory of the query.
    fn texts(&self, batch: &RecordBatch) -> Result<Vector> {
        let (rows, mut at, mut bytes, mut step) = (batch.num_rows(), 0, 0, FIRST_ROWS);
        let mut parts: Vec<ArrayRef> = Vec::new();
        let mut grant = None;
        while at < rows {
            let count = step.min(rows - at);
            let part = self.array(&batch.slice(at, count))?;
            at += count;
            bytes += part.to_data().get_slice_memory_size().map_err(|e| failure::plain(e.into()))?;
            parts.push(part);
            if bytes > FREE_BYTES {
                let more = (bytes as u64).saturating_sub(grant.as_ref().map_or(0, yunti_engine::memory::Grant::bytes));
                if !self.budget.try_add(&mut grant, more) {
                    return Err(self.budget.too_small(more, "the texts that a function makes of one batch"));
                }
            }
            step = (SLICE_BYTES / (bytes / at).max(1)).max(1);
        }
        match &parts[..] {
            [one] => arrow::vector(one),
            [] => arrow::vector(&self.array(batch)?),
            parts => {
                let parts: Vec<&dyn Array> = parts.iter().map(|part| &**part).collect();
                let whole = concat(&parts).map_err(|_| {
                    Error::new(Code::Memory, "the texts of a batch are larger than 2 GiB")
                        .hint("make the texts shorter with substr or left")
                })?;
                arrow::vector(&whole)
            }
        }
    }
}
