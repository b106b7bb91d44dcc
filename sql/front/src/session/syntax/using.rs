//! `join .. using (k)`: the two columns `k` are one, with the value of the side that has a row.
//!
//! ```text
//!   select * from a left join b using (k)         select a.*, b.* exclude (k) from ..
//!   select k from a right join b using (k)        select b.k as k from ..
//!   select k from a full join b using (k)         select coalesce(a.k, b.k) as k from ..
//! ```
//!
//! The planner takes the column of the side whose name is first in the alphabet for `*`, and the left one for `k`, so
//! that rows without a match had null there. In conditions it takes `k` for ambiguous.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, ExcludeSelectItem, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList,
    FunctionArguments, Ident, JoinConstraint, JoinOperator, ObjectName, ObjectNamePart, Query, ReplaceSelectElement,
    ReplaceSelectItem, Select, SelectItem, SelectItemQualifiedWildcardKind, TableFactor, TableWithJoins, VisitMut,
    VisitorMut, WildcardAdditionalOptions,
};
use yunti_base::{Code, Error, Result};

/// Writes out what the columns of USING are.
///
/// Errors: `Usage` for a natural outer join, and for a right or full join whose left column is unknown.
pub fn merge(select: &mut Select) -> Result<()> {
    let mut scope = Scope::default();
    for item in &mut select.from {
        scope.add(item)?;
    }
    if !scope.has_using {
        return Ok(());
    }
    if scope.is_known {
        let stars = select.projection.iter().filter(|item| is_star(item)).count();
        if stars > 0 {
            let items = std::mem::take(&mut select.projection);
            select.projection = items.into_iter().flat_map(|item| scope.expanded(item)).collect();
        }
    }
    if !scope.merged.is_empty() {
        for item in &mut select.projection {
            if let SelectItem::UnnamedExpr(Expr::Identifier(name)) = item
                && let Some(column) = scope.column(name)
                && !column.is_left
            {
                *item = SelectItem::ExprWithAlias { expr: column.value.clone(), alias: name.clone() };
            }
        }
        // Each part but the joins, whose conditions have names of their own.
        let from = std::mem::take(&mut select.from);
        let _ = select.visit(&mut Replace { scope: &scope, depth: 0 });
        select.from = from;
    }
    Ok(())
}

fn is_star(item: &SelectItem) -> bool {
    matches!(item, SelectItem::Wildcard(options) if *options == WildcardAdditionalOptions::default())
}

/// A table of the list, and its columns that `*` leaves out or replaces.
struct Relation {
    name: ObjectName,
    excluded: Vec<Ident>,
    replaced: Vec<(Ident, Expr)>,
}

/// A column of USING.
struct Merged {
    name: Ident,
    value: Expr,
    /// Number of the first relation that has it.
    owner: usize,
    /// True if the value is the column of that relation.
    is_left: bool,
}

#[derive(Default)]
struct Scope {
    relations: Vec<Relation>,
    merged: Vec<Merged>,
    has_using: bool,
    /// True if `*` can be written out.
    is_known: bool,
}

