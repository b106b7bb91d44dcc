//! `yunti run --list`: the ready applications in groups, with a line each.

use serde_json::{Value, json};
use yunti_engine::job::{application, applications};

use crate::text::named_line;

/// Groups of applications by the user's task, with the names of the applications.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Sort and copy", &["sort", "terasort", "distinct", "identity", "top", "sample"]),
    ("Search", &["grep", "inverted-index"]),
    ("Columns", &["aggregate", "select", "filter"]),
    ("Count", &["wordcount", "count-column", "count-matches", "word-lengths"]),
    ("Join", &["join", "hash-join"]),
    ("Iterate", &["kmeans", "pagerank"]),
];

/// Width of the names, in columns.
const NAME_WIDTH: usize = 14;

/// Returns the list as text.
pub fn text() -> String {
    let mut out = String::new();
    for (group, names) in GROUPS {
        out += &format!("{group}:\n");
        for application in names.iter().filter_map(|name| application(name)) {
            out += &named_line(NAME_WIDTH, application.name, application.summary);
        }
        out.push('\n');
    }
    out + "Settings and examples: yunti run --help; your own classes: yunti run --lib x.so --mapper Library.Class ..\n"
}

/// Returns the list as JSON: an array of `{group, name, summary, settings: [{key, meaning}]}`.
pub fn document() -> Value {
    let group_of = |name: &str| GROUPS.iter().find(|(_, names)| names.contains(&name)).map(|(group, _)| *group);
    let rows = applications().iter().map(|application| {
        let settings = application.settings.iter().map(|(key, meaning)| json!({ "key": key, "meaning": meaning }));
        json!({
            "group": group_of(application.name),
            "name": application.name,
            "summary": application.summary,
            "settings": settings.collect::<Vec<_>>(),
        })
    });
    rows.collect::<Vec<_>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_application_is_in_one_group() {
        let listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        for application in applications() {
            assert_eq!(listed.iter().filter(|name| **name == application.name).count(), 1, "{}", application.name);
        }
        assert_eq!(listed.len(), applications().len());
        assert!(text().lines().all(|line| line.chars().count() <= 120));
    }
}
