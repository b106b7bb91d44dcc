//! Environment variables of a program, as Hadoop Streaming sets them: the settings of the job, with every character
//! other than a letter or a digit as `_`, and the place of the task.

use crate::operator::TaskContext;
use yunti_base::{Code, Error, Result};

/// Place of a task in the input, known when its first record comes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place<'a> {
    /// Input file of a map task.
    pub file: Option<&'a str>,
    /// Offset of the first record in the file.
    pub start: u64,
}

/// Variable that makes Python programs write a line at a time, which costs 2 to 3 times the processor time. Container
/// images often set it for the sake of logs.
pub const UNBUFFERED: &str = "PYTHONUNBUFFERED";

/// Prefix of settings that set a variable as it is: `stream.environment.LANG=C` sets `LANG`.
pub const VARIABLE_PREFIX: &str = "stream.environment.";

/// Setting: characters of a setting's value that the programs see at most; -1, the default: all.
const LENGTH_MAX: &str = "stream.jobconf.truncate.limit";

/// Returns the variables of a task's program. What the engine knows of the task has the name of Hadoop 1, too, which
/// many scripts read. Errors: `Usage` for a bad setting.
pub fn variables(context: &TaskContext, place: Place<'_>) -> Result<Vec<(String, String)>> {
    let mut all: Vec<(String, String)> = Vec::new();
    let mut set = |key: &str, value: String| all.push((name(key), value));
    let settings = &context.job.settings;
    let length_max = match context.setting(LENGTH_MAX) {
        Some(text) => text.trim().parse::<i64>().map_err(|_| {
            Error::new(
                Code::Usage,
                format!("{LENGTH_MAX}: '{text}' is not a whole number of characters, or -1 for all"),
            )
        })?,
        None => -1,
    };
    let length_max = usize::try_from(length_max).ok();
    for (key, value) in settings.iter().filter(|(key, _)| !key.starts_with(VARIABLE_PREFIX)) {
        set(key, value.chars().take(length_max.unwrap_or(usize::MAX)).collect());
    }
    let mut set_known = |key: &str, old: &str, value: String| {
        set(key, value.clone());
        set(old, value);
    };
    let kind = if context.is_reduce { 'r' } else { 'm' };
    let task = format!("local_0001_{kind}_{:06}", context.task);
    for (key, old, here) in [
        ("mapreduce.job.id", "mapred.job.id", "job_local_0001".to_string()),
        ("mapreduce.task.id", "mapred.tip.id", format!("task_{task}")),
        ("mapreduce.task.attempt.id", "mapred.task.id", format!("attempt_{task}_0")),
    ] {
        // A cluster's own identifiers are among the settings.
        set_known(key, old, context.setting(key).map_or(here, str::to_owned));
    }
    set_known("mapreduce.task.ismap", "mapred.task.is.map", (!context.is_reduce).to_string());
    set_known("mapreduce.task.partition", "mapred.task.partition", context.task.to_string());
    if let Some(file) = place.file {
        set_known("mapreduce.map.input.file", "map.input.file", file.into());
        set_known("mapreduce.map.input.start", "map.input.start", place.start.to_string());
    }
    all.push((name("mapreduce.job.reduces"), context.partitions.to_string()));
    let own = settings.iter().filter_map(|(key, value)| Some((key.strip_prefix(VARIABLE_PREFIX)?, value)));
    all.extend(own.map(|(name, value)| (name.to_owned(), value.clone())));
    Ok(all)
}

fn name(key: &str) -> String {
    key.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::context::JobContext;

    #[test]
    fn names_settings_and_the_place() {
        let settings = [("my.own-setting", "a b cut off"), (LENGTH_MAX, "3"), ("stream.environment.MY.own", "c")];
        let settings = settings.map(|(key, value)| (key.to_string(), value.to_string())).into();
        let job = JobContext::new(settings, Default::default(), Vec::new());
        let context = TaskContext::new(job, false, 3, 2);
        let all = variables(&context, Place { file: Some("in/a.txt"), start: 16 }).unwrap();
        for (key, value) in [
            ("my_own_setting", "a b"),
            ("MY.own", "c"),
            ("mapreduce_map_input_file", "in/a.txt"),
            ("map_input_file", "in/a.txt"),
            ("mapreduce_map_input_start", "16"),
            ("mapreduce_task_ismap", "true"),
            ("mapreduce_task_partition", "3"),
            ("mapreduce_job_reduces", "2"),
            ("mapreduce_task_attempt_id", "attempt_local_0001_m_000003_0"),
        ] {
            assert!(all.contains(&(key.into(), value.into())), "{key}: {all:?}");
        }
    }

    #[test]
    fn identifiers_of_a_cluster_have_both_names() {
        let settings = [("mapreduce.job.id", "job_7_0001"), ("mapreduce.task.attempt.id", "attempt_7_0001_r_000002_1")];
        let settings = settings.map(|(key, value)| (key.to_string(), value.to_string())).into();
        let context = TaskContext::new(JobContext::new(settings, Default::default(), Vec::new()), true, 2, 3);
        let all = variables(&context, Place::default()).unwrap();
        let of = |name: &str| all.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        assert_eq!([of("mapreduce_job_id"), of("mapred_job_id")], [Some("job_7_0001"); 2]);
        assert_eq!(of("mapred_task_id"), Some("attempt_7_0001_r_000002_1"));
        assert_eq!(of("mapred_tip_id"), Some("task_local_0001_r_000002"));
    }
}
