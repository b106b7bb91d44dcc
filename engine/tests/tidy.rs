//! Keeps the house in order: the rules of ARCHITECTURE.md, checked on every file of the checkout.
//!
//! A rule is a function from a `Tree` (paths and texts) to complaints, so that each is tried below on a small tree that breaks it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

const LINES_MAX: usize = 700;
const ENTRIES_MAX: usize = 14;
const SOURCE: &str = "engine/src/";
const NATIVE: &str = "hadoop/native/src/";
/// Where ARCHITECTURE.md may leave out the beginning of a path.
const SOURCES: [&str; 3] = [SOURCE, NATIVE, "hadoop/plugin/src/main/java/org/yunti/hadoop/"];

/// All files by their path from the root; without a text where they are not UTF-8. Folders end in `/` and have none.
#[derive(Default)]
struct Tree(BTreeMap<String, Option<String>>);

type Rule = fn(&Tree) -> Vec<String>;

const RULES: &[(&str, Rule)] = &[
    ("floors", floors),
    ("floors of hadoop/native", native_floors),
    ("paths", paths),
    ("links", links),
    ("opening", opening),
    ("unsafe", unsafe_files),
    ("outside world", outside_world),
    ("absences", absences),
    ("unfinished", unfinished),
    ("machine paths", machine_paths),
    ("long files", long_files),
    ("crowded folders", crowded_folders),
    ("vague names", vague_names),
];

#[test]
fn the_house_is_tidy() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut tree = Tree::default();
    load(root, "", &mut tree);
    assert!(tree.0.contains_key("ARCHITECTURE.md") && tree.rust().count() > 50, "this is not the checkout");
    let complaints: Vec<String> =
        RULES.iter().flat_map(|(name, rule)| rule(&tree).into_iter().map(move |c| format!("{name}: {c}"))).collect();
    assert!(complaints.is_empty(), "{} complaints\n{}\n", complaints.len(), complaints.join("\n"));
}

fn load(dir: &Path, prefix: &str, tree: &mut Tree) {
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let path = format!("{prefix}{name}");
        if entry.file_type().unwrap().is_dir() {
            // What .gitignore names, and what programs have written; `probe/src/target/` is source.
            let built = [".git", "build", "dist", "__pycache__", ".venv", "corpus", "artifacts"];
            let is_built = built.contains(&&*name) || name == "target" && matches!(prefix, "" | "fuzz/");
            if !is_built {
                tree.0.insert(format!("{path}/"), None);
                load(&entry.path(), &format!("{path}/"), tree);
            }
        // In a worktree .git is a file.
        } else if name != "cluster.env" && name != ".git" {
            let bytes = fs::read(entry.path()).unwrap_or_default();
            tree.0.insert(path, String::from_utf8(bytes).ok());
        }
    }
}

impl Tree {
    fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().filter_map(|(path, text)| Some((&**path, text.as_deref()?)))
    }

    fn rust(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts().filter(|(path, _)| path.ends_with(".rs"))
    }

    fn architecture(&self) -> &str {
        self.0.get("ARCHITECTURE.md").and_then(|t| t.as_deref()).unwrap_or_default()
    }

    /// A file or a folder, named from the root or from one of the sources.
    fn has(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        [""].iter()
            .chain(&SOURCES)
            .any(|at| self.0.contains_key(&format!("{at}{path}")) || self.0.contains_key(&format!("{at}{path}/")))
    }
}

// ---- the rules ----

