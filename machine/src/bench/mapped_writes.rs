//! Random writes to a mapped file: how long a write of one byte may take when the page under it must be dirtied, with the limits of the machine and with
//! limits of the own device alone. `vm.dirty_*` are the whole machine's, and stay as they are.

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use yunti_base::Result;

use super::comparison::Better::{Less, More};
use super::comparison::{Metric, compare, percentile};
use super::mapped_file::MappedFile;
use super::{Bench, MIB, Measured, Published, Subject, failed, files};
use crate::scratch::image::{Image, Mount};

pub const SUBJECT: Subject = Subject {
    name: "mapped-writes",
    what: "random writes to a mapped file, under limits of writeback",
    needs_root: true,
    tools: &["mkfs.ext4", "losetup", "mount", "umount"],
    published: &[Published {
        figure: "no figure published that we know",
        source: "stable pages: LWN 442355 (2011), for all devices from Linux 3.0, for those that ask for them from 3.9 (commit 1d1d1a767206)",
    }],
    measure,
};

const METRICS: [Metric; 4] = [
    Metric::timed("writes", "/s", More),
    Metric::timed("p99 of a write", "us", Less),
    Metric::timed("p99.9 of a write", "us", Less),
    Metric::timed("longest write", "ms", Less),
];

fn measure(bench: &Bench) -> Result<Measured> {
    let (bytes, time) = bench.pick((256 * MIB, Duration::from_secs(2)), (16 * MIB, Duration::from_millis(150)));
    let image = Image::make(bench.scratch.file("image"), bytes + 128 * MIB, &[])?;
    let mount = image.mount(&bench.scratch.file("at"))?;
    let path = mount.at.join("file");
    files::write_large(bench, &path, bytes)?;
    let mut measured = Measured::default();
    let setting = |name: &str| bdi(&mount).join(name);
    let stable = fs::read_to_string(setting("stable_pages_required")).unwrap_or_default();
    measured.notes.push(format!(
        "this device needs stable pages: {}",
        if stable.trim() == "1" { "yes, a write waits for writeback of its page" } else { "no" }
    ));
    // Limits of the device alone; both go with it.
    let limit = if setting("max_bytes").exists() {
        ("max_bytes", (8 * MIB).to_string())
    } else {
        ("max_ratio", "1".to_owned())
    };
    let name = if limit.0 == "max_bytes" { "at most 8 MiB dirty" } else { "at most 1 % dirty" };
    measured.comparisons = compare(bench, ("limits of the machine", name), &METRICS, |side| {
        // A ratio of 100 is the default, and undoes a limit in bytes.
        let (strict, name, value) =
            if side.is_new() { ("1", limit.0, limit.1.as_str()) } else { ("0", "max_ratio", "100") };
        fs::write(setting("strict_limit"), strict).map_err(failed)?;
        fs::write(setting(name), value).map_err(failed)?;
        let file = File::options().read(true).write(true).open(&path).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        let mut took = dirty(bench, &file, bytes, time)?;
        file.sync_all().map_err(failed)?;
        took.sort_unstable();
        let at = |share| percentile(&took, share) as f64 / 1e3;
        Ok(vec![took.len() as f64 / time.as_secs_f64(), at(0.99), at(0.999), at(1.0) / 1e3])
    })?;
    measured.notes.push("a limit below vm.dirty_background_* makes writers wait sooner, and keeps what a crash would lose small; vm.dirty_* were not touched".to_owned());
    mount.end()?;
    Ok(measured)
}

fn dirty(bench: &Bench, file: &File, bytes: u64, time: Duration) -> Result<Vec<u64>> {
    let mut mapped = MappedFile::new(file, bytes as usize).map_err(failed)?;
    let mut random = fastrand::Rng::with_seed(7);
    let mut took = Vec::with_capacity(1 << 20);
    let end = Instant::now() + time;
    let mut begun = Instant::now();
    while begun < end {
        mapped.write(random.usize(0..bytes as usize), took.len() as u8);
        let now = Instant::now();
        took.push((now - begun).as_nanos() as u64);
        if took.len() % 65_536 == 0 {
            bench.go_on()?;
        }
        begun = now;
    }
    Ok(took)
}

fn bdi(mount: &Mount) -> PathBuf {
    mount.sys("bdi")
}
