//! `--on yarn`: queries on the cluster of the `hadoop` in PATH.

use std::path::PathBuf;
use std::sync::Arc;

use yunti_base::{Code, Error, Result};
use yunti_engine::job::spec::parse_size;
use yunti_outside::library;
use yunti_sql_cluster::cut::Choices;
use yunti_sql_cluster::job::Libraries;
use yunti_sql_cluster::{Yarn, client};

use crate::flags::Flags;

/// Library of the tasks, and the variable that names another.
const LIBRARY: (&str, &str) = ("libyunti_sql.so", "YUNTI_SQL_TASKS");
/// Memory of a query in each task, if no flag sets it: with the JVM a container of a GiB.
const MEMORY_BYTES_DEFAULT: u64 = 448 << 20;

/// Settings of the cut.
const SMALL: &str = "yunti.sql.small.bytes";
const BY_REDUCE: &str = "yunti.sql.reduce.bytes";
/// Hadoop's own name for the largest split: shared tables are divided alike.
const SPLIT: &str = "mapreduce.input.fileinputformat.split.maxsize";
/// Hadoop's own name for the number of reduce tasks.
const REDUCES: &str = "mapreduce.job.reduces";

/// Returns true for a setting of Hadoop, or of a query on it.
pub fn is_of_hadoop(name: &str) -> bool {
    ["mapreduce.", "mapred.", "yarn.", "dfs.", "fs.", "hadoop.", "yunti."].iter().any(|prefix| name.starts_with(prefix))
}

/// Returns the cluster that runs the queries, if a flag asks for one.
///
/// Errors: `Usage` without Hadoop's client, and for settings that it would not use.
pub fn cluster(flags: &Flags) -> Result<Option<Arc<Yarn>>> {
    let hadoop = flags.options.iter().filter(|(name, _)| is_of_hadoop(name));
    if flags.on.is_none() {
        return match hadoop.map(|(name, _)| name).next() {
            Some(name) => Err(Error::new(Code::Usage, format!("{name} is a setting of Hadoop")).hint("add --on yarn")),
            None => Ok(None),
        };
    }
    client::program()?;
    let lacks = |file: &str, make: &str| {
        Error::new(Code::Usage, format!("a cluster needs {file}, which is not beside this program"))
            .hint(format!("build it with make {make}"))
    };
    let mut choices = Choices::default();
    let mut settings = Vec::new();
    for (name, value) in hadoop {
        let size = || parse_size(value).map_err(|e| Error::new(Code::Usage, format!("-D {name}={value}: {e}")));
        match &name[..] {
            SMALL => choices.small_bytes = size()?,
            BY_REDUCE => choices.reduce_bytes = size()?,
            SPLIT => {
                choices.part_bytes = size()?;
                settings.push((name.clone(), value.clone()));
            }
            REDUCES => {
                let number = value.parse().ok().filter(|number| (1..=1 << 16).contains(number));
                let wrong = || Error::new(Code::Usage, format!("-D {name}={value}: it is no number from 1 to 65536"));
                choices.reduces = Some(number.ok_or_else(wrong)?);
            }
            _ => settings.push((name.clone(), value.clone())),
        }
    }
    Ok(Some(Arc::new(Yarn {
        choices,
        libraries: Libraries {
            query: library::find_file(LIBRARY.0, LIBRARY.1).ok_or_else(|| lacks(LIBRARY.0, "sql"))?,
            formats: library::find().ok_or_else(|| lacks("libyunti_formats.so", "formats"))?,
        },
        settings,
        memory_bytes: flags.memory.unwrap_or(MEMORY_BYTES_DEFAULT),
        home: format!("hdfs:///user/{}", user()?),
        is_quiet: flags.quiet || flags.statements,
        reporter: flags.analyze.then(|| reporter()).transpose()?,
        reports: Default::default(),
    })))
}

/// Returns the program `yunti`, which is beside this one.
fn reporter() -> Result<PathBuf> {
    let own = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.parent()?.join("bin/yunti")));
    own.filter(|path| path.is_file()).ok_or_else(|| Error::new(Code::Usage, "the program yunti is not beside this one"))
}

/// Returns the user whose home on the cluster relative paths begin at.
fn user() -> Result<String> {
    let named = ["HADOOP_USER_NAME", "USER", "LOGNAME"].into_iter().find_map(|name| std::env::var(name).ok());
    let named = named.filter(|name| !name.is_empty()).or_else(|| {
        let done = std::process::Command::new("id").arg("-un").output().ok()?;
        Some(String::from_utf8(done.stdout).ok()?.trim().to_string())
    });
    named
        .filter(|name| !name.is_empty())
        .ok_or_else(|| Error::new(Code::Usage, "the name of the user is unknown").hint("set HADOOP_USER_NAME"))
}
