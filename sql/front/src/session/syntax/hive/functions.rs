//! Calls and operators of Hive, rewritten one at a time, from the inside out.

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, CastKind, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, OrderByExpr,
    UnaryOperator, Value, WindowType,
};

use super::templates::fill;

/// Turns an expression of Hive into one of the planner.
pub fn rewrite(expr: &mut Expr) {
    let made = match expr {
        Expr::Value(value) => {
            if let Value::DoubleQuotedString(text) = &value.value {
                value.value = Value::SingleQuotedString(text.clone());
            }
            None
        }
        Expr::BinaryOp { left, op, right } => {
            let name = match op {
                BinaryOperator::Divide => "/",
                BinaryOperator::Modulo => "%",
                BinaryOperator::MyIntegerDivide => "div",
                BinaryOperator::Spaceship => {
                    *expr = Expr::IsNotDistinctFrom(left.clone(), right.clone());
                    return;
                }
                _ => return,
            };
            fill(name, &[(**left).clone(), (**right).clone()]).map(nested)
        }
        Expr::RLike { negated, expr, pattern, .. } => {
            let call = fill("rlike", &[(**expr).clone(), (**pattern).clone()]);
            let negated = *negated;
            call.map(|call| match negated {
                true => Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(call) },
                false => call,
            })
        }
        // A text that is no value is null.
        Expr::Cast { kind, .. } => {
            *kind = CastKind::TryCast;
            None
        }
        // A place below zero counts from the end.
        Expr::Substring { expr: of, substring_from: Some(from), substring_for: None, .. } => match &**from {
            Expr::UnaryOp { op: UnaryOperator::Minus, expr } => fill("right part", &[(**of).clone(), (**expr).clone()]),
            _ => None,
        },
        Expr::Function(function) => call(function),
        _ => None,
    };
    if let Some(made) = made {
        *expr = made;
    }
}

fn nested(expr: Expr) -> Expr {
    Expr::Nested(Box::new(expr))
}

/// Sets the place of nulls where a query does not: first, if the order ascends.
pub fn place_nulls(keys: &mut [OrderByExpr]) {
    for key in keys {
        let ascends = key.options.asc != Some(false);
        key.options.nulls_first.get_or_insert(ascends);
    }
}

/// Returns the arguments of a plain call.
fn arguments(of: &Function) -> Option<Vec<Expr>> {
    let FunctionArguments::List(list) = &of.args else { return None };
    let plain = |argument: &FunctionArg| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr.clone()),
        _ => None,
    };
    (list.clauses.is_empty() && list.duplicate_treatment.is_none())
        .then(|| list.args.iter().map(plain).collect::<Option<Vec<_>>>())?
}

/// Returns the text of a constant.
pub fn text_of(expr: &Expr) -> Option<&str> {
    let Expr::Value(value) = expr else { return None };
    match &value.value {
        Value::SingleQuotedString(text) | Value::DoubleQuotedString(text) => Some(text),
        _ => None,
    }
}

fn text(text: String) -> Expr {
    Expr::Value(Value::SingleQuotedString(text).into())
}

fn call(function: &mut Function) -> Option<Expr> {
    if let Some(WindowType::WindowSpec(window)) = &mut function.over {
        place_nulls(&mut window.order_by);
    }
    let name = function.name.to_string().to_ascii_lowercase();
    let arguments = arguments(function)?;
    let named = |function: &mut Function, name: &str| {
        function.name = datafusion::sql::sqlparser::ast::Ident::new(name).into();
    };
    match (&name[..], &arguments[..]) {
        ("array", _) => named(function, "make_array"),
        ("concat", [first, rest @ ..]) if !rest.is_empty() => {
            // Unlike the planner's, Hive's is null if a part is.
            return rest
                .iter()
                .try_fold(first.clone(), |so_far, next| fill("concat of texts", &[so_far, next.clone()]));
        }
        ("concat_ws", [separator, list]) if is_list(list) => {
            return fill("text of a list", &[separator.clone(), list.clone()]);
        }
        ("split", [of, pattern]) => {
            let plain = plain_pattern(text_of(pattern)?)?;
            return fill("list of texts", &[of.clone(), text(plain)]);
        }
        ("collect_list", [of]) if function.over.is_none() => return fill("list of rows", std::slice::from_ref(of)),
        ("collect_set", [of]) if function.over.is_none() => return fill("set of rows", std::slice::from_ref(of)),
        ("date_format", [of, format]) => {
            return fill("format of a time", &[of.clone(), text(strftime(text_of(format)?)?)]);
        }
        ("from_unixtime", [of, format]) => {
            return fill("format of seconds", &[of.clone(), text(strftime(text_of(format)?)?)]);
        }
        ("unix_timestamp", [of, format]) => {
            return fill("seconds of a text", &[of.clone(), text(strftime(text_of(format)?)?)]);
        }
        _ if function.over.is_none() && function.filter.is_none() => {
            return fill(&name, &arguments).map(nested_if_needed);
        }
        _ => {}
    }
    None
}

