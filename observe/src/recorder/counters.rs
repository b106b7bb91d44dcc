//! Counters of the machine and of a process over a slice.

use std::collections::BTreeMap;
use std::fs;

use yunti_probe::target::Process;
use yunti_record::Counter;

/// Bytes of a sector in /proc/diskstats.
const SECTOR_BYTES: f64 = 512.0;
const NANOS_A_SECOND: f64 = 1e9;

/// Sums at a moment by name, with their units.
type Sums = BTreeMap<&'static str, (f64, &'static str)>;

/// Counters of the machine at a moment.
#[derive(Clone, Debug, Default)]
pub struct MachineCounters {
    sums: Sums,
    /// Values that are no sums.
    levels: Sums,
}

impl MachineCounters {
    pub fn now() -> MachineCounters {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let mut counters = MachineCounters::default();
        counters.processors(&read("/proc/stat"));
        counters.memory(&read("/proc/meminfo"), &read("/proc/vmstat"));
        counters.disks(&read("/proc/diskstats"), |name| fs::exists(format!("/sys/block/{name}")).unwrap_or(false));
        counters.network(&read("/proc/net/dev"));
        for (name, path) in [("pressure.cpu", "cpu"), ("pressure.memory", "memory"), ("pressure.io", "io")] {
            let text = read(&format!("/proc/pressure/{path}"));
            let total = text.lines().next().and_then(|line| line.rsplit_once("total=")?.1.trim().parse::<f64>().ok());
            if let Some(us) = total {
                counters.sums.insert(name, (us * 1e3, "nanoseconds"));
            }
        }
        counters
    }

    /// Returns the changes since an earlier moment, and the present levels.
    pub fn since(&self, before: &MachineCounters) -> BTreeMap<String, Counter> {
        let passed = self.sums.iter().map(|(name, (now, unit))| {
            let was = before.sums.get(name).map_or(*now, |(was, _)| *was);
            (format!("machine.{name}"), counter((now - was).max(0.0), unit))
        });
        let levels = self.levels.iter().map(|(name, (now, unit))| (format!("machine.{name}"), counter(*now, unit)));
        passed.chain(levels).collect()
    }

    fn processors(&mut self, stat: &str) {
        let Some(line) = stat.lines().find_map(|line| line.strip_prefix("cpu ")) else { return };
        let ns = NANOS_A_SECOND / rustix::param::clock_ticks_per_second() as f64;
        let ticks: Vec<f64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let at = |i: usize| ticks.get(i).copied().unwrap_or(0.0) * ns;
        // user nice system idle iowait irq softirq steal; guest time is within user.
        let busy = at(0) + at(1) + at(2) + at(5) + at(6);
        for (name, value) in [("cpu.busy", busy), ("cpu.idle", at(3)), ("cpu.iowait", at(4)), ("cpu.steal", at(7))] {
            self.sums.insert(name, (value, "nanoseconds"));
        }
        let all = stat.lines().filter(|line| line.starts_with("cpu") && !line.starts_with("cpu "));
        self.levels.insert("cpu.online", (all.count() as f64, "processors"));
    }

    fn memory(&mut self, meminfo: &str, vmstat: &str) {
        let kib = |key: &str| number_after(meminfo, key).map(|n| n * 1024.0);
        for (name, key) in [
            ("memory.total", "MemTotal:"),
            ("memory.available", "MemAvailable:"),
            ("memory.cached", "Cached:"),
            ("memory.swap_free", "SwapFree:"),
        ] {
            if let Some(bytes) = kib(key) {
                self.levels.insert(name, (bytes, "bytes"));
            }
        }
        for (name, key) in [("memory.swapped_in", "pswpin "), ("memory.swapped_out", "pswpout ")] {
            if let Some(pages) = number_after(vmstat, key) {
                self.sums.insert(name, (pages * rustix::param::page_size() as f64, "bytes"));
            }
        }
    }

    /// @param is_whole true for the name of a whole device, false for a partition
    fn disks(&mut self, diskstats: &str, is_whole: impl Fn(&str) -> bool) {
        let (mut read, mut written, mut busy) = (0.0, 0.0, 0.0);
        for line in diskstats.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let Some(name) = words.get(2) else { continue };
            // Devices on top of others count twice.
            if ["loop", "ram", "dm-", "md", "zram"].iter().any(|start| name.starts_with(start)) || !is_whole(name) {
                continue;
            }
            let at = |i: usize| words.get(i).and_then(|word| word.parse::<f64>().ok()).unwrap_or(0.0);
            read += at(5) * SECTOR_BYTES;
            written += at(9) * SECTOR_BYTES;
            busy += at(12) * 1e6;
        }
        self.sums.insert("disk.read", (read, "bytes"));
        self.sums.insert("disk.written", (written, "bytes"));
        self.sums.insert("disk.busy", (busy, "nanoseconds"));
    }

    fn network(&mut self, dev: &str) {
        let (mut received, mut sent) = (0.0, 0.0);
        for line in dev.lines() {
            let Some((name, rest)) = line.split_once(':') else { continue };
            if name.trim() == "lo" {
                continue;
            }
            let numbers: Vec<f64> = rest.split_whitespace().filter_map(|word| word.parse().ok()).collect();
            received += numbers.first().copied().unwrap_or(0.0);
            sent += numbers.get(8).copied().unwrap_or(0.0);
        }
        self.sums.insert("net.received", (received, "bytes"));
        self.sums.insert("net.sent", (sent, "bytes"));
    }
}

