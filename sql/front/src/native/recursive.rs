//! Recursive queries: `with recursive`.

use arrow_schema::DataType;
use datafusion::common::DFSchema;
use datafusion::datasource::cte_worktable::CteWorkTable;
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::{RecursiveQuery, TableScan};
use yunti_sql_plan::{Expression, Node, Recursive};

use super::Translation;
use super::expressions::{cast_to, is_same, typed};

type Result<T> = std::result::Result<T, String>;

/// Returns the name of the recursive query whose rows a scan gives, if it is one.
pub fn work_table(of: &TableScan) -> Result<Option<String>> {
    let provider = source_as_provider(&of.source).map_err(|e| e.to_string())?;
    let provider: &dyn std::any::Any = provider.as_ref();
    Ok(provider.downcast_ref::<CteWorkTable>().map(|table| table.name().to_string()))
}

/// Notes that the first rows of a recursive query are enough, if the plan gives its rows one for one.
pub fn bound(plan: &mut Node, rows: usize) {
    match plan {
        Node::Recursive(of) => of.limit = Some(of.limit.map_or(rows, |limit| limit.min(rows))),
        Node::Project { input, .. } => bound(input, rows),
        _ => {}
    }
}

impl Translation<'_> {
    /// Returns a recursive query.
    pub fn recursive(self, of: &RecursiveQuery) -> Result<Node> {
        let types: Vec<DataType> = of.schema.fields().iter().map(|field| field.data_type().clone()).collect();
        let seed = with_types(self.node(&of.static_term)?, &types)?;
        let step = with_types(self.node(&of.recursive_term)?, &types)?;
        let (name, distinct) = (of.name.clone(), of.is_distinct);
        Ok(Node::Recursive(Recursive { name, seed: Box::new(seed), step: Box::new(step), distinct, limit: None }))
    }

    /// Returns the rows of the recursive query around it.
    pub fn work(self, name: String, of: &TableScan) -> Result<Node> {
        let schema = of.source.schema();
        let types: Vec<DataType> = schema.fields().iter().map(|field| field.data_type().clone()).collect();
        let whole = DFSchema::try_from_qualified_schema(of.table_name.clone(), &schema).map_err(|e| e.to_string())?;
        let mut node = Node::Work { name, types: types.clone() };
        for condition in self.expressions(&of.filters, &whole)? {
            node = Node::Filter { input: Box::new(node), condition };
        }
        if let Some(columns) = &of.projection {
            let expressions = columns.iter().map(|&n| Expression::column(n, types[n].clone())).collect();
            node = Node::Project { input: Box::new(node), expressions };
        }
        match of.fetch {
            Some(count) => Ok(Node::Limit { input: Box::new(node), skip: 0, count: Some(count) }),
            None => Ok(node),
        }
    }
}

/// Returns a plan with its columns in other types.
fn with_types(plan: Node, types: &[DataType]) -> Result<Node> {
    let own = plan.types();
    if own.len() != types.len() {
        return Err("a recursive query whose parts have different columns".into());
    }
    if own.iter().zip(types).all(|(own, wanted)| is_same(own, wanted)) {
        return Ok(plan);
    }
    let cast = |(n, (own, wanted)): (usize, (DataType, &DataType))| {
        cast_to(typed(Expression::column(n, own), wanted), wanted.clone(), false)
    };
    let expressions = own.into_iter().zip(types).enumerate().map(cast).collect::<Result<_>>()?;
    Ok(Node::Project { input: Box::new(plan), expressions })
}
