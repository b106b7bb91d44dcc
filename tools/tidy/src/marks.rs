//! Marks of unfinished work, and paths of one machine.

use crate::tree::Tree;

pub fn unfinished(tree: &Tree) -> Vec<String> {
    // In two halves, so that this file does not find itself.
    let marks = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("todo", "!("),
        concat!("unimpl", "emented!("),
        concat!("#[ig", "nore"),
    ];
    let mut complaints = mentions(tree, &marks, "is unfinished");
    // A line that waits for a figure: @NAME@.
    let waits = |line: &str| line.len() > 2 && line.starts_with('@') && line.ends_with('@') && !line.contains(' ');
    for (path, text) in tree.texts().filter(|(path, _)| path.ends_with(".md")) {
        complaints.extend(text.lines().filter(|l| waits(l)).map(|line| format!("{path}: {line} is not filled in")));
    }
    complaints
}

pub fn machine_paths(tree: &Tree) -> Vec<String> {
    let paths = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/fa", "rm/"), concat!("/ho", "me/")];
    mentions(tree, &paths, "is a path of one machine")
}

/// A path of one machine begins there: within another path (`$out/..`) it is none.
fn mentions(tree: &Tree, words: &[&str], what: &str) -> Vec<String> {
    let goes_on = |before: &str| before.ends_with(|c: char| c.is_alphanumeric() || "_})".contains(c));
    let found = |line: &str, word: &str| {
        line.match_indices(word).any(|(at, _)| !word.starts_with('/') || !goes_on(&line[..at]))
    };
    let mut complaints = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| *path != "LICENSE" && !path.ends_with(".lock")) {
        for (n, line) in text.lines().enumerate() {
            if let Some(word) = words.iter().find(|w| found(line, w)) {
                complaints.push(format!("{path}:{}: {word} {what}", n + 1));
            }
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::small::{finds, house};

    #[test]
    fn marks_are_found() {
        finds(unfinished, &[("api/a.hpp", concat!("// TO", "DO: more"))], "is unfinished");
        finds(unfinished, &[("README.md", "# A\n@FIGURE@\n")], "not filled in");
        finds(machine_paths, &[("README.md", concat!("cd /wo", "rk/main"))], "a path of one machine");
        assert!(machine_paths(&house(&[("a/run", concat!("\"$out/wo", "rk/x\""))])).is_empty());
    }
}
