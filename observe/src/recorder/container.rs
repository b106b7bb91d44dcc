//! Container of a process, by the names of its control groups.

use std::fs;

use yunti_probe::target::Process;

/// Digits of a container's number that are kept, as container tools show them.
const DIGITS: usize = 12;

/// Returns the container or the unit of a process: the first digits of a container's number, or `shop.service`. Empty
/// for a process in none.
pub fn container(process: &Process) -> String {
    let groups = fs::read_to_string(format!("/proc/{}/cgroup", process.pid)).unwrap_or_default();
    groups.lines().filter_map(|line| of_path(line.splitn(3, ':').nth(2)?)).next().unwrap_or_default()
}

/// Returns the name in a path of control groups, innermost group first.
fn of_path(path: &str) -> Option<String> {
    let parts = || path.rsplit('/').filter(|part| !part.is_empty());
    parts().find_map(number).or_else(|| parts().find(|part| part.ends_with(".service")).map(str::to_owned))
}

/// Returns the number in a group's name: `docker-0123..cdef.scope`, `cri-containerd-0123..cdef.scope`, `0123..cdef`.
fn number(part: &str) -> Option<String> {
    const LENGTH: usize = 64;
    let name = part.trim_end_matches(".scope");
    let last = name.rsplit(['-', ':']).next()?;
    let is_number = last.len() == LENGTH && last.bytes().all(|b| b.is_ascii_hexdigit());
    is_number.then(|| last[..DIGITS].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_containers_and_units() {
        let id = "0123456789abcdef".repeat(4);
        let check = |path: String, expected: Option<&str>| assert_eq!(of_path(&path).as_deref(), expected, "{path}");
        check(format!("/docker/{id}"), Some("0123456789ab"));
        check(format!("/system.slice/docker-{id}.scope"), Some("0123456789ab"));
        check(format!("/kubepods.slice/kubepods-pod7.slice/cri-containerd-{id}.scope/init"), Some("0123456789ab"));
        check("/system.slice/shop.service".to_owned(), Some("shop.service"));
        check("/user.slice/user-0.slice/session-1.scope".to_owned(), None);
        check("/".to_owned(), None);
    }
}
