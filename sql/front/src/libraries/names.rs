//! Names of functions of class libraries, which any case finds: `GEO.cell(..)` is the class `Geo.cell`. The planner
//! compares names of several parts as they are spelled.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use datafusion::sql::parser::Statement as Parsed;
use datafusion::sql::sqlparser::ast::{Expr, Ident, ObjectName, ObjectNamePart, visit_expressions_mut};

/// Names of classes, by their names in small letters.
#[derive(Default)]
pub struct Names(BTreeMap<String, String>);

impl Names {
    /// Adds a class; returns false if there is one of this name.
    pub fn add(&mut self, class: &str) -> bool {
        let before = self.0.len();
        self.0.entry(class.to_lowercase()).or_insert_with(|| class.to_string());
        self.0.len() > before
    }

    /// Writes the names of functions in a statement as the classes have them.
    pub fn replace(&self, statement: &mut Parsed) {
        if self.0.is_empty() {
            return;
        }
        match statement {
            Parsed::Statement(sql) => {
                let _: ControlFlow<()> = visit_expressions_mut(&mut **sql, |of| {
                    if let Expr::Function(function) = of
                        && let Some(name) = self.class_of(&function.name)
                    {
                        function.name = name;
                    }
                    ControlFlow::Continue(())
                });
            }
            Parsed::Explain(explain) => self.replace(&mut explain.statement),
            _ => {}
        }
    }

    fn class_of(&self, name: &ObjectName) -> Option<ObjectName> {
        let parts: Option<Vec<&str>> = name.0.iter().map(|part| part.as_ident().map(|of| &of.value[..])).collect();
        let class = self.0.get(&parts?.join(".").to_lowercase())?;
        let span = name.0.first().and_then(ObjectNamePart::as_ident)?.span;
        let ident = |part: &str| ObjectNamePart::Identifier(Ident { value: part.into(), quote_style: None, span });
        Some(ObjectName(class.split('.').map(ident).collect()))
    }
}
