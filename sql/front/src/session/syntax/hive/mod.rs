//! Hive's dialect: its parser's habits, and what the planner lacks, turned into what it knows.
//!
//! ```text
//!   functions.rs   calls and operators; templates.rs: what most of them become
//!   lateral.rs     LATERAL VIEW
//! ```
//!
//! Not there: TRANSFORM, multi-insert, regular expressions of `split` that stand for no text, sort order per reducer
//! (SORT BY and CLUSTER BY sort the whole result).

mod functions;
mod lateral;
mod templates;

use std::any::TypeId;
use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, Ident, OrderBy, OrderByExpr, OrderByKind, OrderByOptions, Query, Select, SelectItem, SetExpr,
    Statement as Sql, VisitMut, VisitorMut,
};
use datafusion::sql::sqlparser::dialect::{Dialect, HiveDialect};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use yunti_base::Result;

/// The parser's dialect of Hive, with texts in double quotes, escapes by backslashes, and `div`.
#[derive(Debug)]
pub struct HiveText {}

impl Dialect for HiveText {
    fn dialect(&self) -> TypeId {
        TypeId::of::<HiveDialect>()
    }

    fn is_delimited_identifier_start(&self, c: char) -> bool {
        c == '`'
    }

    fn is_identifier_start(&self, c: char) -> bool {
        HiveDialect {}.is_identifier_start(c) || c == '_' || !c.is_ascii() && c.is_alphabetic()
    }

    fn is_identifier_part(&self, c: char) -> bool {
        HiveDialect {}.is_identifier_part(c) || !c.is_ascii() && c.is_alphanumeric()
    }

    fn supports_string_literal_backslash_escape(&self) -> bool {
        true
    }

    fn supports_filter_during_aggregation(&self) -> bool {
        true
    }

    fn supports_numeric_prefix(&self) -> bool {
        true
    }

    fn supports_bang_not_operator(&self) -> bool {
        true
    }

    fn supports_load_data(&self) -> bool {
        true
    }

    fn supports_table_sample_before_alias(&self) -> bool {
        true
    }

    fn supports_group_by_with_modifier(&self) -> bool {
        true
    }

    fn supports_from_first_insert(&self) -> bool {
        true
    }

    fn parse_infix(
        &self,
        parser: &mut Parser<'_>,
        left: &Expr,
        precedence: u8,
    ) -> Option<std::result::Result<Expr, ParserError>> {
        parser.parse_keyword(Keyword::DIV).then(|| {
            let right = parser.parse_subexpr(precedence)?;
            Ok(Expr::BinaryOp {
                left: Box::new(left.clone()),
                op: BinaryOperator::MyIntegerDivide,
                right: Box::new(right),
            })
        })
    }
}

/// Turns a statement of Hive into one of the planner. Errors: `Usage` for what has no counterpart.
pub fn rewrite(sql: &mut Sql) -> Result<()> {
    let mut rewrite = Rewrite { failure: None };
    let _ = sql.visit(&mut rewrite);
    rewrite.failure.map_or(Ok(()), Err)
}

struct Rewrite {
    failure: Option<yunti_base::Error>,
}

impl VisitorMut for Rewrite {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        if let SetExpr::Select(select) = &mut *query.body {
            sort(select, &mut query.order_by);
        }
        if let Some(OrderBy { kind: OrderByKind::Expressions(keys), .. }) = &mut query.order_by {
            functions::place_nulls(keys);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        name_columns(select);
        match lateral::rewrite(select) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failure = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        functions::rewrite(expr);
        ControlFlow::Continue(())
    }
}

/// Takes SORT BY, CLUSTER BY and DISTRIBUTE BY away; the first two sort the result, unless ORDER BY does.
fn sort(select: &mut Select, order: &mut Option<OrderBy>) {
    select.distribute_by.clear();
    let mut keys = std::mem::take(&mut select.sort_by);
    let ascending =
        |expr: Expr| OrderByExpr { expr, options: OrderByOptions { asc: None, nulls_first: None }, with_fill: None };
    keys.extend(std::mem::take(&mut select.cluster_by).into_iter().map(ascending));
    if order.is_none() && !keys.is_empty() {
        *order = Some(OrderBy { kind: OrderByKind::Expressions(keys), interpolate: None });
    }
}

