//! Scratch directories: their file systems, and whether these suit spills.

mod features;
pub mod trial;
mod unwritten;

use std::path::{Path, PathBuf};

use yunti_base::mounts::{self, Mount};

use super::finding::{Finding, Level};
use trial::{SeekTimes, Trial};
use yunti_program::text::numbers;
use yunti_settings::System;

const AREA: &str = "scratch";
/// Bytes. Less free space is soon used up.
const ROOM_BYTES: u64 = 10 << 30;
/// Bytes. Less free space ends a job that spills.
const ROOM_LEAST_BYTES: u64 = 1 << 30;
/// MB/s. With slower writes, a job waits for its spills.
const SLOW: f64 = 300.0;
/// KiB. Less read-ahead makes sequential readers wait.
const READ_AHEAD_KIB: u64 = 128;
/// KiB. More read-ahead gains nothing for one reader.
const READ_AHEAD_ENOUGH_KIB: u64 = 2048;
/// Ratio. A smaller gain is within the noise of so short a measurement.
const WORTH_IT: f64 = 1.25;
/// Seconds that a sync may take before it is noticed.
const LONG_SECONDS: f64 = 30.0;
/// Seconds in which the disk writes an acceptable amount of dirty pages.
const GOOD_SECONDS: f64 = 2.0;

/// Returns the findings about directory `dir`, with `dir` as their place.
pub fn findings(system: &System, dir: &Path, trial: &Trial) -> Vec<Finding> {
    let mut findings = check_directory(system, dir, trial);
    findings.iter_mut().for_each(|finding| finding.place = Some(dir.display().to_string()));
    findings
}

fn check_directory(system: &System, dir: &Path, trial: &Trial) -> Vec<Finding> {
    let name = dir.display();
    if let Err(word) = &trial.writable {
        let finding = Finding::new(
            AREA,
            "directory",
            format!("{name}: {word}"),
            "a job that spills there fails with exit code 5",
        );
        return vec![finding.level(Level::Warning).change("create it, or set another --scratch")];
    }
    let mount = mount_of(system, dir);
    let mut findings = Vec::new();
    findings.push(match &mount {
        Some(mount) => file_system(dir, mount),
        None => {
            Finding::new(AREA, "directory", format!("{name}: its file system is not reported"), "").level(Level::Note)
        }
    });
    findings.extend(trial.free_bytes.map(room));
    findings.push(abilities(trial));
    if let Some(mount) = &mount {
        findings.push(options(mount, trial));
        findings.extend(
            device_name(system, mount).and_then(|device| features::finding(system, &mount.fs_type, &device, trial)),
        );
        findings.extend(disk(system, mount, trial));
        findings.extend(read_ahead(system, mount, trial));
    }
    findings.extend(trial.unwritten.as_ref().and_then(unwritten::finding));
    findings.extend(writeback(system, trial));
    findings.extend(trial.speed.map(|speed| {
        let seen =
            format!("{} in, {} out, through the page cache", numbers::rate(speed.write), numbers::rate(speed.read));
        let why =
            "spills go through the page cache; a large one is limited by the disk in the end (yunti machine limits)";
        Finding::new(AREA, "speed", seen, why).warning_if(speed.write < SLOW).change("set a --scratch on a faster disk")
    }));
    findings
}

fn file_system(dir: &Path, mount: &Mount) -> Finding {
    let seen = format!("{}: {} on {}", dir.display(), mount.fs_type, mount.at.display());
    let has = |option: &str| mount.options.iter().chain(&mount.fs_options).any(|o| o == option);
    let (level, why, change) = match &*mount.fs_type {
        "tmpfs" | "ramfs" => (
            Level::Warning,
            "spills there use memory of the same control group, so spilling frees none",
            "set a --scratch on a disk, or more --memory to avoid spills",
        ),
        "nfs" | "nfs4" | "cifs" | "smb3" | "9p" | "virtiofs" | "ceph" | "glusterfs" | "lustre" => {
            (Level::Warning, "spills cross the network twice", "set a --scratch on a local disk")
        }
        kind if kind.starts_with("fuse") => {
            (Level::Warning, "each block goes through another process", "set a --scratch on a local disk")
        }
        "overlay" => (
            Level::Note,
            "the container's own layer, often on the system disk",
            "mount a volume and set it as --scratch",
        ),
        _ if has("sync") => (
            Level::Warning,
            "mounted with sync: each write waits for the disk",
            "remount it with async, or set another --scratch",
        ),
        _ => (Level::Ok, "spills go to a local file system", ""),
    };
    Finding::new(AREA, "directory", seen, why).level(level).change(change)
}

