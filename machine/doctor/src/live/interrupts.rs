//! Network interrupts on one processor while the others are idle, and the cure: interrupts spread over the processors,
//! or receive packet steering (RPS).
//!
//! ```text
//!   card --interrupt--> processor 0 (smp_affinity) --softirq--> TCP        all packets on processor 0
//!                                                   `-- RPS --> 1, 2, 3    steered by the hash of the connection
//! ```
//! Packets on one processor are no problem by themselves: a note needs harm in the same seconds. Harm is a processor
//! that spends its time in softirqs, a queue that overflows (dropped), or polls that end too early (squeezed).

use yunti_program::text::numbers;
use yunti_settings::System;

use super::super::finding::{Finding, Level};

const AREA: &str = "network";
/// Share of the packets above which one processor takes all of them.
const MOST: f64 = 0.8;
/// Share of a processor's time in softirqs that delays packets and the programs there.
const SOFTIRQ_NOTE: f64 = 0.25;
/// Share at which the processor is the limit of the network.
const SOFTIRQ_WARNING: f64 = 0.7;
/// Squeezed polls a packet. A poll of 64 packets that ends too early is one in 64.
const SQUEEZED: f64 = 1e-3;
/// Dropped packets a packet. Each costs a retransmission.
const DROPPED: f64 = 1e-4;
/// Packets. Fewer are no load.
const PACKETS_MIN: u64 = 1000;
/// Share of its time that another processor has left.
const IDLE: f64 = 0.4;

/// Counters of the processors at one time.
#[derive(Debug, Default)]
pub struct Sample {
    processors: Vec<Processor>,
}

/// Counters of one processor since boot. Times are ticks of `proc/stat`.
#[derive(Clone, Copy, Debug, Default)]
struct Processor {
    number: usize,
    packets: u64,
    dropped: u64,
    squeezed: u64,
    softirq: u64,
    idle: u64,
    time: u64,
}

/// Returns the present counters, or none if this system does not report them.
pub fn sample(system: &System) -> Sample {
    let stat = system.text("proc/stat").unwrap_or_default();
    let mut processors: Vec<Processor> = stat.lines().filter_map(times).collect();
    let online: Vec<usize> = processors.iter().map(|p| p.number).collect();
    let packets = system.text("proc/net/softnet_stat").unwrap_or_default();
    for (line, text) in packets.lines().enumerate() {
        let columns: Vec<u64> = text.split_whitespace().map_while(|word| u64::from_str_radix(word, 16).ok()).collect();
        let [packets, dropped, squeezed, ..] = columns[..] else { continue };
        // Newer kernels print the processor; older ones print a line for each one that is online.
        let number = columns.get(12).map(|n| *n as usize).or_else(|| online.get(line).copied());
        if let Some(processor) = processors.iter_mut().find(|p| Some(p.number) == number) {
            (processor.packets, processor.dropped, processor.squeezed) = (packets, dropped, squeezed);
        }
    }
    Sample { processors }
}

/// Parses `cpu3 user nice system idle iowait irq softirq steal ..`.
fn times(line: &str) -> Option<Processor> {
    let mut words = line.strip_prefix("cpu")?.split_whitespace();
    let number = words.next()?.parse().ok()?;
    let ticks: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
    let [_, _, _, idle, wait, _, softirq, ..] = ticks[..] else { return None };
    // Guest time is part of user time.
    let time = ticks.iter().take(8).fold(0, |sum: u64, n| sum.saturating_add(*n));
    Some(Processor { number, softirq, idle: idle.saturating_add(wait), time, ..Processor::default() })
}

