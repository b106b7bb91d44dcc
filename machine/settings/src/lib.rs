//! Settings of the machine that matter to data jobs and JVMs: present value, better value, reason and cost, and the
//! writes that change and restore it. This crate writes nothing.
//!
//! ```text
//!   system.rs       proc and sys as text, below a root       tree.rs     such a root, for tests
//!   change.rs       a change: files to write, and how to restore them
//!   dirty_limit.rs  the change of the dirty limits, four files that depend on each other
//!   value.rs        numbers, sizes and ranges as a person writes them
//!   setting.rs      one setting, and the values that it accepts
//!   memory.rs       huge pages, swappiness, dirty limits, NUMA, mappings
//!   disks.rs        scheduler and read-ahead of each disk, clock of processors
//!   network.rs      TIME_WAIT, ports, accept queues
//! ```
//! `yunti machine doctor` prints the settings. `yunti machine apply` and `undo` change them, with a journal.

mod change;
mod dirty_limit;
mod disks;
mod memory;
mod network;
mod setting;
mod system;
#[doc(hidden)]
pub mod tree;
pub mod value;

pub use change::{Change, Write, value_of};
pub use memory::dirty_bytes_max;
pub use setting::{Advice, Setting, Values};
pub use system::System;

/// Returns all settings of this machine, in the order in which they are printed.
pub fn all(system: &System) -> Vec<Setting> {
    let mut all = memory::settings(system);
    all.extend(disks::settings(system));
    all.extend(network::settings(system));
    all
}

/// Returns the setting with this name, such as `swappiness` or `read-ahead:sda`. `read-ahead` alone is enough on a
/// machine with one disk.
pub fn named(system: &System, name: &str) -> Option<Setting> {
    let mut found: Vec<Setting> = all(system)
        .into_iter()
        .filter(|s| s.name == name || s.name.split_once(':').is_some_and(|(kind, _)| kind == name))
        .collect();
    if found.len() == 1 { found.pop() } else { found.into_iter().find(|s| s.name == name) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    /// Files of a machine with the kernel's default limits of dirty pages, which are ratios.
    pub const RATIOS: [(&str, &str); 5] = [
        ("proc/sys/vm/dirty_ratio", "20\n"),
        ("proc/sys/vm/dirty_background_ratio", "10\n"),
        ("proc/sys/vm/dirty_bytes", "0\n"),
        ("proc/sys/vm/dirty_background_bytes", "0\n"),
        ("proc/meminfo", "MemTotal: 64000000 kB\nMemAvailable: 60000000 kB\n"),
    ];

    /// Advice and recommended value of setting `name` on a machine of these files. Panics if the setting refuses the
    /// value.
    pub fn advice(name: &str, files: &[(&str, &str)]) -> Option<(Advice, Option<String>)> {
        let tree = Tree::of(files);
        let setting = all(&tree.system()).into_iter().find(|s| s.name == name)?;
        if let Some(value) = &setting.recommended {
            setting.change_to(&tree.system(), value).unwrap_or_else(|e| panic!("{name}: {e}"));
        }
        Some((setting.advice, setting.recommended))
    }

    /// Each setting refuses each of these texts in one line, with the text and what is allowed instead.
    #[test]
    fn every_setting_refuses_wrong_values() {
        let mut files = RATIOS.to_vec();
        files.extend([
            ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
            ("sys/kernel/mm/transparent_hugepage/defrag", "always defer defer+madvise [madvise] never\n"),
            ("proc/sys/vm/swappiness", "60\n"),
            ("proc/sys/vm/zone_reclaim_mode", "0\n"),
            ("proc/sys/vm/max_map_count", "65530\n"),
            ("proc/sys/kernel/numa_balancing", "0\n"),
            ("sys/block/sda/queue/scheduler", "[none] mq-deadline\n"),
            ("sys/block/sda/queue/read_ahead_kb", "128\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_available_governors", "performance powersave\n"),
            ("proc/sys/net/ipv4/tcp_tw_reuse", "2\n"),
            ("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n"),
            ("proc/sys/net/ipv4/tcp_fin_timeout", "60\n"),
            ("proc/sys/net/core/somaxconn", "4096\n"),
        ]);
        let tree = Tree::of(&files);
        let system = tree.system();
        let settings = all(&system);
        assert_eq!(settings.len(), 14);
        for setting in settings {
            for text in ["", "x", "-1", "1.5", "7 ", "99999T", "99999999999999999999", "5X"] {
                let refusal = setting.change_to(&system, text).err();
                let refusal = refusal.unwrap_or_else(|| panic!("{} takes '{text}'", setting.name));
                let has_allowed = refusal.contains("; give ") || refusal.contains("one of ");
                assert!(
                    has_allowed && (text.is_empty() || refusal.contains(text.trim())),
                    "{}: {refusal}",
                    setting.name
                );
            }
            // The limits themselves are accepted, and the numbers beside them are not.
            if let Values::Number { min, max, .. } = setting.values {
                assert!(
                    [min, max].iter().all(|n| setting.change_to(&system, &n.to_string()).is_ok()),
                    "{}",
                    setting.name
                );
                assert!(setting.change_to(&system, &(max + 1).to_string()).unwrap_err().contains("too large"));
                assert!(min == 0 || setting.change_to(&system, &(min - 1).to_string()).unwrap_err().contains("small"));
            }
        }
    }
}