/// Returns the finding about the mount options and the block size.
fn options(mount: &Mount, trial: &Trial) -> Finding {
    let has = |option: &str| mount.options.iter().chain(&mount.fs_options).any(|o| o == option);
    let on_disk = matches!(&*mount.fs_type, "ext4" | "ext3" | "ext2" | "xfs" | "btrfs" | "f2fs");
    let point = mount.at.display();
    // Only the worst option is reported.
    let (level, why, change, undo) = match () {
        () if has("data=journal") => (
            Level::Warning,
            "all data is written twice, first to the journal",
            format!("mount {point} without data=journal"),
            None,
        ),
        () if has("nodelalloc") => (
            Level::Note,
            "blocks are allocated at each write, so files that grow at the same time are fragmented",
            format!("mount {point} without nodelalloc"),
            None,
        ),
        () if has("nobarrier") || has("barrier=0") => (
            Level::Note,
            "a power loss can lose synced data and damage the file system: suitable for scratch only",
            format!("sudo mount -o remount,barrier {point}"),
            Some(format!("sudo mount -o remount,nobarrier {point}")),
        ),
        () if has("discard") => (
            Level::Note,
            "blocks are discarded as files are deleted, which delays other requests on many disks; fstrim does it \
             once a week",
            format!("sudo mount -o remount,nodiscard {point}"),
            Some(format!("sudo mount -o remount,discard {point}")),
        ),
        () if on_disk && !has("noatime") && !has("relatime") && !has("ro") => (
            Level::Note,
            "each read of a file writes its access time",
            format!("sudo mount -o remount,noatime {point}"),
            Some(format!("sudo mount -o remount,strictatime {point}")),
        ),
        () if on_disk && trial.block_bytes.is_some_and(|bytes| bytes < 4096) => (
            Level::Note,
            "blocks are smaller than a page: several requests and extents instead of one",
            "create the file system for scratch again: sudo yunti machine make-spill".to_owned(),
            None,
        ),
        () => (Level::Ok, "no mount option costs much", String::new(), None),
    };
    let cost = match () {
        () if has("data=journal") || has("nodelalloc") => "a remount",
        () if has("nobarrier") || has("barrier=0") => "each sync waits for the disk to flush its cache",
        () if has("discard") => "fstrim must run regularly: until then the disk does not know the free blocks",
        () if trial.block_bytes.is_some_and(|bytes| bytes < 4096) => "its files must be copied first",
        () => "programs that need access times, such as old mail readers, get none",
    };
    let seen = [mount.options.join(","), mount.fs_options.join(",")].join(",");
    let finding = Finding::new(AREA, "options", seen, why).level(level).change(change).cost(cost);
    match undo {
        Some(undo) => finding.undo(undo),
        None => finding,
    }
}

/// Returns the finding about the time to write all pages that may be dirty; a writer above the limit waits for that.
fn writeback(system: &System, trial: &Trial) -> Option<Finding> {
    let (limit, _) = yunti_settings::dirty_bytes_max(system)?;
    let rate = trial.synced.filter(|rate| *rate > 0.0)?;
    let seconds = limit as f64 / (rate * 1e6);
    let seen = format!(
        "{} may be dirty; measured: {} to the disk, {} to write all of it",
        numbers::memory(limit),
        numbers::rate(rate),
        numbers::seconds(seconds)
    );
    let good_mib = ((rate * 1e6 * GOOD_SECONDS) as u64 >> 20).clamp(64, 4096);
    let why = "a sync of a few bytes may wait this long, and other writers too";
    let finding = Finding::new(AREA, "writeback", seen, why).note_if(seconds > LONG_SECONDS);
    let change = format!("sudo yunti machine apply dirty-limit={good_mib}M");
    Some(finding.change(change).cost("writers wait for the disk sooner").undo("sudo yunti machine undo dirty-limit"))
}

