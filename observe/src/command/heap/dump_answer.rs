//! Findings about a heap as sentence, tables, treemap and JSON.

use serde_json::{Value, json};
use yunti_heap::Heap;
use yunti_heap::answer::summary::{Change, Summary};
use yunti_heap::answer::suspects::{Large, Suspect};
use yunti_heap::answer::threads::HeldByThread;
use yunti_heap::answer::waste::{SameClasses, Waste};
use yunti_probe::answer::{Answer, Listing, Part, Table, Treemap, bytes, percent};

/// Parts of the treemap.
pub const PARTS_MAX: usize = 60;

/// Findings of one dump.
pub struct Findings {
    pub large: Large,
    pub threads: Vec<HeldByThread>,
    pub growth: Option<Growth>,
    pub wastes: Vec<Waste>,
    pub same_classes: Option<SameClasses>,
    pub top: usize,
}

/// Changes since an earlier dump.
pub struct Growth {
    before: u64,
    after: u64,
    changes: Vec<Change>,
}

impl Growth {
    pub fn of(new: &Summary, old: &Summary) -> Growth {
        Growth { before: old.total.bytes, after: new.total.bytes, changes: new.changes(old) }
    }

    fn sentence(&self) -> String {
        let moved = format!("from {} to {}", bytes(self.before), bytes(self.after));
        match self.changes.first().filter(|change| change.bytes > 0) {
            Some(most) => format!(
                "the heap changed {moved}; {} grew most: by {} objects, {}",
                most.class,
                signed(most.objects),
                signed_bytes(most.bytes)
            ),
            None => format!("the heap changed {moved}; no class grew"),
        }
    }

    fn table(&self, top: usize) -> Table {
        let row = |change: &Change| {
            let held = if change.held == 0 { String::new() } else { signed_bytes(change.held) };
            vec![signed(change.objects), signed_bytes(change.bytes), held, change.class.clone()]
        };
        Table {
            title: "Changes since the earlier dump".to_owned(),
            columns: vec![("objects", true), ("bytes", true), ("held by the largest", true), ("class", false)],
            rows: self.changes.iter().map(row).collect(),
            shown: top,
        }
    }
}

pub fn signed(n: i64) -> String {
    format!("{}{}", if n < 0 { "-" } else { "+" }, grouped(n.unsigned_abs()))
}

pub fn signed_bytes(n: i64) -> String {
    format!("{}{}", if n < 0 { "-" } else { "+" }, bytes(n.unsigned_abs()))
}

pub fn render(heap: &Heap, findings: &Findings, answer: &mut Answer) {
    let total = heap.total();
    let Findings { large, threads, growth, wastes, same_classes, top } = findings;
    answer.notes.extend(heap.notes.iter().cloned());
    answer.lead = match &large.suspects[..] {
        [] => nothing_large(large, total.bytes),
        [first, rest @ ..] => {
            let also = rest.iter().map(|suspect| format!("Also: {}", sentence(suspect, total.bytes)));
            answer.notes.extend(also);
            sentence(first, total.bytes)
        }
    };
    if let Some(growth) = growth {
        let lead = std::mem::replace(&mut answer.lead, growth.sentence());
        answer.notes.insert(0, format!("Now: {lead}"));
        answer.tables.push(growth.table(*top));
    }
    answer.notes.push(format!(
        "{} objects of {} in {} classes; {} objects of {} are garbage and left out.",
        grouped(total.objects),
        bytes(total.bytes),
        grouped(heap.classes.list.len() as u64),
        grouped(heap.garbage.objects),
        bytes(heap.garbage.bytes),
    ));
    answer.tables.push(Table {
        title: "Objects that hold most, below the roots".to_owned(),
        columns: vec![("retained", true), ("share", true), ("object", false)],
        rows: large
            .tops
            .iter()
            .map(|top| vec![bytes(top.bytes), percent(top.bytes, total.bytes), top.name.clone()])
            .collect(),
        shown: *top,
    });
    answer.tables.push(Table {
        title: "Classes by the bytes of their objects".to_owned(),
        columns: vec![("objects", true), ("bytes", true), ("share", true), ("class", false)],
        rows: histogram(heap)
            .into_iter()
            .map(|(name, objects, own)| vec![grouped(objects), bytes(own), percent(own, total.bytes), name.to_owned()])
            .collect(),
        shown: *top,
    });
    answer.tables.push(Table {
        title: "Threads by what they hold".to_owned(),
        columns: vec![("retained", true), ("thread", false), ("largest local variables", false)],
        rows: threads
            .iter()
            .map(|thread| {
                let locals = thread.locals.iter().map(|local| format!("{} {}", local.name, bytes(local.bytes)));
                vec![bytes(thread.bytes), thread.name.clone(), locals.collect::<Vec<_>>().join(", ")]
            })
            .collect(),
        shown: *top,
    });
    answer.tables.push(Table {
        title: "Waste".to_owned(),
        columns: vec![("objects", true), ("bytes", true), ("kind", false)],
        rows: wastes
            .iter()
            .map(|waste| {
                let about = if waste.is_estimate { "about " } else { "" };
                vec![format!("{about}{}", grouped(waste.objects)), bytes(waste.bytes), waste.kind.clone()]
            })
            .collect(),
        shown: *top,
    });
    if let Some(SameClasses { loaders, classes, example }) = same_classes {
        answer.notes.push(format!(
            "{loaders} class loaders have the same {classes} classes, such as {example}: an application that was \
             loaded again may not be free."
        ));
    }
    answer.listings.push(Listing {
        title: "What keeps the suspects alive".to_owned(),
        of: large.suspects.iter().map(|suspect| (suspect.name.clone(), suspect.steps.clone())).collect(),
    });
    answer.listings.push(Listing {
        title: "Stacks of the threads that hold most".to_owned(),
        of: threads
            .iter()
            .filter(|thread| !thread.frames.is_empty())
            .map(|thread| (format!("{} {}", bytes(thread.bytes), thread.name), thread.frames.clone()))
            .collect(),
    });
    let mut parts: Vec<Part> = large
        .tops
        .iter()
        .take(PARTS_MAX)
        .enumerate()
        .map(|(i, top)| Part { name: top.name.clone(), value: top.bytes, words: bytes(top.bytes), colour: Some(i) })
        .collect();
    let rest = total.bytes.saturating_sub(parts.iter().map(|part| part.value).sum());
    parts.push(Part { name: "the rest".to_owned(), value: rest, words: bytes(rest), colour: None });
    answer.treemaps.push(Treemap { title: "Retained bytes".to_owned(), parts });
}

