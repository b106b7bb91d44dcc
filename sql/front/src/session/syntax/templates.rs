//! Functions that the planner lacks as expressions that it knows: tables of names, numbers of arguments, and texts in
//! which `$1`, `$2`, .. stand for the arguments.

use std::collections::HashMap;
use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{Expr, Value, VisitMut, VisitorMut};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;

/// Name, number of arguments, expression.
pub type Line = (&'static str, usize, &'static str);

/// A table, parsed.
pub struct Templates(HashMap<(&'static str, usize), Expr>);

impl Templates {
    pub fn parse(lines: &[Line]) -> Templates {
        let parsed = |&(name, arguments, text): &Line| {
            let mut parser = Parser::new(&GenericDialect {}).try_with_sql(text).ok()?;
            Some(((name, arguments), parser.parse_expr().ok()?))
        };
        Templates(lines.iter().filter_map(parsed).collect())
    }

    /// Returns the expression of a function; None for a name that has none.
    pub fn fill(&self, name: &str, arguments: &[Expr]) -> Option<Expr> {
        let template = self.0.iter().find(|((own, count), _)| *own == name && *count == arguments.len());
        let mut expr = template?.1.clone();
        replace(&mut expr, arguments);
        Some(expr)
    }
}

/// Puts arguments in the place of `$1`, `$2`, ..
pub fn replace(expr: &mut Expr, arguments: &[Expr]) {
    let _ = expr.visit(&mut Fill(arguments));
}

struct Fill<'a>(&'a [Expr]);

impl VisitorMut for Fill<'_> {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::Value(value) = expr
            && let Value::Placeholder(place) = &value.value
            && let Some(argument) = place[1..].parse::<usize>().ok().and_then(|n| self.0.get(n - 1))
        {
            *expr = match argument {
                simple @ (Expr::Identifier(_)
                | Expr::CompoundIdentifier(_)
                | Expr::Value(_)
                | Expr::Function(_)
                | Expr::Exists { .. }) => simple.clone(),
                other => Expr::Nested(Box::new(other.clone())),
            };
        }
        ControlFlow::Continue(())
    }
}

/// Fails for a line that is no expression, or that leaves an argument out.
#[cfg(test)]
pub fn check(lines: &[Line]) {
    let templates = Templates::parse(lines);
    assert_eq!(templates.0.len(), lines.len());
    for (name, count, text) in lines {
        let arguments: Vec<Expr> = (0..*count)
            .map(|n| Expr::Identifier(datafusion::sql::sqlparser::ast::Ident::new(format!("a{n}"))))
            .collect();
        let filled = templates.fill(name, &arguments).unwrap().to_string();
        assert!(!filled.contains('$'), "{text}: {filled}");
    }
}
