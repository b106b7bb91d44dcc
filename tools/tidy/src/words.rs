//! The words of pages, comments and messages: plain technical English (CONTRIBUTING.md, "How we write").

use crate::tree::Tree;

/// Words of no use to a reader in a hurry, in two halves each so that this file does not find itself.
const BANNED: &[&str] = &[
    concat!("to", "ld"),
    concat!("is as", "ked"),
    concat!("are as", "ked"),
    concat!("was as", "ked"),
    concat!("were as", "ked"),
    concat!("be as", "ked"),
    concat!("been as", "ked"),
    concat!("looked", " at"),
    concat!("who", "ever"),
    concat!("those", " that"),
    concat!("those", " who"),
    concat!("that", " of"),
    concat!("so", " many"),
    concat!("which of", " both"),
    concat!("mean", "while"),
];

/// A doc comment begins with the noun that the item is, or with a verb.
const FIRST_WORDS: &[&str] = &["Of", "That", "Who", concat!("Who", "ever"), "Whether", "By", "What", "Which"];

const PROSE_COLUMNS_MAX: usize = 100;
const CODE_COLUMNS_MAX: usize = 120;

/// Texts of others, and raw results: their words are theirs.
fn is_ours(path: &str) -> bool {
    let theirs = ["LICENSE", "NOTICE", "Cargo.lock", "third_party/", "examples/books/", "fuzz/corpus/"];
    let is_raw_result = path.starts_with("benches/results/") && path.matches('/').count() > 2;
    // Tables of test classes are what a run printed.
    let is_table = path.starts_with("tests/results/") && !path.ends_with("README.md");
    !is_table
        && !theirs.iter().any(|t| path.starts_with(t) || path.ends_with(t))
        && !path.contains("/corpora/")
        && !is_raw_result
}

/// No banned word stands in a page, a comment, a message or a name.
pub fn banned(tree: &Tree) -> Vec<String> {
    let mut complaints = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| is_ours(path)) {
        for (n, line) in text.lines().enumerate() {
            let lower = line.to_lowercase();
            for word in BANNED.iter().filter(|word| stands_alone(&lower, word)) {
                complaints.push(format!("{path}:{}: \"{word}\": {}", n + 1, short(line)));
            }
        }
    }
    complaints
}

/// Between letters, digits and underscores it is part of another word.
fn stands_alone(line: &str, word: &str) -> bool {
    let inside = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(word)
        .any(|(at, _)| !inside(line[..at].chars().next_back()) && !inside(line[at + word.len()..].chars().next()))
}

/// Doc comments of Rust and Java begin with a noun or a verb.
pub fn first_words(tree: &Tree) -> Vec<String> {
    let mut complaints = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| is_ours(path)) {
        let mut before = "";
        for (n, line) in text.lines().enumerate() {
            let line = line.trim_start();
            let begins = if path.ends_with(".rs") {
                let mark = ["///", "//!"].into_iter().find(|mark| line.starts_with(mark));
                mark.filter(|mark| !before.starts_with(mark)).map(|_| &line[3..])
            } else if path.ends_with(".java") {
                line.strip_prefix("/**").or(line.strip_prefix("* ").filter(|_| before == "/**"))
            } else {
                None
            };
            let first = begins.and_then(|text| text.split_whitespace().next()).unwrap_or_default();
            if FIRST_WORDS.contains(&first) {
                complaints.push(format!("{path}:{}: a doc comment begins with \"{first}\": {}", n + 1, short(line)));
            }
            before = line;
        }
    }
    complaints
}

/// Lines of prose have at most 100 columns, lines of code 120. Tables, code blocks and links may be wider.
pub fn wide_lines(tree: &Tree) -> Vec<String> {
    let mut complaints = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| is_ours(path)) {
        let is_page = path.ends_with(".md");
        let is_code = [".rs", ".java", ".py", ".h", ".hpp", ".c", ".cpp"].iter().any(|end| path.ends_with(end));
        if !is_page && !is_code {
            continue;
        }
        let mut in_fence = false;
        for (n, line) in text.lines().enumerate() {
            in_fence ^= line.trim_start().starts_with("```");
            let columns = line.chars().count();
            let free = is_page && (in_fence || line.trim_start().starts_with(['|', '`']) || line.starts_with("    "))
                || line.contains("://")
                || is_page && line.contains("](") && !line.trim_start().contains(' ');
            let most = if is_page { PROSE_COLUMNS_MAX } else { CODE_COLUMNS_MAX };
            if columns > most && !free && (is_page || is_comment(path, line)) {
                complaints.push(format!("{path}:{}: {columns} columns; at most {most}", n + 1));
            }
        }
    }
    complaints
}

/// Code itself is the formatter's; comments are ours.
fn is_comment(path: &str, line: &str) -> bool {
    let line = line.trim_start();
    if path.ends_with(".py") {
        return line.starts_with('#');
    }
    ["//", "*", "/*"].iter().any(|mark| line.starts_with(mark))
}

fn short(line: &str) -> String {
    line.trim().chars().take(90).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::small::finds;

    #[test]
    fn finds_banned_words() {
        for word in BANNED {
            let text = format!("//! A file.\n// It {word} x.\n");
            finds(banned, &[("engine/src/map/a.rs", &text)], word);
        }
        let inside = format!("//! A file.\n// un{}ward {}_count\n", BANNED[0], "x");
        assert!(banned(&crate::tree::small::house(&[("engine/src/map/a.rs", &inside)])).is_empty());
    }

    #[test]
    fn finds_first_words() {
        for word in FIRST_WORDS {
            finds(first_words, &[("cli/src/a.rs", &format!("//! A file.\n/// {word} x.\nfn f() {{}}\n"))], word);
            finds(first_words, &[("a/A.java", &format!("/** {word} x. */\nclass A {{}}\n"))], word);
            finds(first_words, &[("a/A.java", &format!("/**\n * {word} x.\n */\nclass A {{}}\n"))], word);
        }
        let later = "//! A file.\n/// Returns x.\n/// That is y.\nfn f() {}\n";
        assert!(first_words(&crate::tree::small::house(&[("cli/src/a.rs", later)])).is_empty());
    }

    #[test]
    fn finds_wide_lines() {
        let long = "word ".repeat(21);
        finds(wide_lines, &[("docs/a.md", &long)], "columns; at most 100");
        for free in [format!("| {long} |"), format!("```\n{long}\n```"), format!("    {long}")] {
            assert!(wide_lines(&crate::tree::small::tree(&[("docs/a.md", &free)])).is_empty(), "{free}");
        }
        finds(wide_lines, &[("cli/src/a.rs", &format!("//! A.\n// {}", "word ".repeat(25)))], "at most 120");
    }
}
