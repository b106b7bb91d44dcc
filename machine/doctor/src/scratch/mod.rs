//! Scratch directories: what file system they are on, and whether it is a good place for spills.

mod features;
pub mod trial;

use std::path::{Path, PathBuf};

use super::finding::{Finding, Level};
use trial::{Jump, Trial};
use yunti_program::text::numbers;
use yunti_settings::System;

const AREA: &str = "scratch";
/// Less is soon full.
const ROOM_BYTES: u64 = 10 << 30;
const ROOM_LEAST_BYTES: u64 = 1 << 30;
/// Slower than this, spills are what a job waits for (MB/s).
const SLOW: f64 = 300.0;
const READ_AHEAD_KIB: u64 = 128;
/// More brings nothing to one reader.
const READ_AHEAD_ENOUGH_KIB: u64 = 2048;
/// Less is noise of so short a measurement.
const WORTH_IT: f64 = 1.25;
/// Whoever waits longer notices.
const LONG_SECONDS: f64 = 30.0;
/// What may well be dirty.
const GOOD_SECONDS: f64 = 2.0;

/// A line of `proc/self/mountinfo`.
#[derive(Debug, PartialEq)]
struct Mount {
    point: PathBuf,
    device: String,
    kind: String,
    options: String,
}

pub fn findings(system: &System, dir: &Path, trial: &Trial) -> Vec<Finding> {
    let mut findings = of_directory(system, dir, trial);
    findings.iter_mut().for_each(|finding| finding.place = Some(dir.display().to_string()));
    findings
}

fn of_directory(system: &System, dir: &Path, trial: &Trial) -> Vec<Finding> {
    let name = dir.display();
    if let Err(word) = &trial.writable {
        let finding =
            Finding::new(AREA, "directory", format!("{name}: {word}"), "a job that spills there ends with exit code 5");
        return vec![finding.level(Level::Warning).change("make it, or say another --scratch")];
    }
    let whole = dir.canonicalize().unwrap_or_else(|_| dir.to_path_buf());
    let mount = system.text("proc/self/mountinfo").and_then(|text| mount_of(&text, &whole));
    let mut findings = Vec::new();
    findings.push(match &mount {
        Some(mount) => file_system(dir, mount),
        None => Finding::new(AREA, "directory", format!("{name}: its file system is not told"), "").level(Level::Note),
    });
    findings.extend(trial.free_bytes.map(room));
    findings.push(abilities(trial));
    if let Some(mount) = &mount {
        findings.push(options(mount, trial));
        findings.extend(
            device_name(system, mount).and_then(|device| features::finding(system, &mount.kind, &device, trial)),
        );
        findings.extend(disk(system, mount, trial));
        findings.extend(ahead(system, mount, trial));
    }
    findings.extend(writeback(system, trial));
    findings.extend(trial.speed.map(|speed| {
        let seen =
            format!("{} in, {} out, through the page cache", numbers::rate(speed.write), numbers::rate(speed.read));
        let why =
            "spills go through the page cache; a large one goes at the speed of the disk in the end (yunti machine limits)";
        Finding::new(AREA, "speed", seen, why).warning_if(speed.write < SLOW).change("say a --scratch on a faster disk")
    }));
    findings
}

fn file_system(dir: &Path, mount: &Mount) -> Finding {
    let seen = format!("{}: {} on {}", dir.display(), mount.kind, mount.point.display());
    let has = |option: &str| mount.options.split(',').any(|o| o == option);
    let (level, why, change) = match &*mount.kind {
        "tmpfs" | "ramfs" => (
            Level::Warning,
            "spills there take memory, of the same control group: what was spilled to save memory is still in it",
            "say a --scratch on a disk, or more --memory in place of spilling",
        ),
        "nfs" | "nfs4" | "cifs" | "smb3" | "9p" | "virtiofs" | "ceph" | "glusterfs" | "lustre" => {
            (Level::Warning, "spills cross the network twice", "say a --scratch on a local disk")
        }
        kind if kind.starts_with("fuse") => {
            (Level::Warning, "each block goes through another process", "say a --scratch on a local disk")
        }
        "overlay" => (
            Level::Note,
            "the container's own layer, often on the disk of the system",
            "mount a volume and say it as --scratch",
        ),
        _ if has("sync") => (
            Level::Warning,
            "mounted with sync: each write waits for the disk",
            "remount it with async, or say another --scratch",
        ),
        _ => (Level::Ok, "spills go to a local file system", ""),
    };
    Finding::new(AREA, "directory", seen, why).level(level).change(change)
}

