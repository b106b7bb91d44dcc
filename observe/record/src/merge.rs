//! Merge: many slices as one profile, and as costs over time.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::slice::{Frame, FrameKind, Gc, Measure, Slice, Stacks};

/// Profile of many slices together.
#[derive(Clone, Debug, Default)]
pub struct Merged {
    /// Stacks of all slices.
    pub stacks: Stacks,
    /// Slices.
    pub slices: u64,
    /// Length of all slices together in milliseconds, each process by itself.
    pub duration_ms: u64,
    /// Unix time in milliseconds at which the first slice begins.
    pub begin_ms: u64,
    /// Unix time in milliseconds at which the last slice ends.
    pub end_ms: u64,
    /// Requests of the slices that count them; `None` if one does not.
    pub requests: Option<u64>,
    /// Releases in the order in which they were met.
    pub releases: Vec<String>,
    /// Garbage collection of all slices.
    pub gc: Option<Gc>,
}

impl Merged {
    /// Adds a slice.
    pub fn add(&mut self, slice: &Slice) {
        let facts = &slice.facts;
        let is_first = self.slices == 0;
        self.stacks.join(&slice.stacks);
        self.slices += 1;
        self.duration_ms = self.duration_ms.saturating_add(facts.duration_ms);
        self.begin_ms = if is_first { facts.begin_ms } else { self.begin_ms.min(facts.begin_ms) };
        self.end_ms = self.end_ms.max(facts.end_ms());
        let before = if is_first { Some(0) } else { self.requests };
        self.requests = before.zip(facts.requests).map(|(before, more)| before.saturating_add(more));
        if !self.releases.contains(&facts.service.release) {
            self.releases.push(facts.service.release.clone());
        }
        if let Some(more) = &facts.gc {
            let gc = self.gc.get_or_insert_default();
            gc.pauses = gc.pauses.saturating_add(more.pauses);
            gc.pause_ns = gc.pause_ns.saturating_add(more.pause_ns);
            gc.pause_ns_max = gc.pause_ns_max.max(more.pause_ns_max);
            gc.full = gc.full.saturating_add(more.full);
        }
    }

    /// Returns the cost of a request, if requests are counted and there were any.
    pub fn per_request(&self, measure: Measure) -> Option<f64> {
        let requests = self.requests.filter(|requests| *requests > 0)?;
        Some(self.stacks.total(measure) as f64 / requests as f64)
    }

    /// Returns the stacks with each cost multiplied by a factor, for example to the requests of another profile.
    pub fn scaled(&self, factor: f64) -> Stacks {
        let mut scaled = Stacks::default();
        let numbers: Vec<u32> = self.stacks.frames().iter().map(|frame| scaled.number(frame)).collect();
        for (frames, values) in self.stacks.all() {
            let values = values.map(|value| (value as f64 * factor).round() as u64);
            scaled.add_numbers(frames.iter().map(|at| numbers[*at as usize]).collect(), values);
        }
        scaled
    }
}

/// Costs by function and time: a row for each function, a column for each part of a period.
#[derive(Clone, Debug)]
pub struct Heatmap {
    measure: Measure,
    from_ms: u64,
    column_ms: u64,
    columns: Vec<Column>,
    numbers: HashMap<Arc<str>, usize>,
    functions: Vec<Frame>,
}

#[derive(Clone, Debug, Default)]
struct Column {
    slices: u64,
    seconds: f64,
    requests: u64,
    cost: f64,
    /// Own cost and cost with callees, by the number of the function.
    costs: HashMap<usize, (f64, f64)>,
}

impl Heatmap {
    /// Returns an empty heatmap of a period with so much time a column, at least a second. It has 10,000 columns at
    /// most.
    pub fn new(measure: Measure, from_ms: u64, to_ms: u64, column_ms: u64) -> Heatmap {
        let length_ms = to_ms.saturating_sub(from_ms);
        let column_ms = column_ms.max(1000).max(length_ms.div_ceil(10_000));
        let columns = vec![Column::default(); length_ms.div_ceil(column_ms) as usize];
        Heatmap { measure, from_ms, column_ms, columns, numbers: HashMap::new(), functions: Vec::new() }
    }

    /// Adds a slice to the column in which it begins. Slices outside of the period are left out.
    pub fn add(&mut self, slice: &Slice) {
        let facts = &slice.facts;
        let after = facts.begin_ms.checked_sub(self.from_ms);
        let Some(at) = after.map(|ms| (ms / self.column_ms) as usize).filter(|at| *at < self.columns.len()) else {
            return;
        };
        let numbers: Vec<Option<usize>> = slice.stacks.frames().iter().map(|frame| self.number(frame)).collect();
        let column = &mut self.columns[at];
        column.slices += 1;
        column.seconds += facts.duration_ms as f64 / 1000.0;
        column.requests = column.requests.saturating_add(facts.requests.unwrap_or(0));
        let mut seen = Vec::new();
        for (frames, values) in slice.stacks.all() {
            let cost = values[self.measure as usize] as f64;
            if cost == 0.0 {
                continue;
            }
            column.cost += cost;
            seen.clear();
            seen.extend(frames.iter().filter_map(|frame| numbers[*frame as usize]));
            if let Some(leaf) = seen.last() {
                column.costs.entry(*leaf).or_default().0 += cost;
            }
            seen.sort_unstable();
            seen.dedup();
            seen.iter().for_each(|number| column.costs.entry(*number).or_default().1 += cost);
        }
    }

