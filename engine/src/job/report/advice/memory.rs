//! The rule about a memory budget that is too small for the records.

use super::*;

/// Fires if spilling took time. Names the memory that would hold all records.
pub(super) fn spills(report: &Report) -> Option<Advice> {
    let spill = &report.spill;
    let took = share(report, &["spill", "merge"]);
    // A table instead of a sort needs less memory than a sort without spills.
    let wants_table = joins::sorted_instead(report).is_some();
    if on_cluster(report) || spill.runs == 0 || took < LITTLE || !is_long(report) || wants_table {
        return None;
    }
    let passes = match spill.merge_passes {
        0 => String::new(),
        1 => " and 1 merge pass".into(),
        n => format!(" and {n} merge passes"),
    };
    let seen = format!("{} runs were spilled; spilling and merging took {} of the time", spill.runs, percent(took));
    let need = in_memory_bytes(report);
    let fits = report.machine.memory_bytes == 0 || need <= report.machine.memory_bytes / 10 * 8;
    if fits && need > report.memory.budget_bytes {
        let memory = whole_size(need);
        let change = format!("about {memory} of memory would avoid {} spills{passes}", spill.runs);
        return advice("spills", seen, change, Some(format!("--memory {memory}")));
    }
    let (change, flag) = if wants_combiner(report) {
        ("use a combiner or a folder, which makes fewer records", "--combiner CLASS")
    } else {
        ("use scratch directories on several fast disks, and as much memory as possible", "--scratch DIR")
    };
    advice("spills", seen, format!("the records do not fit into this machine's memory: {change}"), Some(flag.into()))
}

/// Returns the approximate memory for sorting all records: the records, two entries for each, and a quarter more
/// because workers take uneven shares. Checked with lines and with TeraSort records.
fn in_memory_bytes(report: &Report) -> u64 {
    let spill = &report.spill;
    let records = spill.raw_bytes + spill.records * 32;
    records + records / 4 + u64::from(report.job.threads) * (8 << 20)
}

#[cfg(test)]
mod tests {
    use super::super::check::*;

    #[test]
    fn spills_that_more_memory_would_avoid() {
        let mut report = spilled();
        fires(&report, "spills", &["12 runs", "21 %", "avoid 12 spills and 3 merge passes", "--memory 3GiB"]);
        // More than this machine has.
        report.machine.memory_bytes = 2 << 30;
        fires(&report, "spills", &["do not fit into this machine", "--scratch DIR"]);
        class(&mut report, "reducer", "Mine.Reducer");
        fires(&report, "spills", &["a combiner or a folder", "--combiner CLASS"]);
        // Spills at almost no cost.
        let mut cheap = spilled();
        cheap.stages.last_mut().unwrap().busy_ms = 500.0;
        is_quiet(&cheap);
    }
}