/// Returns the finding about read-ahead: whether a sequential reader gains from twice as much.
fn read_ahead(system: &System, mount: &Mount, trial: &Trial) -> Option<Finding> {
    let measured = trial.ahead?;
    let disk = disk_name(system, mount)?;
    let kib = system.number(queue(system, mount).join("read_ahead_kb"))?;
    let seen = format!(
        "{kib} KiB; measured, sequential reads from the disk: {}, with twice as much {}",
        numbers::rate(measured.usual),
        numbers::rate(measured.doubled)
    );
    let why = "with too little read-ahead, a sequential reader and the disk wait for each other";
    let finding = Finding::new(AREA, "read-ahead", seen, why)
        .note_if(kib < READ_AHEAD_ENOUGH_KIB && measured.doubled > measured.usual * WORTH_IT);
    let change = format!("sudo yunti machine apply read-ahead:{disk}={}", (4 * kib).max(READ_AHEAD_KIB));
    let finding = finding.change(change).cost("more page cache for files that are not read to their end");
    Some(finding.undo(format!("sudo yunti machine undo read-ahead:{disk}")))
}

/// Adds the measured cost of a seek to the finding about the disk's I/O scheduler: the gain possible by sorting
/// requests.
pub fn add_to_scheduler(system: &System, dir: &Path, trial: &Trial, findings: &mut [Finding]) {
    let mount = mount_of(system, dir);
    let disk = mount.and_then(|mount| disk_name(system, &mount));
    let Some((jump, disk)) = trial.jump.zip(disk) else { return };
    for finding in findings.iter_mut().filter(|f| f.name == "io-scheduler" && f.place.as_deref() == Some(&*disk)) {
        if !finding.seen.contains("measured") {
            finding.seen += &format!("; measured: {}", seek_times(jump));
        }
    }
}

fn seek_times(jump: SeekTimes) -> String {
    format!("4 KiB at the next position in {:.0} us, at another position in {:.0} us", jump.next_us, jump.other_us)
}

/// Returns the kernel's name of the block device, such as `sda1`.
fn device_name(system: &System, mount: &Mount) -> Option<String> {
    let device = system.root().join("sys/dev/block").join(mount.device_number()).canonicalize().ok()?;
    Some(device.file_name()?.to_str()?.to_owned())
}

/// Returns the kernel's name of the disk: `sda` for partition `sda1`.
fn disk_name(system: &System, mount: &Mount) -> Option<String> {
    let device = system.root().join("sys/dev/block").join(mount.device_number()).canonicalize().ok()?;
    let disk = if device.join("partition").exists() { device.parent()?.to_path_buf() } else { device };
    Some(disk.file_name()?.to_str()?.to_owned())
}

fn room(free: u64) -> Finding {
    let why = "a sort that does not fit into --memory needs as much disk space as its records; on a full disk it \
        fails with exit code 5";
    Finding::new(AREA, "room", format!("{} free", numbers::bytes(free)), why)
        .note_if(free < ROOM_BYTES)
        .warning_if(free < ROOM_LEAST_BYTES)
        .change("free some space, or add directories: --scratch may be repeated")
}

fn abilities(trial: &Trial) -> Finding {
    let abilities = [
        ("unnamed files", &trial.nameless, "else a name is visible for a moment"),
        ("preallocation", &trial.allocates, "else writes cost up to twice as much"),
        ("holes", &trial.punches, "else merged runs keep their space until the end"),
    ];
    let lacks: Vec<String> = abilities
        .iter()
        .filter_map(|(name, result, else_)| Some(format!("no {name} ({}; {else_})", result.as_ref().err()?)))
        .collect();
    let seen = if lacks.is_empty() { "unnamed files, preallocation, holes".to_string() } else { lacks.join("; ") };
    Finding::new(
        AREA,
        "abilities",
        seen,
        "runs are unnamed files that preallocate their blocks and free them as they are merged",
    )
    .note_if(!lacks.is_empty())
    .change("ext4, xfs and btrfs have all three")
}