    /// Returns the heatmap as JSON for pages: functions with the highest own cost first, costs of each in nanoseconds
    /// or bytes of a second.
    pub fn to_json(&self, rows_max: usize) -> Value {
        let mut sums = vec![0.0; self.functions.len()];
        for column in &self.columns {
            column.costs.iter().for_each(|(number, (own, _))| sums[*number] += own);
        }
        let mut order: Vec<usize> = (0..sums.len()).filter(|number| sums[*number] > 0.0).collect();
        order.sort_by(|a, b| {
            sums[*b].total_cmp(&sums[*a]).then_with(|| self.functions[*a].name.cmp(&self.functions[*b].name))
        });
        order.truncate(rows_max);
        let by_second = |column: &Column, cost: f64| (cost / column.seconds.max(1e-9)).round() as u64;
        let cells = |number: usize, of: fn(&(f64, f64)) -> f64| -> Vec<Value> {
            // A column without slices is no column without cost.
            let cell = |column: &Column| match column.slices {
                0 => Value::Null,
                _ => json!(by_second(column, column.costs.get(&number).map_or(0.0, of))),
            };
            self.columns.iter().map(cell).collect()
        };
        let row = |number: &usize| {
            let frame = &self.functions[*number];
            json!({
                "function": &*frame.name,
                "kind": frame.kind.name(),
                "own": cells(*number, |cost| cost.0),
                "total": cells(*number, |cost| cost.1),
            })
        };
        let column = |column: &Column| match column.slices {
            0 => Value::Null,
            _ => json!({
                "slices": column.slices,
                "seconds": column.seconds,
                "requests": column.requests,
                "cost": by_second(column, column.cost),
            }),
        };
        json!({
            "measure": self.measure.name(),
            "unit": self.measure.unit(),
            "from_ms": self.from_ms,
            "column_ms": self.column_ms,
            "columns": self.columns.iter().map(column).collect::<Vec<_>>(),
            "rows": order.iter().map(row).collect::<Vec<_>>(),
        })
    }

    fn number(&mut self, frame: &Frame) -> Option<usize> {
        if frame.kind == FrameKind::Group {
            return None;
        }
        let fresh = self.functions.len();
        let number = *self.numbers.entry(frame.name.clone()).or_insert(fresh);
        if number == fresh {
            self.functions.push(frame.clone());
        }
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(begin_ms: u64, requests: Option<u64>, costs: &[(&str, u64)]) -> Slice {
        let mut slice = Slice::default();
        (slice.facts.begin_ms, slice.facts.duration_ms, slice.facts.requests) = (begin_ms, 2000, requests);
        slice.facts.gc = Some(Gc { pauses: 1, pause_ns: 5, pause_ns_max: begin_ms, full: 0 });
        for (text, cost) in costs {
            let frames: Vec<Frame> = text.split(' ').map(|name| Frame::new(name, FrameKind::Compiled)).collect();
            slice.stacks.add(&frames, Measure::Cpu, *cost);
        }
        slice
    }

    #[test]
    fn slices_become_one_profile() {
        let mut merged = Merged::default();
        merged.add(&slice(9000, Some(2), &[("a b", 10)]));
        merged.add(&slice(1000, Some(3), &[("a b", 20), ("a", 5)]));
        assert_eq!((merged.slices, merged.begin_ms, merged.end_ms, merged.duration_ms), (2, 1000, 11_000, 4000));
        assert_eq!((merged.requests, merged.per_request(Measure::Cpu)), (Some(5), Some(7.0)));
        assert_eq!(merged.gc, Some(Gc { pauses: 2, pause_ns: 10, pause_ns_max: 9000, full: 0 }));
        assert_eq!(merged.scaled(0.5).total(Measure::Cpu), 18);
        merged.add(&slice(1000, None, &[]));
        assert_eq!((merged.requests, merged.per_request(Measure::Cpu)), (None, None));
    }

    #[test]
    fn heatmaps_have_columns_of_time() {
        let mut map = Heatmap::new(Measure::Cpu, 10_000, 40_000, 10_000);
        map.add(&slice(10_000, Some(1), &[("a b a", 10), ("a b", 4)]));
        map.add(&slice(39_999, None, &[("b", 2)]));
        map.add(&slice(9_999, None, &[("b", 100)]));
        map.add(&slice(40_000, None, &[("b", 100)]));
        let json = map.to_json(10);
        assert_eq!(json["rows"][0]["function"], "a");
        assert_eq!(json["rows"][0]["own"], json!([5, null, 0]));
        assert_eq!(json["rows"][1]["own"], json!([2, null, 1]));
        assert_eq!(json["rows"][1]["total"], json!([7, null, 1]));
        assert_eq!(json["columns"][0], json!({ "slices": 1, "seconds": 2.0, "requests": 1, "cost": 7 }));
        assert_eq!(map.to_json(1)["rows"].as_array().map(Vec::len), Some(1));
    }
}
