//! Whole numbers by a function that has no result for some of them.

use yunti_engine::columns::expression::{Side, zip};

/// Returns the results of all rows, or the number of the first row that has none and is not null.
pub fn checked(
    side: Side<'_, i64>,
    rows: usize,
    nulls: Option<&[bool]>,
    one: impl Fn(i64) -> Option<i64>,
) -> Result<Vec<i64>, usize> {
    let mut fails = false;
    let values = zip(side, Side::One(()), rows, |value, ()| {
        let value = one(value);
        fails |= value.is_none();
        value.unwrap_or(0)
    });
    let at = |row: usize| match side {
        Side::Many(values) => values[row],
        Side::One(value) => value,
    };
    let is_null = |row: usize| nulls.is_some_and(|nulls| nulls[row]);
    let failed = fails.then(|| (0..rows).find(|&row| !is_null(row) && one(at(row)).is_none())).flatten();
    failed.map_or(Ok(values), Err)
}
