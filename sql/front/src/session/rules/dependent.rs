//! A subquery that needs columns of the query around it, as a plan that does not: it gives its rows for each
//! combination of values that these columns have, beside the values ("Unnesting Arbitrary Queries", Neumann and
//! Kemper, 2015).
//!
//! ```text
//!   select max(v) from b where b.k < a.k       for each row of a
//!
//!   domain:  select distinct k from a
//!   pushed:  select d.k, max(v) from domain d left join b on b.k < d.k group by d.k
//! ```
//!
//! The domain goes down to the operators that use a column of it, and its columns come up through all operators above.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchemaRef, JoinConstraint, JoinType, NullEquality, Result, not_impl_err};
use datafusion::functions_window::expr_fn::row_number;
use datafusion::logical_expr::{
    Aggregate, Distinct, Expr, ExprFunctionExt, FetchType, Filter, GroupingSet, Join, Limit, LogicalPlan,
    LogicalPlanBuilder, Operator, Projection, SkipType, SortExpr, SubqueryAlias, Union, binary_expr, lit,
};

use super::Names;

/// The columns of a query that a subquery needs, and their combinations of values.
pub struct Domain<'n> {
    values: LogicalPlan,
    /// Columns of the query, in the order of the columns of `values`.
    pub columns: Vec<Column>,
    names: &'n Names,
}

/// A plan with the columns of the subquery in their order, and then the columns of the domain.
pub struct Pushed {
    pub plan: LogicalPlan,
    /// Columns of the domain, as `plan` names them.
    pub keys: Vec<Column>,
}