/// How it is mounted, and made.
fn options(mount: &Mount, trial: &Trial) -> Finding {
    let has = |option: &str| mount.options.split(',').any(|o| o == option);
    let on_disk = matches!(&*mount.kind, "ext4" | "ext3" | "ext2" | "xfs" | "btrfs" | "f2fs");
    let point = mount.point.display();
    // The worst is told.
    let (level, why, change, undo) = match () {
        () if has("data=journal") => (
            Level::Warning,
            "all data are written twice, to the journal first",
            format!("mount {point} without data=journal"),
            None,
        ),
        () if has("nodelalloc") => (
            Level::Note,
            "blocks are chosen at each write: files that grow side by side lie in pieces",
            format!("mount {point} without nodelalloc"),
            None,
        ),
        () if has("nobarrier") || has("barrier=0") => (
            Level::Note,
            "what was synced can be lost with the power, and the file system with it: good for scratch alone",
            format!("sudo mount -o remount,barrier {point}"),
            Some(format!("sudo mount -o remount,nobarrier {point}")),
        ),
        () if has("discard") => (
            Level::Note,
            "blocks are discarded as files are deleted: on many disks other requests wait for that; fstrim does it once a week",
            format!("sudo mount -o remount,nodiscard {point}"),
            Some(format!("sudo mount -o remount,discard {point}")),
        ),
        () if on_disk && !has("noatime") && !has("relatime") && !has("ro") => (
            Level::Note,
            "each read of a file writes when that was",
            format!("sudo mount -o remount,noatime {point}"),
            Some(format!("sudo mount -o remount,strictatime {point}")),
        ),
        () if on_disk && trial.block_bytes.is_some_and(|bytes| bytes < 4096) => (
            Level::Note,
            "blocks are smaller than a page: several requests and extents in place of one",
            "make the file system for scratch anew: sudo yunti machine make-spill".to_owned(),
            None,
        ),
        () => (Level::Ok, "nothing in how it is mounted costs much", String::new(), None),
    };
    let cost = match () {
        () if has("data=journal") || has("nodelalloc") => "it is mounted anew",
        () if has("nobarrier") || has("barrier=0") => "each sync waits for the disk's own cache",
        () if has("discard") => "fstrim must run now and then: the disk does not know what is free until it does",
        () if trial.block_bytes.is_some_and(|bytes| bytes < 4096) => "what is on it must be copied first",
        () => "programs that go by times of access, such as old mail readers, see none",
    };
    let finding = Finding::new(AREA, "options", mount.options.clone(), why).level(level).change(change).cost(cost);
    match undo {
        Some(undo) => finding.undo(undo),
        None => finding,
    }
}

/// How long what may be dirty takes to be written, when all who write wait for it.
fn writeback(system: &System, trial: &Trial) -> Option<Finding> {
    let (limit, _) = yunti_settings::dirty_bytes_max(system)?;
    let rate = trial.synced.filter(|rate| *rate > 0.0)?;
    let seconds = limit as f64 / (rate * 1e6);
    let seen = format!(
        "{} may be dirty; measured: {} to the disk, {} for all of it",
        numbers::memory(limit),
        numbers::rate(rate),
        numbers::seconds(seconds)
    );
    let good_mib = ((rate * 1e6 * GOOD_SECONDS) as u64 >> 20).clamp(64, 4096);
    let why = "so long a sync of some bytes may wait, and whoever writes then";
    let finding = Finding::new(AREA, "writeback", seen, why).note_if(seconds > LONG_SECONDS);
    let change = format!("sudo yunti machine apply dirty-limit={good_mib}M");
    Some(finding.change(change).cost("writers wait for the disk sooner").undo("sudo yunti machine undo dirty-limit"))
}

