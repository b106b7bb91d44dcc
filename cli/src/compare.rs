//! Comparison of two reports, number by number: the faster job, the causes of the difference, and what makes the jobs
//! not comparable.

use serde_json::{Value, json};
use yunti_engine::job::report::Report;

use yunti_program::text::numbers;

pub const COMPARISON_FORMAT: &str = "yunti-comparison/1";

/// Groups of rows and their headings, in the order in which they are shown.
pub const GROUPS: [(&str, &str); 4] = [
    ("whole", "The job as a whole"),
    ("stages", "Time in stages"),
    ("memory", "Memory and spills"),
    ("counters", "Counters"),
];

/// Relative difference up to which two values count as equal.
const SAME: f64 = 0.02;
/// Maximum number of counters in the list, which has the largest differences.
const COUNTERS_MAX: usize = 20;

pub struct Comparison {
    pub a: Side,
    pub b: Side,
    /// Differences in the jobs' specifications, inputs and machines.
    pub differences: Vec<Difference>,
    /// Rows by group; in a group, the largest difference first.
    pub rows: Vec<Row>,
}

pub struct Side {
    pub path: String,
    pub name: String,
    pub started_unix_ms: u64,
}

pub struct Difference {
    pub what: String,
    pub a: String,
    pub b: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Milliseconds,
    Bytes,
    MemoryBytes,
    MbPerS,
    Count,
}

/// The job with the better value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    A,
    B,
    Neither,
}

pub struct Row {
    pub group: &'static str,
    pub name: String,
    pub unit: Unit,
    pub a: f64,
    pub b: f64,
    pub better: Better,
}

impl Row {
    /// Returns b / a, or `None` if a is zero.
    pub fn ratio(&self) -> Option<f64> {
        (self.a > 0.0).then(|| self.b / self.a)
    }

    pub fn is_same(&self) -> bool {
        (self.a - self.b).abs() <= SAME * self.a.abs().max(self.b.abs())
    }

    pub fn text(&self, value: f64) -> String {
        match self.unit {
            Unit::Milliseconds => numbers::milliseconds(value),
            Unit::Bytes => numbers::bytes(value as u64),
            Unit::MemoryBytes => numbers::memory(value as u64),
            Unit::MbPerS => numbers::rate(value),
            Unit::Count => numbers::count(value as u64),
        }
    }

    /// Returns the larger value divided by the smaller one; a change from zero has the largest distance.
    fn distance(&self) -> f64 {
        let (low, high) = (self.a.min(self.b), self.a.max(self.b));
        if high <= 0.0 { 0.0 } else { high / low.max(1e-9) }
    }
}

pub fn compare(a: (&str, &Report), b: (&str, &Report)) -> Comparison {
    let side = |(path, report): (&str, &Report)| Side {
        path: path.into(),
        name: report.job.name.clone(),
        started_unix_ms: report.job.started_unix_ms,
    };
    let (ra, rb) = (a.1, b.1);
    let mut rows = whole(ra, rb);
    rows.extend(sorted(stages(ra, rb), |row| (row.a - row.b).abs()));
    rows.extend(sorted(memory(ra, rb), Row::distance));
    let mut counters = sorted(counters(ra, rb), Row::distance);
    counters.truncate(COUNTERS_MAX);
    rows.extend(counters);
    Comparison { a: side(a), b: side(b), differences: differences(ra, rb), rows }
}

fn sorted(mut rows: Vec<Row>, by: impl Fn(&Row) -> f64) -> Vec<Row> {
    rows.sort_by(|x, y| by(y).total_cmp(&by(x)));
    rows
}

/// Returns a row. Less is better, except for speeds.
fn row(group: &'static str, name: &str, unit: Unit, a: f64, b: f64) -> Row {
    let mut row = Row { group, name: name.into(), unit, a, b, better: Better::Neither };
    if !row.is_same() && unit != Unit::Count {
        row.better = if (unit == Unit::MbPerS) == (b > a) { Better::B } else { Better::A };
    }
    row
}

fn neutral(row: Row) -> Row {
    Row { better: Better::Neither, ..row }
}

