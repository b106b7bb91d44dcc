//! Subqueries that are values: `x in (..)`, `exists (..)`, `x > all (..)` and scalars, anywhere in an expression.
//!
//! The planner makes joins of subqueries that are conditions of their own in WHERE, and of scalars that meet the query
//! around them in equations. Each other one becomes a join here, with SQL's three values:
//!
//! ```text
//!   (select max(v) from b where b.k < a.k)   a left join with the scalar of each a.k
//!   exists (..)                              a mark join
//!   x in (select c ..)                       a mark join on x = c; null if x or a c is, unless there is a match
//!   x > all (select c ..)                    a left join with the greatest c, and the numbers of rows and of nulls
//! ```

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchemaRef, DataFusionError, JoinType, Result, ScalarValue, not_impl_err};
use datafusion::functions_aggregate::count::count_all;
use datafusion::functions_aggregate::expr_fn::{count, max, min};
use datafusion::logical_expr::expr::{Exists, InSubquery, SetComparison, SetQuantifier};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{
    Aggregate, BinaryExpr, Distinct, Expr, ExprSchemable, Filter, Join, LogicalPlan, LogicalPlanBuilder, Operator,
    Projection, Subquery, SubqueryAlias, Union, binary_expr, lit, when,
};
use datafusion::optimizer::AnalyzerRule;

use super::Names;
use super::dependent::{Domain, has_one_row, join, outer_columns, pairs};
use crate::functions::only_row::only_row;

/// The rule.
#[derive(Debug)]
pub struct Subqueries;

impl AnalyzerRule for Subqueries {
    fn name(&self) -> &str {
        "subqueries_as_values"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let names = Names::default();
        plan.transform_up_with_subqueries(|plan| node(plan, &names)).map(|changed| changed.data)
    }
}

fn node(plan: LogicalPlan, names: &Names) -> Result<Transformed<LogicalPlan>> {
    match plan {
        LogicalPlan::Aggregate(ref of) if of.aggr_expr.iter().any(is_of_outer_query) => {
            not_impl_err!("an aggregate in a subquery whose columns are all of the query around it")
        }
        LogicalPlan::Join(of) if of.filter.as_ref().is_some_and(has_subquery) => on_subqueries(of, names),
        LogicalPlan::Join(of) => lateral(of, names),
        LogicalPlan::Filter(of) => {
            let mut joined = Joined::new(&of.input, names);
            let parts = split_conjunction(&of.predicate).into_iter().cloned();
            let parts = parts.map(|part| joined.condition(part)).collect::<Result<Vec<_>>>()?;
            let predicate = parts.into_iter().reduce(Expr::and).unwrap_or_else(|| lit(true));
            let Some(input) = joined.done() else {
                return Ok(Transformed::yes(LogicalPlan::Filter(Filter::try_new(predicate, of.input)?)));
            };
            let filter = LogicalPlan::Filter(Filter::try_new(predicate, Arc::new(input))?);
            as_before(filter, of.input.schema()).map(Transformed::yes)
        }
        LogicalPlan::Projection(_)
        | LogicalPlan::Aggregate(_)
        | LogicalPlan::Window(_)
        | LogicalPlan::Sort(_)
        | LogicalPlan::Distinct(Distinct::On(_)) => {
            let Some(input) = plan.inputs().first().copied().cloned() else { return Ok(Transformed::no(plan)) };
            let (schema, preserved) = (plan.schema().clone(), NamePreserver::new(&plan));
            let mut joined = Joined::new(&input, names);
            let changed = plan.map_expressions(|of| {
                let name = preserved.save(&of);
                Ok(joined.value(of)?.update_data(|of| name.restore(of)))
            })?;
            let Some(input) = joined.done() else { return Ok(changed) };
            let expressions = changed.data.expressions();
            let plan = changed.data.with_new_exprs(expressions, vec![input])?;
            match plan {
                LogicalPlan::Window(_) | LogicalPlan::Sort(_) => as_before(plan, &schema).map(Transformed::yes),
                plan => Ok(Transformed::yes(plan)),
            }
        }
        other => Ok(Transformed::no(other)),
    }
}