/// Whether the disk waits for who reads in order.
fn ahead(system: &System, mount: &Mount, trial: &Trial) -> Option<Finding> {
    let measured = trial.ahead?;
    let disk = disk_name(system, mount)?;
    let kib = system.number(queue(system, mount).join("read_ahead_kb"))?;
    let seen = format!(
        "{kib} KiB; measured, in order from the disk: {}, with twice as much {}",
        numbers::rate(measured.usual),
        numbers::rate(measured.doubled)
    );
    let why = "who reads in order waits for the disk, or the disk for him: more is read ahead at a time";
    let finding = Finding::new(AREA, "read-ahead", seen, why)
        .note_if(kib < READ_AHEAD_ENOUGH_KIB && measured.doubled > measured.usual * WORTH_IT);
    let change = format!("sudo yunti machine apply read-ahead:{disk}={}", (4 * kib).max(READ_AHEAD_KIB));
    let finding = finding.change(change).cost("page cache for files that are not read to their end");
    Some(finding.undo(format!("sudo yunti machine undo read-ahead:{disk}")))
}

/// Reads of the disk at once, by their places: what a scheduler could gain by sorting them.
pub fn tell_of_scheduler(system: &System, dir: &Path, trial: &Trial, findings: &mut [Finding]) {
    let whole = dir.canonicalize().unwrap_or_else(|_| dir.to_path_buf());
    let mount = system.text("proc/self/mountinfo").and_then(|text| mount_of(&text, &whole));
    let disk = mount.and_then(|mount| disk_name(system, &mount));
    let Some((jump, disk)) = trial.jump.zip(disk) else { return };
    for finding in findings.iter_mut().filter(|f| f.name == "io-scheduler" && f.place.as_deref() == Some(&*disk)) {
        if !finding.seen.contains("measured") {
            finding.seen += &format!("; measured: {}", jumps(jump));
        }
    }
}

fn jumps(jump: Jump) -> String {
    format!("4 KiB from the next place in {:.0} us, from another one in {:.0} us", jump.next_us, jump.other_us)
}

/// `sda1`, as the kernel calls it.
fn device_name(system: &System, mount: &Mount) -> Option<String> {
    let device = system.root().join("sys/dev/block").join(&mount.device).canonicalize().ok()?;
    Some(device.file_name()?.to_str()?.to_owned())
}

/// `sda` of a partition of it.
fn disk_name(system: &System, mount: &Mount) -> Option<String> {
    let device = system.root().join("sys/dev/block").join(&mount.device).canonicalize().ok()?;
    let disk = if device.join("partition").exists() { device.parent()?.to_path_buf() } else { device };
    Some(disk.file_name()?.to_str()?.to_owned())
}

fn room(free: u64) -> Finding {
    let why =
        "a sort that does not fit --memory needs as much room as its records, and a full disk ends it with exit code 5";
    Finding::new(AREA, "room", format!("{} free", numbers::bytes(free)), why)
        .note_if(free < ROOM_BYTES)
        .warning_if(free < ROOM_LEAST_BYTES)
        .change("free some, or name more directories: --scratch may be repeated")
}

fn abilities(trial: &Trial) -> Finding {
    let abilities = [
        ("files without names", &trial.nameless, "else a name is there for a moment"),
        ("blocks asked for first", &trial.allocates, "else writes cost up to twice as much"),
        ("holes", &trial.punches, "else merged runs keep their room until the end"),
    ];
    let lacks: Vec<String> = abilities
        .iter()
        .filter_map(|(name, result, else_)| Some(format!("no {name} ({}; {else_})", result.as_ref().err()?)))
        .collect();
    let seen = if lacks.is_empty() {
        "files without names, blocks asked for first, holes".to_string()
    } else {
        lacks.join("; ")
    };
    Finding::new(
        AREA,
        "abilities",
        seen,
        "runs have no names, ask for their blocks, and give them back as they are merged",
    )
    .note_if(!lacks.is_empty())
    .change("ext4, xfs and btrfs have all of them")
}