/// Returns the finding about the processors between two samples. An empty `before` means since boot.
pub fn finding(system: &System, before: &Sample, after: &Sample) -> Option<Finding> {
    let changes: Vec<Processor> = after.processors.iter().map(|p| p.since(before)).collect();
    let sum = |of: fn(&Processor) -> u64| changes.iter().map(of).fold(0, u64::saturating_add);
    let (packets, dropped, squeezed) = (sum(|p| p.packets), sum(|p| p.dropped), sum(|p| p.squeezed));
    let busiest = changes.iter().max_by_key(|p| p.packets)?;
    let share = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
    let softirq = share(busiest.softirq, busiest.time);
    let period = if before.processors.is_empty() { "since boot" } else { "during the checks" };
    let of_packets = match packets {
        0 => "no packets".to_owned(),
        n => format!(
            "processor {} took {:.0} % of {} packets, softirqs {} % of its time",
            busiest.number,
            share(busiest.packets, n) * 100.0,
            numbers::count(n),
            numbers::three(softirq * 100.0)
        ),
    };
    let (dropped, squeezed) = (numbers::count(dropped), numbers::count(squeezed));
    let seen = format!("{period}: {of_packets}; {dropped} dropped, {squeezed} polls squeezed");
    let is_alone = packets >= PACKETS_MIN
        && share(busiest.packets, packets) > MOST
        && changes.iter().any(|p| p.number != busiest.number && share(p.idle, p.time) > IDLE);
    let drops = share(busiest.dropped, busiest.packets) > DROPPED;
    let is_harmed = softirq > SOFTIRQ_NOTE || drops || share(busiest.squeezed, busiest.packets) > SQUEEZED;
    let (level, why) = match is_alone && is_harmed {
        false => (
            Level::Ok,
            "a processor that takes all packets limits the network while the others are idle; here nothing shows that \
             packets wait",
        ),
        true if softirq > SOFTIRQ_WARNING || drops => (
            Level::Warning,
            "one processor takes all packets and is at its limit, while others are idle: packets wait or are dropped, \
             and programs on that processor stand still",
        ),
        true => (
            Level::Note,
            "one processor takes all packets while others are idle: packets wait for it, and so do the programs there",
        ),
    };
    let finding = Finding::new(AREA, "receive-interrupts", seen, why).level(level);
    let numbers: Vec<usize> = changes.iter().map(|p| p.number).collect();
    let cure = cure(system, &numbers);
    Some(finding.change(cure.change).cost(cure.cost).undo(cure.undo))
}

impl Processor {
    fn since(&self, before: &Sample) -> Processor {
        let old = before.processors.iter().find(|p| p.number == self.number).copied().unwrap_or_default();
        Processor {
            number: self.number,
            packets: self.packets.saturating_sub(old.packets),
            dropped: self.dropped.saturating_sub(old.dropped),
            squeezed: self.squeezed.saturating_sub(old.squeezed),
            softirq: self.softirq.saturating_sub(old.softirq),
            idle: self.idle.saturating_sub(old.idle),
            time: self.time.saturating_sub(old.time),
        }
    }
}

/// Lines to paste.
struct Cure {
    change: String,
    cost: &'static str,
    undo: String,
}

fn cure(system: &System, processors: &[usize]) -> Cure {
    let cards: Vec<String> =
        system.names("sys/class/net").into_iter().filter(|c| system.has(format!("sys/class/net/{c}/device"))).collect();
    let rows: Vec<Row> = cards.iter().flat_map(|card| rows(system, card)).collect();
    // The same processors for several queues: the queues gain nothing.
    let is_spread = rows.iter().any(|row| row.affinity != rows[0].affinity);
    if rows.len() > 1 && !is_spread && processors.len() > 1 {
        let set = |row: &Row, list: &str| format!("echo {list} | sudo tee /proc/irq/{}/smp_affinity_list", row.irq);
        let turns = rows.iter().zip(processors.iter().cycle());
        let by_hand: Vec<String> = turns.map(|(row, number)| set(row, &number.to_string())).collect();
        let undo: Vec<String> = rows.iter().map(|row| set(row, &row.affinity)).collect();
        return Cure {
            change: match runs(system, "irqbalance") {
                true => by_hand.join("; "),
                false => format!("sudo systemctl enable --now irqbalance (or {})", by_hand.join("; ")),
            },
            cost: "packets of a connection may be handled far from its program; irqbalance overwrites lists set by hand",
            undo: undo.join("; "),
        };
    }
    let queues: Vec<String> = cards
        .iter()
        .flat_map(|card| {
            let folder = format!("sys/class/net/{card}/queues");
            let names = system.names(&folder).into_iter().filter(|name| name.starts_with("rx-"));
            names.map(move |name| format!("{folder}/{name}/rps_cpus")).collect::<Vec<_>>()
        })
        .filter(|path| system.has(path))
        .collect();
    if queues.is_empty() {
        return Cure {
            change: "a network card with more queues (ethtool -L), or receive packet steering on the host of this \
                     container"
                .to_owned(),
            cost: "other processors are interrupted too",
            undo: "the number of queues from before (ethtool -L)".to_owned(),
        };
    }
    let set = |path: &String, mask: &str| format!("echo {mask} | sudo tee /{path}");
    let all = mask(processors);
    Cure {
        change: queues.iter().map(|path| set(path, &all)).collect::<Vec<_>>().join("; "),
        cost: "an interrupt between processors for each batch of packets: some 2 to 5 % more processor time",
        undo: queues
            .iter()
            .map(|path| set(path, system.text(path).as_deref().unwrap_or("0")))
            .collect::<Vec<_>>()
            .join("; "),
    }
}

/// An interrupt of a card that receives packets.
struct Row {
    irq: String,
    affinity: String,
}

