//! Rows of several values in `in`: `(a, b) in (select ..)`, which the planner refuses. A row is in a subquery if all
//! its parts are equal; it may be, which makes the result null, if no part differs.

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Query, Select, SetExpr, TableFactor,
    UnaryOperator,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;

use super::labels::APART;
use super::templates;

/// Turns conditions that remove rows into `exists`, which becomes a join.
pub fn conditions(select: &mut Select) {
    select.selection.iter_mut().for_each(condition);
}

fn condition(of: &mut Expr) {
    match of {
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            condition(left);
            condition(right);
        }
        Expr::Nested(inner) => condition(inner),
        _ => {
            if let Some((row, query, negated)) = membership(of)
                && let Some(exists) = exists(&row, query, negated)
            {
                *of = if negated { not(exists) } else { exists };
            }
        }
    }
}

/// Returns the value of a row's membership, with its null.
pub fn value(of: &Expr) -> Option<Expr> {
    let (row, query, negated) = membership(of)?;
    let arguments = [exists(&row, query, false)?, exists(&row, query, true)?];
    let case = parsed("case when $1 then true when $2 then cast(null as boolean) else false end", &arguments)?;
    Some(if negated { not(Expr::Nested(Box::new(case))) } else { case })
}

/// Returns the row, the subquery, and whether the row must not be in it.
fn membership(of: &Expr) -> Option<(Vec<Expr>, &Query, bool)> {
    let (row, query, negated) = match of {
        Expr::InSubquery { expr, subquery, negated } => (expr, &**subquery, *negated),
        Expr::AnyOp { left, compare_op: BinaryOperator::Eq, right, .. } => (left, subquery(right)?, false),
        Expr::AllOp { left, compare_op: BinaryOperator::NotEq, right } => (left, subquery(right)?, true),
        _ => return None,
    };
    let parts = match &**row {
        Expr::Tuple(parts) => parts.clone(),
        Expr::Function(call) if call.name.to_string().eq_ignore_ascii_case("row") => {
            let FunctionArguments::List(list) = &call.args else { return None };
            let plain = |argument: &FunctionArg| match argument {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr.clone()),
                _ => None,
            };
            list.args.iter().map(plain).collect::<Option<Vec<_>>>()?
        }
        _ => return None,
    };
    (parts.len() > 1).then_some((parts, query, negated))
}

fn subquery(of: &Expr) -> Option<&Query> {
    match of {
        Expr::Subquery(query) => Some(query),
        Expr::Nested(inner) => subquery(inner),
        _ => None,
    }
}

fn not(of: Expr) -> Expr {
    Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(of) }
}

/// Returns that a subquery has a row whose parts are all equal, or may be if they are null.
fn exists(row: &[Expr], query: &Query, or_null: bool) -> Option<Expr> {
    let (mut names, mut equal) = (Vec::new(), Vec::new());
    for number in 1..=row.len() {
        names.push(format!("\"{APART}{number}\""));
        let same = format!("(\"{APART}{number}\" = ${number})");
        equal.push(if or_null { format!("{same} is not false") } else { same });
    }
    let (names, equal) = (names.join(", "), equal.join(" and "));
    let mut exists = parsed(&format!("exists (select 1 from (select 1) \"{APART}\" ({names}) where {equal})"), row)?;
    let Expr::Exists { subquery, .. } = &mut exists else { return None };
    let SetExpr::Select(select) = &mut *subquery.body else { return None };
    let TableFactor::Derived { subquery, .. } = &mut select.from.first_mut()?.relation else { return None };
    **subquery = query.clone();
    Some(exists)
}

fn parsed(text: &str, arguments: &[Expr]) -> Option<Expr> {
    let mut expr = Parser::new(&GenericDialect {}).try_with_sql(text).ok()?.parse_expr().ok()?;
    templates::replace(&mut expr, arguments);
    Some(expr)
}
