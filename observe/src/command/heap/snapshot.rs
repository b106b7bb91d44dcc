//! Heap snapshot of V8: read, analysed and answered.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde_json::{Value, json};
use yunti_base::{Code, Error};
use yunti_heap::v8::{ClassOf, Holder, Snapshot, is_snapshot};
use yunti_probe::answer::{Answer, Listing, bytes};
use yunti_probe::stopping::End;
use yunti_program::failure::Outcome;
use yunti_program::text::numbers::count as grouped;

use super::HeapFlags;
use super::holders::{PARTS_MAX, classes_table, kept_alive, of_the_largest, tops_table, treemap};

/// Bytes of a file that tell its format.
const BEGIN: u64 = 256;

/// Returns true for a file that begins as a snapshot does.
pub fn is_file(path: &Path) -> bool {
    let mut begin = Vec::new();
    File::open(path).and_then(|file| file.take(BEGIN).read_to_end(&mut begin)).is_ok() && is_snapshot(&begin)
}

pub fn snapshot(flags: &HeapFlags) -> Outcome {
    if let Some(option) = flags.of_a_dump().filter(|option| *option != "--threads") {
        return Err(Error::new(Code::Usage, format!("{option} is for heap dumps of JVMs"))
            .at_path(flags.target.to_string_lossy())
            .hint("leave it out: a snapshot of V8 has the table of classes and what holds most")
            .into());
    }
    let snapshot = Snapshot::read(&flags.target)?;
    let mut answer = Answer::of_file("heap", flags.target.to_string_lossy().into_owned());
    let (holders, classes) = (snapshot.holders(), snapshot.classes());
    render(&snapshot, &holders, &classes, usize::from(flags.top), &mut answer);
    answer.give(&flags.answer, End::Enough, facts(&snapshot, &holders, &classes))
}

fn render(snapshot: &Snapshot, holders: &[Holder], classes: &[ClassOf], top: usize, answer: &mut Answer) {
    let total = snapshot.total();
    let tops = snapshot.tops(top.max(PARTS_MAX));
    let tops: Vec<(String, u64)> =
        tops.into_iter().map(|node| (snapshot.name(node), snapshot.retained(node))).collect();
    let mut sentences = holders.iter().map(|holder| sentence(holder, total));
    answer.lead = sentences.next().unwrap_or_else(|| of_the_largest(&tops, total));
    answer.notes.extend(sentences.map(|sentence| format!("Also: {sentence}")));
    let (unreached, of_unreached) = snapshot.unreached();
    let objects: u64 = classes.iter().map(|class| class.objects).sum();
    answer.notes.push(format!(
        "{} objects of {} in {} classes; {} objects of {} are held by nothing and left out.",
        grouped(objects),
        bytes(total),
        grouped(classes.len() as u64),
        grouped(unreached),
        bytes(of_unreached)
    ));
    answer.tables.push(tops_table(&tops, total, top));
    let rows = classes.iter().map(|class| (&*class.name, class.objects, class.bytes));
    answer.tables.push(classes_table(rows, total, top));
    answer.listings.push(Listing {
        title: "What keeps the suspects alive".to_owned(),
        of: holders.iter().map(|holder| (holder.name.clone(), holder.steps.clone())).collect(),
    });
    answer.treemaps.push(treemap(&tops, total));
}

/// Returns the sentence about a suspect.
fn sentence(holder: &Holder, total: u64) -> String {
    let holds = holder.holds.first().map_or_else(String::new, |(class, count, _)| match count {
        1 => String::new(),
        count => format!(" ({} of {class})", grouped(*count)),
    });
    let alive = kept_alive(&holder.steps);
    format!("{} of {} are held by {}{holds}{alive}", bytes(holder.bytes), bytes(total), holder.name)
}

fn facts(snapshot: &Snapshot, holders: &[Holder], classes: &[ClassOf]) -> Value {
    let (unreached, of_unreached) = snapshot.unreached();
    json!({
        "objects": classes.iter().map(|class| class.objects).sum::<u64>(),
        "bytes": snapshot.total(),
        "garbage_objects": unreached,
        "garbage_bytes": of_unreached,
        "suspects": holders.iter().map(|holder| json!({
            "object": holder.name,
            "id": holder.id,
            "retained_bytes": holder.bytes,
            "holds": holder.holds.iter().map(|(class, objects, bytes)| json!({
                "class": class, "objects": objects, "retained_bytes": bytes,
            })).collect::<Vec<_>>(),
            "path": holder.steps,
        })).collect::<Vec<_>>(),
        "dominators": snapshot.tops(PARTS_MAX).into_iter().map(|node| json!({
            "object": snapshot.name(node), "id": snapshot.id(node), "class": snapshot.class(node),
            "retained_bytes": snapshot.retained(node),
        })).collect::<Vec<_>>(),
        "classes": classes.iter().map(|class| json!({
            "class": class.name, "objects": class.objects, "bytes": class.bytes,
        })).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_has_what_is_held_and_by_what() {
        let holder = Holder {
            name: "Map @17".to_owned(),
            id: 17,
            bytes: 90_000_000,
            holds: vec![("Session".to_owned(), 12_000, 80_000_000)],
            steps: ["Map @17", "system / Context @3 variable sessions", "root: (GC roots)"].map(str::to_owned).to_vec(),
        };
        assert_eq!(
            sentence(&holder, 100_000_000),
            "90.0 MB of 100.0 MB are held by Map @17 (12,000 of Session); it is kept alive by system / Context @3 \
             variable sessions <- root: (GC roots)"
        );
    }
}
