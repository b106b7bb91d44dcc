//! Paths from sampled objects up to their roots, equal ones together.

use std::collections::HashMap;

use serde_json::{Value, json};
use yunti_probe::answer::Table;
use yunti_program::text::numbers::count as grouped;

use crate::jvm::OldObject;

/// Steps of a path that a row shows at each end.
const STEPS_SHOWN: usize = 6;

/// Objects of one class with the same way to a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    pub object: OldObject,
    pub count: u64,
}

/// Returns the paths of objects, the most frequent first.
pub fn paths(objects: Vec<OldObject>) -> Vec<Path> {
    let mut counts: HashMap<(String, Vec<String>), Path> = HashMap::new();
    for object in objects {
        let key = (object.class.clone(), object.steps.clone());
        counts.entry(key).or_insert(Path { object, count: 0 }).count += 1;
    }
    let mut paths: Vec<Path> = counts.into_values().collect();
    paths.sort_by(|a, b| {
        let key = |path: &Path| (path.object.class.clone(), path.object.steps.clone());
        b.count.cmp(&a.count).then_with(|| key(a).cmp(&key(b)))
    });
    paths
}

pub fn table(paths: &[Path], top: usize) -> Table {
    Table {
        title: "What keeps sampled objects alive".to_owned(),
        columns: vec![("sampled", true), ("object, and what refers to it, up to a root", false)],
        rows: paths.iter().map(|path| vec![grouped(path.count), words(&path.object)]).collect(),
        shown: top,
    }
}

fn words(object: &OldObject) -> String {
    let OldObject { class, steps, root } = object;
    let root = (!root.is_empty()).then(|| format!("root: {root}"));
    let mut shown: Vec<&str> = std::iter::once(class).chain(steps).chain(&root).map(String::as_str).collect();
    if shown.len() > 2 * STEPS_SHOWN {
        shown.splice(STEPS_SHOWN..shown.len() - STEPS_SHOWN, [".."]);
    }
    shown.join(" <- ")
}

pub fn facts(paths: &[Path]) -> Vec<Value> {
    let path = |path: &Path| {
        let OldObject { class, steps, root } = &path.object;
        json!({"class": class, "objects": path.count, "path": steps, "root": root})
    };
    paths.iter().map(path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_paths_are_one_row() {
        let object = |class: &str, steps: &[&str]| OldObject {
            class: class.to_owned(),
            steps: steps.iter().map(|&step| step.to_owned()).collect(),
            root: "Stack Variable".to_owned(),
        };
        let ticket = object("Ticket", &[".table java.util.HashMap", "static OPEN of class Desk"]);
        let found = paths(vec![object("Page", &[]), ticket.clone(), ticket.clone()]);
        let rows = table(&found, 9).rows;
        let row = "Ticket <- .table java.util.HashMap <- static OPEN of class Desk <- root: Stack Variable";
        assert_eq!(rows, [["2", row], ["1", "Page <- root: Stack Variable"]]);
        let long: Vec<String> = (0..30).map(|n| n.to_string()).collect();
        let steps: Vec<&str> = long.iter().map(String::as_str).collect();
        assert!(words(&object("A", &steps)).contains("4 <- .. <- 25"));
    }
}
