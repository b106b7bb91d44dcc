//! Names of columns without an alias: the text of the expression, as DuckDB has it. The planner's own names, such as
//! `sum(t.a)` or `Int64(1)`, are those of its plans, and two equal ones in a list are an error there.

use std::collections::HashMap;

use datafusion::sql::sqlparser::ast::{Expr, Ident, OrderByKind, Query, Select, SelectItem, SetExpr};

/// Stands between a name and a number that tells it from an equal one. No text of a query has it.
pub const APART: char = '\u{1f}';

/// Returns a name as results show it.
pub fn shown(name: &str) -> &str {
    name.split_once(APART).map_or(name, |(name, _)| name)
}

/// Names the columns of a list that have no name.
pub fn add(select: &mut Select) {
    for item in &mut select.projection {
        if let SelectItem::UnnamedExpr(expression) = item
            && !has_name(expression)
        {
            let alias = Ident::with_quote('"', expression.to_string());
            let expr = std::mem::replace(expression, Expr::Identifier(Ident::new("")));
            *item = SelectItem::ExprWithAlias { expr, alias };
        }
    }
}

/// Names the columns of a list in the order of its rows, where it repeats their expressions.
pub fn order(query: &mut Query) {
    let (SetExpr::Select(select), Some(order)) = (&*query.body, &mut query.order_by) else { return };
    let OrderByKind::Expressions(keys) = &mut order.kind else { return };
    for key in keys {
        let is_in_list = |item: &SelectItem| matches!(item, SelectItem::UnnamedExpr(of) if *of == key.expr);
        if !has_name(&key.expr) && !matches!(key.expr, Expr::Value(_)) && select.projection.iter().any(is_in_list) {
            key.expr = Expr::Identifier(Ident::with_quote('"', key.expr.to_string()));
        }
    }
}

fn has_name(of: &Expr) -> bool {
    matches!(of, Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::CompoundFieldAccess { .. })
}

/// Numbers the equal names of a result's columns, so that the planner takes them.
pub fn tell_apart(query: &mut Query) {
    let mut body = &mut *query.body;
    let select = loop {
        body = match body {
            SetExpr::Select(select) => break select,
            SetExpr::SetOperation { left, .. } => left,
            SetExpr::Query(query) => &mut query.body,
            _ => return,
        };
    };
    let mut counts = HashMap::new();
    for item in &mut select.projection {
        let name = match item {
            SelectItem::ExprWithAlias { alias, .. } => name_of(alias),
            SelectItem::UnnamedExpr(Expr::Identifier(name)) => name_of(name),
            SelectItem::UnnamedExpr(Expr::CompoundIdentifier(names)) => names.last().map(name_of).unwrap_or_default(),
            _ => continue,
        };
        let count = counts.entry(name.clone()).or_insert(0);
        if *count > 0 {
            let alias = Ident::with_quote('"', format!("{name}{APART}{count}"));
            match item {
                SelectItem::ExprWithAlias { alias: of, .. } => *of = alias,
                SelectItem::UnnamedExpr(expression) => {
                    let expr = std::mem::replace(expression, Expr::Identifier(Ident::new("")));
                    *item = SelectItem::ExprWithAlias { expr, alias };
                }
                _ => {}
            }
        }
        *count += 1;
    }
}

/// Returns a name as the planner folds it: letters outside quotes are small.
fn name_of(ident: &Ident) -> String {
    match ident.quote_style {
        Some(_) => ident.value.clone(),
        None => ident.value.to_ascii_lowercase(),
    }
}