/// Counters of a process at a moment.
#[derive(Clone, Debug, Default)]
pub struct ProcessCounters {
    sums: Sums,
    levels: Sums,
}

impl ProcessCounters {
    pub fn of(process: &Process) -> ProcessCounters {
        let mut counters = ProcessCounters::default();
        if let Some(seconds) = process.cpu_seconds() {
            counters.sums.insert("cpu", (seconds * NANOS_A_SECOND, "nanoseconds"));
        }
        let read = |file: &str| fs::read_to_string(format!("/proc/{}/{file}", process.pid)).unwrap_or_default();
        let (status, io) = (read("status"), read("io"));
        for (name, key, unit, scale) in [
            ("memory.rss", "VmRSS:", "bytes", 1024.0),
            ("memory.swap", "VmSwap:", "bytes", 1024.0),
            ("threads", "Threads:", "threads", 1.0),
        ] {
            if let Some(value) = number_after(&status, key) {
                counters.levels.insert(name, (value * scale, unit));
            }
        }
        for (name, key) in [("io.read", "read_bytes:"), ("io.written", "write_bytes:")] {
            if let Some(value) = number_after(&io, key) {
                counters.sums.insert(name, (value, "bytes"));
            }
        }
        counters
    }

    /// Adds the changes since an earlier moment, and the present levels.
    pub fn add_since(&self, before: &ProcessCounters, all: &mut BTreeMap<String, Counter>) {
        for (name, (now, unit)) in &self.sums {
            let was = before.sums.get(name).map_or(*now, |(was, _)| *was);
            all.insert(format!("process.{name}"), counter((now - was).max(0.0), unit));
        }
        for (name, (now, unit)) in &self.levels {
            all.insert(format!("process.{name}"), counter(*now, unit));
        }
    }
}

fn counter(value: f64, unit: &str) -> Counter {
    Counter { value: if value.is_finite() { value } else { 0.0 }, unit: unit.to_owned() }
}

/// Returns the number behind the key that begins a line.
fn number_after(text: &str, key: &str) -> Option<f64> {
    text.lines().find_map(|line| line.strip_prefix(key))?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_counters_of_a_machine() {
        let of = |stat: &str, disk: &str| {
            let mut counters = MachineCounters::default();
            counters.processors(stat);
            counters.memory("MemTotal: 8 kB\nMemAvailable: 4 kB\n", "pgpgin 1\npswpin 3\npswpout 0\n");
            counters.disks(disk, |name| name == "sda");
            counters.network("Inter-| x\n face |bytes\n  lo: 9 0 0 0 0 0 0 0 9\neth0: 100 1 0 0 0 0 0 0 50 1\n");
            counters
        };
        let disk = "8 0 sda 1 0 10 5 1 0 20 5 0 30 0\n8 1 sda1 1 0 10 5 1 0 20 5 0 30 0\n253 0 dm-0 1 0 10 5 1 0 20";
        let before = of("cpu  0 0 0 100 0 0 0 0 0 0\ncpu0 0 0 0 100\n", "8 0 sda 1 0 10 5 1 0 10 5 0 20 0\n");
        let now = of("cpu  50 0 50 150 0 0 0 7 0 0\ncpu0 50 0 50 150\n", disk);
        let changes = now.since(&before);
        let value = |name: &str| changes[name].value;
        let tick = 1e9 / rustix::param::clock_ticks_per_second() as f64;
        assert_eq!((value("machine.cpu.busy"), value("machine.cpu.steal")), (100.0 * tick, 7.0 * tick));
        assert_eq!((value("machine.disk.read"), value("machine.disk.written")), (0.0, 5120.0));
        assert_eq!((value("machine.memory.available"), value("machine.net.received")), (4096.0, 0.0));
        assert_eq!(value("machine.cpu.online"), 1.0);
    }

    #[test]
    fn reads_this_process() {
        let me = Process::of(std::process::id()).unwrap();
        let mut all = BTreeMap::new();
        let now = ProcessCounters::of(&me);
        now.add_since(&ProcessCounters::default(), &mut all);
        assert!(all["process.memory.rss"].value > 0.0 && all["process.threads"].value >= 1.0, "{all:?}");
        assert!(MachineCounters::now().since(&MachineCounters::default()).len() > 8);
    }
}