/// Returns the interrupts of a card that have occurred, without the ones that only send or report errors.
fn rows(system: &System, card: &str) -> Vec<Row> {
    let device = format!("sys/class/net/{card}/device");
    // The interrupts of a virtual card belong to the PCI device above it.
    let folders = [format!("{device}/msi_irqs"), format!("{device}/../msi_irqs")];
    let irqs = folders.iter().map(|folder| system.names(folder)).find(|names| !names.is_empty()).unwrap_or_default();
    let table = system.text("proc/interrupts").unwrap_or_default();
    let lines = table.lines().filter_map(|line| {
        let (irq, rest) = line.trim_start().split_once(':')?;
        let words: Vec<&str> = rest.split_whitespace().collect();
        let has_occurred = words.iter().map_while(|word| word.parse::<u64>().ok()).any(|n| n > 0);
        let name = words.last().unwrap_or(&"").to_ascii_lowercase();
        let receives =
            !["output", "config", "-tx-", "async", "misc", "mgmnt", "event"].iter().any(|w| name.contains(w));
        (has_occurred && receives && irqs.iter().any(|own| own == irq)).then(|| irq.to_owned())
    });
    let rows = lines.filter_map(|irq| {
        let affinity = system.text(format!("proc/irq/{irq}/smp_affinity_list"))?;
        Some(Row { irq, affinity })
    });
    rows.collect()
}

/// Returns true if a process of this name runs.
fn runs(system: &System, name: &str) -> bool {
    let processes = system.names("proc").into_iter().filter(|n| n.bytes().all(|b| b.is_ascii_digit()));
    processes.into_iter().any(|n| system.text(format!("proc/{n}/comm")).as_deref() == Some(name))
}

