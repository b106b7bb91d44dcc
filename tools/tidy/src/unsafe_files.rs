//! `unsafe` is in listed files alone, with reasons.

use std::collections::BTreeSet;

use crate::code::{block, code_of, has_word, quoted_paths};
use crate::tree::{ENGINE, Tree};

/// `unsafe` stands in listed files alone, which say so in their heads; each block has its SAFETY line.
pub fn unsafe_files(tree: &Tree) -> Vec<String> {
    let mut complaints = Vec::new();
    let listed: BTreeSet<String> = quoted_paths(block(tree.architecture(), "## Files with `unsafe`", "\n## "));
    let tops = [
        "api/",
        "engine/",
        "cli/",
        "base/",
        "machine/",
        "observe/",
        "formats/",
        "probe/",
        "hadoop/",
        "namenode/",
        "python/",
        "sql/",
        "table/",
        "warmup/",
    ];
    let is_whole = |path: &str| tops.iter().any(|top| path.starts_with(top));
    let full = |path: &String| if is_whole(path) { path.clone() } else { format!("{ENGINE}{path}") };
    let listed: BTreeSet<String> = listed.iter().map(full).collect();
    let mut used = BTreeSet::new();
    for (path, text) in tree.rust().filter(|(path, _)| *path != "tools/tidy/src/unsafe_files.rs") {
        let code = code_of(text);
        if !has_word(&code, "unsafe") {
            continue;
        }
        used.insert(path.to_string());
        if !text.lines().take_while(|l| l.starts_with("//!")).any(|l| l.contains("One of the listed files")) {
            complaints.push(format!(
                "{path} has `unsafe` and does not say why in its head (\"One of the listed files with `unsafe`: ..\")"
            ));
        }
        if !listed.contains(path) {
            complaints.push(format!("{path} has `unsafe` and is not listed in ARCHITECTURE.md"));
        }
        let lines: Vec<&str> = text.lines().collect();
        for (n, line) in code.lines().enumerate().filter(|(_, l)| l.contains("unsafe {") || l.contains("unsafe impl")) {
            let above = lines[n.saturating_sub(6)..=n].iter().any(|l| l.contains("SAFETY"));
            if !above && !lines[..n].iter().any(|l| l.contains("SAFETY of this file")) {
                complaints.push(format!("{path}:{}: no SAFETY line: {}", n + 1, line.trim()));
            }
        }
    }
    complaints
        .extend(listed.difference(&used).map(|path| format!("ARCHITECTURE.md lists {path}, which has no `unsafe`")));
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::small::{FLOORS, finds, house};

    #[test]
    fn unsafe_is_found_where_it_is_not_listed() {
        let good = "//! A.\n//! One of the listed files with `unsafe`: x.\n// SAFETY: x.\nfn f() { unsafe { g() } }\n";
        let listed = format!("{FLOORS}## Files with `unsafe`\n`bytes/a.rs`\n## Tests\n");
        let house = |text: &str| house(&[("ARCHITECTURE.md", &listed), ("engine/src/bytes/a.rs", text)]);
        assert!(unsafe_files(&house(good)).is_empty(), "{:?}", unsafe_files(&house(good)));
        assert!(unsafe_files(&house(&good.replace("One of", "None of")))[0].contains("does not say why"));
        assert!(unsafe_files(&house(&good.replace("SAFETY", "S")))[0].contains("no SAFETY line"));
        assert!(
            unsafe_files(&house("//! A. unsafe\n#![deny(unsafe_op_in_unsafe_fn)]\n"))[0].contains("has no `unsafe`")
        );
        finds(unsafe_files, &[("engine/src/bytes/b.rs", good)], "not listed");
    }
}