/// Gives columns without a name the one that Hive gives them: `_c` and their number.
fn name_columns(select: &mut Select) {
    for (n, item) in select.projection.iter_mut().enumerate() {
        if let SelectItem::UnnamedExpr(expr) = item
            && !matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_))
        {
            *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias: Ident::new(format!("_c{n}")) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(text: &str) -> String {
        let mut parsed = Parser::parse_sql(&HiveText {}, text).unwrap_or_else(|e| panic!("{text}: {e}"));
        match rewrite(&mut parsed[0]) {
            Ok(()) => parsed[0].to_string(),
            Err(error) => format!("error: {error}"),
        }
    }

    #[test]
    fn statements_become_what_the_planner_knows() {
        for (text, expect) in [
            ("select a, b + 1 from t", "SELECT a, b + 1 AS _c1 FROM t"),
            ("select \"x\\\"y\", 'it\\'s' from t", "SELECT 'x\"y' AS _c0, 'it''s' AS _c1 FROM t"),
            ("select a from t sort by a desc, b", "SELECT a FROM t ORDER BY a DESC NULLS LAST, b NULLS FIRST"),
            ("select a from t distribute by a sort by b", "SELECT a FROM t ORDER BY b NULLS FIRST"),
            ("select a from t cluster by a", "SELECT a FROM t ORDER BY a NULLS FIRST"),
            ("select a / b as x from t", "SELECT (CAST(a AS DOUBLE) / nullif(CAST(b AS DOUBLE), 0.0)) AS x FROM t"),
            ("select a div b as x from t", "SELECT (CAST(a AS BIGINT) / nullif(CAST(b AS BIGINT), 0)) AS x FROM t"),
            ("select nvl(a, 0) as x from t", "SELECT coalesce(a, 0) AS x FROM t"),
            ("select if(a > 1, 'x', 'y') as x from t", "SELECT CASE WHEN (a > 1) THEN 'x' ELSE 'y' END AS x FROM t"),
            ("select a from t where b rlike '^x'", "SELECT a FROM t WHERE regexp_like(b, '^x')"),
            (
                "select split(a, '\\\\|') as x from t",
                "SELECT CASE WHEN (a) = '' THEN make_array('') ELSE string_to_array(a, '|') END AS x FROM t",
            ),
            ("select cast(a as int) as x from t", "SELECT TRY_CAST(a AS INT) AS x FROM t"),
            ("select a <=> b as x from t", "SELECT a IS NOT DISTINCT FROM b AS x FROM t"),
        ] {
            assert_eq!(rewritten(text), expect, "{text}");
        }
    }

    #[test]
    fn lateral_views_become_derived_tables() {
        for (text, expect) in [
            (
                "select t.a, x from t lateral view explode(t.b) v as x",
                "SELECT t.a, x FROM (SELECT *, unnest(t.b) AS x FROM t) AS t",
            ),
            (
                "select v.x from db.t lateral view explode(b) v as x where v.x > 1",
                "SELECT t.x FROM (SELECT *, unnest(b) AS x FROM db.t) AS t WHERE t.x > 1",
            ),
            (
                "select p, x from t a lateral view posexplode(b) v as p, x",
                "SELECT p, x FROM (SELECT *, unnest(range(0, TRY_CAST(cardinality(b) AS BIGINT))) AS p, \
                 unnest(b) AS x FROM t a) AS a",
            ),
        ] {
            let got = rewritten(text);
            assert_eq!(got, expect, "{text}");
        }
        assert!(rewritten("select 1 from a, b lateral view explode(x) v as y").starts_with("error: "));
    }
}
