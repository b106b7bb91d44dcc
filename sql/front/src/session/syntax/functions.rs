//! Functions of DuckDB and PostgreSQL that the planner lacks, as calls and expressions that it knows. A name that the
//! session has a function for keeps it.

use std::sync::OnceLock;

use datafusion::sql::sqlparser::ast::{
    Array, BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArguments,
    Ident, Interval, NullTreatment, OrderByExpr, OrderByOptions, Value,
};

use super::rows;
use super::templates::{Line, Templates};

/// Other names of functions.
const NAMES: &[(&str, &str)] = &[
    ("approx_count_distinct", "approx_distinct"),
    ("arbitrary", "first_value"),
    ("array", "make_array"),
    ("favg", "avg"),
    ("first", "first_value"),
    ("fsum", "sum"),
    ("group_concat", "string_agg"),
    ("kahan_sum", "sum"),
    ("last", "last_value"),
    ("len", "length"),
    ("list", "array_agg"),
    ("list_value", "make_array"),
    ("listagg", "string_agg"),
    ("mean", "avg"),
    ("prefix", "starts_with"),
    ("quantile", "quantile_disc"),
    ("regexp_matches", "regexp_like"),
    ("sign", "signum"),
    ("str_split", "string_to_array"),
    ("string_split", "string_to_array"),
    ("suffix", "ends_with"),
    ("sumkahan", "sum"),
    ("unicode", "ascii"),
    ("variance", "var_samp"),
];

const TEMPLATES: &[Line] = &[
    ("if", 3, "case when $1 then $2 else $3 end"),
    ("mod", 2, "($1) % ($2)"),
    ("//", 2, "($1 - $1 % nullif($2, 0)) / nullif($2, 0)"),
    ("count_star", 0, "count(*)"),
    (
        "regexp_extract",
        2,
        "case when ($1) is not null then coalesce(regexp_match($1, concat('(', $2, ')'))[1], '') end",
    ),
    // Aggregates.
    (
        "regr_r2",
        2,
        "case when regr_sxx($1, $2) <> 0 and regr_syy($1, $2) = 0 then cast(1 as double) else regr_r2($1, $2) end",
    ),
    ("approx_quantile", 2, "approx_percentile_cont($2) within group (order by $1)"),
    ("unless empty", 2, "case when count($1) > 0 then $2 end"),
    ("sem", 1, "stddev_pop($1) / sqrt(nullif(count($1), 0))"),
    (
        "weighted_avg",
        2,
        "sum(cast($1 as double) * $2) / nullif(sum(case when ($1) is not null then cast($2 as double) end), 0)",
    ),
    (
        "wavg",
        2,
        "sum(cast($1 as double) * $2) / nullif(sum(case when ($1) is not null then cast($2 as double) end), 0)",
    ),
    // Days and times.
    ("strftime", 2, "to_char(cast($1 as timestamp), $2)"),
    ("strptime", 2, "to_timestamp($1, $2)"),
    ("epoch", 1, "cast(date_part('epoch', $1) as double)"),
    ("epoch_ms", 1, "cast(date_part('epoch', $1) * 1000 as bigint)"),
    ("year", 1, "cast(date_part('year', $1) as bigint)"),
    ("quarter", 1, "cast(date_part('quarter', $1) as bigint)"),
    ("month", 1, "cast(date_part('month', $1) as bigint)"),
    ("week", 1, "cast(date_part('week', $1) as bigint)"),
    ("weekofyear", 1, "cast(date_part('week', $1) as bigint)"),
    ("day", 1, "cast(date_part('day', $1) as bigint)"),
    ("dayofmonth", 1, "cast(date_part('day', $1) as bigint)"),
    ("dayofweek", 1, "cast(date_part('dow', $1) as bigint)"),
    ("dayofyear", 1, "cast(date_part('doy', $1) as bigint)"),
    ("hour", 1, "cast(date_part('hour', $1) as bigint)"),
    ("minute", 1, "cast(date_part('minute', $1) as bigint)"),
    ("second", 1, "cast(floor(date_part('second', $1)) as bigint)"),
    ("dayname", 1, "to_char(cast($1 as timestamp), '%A')"),
    ("monthname", 1, "to_char(cast($1 as timestamp), '%B')"),
    ("last_day", 1, "cast(date_trunc('month', cast($1 as timestamp)) + interval '1 month' - interval '1 day' as date)"),
    ("date_add", 2, "($1) + ($2)"),
    ("interval", 2, "cast(cast(cast($1 as bigint) as varchar) || $2 as interval)"),
    // Numbers of borders of a unit between two times.
    ("years between", 2, "cast(date_part('year', $2) - date_part('year', $1) as bigint)"),
    (
        "months between",
        2,
        "cast((date_part('year', $2) - date_part('year', $1)) * 12 + date_part('month', $2) - date_part('month', $1) \
         as bigint)",
    ),
    ("days between", 2, "cast(cast(cast($2 as date) as int) - cast(cast($1 as date) as int) as bigint)"),
    (
        "units between",
        4,
        "cast((date_part('epoch', date_trunc($3, cast($2 as timestamp))) \
         - date_part('epoch', date_trunc($3, cast($1 as timestamp)))) / $4 as bigint)",
    ),
];

