//! Functions of Hive as expressions that the planner knows.

use std::sync::OnceLock;

use datafusion::sql::sqlparser::ast::Expr;

use super::super::templates::{Line, Templates};

const TEMPLATES: &[Line] = &[
    // Conditions.
    ("nvl", 2, "coalesce($1, $2)"),
    ("if", 3, "case when $1 then $2 else $3 end"),
    ("isnull", 1, "($1) is null"),
    ("isnotnull", 1, "($1) is not null"),
    ("nvl2", 3, "case when ($1) is not null then $2 else $3 end"),
    // Texts.
    ("instr", 2, "strpos($1, $2)"),
    ("locate", 2, "strpos($2, $1)"),
    ("ucase", 1, "upper($1)"),
    ("lcase", 1, "lower($1)"),
    ("space", 1, "repeat(' ', $1)"),
    ("regexp_replace", 3, "regexp_replace($1, $2, $3, 'g')"),
    ("regexp_extract", 2, "case when ($1) is not null then coalesce(regexp_match($1, $2)[1], '') end"),
    (
        "regexp_extract",
        3,
        "case when ($1) is not null then coalesce(regexp_match($1, concat('(', $2, ')'))[$3 + 1], '') end",
    ),
    ("rlike", 2, "regexp_like($1, $2)"),
    // Arrays and maps.
    ("size", 1, "cast(coalesce(cardinality($1), -1) as int)"),
    ("array_contains", 2, "array_has($1, $2)"),
    ("sort_array", 1, "array_sort($1, 'asc', 'nulls first')"),
    // Numbers.
    ("pmod", 2, "(($1) % ($2) + ($2)) % nullif($2, 0)"),
    ("pow", 2, "power(cast($1 as double), cast($2 as double))"),
    ("negative", 1, "-($1)"),
    ("positive", 1, "$1"),
    ("e", 0, "exp(1.0)"),
    // Days and times. A text that is no day gives null.
    ("to_date", 1, "try_cast($1 as date)"),
    ("date_add", 2, "cast(cast(try_cast($1 as date) as int) + cast($2 as int) as date)"),
    ("date_sub", 2, "cast(cast(try_cast($1 as date) as int) - cast($2 as int) as date)"),
    ("datediff", 2, "cast(try_cast($1 as date) as int) - cast(try_cast($2 as date) as int)"),
    ("year", 1, "cast(date_part('year', try_cast($1 as timestamp)) as int)"),
    ("quarter", 1, "cast(date_part('quarter', try_cast($1 as timestamp)) as int)"),
    ("month", 1, "cast(date_part('month', try_cast($1 as timestamp)) as int)"),
    ("day", 1, "cast(date_part('day', try_cast($1 as timestamp)) as int)"),
    ("dayofmonth", 1, "cast(date_part('day', try_cast($1 as timestamp)) as int)"),
    ("hour", 1, "cast(date_part('hour', try_cast($1 as timestamp)) as int)"),
    ("minute", 1, "cast(date_part('minute', try_cast($1 as timestamp)) as int)"),
    ("second", 1, "cast(date_part('second', try_cast($1 as timestamp)) as int)"),
    ("weekofyear", 1, "cast(date_part('week', try_cast($1 as timestamp)) as int)"),
    ("dayofweek", 1, "cast(date_part('dow', try_cast($1 as timestamp)) as int) + 1"),
    (
        "last_day",
        1,
        "cast(date_trunc('month', try_cast($1 as timestamp)) + interval '1 month' - interval '1 day' as date)",
    ),
    ("add_months", 2, "cast(try_cast($1 as date) + cast(concat($2, ' month') as interval) as date)"),
    ("unix_timestamp", 0, "cast(to_unixtime(now()) as bigint)"),
    ("unix_timestamp", 1, "cast(to_unixtime(try_cast($1 as timestamp)) as bigint)"),
    ("from_unixtime", 1, "to_char(to_timestamp_seconds(cast($1 as bigint)), '%Y-%m-%d %H:%M:%S')"),
    // Operators, by the names that `mod.rs` gives them.
    ("/", 2, "cast($1 as double) / nullif(cast($2 as double), 0.0)"),
    ("%", 2, "($1) % nullif($2, 0)"),
    ("div", 2, "cast($1 as bigint) / nullif(cast($2 as bigint), 0)"),
    ("concat of texts", 2, "cast($1 as varchar) || cast($2 as varchar)"),
    ("format of a time", 2, "to_char(try_cast($1 as timestamp), $2)"),
    ("format of seconds", 2, "to_char(to_timestamp_seconds(cast($1 as bigint)), $2)"),
    ("seconds of a text", 2, "cast(to_unixtime($1, $2) as bigint)"),
    ("list of texts", 2, "case when ($1) = '' then make_array('') else string_to_array($1, $2) end"),
    ("text of a list", 2, "array_to_string($2, $1)"),
    ("right part", 2, "right($1, $2)"),
    ("percentile", 2, "percentile_cont($2) within group (order by $1)"),
    ("percentile_approx", 2, "approx_percentile_cont($2) within group (order by $1)"),
    ("list of rows", 1, "array_agg($1) filter (where ($1) is not null)"),
    ("set of rows", 1, "array_agg(distinct $1) filter (where ($1) is not null)"),
    ("or null", 1, "case when cardinality($1) > 0 then $1 else make_array(null) end"),
    ("positions", 1, "range(0, cast(cardinality($1) as bigint))"),
    ("rows", 1, "unnest($1)"),
];

/// Returns the expression of a function; None for a name that has none.
pub fn fill(name: &str, arguments: &[Expr]) -> Option<Expr> {
    static KNOWN: OnceLock<Templates> = OnceLock::new();
    KNOWN.get_or_init(|| Templates::parse(TEMPLATES)).fill(name, arguments)
}

#[cfg(test)]
mod tests {
    #[test]
    fn each_template_is_an_expression() {
        super::super::super::templates::check(super::TEMPLATES);
    }
}