/// The queue of the device, or of the disk that it is a partition of.
fn queue(system: &System, mount: &Mount) -> PathBuf {
    let device = Path::new("sys/dev/block").join(&mount.device);
    if system.has(device.join("partition")) { device.join("../queue") } else { device.join("queue") }
}

fn disk(system: &System, mount: &Mount, trial: &Trial) -> Option<Finding> {
    let queue = queue(system, mount);
    let rotates = system.number(queue.join("rotational"))? == 1;
    let read_ahead = system.number(queue.join("read_ahead_kb"));
    let small = read_ahead.is_some_and(|kib| kib < READ_AHEAD_KIB);
    let mut seen = if rotates { "says that it rotates" } else { "no moving parts" }.to_string();
    if let Some(kib) = read_ahead {
        seen += &format!(", {kib} KiB read ahead");
    }
    if let Some(jump) = trial.jump {
        seen += &format!("; measured: {}", jumps(jump));
    }
    let finding = Finding::new(
        AREA,
        "disk",
        seen,
        "a merge reads many runs at once: on a disk that rotates, each switch is a seek; virtual disks often say so without need",
    );
    let finding = finding.note_if(rotates || small);
    Some(match (small, read_ahead) {
        (true, Some(kib)) => {
            let set = |kib: u64| format!("echo {kib} | sudo tee /{}", queue.join("read_ahead_kb").display());
            finding.change(set(4 * READ_AHEAD_KIB)).undo(set(kib))
        }
        _ => {
            finding.change("more --memory, so that there are fewer runs; or a --scratch on a disk without moving parts")
        }
    })
}

/// The mount that holds `dir`: the longest point that is above it; of two on the same point the later one.
fn mount_of(mountinfo: &str, dir: &Path) -> Option<Mount> {
    let mounts = mountinfo.lines().filter_map(|line| {
        let (place, source) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(2);
        let (device, _, point, options) = (place.next()?, place.next()?, place.next()?, place.next()?);
        let mut source = source.split(' ');
        let (kind, of_super) = (source.next()?, source.nth(1).unwrap_or(""));
        let point = PathBuf::from(unescaped(point));
        let mount = Mount { point, device: device.into(), kind: kind.into(), options: format!("{options},{of_super}") };
        dir.starts_with(&mount.point).then_some(mount)
    });
    mounts.max_by_key(|mount| mount.point.components().count())
}

