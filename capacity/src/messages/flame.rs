//! Stacks of a profile, as `yunti observe flame --json` prints them.

use serde_json::Value;

/// Call paths with their values.
pub struct Profile {
    /// Names of frames; paths refer to them.
    pub names: Vec<String>,
    /// Value of each path, and its frames, outermost first.
    pub paths: Vec<(u64, Vec<usize>)>,
    /// Sum of all values.
    pub total: u64,
    /// Samples behind the values.
    pub samples: u64,
    pub seconds: f64,
}

impl Profile {
    /// Parses the document; `None` if it is another one.
    pub fn of(document: &Value) -> Option<Profile> {
        let tree = &document["tree"];
        let names = tree["names"].as_array()?.iter().map(|n| n.as_str().map(str::to_owned)).collect::<Option<_>>()?;
        let mut profile = Profile {
            names,
            paths: Vec::new(),
            total: 0,
            samples: document["samples"].as_u64()?,
            seconds: document["seconds"].as_f64()?,
        };
        // Parents come before their children. A row is (parent, name, kind, total, own).
        let mut rows: Vec<(Option<usize>, usize)> = Vec::new();
        for (index, row) in tree["nodes"].as_array()?.iter().enumerate() {
            let cell = |column: usize| row[column].as_u64();
            let parent = cell(0).and_then(|parent| usize::try_from(parent).ok());
            let name = usize::try_from(cell(1)?).ok().filter(|name| *name < profile.names.len())?;
            if parent.is_none() != (index == 0) || parent.is_some_and(|parent| parent >= index) {
                return None;
            }
            rows.push((parent, name));
            let own = cell(4)?;
            if index == 0 {
                profile.total = cell(3)?;
            }
            if own > 0 {
                profile.paths.push((own, path(&rows, index)));
            }
        }
        (!rows.is_empty()).then_some(profile)
    }
}

/// Returns the names from below the root to a node.
fn path(rows: &[(Option<usize>, usize)], node: usize) -> Vec<usize> {
    let (mut names, mut at) = (Vec::new(), node);
    while let (Some(parent), name) = rows[at] {
        names.push(name);
        at = parent;
    }
    names.reverse();
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn reads_paths() {
        let profile = Profile::of(&json!({
            "samples": 6, "seconds": 2.5,
            "tree": {
                "names": ["all", "a", "b"],
                "nodes": [[null, 0, 0, 6, 0], [0, 1, 0, 6, 1], [1, 2, 0, 5, 3], [2, 1, 0, 2, 2]],
            },
        }));
        let profile = profile.unwrap();
        assert_eq!((profile.total, profile.samples), (6, 6));
        assert_eq!(profile.paths, [(1, vec![1]), (3, vec![1, 2]), (2, vec![1, 2, 1])]);
    }

    #[test]
    fn refuses_other_documents() {
        let nodes = |nodes: Value| json!({"samples": 1, "seconds": 1.0, "tree": {"names": ["all"], "nodes": nodes}});
        for wrong in [
            json!({}),
            nodes(json!([])),
            nodes(json!([[null, 5, 0, 1, 1]])),
            nodes(json!([[null, 0, 0, 1, 1], [7, 0, 0, 1, 1]])),
            nodes(json!([[null, 0, 0, 1, 1], [null, 0, 0, 1, 1]])),
        ] {
            assert!(Profile::of(&wrong).is_none(), "{wrong}");
        }
    }
}
