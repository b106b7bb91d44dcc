//! Parser of demands: JSON in, checked demands or one error out.

use yunti_base::Result;

use super::check::{check, wrong};
use super::{Demands, Template};

/// Bytes of the largest text that is read: thousands of templates need about one megabyte.
const TEXT_BYTES_MAX: usize = 64 << 20;

/// Returns the demands in a JSON text. Unknown fields are ignored and missing optional ones get their default.
///
/// An error has the code `Input`: text that is no JSON, another version, or numbers that no service can have.
pub fn parse(text: &str) -> Result<Demands> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(wrong(format!("{} bytes are more than the limit of {TEXT_BYTES_MAX}", text.len())));
    }
    let mut demands: Demands = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
    // A request without a step tells nothing: a measurement that began in the middle of it.
    demands.templates.retain(|template: &Template| !template.steps.is_empty());
    check(&demands)?;
    let available = demands.processors.available();
    if let Some(gc) = &mut demands.gc {
        gc.shorten_pauses(available);
    }
    Ok(demands)
}
