//! Parts of the answers about a dump and a snapshot alike: the objects that hold most, and the classes.

use yunti_probe::answer::{Part, Table, Treemap, bytes, percent};
use yunti_program::text::numbers::count;

/// Parts of the treemap.
pub const PARTS_MAX: usize = 60;
/// Steps of a path in a sentence.
const STEPS_NAMED: usize = 4;

/// Names and retained bytes of objects that the roots alone hold, the largest first.
pub type Tops<'a> = &'a [(String, u64)];

/// Returns the sentence of a heap without suspects.
pub fn of_the_largest(tops: Tops, total: u64) -> String {
    match tops.first() {
        Some((name, held)) => format!(
            "no single object holds much of {}: the largest, {name}, holds {}",
            bytes(total),
            percent(*held, total)
        ),
        None => "no object is held".to_owned(),
    }
}

/// Returns the references that keep an object alive, as the end of a sentence. The first step is the object.
pub fn kept_alive(steps: &[String]) -> String {
    match steps.get(1..) {
        Some([]) | None => String::new(),
        Some(steps) => {
            let shown: Vec<&str> = steps.iter().take(STEPS_NAMED).map(String::as_str).collect();
            let more = if steps.len() > shown.len() { " <- .." } else { "" };
            format!("; it is kept alive by {}{more}", shown.join(" <- "))
        }
    }
}

/// Returns the table of the objects that hold most.
pub fn tops_table(tops: Tops, total: u64, shown: usize) -> Table {
    Table {
        title: "Objects that hold most, below the roots".to_owned(),
        columns: vec![("retained", true), ("share", true), ("object", false)],
        rows: tops.iter().map(|(name, held)| vec![bytes(*held), percent(*held, total), name.clone()]).collect(),
        shown,
    }
}

/// Returns the table of classes by name, objects and bytes.
pub fn classes_table<'a>(classes: impl Iterator<Item = (&'a str, u64, u64)>, total: u64, shown: usize) -> Table {
    let row =
        |(name, objects, own): (&str, u64, u64)| vec![count(objects), bytes(own), percent(own, total), name.to_owned()];
    Table {
        title: "Classes by the bytes of their objects".to_owned(),
        columns: vec![("objects", true), ("bytes", true), ("share", true), ("class", false)],
        rows: classes.map(row).collect(),
        shown,
    }
}

/// Returns the treemap of the objects that hold most, and the rest.
pub fn treemap(tops: Tops, total: u64) -> Treemap {
    let part = |(i, (name, held)): (usize, &(String, u64))| Part {
        name: name.clone(),
        value: *held,
        words: bytes(*held),
        colour: Some(i),
    };
    let mut parts: Vec<Part> = tops.iter().take(PARTS_MAX).enumerate().map(part).collect();
    let rest = total.saturating_sub(parts.iter().map(|part| part.value).sum());
    parts.push(Part { name: "the rest".to_owned(), value: rest, words: bytes(rest), colour: None });
    Treemap { title: "Retained bytes".to_owned(), parts }
}
