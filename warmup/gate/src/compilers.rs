//! Compilers of the JVM in this process: the processor time of their threads.

use std::fs;

/// First letters of their names, which the kernel cuts after 15.
const NAMES: [&str; 3] = ["C1 Compiler", "C2 Compiler", "JVMCI"];

/// Returns the clock ticks (1/100 s) that the compilers have used; `None` without a compiler.
///
/// The JVM ends idle compiler threads, and their ticks are gone with them: the sum may fall.
pub fn ticks() -> Option<u64> {
    let mut found = None;
    for thread in fs::read_dir("/proc/self/task").ok()?.flatten() {
        let Ok(stat) = fs::read_to_string(thread.path().join("stat")) else { continue };
        let Some((name, rest)) = stat.split_once('(').and_then(|(_, rest)| rest.rsplit_once(')')) else { continue };
        if NAMES.iter().any(|compiler| name.starts_with(compiler)) {
            // Fields 14 and 15 of proc(5); the first word after the name is field 3.
            let times = rest.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok());
            found = Some(found.unwrap_or(0) + times.sum::<u64>());
        }
    }
    found
}