/// Imports go down the floors of ARCHITECTURE.md; on one floor they do not go in a circle.
fn floors(tree: &Tree) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut floor_of: BTreeMap<&str, usize> = BTreeMap::new();
    let mut beside: BTreeSet<&str> = BTreeSet::new();
    for line in block(tree.architecture(), "```floors", "```").lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("beside") => beside.extend(words),
            Some(number) => floor_of.extend(words.map(|w| (w, number.parse::<usize>().expect("a floor has a number")))),
            None => {}
        }
    }
    if floor_of.len() < 2 {
        return vec!["ARCHITECTURE.md has no ```floors".into()];
    }
    for name in floor_of.keys().chain(&beside) {
        if !tree.has(&format!("{SOURCE}{name}/")) && !tree.has(&format!("{SOURCE}{name}.rs")) {
            complaints.push(format!("there is no engine/src/{name}"));
        }
    }
    let (operator, job) =
        (floor_of.get("operator").copied().unwrap_or(0), floor_of.get("job").copied().unwrap_or(usize::MAX));
    let mut level: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (path, text) in tree.rust() {
        let Some((module, _)) = path.strip_prefix(SOURCE).and_then(|p| p.split_once(['/', '.'])) else { continue };
        if module == "lib" {
            continue;
        }
        let own = floor_of.get(module).copied();
        if own.is_none() && !beside.contains(module) {
            complaints.push(format!("{path}: {module} has no floor"));
            continue;
        }
        for target in imports(text) {
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
                (Some(own), None) => own >= job,
                (None, Some(to)) => to <= operator,
                (None, None) => false,
            };
            if !allowed {
                complaints.push(format!("{path}: {module} imports {target}, which does not lie below it"));
            }
        }
    }
    for &start in level.keys() {
        let mut seen = BTreeSet::new();
        let mut ahead: Vec<&str> = level[start].iter().copied().collect();
        while let Some(next) = ahead.pop() {
            if next == start {
                complaints.push(format!("{start} imports itself in a circle of its floor"));
                break;
            }
            if seen.insert(next) {
                ahead.extend(level.get(next).into_iter().flatten());
            }
        }
    }
    complaints
}

/// The same for hadoop/native, where `lib.rs` lists the floors in its head, the highest first, one module each.
fn native_floors(tree: &Tree) -> Vec<String> {
    let lib = tree.0.get(&format!("{NATIVE}lib.rs")).and_then(|t| t.as_deref()).unwrap_or_default();
    let list =
        block(lib, "```text\n", "```").lines().filter_map(|l| l.trim_start_matches("//!").split_whitespace().next());
    let floors: Vec<&str> = list.collect();
    let floor_of = |module: &str| floors.iter().position(|floor| *floor == module);
    let mut complaints = Vec::new();
    for (path, text) in tree.rust() {
        let Some((module, _)) = path.strip_prefix(NATIVE).and_then(|p| p.split_once(['/', '.'])) else { continue };
        match floor_of(module) {
            _ if module == "lib" => {}
            None => complaints.push(format!("{path}: {module} has no floor in {NATIVE}lib.rs")),
            own => complaints.extend(
                (imports(text).iter().filter(|to| *to != module && floor_of(to) <= own))
                    .map(|to| format!("{path}: {module} imports {to}, which does not lie below it")),
            ),
        }
    }
    complaints
}

/// What a file names behind `crate::`, alone or in braces.
fn imports(text: &str) -> BTreeSet<String> {
    let code = code_of(text);
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            None => drop(found.insert(word(rest))),
            Some(group) => {
                let (mut depth, mut fresh) = (1, true);
                for (i, c) in group.char_indices() {
                    match c {
                        '{' => depth += 1,
                        '}' => depth -= 1,
                        ',' if depth == 1 => fresh = true,
                        c if fresh && depth == 1 && c.is_alphabetic() => {
                            found.insert(word(&group[i..]));
                            fresh = false;
                        }
                        _ => {}
                    }
                    if depth == 0 {
                        break;
                    }
                }
            }
        }
    }
    found
}

/// A path in ARCHITECTURE.md exists, from the root or from one of the sources.
fn paths(tree: &Tree) -> Vec<String> {
    let named = quoted_paths(tree.architecture());
    let gone =
        named.into_iter().filter(|path| !tree.has(path) && !["dist/", "build/"].iter().any(|p| path.starts_with(p)));
    gone.map(|path| format!("ARCHITECTURE.md names {path}, which is not there")).collect()
}

/// A relative link in a .md file leads somewhere; a page of docs/ that a source file names exists.
fn links(tree: &Tree) -> Vec<String> {
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
                if page.starts_with("docs/") && page.contains('.') && !path.ends_with("tidy.rs") && !tree.has(page) {
                    complaints.push(format!("{path} names {page}, which is not there"));
                }
            }
        }
    }
    complaints
}

/// A source file begins by saying what it is.
fn opening(tree: &Tree) -> Vec<String> {
    let silent = |text: &str| {
        let head: String = text.lines().take_while(|line| line.starts_with("//!") && line.len() > 3).collect();
        !head.contains(['.', ':'])
    };
    tree.rust()
        .filter(|(_, text)| silent(text))
        .map(|(path, _)| format!("{path} does not begin with a sentence (`//! ..`)"))
        .collect()
}

