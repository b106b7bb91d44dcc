//! Operators of a logical plan.

use std::sync::Arc;

use arrow_schema::DataType;
use datafusion::common::{DFSchema, JoinType, NullEquality};
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::utils::{conjunction, split_conjunction};
use datafusion::logical_expr::{
    self as logical, Distinct, Expr, ExprSchemable, FetchType, GroupingSet, LogicalPlan, SkipType,
};
use yunti_engine::columns::vector::Value;
use yunti_sql_plan::{Aggregate, Expression, Join, JoinKind, Node, Operation, Scan, SortKey, kind_of};

use crate::tables::FileTable;

use super::expressions::is_same;
use super::{Translation, recursive};

type Result<T> = std::result::Result<T, String>;

impl Translation<'_> {
    /// Returns an operator with its inputs.
    pub fn node(self, plan: &LogicalPlan) -> Result<Node> {
        let node = match plan {
            LogicalPlan::Projection(of) => {
                let input = self.node(&of.input)?;
                Node::Project { input: Box::new(input), expressions: self.expressions(&of.expr, of.input.schema())? }
            }
            LogicalPlan::Filter(of) => self.filter(of)?,
            LogicalPlan::Aggregate(of) => self.aggregation(of)?,
            LogicalPlan::Sort(of) => {
                let keys = of.expr.iter().map(|key| {
                    Ok(SortKey {
                        value: self.expression(&key.expr, of.input.schema())?,
                        descending: !key.asc,
                        nulls_first: key.nulls_first,
                    })
                });
                Node::Sort { input: self.boxed(&of.input)?, keys: keys.collect::<Result<_>>()?, limit: of.fetch }
            }
            LogicalPlan::Join(of) => self.join(of)?,
            LogicalPlan::Union(of) => {
                Node::Union { inputs: of.inputs.iter().map(|of| self.node(of)).collect::<Result<_>>()? }
            }
            LogicalPlan::TableScan(of) => match recursive::work_table(of)? {
                Some(name) => self.work(name, of)?,
                None => Node::Scan(self.scan(of)?),
            },
            LogicalPlan::EmptyRelation(of) => {
                let types = of.schema.fields().iter().map(|field| field.data_type().clone()).collect::<Vec<_>>();
                let row = || types.iter().map(|_| Value::Null).collect();
                Node::Values { rows: if of.produce_one_row { vec![row()] } else { Vec::new() }, types }
            }
            LogicalPlan::SubqueryAlias(of) => self.node(&of.input)?,
            LogicalPlan::Limit(of) => self.limit(of)?,
            LogicalPlan::Values(of) => {
                let types = of.schema.fields().iter().map(|field| field.data_type().clone()).collect();
                let value = |value: &Expr| match self.expression(value, &of.schema)?.operation {
                    Operation::Literal(value) => Ok(value),
                    _ => Err(format!("values of {value}")),
                };
                let rows = of.values.iter().map(|row| row.iter().map(value).collect::<Result<_>>());
                Node::Values { types, rows: rows.collect::<Result<_>>()? }
            }
            LogicalPlan::Distinct(Distinct::All(input)) => {
                let columns: Vec<Expr> = input.schema().columns().into_iter().map(Expr::Column).collect();
                let keys = self.expressions(&columns, input.schema())?;
                Node::Aggregate { input: self.boxed(input)?, keys, sets: Vec::new(), aggregates: Vec::new() }
            }
            LogicalPlan::Distinct(Distinct::On(_)) => return Err("'distinct on'".into()),
            LogicalPlan::Window(of) => self.window(of)?,
            LogicalPlan::RecursiveQuery(of) => self.recursive(of)?,
            LogicalPlan::Unnest(_) => return Err("'unnest'".into()),
            other => return Err(format!("the operator {}", other.display())),
        };
        for field in plan.schema().fields() {
            if kind_of(field.data_type()).is_none() {
                return Err(format!("columns of type {}, as {}", field.data_type(), field.name()));
            }
        }
        Ok(node)
    }

    pub fn boxed(self, plan: &LogicalPlan) -> Result<Box<Node>> {
        Ok(Box::new(self.node(plan)?))
    }

    /// Returns a scan with the conditions that the optimizer moved into it.
    pub fn scan(self, of: &logical::TableScan) -> Result<Scan> {
        let provider = source_as_provider(&of.source).map_err(|e| e.to_string())?;
        let name = &of.table_name;
        let provider: &dyn std::any::Any = provider.as_ref();
        let lacks = || format!("a reader for the table {name}");
        let files = provider.downcast_ref::<FileTable>().ok_or_else(lacks)?;
        let table = files.native(&of.filters, self.state).map_err(|e| e.to_string())?.ok_or_else(lacks)?;
        let schema = of.source.schema();
        let columns = match &of.projection {
            Some(columns) => columns.clone(),
            None => (0..schema.fields().len()).collect(),
        };
        let whole = DFSchema::try_from_qualified_schema(of.table_name.clone(), &schema).map_err(|e| e.to_string())?;
        // All rows of the files that are left meet conditions on directories.
        let filters: Vec<Expr> = of.filters.iter().filter(|of| !files.partitions.decides(of)).cloned().collect();
        let conditions = self.expressions(&filters, &whole)?;
        let mut used = columns.clone();
        conditions.iter().for_each(|condition| condition.visit_columns(&mut |column| used.push(column)));
        for column in used {
            let (field, own) = (schema.field(column), table.fields.get(column));
            if own.is_none_or(|own| own.name != *field.name() || !is_same(&own.data_type, field.data_type())) {
                return Err(format!("a reader for the column {} of type {}", field.name(), field.data_type()));
            }
        }
        Ok(Scan { table: Arc::new(table), columns, conditions, limit: of.fetch })
    }

    /// Returns a filter; over a scan, its conditions become the scan's.
    pub fn filter(self, of: &logical::Filter) -> Result<Node> {
        let input = self.node(&of.input)?;
        match (input, &*of.input) {
            (Node::Scan(mut scan), LogicalPlan::TableScan(table)) => {
                // The optimizer may have given the scan a copy of some conditions.
                let parts = split_conjunction(&of.predicate);
                let new = parts.into_iter().filter(|part| !table.filters.contains(part)).cloned();
                if let Some(rest) = conjunction(new.collect::<Vec<_>>()) {
                    for part in split_conjunction(&rest) {
                        let mut condition = self.expression(part, of.input.schema())?;
                        condition.renumber(&|column| scan.columns[column]);
                        scan.conditions.push(condition);
                    }
                }
                scan.limit = None;
                Ok(Node::Scan(scan))
            }
            (input, _) => Ok(Node::Filter {
                input: Box::new(input),
                condition: self.expression(&of.predicate, of.input.schema())?,
            }),
        }
    }

    pub fn aggregation(self, of: &logical::Aggregate) -> Result<Node> {
        let schema = of.input.schema();
        let input = self.boxed(&of.input)?;
        let (keys, sets) = match &of.group_expr[..] {
            [Expr::GroupingSet(sets)] => grouping_sets(sets),
            keys => (keys.to_vec(), Vec::new()),
        };
        let keys = self.expressions(&keys, schema)?;
        let aggregates = of.aggr_expr.iter().map(|of| self.aggregate(of, schema)).collect::<Result<Vec<_>>>()?;
        let node = Node::Aggregate { input, keys: keys.clone(), sets: sets.clone(), aggregates };
        if sets.is_empty() {
            return Ok(node);
        }
        // DataFusion's column after the keys has a bit for each key that is not in the set, the first key's highest.
        // Sets that are there twice differ by higher bits.
        let types: Vec<_> = of.schema.fields().iter().map(|field| field.data_type().clone()).collect();
        let number = Expression::column(keys.len(), DataType::UInt32);
        let mut branches = Vec::new();
        for (n, set) in sets.iter().enumerate() {
            if sets[..n].contains(set) {
                return Err("a grouping set that is there twice".into());
            }
            let bits = (0..keys.len()).fold(0i64, |bits, key| bits << 1 | i64::from(!set.contains(&key)));
            let own = Expression::new(DataType::UInt32, Operation::Literal(Value::Int(n as i64)));
            let sides = Box::new([number.clone(), own]);
            let is_own =
                Expression::new(DataType::Boolean, Operation::Compare(yunti_sql_plan::Comparison::Equal, sides));
            let id = &types[keys.len()];
            let value = match kind_of(id) {
                Some(yunti_engine::columns::kind::Kind::Int) => Value::Int(bits),
                _ => Value::Decimal(bits.into()),
            };
            branches.push((is_own, Expression::new(id.clone(), Operation::Literal(value))));
        }
        let id = Expression::new(types[keys.len()].clone(), Operation::Case { branches, otherwise: None });
        let project = types.iter().enumerate().map(|(n, data_type)| match n == keys.len() {
            true => id.clone(),
            false => Expression::column(n, data_type.clone()),
        });
        Ok(Node::Project { input: Box::new(node), expressions: project.collect() })
    }

    pub fn join(self, of: &logical::Join) -> Result<Node> {
        if of.null_aware && self.has_nullable_key(of)? {
            return self.not_in(of);
        }
        self.join_without_nulls(of)
    }

    /// Returns a join whose keys match if they are equal.
    fn join_without_nulls(self, of: &logical::Join) -> Result<Node> {
        let (kind, swaps) = match of.join_type {
            JoinType::Inner => (JoinKind::Inner, false),
            JoinType::Left => (JoinKind::Left, false),
            JoinType::Right => (JoinKind::Right, false),
            JoinType::Full => (JoinKind::Full, false),
            JoinType::LeftSemi => (JoinKind::LeftSemi, false),
            JoinType::LeftAnti => (JoinKind::LeftAnti, false),
            JoinType::RightSemi => (JoinKind::RightSemi, false),
            JoinType::RightAnti => (JoinKind::RightAnti, false),
            JoinType::LeftMark => (JoinKind::LeftMark, false),
            JoinType::RightMark => (JoinKind::LeftMark, true),
        };
        let (left, right) = if swaps { (&of.right, &of.left) } else { (&of.left, &of.right) };
        let pair = |(a, b): &(Expr, Expr)| {
            let (a, b) = if swaps { (b, a) } else { (a, b) };
            Ok((self.expression(a, left.schema())?, self.expression(b, right.schema())?))
        };
        let keys = of.on.iter().map(pair).collect::<Result<_>>()?;
        let both = left.schema().join(right.schema()).map_err(|e| e.to_string())?;
        let condition = of.filter.as_ref().map(|filter| self.expression(filter, &both)).transpose()?;
        Ok(Node::Join(Join {
            left: self.boxed(left)?,
            right: self.boxed(right)?,
            kind,
            keys,
            nulls_equal: of.null_equality == NullEquality::NullEqualsNull,
            condition,
            build_left: true,
        }))
    }

    fn has_nullable_key(self, of: &logical::Join) -> Result<bool> {
        let can_be_null =
            |(left, right): &(Expr, Expr)| Ok(left.nullable(of.left.schema())? || right.nullable(of.right.schema())?);
        let nullable = of.on.iter().map(can_be_null).collect::<datafusion::common::Result<Vec<bool>>>();
        Ok(nullable.map_err(|e| e.to_string())?.contains(&true))
    }

    /// Returns the rows of `not in` over values that may be null: all rows if the subquery has none; no row if it has a
    /// null; else the rows without a match whose own value is no null. The subquery runs a second time, for what it is
    /// of the three.
    fn not_in(self, of: &logical::Join) -> Result<Node> {
        let ([(value, key)], None, JoinType::LeftAnti) = (&of.on[..], &of.filter, of.join_type) else {
            return Err("'not in' over nullable values of a subquery that needs columns of the query around it".into());
        };
        let int = |value| Expression::new(DataType::Int64, Operation::Literal(Value::Int(value)));
        let column = |n| Expression::column(n, DataType::Int64);
        let compare = |a, b| {
            let equal = Operation::Compare(yunti_sql_plan::Comparison::Equal, Box::new([a, b]));
            Expression::new(DataType::Boolean, equal)
        };
        let key = self.expression(key, of.right.schema())?;
        let counted = Node::Aggregate {
            input: self.boxed(&of.right)?,
            keys: Vec::new(),
            sets: Vec::new(),
            aggregates: vec![Aggregate::count(None), Aggregate::count(Some(key))],
        };
        // 0: no rows, 1: no nulls, 2: some.
        let branches = vec![(compare(column(0), int(0)), int(0)), (compare(column(0), column(1)), int(1))];
        let case = Operation::Case { branches, otherwise: Some(Box::new(int(2))) };
        let expressions = vec![Expression::new(DataType::Int64, case)];
        let plan = yunti_sql_plan::order::order(Node::Project { input: Box::new(counted), expressions });
        let case = Expression::new(DataType::Int64, Operation::Scalar(Arc::new(plan)));
        let value = self.expression(value, of.left.schema())?;
        let is_null = Expression::new(DataType::Boolean, Operation::IsNull(Box::new(value)));
        let is_value = Expression::new(DataType::Boolean, Operation::Not(Box::new(is_null)));
        let passes = Expression::new(DataType::Boolean, Operation::And(vec![compare(case.clone(), int(1)), is_value]));
        let condition = Expression::new(DataType::Boolean, Operation::Or(vec![compare(case, int(0)), passes]));
        Ok(Node::Filter { input: Box::new(self.join_without_nulls(of)?), condition })
    }

    pub fn limit(self, of: &logical::Limit) -> Result<Node> {
        let skip = match of.get_skip_type().map_err(|e| e.to_string())? {
            SkipType::Literal(skip) => skip,
            SkipType::UnsupportedExpr => return Err("an offset that is no number".into()),
        };
        let count = match of.get_fetch_type().map_err(|e| e.to_string())? {
            FetchType::Literal(count) => count,
            FetchType::UnsupportedExpr => return Err("a limit that is no number".into()),
        };
        let mut input = self.boxed(&of.input)?;
        if let Some(count) = count {
            recursive::bound(&mut input, skip.saturating_add(count));
        }
        Ok(Node::Limit { input, skip, count })
    }
}

/// Returns the keys of all sets, each once, and the keys of each set by their numbers.
fn grouping_sets(of: &GroupingSet) -> (Vec<Expr>, Vec<Vec<usize>>) {
    let keys: Vec<Expr> = of.distinct_expr().into_iter().cloned().collect();
    let all = |set: &[Expr]| set.iter().filter_map(|of| keys.iter().position(|key| key == of)).collect::<Vec<_>>();
    let sets = match of {
        GroupingSet::Rollup(list) => (0..=list.len()).rev().map(|n| all(&list[..n])).collect(),
        GroupingSet::Cube(list) => {
            let subset = |bits: usize| list.iter().enumerate().filter(move |(n, _)| bits >> n & 1 == 1);
            (0..1usize << list.len())
                .map(|bits| all(&subset(bits).map(|(_, of)| of.clone()).collect::<Vec<_>>()))
                .collect()
        }
        GroupingSet::GroupingSets(sets) => sets.iter().map(|set| all(set)).collect(),
    };
    (keys, sets)
}