/// Returns a plan without the columns that subqueries added.
fn as_before(plan: LogicalPlan, schema: &DFSchemaRef) -> Result<LogicalPlan> {
    let columns = schema.columns().into_iter().map(Expr::Column).collect();
    Ok(LogicalPlan::Projection(Projection::try_new(columns, Arc::new(plan))?))
}

/// A join whose right side needs columns of its left side.
fn lateral(of: Join, names: &Names) -> Result<Transformed<LogicalPlan>> {
    let own = own_columns(&of.right, of.left.schema())?;
    if own.is_empty() || !matches!(of.join_type, JoinType::Inner | JoinType::Left) {
        return Ok(Transformed::no(LogicalPlan::Join(of)));
    }
    let pushed = Domain::new(&of.left, own.clone(), names)?.push(&of.right)?;
    let same = own
        .into_iter()
        .zip(pushed.keys)
        .map(|(a, b)| binary_expr(Expr::Column(a), Operator::IsNotDistinctFrom, Expr::Column(b)));
    let on = of.on.into_iter().map(|(a, b)| a.eq(b));
    let filter = same.chain(on).chain(of.filter).reduce(Expr::and);
    let plan = join(of.left.as_ref().clone(), pushed.plan, Vec::new(), filter, of.join_type)?;
    as_before(plan, &of.schema).map(Transformed::yes)
}

/// Returns true for an aggregate that SQL computes in the query around its subquery.
fn is_of_outer_query(call: &Expr) -> bool {
    let call = call.clone().unalias();
    call.column_refs().is_empty() && needs_outer(&[call]).unwrap_or(false)
}

fn has_subquery(of: &Expr) -> bool {
    let is_one = |of: &Expr| {
        matches!(of, Expr::ScalarSubquery(_) | Expr::Exists(_) | Expr::InSubquery(_) | Expr::SetComparison(_))
    };
    of.exists(|of| Ok(is_one(of))).unwrap_or(false)
}