fn whole(a: &Report, b: &Report) -> Vec<Row> {
    let speed = |r: &Report| if r.job.wall_ms > 0.0 { r.job.input_bytes as f64 / 1000.0 / r.job.wall_ms } else { 0.0 };
    let whole = |name, unit, of: &dyn Fn(&Report) -> f64| row("whole", name, unit, of(a), of(b));
    let rows = [
        whole("time", Unit::Milliseconds, &|r| r.job.wall_ms),
        whole("speed, of input", Unit::MbPerS, &speed),
        whole("processor time", Unit::Milliseconds, &|r| r.job.cpu_ms),
        neutral(whole("input", Unit::Bytes, &|r| r.job.input_bytes as f64)),
        neutral(whole("output", Unit::Bytes, &|r| r.job.output_bytes as f64)),
    ];
    rows.into_iter().collect()
}

fn stages(a: &Report, b: &Report) -> Vec<Row> {
    let mut names: Vec<&str> = a.stages.iter().chain(&b.stages).map(|s| &*s.name).collect();
    let mut seen = Vec::new();
    names.retain(|name| {
        !seen.contains(name) && {
            seen.push(*name);
            true
        }
    });
    let busy = |r: &Report, name: &str| r.stages.iter().find(|s| s.name == name).map_or(0.0, |s| s.busy_ms);
    names.into_iter().map(|name| row("stages", name, Unit::Milliseconds, busy(a, name), busy(b, name))).collect()
}

fn memory(a: &Report, b: &Report) -> Vec<Row> {
    let memory = |name, unit, of: &dyn Fn(&Report) -> u64| row("memory", name, unit, of(a) as f64, of(b) as f64);
    let rows = [
        neutral(memory("memory in use, at most", Unit::MemoryBytes, &|r| r.memory.peak_bytes)),
        neutral(memory("size of the process, at most", Unit::MemoryBytes, &|r| r.memory.peak_resident_bytes)),
        memory("spilled runs", Unit::Count, &|r| r.spill.runs),
        memory("spilled records", Unit::Count, &|r| r.spill.records),
        memory("spilled, as stored", Unit::Bytes, &|r| r.spill.stored_bytes),
        memory("scratch, at most", Unit::Bytes, &|r| r.spill.peak_bytes),
        memory("merge passes", Unit::Count, &|r| r.spill.merge_passes),
    ];
    rows.into_iter().filter(|row| row.a > 0.0 || row.b > 0.0).collect()
}

/// Returns the counters that differ.
fn counters(a: &Report, b: &Report) -> Vec<Row> {
    let of = |r: &Report, group: &str, name: &str| {
        r.counters.get(group).and_then(|g| g.get(name)).copied().unwrap_or(0) as f64
    };
    let mut names: Vec<(&String, &String)> = [a, b]
        .into_iter()
        .flat_map(|r| r.counters.iter().flat_map(|(g, all)| all.keys().map(move |name| (g, name))))
        .collect();
    names.sort();
    names.dedup();
    let rows = names
        .into_iter()
        .map(|(group, name)| row("counters", name, Unit::Count, of(a, group, name), of(b, group, name)));
    rows.filter(|row| row.a != row.b).collect()
}

