//! Sizes and names: files and folders that have grown past comfort, names that say nothing.

use std::collections::BTreeMap;

use crate::tree::{ENGINE, Tree, is_source};

const LINES_MAX: usize = 700;
const ENTRIES_MAX: usize = 14;

pub fn long_files(tree: &Tree) -> Vec<String> {
    let long = tree.texts().filter(|(path, text)| is_source(path) && text.lines().count() > LINES_MAX);
    long.map(|(path, text)| format!("{path} has {} lines; at most {LINES_MAX}", text.lines().count())).collect()
}

/// Folders with more entries than a reader takes in at once.
pub fn crowded_folders(tree: &Tree) -> Vec<String> {
    let mut entries: BTreeMap<&str, usize> = BTreeMap::new();
    for path in tree.0.keys().filter(|path| path.ends_with('/') || is_source(path)) {
        let whole = path.trim_end_matches('/');
        *entries.entry(&whole[..whole.rfind('/').map_or(0, |at| at + 1)]).or_default() += 1;
    }
    // The engine has a folder a floor; a package of Java is a folder by its own rules, and headers are an interface.
    let is_free = |folder: &str| {
        folder == ENGINE || folder.is_empty() || folder.contains("/java/") || folder.starts_with("api/include/")
    };
    let crowded = entries.into_iter().filter(|(folder, n)| *n > ENTRIES_MAX && !is_free(folder));
    crowded.map(|(folder, n)| format!("{folder} has {n} entries; at most {ENTRIES_MAX}: give it sub-folders")).collect()
}

pub fn vague_names(tree: &Tree) -> Vec<String> {
    const VAGUE: &[&str] = &["utils", "util", "helpers", "helper", "common", "misc", "stuff"];
    let stem =
        |path: &str| path.trim_end_matches('/').rsplit('/').next().unwrap().split('.').next().unwrap().to_string();
    tree.0
        .keys()
        .filter(|path| VAGUE.contains(&&*stem(path)))
        .map(|path| format!("{path}: name it by what it is"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::small::finds;

    #[test]
    fn sizes_and_names_are_found() {
        finds(long_files, &[("cli/src/a.rs", &"x\n".repeat(LINES_MAX + 1))], "lines");
        let files: Vec<(String, &str)> = (0..=ENTRIES_MAX).map(|n| (format!("cli/src/a{n}.rs"), "")).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, *text)).collect();
        finds(crowded_folders, &files, "15 entries");
        finds(vague_names, &[("cli/src/utils.rs", "")], "name it by what it is");
    }
}
