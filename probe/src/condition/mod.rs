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

#[cfg(test)]
mod tests;
