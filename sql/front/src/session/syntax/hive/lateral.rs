//! LATERAL VIEW as a derived table: `t lateral view explode(e) v as c` is `(select *, unnest(e) as c from t) as t`, and
//! `v.c` is `t.c`.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, LateralView, ObjectName, Select,
    SelectItem, Statement as Sql, TableAlias, TableFactor, VisitMut, VisitorMut,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;
use yunti_base::{Code, Error, Result};

use super::templates::fill;

fn usage(what: String) -> Error {
    Error::new(Code::Usage, what)
}

/// Rewrites the lateral views of a select. Errors: `Usage` for those over several tables, and for other functions.
pub fn rewrite(select: &mut Select) -> Result<()> {
    let views = std::mem::take(&mut select.lateral_views);
    if views.is_empty() {
        return Ok(());
    }
    let [from] = &mut select.from[..] else { return Err(several()) };
    if !from.joins.is_empty() {
        return Err(several());
    }
    let name = name_of(&from.relation).ok_or_else(several)?;
    for view in &views {
        let columns = columns_of(view)?;
        from.relation = derived(from.relation.clone(), &name, columns)?;
        let mut rename = Rename { view: last(&view.lateral_view_name), name: name.clone() };
        for item in &mut select.projection {
            let _ = item.visit(&mut rename);
        }
        let _ = select.selection.visit(&mut rename);
        let _ = select.group_by.visit(&mut rename);
        let _ = select.having.visit(&mut rename);
        let _ = select.sort_by.visit(&mut rename);
    }
    // A later view may name the columns of an earlier one.
    for view in &views {
        let _ = from.relation.visit(&mut Rename { view: last(&view.lateral_view_name), name: name.clone() });
    }
    Ok(())
}

fn several() -> Error {
    usage("'lateral view' over several tables is not supported".to_string()).hint("put their join in a subquery")
}

fn last(name: &ObjectName) -> String {
    name.0.last().and_then(|part| part.as_ident()).map(|ident| ident.value.to_lowercase()).unwrap_or_default()
}

/// Returns the name by which the columns of a table are known.
fn name_of(of: &TableFactor) -> Option<Ident> {
    match of {
        TableFactor::Table { name, alias, .. } => {
            alias.as_ref().map(|alias| alias.name.clone()).or_else(|| name.0.last()?.as_ident().cloned())
        }
        TableFactor::Derived { alias, .. } => alias.as_ref().map(|alias| alias.name.clone()),
        _ => None,
    }
}

/// Returns the columns that a view adds.
fn columns_of(view: &LateralView) -> Result<Vec<(Expr, Ident)>> {
    let Expr::Function(function) = &view.lateral_view else {
        return Err(usage(format!("'lateral view' of {} is no call", view.lateral_view)));
    };
    let (name, arguments) = (function.name.to_string().to_ascii_lowercase(), arguments(function));
    let outer = |of: &Expr| match view.outer {
        true => fill("or null", std::slice::from_ref(of)).unwrap_or_else(|| of.clone()),
        false => of.clone(),
    };
    let filled = |name: &str, of: &Expr| fill(name, std::slice::from_ref(of)).unwrap_or_else(|| of.clone());
    let rows = |of: &Expr| filled("rows", of);
    let call = |name: &str, of: &Expr| parsed(&format!("{name}({of})"));
    let mut made = match (&name[..], &arguments[..]) {
        ("explode", [of]) if view.lateral_col_alias.len() == 2 => {
            vec![rows(&call("map_keys", of)?), rows(&call("map_values", of)?)]
        }
        ("explode", [of]) => vec![rows(&outer(of))],
        ("posexplode", [of]) => vec![rows(&filled("positions", of)), rows(&outer(of))],
        ("json_tuple", [of, names @ ..]) if !names.is_empty() => {
            let member = |name: &Expr| match super::functions::text_of(name) {
                Some(name) => parsed(&format!("get_json_object({of}, '$.{}')", name.replace('\'', "''"))),
                None => Err(usage("'json_tuple' takes names in quotes".into())),
            };
            names.iter().map(member).collect::<Result<Vec<_>>>()?
        }
        (other, _) => {
            return Err(usage(format!("'lateral view' of {other} is not supported"))
                .hint("explode, posexplode and json_tuple are"));
        }
    };
    let given = view.lateral_col_alias.iter().cloned();
    let default: &[&str] = match (&name[..], made.len()) {
        ("posexplode", _) => &["pos", "col"],
        ("explode", 2) => &["key", "value"],
        ("explode", _) => &["col"],
        _ => &[],
    };
    let names: Vec<Ident> = match view.lateral_col_alias.is_empty() {
        true if default.is_empty() => (0..made.len()).map(|n| Ident::new(format!("c{n}"))).collect(),
        true => default.iter().map(|name| Ident::new(*name)).collect(),
        false => given.collect(),
    };
    if names.len() != made.len() {
        return Err(usage(format!("'{name}' gives {} columns, but {} are named", made.len(), names.len())));
    }
    Ok(made.drain(..).zip(names).collect())
}

fn arguments(of: &Function) -> Vec<Expr> {
    let FunctionArguments::List(list) = &of.args else { return Vec::new() };
    let plain = |argument: &FunctionArg| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr.clone()),
        _ => None,
    };
    list.args.iter().filter_map(plain).collect()
}

fn parsed(text: &str) -> Result<Expr> {
    let parser = Parser::new(&GenericDialect {}).try_with_sql(text);
    parser.and_then(|mut parser| parser.parse_expr()).map_err(|e| usage(format!("'lateral view': {e}")))
}

/// Returns `(select *, .. from relation) as name`.
fn derived(relation: TableFactor, name: &Ident, columns: Vec<(Expr, Ident)>) -> Result<TableFactor> {
    let failed = || usage("'lateral view' could not be rewritten".into());
    let mut all = Parser::parse_sql(&GenericDialect {}, "select * from t").map_err(|_| failed())?;
    let Some(Sql::Query(mut query)) = all.pop() else { return Err(failed()) };
    let datafusion::sql::sqlparser::ast::SetExpr::Select(select) = &mut *query.body else { return Err(failed()) };
    select.projection.extend(columns.into_iter().map(|(expr, alias)| SelectItem::ExprWithAlias { expr, alias }));
    let Some(from) = select.from.first_mut() else { return Err(failed()) };
    from.relation = relation;
    let alias = TableAlias { explicit: true, name: name.clone(), columns: Vec::new(), at: None };
    Ok(TableFactor::Derived { lateral: false, subquery: query, alias: Some(alias), sample: None })
}

/// Puts the name of the table in the place of a view's.
struct Rename {
    view: String,
    name: Ident,
}

impl VisitorMut for Rename {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::CompoundIdentifier(parts) = expr
            && parts.len() >= 2
            && parts[0].value.to_lowercase() == self.view
        {
            parts[0] = self.name.clone();
        }
        ControlFlow::Continue(())
    }
}