/// Returns the columns outside of a plan that its own expressions need. Subqueries within them have none.
pub fn outer_columns(plan: &LogicalPlan) -> Result<Vec<Column>> {
    let mut found = Vec::new();
    plan.apply(|node| {
        node.apply_expressions(|of| {
            of.apply(|of| {
                if let Expr::OuterReferenceColumn(_, column) = of
                    && !found.contains(column)
                {
                    found.push(column.clone());
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    Ok(found)
}

/// Returns true if a plan gives one row at most, and one for each combination once it is pushed.
pub fn has_one_row(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Projection(of) => has_one_row(&of.input),
        LogicalPlan::SubqueryAlias(of) => has_one_row(&of.input),
        LogicalPlan::Filter(of) => has_one_row(&of.input),
        LogicalPlan::Sort(of) => has_one_row(&of.input),
        LogicalPlan::Distinct(Distinct::All(of)) => has_one_row(of),
        LogicalPlan::Limit(of) => {
            has_one_row(&of.input) || matches!(of.get_fetch_type(), Ok(FetchType::Literal(Some(0 | 1))))
        }
        LogicalPlan::Aggregate(of) => of.group_expr.is_empty(),
        LogicalPlan::EmptyRelation(_) => true,
        _ => false,
    }
}

fn columns(schema: &DFSchemaRef) -> Vec<Expr> {
    schema.columns().into_iter().map(Expr::Column).collect()
}

fn as_columns(keys: &[Column]) -> Vec<Expr> {
    keys.iter().cloned().map(Expr::Column).collect()
}

fn project(plan: LogicalPlan, expressions: Vec<Expr>) -> Result<LogicalPlan> {
    Ok(LogicalPlan::Projection(Projection::try_new(expressions, Arc::new(plan))?))
}

/// Returns the condition that columns of two sides have the same values, or both none.
fn same(left: &[Column], right: &[Column]) -> Option<Expr> {
    let equal = |(a, b): (&Column, &Column)| {
        binary_expr(Expr::Column(a.clone()), Operator::IsNotDistinctFrom, Expr::Column(b.clone()))
    };
    left.iter().zip(right).map(equal).reduce(Expr::and)
}

impl<'n> Domain<'n> {
    pub fn new(of: &LogicalPlan, columns: Vec<Column>, names: &'n Names) -> Result<Domain<'n>> {
        Ok(Domain { values: Domain::values(of, &columns)?, columns, names })
    }

    /// Returns the combinations of values of some columns. The plan runs for them a second time.
    ///
    /// Errors: `NotImplemented` for a plan whose values differ from run to run.
    pub fn values(of: &LogicalPlan, columns: &[Column]) -> Result<LogicalPlan> {
        let differs = |node: &LogicalPlan| Ok(node.expressions().iter().any(Expr::is_volatile));
        if of.exists(differs)? {
            return not_impl_err!("a subquery that needs columns of a query with random() or the like");
        }
        LogicalPlanBuilder::from(of.clone()).project(as_columns(columns))?.distinct()?.build()
    }

    /// Returns the combinations of values as a new relation.
    fn relation(&self) -> Result<Pushed> {
        let relation = self.names.next();
        let keys: Vec<Column> = self.columns.iter().map(|_| self.names.column(&relation)).collect();
        let named = as_columns(&self.values.schema().columns()).into_iter().zip(&keys);
        let plan = project(self.values.clone(), named.map(|(of, key)| of.alias(&key.name)).collect())?;
        let plan = LogicalPlan::SubqueryAlias(SubqueryAlias::try_new(Arc::new(plan), relation)?);
        Ok(Pushed { plan, keys })
    }

    fn is_used_by(&self, plan: &LogicalPlan) -> Result<bool> {
        Ok(outer_columns(plan)?.iter().any(|column| self.columns.contains(column)))
    }

    /// Returns an expression with the columns of the domain in place of those of the query.
    fn replaced(&self, of: Expr, keys: &[Column]) -> Result<Expr> {
        let replace = |of: Expr| match &of {
            Expr::OuterReferenceColumn(_, column) => match self.columns.iter().position(|own| own == column) {
                Some(number) => Ok(Transformed::yes(Expr::Column(keys[number].clone()))),
                None => Ok(Transformed::no(of)),
            },
            _ => Ok(Transformed::no(of)),
        };
        of.transform(replace).map(|done| done.data)
    }

    fn all_replaced(&self, all: &[Expr], keys: &[Column]) -> Result<Vec<Expr>> {
        all.iter().map(|of| self.replaced(of.clone(), keys)).collect()
    }

    /// Returns expressions with the names that they had in a schema, from a column of it on.
    fn named(&self, all: Vec<Expr>, schema: &DFSchemaRef, from: usize) -> Vec<Expr> {
        let name = |(number, of): (usize, Expr)| {
            let (qualifier, field) = schema.qualified_field(from + number);
            match of.qualified_name() == (qualifier.cloned(), field.name().clone()) {
                true => of,
                false => of.alias_qualified(qualifier.cloned(), field.name()),
            }
        };
        all.into_iter().enumerate().map(name).collect()
    }

    /// Returns the rows of a plan for each combination of values.
    ///
    /// Errors: `NotImplemented` for an operator that no domain passes.
    pub fn push(&self, plan: &LogicalPlan) -> Result<Pushed> {
        if !self.is_used_by(plan)? {
            let relation = self.relation()?;
            let plan = LogicalPlanBuilder::from(plan.clone()).cross_join(relation.plan)?.build()?;
            return Ok(Pushed { plan, keys: relation.keys });
        }
        match plan {
            LogicalPlan::Projection(of) => {
                let Pushed { plan, keys } = self.push(&of.input)?;
                let own = self.named(self.all_replaced(&of.expr, &keys)?, &of.schema, 0);
                Ok(Pushed { plan: project(plan, [own, as_columns(&keys)].concat())?, keys })
            }
            LogicalPlan::Filter(of) => {
                let Pushed { plan, keys } = self.push(&of.input)?;
                let predicate = self.replaced(of.predicate.clone(), &keys)?;
                Ok(Pushed { plan: LogicalPlan::Filter(Filter::try_new(predicate, Arc::new(plan))?), keys })
            }
            LogicalPlan::SubqueryAlias(of) => {
                let Pushed { plan, keys } = self.push(&of.input)?;
                let alias = SubqueryAlias::try_new(Arc::new(plan), of.alias.clone())?;
                let keys = keys.into_iter().map(|key| Column::new(Some(of.alias.clone()), key.name)).collect();
                Ok(Pushed { plan: LogicalPlan::SubqueryAlias(alias), keys })
            }
            LogicalPlan::Subquery(of) => self.push(&of.subquery),
            LogicalPlan::Distinct(Distinct::All(input)) => {
                let Pushed { plan, keys } = self.push(input)?;
                Ok(Pushed { plan: LogicalPlan::Distinct(Distinct::All(Arc::new(plan))), keys })
            }
            LogicalPlan::Aggregate(of) => self.aggregate(of),
            LogicalPlan::Sort(of) => match of.fetch {
                Some(count) => self.first(&of.input, &of.expr, 0, Some(count)),
                // The order of a subquery's rows is none of its result.
                None => self.push(&of.input),
            },
            LogicalPlan::Limit(of) => self.limit(of),
            LogicalPlan::Window(of) => {
                let Pushed { plan, keys } = self.push(&of.input)?;
                let within = |call: Expr| match call {
                    Expr::WindowFunction(mut call) => {
                        call.params.partition_by.extend(as_columns(&keys));
                        Transformed::yes(Expr::WindowFunction(call))
                    }
                    other => Transformed::no(other),
                };
                let calls = self.all_replaced(&of.window_expr, &keys)?;
                let calls = calls.into_iter().map(|call| call.transform(|of| Ok(within(of))).map(|done| done.data));
                let calls = calls.collect::<Result<Vec<Expr>>>()?;
                let first = of.input.schema().fields().len();
                let own = columns(&of.schema)[..first].to_vec();
                let named = calls.iter().map(|of| Expr::Column(Column::from_name(of.schema_name().to_string())));
                let named = self.named(named.collect(), &of.schema, first);
                let plan = LogicalPlanBuilder::from(plan).window(calls)?.build()?;
                Ok(Pushed { plan: project(plan, [own, named, as_columns(&keys)].concat())?, keys })
            }
            LogicalPlan::Join(of) => self.join(of),
            LogicalPlan::Union(of) => self.union(of),
            LogicalPlan::Unnest(of) => {
                let Pushed { plan, keys } = self.push(&of.input)?;
                let plan = LogicalPlanBuilder::from(plan);
                let plan = plan.unnest_columns_with_options(of.exec_columns.clone(), of.options.clone())?.build()?;
                Ok(Pushed { plan: project(plan, [columns(&of.schema), as_columns(&keys)].concat())?, keys })
            }
            other => not_impl_err!("a subquery that needs a column of the query around it, within {}", other.display()),
        }
    }

    fn aggregate(&self, of: &Aggregate) -> Result<Pushed> {
        let Pushed { plan, keys } = self.push(&of.input)?;
        let groups = self.all_replaced(&of.group_expr, &keys)?;
        let mut calls = self.all_replaced(&of.aggr_expr, &keys)?;
        if let [Expr::GroupingSet(sets)] = &groups[..] {
            let all = as_columns(&keys);
            let sets = match sets {
                GroupingSet::GroupingSets(sets) => sets.clone(),
                GroupingSet::Rollup(_) | GroupingSet::Cube(_) => vec![Vec::new()],
            };
            // The set of no keys has a row for no rows as well, which the domain's columns would take from it.
            if sets.iter().any(Vec::is_empty) {
                return not_impl_err!("a grouping set of no keys in a subquery that needs a column around it");
            }
            let sets = sets.into_iter().map(|set| [all.clone(), set].concat()).collect();
            let groups = vec![Expr::GroupingSet(GroupingSet::GroupingSets(sets))];
            let plan = LogicalPlan::Aggregate(Aggregate::try_new(Arc::new(plan), groups, calls)?);
            return Ok(Pushed { plan: project(plan, [columns(&of.schema), all].concat())?, keys });
        }
        if !groups.is_empty() {
            let own = self.named_aggregate(&groups, &calls, &of.schema);
            let groups = [groups, as_columns(&keys)].concat();
            let plan = LogicalPlan::Aggregate(Aggregate::try_new(Arc::new(plan), groups, calls)?);
            return Ok(Pushed { plan: project(plan, [own, as_columns(&keys)].concat())?, keys });
        }
        // Without groups there is a row for no rows as well, so that each combination needs one. A mark tells which
        // combinations have rows of the input.
        let mark = self.names.next();
        let own = columns(plan.schema());
        let input = project(plan, [own, vec![lit(true).alias(&mark)]].concat())?;
        let mark = Expr::Column(Column::from_name(mark)).is_true();
        let counted = |of: Expr| match of {
            Expr::AggregateFunction(mut call) => {
                call.params.filter = Some(Box::new(match call.params.filter.take() {
                    Some(filter) => mark.clone().and(*filter),
                    None => mark.clone(),
                }));
                Transformed::yes(Expr::AggregateFunction(call))
            }
            other => Transformed::no(other),
        };
        for call in &mut calls {
            *call = std::mem::take(call).transform(|of| Ok(counted(of)))?.data;
        }
        let domain = self.relation()?;
        let on = pairs(&domain.keys, &keys);
        let plan = join(domain.plan, input, on, None, JoinType::Left)?;
        let own = self.named_aggregate(&[], &calls, &of.schema);
        let plan = LogicalPlan::Aggregate(Aggregate::try_new(Arc::new(plan), as_columns(&domain.keys), calls)?);
        let plan = project(plan, [own, as_columns(&domain.keys)].concat())?;
        Ok(Pushed { plan, keys: domain.keys })
    }

    /// Returns the columns of a pushed aggregation by the names that they had.
    fn named_aggregate(&self, groups: &[Expr], calls: &[Expr], schema: &DFSchemaRef) -> Vec<Expr> {
        let column = |of: &Expr| {
            let (relation, name) = of.qualified_name();
            Expr::Column(Column::new(relation, name))
        };
        self.named(groups.iter().chain(calls).map(column).collect(), schema, 0)
    }

    fn limit(&self, of: &Limit) -> Result<Pushed> {
        let (SkipType::Literal(skip), FetchType::Literal(count)) = (of.get_skip_type()?, of.get_fetch_type()?) else {
            return not_impl_err!("a limit that is no number in a subquery that needs a column around it");
        };
        match &*of.input {
            LogicalPlan::Sort(sort) => self.first(&sort.input, &sort.expr, skip, count),
            LogicalPlan::Projection(projection) => {
                let limit = Limit { input: projection.input.clone(), ..of.clone() };
                let input = Arc::new(LogicalPlan::Limit(limit));
                let schema = projection.schema.clone();
                let plan = Projection::try_new_with_schema(projection.expr.clone(), input, schema)?;
                self.push(&LogicalPlan::Projection(plan))
            }
            LogicalPlan::SubqueryAlias(alias) => {
                let input = Arc::new(LogicalPlan::Limit(Limit { input: alias.input.clone(), ..of.clone() }));
                self.push(&LogicalPlan::SubqueryAlias(SubqueryAlias::try_new(input, alias.alias.clone())?))
            }
            _ => self.first(&of.input, &[], skip, count),
        }
    }

    /// Returns the first rows of each combination in an order.
    fn first(&self, input: &LogicalPlan, order: &[SortExpr], skip: usize, count: Option<usize>) -> Result<Pushed> {
        let Pushed { plan, keys } = self.push(input)?;
        let order =
            order.iter().map(|key| Ok(SortExpr { expr: self.replaced(key.expr.clone(), &keys)?, ..key.clone() }));
        let order = order.collect::<Result<Vec<_>>>()?;
        let mut call = row_number().partition_by(as_columns(&keys));
        if !order.is_empty() {
            call = call.order_by(order);
        }
        let call = call.build()?.alias(self.names.next());
        let number = Expr::Column(Column::from_name(call.schema_name().to_string()));
        let above = number.clone().gt(lit(skip as u64));
        let condition = match count {
            Some(count) => above.and(number.lt_eq(lit(skip.saturating_add(count) as u64))),
            None => above,
        };
        let all = columns(plan.schema());
        let plan = LogicalPlanBuilder::from(plan).window(vec![call])?.filter(condition)?.project(all)?.build()?;
        Ok(Pushed { plan, keys })
    }

    fn join(&self, of: &Join) -> Result<Pushed> {
        let mut conditions = of.on.iter().map(|(a, b)| a.clone().eq(b.clone())).chain(of.filter.clone());
        let in_condition = conditions.any(|of| {
            of.exists(|of| Ok(matches!(of, Expr::OuterReferenceColumn(_, column) if self.columns.contains(column))))
                .unwrap_or(true)
        });
        let (left, right) = (self.is_used_by(&of.left)?, self.is_used_by(&of.right)?);
        use JoinType::{Inner, Left, LeftAnti, LeftMark, LeftSemi, Right};
        let (left, right) = match of.join_type {
            Inner => (left || (in_condition && !right), right),
            Left | LeftSemi | LeftAnti | LeftMark => (true, right),
            Right => (left, true),
            other => return not_impl_err!("a {other} join in a subquery that needs a column around it"),
        };
        let side = |plan: &Arc<LogicalPlan>, pushes: bool| match pushes {
            true => self.push(plan),
            false => Ok(Pushed { plan: plan.as_ref().clone(), keys: Vec::new() }),
        };
        let (left, right) = (side(&of.left, left)?, side(&of.right, right)?);
        let keys = if left.keys.is_empty() || of.join_type == Right { &right.keys } else { &left.keys }.clone();
        let on = of.on.iter().map(|(a, b)| Ok((self.replaced(a.clone(), &keys)?, self.replaced(b.clone(), &keys)?)));
        let mut on = on.collect::<Result<Vec<_>>>()?;
        let mut filter = of.filter.clone().map(|of| self.replaced(of, &keys)).transpose()?;
        let mut nulls = of.null_equality;
        match same(&left.keys, &right.keys) {
            Some(_) if on.is_empty() && filter.is_none() => {
                (on, nulls) = (pairs(&left.keys, &right.keys), NullEquality::NullEqualsNull);
            }
            // The planner knows keys whose nulls are equal, or none of them.
            Some(_) if nulls == NullEquality::NullEqualsNull => on.extend(pairs(&left.keys, &right.keys)),
            Some(same) => filter = Some(filter.map_or(same.clone(), |of| of.and(same))),
            None => {}
        }
        let (left, right) = (Arc::new(left.plan), Arc::new(right.plan));
        let plan = Join::try_new(left, right, on, filter, of.join_type, JoinConstraint::On, nulls, of.null_aware)?;
        let mut own = columns(&of.schema);
        if of.join_type == LeftMark {
            // A mark has the qualifier of the right side, which the domain may change.
            let (last, new) = (own.len() - 1, columns(&plan.schema));
            own.splice(last.., self.named(new.last().cloned().into_iter().collect(), &of.schema, last));
        }
        Ok(Pushed { plan: project(LogicalPlan::Join(plan), [own, as_columns(&keys)].concat())?, keys })
    }

    fn union(&self, of: &Union) -> Result<Pushed> {
        let names: Vec<Column> = self.columns.iter().map(|_| Column::from_name(self.names.next())).collect();
        let input = |input: &Arc<LogicalPlan>| {
            let Pushed { plan, keys } = self.push(input)?;
            let own = columns(input.schema()).into_iter().zip(of.schema.fields());
            let own = own.map(|(column, field)| column.alias(field.name())).collect::<Vec<_>>();
            let keys = as_columns(&keys).into_iter().zip(&names).map(|(key, name)| key.alias(&name.name)).collect();
            Ok(Arc::new(project(plan, [own, keys].concat())?))
        };
        let inputs = of.inputs.iter().map(input).collect::<Result<Vec<_>>>()?;
        let plan = LogicalPlan::Union(Union::try_new_with_loose_types(inputs)?);
        let own = of.schema.fields().iter().map(|field| Expr::Column(Column::from_name(field.name()))).collect();
        let own = self.named(own, &of.schema, 0);
        Ok(Pushed { plan: project(plan, [own, as_columns(&names)].concat())?, keys: names })
    }
}

/// Returns columns of two sides as the keys of a join.
pub fn pairs(left: &[Column], right: &[Column]) -> Vec<(Expr, Expr)> {
    as_columns(left).into_iter().zip(as_columns(right)).collect()
}

/// Joins two plans by keys whose nulls are equal, or by a condition.
pub fn join(
    left: LogicalPlan,
    right: LogicalPlan,
    on: Vec<(Expr, Expr)>,
    filter: Option<Expr>,
    kind: JoinType,
) -> Result<LogicalPlan> {
    let nulls = match on.is_empty() {
        true => NullEquality::NullEqualsNothing,
        false => NullEquality::NullEqualsNull,
    };
    let join = Join::try_new(Arc::new(left), Arc::new(right), on, filter, kind, JoinConstraint::On, nulls, false)?;
    Ok(LogicalPlan::Join(join))
}