/// A join with subqueries in its condition, as a filter over all pairs. An outer join adds the rows without a pair: its
/// side meets the pairs again, by the columns that the condition needs.
fn on_subqueries(of: Join, names: &Names) -> Result<Transformed<LogicalPlan>> {
    let filter = of.filter.clone().unwrap_or_else(|| lit(true));
    let all = of.on.iter().map(|(a, b)| a.clone().eq(b.clone())).fold(filter, Expr::and);
    let mut needed: Vec<Column> = all.column_refs().into_iter().cloned().collect();
    all.apply(|of| {
        if let Expr::Exists(Exists { subquery, .. })
        | Expr::InSubquery(InSubquery { subquery, .. })
        | Expr::SetComparison(SetComparison { subquery, .. })
        | Expr::ScalarSubquery(subquery) = of
        {
            needed.extend(outer_columns(&subquery.subquery)?);
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    needed.sort();
    needed.dedup();
    let pairs_of = |left: LogicalPlan, right: LogicalPlan| {
        let both = LogicalPlanBuilder::from(left).cross_join(right)?.build()?;
        let filter = LogicalPlan::Filter(Filter::try_new(all.clone(), Arc::new(both))?);
        node(filter, names).map(|done| done.data)
    };
    // The rows of a side, each with its pairs or with none.
    let kept = |side: &Arc<LogicalPlan>, other: &Arc<LogicalPlan>| {
        let own: Vec<Column> = needed.iter().filter(|column| side.schema().has_column(column)).cloned().collect();
        let mut joined = Joined::new(side, names);
        let values = match own.is_empty() {
            true => LogicalPlanBuilder::empty(true).build()?,
            false => Domain::values(side, &own)?,
        };
        let found = pairs_of(values, other.as_ref().clone())?;
        let columns = other.schema().columns();
        let more = columns.iter().cloned().map(Expr::Column).collect();
        let (keys, more, right) = joined.relation(&own, more, found)?;
        let on = pairs(&own, &keys);
        let filter = on.is_empty().then(|| lit(true));
        joined.plan = Some(join(side.as_ref().clone(), right, on, filter, JoinType::Left)?);
        let named = columns.into_iter().zip(more).map(|(name, of)| of.alias_qualified(name.relation, name.name));
        Ok::<_, DataFusionError>((joined.plan.unwrap_or_else(|| side.as_ref().clone()), named.collect::<Vec<_>>()))
    };
    let columns = |plan: &LogicalPlan| plan.schema().columns().into_iter().map(Expr::Column).collect::<Vec<_>>();
    let plan = match of.join_type {
        JoinType::Inner => pairs_of(of.left.as_ref().clone(), of.right.as_ref().clone())?,
        JoinType::Left => {
            let (plan, others) = kept(&of.left, &of.right)?;
            let all = [columns(&of.left), others].concat();
            LogicalPlan::Projection(Projection::try_new(all, Arc::new(plan))?)
        }
        JoinType::Right => {
            let (plan, others) = kept(&of.right, &of.left)?;
            let all = [others, columns(&of.right)].concat();
            LogicalPlan::Projection(Projection::try_new(all, Arc::new(plan))?)
        }
        JoinType::Full => {
            let (plan, others) = kept(&of.left, &of.right)?;
            let all = [columns(&of.left), others].concat();
            let lefts = LogicalPlan::Projection(Projection::try_new(all, Arc::new(plan))?);
            // The rows of the right side without a pair: equal rows have all the same pairs.
            let own: Vec<Column> =
                needed.iter().filter(|column| of.right.schema().has_column(column)).cloned().collect();
            let values = match own.is_empty() {
                true => LogicalPlanBuilder::empty(true).build()?,
                false => Domain::values(&of.right, &own)?,
            };
            let found = pairs_of(of.left.as_ref().clone(), values)?;
            let (keys, _, found) = Joined::new(&of.right, names).relation(&own, Vec::new(), found)?;
            let on = pairs(&own, &keys);
            let filter = on.is_empty().then(|| lit(true));
            let rest = join(of.right.as_ref().clone(), found, on, filter, JoinType::LeftAnti)?;
            let nulls = of.left.schema().iter().map(|(relation, field)| {
                let null = ScalarValue::try_from(field.data_type())?;
                Ok(lit(null).alias_qualified(relation.cloned(), field.name()))
            });
            let nulls = nulls.collect::<Result<Vec<_>>>()?;
            let rights = Projection::try_new([nulls, columns(&of.right)].concat(), Arc::new(rest))?;
            let both = vec![Arc::new(lefts), Arc::new(LogicalPlan::Projection(rights))];
            // A union forgets which table a column is of, so that each has a name of its own in it.
            let new: Vec<String> = of.schema.fields().iter().map(|_| names.next()).collect();
            let side = |plan: Arc<LogicalPlan>| {
                let named = columns(&plan).into_iter().zip(&new).map(|(of, name)| of.alias(name)).collect();
                Ok(Arc::new(LogicalPlan::Projection(Projection::try_new(named, plan)?)))
            };
            let union = Union::try_new_with_loose_types(both.into_iter().map(side).collect::<Result<Vec<_>>>()?)?;
            let old = of.schema.iter().zip(&new).map(|((relation, field), name)| {
                Expr::Column(Column::from_name(name)).alias_qualified(relation.cloned(), field.name())
            });
            LogicalPlan::Projection(Projection::try_new(old.collect(), Arc::new(LogicalPlan::Union(union)))?)
        }
        _ => return Ok(Transformed::no(LogicalPlan::Join(of))),
    };
    Ok(Transformed::yes(plan))
}

/// Returns the columns of a schema that a subquery needs.
fn own_columns(plan: &LogicalPlan, schema: &DFSchemaRef) -> Result<Vec<Column>> {
    let mut all = outer_columns(plan)?;
    all.retain(|column| schema.has_column(column));
    Ok(all)
}

/// The input of an operator, joined with the subqueries of its expressions.
struct Joined<'p> {
    input: &'p LogicalPlan,
    /// With the subqueries so far.
    plan: Option<LogicalPlan>,
    /// Each subquery with the value that took its place.
    known: Vec<(Expr, Expr)>,
    names: &'p Names,
}

/// The rows of a subquery beside the values of the columns that it needs.
struct Rows {
    plan: LogicalPlan,
    /// Columns of the query around it, and of `plan`.
    own: Vec<Column>,
    keys: Vec<Column>,
    /// The first column.
    value: Expr,
}

impl<'p> Joined<'p> {
    fn new(input: &'p LogicalPlan, names: &'p Names) -> Joined<'p> {
        Joined { input, plan: None, known: Vec::new(), names }
    }

    /// Returns the joined input, if there was a subquery.
    fn done(self) -> Option<LogicalPlan> {
        self.plan
    }

    /// Replaces the subqueries of a condition that the planner has no join for.
    fn condition(&mut self, of: Expr) -> Result<Expr> {
        match of {
            // The planner's anti join knows nulls. Its marks, beside `or`, do not.
            Expr::InSubquery(InSubquery { ref subquery, negated: true, .. })
                if subquery.outer_ref_columns.is_empty() =>
            {
                Ok(of)
            }
            of => self.part_of_condition(of),
        }
    }

    /// Replaces the subqueries of a condition, or of a side of `and` or `or` in it.
    fn part_of_condition(&mut self, of: Expr) -> Result<Expr> {
        match of {
            // Null removes a row as false does, so that `in` needs no null.
            Expr::InSubquery(InSubquery { expr, subquery, negated: false }) => self.in_condition(*expr, subquery),
            Expr::SetComparison(SetComparison { expr, subquery, op: Operator::Eq, quantifier: SetQuantifier::Any }) => {
                self.in_condition(*expr, subquery)
            }
            Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::And | Operator::Or), right }) => {
                Ok(binary_expr(self.part_of_condition(*left)?, op, self.part_of_condition(*right)?))
            }
            of => of
                .transform_up(|of| match of {
                    Expr::Exists(ref exists) if is_plain(&exists.subquery.subquery, self.input)? => {
                        Ok(Transformed::no(of))
                    }
                    of => self.part(of),
                })
                .map(|done| done.data),
        }
    }

    fn in_condition(&mut self, value: Expr, subquery: Subquery) -> Result<Expr> {
        match is_plain(&subquery.subquery, self.input)? {
            true => Ok(Expr::InSubquery(InSubquery::new(Box::new(value), subquery, false))),
            false => {
                let value = self.value(value)?.data;
                self.mark(Some(value), &subquery.subquery)
            }
        }
    }

    /// Replaces the subqueries of a value.
    fn value(&mut self, of: Expr) -> Result<Transformed<Expr>> {
        of.transform_up(|of| self.part(of))
    }

    fn part(&mut self, of: Expr) -> Result<Transformed<Expr>> {
        if !matches!(of, Expr::ScalarSubquery(_) | Expr::Exists(_) | Expr::InSubquery(_) | Expr::SetComparison(_)) {
            return Ok(Transformed::no(of));
        }
        if let Some((_, value)) = self.known.iter().find(|(known, _)| *known == of) {
            return Ok(Transformed::yes(value.clone()));
        }
        let value = match of.clone() {
            Expr::ScalarSubquery(of) if is_scalar_of_equations(&of.subquery, self.input)? => None,
            Expr::ScalarSubquery(of) => Some(self.scalar(&of.subquery)?),
            Expr::Exists(Exists { subquery, negated }) => {
                let exists = self.exists(&subquery.subquery)?;
                Some(if negated { Expr::Not(Box::new(exists)) } else { exists })
            }
            Expr::InSubquery(InSubquery { expr, subquery, negated }) => {
                let is_in = self.is_in(*expr, &subquery.subquery)?;
                Some(if negated { Expr::Not(Box::new(is_in)) } else { is_in })
            }
            Expr::SetComparison(SetComparison { expr, subquery, op, quantifier }) => {
                let plan = &subquery.subquery;
                Some(match (op, quantifier) {
                    (Operator::Eq, SetQuantifier::Any) => self.is_in(*expr, plan)?,
                    (Operator::NotEq, SetQuantifier::All) => Expr::Not(Box::new(self.is_in(*expr, plan)?)),
                    (op, quantifier) => self.compared(*expr, op, quantifier == SetQuantifier::All, plan)?,
                })
            }
            _ => None,
        };
        let Some(value) = value else { return Ok(Transformed::no(of)) };
        self.known.push((of, value.clone()));
        Ok(Transformed::yes(value))
    }

    /// Returns the rows of a subquery for the values of the columns that it needs.
    fn rows(&self, plan: &LogicalPlan) -> Result<Rows> {
        let own = own_columns(plan, self.input.schema())?;
        let value = |plan: &LogicalPlan| Expr::Column(Column::from(plan.schema().qualified_field(0)));
        if own.is_empty() {
            return Ok(Rows { value: value(plan), plan: plan.clone(), own, keys: Vec::new() });
        }
        let pushed = Domain::new(self.input, own.clone(), self.names)?.push(plan)?;
        Ok(Rows { value: value(&pushed.plan), plan: pushed.plan, own, keys: pushed.keys })
    }

    /// Joins a relation of the keys of a subquery and more columns. Returns these columns.
    fn join(&mut self, of: Rows, more: Vec<Expr>, kind: JoinType) -> Result<Vec<Expr>> {
        let (keys, columns, right) = self.relation(&of.keys, more, of.plan)?;
        let left = self.plan.take().unwrap_or_else(|| self.input.clone());
        let kind = if keys.is_empty() { JoinType::Inner } else { kind };
        self.plan = Some(join(left, right, pairs(&of.own, &keys), None, kind)?);
        Ok(columns)
    }

    /// Returns keys and more columns of a plan as a new relation.
    fn relation(
        &self,
        keys: &[Column],
        more: Vec<Expr>,
        plan: LogicalPlan,
    ) -> Result<(Vec<Column>, Vec<Expr>, LogicalPlan)> {
        let relation = self.names.next();
        let new = |_| self.names.column(&relation);
        let (new_keys, new_more) = (
            keys.iter().map(new).collect::<Vec<_>>(),
            (0..more.len()).map(|_| self.names.column(&relation)).collect::<Vec<_>>(),
        );
        let all = keys.iter().cloned().map(Expr::Column).chain(more);
        let named = all.zip(new_keys.iter().chain(&new_more)).map(|(of, name)| of.alias(&name.name)).collect();
        let plan = LogicalPlan::Projection(Projection::try_new(named, Arc::new(plan))?);
        let plan = LogicalPlan::SubqueryAlias(SubqueryAlias::try_new(Arc::new(plan), relation)?);
        Ok((new_keys, new_more.into_iter().map(Expr::Column).collect(), plan))
    }

    fn scalar(&mut self, plan: &LogicalPlan) -> Result<Expr> {
        let mut rows = self.rows(plan)?;
        if has_one_row(plan) {
            let value = rows.value.clone();
            return Ok(self.join(rows, vec![value], JoinType::Left)?.remove(0));
        }
        let of = [min(rows.value.clone()), count_all()];
        let [value, number] = self.aggregate(&mut rows, of)?;
        let columns = self.join(rows, vec![value, number], JoinType::Left)?;
        Ok(only_row(columns))
    }

    /// Aggregates the rows of a subquery by its keys. Returns the columns of the two aggregates.
    fn aggregate<const N: usize>(&self, rows: &mut Rows, calls: [Expr; N]) -> Result<[Expr; N]> {
        let named = calls.map(|call| call.alias(self.names.next()));
        let columns = named.each_ref().map(|of| Expr::Column(Column::from_name(of.schema_name().to_string())));
        let groups = rows.keys.iter().cloned().map(Expr::Column).collect();
        let input = Arc::new(rows.plan.clone());
        rows.plan = LogicalPlan::Aggregate(Aggregate::try_new(input, groups, named.to_vec())?);
        Ok(columns)
    }

    fn exists(&mut self, plan: &LogicalPlan) -> Result<Expr> {
        if !own_columns(plan, self.input.schema())?.is_empty() {
            return self.mark(None, plan);
        }
        // The same for all rows: whether there is a first row.
        let plan = LogicalPlanBuilder::from(plan.clone()).limit(0, Some(1))?;
        let plan = plan.aggregate(Vec::<Expr>::new(), vec![count_all().alias(self.names.next())])?.build()?;
        let number = Expr::Column(Column::from(plan.schema().qualified_field(0)));
        let plan = LogicalPlanBuilder::from(plan).project(vec![number.gt(lit(0i64))])?.build()?;
        let outer_ref_columns = plan.all_out_ref_exprs();
        Ok(Expr::ScalarSubquery(Subquery { subquery: Arc::new(plan), outer_ref_columns, spans: Default::default() }))
    }

    /// Returns whether a subquery has a row, whose value is equal to one if that is given.
    fn mark(&mut self, value: Option<Expr>, plan: &LogicalPlan) -> Result<Expr> {
        let rows = self.rows(plan)?;
        let more = value.iter().map(|_| rows.value.clone()).collect();
        let (keys, columns, right) = self.relation(&rows.keys, more, rows.plan)?;
        let left = self.plan.take().unwrap_or_else(|| self.input.clone());
        let (on, filter) = match (value, columns.into_iter().next()) {
            (Some(value), Some(column)) => {
                let same = pairs(&rows.own, &keys).into_iter();
                let same = same.map(|(a, b)| binary_expr(a, Operator::IsNotDistinctFrom, b));
                (Vec::new(), same.fold(value.eq(column), Expr::and).into())
            }
            _ => (pairs(&rows.own, &keys), None),
        };
        let plan = join(left, right, on, filter, JoinType::LeftMark)?;
        // The mark is named after the relation, so that other marks differ.
        let schema = plan.schema();
        let mark = Expr::Column(Column::from(schema.qualified_field(schema.fields().len() - 1)));
        self.plan = Some(plan);
        Ok(mark)
    }

    fn is_in(&mut self, value: Expr, plan: &LogicalPlan) -> Result<Expr> {
        let mut rows = self.rows(plan)?;
        let can_be_null = value.nullable(self.plan.as_ref().unwrap_or(self.input).schema())?
            || rows.value.nullable(rows.plan.schema())?;
        let mark = self.mark(Some(value.clone()), plan)?;
        if !can_be_null {
            return Ok(mark);
        }
        let of = [count_all(), count(rows.value.clone())];
        let of = self.aggregate(&mut rows, of)?;
        let columns = self.join(rows, of.to_vec(), JoinType::Left)?;
        let [all, values] = &columns[..] else { return Ok(mark) };
        let null = lit(ScalarValue::Boolean(None));
        when(mark, lit(true))
            .when(is_none(all), lit(false))
            .when(value.is_null().or(values.clone().lt(all.clone())), null)
            .otherwise(lit(false))
    }

    /// Returns `value op any (..)` or `value op all (..)`: the least or the greatest value of the subquery decides.
    fn compared(&mut self, value: Expr, op: Operator, of_all: bool, plan: &LogicalPlan) -> Result<Expr> {
        let mut rows = self.rows(plan)?;
        let column = rows.value.clone();
        let of = [min(column.clone()), max(column.clone()), count_all(), count(column)];
        let of = self.aggregate(&mut rows, of)?;
        let columns = self.join(rows, of.to_vec(), JoinType::Left)?;
        let [least, greatest, all, values] = &columns[..] else { unreachable!("an aggregation of four") };
        let with = |other: &Expr| binary_expr(value.clone(), op, other.clone());
        let decided = match (op, of_all) {
            (Operator::Gt | Operator::GtEq, false) | (Operator::Lt | Operator::LtEq, true) => with(least),
            (Operator::Gt | Operator::GtEq, true) | (Operator::Lt | Operator::LtEq, false) => with(greatest),
            (_, true) => with(least).and(with(greatest)),
            (_, false) => with(least).or(with(greatest)),
        };
        // `any` is true once one comparison is, and `all` is false; nulls leave it open.
        let (settled, empty) = match of_all {
            true => (decided.is_false(), true),
            false => (decided.is_true(), false),
        };
        let null = lit(ScalarValue::Boolean(None));
        when(is_none(all), lit(empty))
            .when(settled, lit(!empty))
            .when(value.is_null().or(values.clone().lt(all.clone())), null)
            .otherwise(lit(empty))
    }
}

