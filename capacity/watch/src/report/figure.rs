//! Figures for readers: values with units, changes in percent, names that fit.

use yunti_program::text::numbers::{bytes, milliseconds, three};

use crate::compare::Figure;

/// Returns a value with its unit.
pub fn value(figure: Figure, value: f64) -> String {
    match figure {
        Figure::CpuPerRequest | Figure::P99 => milliseconds(value),
        Figure::BytesPerRequest => bytes(value.round() as u64),
        Figure::Peak => format!("{}/s", three(value)),
    }
}

/// Returns a change: 0.051 is `+5.1 %`.
pub fn change(part: f64) -> String {
    format!("{:+.1} %", part * 100.0)
}

/// Returns a time, or `-`.
pub fn ms(value: f64) -> String {
    if value < 0.0005 { "0 ms".into() } else { milliseconds(value) }
}
