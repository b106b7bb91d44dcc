//! Reading Rust and Markdown without a parser: code without comments and strings, imports, words, paths in backticks.

use std::collections::BTreeSet;

/// Rust without its comments and the contents of its strings; lines stay where they are.
pub fn code_of(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // Drops bytes of the text, and keeps the ends of its lines.
    let skip = |out: &mut String, n: usize, rest: &mut &str| {
        out.extend(rest[..n].chars().filter(|c| *c == '\n'));
        *rest = &rest[n..];
    };
    while let Some(c) = rest.chars().next() {
        if rest.starts_with("//") {
            let n = rest.find('\n').unwrap_or(rest.len());
            skip(&mut out, n, &mut rest);
        } else if rest.starts_with("/*") {
            let n = rest.find("*/").map_or(rest.len(), |at| at + 2);
            skip(&mut out, n, &mut rest);
        } else if let Some(hashes) = raw_string(rest, &out) {
            let end = format!("\"{}", "#".repeat(hashes));
            let body = hashes + 2;
            let n = rest[body..].find(&end).map_or(rest.len(), |at| body + at + end.len());
            skip(&mut out, n, &mut rest);
        } else if c == '"' {
            let mut escaped = false;
            let end = rest[1..].char_indices().find(|&(_, c)| {
                let plain = !escaped;
                escaped = plain && c == '\\';
                plain && c == '"'
            });
            let n = end.map_or(rest.len(), |(at, _)| at + 2);
            skip(&mut out, n, &mut rest);
        } else if c == '\'' && (rest[1..].starts_with('\\') || rest[1..].chars().nth(1) == Some('\'')) {
            // A character; a lifetime has no second quote.
            let from = if rest[1..].starts_with('\\') { 3 } else { 1 + rest[1..].chars().next().unwrap().len_utf8() };
            let n = rest[from..].find('\'').map_or(rest.len(), |at| from + at + 1);
            skip(&mut out, n, &mut rest);
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

/// The number of hashes of a raw string that begins here.
fn raw_string(rest: &str, before: &str) -> Option<usize> {
    let body = rest.strip_prefix('r')?;
    let hashes = body.bytes().take_while(|b| *b == b'#').count();
    let starts_word =
        before.chars().next_back().is_none_or(|c| !(c.is_alphanumeric() || c == '_') || c == 'b' || c == 'c');
    (body[hashes..].starts_with('"') && starts_word).then_some(hashes)
}

/// The first word of each path behind `prefix` (`crate::`), alone or in braces. `code`: without comments and strings.
pub fn imports(code: &str, prefix: &str) -> BTreeSet<String> {
    paths_behind(code, prefix).iter().map(|path| word(path)).filter(|first| !first.is_empty()).collect()
}

/// The paths behind `prefix`, with groups in braces taken apart: `a::{b, c::d}` is `a::b` and `a::c::d`.
pub fn paths_behind(code: &str, prefix: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices(prefix) {
        // `super::super::a` is no `super::a`, and `other_crate::a` no `crate::a`.
        let before = code[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
            continue;
        }
        collect_paths(&code[at + prefix.len()..], "", &mut found);
    }
    found
}

/// Adds the paths of one tree of imports that begins at `rest`; returns what is behind it.
fn collect_paths<'a>(rest: &'a str, path: &str, found: &mut BTreeSet<String>) -> &'a str {
    let name = word(rest);
    let mut rest = &rest[name.len()..];
    let join = |more: &str| if path.is_empty() { more.to_string() } else { format!("{path}::{more}") };
    if name.is_empty() && rest.starts_with('{') {
        rest = rest[1..].trim_start();
        while !rest.is_empty() && !rest.starts_with('}') {
            let before = rest.len();
            rest = collect_paths(rest, path, found).trim_start();
            rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
            if rest.len() == before {
                // Something else than a name: `*`, or a comma that is missing.
                rest = rest.get(1..).unwrap_or_default();
            }
        }
        return rest.get(1..).unwrap_or_default();
    }
    if name.is_empty() {
        return rest;
    }
    let here = join(&name);
    match rest.strip_prefix("::") {
        Some(deeper) => collect_paths(deeper, &here, found),
        None => {
            found.insert(here);
            // `a as b`
            match rest.trim_start().strip_prefix("as ") {
                Some(renamed) => &renamed.trim_start()[word(renamed.trim_start()).len()..],
                None => rest,
            }
        }
    }
}

/// The text between two marks, without them; empty where the first is missing.
pub fn block<'a>(text: &'a str, begin: &str, end: &str) -> &'a str {
    let Some((_, rest)) = text.split_once(begin) else { return "" };
    rest.split_once(end).map_or(rest, |(inside, _)| inside)
}

/// Everything in backticks that looks like a path.
pub fn quoted_paths(text: &str) -> BTreeSet<String> {
    let outside_fences: String = text.split("```").step_by(2).collect();
    let quoted = outside_fences.split('`').skip(1).step_by(2);
    let is_path = |q: &&str| {
        q.contains('/')
            && !q.starts_with(['/', '_'])
            && q.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c))
    };
    quoted.filter(is_path).map(str::to_string).collect()
}

pub fn word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

pub fn has_word(text: &str, wanted: &str) -> bool {
    let inside = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(wanted)
        .any(|(at, _)| !inside(text[..at].chars().next_back()) && !inside(text[at + wanted.len()..].chars().next()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_taken_apart() {
        let paths = |code: &str| paths_behind(code, "crate::").into_iter().collect::<Vec<_>>().join(" ");
        assert_eq!(paths("use crate::a::b::C;"), "a::b::C");
        assert_eq!(paths("use crate::{a::B, c::{self, D, e::*}};"), "a::B c::D c::self");
        assert_eq!(paths("use crate::a::{B as _, C};\nfn f() { crate::d::g(crate::h) }"), "a::B a::C d::g h");
        assert_eq!(paths("use my_crate::a; use super::crate_::b;"), "");
    }
}