/// `\040` is a space, and so on.
fn unescaped(text: &str) -> String {
    ["\\040", "\\011", "\\012", "\\134"]
        .iter()
        .zip([" ", "\t", "\n", "\\"])
        .fold(text.into(), |t, (code, c)| t.replace(code, c))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{level_of, machine};
    use super::trial::{Ahead, Speed};
    use super::*;

    fn good() -> Trial {
        let speed = Some(Speed { write: 900.0, read: 5000.0 });
        Trial {
            writable: Ok(()),
            nameless: Ok(()),
            allocates: Ok(()),
            punches: Ok(()),
            free_bytes: Some(1 << 40),
            speed,
            synced: Some(900.0),
            ahead: Some(Ahead { usual: 900.0, doubled: 950.0 }),
            block_bytes: Some(4096),
            sync_ms: Some(1.0),
            jump: Some(Jump { next_us: 90.0, other_us: 100.0 }),
        }
    }

    #[test]
    fn the_longest_mount_point_holds_a_directory() {
        let text = "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 0:5 / /a\\040b rw,relatime shared:1 - tmpfs tmpfs rw,size=1k\n\
                    3 1 0:6 / /a\\040b rw - xfs /dev/x rw\nnonsense\n";
        let kind = |dir: &str| mount_of(text, Path::new(dir)).map(|m| m.kind);
        assert_eq!(kind("/a b/c").as_deref(), Some("xfs"));
        assert_eq!(kind("/a bc").as_deref(), Some("ext4"));
        assert_eq!(mount_of("", Path::new("/")), None);
    }

    #[test]
    fn what_a_jump_costs_is_told_of_the_disk_and_its_scheduler() {
        let machine = machine(&[("proc/self/mountinfo", "20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n")]);
        let system = machine.system();
        // Its folder is no link here: the disk is called as its number.
        let mut of_settings = vec![Finding::new("disks", "io-scheduler", "none", "")];
        of_settings[0].place = disk_name(&system, &mount_of("20 1 8:1 / / rw - ext4 x rw\n", Path::new("/")).unwrap());
        tell_of_scheduler(&system, Path::new("/"), &good(), &mut of_settings);
        let told = "measured: 4 KiB from the next place in 90 us, from another one in 100 us";
        assert!(of_settings[0].place.is_none() || of_settings[0].seen.contains(told), "{of_settings:?}");
        let disk = findings(&system, Path::new("/"), &good()).into_iter().find(|f| f.name == "disk").unwrap();
        assert!(disk.seen.contains(told), "{disk:?}");
    }

    #[test]
    fn each_rule_holds_and_is_broken() {
        use Level::{Note, Ok, Warning};
        let fails = || Err::<(), _>("not supported".to_string());
        let mounted = |kind: &str, options: &str| format!("20 1 8:1 / / {options} - {kind} x rw\n");
        let on = |kind: &str, options: &str| ("proc/self/mountinfo", mounted(kind, options));
        let rotates = ("sys/dev/block/queue/rotational", "1\n".to_string());
        let short = ("sys/dev/block/queue/read_ahead_kb", "16\n".to_string());
        let cases: Vec<(&str, Level, Option<(&str, String)>, Trial)> = vec![
            ("directory", Ok, Some(on("xfs", "rw")), good()),
            ("directory", Warning, Some(on("tmpfs", "rw")), good()),
            ("directory", Warning, Some(on("nfs4", "rw")), good()),
            ("directory", Warning, Some(on("fuse.sshfs", "rw")), good()),
            ("directory", Warning, Some(on("ext4", "rw,sync")), good()),
            ("directory", Note, Some(on("overlay", "rw")), good()),
            ("directory", Note, Some(("proc/self/mountinfo", "-".into())), good()),
            ("directory", Warning, None, Trial { writable: fails(), ..good() }),
            ("room", Note, None, Trial { free_bytes: Some(5 << 30), ..good() }),
            ("room", Warning, None, Trial { free_bytes: Some(5 << 20), ..good() }),
            ("abilities", Note, None, Trial { nameless: fails(), ..good() }),
            ("abilities", Note, None, Trial { allocates: fails(), ..good() }),
            ("abilities", Note, None, Trial { punches: fails(), ..good() }),
            ("speed", Warning, None, Trial { speed: Some(Speed { write: 20.0, read: 20.0 }), ..good() }),
            ("options", Note, Some(on("ext4", "rw")), good()),
            ("options", Ok, Some(on("xfs", "rw,noatime")), good()),
            ("options", Note, Some(on("ext4", "rw,relatime,discard")), good()),
            ("options", Warning, Some(on("ext4", "rw,relatime,data=journal")), good()),
            ("options", Note, Some(on("ext4", "rw,relatime,nobarrier")), good()),
            ("options", Note, None, Trial { block_bytes: Some(1024), ..good() }),
            ("writeback", Note, None, Trial { synced: Some(20.0), ..good() }),
            ("read-ahead", Note, None, Trial { ahead: Some(Ahead { usual: 300.0, doubled: 500.0 }), ..good() }),
            ("disk", Note, Some(rotates), good()),
            ("disk", Note, Some(short), good()),
        ];
        let all_good = findings(&machine(&[]).system(), Path::new("/"), &good());
        for (name, level, change, trial) in cases {
            assert_eq!(level_of(&all_good, name), Ok, "{name} where all is good");
            let changes: Vec<(&str, &str)> = change.iter().map(|(path, text)| (*path, &**text)).collect();
            let found = findings(&machine(&changes).system(), Path::new("/"), &trial);
            assert_eq!(level_of(&found, name), level, "{name}: {changes:?} {trial:?}");
        }
    }
}
