//! Choice of a service, and of its slices at a time.

use jiff::tz::TimeZone;
use yunti_base::{Code, Error, Result};
use yunti_record::{Entry, Query, Slice};

use super::source::Source;
use super::when::{Span, SpanKind, clock};

/// Longest slice in milliseconds, with the short rest of a period that is joined with it.
pub const SLICE_MS_MAX: u64 = 2 * 3_600_000;
/// Names listed in an error.
const SHOWN_MAX: usize = 8;

/// Returns the one service of a source that a name selects: equal to it, else with it in its name.
///
/// @param name `None` for the only service
pub fn choose(entries: &[Entry], name: Option<&str>) -> Result<String> {
    let mut all: Vec<&str> = entries.iter().map(|entry| entry.service.as_str()).collect();
    all.sort_unstable();
    all.dedup();
    let list = |names: &[&str]| {
        let more = if names.len() > SHOWN_MAX { ", .." } else { "" };
        format!("{}{more}", names[..names.len().min(SHOWN_MAX)].join(", "))
    };
    let fitting: Vec<&str> = match name {
        Some(name) if all.contains(&name) => vec![name],
        Some(name) => all.iter().copied().filter(|service| service.contains(name)).collect(),
        None => all.clone(),
    };
    match (&fitting[..], name) {
        ([one], _) => Ok((*one).to_owned()),
        ([], _) if all.is_empty() => {
            Err(Error::new(Code::Input, "the store has no slices").hint("`yunti observe record status` shows why"))
        }
        ([], name) => Err(Error::new(Code::Input, format!("no service is called '{}'", name.unwrap_or_default()))
            .hint(format!("the store has {}", list(&all)))),
        (several, _) => Err(Error::new(Code::Usage, format!("{} services fit", several.len()))
            .hint(format!("name one of {}", list(several)))),
    }
}

/// Returns the slices of a service that overlap a time. Without any, the error names the nearest.
pub fn slices_at(source: &Source, service: &str, span: &Span, zone: &TimeZone) -> Result<Vec<Entry>> {
    let all = source.list(&Query { service: Some(service.to_owned()), ..Query::default() })?;
    if source.is_file() {
        return Ok(all);
    }
    let overlaps = |entry: &&Entry| entry.begin_ms < span.to_ms && entry.end_ms() > span.from_ms;
    let found: Vec<Entry> = all.iter().filter(overlaps).cloned().collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let before = all.iter().filter(|entry| entry.end_ms() <= span.from_ms).max_by_key(|entry| entry.begin_ms);
    // The present slice is not written yet.
    if let (SpanKind::Now, Some(last)) = (span.kind, before) {
        return Ok(vec![last.clone()]);
    }
    let after = all.iter().filter(|entry| entry.begin_ms >= span.to_ms).min_by_key(|entry| entry.begin_ms);
    let nearest: Vec<String> = before.into_iter().chain(after).map(|entry| clock(entry.begin_ms, zone)).collect();
    let error = Error::new(Code::Input, format!("there is no slice of {service} at {}", span.text(zone)));
    Err(match &nearest[..] {
        [] => error.hint("the store has no slice of this service"),
        [one] => error.hint(format!("the nearest is at {one}")),
        several => error.hint(format!("the nearest are at {}", several.join(" and "))),
    })
}

/// Reads slices and passes on each. Damaged ones are left out and reported in `skips`.
pub fn take(source: &Source, entries: &[Entry], skips: &mut Vec<String>, mut each: impl FnMut(Slice)) -> Result<()> {
    let (mut damaged, mut first) = (0, None);
    for entry in entries {
        match source.read(entry) {
            Ok(slice) => each(slice),
            Err(e) if e.code() == Code::Corrupt => {
                damaged += 1;
                first.get_or_insert(e);
            }
            // It was removed after it was listed.
            Err(e) if e.code() == Code::Input && entries.len() > 1 => {}
            Err(e) => return Err(e),
        }
    }
    match first {
        Some(e) if damaged == entries.len() => return Err(e),
        Some(e) => skips.push(format!("{damaged} damaged slices: {e}")),
        None => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chooses_one_service() {
        let entries: Vec<Entry> = ["cart", "shop", "shop-web", "shop"]
            .map(|service| Entry {
                begin_ms: 0,
                service: service.to_owned(),
                seconds: 1,
                measures: Vec::new(),
                process: 0,
                bytes: 0,
            })
            .to_vec();
        let check = |name, expected: &str| {
            let found = choose(&entries, name).unwrap_or_else(|e| e.to_string());
            assert!(found.contains(expected), "{name:?}: {found}");
        };
        check(Some("shop"), "shop");
        check(Some("web"), "shop-web");
        check(Some("sho"), "2 services fit");
        check(None, "3 services fit");
        check(Some("x"), "no service is called 'x'");
        assert_eq!(choose(&entries[..1], None).unwrap(), "cart");
        assert!(choose(&[], None).unwrap_err().to_string().contains("no slices"));
    }
}
