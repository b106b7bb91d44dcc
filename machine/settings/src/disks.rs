//! Disks: I/O scheduler and read-ahead of each disk; and the clock governor of the processors.

use crate::setting::{Advice, Setting, Values};
use crate::system::System;

const AREA: &str = "disks";
/// KiB, the kernel's default.
const READ_AHEAD_KIB: u64 = 128;
/// KiB. `yunti machine bench read-ahead` measures the gain on this machine.
const READ_AHEAD_GOOD_KIB: u64 = 512;
/// KiB, the largest value accepted.
const READ_AHEAD_MAX_KIB: u64 = 64 << 10;

/// Returns the settings of all disks, and of the clock governor.
pub fn settings(system: &System) -> Vec<Setting> {
    let mut all = Vec::new();
    for disk in system.names("sys/block") {
        // RAM disks and drives without a medium have no requests to schedule.
        if ["ram", "zram", "fd", "sr"].iter().any(|kind| disk.starts_with(kind)) || is_empty(system, &disk) {
            continue;
        }
        all.extend(scheduler(system, &disk));
        all.extend(read_ahead(system, &disk));
    }
    all.extend(governor(system));
    all
}

fn is_empty(system: &System, disk: &str) -> bool {
    system.number(format!("sys/block/{disk}/size")) == Some(0)
}

fn scheduler(system: &System, disk: &str) -> Option<Setting> {
    let path = format!("sys/block/{disk}/queue/scheduler");
    let chosen = system.chosen(&path)?;
    let words: Vec<String> =
        system.text(&path)?.split_whitespace().map(|w| w.trim_matches(['[', ']']).to_owned()).collect();
    let rotates = system.number(format!("sys/block/{disk}/queue/rotational")) == Some(1);
    let good = if rotates { "mq-deadline" } else { "none" };
    // The host schedules for a virtual disk that reports rotation. For one that does not, a sorting queue costs and
    // gains nothing.
    let is_virtual = disk.starts_with("vd") || disk.starts_with("xvd") || disk.starts_with("loop");
    let is_worse = match &*chosen {
        "bfq" | "cfq" => true,
        "none" | "noop" => rotates && !is_virtual,
        _ => false,
    };
    let values = Values::Word { paths: vec![path], words: words.clone() };
    let has = words.iter().any(|word| word == good);
    Some(
        Setting::new(format!("io-scheduler:{disk}"), AREA, chosen, values)
            .why(if rotates {
                "a disk that rotates needs its requests in order: each seek costs 5 to 10 ms"
            } else {
                "a disk without moving parts is as fast in any order: a scheduler that sorts and shares requests \
                 (bfq) costs processor time and leaves the disk idle"
            })
            .better(is_worse && has, Advice::Consider, good, "processes no longer get equal shares of the disk"),
    )
}

fn read_ahead(system: &System, disk: &str) -> Option<Setting> {
    let path = format!("sys/block/{disk}/queue/read_ahead_kb");
    let kib = system.number(&path)?;
    Some(
        Setting::new(
            format!("read-ahead:{disk}"),
            AREA,
            format!("{kib} KiB"),
            Values::Number { path, min: 0, max: READ_AHEAD_MAX_KIB },
        )
        .why(
            "bytes that the kernel reads ahead in a file read sequentially: with less the disk waits for the reader; \
            random reads are not affected",
        )
        .better(
            kib < READ_AHEAD_KIB,
            if kib < READ_AHEAD_KIB / 4 { Advice::Change } else { Advice::Consider },
            READ_AHEAD_GOOD_KIB.to_string(),
            "more page cache for files that are not read to their end",
        ),
    )
}

/// The clock governor of all processors: the governor that all of them have.
fn governor(system: &System) -> Option<Setting> {
    let folder = "sys/devices/system/cpu";
    let names = system.names(folder);
    let cpus = names.iter().filter(|name| name.strip_prefix("cpu").is_some_and(|n| n.parse::<u32>().is_ok()));
    let paths: Vec<String> =
        cpus.map(|cpu| format!("{folder}/{cpu}/cpufreq/scaling_governor")).filter(|path| system.has(path)).collect();
    let chosen = system.text(paths.first()?)?;
    let available = system.text(paths.first()?.replace("scaling_governor", "scaling_available_governors"))?;
    let words: Vec<String> = available.split_whitespace().map(str::to_owned).collect();
    // `powersave` of intel_pstate, or of amd-pstate in active mode, raises the clock by itself.
    let driver = system.text(paths.first()?.replace("scaling_governor", "scaling_driver")).unwrap_or_default();
    let by_itself = driver == "intel_pstate" || driver == "amd-pstate-epp";
    let has = words.iter().any(|word| word == "performance");
    Some(
        Setting::new("cpu-governor", "processor", format!("{chosen} ({driver})"), Values::Word { paths, words })
            .why("a clock that stays low, or is raised late: short requests end before it rises")
            .better(
                has && (chosen == "powersave" && !by_itself || chosen == "conservative"),
                Advice::Change,
                "performance",
                "more power and heat",
            ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::advice;

    #[test]
    fn each_rule_detects_its_problem() {
        let keep = Some((Advice::Keep, None));
        let is = |advice, value: &str| Some((advice, Some(value.to_owned())));
        let on = |disk: &str, chosen: &str, rotates: &str| {
            let all = "none mq-deadline kyber bfq".replace(chosen, &format!("[{chosen}]"));
            let queue = format!("sys/block/{disk}/queue");
            advice(
                &format!("io-scheduler:{disk}"),
                &[(&format!("{queue}/scheduler"), &all), (&format!("{queue}/rotational"), rotates)],
            )
        };
        assert_eq!(on("nvme0n1", "none", "0"), keep);
        assert_eq!(on("nvme0n1", "bfq", "0"), is(Advice::Consider, "none"));
        assert_eq!(on("sda", "none", "1"), is(Advice::Consider, "mq-deadline"));
        assert_eq!(on("sda", "mq-deadline", "1"), keep);
        assert_eq!(on("vda", "none", "1"), keep);
        let ahead = |kib: &str| advice("read-ahead:sda", &[("sys/block/sda/queue/read_ahead_kb", kib)]);
        assert_eq!((ahead("128\n"), ahead("4096\n")), (keep.clone(), keep.clone()));
        assert_eq!((ahead("64\n"), ahead("16\n")), (is(Advice::Consider, "512"), is(Advice::Change, "512")));
        assert_eq!(advice("read-ahead:sr0", &[("sys/block/sr0/queue/read_ahead_kb", "1")]), None);
        assert_eq!(
            advice("read-ahead:loop9", &[("sys/block/loop9/queue/read_ahead_kb", "1"), ("sys/block/loop9/size", "0")]),
            None
        );
        let governor = |chosen: &str, driver: &str| {
            let of = |file: &str| format!("sys/devices/system/cpu/cpu1/cpufreq/scaling_{file}");
            advice(
                "cpu-governor",
                &[
                    (&of("governor"), chosen),
                    (&of("driver"), driver),
                    (&of("available_governors"), "performance powersave conservative"),
                ],
            )
        };
        assert_eq!(governor("powersave", "acpi-cpufreq"), is(Advice::Change, "performance"));
        assert_eq!(
            (governor("powersave", "intel_pstate"), governor("performance", "acpi-cpufreq")),
            (keep.clone(), keep)
        );
    }
}
