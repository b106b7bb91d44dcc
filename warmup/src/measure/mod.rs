//! Measurements of a service: started, loaded at a fixed rate, stopped.

pub mod classes;
pub mod first_seconds;
pub mod service;
