//! Resources that a change names.

use yunti_base::{Code, Error, Result};

use crate::demands::{Demands, ResourceKind};

/// Names in an error, at most.
const LISTED_MAX: usize = 12;

/// Returns the ids of resources whose kind fits and whose name holds a text, in any case of letters.
///
/// An error lists the names that there are.
pub fn find(demands: &Demands, kind: Option<ResourceKind>, name: Option<&str>) -> Result<Vec<u32>> {
    let wanted = name.map(str::to_lowercase);
    let of_kind = || demands.resources.iter().filter(|resource| kind.is_none_or(|kind| resource.kind == kind));
    let ids: Vec<u32> = of_kind()
        .filter(|resource| wanted.as_ref().is_none_or(|wanted| resource.name.to_lowercase().contains(wanted)))
        .map(|resource| resource.id)
        .collect();
    if !ids.is_empty() {
        return Ok(ids);
    }
    let what = kind.map_or("resource", ResourceKind::name);
    let named = name.map_or(String::new(), |name| format!(" with '{name}' in its name"));
    let names: Vec<&str> = of_kind().map(|resource| resource.name.as_str()).collect();
    Err(missing(&format!("no {what}{named}"), &names))
}

/// Returns the error of something that is not there, with what is there.
pub fn missing(what: &str, names: &[&str]) -> Error {
    let hint = match names.len() {
        0 => "the measurement saw none".to_string(),
        n if n > LISTED_MAX => format!("there are {} and {} more", names[..LISTED_MAX].join(", "), n - LISTED_MAX),
        1 => format!("there is {}", names[0]),
        _ => format!("there are {}", names.join(", ")),
    };
    Error::new(Code::Usage, what).hint(hint)
}
