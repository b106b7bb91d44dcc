//! `distinct on (..)`: the first row of each group in the order of the query. The planner wants the order to begin with
//! the keys of the groups; here the order may be any.

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Distinct, Expr, Function, FunctionArgumentList, FunctionArguments, Ident, OrderByExpr, OrderByKind,
    Query, Select, SelectItem, SetExpr, Value, WindowSpec, WindowType,
};

/// Turns `distinct on` into a condition on the number of a row in its group.
pub fn first_rows(query: &mut Query) {
    let SetExpr::Select(select) = &mut *query.body else { return };
    let (Some(Distinct::On(keys)), None) = (&select.distinct, &select.qualify) else { return };
    let order = match query.order_by.as_ref().map(|of| &of.kind) {
        Some(OrderByKind::Expressions(order)) => order.clone(),
        // All columns of a star have no names here.
        Some(OrderByKind::All(_)) => return,
        None => Vec::new(),
    };
    let keys = keys.iter().map(|key| column(key, select)).collect();
    let order = order.into_iter().map(|key| OrderByExpr { expr: column(&key.expr, select), ..key }).collect();
    let spec = WindowSpec { window_name: None, partition_by: keys, order_by: order, window_frame: None };
    let arguments = FunctionArgumentList { duplicate_treatment: None, args: Vec::new(), clauses: Vec::new() };
    let call = Expr::Function(Function {
        name: Ident::new("row_number").into(),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(arguments),
        filter: None,
        null_treatment: None,
        over: Some(WindowType::WindowSpec(spec)),
        within_group: Vec::new(),
    });
    let is_first = Expr::BinaryOp { left: Box::new(call), op: BinaryOperator::Eq, right: Box::new(number(1)) };
    select.qualify = Some(is_first);
    select.distinct = None;
}

fn number(n: usize) -> Expr {
    Expr::Value(Value::Number(n.to_string(), false).into())
}

/// Returns what a number or an alias of the list stands for.
fn column(of: &Expr, select: &Select) -> Expr {
    let found = match of {
        Expr::Value(value) => match &value.value {
            Value::Number(text, _) => {
                let item = text.parse::<usize>().ok().and_then(|n| select.projection.get(n.checked_sub(1)?));
                item.and_then(expression)
            }
            _ => None,
        },
        Expr::Identifier(name) => select.projection.iter().find_map(|item| match item {
            SelectItem::ExprWithAlias { expr, alias } if alias.value.eq_ignore_ascii_case(&name.value) => Some(expr),
            _ => None,
        }),
        _ => None,
    };
    found.unwrap_or(of).clone()
}

fn expression(of: &SelectItem) -> Option<&Expr> {
    match of {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
        _ => None,
    }
}