/// Returns that a number of rows is none: a group that is not there has no number.
fn is_none(number: &Expr) -> Expr {
    number.clone().is_null().or(number.clone().eq(lit(0i64)))
}

/// Returns true for a subquery whose conditions alone need the query around it, above a plan that does not.
fn is_plain(plan: &LogicalPlan, around: &LogicalPlan) -> Result<bool> {
    let all = outer_columns(plan)?;
    if !all.iter().all(|column| around.schema().has_column(column)) {
        return Ok(false);
    }
    filtered(plan, &|_| true)
}

/// Returns true for a scalar that the planner joins: an aggregate, above rows that meet the query around it in
/// equations.
fn is_scalar_of_equations(plan: &LogicalPlan, around: &LogicalPlan) -> Result<bool> {
    let all = outer_columns(plan)?;
    if all.is_empty() {
        return Ok(true);
    }
    if !all.iter().all(|column| around.schema().has_column(column)) {
        return Ok(false);
    }
    let mut at = plan;
    loop {
        match at {
            LogicalPlan::Projection(of) if !needs_outer(&of.expr)? => at = &of.input,
            LogicalPlan::SubqueryAlias(of) => at = &of.input,
            LogicalPlan::Aggregate(of) if of.group_expr.is_empty() && !needs_outer(&of.aggr_expr)? => {
                return filtered(&of.input, &is_equation);
            }
            _ => return Ok(false),
        }
    }
}