/// Returns the sentence about a suspect.
fn sentence(suspect: &Suspect, total: u64) -> String {
    let held_in = suspect.held_in.as_ref().map_or_else(String::new, |field| format!(" in {field}"));
    let entries = match (&suspect.entries, &suspect.entry_class) {
        (Some(entries), Some(class)) => format!(" ({} entries of {class})", grouped(*entries)),
        (Some(entries), None) => format!(" ({} entries)", grouped(*entries)),
        _ => String::new(),
    };
    let alive = match suspect.steps.get(1..) {
        Some([]) | None => String::new(),
        Some(steps) => {
            let shown: Vec<&str> = steps.iter().take(4).map(String::as_str).collect();
            let more = if steps.len() > shown.len() { " <- .." } else { "" };
            format!("; it is kept alive by {}{more}", shown.join(" <- "))
        }
    };
    format!("{} of {} are held by {}{held_in}{entries}{alive}", bytes(suspect.bytes), bytes(total), suspect.name)
}

fn nothing_large(large: &Large, total: u64) -> String {
    match large.tops.first() {
        Some(top) => format!(
            "no single object holds much of {}: the largest, {}, holds {}",
            bytes(total),
            top.name,
            percent(top.bytes, total)
        ),
        None => "no object is held".to_owned(),
    }
}

/// Returns name, objects and bytes of each class that has objects, by bytes.
fn histogram(heap: &Heap) -> Vec<(&str, u64, u64)> {
    let classes = heap.classes.list.iter().zip(&heap.totals);
    let mut rows: Vec<_> = classes
        .filter(|(_, total)| total.objects > 0)
        .map(|(class, total)| (&*class.name, total.objects, total.bytes))
        .collect();
    rows.sort_by_key(|&(name, objects, bytes)| (std::cmp::Reverse((bytes, objects)), name));
    rows
}

pub fn facts(heap: &Heap, findings: &Findings) -> Value {
    let total = heap.total();
    let Findings { large, threads, .. } = findings;
    json!({
        "objects": total.objects,
        "bytes": total.bytes,
        "garbage_objects": heap.garbage.objects,
        "garbage_bytes": heap.garbage.bytes,
        "suspects": large.suspects.iter().map(|suspect| json!({
            "object": suspect.name,
            "id": suspect.id,
            "retained_bytes": suspect.bytes,
            "held_in": suspect.held_in,
            "entries": suspect.entries,
            "entry_class": suspect.entry_class,
            "path": suspect.steps,
        })).collect::<Vec<_>>(),
        "changes": findings.growth.as_ref().map(|growth| growth.changes.iter().map(|change| json!({
            "class": change.class, "objects": change.objects, "bytes": change.bytes, "held_bytes": change.held,
        })).collect::<Vec<_>>()),
        "wastes": findings.wastes.iter().map(|waste| json!({
            "kind": waste.kind, "objects": waste.objects, "bytes": waste.bytes, "is_estimate": waste.is_estimate,
        })).collect::<Vec<_>>(),
        "same_classes": findings.same_classes.as_ref().map(|same| json!({
            "loaders": same.loaders, "classes": same.classes, "example": same.example,
        })),
        "dominators": large.tops.iter().map(|top| json!({
            "object": top.name, "id": top.id, "class": top.class, "retained_bytes": top.bytes,
        })).collect::<Vec<_>>(),
        "classes": histogram(heap).into_iter().map(|(name, objects, bytes)| json!({
            "class": name, "objects": objects, "bytes": bytes,
        })).collect::<Vec<_>>(),
        "threads": threads.iter().map(|thread| json!({
            "thread": thread.name,
            "id": thread.id,
            "retained_bytes": thread.bytes,
            "frames": thread.frames,
            "locals": thread.locals.iter().map(|local| json!({
                "object": local.name, "retained_bytes": local.bytes, "frame": local.frame,
            })).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
    })
}

/// Formats a count with commas: `312,455`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped() {
        for (n, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1234567, "1,234,567")] {
            assert_eq!(grouped(n), text);
        }
    }

    #[test]
    fn the_sentence_names_holder_and_path() {
        let suspect = Suspect {
            name: "java.util.HashMap @0x10".to_owned(),
            bytes: 2_100_000_000,
            held_in: Some("static field shop.Cache.ENTRIES".to_owned()),
            entries: Some(312_455),
            entry_class: Some("shop.Order".to_owned()),
            steps: vec!["java.util.HashMap @0x10".to_owned(), "class shop.Cache static ENTRIES".to_owned()],
            ..Suspect::default()
        };
        assert_eq!(
            sentence(&suspect, 2_400_000_000),
            "2.10 GB of 2.40 GB are held by java.util.HashMap @0x10 in static field shop.Cache.ENTRIES (312,455 \
             entries of shop.Order); it is kept alive by class shop.Cache static ENTRIES"
        );
    }
}
