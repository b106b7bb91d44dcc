//! Names of control groups: a container, a pod, a unit of systemd, a slice.

use std::path::Path;

/// Digits of a container id in its name.
const ID_SHOWN: usize = 12;
/// Shortest container or pod id.
const ID_MIN: usize = 32;
/// Prefixes of scope names by container manager, before the id.
const MANAGERS: [(&str, &str); 6] = [
    ("docker-", "docker"),
    ("libpod-", "podman"),
    ("cri-containerd-", "containerd"),
    ("crio-", "cri-o"),
    ("nerdctl-", "containerd"),
    ("lxc.payload.", "lxc"),
];

/// Name of a group: `docker 3f2a9b0c1d2e`, `pod 7e2c1f40 / containerd 3f2a9b0c1d2e`, `nginx.service`, `(all)`. Control
/// characters are replaced, because users may name groups freely.
pub fn of(group: &Path) -> String {
    let parts: Vec<String> =
        group.iter().skip(1).map(|part| part.to_string_lossy().replace(|c: char| c.is_control(), "?")).collect();
    let Some(last) = parts.last() else { return "(all)".to_owned() };
    let above = parts.iter().rev().nth(1).map_or("", String::as_str);
    let pod = parts.iter().rev().skip(1).find_map(|part| pod(part));
    match (container(last, above), pod) {
        (Some(container), Some(pod)) => format!("{pod} / {container}"),
        (Some(container), None) => container,
        (None, _) => self::pod(last).unwrap_or_else(|| last.clone()),
    }
}

fn container(name: &str, above: &str) -> Option<String> {
    let bare = name.strip_suffix(".scope").unwrap_or(name);
    for (beginning, manager) in MANAGERS {
        if let Some(id) = bare.strip_prefix(beginning) {
            return Some(format!("{manager} {}", id.chars().take(ID_SHOWN).collect::<String>()));
        }
    }
    let is_id = bare.len() >= ID_MIN && bare.bytes().all(|byte| byte.is_ascii_hexdigit());
    let manager = if above == "docker" { "docker" } else { "container" };
    is_id.then(|| format!("{manager} {}", &bare[..ID_SHOWN]))
}

/// Name of a pod from `kubepods-burstable-pod7e2c1f40_0a1b_..slice` or `pod7e2c1f40-0a1b-..`.
fn pod(name: &str) -> Option<String> {
    let bare = name.strip_suffix(".slice").unwrap_or(name);
    let id = match bare.strip_prefix("pod") {
        Some(id) => id,
        None => bare.starts_with("kubepods").then(|| bare.rsplit_once("-pod"))??.1,
    };
    let id = id.replace('_', "-");
    let is_id = id.len() >= ID_MIN && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    is_id.then(|| format!("pod {}", id.chars().take(8).collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::of;
    use std::path::Path;

    #[test]
    fn names_groups() {
        let id = "3f2a9b0c1d2e4f5061728394a5b6c7d8e9f00112233445566778899aabbccdde";
        let uid = "7e2c1f40-0a1b-4c2d-8e3f-0123456789ab";
        for (path, name) in [
            ("/", "(all)".to_owned()),
            (&format!("/docker/{id}"), "docker 3f2a9b0c1d2e".to_owned()),
            (&format!("/system.slice/docker-{id}.scope"), "docker 3f2a9b0c1d2e".to_owned()),
            (&format!("/machine.slice/libpod-{id}.scope"), "podman 3f2a9b0c1d2e".to_owned()),
            (&format!("/kubepods/burstable/pod{uid}/{id}"), "pod 7e2c1f40 / container 3f2a9b0c1d2e".to_owned()),
            (
                &format!(
                    "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{}.slice/cri-containerd-{id}.scope",
                    uid.replace('-', "_")
                ),
                "pod 7e2c1f40 / containerd 3f2a9b0c1d2e".to_owned(),
            ),
            (&format!("/kubepods/pod{uid}"), "pod 7e2c1f40".to_owned()),
            ("/system.slice/nginx.service", "nginx.service".to_owned()),
            ("/podcasts", "podcasts".to_owned()),
            ("/a/\u{1b}[2Jb", "?[2Jb".to_owned()),
        ] {
            assert_eq!(of(Path::new(path)), name, "{path}");
        }
    }
}