fn fill(name: &str, arguments: &[Expr]) -> Option<Expr> {
    static KNOWN: OnceLock<Templates> = OnceLock::new();
    KNOWN.get_or_init(|| Templates::parse(TEMPLATES)).fill(name, arguments)
}

/// Turns a call or an operator into what the planner knows. `is_known`: names of the session's functions.
pub fn rewrite(expr: &mut Expr, is_known: &dyn Fn(&str) -> bool) {
    let made = match expr {
        Expr::Function(function) => call(function, is_known),
        Expr::BinaryOp { left, op: BinaryOperator::DuckIntegerDivide, right } => {
            fill("//", &[(**left).clone(), (**right).clone()])
        }
        Expr::Interval(interval) => interval_of(interval),
        Expr::InSubquery { .. } | Expr::AnyOp { .. } | Expr::AllOp { .. } => rows::value(expr),
        // The parser reads `a is distinct from b and c` as a comparison of a with `b and c`.
        Expr::IsDistinctFrom(left, right) => misread(left, right, Expr::IsDistinctFrom),
        Expr::IsNotDistinctFrom(left, right) => misread(left, right, Expr::IsNotDistinctFrom),
        _ => None,
    };
    if let Some(made) = made {
        *expr = match made {
            made @ (Expr::BinaryOp { .. } | Expr::UnaryOp { .. })
                if !matches!(expr, Expr::IsDistinctFrom(..) | Expr::IsNotDistinctFrom(..)) =>
            {
                Expr::Nested(Box::new(made))
            }
            made => made,
        };
    }
}

/// Returns `(left compare b) and c` for `left compare (b and c)` without brackets.
fn misread(left: &Expr, right: &Expr, compare: fn(Box<Expr>, Box<Expr>) -> Expr) -> Option<Expr> {
    let is_logic = |of: &Expr| matches!(of, Expr::BinaryOp { op: BinaryOperator::And | BinaryOperator::Or, .. });
    if !is_logic(right) {
        return None;
    }
    let mut whole = right.clone();
    let mut at = &mut whole;
    while is_logic(at) {
        let Expr::BinaryOp { left, .. } = at else { return None };
        at = left;
    }
    *at = compare(Box::new(left.clone()), Box::new(at.clone()));
    Some(whole)
}

/// Returns an interval of a number that is no constant.
fn interval_of(of: &Interval) -> Option<Expr> {
    let Expr::Nested(value) = &*of.value else { return None };
    let unit = of.leading_field.as_ref()?.to_string().to_ascii_lowercase();
    fill("interval", &[(**value).clone(), text(&format!(" {unit}"))])
}

fn text(of: &str) -> Expr {
    Expr::Value(Value::SingleQuotedString(of.into()).into())
}

/// Returns the arguments of a call, which may have an order within.
fn arguments(of: &Function) -> Option<Vec<Expr>> {
    let FunctionArguments::List(list) = &of.args else { return None };
    let plain = |argument: &FunctionArg| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr.clone()),
        _ => None,
    };
    list.args.iter().map(plain).collect()
}

fn is_ordered(of: &Function) -> bool {
    let FunctionArguments::List(list) = &of.args else { return false };
    list.clauses.iter().any(|clause| matches!(clause, FunctionArgumentClause::OrderBy(_)))
}

fn call(function: &mut Function, is_known: &dyn Fn(&str) -> bool) -> Option<Expr> {
    let name = function.name.to_string().to_ascii_lowercase();
    let arguments = arguments(function)?;
    if name == "any_value" && is_ordered(function) {
        rename(function, "first_value");
        function.null_treatment = Some(NullTreatment::IgnoreNulls);
        return None;
    }
    if matches!(&name[..], "quantile_cont" | "approx_quantile" | "percentile_cont")
        && let Some(each) = for_each(function, &arguments)
    {
        return Some(each);
    }
    if is_known(&name) {
        return match (&name[..], &arguments[..], &function.within_group[..]) {
            // The planner's is null where the first argument is always the same.
            ("regr_r2", [_, _], []) if function.over.is_none() && function.filter.is_none() => fill(&name, &arguments),
            ("mode", [], [of]) => {
                let arguments = vec![of.expr.clone()];
                within(function, arguments)
            }
            _ => None,
        };
    }
    if let Some((_, other)) = NAMES.iter().find(|(own, _)| *own == name) {
        rename(function, other);
        if *other == "string_agg" && arguments.len() == 1 {
            push(function, text(","));
        }
        return None;
    }
    let plain = function.over.is_none() && function.within_group.is_empty();
    match (&name[..], &arguments[..], &function.within_group[..]) {
        ("percentile_disc", [part], [of]) if of.options.asc != Some(false) => {
            let arguments = vec![of.expr.clone(), part.clone()];
            rename(function, "quantile_disc");
            within(function, arguments)
        }
        (
            "arg_min" | "argmin" | "min_by" | "arg_max" | "argmax" | "max_by" | "arg_min_null" | "arg_max_null",
            [_, by],
            _,
        ) if plain => of_extreme(function, &name, by.clone()),
        ("date_diff" | "datediff", [unit, from, to], _) => difference(unit, from.clone(), to.clone()),
        _ if plain && function.filter.is_none() && !is_ordered(function) => fill(&name, &arguments),
        _ => None,
    }
}