impl Scope {
    fn add(&mut self, of: &mut TableWithJoins) -> Result<()> {
        let first = self.relations.len();
        self.is_known |= first == 0;
        self.push(&of.relation);
        for join in &mut of.joins {
            let (is_inner, side) = match &join.join_operator {
                JoinOperator::Join(_) | JoinOperator::Inner(_) => (true, Side::Left),
                JoinOperator::Left(_) | JoinOperator::LeftOuter(_) => (false, Side::Left),
                JoinOperator::Right(_) | JoinOperator::RightOuter(_) => (false, Side::Right),
                _ => (false, Side::Both),
            };
            let constraint = match &mut join.join_operator {
                JoinOperator::Join(constraint)
                | JoinOperator::Inner(constraint)
                | JoinOperator::Left(constraint)
                | JoinOperator::LeftOuter(constraint)
                | JoinOperator::Right(constraint)
                | JoinOperator::RightOuter(constraint)
                | JoinOperator::FullOuter(constraint)
                | JoinOperator::CrossJoin(constraint) => constraint,
                // The other table has no columns in the result.
                JoinOperator::LeftSemi(_) | JoinOperator::LeftAnti(_) => continue,
                JoinOperator::Semi(_) | JoinOperator::Anti(_) => continue,
                _ => {
                    self.is_known = false;
                    continue;
                }
            };
            let at = self.relations.len();
            self.push(&join.relation);
            match constraint {
                JoinConstraint::Natural if is_inner => self.is_known = false,
                JoinConstraint::Natural => {
                    return Err(Error::new(Code::Usage, "a natural outer join does not say which columns are equal")
                        .hint("write the columns: left join .. using (column, ..)"));
                }
                JoinConstraint::Using(names) => {
                    self.has_using = true;
                    let names: Vec<Ident> = names.iter().filter_map(last_of).cloned().collect();
                    if let Some(condition) = self.meet(&names, first, at, side)? {
                        *constraint = JoinConstraint::On(condition);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn push(&mut self, of: &TableFactor) {
        let alias = match of {
            TableFactor::Table { alias, .. } | TableFactor::Derived { alias, .. } => alias.as_ref(),
            TableFactor::TableFunction { alias, .. } | TableFactor::Function { alias, .. } => alias.as_ref(),
            TableFactor::UNNEST { alias, .. } | TableFactor::NestedJoin { alias, .. } => alias.as_ref(),
            _ => None,
        };
        let name = match (alias, of) {
            (Some(alias), _) => Some(ObjectName::from(vec![alias.name.clone()])),
            (None, TableFactor::Table { name, args: None, .. }) => Some(name.clone()),
            _ => None,
        };
        self.is_known &= name.is_some();
        let name = name.unwrap_or_else(|| ObjectName(Vec::new()));
        self.relations.push(Relation { name, excluded: Vec::new(), replaced: Vec::new() });
    }

    /// Joins relation `at` to those before it, from `first`. Returns a condition where USING would take the wrong
    /// column of the left side.
    fn meet(&mut self, names: &[Ident], first: usize, at: usize, side: Side) -> Result<Option<Expr>> {
        let is_plain = names.iter().all(|name| self.column(name).is_none_or(|column| column.is_left));
        let mut conditions = Vec::new();
        for name in names {
            let right = column_of(&self.relations[at].name, name);
            self.relations[at].excluded.push(name.clone());
            let known = self.merged.iter().position(|column| is_same(&column.name, name));
            let known = match known {
                Some(known) => known,
                None if at == first + 1 => {
                    let value = column_of(&self.relations[first].name, name);
                    self.merged.push(Merged { name: name.clone(), value, owner: first, is_left: true });
                    self.merged.len() - 1
                }
                // Any of the tables on the left may have it, and its value stays.
                None if side == Side::Left && is_plain => continue,
                None => {
                    let what = format!("using ({name}): it is not known which of the tables on the left has {name}");
                    return Err(Error::new(Code::Usage, what).hint("write 'on', with the names of the tables"));
                }
            };
            let left = self.merged[known].value.clone();
            conditions.push(equal(left.clone(), right.clone()));
            let value = match side {
                Side::Left => continue,
                Side::Right => right,
                Side::Both => coalesce(left, right),
            };
            let column = &mut self.merged[known];
            (column.value, column.is_left) = (value.clone(), false);
            let owner = &mut self.relations[column.owner];
            owner.replaced.retain(|(other, _)| !is_same(other, name));
            owner.replaced.push((name.clone(), value));
        }
        let both = |a, b| Expr::BinaryOp { left: Box::new(a), op: BinaryOperator::And, right: Box::new(b) };
        Ok(if is_plain { None } else { conditions.into_iter().reduce(both) })
    }

    fn column(&self, name: &Ident) -> Option<&Merged> {
        self.merged.iter().find(|column| is_same(&column.name, name))
    }

    /// Returns the items that a star stands for, or the item.
    fn expanded(&self, item: SelectItem) -> Vec<SelectItem> {
        if !is_star(&item) {
            return vec![item];
        }
        let items = self.relations.iter().map(|relation| {
            let mut options = WildcardAdditionalOptions::default();
            if !relation.excluded.is_empty() {
                let names = relation.excluded.iter().map(|name| ObjectName::from(vec![name.clone()])).collect();
                options.opt_exclude = Some(ExcludeSelectItem::Multiple(names));
            }
            if !relation.replaced.is_empty() {
                let one = |(column_name, expr): &(Ident, Expr)| {
                    let (column_name, expr) = (column_name.clone(), expr.clone());
                    Box::new(ReplaceSelectElement { expr, column_name, as_keyword: true })
                };
                options.opt_replace = Some(ReplaceSelectItem { items: relation.replaced.iter().map(one).collect() });
            }
            let name = SelectItemQualifiedWildcardKind::ObjectName(relation.name.clone());
            SelectItem::QualifiedWildcard(name, options)
        });
        items.collect()
    }
}

/// Side of a join that always has a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
    /// Either may lack one.
    Both,
}

fn last_of(name: &ObjectName) -> Option<&Ident> {
    name.0.last().and_then(ObjectNamePart::as_ident)
}

/// Returns true for names that the planner takes for the same column.
fn is_same(a: &Ident, b: &Ident) -> bool {
    let plain = |of: &Ident| if of.quote_style.is_none() { of.value.to_lowercase() } else { of.value.clone() };
    plain(a) == plain(b)
}

fn column_of(relation: &ObjectName, name: &Ident) -> Expr {
    let parts = relation.0.iter().filter_map(ObjectNamePart::as_ident).cloned();
    Expr::CompoundIdentifier(parts.chain([name.clone()]).collect())
}

fn equal(left: Expr, right: Expr) -> Expr {
    Expr::BinaryOp { left: Box::new(left), op: BinaryOperator::Eq, right: Box::new(right) }
}

fn coalesce(left: Expr, right: Expr) -> Expr {
    let args = [left, right].map(|of| FunctionArg::Unnamed(FunctionArgExpr::Expr(of))).to_vec();
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new("coalesce")]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList { duplicate_treatment: None, args, clauses: Vec::new() }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

/// Puts the values of merged columns in the place of their names, but not in subqueries.
struct Replace<'s> {
    scope: &'s Scope,
    depth: usize,
}

impl VisitorMut for Replace<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, of: &mut Expr) -> ControlFlow<()> {
        if self.depth == 0
            && let Expr::Identifier(name) = of
            && let Some(column) = self.scope.column(name)
        {
            *of = column.value.clone();
        }
        ControlFlow::Continue(())
    }
}
