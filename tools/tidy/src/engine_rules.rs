//! Rules of the engine: the outside world comes through env/, and some things are never there.

use crate::code::{code_of, has_word};
use crate::tree::{ENGINE, Tree};

/// Checks that env/ passes in files, clocks, threads, locks and settings; only bytes/simd.rs detects processor
/// features.
pub fn outside_world(tree: &Tree) -> Vec<String> {
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
        if path.starts_with("env/") || path.starts_with("abi/") || path == "bytes/simd.rs" {
            continue;
        }
        for (n, line) in code_of(text).lines().enumerate() {
            if let Some(use_) = OUTSIDE.iter().find(|u| line.contains(**u)) {
                complaints.push(format!("engine/src/{path}:{}: {use_} outside of env/", n + 1));
            }
            let lock = ["Mutex", "RwLock", "Condvar", "mpsc", "Barrier"].into_iter().find(|lock| has_word(line, lock));
            if let Some(lock) = lock.filter(|_| line.contains("std::sync")) {
                complaints.push(format!("engine/src/{path}:{}: {lock} outside of env/; use env::sync", n + 1));
            }
        }
    }
    complaints
}

/// Places of memory maps.
const MAPS: [&str; 4] = ["memory/", "env/mapped/", "env/process/shared_memory.rs", "env/real.rs"];
/// Files with global state: the level of vector instructions, a signal's handler, and the schedule of a thread.
const GLOBAL: [&str; 3] = ["bytes/simd.rs", "env/mapped/bus_error.rs", "env/threads/schedule.rs"];

/// No application below library/, no memory map outside of its places, no global state.
pub fn absences(tree: &Tree) -> Vec<String> {
    let mut complaints = Vec::new();
    for (path, text) in engine(tree) {
        let code = code_of(text).to_lowercase();
        let top = path.starts_with("library/") || path.starts_with("job/");
        for name in
            ["wordcount", "word_count", "terasort", "tera_sort"].iter().filter(|name| !top && code.contains(**name))
        {
            complaints.push(format!("engine/src/{path}: {name} is an application, and this is below library/"));
        }
        if has_word(&code, "mmap") && !MAPS.iter().any(|place| path.starts_with(place)) {
            complaints.push(format!("engine/src/{path}: a memory map outside of memory/ and env/"));
        }
        for line in code
            .lines()
            .map(str::trim_start)
            .filter(|l| l.starts_with("static ") || l.starts_with("pub static ") || l.contains("thread_local!"))
        {
            if ["mutex", "rwlock", "atomic", "lock<", "cell", "static mut", "thread_local"]
                .iter()
                .any(|kind| line.contains(kind) && !GLOBAL.contains(&path))
            {
                complaints.push(format!("engine/src/{path}: global state: {line}"));
            }
        }
    }
    complaints
}

/// The engine's files without their tests, by their path below engine/src.
fn engine(tree: &Tree) -> impl Iterator<Item = (&str, &str)> {
    tree.rust().filter_map(|(path, text)| {
        let path = path.strip_prefix(ENGINE)?;
        let test = path.ends_with("/tests.rs") || path.ends_with("_test.rs") || path.contains("/tests/");
        (!test).then(|| (path, text.find("#[cfg(test)]\nmod tests {").map_or(text, |at| &text[..at])))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::small::{finds, house};

    #[test]
    fn the_outside_world_is_found() {
        for text in [
            "use std::fs;",
            "Instant::now();",
            "thread::spawn(f);",
            "std::env::var(\"X\")",
            "feature_detected!",
            "use std::sync::{Arc, Mutex};",
        ] {
            finds(outside_world, &[("engine/src/map/a.rs", text)], "outside of env/");
        }
        for (path, text) in [
            ("engine/src/env/a.rs", "use std::fs;"),
            ("engine/src/map/a_test.rs", "use std::fs;"),
            ("engine/src/map/a.rs", "use crate::env::sync::Mutex;"),
            ("engine/src/map/a.rs", "fn f() {}\n#[cfg(test)]\nmod tests {\n use std::fs;\n}"),
            ("engine/src/map/a.rs", "// std::fs\nfn f() -> std::thread::Result<()>"),
        ] {
            assert!(outside_world(&house(&[(path, text)])).is_empty(), "{path}: {text}");
        }
    }

    #[test]
    fn what_must_be_absent_is_found() {
        finds(absences, &[("engine/src/map/a.rs", "struct WordCount;")], "application");
        finds(absences, &[("engine/src/map/a.rs", "libc::mmap()")], "memory map");
        finds(absences, &[("engine/src/map/a.rs", "static N: AtomicU64 = x;")], "global state");
    }
}