/// Returns a list of calls for a call with a list of numbers as its last argument.
fn for_each(function: &Function, arguments: &[Expr]) -> Option<Expr> {
    let (last, first) = arguments.split_last()?;
    let Expr::Array(list) = last else { return None };
    if list.elem.is_empty() || function.over.is_some() || function.filter.is_some() {
        return None;
    }
    let value = first.first().or_else(|| function.within_group.first().map(|key| &key.expr))?;
    let one = |number: &Expr| {
        let mut call = function.clone();
        let FunctionArguments::List(list) = &mut call.args else { return None };
        let all = first.iter().chain([number]).cloned();
        list.args = all.map(|of| FunctionArg::Unnamed(FunctionArgExpr::Expr(of))).collect();
        if call.name.to_string().eq_ignore_ascii_case("approx_quantile") {
            return fill("approx_quantile", &[first.first()?.clone(), number.clone()]);
        }
        Some(Expr::Function(call))
    };
    let elem = list.elem.iter().map(one).collect::<Option<Vec<_>>>()?;
    // No rows have no quantiles, rather than some that are null.
    fill("unless empty", &[value.clone(), Expr::Array(Array { elem, named: list.named })])
}

fn rename(function: &mut Function, name: &str) {
    function.name = Ident::new(name).into();
}

fn push(function: &mut Function, argument: Expr) {
    if let FunctionArguments::List(list) = &mut function.args {
        list.args.push(FunctionArg::Unnamed(FunctionArgExpr::Expr(argument)));
    }
}

/// Replaces the arguments of a call, and the order that it has in `within group`.
fn within(function: &mut Function, arguments: Vec<Expr>) -> Option<Expr> {
    if let FunctionArguments::List(list) = &mut function.args {
        list.args = arguments.into_iter().map(|of| FunctionArg::Unnamed(FunctionArgExpr::Expr(of))).collect();
    }
    function.within_group.clear();
    None
}

/// Turns `arg_min(value, by)` into the first value in the order of `by`.
fn of_extreme(function: &mut Function, name: &str, by: Expr) -> Option<Expr> {
    let FunctionArguments::List(list) = &mut function.args else { return None };
    let FunctionArg::Unnamed(FunctionArgExpr::Expr(value)) = list.args.swap_remove(0) else { return None };
    let options = OrderByOptions { asc: Some(name.contains("min")), nulls_first: Some(false) };
    list.clauses.push(FunctionArgumentClause::OrderBy(vec![OrderByExpr {
        expr: by.clone(),
        options,
        with_fill: None,
    }]));
    list.args = vec![FunctionArg::Unnamed(FunctionArgExpr::Expr(value.clone()))];
    let and = |a: Expr, b: Expr| Expr::BinaryOp { left: Box::new(a), op: BinaryOperator::And, right: Box::new(b) };
    let mut condition = Expr::IsNotNull(Box::new(Expr::Nested(Box::new(by))));
    if !name.ends_with("_null") {
        condition = and(condition, Expr::IsNotNull(Box::new(Expr::Nested(Box::new(value)))));
    }
    if let Some(filter) = function.filter.take() {
        condition = and(condition, Expr::Nested(filter));
    }
    function.filter = Some(Box::new(condition));
    rename(function, "first_value");
    None
}

/// Returns the number of borders of a unit between two times.
fn difference(unit: &Expr, from: Expr, to: Expr) -> Option<Expr> {
    let Expr::Value(value) = unit else { return None };
    let Value::SingleQuotedString(unit) = &value.value else { return None };
    let unit = unit.to_ascii_lowercase();
    let seconds = |unit: &str, count: &str| {
        let count = Expr::Value(Value::Number(count.into(), false).into());
        fill("units between", &[from.clone(), to.clone(), text(unit), count])
    };
    match unit.trim_end_matches('s') {
        "year" => fill("years between", &[from, to]),
        "month" => fill("months between", &[from, to]),
        "day" => fill("days between", &[from, to]),
        "hour" => seconds("hour", "3600"),
        "minute" => seconds("minute", "60"),
        "second" => seconds("second", "1"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn each_template_is_an_expression() {
        super::super::templates::check(super::TEMPLATES);
    }
}
