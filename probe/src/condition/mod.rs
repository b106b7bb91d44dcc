//! Conditions over the arguments of calls: expressions that become instructions for programs in the kernel.
//!
//! ```text
//!   expression.rs   text of the user -> a tree with signs; its value, as a reference
//!   compile.rs      the tree -> instructions (assembler.rs)
//!   load.rs         instructions -> the kernel, which checks them
//! ```

pub mod assembler;
pub mod compile;
pub mod expression;
pub mod load;

use expression::{Expression, Variable};

/// Keys of a grouping, at most.
pub const KEYS_MAX: usize = 4;

/// Conditions of a place: calls that are recorded, and how they are counted.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    /// Parts that must all hold.
    pub when: Vec<Expression>,
    /// Counts by groups.
    pub grouping: Option<Grouping>,
}

/// Counts of calls by values.
#[derive(Clone, Debug)]
pub struct Grouping {
    /// Values that the calls of a group share, at most [`KEYS_MAX`].
    pub keys: Vec<Key>,
    /// Value that is summed up.
    pub sum: Option<Expression>,
    /// True if each call is recorded, with its stack; else they are only counted, in the kernel.
    pub has_stack: bool,
}

/// Value that the calls of a group share.
#[derive(Clone, Debug)]
pub enum Key {
    /// Process, by its number.
    Process,
    /// Thread, by its number.
    Thread,
    /// Value of an expression.
    Value(Expression),
}

impl Key {
    /// Returns its value as an expression.
    pub fn expression(&self) -> Expression {
        let of = |variable| Expression::Variable { variable, is_signed: false };
        match self {
            Key::Process => of(Variable::Pid),
            Key::Thread => of(Variable::Tid),
            Key::Value(expression) => expression.clone(),
        }
    }
}

impl Conditions {
    /// Returns true if all calls are recorded.
    pub fn is_empty(&self) -> bool {
        self.when.is_empty() && self.grouping.is_none()
    }

    /// Returns true if an expression uses the variable.
    pub fn uses(&self, variable: Variable) -> bool {
        let mut grouped = self.grouping.iter().flat_map(|grouping| {
            let keys = grouping.keys.iter().map(Key::expression);
            keys.chain(grouping.sum.clone())
        });
        self.when.iter().any(|part| part.uses(variable)) || grouped.any(|value| value.uses(variable))
    }

    /// Returns true if they are decided when a call ends.
    pub fn needs_end(&self) -> bool {
        self.uses(Variable::Return) || self.uses(Variable::Time)
    }

    /// Returns true if calls are counted when they begin, so that their ends need not be seen.
    pub fn ignores_end(&self) -> bool {
        self.only_counts() && !self.needs_end()
    }

    /// Returns true if calls are only counted.
    pub fn only_counts(&self) -> bool {
        self.grouping.as_ref().is_some_and(|grouping| !grouping.has_stack)
    }
}

#[cfg(test)]
mod tests;