/// Returns the mask of these processors as `rps_cpus` takes it: groups of 32 in hexadecimal digits, the last first.
fn mask(processors: &[usize]) -> String {
    let groups = processors.iter().max().map_or(1, |n| n / 32 + 1);
    let mut words = vec![0u32; groups];
    processors.iter().for_each(|n| words[n / 32] |= 1 << (n % 32));
    let text = words.iter().rev().map(|word| format!("{word:08x}")).collect::<Vec<_>>().join(",");
    let short = text.trim_start_matches('0');
    if short.is_empty() || short.starts_with(',') { "0".to_owned() } else { short.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use yunti_settings::tree::Tree;

    const CARD: [(&str, &str); 6] = [
        ("sys/class/net/eth0/device/msi_irqs/24", ""),
        ("sys/class/net/eth0/device/msi_irqs/25", ""),
        ("sys/class/net/eth0/queues/rx-0/rps_cpus", "0\n"),
        ("sys/class/net/lo/queues/rx-0/rps_cpus", "0\n"),
        ("proc/irq/24/smp_affinity_list", "0\n"),
        ("proc/irq/25/smp_affinity_list", "0\n"),
    ];

    /// A machine of two processors: packets, dropped and squeezed polls of each, and its times.
    fn at(packets: [[u64; 3]; 2], times: [[u64; 2]; 2]) -> Sample {
        let lines = packets.iter().enumerate();
        let softnet: String =
            lines.map(|(n, [p, d, s])| format!("{p:08x} {d:08x} {s:08x}{} {n:08x}\n", " 00000000".repeat(9))).collect();
        let lines = times.iter().enumerate();
        let stat: String = lines.map(|(n, [soft, idle])| format!("cpu{n} 10 0 10 {idle} 0 0 {soft} 0 0 0\n")).collect();
        let tree =
            Tree::of(&[("proc/net/softnet_stat", &softnet), ("proc/stat", &format!("cpu  1 2 3\n{stat}intr 5\n"))]);
        sample(&tree.system())
    }

    #[test]
    fn only_harm_is_a_problem() {
        let tree = Tree::of(&CARD);
        let system = tree.system();
        let start = at([[500, 7, 9], [500, 0, 0]], [[0, 0], [0, 0]]);
        let level = |packets, times| finding(&system, &start, &at(packets, times)).unwrap().level;
        let idle = [[1, 100], [0, 100]];
        let busy = [[40, 60], [0, 100]];
        let full = [[90, 0], [0, 100]];
        for (case, packets, times, expected) in [
            ("spread", [[50_500, 7, 9], [50_500, 0, 0]], busy, Level::Ok),
            ("one processor with time left", [[90_500, 7, 9], [500, 0, 0]], idle, Level::Ok),
            ("few packets", [[800, 9, 20], [500, 0, 0]], full, Level::Ok),
            ("softirqs take its time", [[90_500, 7, 9], [500, 0, 0]], busy, Level::Note),
            ("polls end early", [[90_500, 7, 300], [500, 0, 0]], idle, Level::Note),
            ("at its limit", [[90_500, 7, 9], [500, 0, 0]], full, Level::Warning),
            ("a packet dropped", [[90_500, 8, 9], [500, 0, 0]], idle, Level::Ok),
            ("packets dropped", [[90_500, 107, 9], [500, 0, 0]], idle, Level::Warning),
            ("the other is busy too", [[90_500, 107, 9], [500, 0, 0]], [[90, 0], [0, 0]], Level::Ok),
        ] {
            assert_eq!(level(packets, times), expected, "{case}");
        }
    }

    #[test]
    fn the_cure_depends_on_the_card() {
        let interrupts = |both: bool| {
            let second = if both { 9 } else { 0 };
            format!(
                "           CPU0       CPU1\n 24:  7  0  PCI-MSI 1-edge  eth0-TxRx-0\n 25:  {second}  0  PCI-MSI 2-edge  \
                 eth0-TxRx-1\nNMI: 0 0 Non-maskable interrupts\n"
            )
        };
        let start = Sample::default();
        let end = at([[90_000, 90, 0], [0, 0, 0]], [[50, 50], [0, 100]]);
        let check = |changes: &[(&str, &str)]| {
            let files: Vec<_> = CARD.iter().chain(changes).copied().collect();
            let tree = Tree::of(&files);
            finding(&tree.system(), &start, &end).unwrap()
        };
        // One queue: steering.
        let one = check(&[("proc/interrupts", &interrupts(false))]);
        assert!(one.seen.starts_with("since boot: processor 0 took 100 % of 90,000 packets"), "{one:?}");
        assert_eq!(one.change.as_deref(), Some("echo 3 | sudo tee /sys/class/net/eth0/queues/rx-0/rps_cpus"));
        assert_eq!(one.undo.as_deref(), Some("echo 0 | sudo tee /sys/class/net/eth0/queues/rx-0/rps_cpus"));
        // Two queues on one processor: their interrupts are spread.
        let two = check(&[("proc/interrupts", &interrupts(true))]);
        let by_hand =
            "echo 0 | sudo tee /proc/irq/24/smp_affinity_list; echo 1 | sudo tee /proc/irq/25/smp_affinity_list";
        assert_eq!(two.change, Some(format!("sudo systemctl enable --now irqbalance (or {by_hand})")));
        assert!(two.undo.unwrap().ends_with("echo 0 | sudo tee /proc/irq/25/smp_affinity_list"));
        let balanced = check(&[("proc/interrupts", &interrupts(true)), ("proc/77/comm", "irqbalance\n")]);
        assert_eq!(balanced.change.as_deref(), Some(by_hand));
        // Two queues that are spread already: steering.
        let files: Vec<_> = CARD[..5].iter().copied().chain([("proc/irq/25/smp_affinity_list", "1\n")]).collect();
        let tree = Tree::of(&files);
        tree.write("proc/interrupts", &interrupts(true));
        assert!(finding(&tree.system(), &start, &end).unwrap().change.unwrap().contains("rps_cpus"));
        // No card of this system: the host's.
        assert!(finding(&Tree::of(&[]).system(), &start, &end).unwrap().change.unwrap().contains("ethtool"));
    }

    #[test]
    fn reads_the_counters_of_old_kernels_and_of_none() {
        let tree = Tree::of(&[
            ("proc/stat", "cpu 1\ncpu0 1 0 1 5 0 0 2 0\ncpu2 1 0 1 5 0 0 2 0\n"),
            ("proc/net/softnet_stat", "0000000a 00000000 00000000\n0000000b 00000001 00000002\nx\n"),
        ]);
        let last = *sample(&tree.system()).processors.last().unwrap();
        assert_eq!((last.number, last.packets, last.dropped, last.squeezed, last.time), (2, 11, 1, 2, 9));
        let quiet = at([[5, 0, 0], [5, 0, 0]], [[0, 0], [0, 0]]);
        let seen = finding(&tree.system(), &quiet, &quiet).unwrap().seen;
        assert_eq!(seen, "during the checks: no packets; 0 dropped, 0 polls squeezed");
        let nothing = Tree::of(&[]);
        let empty = sample(&nothing.system());
        assert!(finding(&nothing.system(), &empty, &empty).is_none());
    }

    #[test]
    fn writes_masks() {
        for (numbers, text) in
            [(&[0, 1][..], "3"), (&[4], "10"), (&[0, 31, 32], "1,80000001"), (&[64], "1,00000000,00000000"), (&[], "0")]
        {
            assert_eq!(mask(numbers), text);
        }
    }
}
