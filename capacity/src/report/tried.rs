//! Numbers of clients that were tried, beside what the curve predicts.

use serde::Serialize;
use yunti_model::curve::Curve;
use yunti_program::terminal::paint::Paint;
use yunti_program::text::numbers;
use yunti_program::text::table::{Side, Table};

use super::marks::between;

/// Result of a closed loop with a number of clients.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tried {
    pub clients: usize,
    pub per_second: f64,
    pub mean_ms: f64,
    pub errors: u64,
    /// Requests a second on the curve.
    pub predicted: f64,
}

/// Returns the simulated requests a second at a number of clients.
pub fn predicted(curve: &Curve, clients: f64) -> f64 {
    between(curve, clients, |point| point.simulated.per_second)
}

/// Returns the tries as a table; empty without any.
pub fn table(tried: &[Tried], paint: Paint) -> String {
    if tried.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&[
        ("clients tried", Side::Right),
        ("requests/s", Side::Right),
        ("predicted", Side::Right),
        ("difference", Side::Right),
        ("mean ms", Side::Right),
        ("errors", Side::Right),
    ]);
    for one in tried {
        table.row(vec![
            one.clients.to_string(),
            numbers::three(one.per_second),
            numbers::three(one.predicted),
            format!("{:+.0} %", (one.predicted / one.per_second.max(1e-9) - 1.0) * 100.0),
            numbers::three(one.mean_ms),
            if one.errors > 0 { one.errors.to_string() } else { String::new() },
        ]);
    }
    table.print(paint)
}
