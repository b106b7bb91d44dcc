//! Findings about a heap as sentence, tables, treemap and JSON.

use serde_json::{Value, json};
use yunti_heap::Heap;
use yunti_heap::answer::groups::Group;
use yunti_heap::answer::loaders::{Loader, SameClasses};
use yunti_heap::answer::summary::{Change, Summary};
use yunti_heap::answer::suspects::Large;
use yunti_heap::answer::threads::HeldByThread;
use yunti_heap::answer::threads::kinds::KindOfThreads;
use yunti_heap::answer::tree::Branch;
use yunti_heap::answer::waste::Waste;
use yunti_probe::answer::{Answer, Line, Listing, Outline, Table, bytes, percent};
use yunti_program::text::numbers::count as grouped;

use super::figures::{signed, signed_bytes};
use super::holders::{classes_table, of_the_largest, tops_table, treemap};
use super::sentences::{of_group, of_kind, of_suspect};

/// Share of the heap from which on the threads of a kind have a sentence, in percent.
const LARGE_PERCENT: u64 = 5;

/// Holders of a kind of waste that a table shows.
const HOLDERS_SHOWN: usize = 2;

/// Findings of one dump.
pub struct Findings {
    pub large: Large,
    /// For a page only.
    pub tree: Vec<Branch>,
    pub threads: Vec<HeldByThread>,
    pub kinds_of_threads: Vec<KindOfThreads>,
    pub loaders: Vec<Loader>,
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

pub fn render(heap: &Heap, findings: &Findings, answer: &mut Answer) {
    let total = heap.total();
    let Findings { large, tree, threads, kinds_of_threads, loaders, growth, wastes, same_classes, top } = findings;
    answer.notes.extend(heap.notes.iter().cloned());
    let tops: Vec<(String, u64)> = large.tops.iter().map(|top| (top.name.clone(), top.bytes)).collect();
    let mut found = leads(large, total.bytes).into_iter();
    answer.lead = found.next().unwrap_or_else(|| of_the_largest(&tops, total.bytes));
    answer.notes.extend(found.map(|sentence| format!("Also: {sentence}")));
    let large_kinds = kinds_of_threads.iter().filter(|kind| kind.bytes * 100 >= total.bytes * LARGE_PERCENT);
    answer.notes.extend(large_kinds.map(of_kind));
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
    answer.tables.push(tops_table(&tops, total.bytes, *top));
    answer.tables.push(classes_table(histogram(heap).into_iter(), total.bytes, *top));
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
        title: "Threads of one kind by what they hold".to_owned(),
        columns: vec![
            ("retained", true),
            ("threads", true),
            ("of each", true),
            ("name", false),
            ("does", false),
            ("largest local variable", false),
        ],
        rows: kinds_of_threads
            .iter()
            .map(|kind| {
                let does =
                    kind.method.iter().fold(kind.state.to_owned(), |state, method| format!("{state} in {method}"));
                let local = kind.local.as_ref().map(|(class, held)| format!("{class} {}", bytes(*held)));
                vec![
                    bytes(kind.bytes),
                    grouped(kind.threads),
                    bytes(kind.bytes / kind.threads),
                    kind.name.clone(),
                    does,
                    local.unwrap_or_default(),
                ]
            })
            .collect(),
        shown: *top,
    });
    answer.tables.push(Table {
        title: "Class loaders by what they hold".to_owned(),
        columns: vec![
            ("retained", true),
            ("classes", true),
            ("objects", true),
            ("their bytes", true),
            ("alike", true),
            ("class loader", false),
        ],
        rows: loaders
            .iter()
            .map(|loader| {
                vec![
                    bytes(loader.retained),
                    grouped(loader.classes),
                    grouped(loader.objects),
                    bytes(loader.bytes),
                    if loader.alike > 1 { grouped(loader.alike) } else { String::new() },
                    loader.name.clone(),
                ]
            })
            .collect(),
        shown: *top,
    });
    answer.tables.push(Table {
        title: "Waste".to_owned(),
        columns: vec![("objects", true), ("bytes", true), ("kind", false), ("most of them in", false)],
        rows: wastes
            .iter()
            .map(|waste| {
                let about = if waste.is_estimate { "about " } else { "" };
                let texts: Vec<String> =
                    waste.texts.iter().map(|(text, copies)| format!("{text:?} {} times", grouped(*copies))).collect();
                let texts = if texts.is_empty() { String::new() } else { format!(": {}", texts.join(", ")) };
                vec![
                    format!("{about}{}", grouped(waste.objects)),
                    bytes(waste.bytes),
                    format!("{}{texts}", waste.kind),
                    waste.holders.iter().take(HOLDERS_SHOWN).cloned().collect::<Vec<_>>().join(", "),
                ]
            })
            .collect(),
        shown: *top,
    });
    if let Some(SameClasses { loaders, classes, example, bytes: held }) = same_classes {
        let same = match classes {
            1 => format!("class {example}"),
            _ => format!("{classes} classes, such as {example}"),
        };
        answer.notes.push(format!(
            "{loaders} class loaders have the same {same}, and hold {}: an application that was loaded again may not \
             be free.",
            bytes(*held)
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
    answer.treemaps.push(treemap(&tops, total.bytes));
    if !tree.is_empty() {
        let lines = tree.iter().map(|branch| line(branch, total.bytes)).collect();
        answer
            .outlines
            .push(Outline { title: "What holds what: open a line to see the objects below".to_owned(), lines });
    }
}

fn line(branch: &Branch, total: u64) -> Line {
    let mut below: Vec<Line> = branch.below.iter().map(|branch| line(branch, total)).collect();
    let rest = branch.bytes.saturating_sub(branch.below.iter().map(|branch| branch.bytes).sum());
    if !below.is_empty() {
        let text = "the object itself, and smaller ones below it".to_owned();
        below.push(Line { figures: figures(rest, total), text, below: Vec::new() });
    }
    Line { figures: figures(branch.bytes, total), text: branch.name.clone(), below }
}

fn figures(held: u64, total: u64) -> String {
    format!("{}  {}", bytes(held), percent(held, total))
}

/// Returns a sentence for each suspect and each group, the largest first.
fn leads(large: &Large, total: u64) -> Vec<String> {
    let suspects = large.suspects.iter().map(|suspect| (suspect.bytes, of_suspect(suspect, total)));
    let groups = large.groups.iter().map(|group| (group.bytes, of_group(group, total)));
    let mut sentences: Vec<(u64, String)> = suspects.chain(groups).collect();
    sentences.sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
    sentences.into_iter().map(|(_, sentence)| sentence).collect()
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
            "chain": suspect.chain.as_ref().map(|(class, field, objects)| json!({
                "class": class, "field": field, "objects": objects,
            })),
            "groups": groups(&suspect.groups),
        })).collect::<Vec<_>>(),
        "groups": groups(&large.groups),
        "changes": findings.growth.as_ref().map(|growth| growth.changes.iter().map(|change| json!({
            "class": change.class, "objects": change.objects, "bytes": change.bytes, "held_bytes": change.held,
        })).collect::<Vec<_>>()),
        "wastes": findings.wastes.iter().map(|waste| json!({
            "kind": waste.kind, "objects": waste.objects, "bytes": waste.bytes, "is_estimate": waste.is_estimate,
            "holders": waste.holders,
            "texts": waste.texts.iter().map(|(text, copies)| json!({"text": text, "copies": copies})).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "same_classes": findings.same_classes.as_ref().map(|same| json!({
            "loaders": same.loaders, "classes": same.classes, "example": same.example, "retained_bytes": same.bytes,
        })),
        "class_loaders": findings.loaders.iter().map(|loader| json!({
            "object": loader.name, "id": loader.id, "classes": loader.classes, "objects": loader.objects,
            "bytes": loader.bytes, "retained_bytes": loader.retained, "alike": loader.alike,
        })).collect::<Vec<_>>(),
        "kinds_of_threads": findings.kinds_of_threads.iter().map(|kind| json!({
            "name": kind.name, "threads": kind.threads, "state": kind.state, "method": kind.method,
            "retained_bytes": kind.bytes, "largest_local": kind.local.as_ref().map(|(class, bytes)| json!({
                "class": class, "retained_bytes": bytes,
            })),
        })).collect::<Vec<_>>(),
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

fn groups(groups: &[Group]) -> Vec<Value> {
    let group = |group: &Group| {
        json!({
            "class": group.class, "objects": group.objects, "retained_bytes": group.bytes, "holders": group.holders,
        })
    };
    groups.iter().map(group).collect()
}
