//! No circle between files: of two files that import each other, one cannot be read or changed alone.
//!
//! Imports through `crate::`, `super::` and `self::` are followed to files. A module and the folder above it may name
//! each other: `mod.rs` lists its parts, and they use what it declares.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::{code_of, paths_behind};
use crate::tree::Tree;

/// Returns one complaint for each group of files that import each other.
pub fn circles(tree: &Tree) -> Vec<String> {
    let mut complaints = Vec::new();
    let sources: BTreeSet<&str> = tree
        .0
        .keys()
        .filter(|path| path.ends_with("/src/lib.rs") || path.ends_with("/src/main.rs"))
        .map(|path| &path[..path.rfind('/').map_or(0, |at| at + 1)])
        .collect();
    for source in sources {
        let files = modules(tree, source);
        let edges: BTreeMap<&str, BTreeSet<&str>> =
            files.iter().map(|(module, text)| (&**module, targets(module, text, &files))).collect();
        for group in groups(&edges) {
            let names: Vec<String> = group.iter().map(|m| format!("{source}{}", m.replace("::", "/"))).collect();
            complaints.push(format!("these files import each other: {}", names.join(", ")));
        }
    }
    complaints
}

/// Modules of a crate by their path (`command::run`), with their code. Tests are left out.
fn modules<'a>(tree: &'a Tree, source: &str) -> BTreeMap<String, String> {
    let files = tree.rust().filter_map(|(path, text): (&'a str, &'a str)| Some((path.strip_prefix(source)?, text)));
    let is_test = |path: &str| path.ends_with("_test.rs") || path.ends_with("tests.rs") || path.contains("/tests/");
    files
        .filter(|(path, _)| !is_test(path))
        .map(|(path, text)| {
            let text = text.find("#[cfg(test)]\nmod tests").map_or(text, |at| &text[..at]);
            let module = path.trim_end_matches(".rs").trim_end_matches("/mod");
            (module.replace('/', "::"), code_of(text))
        })
        .filter(|(module, _)| module != "lib" && module != "main")
        .collect()
}

/// The files that a file imports, without the folders above it and its own parts.
fn targets<'f>(module: &str, code: &str, files: &'f BTreeMap<String, String>) -> BTreeSet<&'f str> {
    let mut found = BTreeSet::new();
    let parents: Vec<&str> = module.split("::").collect();
    // `super` is the module above, `self` is this one.
    let starts = [("crate::", 0), ("self::", parents.len()), ("super::super::", parents.len().saturating_sub(2))];
    let mut bases: Vec<(&str, Vec<&str>)> =
        starts.iter().map(|(prefix, n)| (*prefix, parents[..*n].to_vec())).collect();
    bases.push(("super::", parents[..parents.len() - 1].to_vec()));
    for (prefix, base) in bases {
        for path in paths_behind(code, prefix) {
            let words: Vec<&str> = base.iter().copied().chain(path.split("::")).collect();
            let longest = (1..=words.len()).rev().find_map(|n| files.get_key_value(&words[..n].join("::")));
            found.extend(longest.map(|(name, _)| &**name));
        }
    }
    let related = |other: &str| {
        other == module || other.starts_with(&format!("{module}::")) || module.starts_with(&format!("{other}::"))
    };
    found.retain(|other| !related(other));
    found
}

/// Strongly connected groups of more than one module.
fn groups<'e>(edges: &BTreeMap<&'e str, BTreeSet<&'e str>>) -> Vec<BTreeSet<&'e str>> {
    let reached = |start: &'e str| {
        let mut seen = BTreeSet::new();
        let mut ahead: Vec<&'e str> = edges.get(start).into_iter().flatten().copied().collect();
        while let Some(next) = ahead.pop() {
            if seen.insert(next) {
                ahead.extend(edges.get(next).into_iter().flatten());
            }
        }
        seen
    };
    let all: BTreeMap<&str, BTreeSet<&str>> = edges.keys().map(|module| (*module, reached(module))).collect();
    let mut found: Vec<BTreeSet<&str>> = Vec::new();
    for (&module, reach) in &all {
        if !reach.contains(module) || found.iter().any(|group| group.contains(module)) {
            continue;
        }
        found.push(reach.iter().copied().filter(|other| all.get(other).is_some_and(|r| r.contains(module))).collect());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::small::tree;

    fn check(files: &[(&str, &str)], expect: &[&str]) {
        let mut all = vec![("cli/src/main.rs", "")];
        all.extend(files);
        assert_eq!(circles(&tree(&all)), expect, "{files:?}");
    }

    #[test]
    fn finds_files_that_import_each_other() {
        let circle = "these files import each other: cli/src/a, cli/src/b/c";
        check(&[("cli/src/a.rs", "use crate::b::c::X;"), ("cli/src/b/c.rs", "use crate::a::{Y, Z};")], &[circle]);
        check(
            &[("cli/src/a.rs", "use super::b::{c::X};"), ("cli/src/b/c.rs", "fn f() { super::super::a::f() }")],
            &[circle],
        );
        check(&[("cli/src/a.rs", "use crate::b::c::X;"), ("cli/src/b/c.rs", "use super::d::X;")], &[]);
    }

    #[test]
    fn a_folder_and_its_parts_may_name_each_other() {
        check(&[("cli/src/a/mod.rs", "use self::b::X;\npub struct Y;"), ("cli/src/a/b.rs", "use super::Y;")], &[]);
        check(
            &[("cli/src/a.rs", "#[cfg(test)]\nmod tests { use crate::b; }"), ("cli/src/b.rs", "use crate::a::X;")],
            &[],
        );
    }
}
