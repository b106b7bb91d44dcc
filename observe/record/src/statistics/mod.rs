//! Statistics of small series: tests, quantiles, false discoveries, change points. Nothing here knows a profile.

pub mod change_point;
pub mod discovery;
pub mod distribution;
pub mod linear;
pub mod median;
pub mod principal;
pub mod random;
pub mod rank;
