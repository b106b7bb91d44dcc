//! Text of a statement to its tree, with the habits of other engines turned into what the planner knows.
//!
//! ```text
//!   labels.rs   names of columns that have none
//!   habits.rs   semi and anti joins, FROM alone, ORDER BY ALL, names of series
//!   windows.rs  named windows
//!   distinct_on.rs   DISTINCT ON with any order
//!   rows.rs     rows of several values in IN
//!   functions.rs     functions that the planner lacks; templates.rs: how they become others
//!   using.rs    columns that two sides of a join have in common
//!   hive/       Hive's dialect
//! ```

mod distinct_on;
mod functions;
mod habits;
mod hive;
mod labels;
mod rows;
mod templates;
mod using;
mod windows;

use std::ops::ControlFlow;

use datafusion::common::DataFusionError;
use datafusion::sql::parser::{DFParserBuilder, Statement as Parsed};
use datafusion::sql::sqlparser::ast::{self, Query, Select, Statement as Sql, VisitMut, VisitorMut};
use datafusion::sql::sqlparser::dialect::{Dialect, DuckDbDialect, GenericDialect, PostgreSqlDialect};
use datafusion::sql::sqlparser::parser::Parser;
use yunti_base::{Code, Error, Result};

pub use labels::shown as shown_label;

use crate::failure;
use crate::statements::Statement;

/// Depth of a text's expressions and subqueries.
const DEPTH_MAX: usize = 5000;

/// Parses one statement. `is_known`: names of functions that a session has.
///
/// Errors: `Usage` with the place; if no dialect takes the text, the error of the first.
pub fn parse(statement: &Statement, is_known: &dyn Fn(&str) -> bool) -> Result<Parsed> {
    let mut parsed = match with(&statement.text, &GenericDialect {}) {
        Ok(parsed) => Ok(parsed),
        // The generic dialect lacks words that PostgreSQL or DuckDB have, such as `as materialized`.
        Err(error) => [&PostgreSqlDialect {} as &dyn Dialect, &DuckDbDialect {}]
            .into_iter()
            .find_map(|dialect| with(&statement.text, dialect).ok())
            .or_else(|| is_copy(&statement.text).then(|| copy(&statement.text)).flatten())
            .ok_or_else(|| failure::of(error, statement)),
    }?;
    let mut calls = Calls(is_known);
    if let Parsed::Statement(sql) = &mut parsed {
        rewrite(sql)?;
        let _ = sql.visit(&mut calls);
    }
    match &mut parsed {
        Parsed::Explain(explain) => {
            if let Parsed::Statement(sql) = &mut *explain.statement {
                rewrite(sql)?;
                let _ = sql.visit(&mut calls);
            }
        }
        Parsed::CopyTo(copy) => {
            if let datafusion::sql::parser::CopyToSource::Query(query) = &mut copy.source {
                done(query.visit(&mut Rewrite))?;
                let _ = query.visit(&mut calls);
            }
        }
        _ => {}
    }
    Ok(parsed)
}

/// Parses a statement of Hive's dialect.
///
/// Errors: `Usage` with the place, or for what has no counterpart.
pub fn parse_hive(statement: &Statement) -> Result<Parsed> {
    let mut parsed = with(&statement.text, &hive::HiveText {}).map_err(|error| failure::of(error, statement))?;
    let sql = match &mut parsed {
        Parsed::Statement(sql) => sql,
        Parsed::Explain(explain) => match &mut *explain.statement {
            Parsed::Statement(sql) => sql,
            _ => return Ok(parsed),
        },
        _ => return Ok(parsed),
    };
    hive::rewrite(sql)?;
    rewrite(sql)?;
    Ok(parsed)
}

/// Parses the text of a view of Hive.
pub fn parse_view(text: &str) -> Result<Parsed> {
    parse_hive(&Statement { text: text.into(), line: 1, column: 1 })
}

