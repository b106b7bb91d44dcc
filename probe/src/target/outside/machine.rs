//! Counters of the machine over a measurement: processors (idle, stolen, their clock), memory management, interrupts.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Ticks of one processor, from /proc/stat.
#[derive(Clone, Copy, Debug, Default)]
struct Ticks {
    idle: u64,
    stolen: u64,
    all: u64,
}

/// Counters at a moment.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    processors: HashMap<usize, Ticks>,
    memory: HashMap<String, u64>,
    stalls_us: u64,
    timer_interrupts: u64,
}

/// Change of the counters over a measurement.
#[derive(Clone, Debug, Default)]
pub struct MachineChange {
    pub seconds: f64,
    /// Idle share of each processor.
    pub idle: HashMap<usize, f64>,
    /// Share of the time in which a processor had work and the hypervisor ran another machine.
    pub stolen: f64,
    /// Changes of the counters of /proc/vmstat.
    pub memory: HashMap<String, u64>,
    /// Share of the time in which a process waited for memory (PSI, some).
    pub memory_stall: f64,
    /// Interrupts of timers and performance counters, per second of a busy processor.
    pub interrupts: f64,
}

impl Machine {
    pub fn now() -> Machine {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let number = |line: &str| line.split_once(' ').and_then(|(name, n)| Some((name.to_owned(), n.parse().ok()?)));
        Machine {
            processors: processors(&read("/proc/stat")),
            memory: read("/proc/vmstat").lines().filter_map(number).collect(),
            stalls_us: stalls_us(&read("/proc/pressure/memory")),
            timer_interrupts: interrupts(&read("/proc/interrupts")),
        }
    }

    pub fn since(&self, before: &Machine, seconds: f64) -> MachineChange {
        let mut change = MachineChange { seconds, ..MachineChange::default() };
        let (mut busy, mut stolen) = (0, 0);
        for (number, now) in &self.processors {
            let was = before.processors.get(number).copied().unwrap_or_default();
            let all = now.all.saturating_sub(was.all).max(1);
            let idle = now.idle.saturating_sub(was.idle).min(all);
            change.idle.insert(*number, idle as f64 / all as f64);
            busy += all - idle;
            stolen += now.stolen.saturating_sub(was.stolen);
        }
        change.stolen = stolen as f64 / busy.max(1) as f64;
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        let busy_seconds = (busy as f64 / ticks).max(0.1);
        change.interrupts = self.timer_interrupts.saturating_sub(before.timer_interrupts) as f64 / busy_seconds;
        change.memory_stall = self.stalls_us.saturating_sub(before.stalls_us) as f64 / 1e6 / seconds.max(0.001);
        for (name, now) in &self.memory {
            let was = before.memory.get(name).copied().unwrap_or(0);
            if *now > was {
                change.memory.insert(name.clone(), now - was);
            }
        }
        change
    }
}

impl MachineChange {
    /// Returns a counter's change per second; of several counters whose names begin so, the sum.
    pub fn rate(&self, beginning: &str) -> f64 {
        let these = self.memory.iter().filter(|(name, _)| name.starts_with(beginning));
        these.map(|(_, n)| *n).sum::<u64>() as f64 / self.seconds.max(0.001)
    }

    /// Returns the pages per second that the kernel reclaimed, for lack of memory or by request.
    pub fn reclaimed(&self) -> f64 {
        ["pgsteal_kswapd", "pgsteal_direct", "pgsteal_khugepaged", "pgsteal_proactive"]
            .map(|name| self.rate(name))
            .iter()
            .sum()
    }

    /// Returns the processors outside a list that are idle, on average.
    pub fn idle_outside(&self, processors: &[usize]) -> f64 {
        self.idle.iter().filter(|(number, _)| !processors.contains(number)).map(|(_, idle)| idle).sum()
    }
}

fn processors(stat: &str) -> HashMap<usize, Ticks> {
    let of = |line: &str| {
        let mut words = line.strip_prefix("cpu")?.split_whitespace();
        let number = words.next()?.parse().ok()?;
        // user nice system idle iowait irq softirq steal; guest time is within user.
        let ticks: Vec<u64> = words.take(8).filter_map(|word| word.parse().ok()).collect();
        let at = |i: usize| ticks.get(i).copied().unwrap_or(0);
        Some((number, Ticks { idle: at(3) + at(4), stolen: at(7), all: ticks.iter().sum() }))
    };
    // The first line, `cpu  ..`, is the sum.
    stat.lines().filter(|line| line.starts_with("cpu") && !line.starts_with("cpu ")).filter_map(of).collect()
}

