//! Selection of a process by number or name.

use std::fs;

use yunti_base::{Code, Error, Result};

use super::process::{Process, arguments};

/// Processes listed if a name matches several.
const SHOWN_MAX: usize = 8;
/// Programs that run another file.
const HOSTS: [&str; 6] = ["java", "python", "node", "ruby", "perl", "bash"];

/// Options that are followed by code.
const CODE_OPTIONS: [&str; 5] = ["-c", "-e", "-lc", "-ec", "--eval"];

/// Returns a process by its number, or by a part of the name of its program, script, jar or Java main class. Fails if
/// no process or several match.
pub fn choose(name: &str) -> Result<Process> {
    if let Ok(pid) = name.parse() {
        return Process::of(pid);
    }
    let mut found: Vec<(Process, String)> = Vec::new();
    let mut exact: Vec<usize> = Vec::new();
    for (process, is_exact, line) in matching(name) {
        if is_exact {
            exact.push(found.len());
        }
        found.push((process, line));
    }
    match (&exact[..], found.len()) {
        ([one], _) => Ok(found.swap_remove(*one).0),
        (_, 1) => Ok(found.remove(0).0),
        (_, 0) => {
            Err(Error::new(Code::Input, format!("no process is called '{name}'")).hint("`ps -e` lists what there is"))
        }
        (_, n) => {
            let mut list: Vec<String> = found
                .iter()
                .take(SHOWN_MAX)
                .map(|(p, line)| format!("{} {}", p.pid, line.chars().take(60).collect::<String>()))
                .collect();
            if n > SHOWN_MAX {
                list.push("..".into());
            }
            Err(Error::new(Code::Input, format!("'{name}' matches {n} processes"))
                .hint(format!("select one with -p: {}", list.join("; "))))
        }
    }
}

/// Returns all processes whose name, program, script, jar or Java main class contains `name`: each with true if a whole
/// word matches, and its command line. This process and its parent are left out.
pub fn matching(name: &str) -> Vec<(Process, bool, String)> {
    let mine = std::process::id();
    let parents = [mine, rustix::process::getppid().map_or(0, |p| p.as_raw_nonzero().get() as u32)];
    let of = |pid| {
        let line = arguments(pid);
        let process = Process::of(pid).ok()?;
        let names: Vec<&str> = std::iter::once(process.name.as_str()).chain(words(&line)).collect();
        if !names.iter().any(|word| word.contains(name)) {
            return None;
        }
        // A match of a whole word is preferred.
        let is_exact = names.iter().any(|word| *word == name || word.ends_with(&format!(".{name}")));
        Some((process, is_exact, line.join(" ")))
    };
    processes().filter(|pid| !parents.contains(pid)).filter_map(of).collect()
}

/// Returns the words of a process's command line that name its program: `java`, `shop.jar`.
pub fn program_words(process: &Process) -> Vec<String> {
    words(&arguments(process.pid)).map(str::to_owned).collect()
}

/// Returns a readable name: `java Hot`, `python3 serve.py`, `nginx`.
pub fn label(process: &Process) -> String {
    let line = arguments(process.pid);
    let is_host = words(&line).next().is_some_and(|program| HOSTS.iter().any(|host| program.starts_with(host)));
    // Code on the command line is no name.
    let mut options = line.iter().skip(1).take_while(|word| word.starts_with('-'));
    let is_code = options.any(|word| CODE_OPTIONS.contains(&word.as_str()));
    match words(&line).nth(1) {
        Some(run) if is_host && !is_code => format!("{} {run}", process.name),
        _ => process.name.clone(),
    }
}

/// Returns the numbers of all processes.
pub fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Words of a command line that name its program: the program, and the first argument that is not an option (`x.jar`
/// of `-jar x.jar`). Options of a JVM with a separate value (`-cp PATH`) are skipped with it.
fn words(arguments: &[String]) -> impl Iterator<Item = &str> {
    const WITH_VALUE: [&str; 13] = [
        "-cp",
        "-classpath",
        "--class-path",
        "-p",
        "--module-path",
        "--upgrade-module-path",
        "--add-modules",
        "--add-opens",
        "--add-exports",
        "--add-reads",
        "--limit-modules",
        "--patch-module",
        "--source",
    ];
    let base = |path: &'_ String| path.rfind('/').map_or(0, |at| at + 1);
    let program = arguments.first().map(|path| &path[base(path)..]);
    let mut rest = arguments.iter().skip(1);
    let run = loop {
        match rest.next() {
            Some(option) if program == Some("java") && WITH_VALUE.contains(&option.as_str()) => drop(rest.next()),
            Some(option) if option.starts_with('-') => {}
            word => break word,
        }
    };
    program.into_iter().chain(run.map(|path| &path[base(path)..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_program_of_a_command_line() {
        let check = |line: &str, expected: &[&str]| {
            let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(words(&arguments).collect::<Vec<_>>(), expected, "{line}");
        };
        check("/usr/bin/java -Xmx1g -cp a:b org.example.Main x", &["java", "org.example.Main"]);
        check("java --add-opens java.base/java.lang=ALL-UNNAMED Main", &["java", "Main"]);
        check("java -jar /opt/shop.jar", &["java", "shop.jar"]);
        check("python3 -u serve.py", &["python3", "serve.py"]);
        check("nginx: worker", &["nginx:", "worker"]);
    }

    #[test]
    fn refuses_unknown_names() {
        let error = choose("no such name, surely").unwrap_err();
        assert!(error.to_string().contains("no process is called"), "{error}");
    }
}
