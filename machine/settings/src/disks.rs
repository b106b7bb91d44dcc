//! Disks: who decides the order of requests, and how much is read ahead; and the clock of processors.

use crate::setting::{Advice, Setting, Takes};
use crate::system::System;

const AREA: &str = "disks";
/// What the kernel reads ahead unless it is told otherwise.
const READ_AHEAD_KIB: u64 = 128;
/// What it is worth here is measured: `yunti machine bench read-ahead`.
const READ_AHEAD_GOOD_KIB: u64 = 512;
const READ_AHEAD_MAX_KIB: u64 = 64 << 10;

pub fn settings(system: &System) -> Vec<Setting> {
    let mut all = Vec::new();
    for disk in system.names("sys/block") {
        // Memory, and what has no medium.
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
    // Of a virtual disk that says it rotates the host decides; of one that does not, a queue that sorts costs and gains nothing.
    let is_virtual = disk.starts_with("vd") || disk.starts_with("xvd") || disk.starts_with("loop");
    let is_worse = match &*chosen {
        "bfq" | "cfq" => true,
        "none" | "noop" => rotates && !is_virtual,
        _ => false,
    };
    let takes = Takes::Word { paths: vec![path], words: words.clone() };
    let has = words.iter().any(|word| word == good);
    Some(
        Setting::new(format!("io-scheduler:{disk}"), AREA, chosen, takes)
            .why(if rotates {
                "a disk that rotates wants its requests in order: each jump costs 5 to 10 ms"
            } else {
                "a disk without moving parts is as fast in any order: who sorts and shares its requests (bfq) costs processor time and keeps it idle"
            })
            .better(is_worse && has, Advice::Consider, good, "processes are not given equal shares of the disk"),
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
            Takes::Number { path, min: 0, max: READ_AHEAD_MAX_KIB },
        )
        .why("a file that is read in order is read so far ahead: with less the disk waits for the reader; random reads are not concerned")
        .better(
            kib < READ_AHEAD_KIB,
            if kib < READ_AHEAD_KIB / 4 { Advice::Change } else { Advice::Consider },
            READ_AHEAD_GOOD_KIB.to_string(),
            "page cache for files that are read in order and given up in their middle",
        ),
    )
}

/// Of all processors; what they have in common.
fn governor(system: &System) -> Option<Setting> {
    let folder = "sys/devices/system/cpu";
    let names = system.names(folder);
    let cpus = names.iter().filter(|name| name.strip_prefix("cpu").is_some_and(|n| n.parse::<u32>().is_ok()));
    let paths: Vec<String> =
        cpus.map(|cpu| format!("{folder}/{cpu}/cpufreq/scaling_governor")).filter(|path| system.has(path)).collect();
    let chosen = system.text(paths.first()?)?;
    let available = system.text(paths.first()?.replace("scaling_governor", "scaling_available_governors"))?;
    let words: Vec<String> = available.split_whitespace().map(str::to_owned).collect();
    // What drivers of the processor's own (intel_pstate, amd-pstate in active mode) call powersave raises the clock by itself.
    let driver = system.text(paths.first()?.replace("scaling_governor", "scaling_driver")).unwrap_or_default();
    let by_itself = driver == "intel_pstate" || driver == "amd-pstate-epp";
    let has = words.iter().any(|word| word == "performance");
    Some(
        Setting::new("cpu-governor", "processor", format!("{chosen} ({driver})"), Takes::Word { paths, words })
            .why("a clock that stays low, or is raised late: short requests end before it is")
            .better(
                has && (chosen == "powersave" && !by_itself || chosen == "conservative"),
                Advice::Change,
                "performance",
                "power, and heat",
            ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    fn advice(name: &str, files: &[(&str, &str)]) -> Option<(Advice, Option<String>)> {
        let tree = Tree::of(files);
        let setting = settings(&tree.system()).into_iter().find(|s| s.name == name)?;
        if let Some(value) = &setting.recommended {
            setting.wanted(&tree.system(), value).unwrap_or_else(|e| panic!("{name}: {e}"));
        }
        Some((setting.advice, setting.recommended))
    }

    #[test]
    fn each_rule_holds_and_is_broken() {
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
