//! Jobs of Yunti: processes of `yunti run`, which have rows of their own beside the groups they are in.

use std::fs;

use yunti_probe::target::{Process, arguments};

/// Process of a running job.
#[derive(Clone, Debug)]
pub struct Job {
    /// Process.
    pub pid: u32,
    /// Group of the CPU controller, by /proc/PID/cgroup.
    pub group: String,
    /// Resident memory without a file.
    pub anonymous_bytes: u64,
    /// Resident mapped pages of files.
    pub file_bytes: u64,
    /// Bytes read from devices.
    pub read_bytes: u64,
    /// Bytes written to devices.
    pub written_bytes: u64,
}

/// Returns the jobs among the processes `pids`.
pub fn find(pids: impl Iterator<Item = u32>) -> Vec<Job> {
    pids.filter_map(job).collect()
}

fn job(pid: u32) -> Option<Job> {
    let process = Process::of(pid).ok().filter(|process| process.name == "yunti")?;
    if arguments(process.pid).get(1).map(String::as_str) != Some("run") {
        return None;
    }
    let read = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
    let (status, io, groups) = (read("status"), read("io"), read("cgroup"));
    let kib = |name: &str| number(&status, name) * 1024;
    Some(Job {
        pid,
        group: group(&groups).unwrap_or_else(|| "/".to_owned()),
        anonymous_bytes: kib("RssAnon:"),
        file_bytes: kib("RssFile:"),
        read_bytes: number(&io, "read_bytes:"),
        written_bytes: number(&io, "write_bytes:"),
    })
}

fn number(text: &str, name: &str) -> u64 {
    let rest = text.lines().find_map(|line| line.strip_prefix(name));
    rest.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Group of the CPU controller, `4:cpu,cpuacct:/a/b`, else of version 2, `0::/a/b`.
fn group(text: &str) -> Option<String> {
    let of = |wanted: fn(&str) -> bool| {
        text.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            wanted(parts.next()?).then(|| parts.next().map(str::to_owned))?
        })
    };
    of(|controllers| controllers.split(',').any(|c| c == "cpu")).or_else(|| of(str::is_empty))
}

#[cfg(test)]
mod tests {
    use super::group;

    #[test]
    fn parses_groups_of_both_versions() {
        assert_eq!(group("5:memory:/m\n4:cpu,cpuacct:/a/b\n0::/u\n").as_deref(), Some("/a/b"));
        assert_eq!(group("0::/user.slice\n").as_deref(), Some("/user.slice"));
        assert_eq!(group(""), None);
    }
}
