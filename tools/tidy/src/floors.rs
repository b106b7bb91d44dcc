//! Imports go down the floors of ARCHITECTURE.md, in every crate.
//!
//! ```text
//!   ```floors engine/src      a block a crate; the highest floor first
//!    9  job
//!    7  read map reduce       modules of one floor may import each other, but not in a circle
//!    beside  abi              sees what is on the floor of `operator` and below, and only the highest floor sees it
//! ```

use std::collections::{BTreeMap, BTreeSet};

use crate::code::{code_of, imports};
use crate::tree::Tree;

/// The floors of one crate.
struct Floors<'a> {
    /// `engine/src/`
    source: String,
    floor_of: BTreeMap<&'a str, usize>,
    beside: BTreeSet<&'a str>,
}

/// Every crate of the checkout has floors, and its imports follow them.
pub fn floors(tree: &Tree) -> Vec<String> {
    let crates: Vec<Floors<'_>> = blocks(tree.architecture());
    let mut complaints = Vec::new();
    if crates.is_empty() {
        complaints.push("ARCHITECTURE.md has no ```floors".into());
    }
    for path in tree.0.keys().filter(|path| path.ends_with("/src/lib.rs") || path.ends_with("/src/main.rs")) {
        let source = &path[..path.rfind('/').map_or(0, |at| at + 1)];
        // A workspace of its own for fuzzing has targets and no modules.
        if !source.starts_with("fuzz/") && !crates.iter().any(|c| c.source == source) {
            complaints.push(format!("{source} has no ```floors in ARCHITECTURE.md"));
        }
    }
    crates.iter().for_each(|floors| check(tree, floors, &mut complaints));
    complaints.sort();
    complaints.dedup();
    complaints
}

fn blocks(text: &str) -> Vec<Floors<'_>> {
    let mut found = Vec::new();
    for part in text.split("```floors ").skip(1) {
        let (source, rest) = part.split_once('\n').unwrap_or((part, ""));
        let mut floors =
            Floors { source: format!("{}/", source.trim()), floor_of: BTreeMap::new(), beside: BTreeSet::new() };
        for line in rest.split("```").next().unwrap_or_default().lines() {
            let mut words = line.split_whitespace();
            match words.next().map(|first| (first, first.parse::<usize>())) {
                Some(("beside", _)) => floors.beside.extend(words),
                Some((_, Ok(number))) => floors.floor_of.extend(words.map(|word| (word, number))),
                _ => {}
            }
        }
        found.push(floors);
    }
    found
}

fn check(tree: &Tree, floors: &Floors<'_>, complaints: &mut Vec<String>) {
    let Floors { source, floor_of, beside } = floors;
    for name in floor_of.keys().chain(beside) {
        if !tree.has(&format!("{source}{name}/")) && !tree.has(&format!("{source}{name}.rs")) {
            complaints.push(format!("there is no {source}{name}"));
        }
    }
    let highest = floor_of.values().copied().max().unwrap_or(0);
    // What a module beside the floors may see.
    let seen_from_beside = floor_of.get("operator").copied().unwrap_or(0);
    let mut level: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (path, text) in tree.rust() {
        let Some((module, _)) = path.strip_prefix(&**source).and_then(|p| p.split_once(['/', '.'])) else { continue };
        if module == "lib" || module == "main" {
            continue;
        }
        let own = floor_of.get(module).copied();
        if own.is_none() && !beside.contains(module) {
            complaints.push(format!("{path}: {module} has no floor in ARCHITECTURE.md"));
            continue;
        }
        let code = code_of(text);
        let mut targets = imports(&code, "crate::");
        if path[source.len()..].matches('/').count() == 0 {
            targets.extend(imports(&code, "super::"));
        }
        for target in targets {
            let known = floor_of.get_key_value(&*target).map(|(t, to)| (*t, Some(*to)));
            let Some((target, to)) = known.or(beside.get(&*target).map(|t| (*t, None))) else { continue };
            if target == module {
                continue;
            }
            let allowed = match (own, to) {
                (Some(own), Some(to)) if own == to => {
                    level.entry(floor_of.get_key_value(module).unwrap().0).or_default().insert(target);
                    true
                }
                (Some(own), Some(to)) => to < own,
                (Some(own), None) => own >= highest,
                (None, Some(to)) => to <= seen_from_beside,
                (None, None) => false,
            };
            if !allowed {
                complaints.push(format!("{path}: {module} imports {target}, which is not below it"));
            }
        }
    }
    for &start in level.keys() {
        let mut seen = BTreeSet::new();
        let mut ahead: Vec<&str> = level[start].iter().copied().collect();
        while let Some(next) = ahead.pop() {
            if next == start {
                complaints.push(format!("{source}{start} imports itself in a circle of its floor"));
                break;
            }
            if seen.insert(next) {
                ahead.extend(level.get(next).into_iter().flatten());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::small::{finds, house, tree};

    #[test]
    fn finds_imports_that_run_up() {
        for text in [
            "use crate::job::Plan;",
            "use crate::{bytes::Error, job::{self, Plan}};",
            "fn f() { crate::job::f() }",
            "/* no */ const S: &str = r#\"\"\"#; use crate::job::Plan;",
        ] {
            finds(floors, &[("engine/src/map/a.rs", text)], "map imports job");
        }
        finds(floors, &[("engine/src/abi/a.rs", "use crate::read::X;")], "abi imports read");
        finds(floors, &[("engine/src/map/a.rs", "use crate::abi::X;")], "map imports abi");
        finds(floors, &[("engine/src/new/mod.rs", "")], "new has no floor");
        for text in [
            "// use crate::job::Plan;",
            "//! crate::job",
            "const S: &str = \"crate::job \\\" crate::job\";",
            "use crate::Top;",
        ] {
            assert!(floors(&house(&[("engine/src/map/a.rs", text)])).is_empty(), "{text}");
        }
        let circle =
            house(&[("engine/src/map/a.rs", "use crate::read::X;"), ("engine/src/read/a.rs", "use crate::map::X;")]);
        assert_eq!(floors(&circle).len(), 2, "{:?}", floors(&circle));
        assert_eq!(floors(&tree(&[("ARCHITECTURE.md", "")])).len(), 1);
    }

    #[test]
    fn every_crate_has_floors() {
        finds(floors, &[("tools/x/src/lib.rs", "//! A crate.\n")], "tools/x/src/ has no ```floors");
        let page = "```floors cli/src\n 2 a\n 1 b\n```\n";
        let files = |text: &'static str| {
            tree(&[("ARCHITECTURE.md", page), ("cli/src/main.rs", ""), ("cli/src/a.rs", ""), ("cli/src/b.rs", text)])
        };
        assert!(floors(&files("")).is_empty());
        assert!(floors(&files("use super::a::X;"))[0].contains("b imports a"));
    }
}