fn needs_outer(all: &[Expr]) -> Result<bool> {
    let mut needs = false;
    for of in all {
        needs |= of.exists(|of| Ok(matches!(of, Expr::OuterReferenceColumn(..))))?;
    }
    Ok(needs)
}

/// Returns true for an equation of a part inside with one outside.
fn is_equation(of: &Expr) -> bool {
    let Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) = of else { return false };
    let outside = |of: &Expr| of.column_refs().is_empty();
    let inside = |of: &Expr| needs_outer(std::slice::from_ref(of)).is_ok_and(|needs| !needs);
    outside(left) && inside(right) || inside(left) && outside(right)
}

fn filtered(plan: &LogicalPlan, passes: &dyn Fn(&Expr) -> bool) -> Result<bool> {
    if outer_columns(plan)?.is_empty() {
        return Ok(true);
    }
    match plan {
        LogicalPlan::Projection(of) if !needs_outer(&of.expr)? => filtered(&of.input, passes),
        LogicalPlan::SubqueryAlias(of) => filtered(&of.input, passes),
        LogicalPlan::Filter(of) => {
            for part in split_conjunction(&of.predicate) {
                if needs_outer(std::slice::from_ref(part))? && !passes(part) {
                    return Ok(false);
                }
            }
            filtered(&of.input, passes)
        }
        _ => Ok(false),
    }
}