/// `unsafe` stands in listed files alone, which say so in their heads; each block has its SAFETY line.
fn unsafe_files(tree: &Tree) -> Vec<String> {
    let mut complaints = Vec::new();
    let listed: BTreeSet<String> = quoted_paths(block(tree.architecture(), "## Files with `unsafe`", "\n## "));
    let tops = ["engine/", "cli/", "base/", "machine/", "observe/", "probe/", "hadoop/", "namenode/"];
    let is_whole = |path: &str| tops.iter().any(|top| path.starts_with(top));
    let full = |path: &String| if is_whole(path) { path.clone() } else { format!("{SOURCE}{path}") };
    let listed: BTreeSet<String> = listed.iter().map(full).collect();
    let mut used = BTreeSet::new();
    for (path, text) in tree.rust().filter(|(path, _)| *path != "engine/tests/tidy.rs") {
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

/// Files, clocks, threads and settings of the process are passed in by env/; the processor is asked in bytes/simd.rs alone.
fn outside_world(tree: &Tree) -> Vec<String> {
    const OUTSIDE: &[&str] = &[
        "std::fs",
        "std::net",
        "feature_detected!",
        "std::thread::scope",
        "std::thread::sleep",
        "std::thread::Builder",
        "std::process::Command",
        "thread::spawn",
        "Instant::now",
        "SystemTime",
        "std::env::var",
        "std::env::args",
        "std::env::temp_dir",
        "std::env::current_dir",
    ];
    let mut complaints = Vec::new();
    for (path, text) in engine(tree) {
        if path.starts_with("env/") || path.starts_with("abi/") || ["job/machine.rs", "bytes/simd.rs"].contains(&path) {
            continue;
        }
        for (n, line) in code_of(text).lines().enumerate() {
            if let Some(use_) = OUTSIDE.iter().find(|u| line.contains(**u)) {
                complaints.push(format!("engine/src/{path}:{}: {use_} outside of env/", n + 1));
            }
        }
    }
    complaints
}

/// No application below library/, no memory map outside of memory/, no global state.
fn absences(tree: &Tree) -> Vec<String> {
    let mut complaints = Vec::new();
    for (path, text) in engine(tree) {
        let code = code_of(text).to_lowercase();
        let top = path.starts_with("library/") || path.starts_with("job/");
        for name in
            ["wordcount", "word_count", "terasort", "tera_sort"].iter().filter(|name| !top && code.contains(**name))
        {
            complaints.push(format!("engine/src/{path}: {name} is an application, and this is below library/"));
        }
        if has_word(&code, "mmap") && !path.starts_with("memory/") {
            complaints.push(format!("engine/src/{path}: a memory map outside of memory/"));
        }
        for line in code
            .lines()
            .map(str::trim_start)
            .filter(|l| l.starts_with("static ") || l.starts_with("pub static ") || l.contains("thread_local!"))
        {
            if ["mutex", "rwlock", "atomic", "lock<", "cell", "static mut", "thread_local"]
                .iter()
                .any(|kind| line.contains(kind) && path != "bytes/simd.rs")
            {
                complaints.push(format!("engine/src/{path}: global state: {line}"));
            }
        }
    }
    complaints
}

fn unfinished(tree: &Tree) -> Vec<String> {
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

fn machine_paths(tree: &Tree) -> Vec<String> {
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

fn long_files(tree: &Tree) -> Vec<String> {
    let long = tree.texts().filter(|(path, text)| is_source(path) && text.lines().count() > LINES_MAX);
    long.map(|(path, text)| format!("{path} has {} lines; at most {LINES_MAX}", text.lines().count())).collect()
}

/// `engine/src/` itself may have as many entries as there are floors.
fn crowded_folders(tree: &Tree) -> Vec<String> {
    let mut entries: BTreeMap<&str, usize> = BTreeMap::new();
    for path in tree.0.keys().filter(|path| path.ends_with('/') || is_source(path)) {
        let whole = path.trim_end_matches('/');
        *entries.entry(&whole[..whole.rfind('/').map_or(0, |at| at + 1)]).or_default() += 1;
    }
    let ours = |folder: &str| {
        let tops = ["engine/", "cli/", "base/", "machine/", "observe/", "probe/", "tools/", "tests/", "fuzz/"];
        folder != SOURCE && tops.iter().any(|top| folder.starts_with(top))
    };
    let crowded = entries.into_iter().filter(|(folder, n)| *n > ENTRIES_MAX && ours(folder));
    crowded.map(|(folder, n)| format!("{folder} has {n} entries; at most {ENTRIES_MAX}: give it sub-folders")).collect()
}

fn vague_names(tree: &Tree) -> Vec<String> {
    const VAGUE: &[&str] = &["utils", "util", "helpers", "helper", "common", "misc", "stuff"];
    let stem =
        |path: &str| path.trim_end_matches('/').rsplit('/').next().unwrap().split('.').next().unwrap().to_string();
    tree.0
        .keys()
        .filter(|path| VAGUE.contains(&&*stem(path)))
        .map(|path| format!("{path}: name it by what it is"))
        .collect()
}

// ---- reading ----

fn is_source(path: &str) -> bool {
    [".rs", ".h", ".hpp", ".c", ".cpp", ".py", ".sh", ".java"].iter().any(|end| path.ends_with(end))
}

/// The engine's files without their tests, by their path below engine/src.
fn engine(tree: &Tree) -> impl Iterator<Item = (&str, &str)> {
    tree.rust().filter_map(|(path, text)| {
        let path = path.strip_prefix(SOURCE)?;
        let test = path.ends_with("/tests.rs") || path.ends_with("_test.rs") || path.contains("/tests/");
        (!test).then(|| (path, text.find("#[cfg(test)]\nmod tests {").map_or(text, |at| &text[..at])))
    })
}

/// The text between two marks, without them; empty where the first is missing.
fn block<'a>(text: &'a str, begin: &str, end: &str) -> &'a str {
    let Some((_, rest)) = text.split_once(begin) else { return "" };
    rest.split_once(end).map_or(rest, |(inside, _)| inside)
}

/// Everything in backticks that looks like a path.
fn quoted_paths(text: &str) -> BTreeSet<String> {
    let outside_fences: String = text.split("```").step_by(2).collect();
    let quoted = outside_fences.split('`').skip(1).step_by(2);
    let is_path = |q: &&str| {
        q.contains('/')
            && !q.starts_with(['/', '_'])
            && q.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c))
    };
    quoted.filter(is_path).map(str::to_string).collect()
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

fn word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

fn has_word(text: &str, wanted: &str) -> bool {
    let inside = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(wanted)
        .any(|(at, _)| !inside(text[..at].chars().next_back()) && !inside(text[at + wanted.len()..].chars().next()))
}

/// Rust without its comments and the contents of its strings; lines stay where they are.
fn code_of(text: &str) -> String {
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

// ---- the rules, on trees that break them ----

const FLOORS: &str = "```floors\n 9 job\n 7 read map\n 3 operator\n 0 bytes\n beside abi\n```\n";

fn tree(files: &[(&str, &str)]) -> Tree {
    let mut tree = Tree::default();
    for (path, text) in files {
        for (at, _) in path.match_indices('/') {
            tree.0.insert(path[..=at].to_string(), None);
        }
        tree.0.insert(path.to_string(), Some(text.to_string()));
    }
    tree
}

fn small_house(more: &[(&str, &str)]) -> Tree {
    let mut files = vec![("ARCHITECTURE.md", FLOORS), ("engine/src/lib.rs", "//! The engine.\npub mod bytes;\n")];
    const FLOOR_FILES: [&str; 6] = [
        "engine/src/job/mod.rs",
        "engine/src/read/mod.rs",
        "engine/src/map/mod.rs",
        "engine/src/operator/mod.rs",
        "engine/src/bytes/mod.rs",
        "engine/src/abi/mod.rs",
    ];
    files.extend(FLOOR_FILES.map(|path| (path, "//! A floor.\n")));
    files.extend(more);
    tree(&files)
}

/// The rule finds exactly one fault in the small house with these files, and names `what`.
#[track_caller]
fn finds(rule: Rule, files: &[(&str, &str)], what: &str) {
    let found = rule(&small_house(files));
    assert!(found.len() == 1 && found[0].contains(what), "{what}: {found:?}");
}

#[test]
fn a_tidy_house_has_no_complaint() {
    for (name, rule) in RULES {
        let found = rule(&small_house(&[(
            "engine/src/map/a.rs",
            "//! It maps.\nuse crate::bytes::Record;\nuse crate::read::Reader;\n",
        )]));
        assert!(found.is_empty(), "{name}: {found:?}");
    }
}

#[test]
fn imports_that_run_up_are_found() {
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
        assert!(floors(&small_house(&[("engine/src/map/a.rs", text)])).is_empty(), "{text}");
    }
    let circle =
        small_house(&[("engine/src/map/a.rs", "use crate::read::X;"), ("engine/src/read/a.rs", "use crate::map::X;")]);
    assert_eq!(floors(&circle).len(), 2, "{:?}", floors(&circle));
    assert_eq!(floors(&tree(&[("ARCHITECTURE.md", "")])).len(), 1);
}

#[test]
fn imports_that_run_up_in_hadoop_native_are_found() {
    let lib = "//! A.\n//!\n//! ```text\n//!   jni   one\n//!   key   two\n//! ```\n";
    let house = |path: &str, text: &str| small_house(&[("hadoop/native/src/lib.rs", lib), (path, text)]);
    let found = |path: &str, text: &str| native_floors(&house(path, text));
    assert!(found("hadoop/native/src/jni/a.rs", "use crate::key::Key;").is_empty());
    for (path, text) in [
        ("hadoop/native/src/key.rs", "use crate::jni::X;"),
        ("hadoop/native/src/key.rs", "use crate::nothing::X;"),
        ("hadoop/native/src/new.rs", ""),
    ] {
        assert_eq!(found(path, text).len(), 1, "{path}: {text}");
    }
}

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

#[test]
fn unsafe_is_found_where_it_is_not_listed() {
    let good = "//! A.\n//! One of the listed files with `unsafe`: x.\n// SAFETY: x.\nfn f() { unsafe { g() } }\n";
    let listed = format!("{FLOORS}## Files with `unsafe`\n`bytes/a.rs`\n## Tests\n");
    let house = |text: &str| small_house(&[("ARCHITECTURE.md", &listed), ("engine/src/bytes/a.rs", text)]);
    assert!(unsafe_files(&house(good)).is_empty(), "{:?}", unsafe_files(&house(good)));
    assert!(unsafe_files(&house(&good.replace("One of", "None of")))[0].contains("does not say why"));
    assert!(unsafe_files(&house(&good.replace("SAFETY", "S")))[0].contains("no SAFETY line"));
    assert!(unsafe_files(&house("//! A. unsafe\n#![deny(unsafe_op_in_unsafe_fn)]\n"))[0].contains("has no `unsafe`"));
    finds(unsafe_files, &[("engine/src/bytes/b.rs", good)], "not listed");
}

#[test]
fn the_outside_world_is_found() {
    for text in ["use std::fs;", "Instant::now();", "thread::spawn(f);", "std::env::var(\"X\")", "feature_detected!"] {
        finds(outside_world, &[("engine/src/map/a.rs", text)], "outside of env/");
    }
    for (path, text) in [
        ("engine/src/env/a.rs", "use std::fs;"),
        ("engine/src/map/a_test.rs", "use std::fs;"),
        ("engine/src/map/a.rs", "fn f() {}\n#[cfg(test)]\nmod tests {\n use std::fs;\n}"),
        ("engine/src/map/a.rs", "// std::fs\nfn f() -> std::thread::Result<()>"),
    ] {
        assert!(outside_world(&small_house(&[(path, text)])).is_empty(), "{path}: {text}");
    }
}

#[test]
fn what_must_be_absent_is_found() {
    finds(absences, &[("engine/src/map/a.rs", "struct WordCount;")], "application");
    finds(absences, &[("engine/src/map/a.rs", "libc::mmap()")], "memory map");
    finds(absences, &[("engine/src/map/a.rs", "static N: AtomicU64 = x;")], "global state");
}

#[test]
fn marks_and_sizes_are_found() {
    finds(unfinished, &[("api/a.hpp", concat!("// TO", "DO: more"))], "is unfinished");
    finds(unfinished, &[("README.md", "# A\n@FIGURE@\n")], "not filled in");
    finds(machine_paths, &[("README.md", concat!("cd /wo", "rk/main"))], "a path of one machine");
    assert!(machine_paths(&small_house(&[("a/run", concat!("\"$out/wo", "rk/x\""))])).is_empty());
    finds(long_files, &[("cli/src/a.rs", &"x\n".repeat(LINES_MAX + 1))], "lines");
    let files: Vec<(String, &str)> = (0..=ENTRIES_MAX).map(|n| (format!("cli/src/a{n}.rs"), "")).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, *text)).collect();
    finds(crowded_folders, &files, "15 entries");
    finds(vague_names, &[("cli/src/utils.rs", "")], "name it by what it is");
}
