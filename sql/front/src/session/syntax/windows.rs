//! Named windows: `over w`, `over (w order by ..)` and `window w as (base ..)`. The planner forgets what a window adds
//! to another, so that each call gets the whole definition.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, NamedWindowDefinition, NamedWindowExpr, Select, VisitMut, VisitorMut, WindowSpec, WindowType,
};

/// Puts the definitions of a query's named windows into its calls.
pub fn define(select: &mut Select) {
    if select.named_window.is_empty() {
        return;
    }
    let mut calls = Calls { windows: std::mem::take(&mut select.named_window), unknown: false };
    let _ = select.visit(&mut calls);
    if calls.unknown {
        // The planner names what is missing.
        select.named_window = calls.windows;
    }
}

struct Calls {
    windows: Vec<NamedWindowDefinition>,
    unknown: bool,
}

impl VisitorMut for Calls {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::Function(function) = expr
            && let Some(over) = &mut function.over
        {
            let found = match &*over {
                WindowType::NamedWindow(name) => self.named(&name.value, self.windows.len()),
                WindowType::WindowSpec(spec) => self.whole(spec, self.windows.len()),
            };
            match found {
                Some(spec) => *over = WindowType::WindowSpec(spec),
                None => self.unknown = true,
            }
        }
        ControlFlow::Continue(())
    }
}

impl Calls {
    /// Returns a named window. `depth`: names that may lead to others, so that a circle ends.
    fn named(&self, name: &str, depth: usize) -> Option<WindowSpec> {
        let definition = self.windows.iter().find(|of| of.0.value.eq_ignore_ascii_case(name))?;
        match &definition.1 {
            NamedWindowExpr::NamedWindow(other) => self.named(&other.value, depth.checked_sub(1)?),
            NamedWindowExpr::WindowSpec(spec) => self.whole(spec, depth.checked_sub(1)?),
        }
    }

    /// Returns a window with the parts that it takes from another.
    fn whole(&self, spec: &WindowSpec, depth: usize) -> Option<WindowSpec> {
        let mut spec = spec.clone();
        if let Some(name) = spec.window_name.take() {
            let base = self.named(&name.value, depth)?;
            spec.partition_by = base.partition_by;
            if spec.order_by.is_empty() {
                spec.order_by = base.order_by;
            }
            spec.window_frame = spec.window_frame.or(base.window_frame);
        }
        Some(spec)
    }
}
