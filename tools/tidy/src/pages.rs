//! Pages and file heads: paths exist, links lead somewhere, a source file says what it is.

use crate::code::quoted_paths;
use crate::tree::Tree;

/// A path in ARCHITECTURE.md exists, from the root or from one of the sources.
pub fn paths(tree: &Tree) -> Vec<String> {
    let named = quoted_paths(tree.architecture());
    let gone =
        named.into_iter().filter(|path| !tree.has(path) && !["dist/", "build/"].iter().any(|p| path.starts_with(p)));
    gone.map(|path| format!("ARCHITECTURE.md names {path}, which is not there")).collect()
}

/// A relative link in a .md file leads somewhere; a page of docs/ that a source file names exists.
pub fn links(tree: &Tree) -> Vec<String> {
    let mut complaints = Vec::new();
    for (path, text) in tree.texts() {
        let folder = path.rfind('/').map_or("", |at| &path[..at]);
        if path.ends_with(".md") {
            // Code in fences may look like a link.
            let text: String = text.split("```").step_by(2).collect();
            for (at, _) in text.match_indices("](") {
                let target = text[at + 2..].split([')', '#', ' ']).next().unwrap();
                if !target.is_empty() && !target.contains("://") && !tree.has(&joined(folder, target)) {
                    complaints.push(format!("{path}: the link to {target} leads nowhere"));
                }
            }
        } else if [".rs", ".h", ".hpp", ".cpp", ".py", ".toml"].iter().any(|end| path.ends_with(end)) {
            for (at, _) in text.match_indices("docs/") {
                let page: String =
                    text[at..].chars().take_while(|c| c.is_ascii_alphanumeric() || "/-_.".contains(*c)).collect();
                let page = page.trim_end_matches('.');
                if page.starts_with("docs/")
                    && page.contains('.')
                    && !path.starts_with("tools/tidy/")
                    && !tree.has(page)
                {
                    complaints.push(format!("{path} names {page}, which is not there"));
                }
            }
        }
    }
    complaints
}

/// A source file begins by saying what it is.
pub fn opening(tree: &Tree) -> Vec<String> {
    let silent = |text: &str| {
        let head: String = text.lines().take_while(|line| line.starts_with("//!") && line.len() > 3).collect();
        !head.contains(['.', ':'])
    };
    tree.rust()
        .filter(|(_, text)| silent(text))
        .map(|(path, _)| format!("{path} does not begin with a sentence (`//! ..`)"))
        .collect()
}

fn joined(folder: &str, target: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|p| !p.is_empty()).collect();
    for part in target.split('/').filter(|p| !p.is_empty() && *p != ".") {
        match part {
            ".." => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::small::{finds, tree};

    #[test]
    fn names_that_lead_nowhere_are_found() {
        let house = |text: &str| {
            tree(&[
                ("ARCHITECTURE.md", text),
                ("engine/src/map/a.rs", ""),
                ("docs/guide/a.md", "[b](../../engine/src/map/a.rs#x)"),
            ])
        };
        assert!(paths(&house("`map/a.rs`, `engine/src/map/`, `docs/guide/`, `dist/bin/yunti`, `a / b`")).is_empty());
        assert_eq!(paths(&house("`map/b.rs`")).len(), 1);
        assert!(links(&house("")).is_empty());
        finds(links, &[("docs/a.md", "see [b](b.md)")], "b.md leads nowhere");
        finds(links, &[("engine/src/map/a.rs", "//! See docs/gone.md.")], "docs/gone.md");
    }

    #[test]
    fn silent_files_are_found() {
        for text in ["", "use std::io;", "// A comment.", "//!\n//! Late.", "/// Not of the file.\nfn f() {}"] {
            finds(opening, &[("engine/src/map/a.rs", text)], "does not begin with a sentence");
        }
    }
}
