//! Words of DuckDB and Spark that have a form which the planner knows.

use datafusion::sql::sqlparser::ast::{
    self, Expr, GroupByExpr, Ident, JoinOperator, OrderByExpr, OrderByKind, OrderByOptions, Query, Select,
    SelectFlavor, SelectItem, SetExpr, TableAlias, TableAliasColumnDef, TableFactor, TableWithJoins,
    WildcardAdditionalOptions,
};

/// `order by all`: every column, from the left.
pub fn order_by_all(query: &mut Query) {
    let Some(order) = &mut query.order_by else { return };
    if let OrderByKind::Expressions(list) = &order.kind
        && let [only] = &list[..]
        && let Expr::Identifier(name) = &only.expr
        && name.quote_style.is_none()
        && name.value.eq_ignore_ascii_case("all")
    {
        let options = only.options.clone();
        order.kind = match columns_of(&query.body) {
            // The planner knows ORDER BY ALL of plain columns; of others, their numbers.
            Some(count) => OrderByKind::Expressions((1..=count).map(|n| numbered(n, options.clone())).collect()),
            None => OrderByKind::All(options),
        };
    }
}

/// Returns the number of columns of a list without stars.
fn columns_of(body: &SetExpr) -> Option<usize> {
    match body {
        SetExpr::Select(select) => {
            let is_one =
                |item: &SelectItem| matches!(item, SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { .. });
            select.projection.iter().all(is_one).then_some(select.projection.len())
        }
        SetExpr::SetOperation { left, .. } => columns_of(left),
        SetExpr::Query(query) => columns_of(&query.body),
        _ => None,
    }
}

fn numbered(n: usize, options: OrderByOptions) -> OrderByExpr {
    let number = ast::Value::Number(n.to_string(), false);
    OrderByExpr { expr: Expr::Value(number.into()), options, with_fill: None }
}

/// `from t`: all columns of it. A join in its list may be half of one.
pub fn select_all(select: &mut Select) {
    if select.flavor == SelectFlavor::FromFirstNoSelect && select.projection.is_empty() {
        select.projection.push(SelectItem::Wildcard(WildcardAdditionalOptions::default()));
        select.flavor = SelectFlavor::Standard;
    }
    select.from.iter_mut().for_each(half_joins);
}

/// `semi join` and `anti join`: rows of the left side that have a match, or none.
pub fn half_joins(of: &mut TableWithJoins) {
    for join in &mut of.joins {
        join.join_operator = match std::mem::replace(&mut join.join_operator, JoinOperator::CrossApply) {
            JoinOperator::Semi(constraint) => JoinOperator::LeftSemi(constraint),
            JoinOperator::Anti(constraint) => JoinOperator::LeftAnti(constraint),
            other => other,
        };
    }
}

/// `range(..)` and `generate_series(..)` as tables: their column has the name of the function.
pub fn name_series(factor: &mut TableFactor) {
    let TableFactor::Table { name, alias, args: Some(_), .. } = factor else { return };
    let function = name.to_string().to_ascii_lowercase();
    if !matches!(&function[..], "range" | "generate_series") {
        return;
    }
    let column = TableAliasColumnDef { name: Ident::new(&function), data_type: None };
    match alias {
        Some(alias) if alias.columns.is_empty() => alias.columns.push(column),
        Some(_) => {}
        None => {
            let name = Ident::new(&function);
            *alias = Some(TableAlias { explicit: true, name, columns: vec![column], at: None });
        }
    }
}

/// `group by (a, b)`: by a and by b.
pub fn group_by_rows(select: &mut Select) {
    let GroupByExpr::Expressions(keys, _) = &mut select.group_by else { return };
    let parts = |key: Expr| match key {
        // No keys at all are a group of all rows.
        Expr::Tuple(parts) if !parts.is_empty() => parts,
        key => vec![key],
    };
    *keys = std::mem::take(keys).into_iter().flat_map(parts).collect();
}

/// `1e30`: a float, as in DuckDB. The planner's decimal has no more than 76 digits.
pub fn powers_of_ten(of: &mut Expr) {
    if let Expr::Value(value) = of
        && let ast::Value::Number(digits, _) = &value.value
        && digits.contains(['e', 'E'])
    {
        let text = ast::Value::SingleQuotedString(digits.clone());
        *of = Expr::Cast {
            kind: ast::CastKind::Cast,
            expr: Box::new(Expr::Value(text.into())),
            data_type: ast::DataType::Double(ast::ExactNumberInfo::None),
            array: false,
            format: None,
        };
    }
}

/// `timestamp` without digits: microseconds, as in PostgreSQL and DuckDB. The planner's nanoseconds end in 2262.
pub fn microseconds(of: &mut Expr) {
    let data_type = match of {
        Expr::Cast { data_type, .. } => data_type,
        Expr::TypedString(text) => &mut text.data_type,
        _ => return,
    };
    if let ast::DataType::Timestamp(digits @ None, _) = data_type {
        *digits = Some(6);
    }
}
