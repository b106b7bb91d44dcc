//! Entry of a store: a slice by its name alone.

use crate::slice::{Facts, Measure};
use crate::time::{DAY_MS, TIME_MS_MAX, date_of, parse_date, parse_time, time_of};

/// End of the name of a slice.
const EXTENSION: &str = ".slice";

/// Slice of a store, by its name alone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Unix time of the beginning in milliseconds, cut to a second.
    pub begin_ms: u64,
    /// Name of the service.
    pub service: String,
    /// Length in seconds, rounded up.
    pub seconds: u64,
    /// Measures with a cost.
    pub measures: Vec<Measure>,
    /// Hash of host, container and process.
    pub process: u32,
    /// Size of the file in bytes.
    pub bytes: u64,
}

impl Entry {
    /// Returns the entry that a slice gets; its size is unknown.
    pub(super) fn of(facts: &Facts, measures: Vec<Measure>) -> Entry {
        let service = &facts.service;
        let pid = service.pid.to_string();
        Entry {
            begin_ms: facts.begin_ms.min(TIME_MS_MAX) / 1000 * 1000,
            service: service.name.clone(),
            seconds: facts.duration_ms.div_ceil(1000),
            measures,
            process: hash(&[&service.host, &service.container, &pid]),
            bytes: 0,
        }
    }

    /// Returns the path below the store: `shop/2026-11-28/031000-30s-cpu+alloc-1a2b3c4d.slice`.
    pub fn id(&self) -> String {
        let measures: Vec<&str> = self.measures.iter().map(|measure| measure.name()).collect();
        let measures = if measures.is_empty() { "none".to_string() } else { measures.join("+") };
        format!(
            "{}/{}/{}-{}s-{measures}-{:08x}{EXTENSION}",
            folder_of(&self.service),
            date_of(self.begin_ms),
            time_of(self.begin_ms),
            self.seconds,
            self.process
        )
    }

    /// Parses the parts of a path below the store; `None` for files that are no slices.
    pub(super) fn parse(service: &str, day: &str, name: &str, bytes: u64) -> Option<Entry> {
        let mut parts = name.strip_suffix(EXTENSION)?.split('-');
        let begin_ms = parse_date(day)? + parse_time(parts.next()?)?;
        let seconds = parts.next()?.strip_suffix('s')?.parse().ok()?;
        let measures = match parts.next()? {
            "none" => Vec::new(),
            names => names.split('+').map(Measure::from_name).collect::<Option<_>>()?,
        };
        let process = u32::from_str_radix(parts.next()?, 16).ok()?;
        let service = service_of(service)?;
        let entry = Entry { begin_ms, service, seconds, measures, process, bytes };
        // A name in any other form would have a second path.
        (parts.next().is_none() && entry.id().ends_with(&format!("/{day}/{name}"))).then_some(entry)
    }

    /// Returns the Unix time of the end in milliseconds, up to two seconds late.
    pub fn end_ms(&self) -> u64 {
        self.begin_ms.saturating_add(self.seconds.saturating_add(1).saturating_mul(1000))
    }
}

/// Selection of slices. The default selects all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Name of the service.
    pub service: Option<String>,
    /// Unix time in milliseconds; slices begin then or later.
    pub from_ms: Option<u64>,
    /// Unix time in milliseconds; slices begin earlier.
    pub to_ms: Option<u64>,
    /// Measure that slices have a cost of.
    pub measure: Option<Measure>,
    /// Release label; the beginning of each file is read for it.
    pub release: Option<String>,
    /// Host; the beginning of each file is read for it.
    pub host: Option<String>,
}

impl Query {
    pub(super) fn has_service(&self, name: &str) -> bool {
        self.service.as_ref().is_none_or(|wanted| wanted == name)
    }

    /// Returns false if all slices of a day are too early or too late.
    pub(super) fn has_day(&self, begin_ms: u64) -> bool {
        self.from_ms.is_none_or(|from| from < begin_ms + DAY_MS) && self.to_ms.is_none_or(|to| begin_ms < to)
    }

    /// Returns true if the name of a slice fits.
    pub(super) fn has_entry(&self, entry: &Entry) -> bool {
        self.has_service(&entry.service)
            && self.from_ms.is_none_or(|from| from <= entry.begin_ms)
            && self.to_ms.is_none_or(|to| entry.begin_ms < to)
            && self.measure.is_none_or(|measure| entry.measures.contains(&measure))
    }

    pub(super) fn needs_facts(&self) -> bool {
        self.release.is_some() || self.host.is_some()
    }

    pub(super) fn has_facts(&self, facts: &Facts) -> bool {
        self.release.as_ref().is_none_or(|release| *release == facts.service.release)
            && self.host.as_ref().is_none_or(|host| *host == facts.service.host)
    }
}

/// Returns the folder of a service: letters, digits and `._-+@` stay, other bytes become `%41`. It never begins with a
/// dot.
pub(super) fn folder_of(service: &str) -> String {
    if service.is_empty() {
        return "%".into();
    }
    let mut folder = String::new();
    for (at, byte) in service.bytes().enumerate() {
        let stays = byte.is_ascii_alphanumeric() || b"_-+@".contains(&byte) || (byte == b'.' && at > 0);
        if stays {
            folder.push(char::from(byte));
        } else {
            folder += &format!("%{byte:02X}");
        }
    }
    folder
}

/// Returns the service of a folder, or `None` for a folder that no service has.
pub(super) fn service_of(folder: &str) -> Option<String> {
    if folder == "%" {
        return Some(String::new());
    }
    let mut bytes = Vec::new();
    let mut rest = folder.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &rest[2..];
    }
    let service = String::from_utf8(bytes).ok()?;
    (folder_of(&service) == folder).then_some(service)
}

/// FNV-1a, a hash that stays the same over releases. A zero byte ends each part.
fn hash(parts: &[&str]) -> u32 {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0]));
    bytes.fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_round_trip() {
        for (service, folder) in [
            ("shop", "shop"),
            ("com.example.Main", "com.example.Main"),
            ("../x y", "%2E.%2Fx%20y"),
            ("", "%"),
            ("%", "%25"),
            ("händler", "h%C3%A4ndler"),
        ] {
            assert_eq!((folder_of(service).as_str(), service_of(folder).as_deref()), (folder, Some(service)));
        }
        for wrong in [".", "..", "a%2", "a%zz", "%2e.", "%41", "%FF", "a b", "%+1"] {
            assert_eq!(service_of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn ids_round_trip() {
        let mut facts = Facts { begin_ms: 1_795_835_400_123, duration_ms: 29_500, ..Facts::default() };
        facts.service.name = "shop/a".into();
        for measures in [vec![], vec![Measure::Cpu], vec![Measure::Cpu, Measure::Lock]] {
            let entry = Entry::of(&facts, measures);
            let id = entry.id();
            let parts: Vec<&str> = id.split('/').collect();
            assert_eq!(Entry::parse(parts[0], parts[1], parts[2], 0), Some(entry), "{id}");
        }
        for wrong in
            ["031000-30s-cpu-1a2b3c4d", "031000-030s-cpu-1a2b3c4d.slice", "031000-30s-cpu-1A2b3c4d.slice", ".x"]
        {
            assert_eq!(Entry::parse("shop", "2026-11-28", wrong, 0), None, "{wrong}");
        }
    }
}
