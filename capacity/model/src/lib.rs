//! Capacity of a service: demands on resources, formulas, and a simulation of its queues.
//!
//! The crate is pure: demands in, answers out. It reads no clock and no file, and one seed gives one result.
//! Layers, highest first: `advice`, `what_if`, `curve`, `young`, `simulate` and `formulas`, `demands`.

pub mod advice;
pub mod curve;
pub mod demands;
pub mod formulas;
pub mod simulate;
pub mod what_if;
pub mod young;
