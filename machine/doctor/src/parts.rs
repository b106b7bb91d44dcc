//! Installed programs: measured limits that reports compare with, parts of Yunti, a C++ compiler, Java.

use std::ffi::OsStr;
use std::path::PathBuf;

use yunti_engine::env::Env;
use yunti_engine::job::report::limits::{self, Limits};

use super::finding::Finding;
use yunti_program::part::Part;
use yunti_program::text::numbers;

const AREA: &str = "installed";

/// Returns the findings about installed programs. `path`: the value of `PATH`.
pub fn findings(env: &Env, path: Option<&OsStr>) -> Vec<Finding> {
    let compiler = ["c++", "g++", "clang++"].iter().find_map(|name| find_program(path, name));
    let java = java(path);
    let place = |program: &Option<PathBuf>| program.as_ref().map_or("none in PATH".into(), |p| p.display().to_string());
    vec![
        limits_measured(env),
        Finding::new(AREA, "C++ compiler", place(&compiler), "needed to build class libraries of your own")
            .note_if(compiler.is_none())
            .change("only if you write classes: install g++ or clang"),
        Finding::new(AREA, "Java", place(&java), "Hadoop's client needs it; jobs on this machine do not")
            .note_if(java.is_none())
            .change("only for a cluster: install a JDK 17"),
        hadoop(),
    ]
}

/// Returns the `java` of `PATH`, else of `JAVA_HOME`.
pub fn java(path: Option<&OsStr>) -> Option<PathBuf> {
    find_program(path, "java").or_else(|| {
        let home = PathBuf::from(std::env::var_os("JAVA_HOME")?).join("bin/java");
        home.is_file().then_some(home)
    })
}

fn limits_measured(env: &Env) -> Finding {
    let path = env.cache_dir.as_ref().map(|dir| dir.join(limits::FILE_NAME));
    let limits = path.and_then(|path| Limits::load(&*env.files, &path));
    let why = "reports compare the stages of a job with these limits of the machine";
    let seen = match &limits {
        None => "never".to_string(),
        Some(limits) => {
            let disk =
                limits.files.first().map(|f| format!(", disk {}", numbers::rate(f.write_synced))).unwrap_or_default();
            format!("{}: memory {}{disk}", numbers::utc(limits.measured_unix_ms), numbers::rate(limits.memory_copy.all))
        }
    };
    Finding::new(AREA, "measured", seen, why).note_if(limits.is_none()).change("yunti machine limits")
}

fn hadoop() -> Finding {
    let program = Part::named("hadoop").and_then(Part::program);
    let seen = program.as_ref().map_or_else(|| "not installed".to_string(), |path| path.display().to_string());
    Finding::new(AREA, "hadoop", seen, "runs jobs on a cluster, and Java jobs with native tasks")
        .note_if(program.is_none())
        .change("only for a cluster: make hadoop, or install the package with it")
}

/// Returns the program `name` in a folder of `path`.
fn find_program(path: Option<&OsStr>, name: &str) -> Option<PathBuf> {
    std::env::split_paths(path?).map(|dir| dir.join(name)).find(|program| program.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_programs_in_the_path() {
        let dir = std::env::temp_dir().join(format!("yunti-doctor-path-{}", std::process::id()));
        std::fs::create_dir(&dir).unwrap();
        std::fs::write(dir.join("g++"), "").unwrap();
        let path = std::env::join_paths(["/nowhere".into(), dir.clone()]).unwrap();
        assert_eq!(find_program(Some(&path), "g++"), Some(dir.join("g++")));
        assert_eq!((find_program(Some(&path), "java"), find_program(None, "g++")), (None, None));
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