fn differences(a: &Report, b: &Report) -> Vec<Difference> {
    let mut all = Vec::new();
    let mut compare_field = |what: &str, of: &dyn Fn(&Report) -> String| {
        let (a, b) = (of(a), of(b));
        if a != b {
            all.push(Difference { what: what.into(), a, b });
        }
    };
    let or = |text: &str, none: &str| if text.is_empty() { none.to_string() } else { text.to_string() };
    compare_field("how it ended", &|r| r.job.state.clone().unwrap_or_else(|| "succeeded".into()));
    compare_field("job", &|r| r.job.name.clone());
    compare_field("where", &|r| if r.job.id.is_some() { "a cluster".into() } else { "one machine".into() });
    compare_field("input", &|r| {
        format!("{}, {}", numbers::bytes(r.job.input_bytes), numbers::several(r.job.input_records, "record"))
    });
    compare_field("mode", &|r| r.job.mode.clone());
    compare_field("classes", &|r| {
        let classes: Vec<String> = r.job.classes.iter().map(|(role, class)| format!("{role} {class}")).collect();
        or(&classes.join(", "), "none")
    });
    compare_field("splits", &|r| numbers::count(r.job.splits));
    compare_field("reduces", &|r| numbers::count(u64::from(r.job.reduces)));
    compare_field("workers", &|r| numbers::count(u64::from(r.job.threads)));
    compare_field("memory budget", &|r| numbers::memory(r.memory.budget_bytes));
    compare_field("scratch", &|r| or(&r.spill.directories.join(", "), "not used"));
    compare_field("version", &|r| r.job.version.clone());
    compare_field("machine", &|r| {
        format!("{}, {}", or(&r.machine.cpu, "unknown"), numbers::several(u64::from(r.machine.processors), "processor"))
    });
    compare_field("bound by", &|r| or(&r.bottleneck.resource.replace('_', " "), "unknown"));
    all
}

pub fn as_json(comparison: &Comparison) -> Value {
    let side = |side: &Side| json!({ "path": side.path, "name": side.name, "started_unix_ms": side.started_unix_ms });
    let unit = |unit: Unit| match unit {
        Unit::Milliseconds => "ms",
        Unit::Bytes | Unit::MemoryBytes => "bytes",
        Unit::MbPerS => "mb_per_s",
        Unit::Count => "count",
    };
    let better = |better: Better| match better {
        Better::A => json!("a"),
        Better::B => json!("b"),
        Better::Neither => Value::Null,
    };
    let rows = comparison.rows.iter().map(|row| {
        json!({ "group": row.group, "name": row.name, "unit": unit(row.unit), "a": row.a, "b": row.b, "ratio": row.ratio(),
                "better": better(row.better) })
    });
    let different = comparison.differences.iter().map(|d| json!({ "what": d.what, "a": d.a, "b": d.b }));
    json!({ "format": COMPARISON_FORMAT, "a": side(&comparison.a), "b": side(&comparison.b),
            "different": different.collect::<Vec<_>>(), "rows": rows.collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use yunti_engine::job::report::Stage;

    fn report(wall_ms: f64, stages: &[(&str, f64)]) -> Report {
        let mut report = Report::default();
        report.job.wall_ms = wall_ms;
        report.job.input_bytes = 1_000_000;
        let stage =
            |(name, busy_ms): &(&str, f64)| Stage { name: name.to_string(), busy_ms: *busy_ms, ..Stage::default() };
        report.stages = stages.iter().map(stage).collect();
        report
    }

    #[test]
    fn sorts_by_difference_and_names_the_direction() {
        let a = report(1000.0, &[("read", 100.0), ("map", 500.0), ("sort", 300.0)]);
        let mut b = report(500.0, &[("read", 110.0), ("map", 505.0), ("spill", 80.0)]);
        b.counters.entry("G".into()).or_default().insert("NEW".into(), 7);
        let found = compare(("a", &a), ("b", &b));
        let of =
            |group: &str| -> Vec<&str> { found.rows.iter().filter(|r| r.group == group).map(|r| &*r.name).collect() };
        assert_eq!(of("stages"), ["sort", "spill", "read", "map"]);
        assert_eq!(of("counters"), ["NEW"]);
        let time = &found.rows[0];
        assert_eq!((time.ratio(), time.better), (Some(0.5), Better::B));
        assert_eq!(found.rows[1].better, Better::B, "twice the speed");
        let map = found.rows.iter().find(|r| r.name == "map").unwrap();
        assert!(map.is_same() && map.better == Better::Neither);
        assert!(found.differences.is_empty());
    }

    #[test]
    fn reports_different_inputs() {
        let a = report(1000.0, &[]);
        let mut b = a.clone();
        b.job.input_bytes *= 2;
        b.memory.budget_bytes = 1 << 30;
        let what: Vec<String> = compare(("a", &a), ("b", &b)).differences.into_iter().map(|d| d.what).collect();
        assert_eq!(what, ["input", "memory budget"]);
    }
}