fn nested_if_needed(expr: Expr) -> Expr {
    match expr {
        Expr::BinaryOp { .. } | Expr::UnaryOp { .. } | Expr::IsNull(_) | Expr::IsNotNull(_) => nested(expr),
        other => other,
    }
}

/// Returns true for an expression that is a list by its form.
fn is_list(expr: &Expr) -> bool {
    match expr {
        Expr::Function(function) => matches!(
            &function.name.to_string().to_ascii_lowercase()[..],
            "make_array" | "array_agg" | "string_to_array" | "array_sort" | "map_keys" | "map_values"
        ),
        Expr::Array(_) => true,
        Expr::Nested(inner) => is_list(inner),
        Expr::Case { conditions, .. } => conditions.iter().all(|when| is_list(&when.result)),
        _ => false,
    }
}

/// Returns the text that a regular expression stands for, if it stands for one.
fn plain_pattern(pattern: &str) -> Option<String> {
    let mut plain = String::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next()? {
                't' => plain.push('\t'),
                'n' => plain.push('\n'),
                next if !next.is_alphanumeric() => plain.push(next),
                _ => return None,
            },
            '[' => {
                let (inner, end) = (chars.next()?, chars.next()?);
                if end != ']' || inner == '^' {
                    return None;
                }
                plain.push(inner);
            }
            '.' | '|' | '*' | '+' | '?' | '(' | ')' | ']' | '{' | '}' | '^' | '$' => return None,
            c => plain.push(c),
        }
    }
    (!plain.is_empty()).then_some(plain)
}

/// Returns a format of Java's `SimpleDateFormat` in the spelling of `strftime`; None for one that has no counterpart.
fn strftime(java: &str) -> Option<String> {
    let mut made = String::new();
    let mut rest = java;
    while let Some(c) = rest.chars().next() {
        if c == '\'' {
            let end = rest[1..].find('\'')?;
            made.push_str(if end == 0 { "'" } else { &rest[1..=end] });
            rest = &rest[end + 2..];
            continue;
        }
        let count = rest.chars().take_while(|&next| next == c).count();
        let piece = &rest[..count * c.len_utf8()];
        rest = &rest[piece.len()..];
        made.push_str(match (c, count) {
            ('y' | 'u', 4) => "%Y",
            ('y', 2) => "%y",
            ('M', 2) => "%m",
            ('M', 1) => "%-m",
            ('M', 3) => "%b",
            ('M', 4) => "%B",
            ('d', 2) => "%d",
            ('d', 1) => "%-d",
            ('D', 3) => "%j",
            ('H', 2) => "%H",
            ('H', 1) => "%-H",
            ('h', 2) => "%I",
            ('h', 1) => "%-I",
            ('m', 2) => "%M",
            ('s', 2) => "%S",
            ('S', 3) => "%3f",
            ('a', 1) => "%p",
            ('E', 1..=3) => "%a",
            ('E', _) => "%A",
            ('%', _) => return None,
            (c, _) if c.is_ascii_alphabetic() => return None,
            _ => piece,
        });
    }
    Some(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_of_java() {
        for (java, expect) in [
            ("yyyy-MM-dd HH:mm:ss", Some("%Y-%m-%d %H:%M:%S")),
            ("yyyy/M/d", Some("%Y/%-m/%-d")),
            ("EEE, d MMM yyyy 'at' hh:mm a", Some("%a, %-d %b %Y at %I:%M %p")),
            ("''yy", Some("'%y")),
            ("ww", None),
            ("'open", None),
        ] {
            assert_eq!(strftime(java).as_deref(), expect, "{java}");
        }
    }

    #[test]
    fn patterns_that_stand_for_a_text() {
        for (pattern, expect) in [
            (",", Some(",")),
            ("\\|", Some("|")),
            ("\\\\", Some("\\")),
            ("[.]", Some(".")),
            ("::", Some("::")),
            (".", None),
            ("a|b", None),
            ("\\s", None),
            ("", None),
        ] {
            assert_eq!(plain_pattern(pattern).as_deref(), expect, "{pattern}");
        }
    }
}