fn stalls_us(pressure: &str) -> u64 {
    let some = pressure.lines().find(|line| line.starts_with("some"));
    some.and_then(|line| line.rsplit_once("total=")?.1.trim().parse().ok()).unwrap_or(0)
}

/// Interrupts of local timers and of performance counters, over all processors.
fn interrupts(text: &str) -> u64 {
    let of = |line: &str| {
        let (name, rest) = line.trim_start().split_once(':')?;
        let is_counted = ["LOC", "PMI", "arch_timer", "NMI"].contains(&name) || rest.contains("arch_timer");
        is_counted.then(|| rest.split_whitespace().map_while(|word| word.parse::<u64>().ok()).sum::<u64>())
    };
    text.lines().filter_map(of).sum()
}

/// Clock of the processors in kHz: the fastest one at a moment, and what it should be.
#[derive(Clone, Debug, Default)]
pub struct Speed {
    /// Mean of the fastest processor's clock.
    pub now_khz: f64,
    /// Clock without turbo; without this number, half of the highest clock.
    pub base_khz: f64,
    /// Limit that was set, if it is below the hardware's.
    pub limit_khz: Option<f64>,
    /// Times that the hardware slowed down because it was hot.
    pub hot: u64,
    samples: u64,
    hot_before: Option<u64>,
}

impl Speed {
    /// Samples the clock. A machine without this information leaves all numbers at 0.
    pub fn sample(&mut self) {
        self.sample_in(Path::new("/sys/devices/system/cpu"));
    }

    fn sample_in(&mut self, folder: &Path) {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let is_processor = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            name.strip_prefix("cpu").is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
        };
        let (mut fastest, mut hot) = (0.0_f64, 0);
        for path in entries.map(|entry| entry.path()).filter(is_processor) {
            let number = |file: &str| fs::read_to_string(path.join(file)).ok()?.trim().parse::<f64>().ok();
            if let Some(now) = number("cpufreq/scaling_cur_freq") {
                fastest = fastest.max(now);
                let top = number("cpufreq/cpuinfo_max_freq").unwrap_or(0.0);
                self.base_khz = number("cpufreq/base_frequency").unwrap_or(top / 2.0).max(self.base_khz);
                self.limit_khz = number("cpufreq/scaling_max_freq").filter(|limit| *limit < top * 0.9);
            }
            hot += number("thermal_throttle/package_throttle_count").unwrap_or(0.0) as u64;
        }
        self.hot = hot - *self.hot_before.get_or_insert(hot);
        self.samples += 1;
        self.now_khz += (fastest - self.now_khz) / self.samples as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_processors() {
        let of = |text: &str| processors(text);
        let before = of("cpu  9 9 9 9 9\ncpu0 10 0 10 100 0 0 0 0 0 0\ncpu1 0 0 0 100 0 0 0 10 0 0\nintr 5");
        let after = of("cpu  9 9 9 9 9\ncpu0 110 0 10 100 0 0 0 0 0 0\ncpu1 0 0 0 150 0 0 0 60 0 0\n");
        let machine = |processors| Machine { processors, ..Machine::default() };
        let change = machine(after).since(&machine(before), 1.0);
        assert_eq!((change.idle[&0], change.idle[&1]), (0.0, 0.5));
        // 100 ticks of work and 50 of steal.
        assert!((change.stolen - 1.0 / 3.0).abs() < 0.01);
        assert_eq!((change.idle_outside(&[0]), change.idle_outside(&[0, 1])), (0.5, 0.0));
    }

    #[test]
    fn parses_other_counters() {
        assert_eq!(stalls_us("some avg10=0.00 avg60=0.00 avg300=0.00 total=54266680\nfull x total=9\n"), 54_266_680);
        let text =
            "           CPU0       CPU1\n  0:   5   5  IO-APIC  timer\nLOC:  100  200   Local timer interrupts\n";
        assert_eq!(interrupts(text), 300);
    }

    #[test]
    fn clocks() {
        let folder = std::env::temp_dir().join(format!("yunti-outside-machine-{}", std::process::id()));
        let write = |file: &str, text: &str| {
            let path = folder.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        for cpu in ["cpu0", "cpu1"] {
            write(&format!("{cpu}/cpufreq/cpuinfo_max_freq"), "4000000\n");
            write(&format!("{cpu}/cpufreq/scaling_max_freq"), "1200000\n");
            write(&format!("{cpu}/cpufreq/scaling_cur_freq"), "1200000\n");
        }
        write("cpufreq/policy0/scaling_cur_freq", "9");
        let mut speed = Speed::default();
        speed.sample_in(&folder);
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!((speed.now_khz, speed.base_khz, speed.limit_khz), (1.2e6, 2e6, Some(1.2e6)));
    }
}