/// Returns the queue folder of the device, or of the disk that it is a partition of.
fn queue(system: &System, mount: &Mount) -> PathBuf {
    let device = Path::new("sys/dev/block").join(mount.device_number());
    if system.has(device.join("partition")) { device.join("../queue") } else { device.join("queue") }
}

fn disk(system: &System, mount: &Mount, trial: &Trial) -> Option<Finding> {
    let queue = queue(system, mount);
    let rotates = system.number(queue.join("rotational"))? == 1;
    let read_ahead = system.number(queue.join("read_ahead_kb"));
    let small = read_ahead.is_some_and(|kib| kib < READ_AHEAD_KIB);
    let mut seen = if rotates { "rotates, as it reports" } else { "no moving parts" }.to_string();
    if let Some(kib) = read_ahead {
        seen += &format!(", {kib} KiB read ahead");
    }
    if let Some(jump) = trial.jump {
        seen += &format!("; measured: {}", seek_times(jump));
    }
    let finding = Finding::new(
        AREA,
        "disk",
        seen,
        "a merge reads many runs at once: on a disk that rotates, each switch is a seek; virtual disks often report \
         rotation without rotating",
    );
    let finding = finding.note_if(rotates || small);
    Some(match (small, read_ahead) {
        (true, Some(kib)) => {
            let set = |kib: u64| format!("echo {kib} | sudo tee /{}", queue.join("read_ahead_kb").display());
            finding.change(set(4 * READ_AHEAD_KIB)).undo(set(kib))
        }
        _ => finding.change("more --memory for fewer runs; or a --scratch on a disk without moving parts"),
    })
}

/// Returns the mount that holds `dir`.
fn mount_of(system: &System, dir: &Path) -> Option<Mount> {
    let whole = dir.canonicalize().unwrap_or_else(|_| dir.to_path_buf());
    mounts::holding(&mounts::parse(&system.text("proc/self/mountinfo")?), &whole).cloned()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{level_of, machine};
    use super::trial::{ReadAheadSpeed, Speed, WriteTimes};
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
            ahead: Some(ReadAheadSpeed { usual: 900.0, doubled: 950.0 }),
            block_bytes: Some(4096),
            sync_ms: Some(1.0),
            jump: Some(SeekTimes { next_us: 90.0, other_us: 100.0 }),
            unwritten: Some(WriteTimes { synced: vec![(1.0, 1.0); 9], direct: vec![(0.1, 0.1); 9] }),
        }
    }

    #[test]
    fn reports_seek_times_of_the_disk_and_its_scheduler() {
        let machine = machine(&[("proc/self/mountinfo", "20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n")]);
        let system = machine.system();
        // Its folder is not a link here, so the disk is named by its number.
        let mut of_settings = vec![Finding::new("disks", "io-scheduler", "none", "")];
        of_settings[0].place = disk_name(&system, &mount_of(&system, Path::new("/")).unwrap());
        add_to_scheduler(&system, Path::new("/"), &good(), &mut of_settings);
        let expected = "measured: 4 KiB at the next position in 90 us, at another position in 100 us";
        assert!(of_settings[0].place.is_none() || of_settings[0].seen.contains(expected), "{of_settings:?}");
        let disk = findings(&system, Path::new("/"), &good()).into_iter().find(|f| f.name == "disk").unwrap();
        assert!(disk.seen.contains(expected), "{disk:?}");
    }

    #[test]
    fn each_rule_detects_its_problem() {
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
            (
                "read-ahead",
                Note,
                None,
                Trial { ahead: Some(ReadAheadSpeed { usual: 300.0, doubled: 500.0 }), ..good() },
            ),
            (
                "unwritten-extents",
                Note,
                None,
                Trial {
                    unwritten: Some(WriteTimes { synced: vec![(3.0, 1.0); 9], ..WriteTimes::default() }),
                    ..good()
                },
            ),
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