fn with(text: &str, dialect: &dyn Dialect) -> std::result::Result<Parsed, DataFusionError> {
    let parser = DFParserBuilder::new(text).with_dialect(dialect).with_recursion_limit(DEPTH_MAX).build();
    let parsed = parser.and_then(|mut parser| parser.parse_statements())?.pop_front();
    parsed.ok_or_else(|| failure::wrapped(Error::new(Code::Usage, "the statement is empty")))
}

fn is_copy(text: &str) -> bool {
    text.get(..4).is_some_and(|word| word.eq_ignore_ascii_case("copy"))
}

/// Parses `copy .. to .. (format csv)`, as PostgreSQL has it.
fn copy(text: &str) -> Option<Parsed> {
    let parsed = Parser::parse_sql(&PostgreSqlDialect {}, text).ok()?;
    parsed.into_iter().next().map(|sql| Parsed::Statement(Box::new(sql)))
}

fn rewrite(sql: &mut Sql) -> Result<()> {
    done(sql.visit(&mut Rewrite))?;
    if let Sql::Query(query) = sql {
        labels::tell_apart(query);
    }
    Ok(())
}

fn done(flow: ControlFlow<Error>) -> Result<()> {
    match flow {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

/// Functions of a text. Names of columns without an alias keep the text of the query.
struct Calls<'k>(&'k dyn Fn(&str) -> bool);

impl VisitorMut for Calls<'_> {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<()> {
        functions::rewrite(expr, self.0);
        ControlFlow::Continue(())
    }
}

struct Rewrite;

impl VisitorMut for Rewrite {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        habits::order_by_all(query);
        distinct_on::first_rows(query);
        labels::order(query);
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<Error> {
        habits::select_all(select);
        habits::group_by_rows(select);
        windows::define(select);
        rows::conditions(select);
        labels::add(select);
        match using::merge(select) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }

    fn pre_visit_expr(&mut self, expression: &mut ast::Expr) -> ControlFlow<Error> {
        habits::powers_of_ten(expression);
        habits::microseconds(expression);
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut ast::TableFactor) -> ControlFlow<Error> {
        if let ast::TableFactor::NestedJoin { table_with_joins, .. } = factor {
            habits::half_joins(table_with_joins);
        }
        habits::name_series(factor);
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(text: &str) -> String {
        let parsed = parse(&Statement { text: text.into(), line: 1, column: 1 }, &|_| false);
        match parsed.unwrap_or_else(|error| panic!("{text}: {error}")) {
            Parsed::Statement(sql) => sql.to_string().replace(labels::APART, "|"),
            other => other.to_string(),
        }
    }

    #[test]
    fn habits_become_what_the_planner_knows() {
        for (text, expect) in [
            ("select a, b + 1, count(*) from t", "SELECT a, b + 1 AS \"b + 1\", count(*) AS \"count(*)\" FROM t"),
            ("select a, t.a, a as b, b from t", "SELECT a, t.a AS \"a|1\", a AS b, b AS \"b|1\" FROM t"),
            ("select 1, 1 union select 2, 2", "SELECT 1 AS \"1\", 1 AS \"1|1\" UNION SELECT 2 AS \"2\", 2 AS \"2\""),
            ("from t", "SELECT * FROM t"),
            ("select * from a semi join b on x = y", "SELECT * FROM a LEFT SEMI JOIN b ON x = y"),
            ("select * from a anti join b using (x)", "SELECT * FROM a LEFT ANTI JOIN b USING(x)"),
            ("select a, a + b from t order by all desc", "SELECT a, a + b AS \"a + b\" FROM t ORDER BY 1 DESC, 2 DESC"),
            ("select * from t order by all", "SELECT * FROM t ORDER BY ALL"),
            (
                "select distinct a + 1 from t order by a + 1",
                "SELECT DISTINCT a + 1 AS \"a + 1\" FROM t ORDER BY \"a + 1\"",
            ),
            (
                "select sum(a) over w from t window v as (partition by b), w as (v order by c)",
                "SELECT sum(a) OVER (PARTITION BY b ORDER BY c) AS \"sum(a) OVER (PARTITION BY b ORDER BY c)\" FROM t",
            ),
            (
                "select distinct on (a) a, b as x from t order by x",
                "SELECT a, b AS x FROM t QUALIFY row_number() OVER (PARTITION BY a ORDER BY b) = 1 ORDER BY x",
            ),
            ("select * from range(3)", "SELECT * FROM range(3) AS range (range)"),
            (
                "select arg_max(a, b) as x from t",
                "SELECT first_value(a ORDER BY b DESC NULLS LAST) FILTER (WHERE (b) IS NOT NULL AND (a) IS NOT NULL) \
                 AS x FROM t",
            ),
            ("select a from t where b is distinct from 1 and c", "SELECT a FROM t WHERE b IS DISTINCT FROM 1 AND c"),
            ("select k from a join b using (k)", "SELECT a.k FROM a JOIN b USING(k)"),
            ("select * from b left join a using (k)", "SELECT b.*, a.* EXCLUDE (k) FROM b LEFT JOIN a USING(k)"),
            ("select k from a right join b as c using (k)", "SELECT c.k AS k FROM a RIGHT JOIN b AS c USING(k)"),
            (
                "select *, k + 1 as n from a full join b using (k) where k > 1",
                "SELECT a.* REPLACE (coalesce(a.k, b.k) AS k), b.* EXCLUDE (k), coalesce(a.k, b.k) + 1 AS n \
                 FROM a FULL JOIN b USING(k) WHERE coalesce(a.k, b.k) > 1",
            ),
            (
                "select k from a right join b using (k) join c using (k)",
                "SELECT b.k AS k FROM a RIGHT JOIN b USING(k) JOIN c ON b.k = c.k",
            ),
            (
                "select k from a full join b using (k) where exists (select k from c)",
                "SELECT coalesce(a.k, b.k) AS k FROM a FULL JOIN b USING(k) WHERE EXISTS (SELECT k FROM c)",
            ),
            (
                "select cast(a as timestamp), a::timestamp(3), a::timestamptz from t",
                "SELECT CAST(a AS TIMESTAMP(6)) AS \"CAST(a AS TIMESTAMP)\", a::TIMESTAMP(3) AS \"a::TIMESTAMP(3)\", \
                 a::TIMESTAMPTZ(6) AS \"a::TIMESTAMPTZ\" FROM t",
            ),
            ("select timestamp '9999-12-31'", "SELECT TIMESTAMP(6) '9999-12-31' AS \"TIMESTAMP '9999-12-31'\""),
            ("select 1.5e-3", "SELECT CAST('1.5e-3' AS DOUBLE) AS \"1.5e-3\""),
            ("select a from t order by \"all\"", "SELECT a FROM t ORDER BY \"all\""),
            (
                "with x as materialized (select a from t) select * from x",
                "WITH x AS MATERIALIZED (SELECT a FROM t) SELECT * FROM x",
            ),
        ] {
            assert_eq!(rewritten(text), expect, "{text}");
        }
    }

    #[test]
    fn unknown_columns_of_joins_are_errors() {
        for text in
            ["select * from a natural full join b", "select 1 from a join b on a.x = b.x right join c using (k)"]
        {
            let statement = Statement { text: text.into(), line: 1, column: 1 };
            let parsed = parse(&statement, &|_| false);
            assert_eq!(parsed.map(|_| ()).map_err(|error| error.code()), Err(Code::Usage), "{text}");
        }
    }

    #[test]
    fn the_first_error_is_shown() {
        let statement = Statement { text: "select * fro t where".into(), line: 1, column: 1 };
        assert_eq!(parse(&statement, &|_| false).map(|_| ()).map_err(|error| error.code()), Err(Code::Usage));
    }
}
