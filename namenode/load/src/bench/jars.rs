//! Hadoop's jars: from an installation, from a folder, or downloaded once by Maven.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use yunti_base::process::unique_token;
use yunti_base::{Code, Error, Result};

/// Version that Maven downloads.
pub const HADOOP: &str = "3.5.0";
/// Dependencies of a NameNode alone.
const POM: &str = include_str!("pom.xml");
/// Folders of an installation that have the jars of HDFS.
const OF_INSTALLATION: [&str; 4] =
    ["share/hadoop/common", "share/hadoop/common/lib", "share/hadoop/hdfs", "share/hadoop/hdfs/lib"];

/// Returns the class path of a NameNode.
///
/// @param given a folder with jars in it or below it, or an installation of Hadoop
pub fn class_path(given: Option<&Path>) -> Result<OsString> {
    let folder = match given.map(Path::to_owned).or_else(|| env::var_os("HADOOP_HOME").map(PathBuf::from)) {
        Some(folder) => folder,
        None => fetched()?,
    };
    let mut jars = Vec::new();
    let installed: Vec<PathBuf> = OF_INSTALLATION.iter().map(|part| folder.join(part)).filter(|p| p.is_dir()).collect();
    if installed.is_empty() {
        find(&folder, 3, &mut jars);
    } else {
        installed.iter().for_each(|part| find(part, 0, &mut jars));
    }
    // Hadoop's own jars come first: the JVM searches the jars in order.
    jars.sort_by_key(|jar| (!name(jar).starts_with("hadoop-"), jar.clone()));
    if !jars.iter().any(|jar| name(jar).starts_with("hadoop-hdfs-")) {
        return Err(Error::new(Code::Input, "the folder has no HDFS jars".to_owned())
            .at_path(folder.to_string_lossy())
            .hint("give a Hadoop installation, or a folder with its jars, by --hadoop"));
    }
    env::join_paths(jars).map_err(|e| Error::new(Code::Input, format!("a jar cannot be on a class path: {e}")))
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn find(folder: &Path, depth: usize, jars: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && depth > 0 {
            find(&path, depth - 1, jars);
        } else if name(&path).ends_with(".jar")
            && !["-tests.jar", "-sources.jar"].iter().any(|s| name(&path).ends_with(s))
        {
            jars.push(path);
        }
    }
}

fn fetched() -> Result<PathBuf> {
    let cache = env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")))
        .unwrap_or_else(env::temp_dir);
    let folder = cache.join("yunti").join(format!("namenode-{HADOOP}"));
    if folder.is_dir() {
        return Ok(folder);
    }
    let fresh = cache.join("yunti").join(format!("namenode-{HADOOP}.{}", unique_token()));
    let failed = |e: std::io::Error| {
        Error::io(Code::Output, "cannot store the jars of Hadoop", &e).at_path(fresh.to_string_lossy())
    };
    fs::create_dir_all(&fresh).map_err(failed)?;
    fs::write(fresh.join("pom.xml"), POM).map_err(failed)?;
    eprintln!("Maven downloads Hadoop {HADOOP} (once)");
    let run = Command::new("mvn")
        .args(["-q", "-B", "-f"])
        .arg(fresh.join("pom.xml"))
        .arg(format!("-Dhadoop.version={HADOOP}"))
        .args(["dependency:copy-dependencies", "-DincludeScope=runtime"])
        .arg(format!("-DoutputDirectory={}", fresh.display()))
        .stdin(Stdio::null())
        .output();
    let hint = "install Maven, or give a Hadoop installation by --hadoop or HADOOP_HOME";
    let why = match &run {
        Ok(run) if run.status.success() => {
            match fs::rename(&fresh, &folder) {
                // Another process was faster.
                Err(_) if folder.is_dir() => drop(fs::remove_dir_all(&fresh)),
                renamed => renamed.map_err(failed)?,
            }
            return Ok(folder);
        }
        Ok(run) => {
            let output = String::from_utf8_lossy(&run.stdout).into_owned();
            output.lines().find(|line| line.contains("ERROR")).unwrap_or("it printed no error").to_owned()
        }
        Err(e) => e.to_string(),
    };
    let _ = fs::remove_dir_all(&fresh);
    Err(Error::new(Code::Input, format!("Maven cannot download Hadoop: {why}")).hint(hint))
}
