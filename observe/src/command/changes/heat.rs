//! Heatmap of functions over time: costs by function and slice, summed up in columns while slices are read.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Zoned;
use yunti_record::{Changes, FrameKind, Measure, Slice};

use crate::history::clock;
use yunti_probe::answer::{HeatRow, Heatmap};

/// Columns of a heatmap, at most.
const COLUMNS: usize = 96;
/// Functions that changed, and further ones by their cost.
const CHANGED: usize = 20;
const COSTLY: usize = 15;
/// Length of the sums from which columns are made, in milliseconds.
const GRAIN_MS: u64 = 1000;

/// Sums of a short time.
#[derive(Default)]
struct Cell {
    seconds: f64,
    requests: f64,
    /// Own cost by the number of a function.
    costs: HashMap<u32, u64>,
}

/// Costs by function and time.
pub struct Heat {
    measure: Measure,
    numbers: HashMap<Arc<str>, u32>,
    names: Vec<Arc<str>>,
    /// Sums by time.
    cells: std::collections::BTreeMap<u64, Cell>,
    is_counted: bool,
}

impl Heat {
    pub fn new(measure: Measure) -> Heat {
        Heat {
            measure,
            numbers: HashMap::new(),
            names: Vec::new(),
            cells: std::collections::BTreeMap::new(),
            is_counted: true,
        }
    }

    pub fn add(&mut self, slice: &Slice) {
        let grain = self.grain_ms();
        let cell = self.cells.entry(slice.facts.begin_ms / grain * grain).or_default();
        cell.seconds += slice.facts.duration_ms as f64 / 1000.0;
        self.is_counted &= slice.facts.requests.is_some();
        cell.requests += slice.facts.requests.unwrap_or(0) as f64;
        let frames = slice.stacks.frames();
        for (stack, values) in slice.stacks.all() {
            let value = values[self.measure as usize];
            // Headings are no functions.
            let own = stack.last().map(|at| &frames[*at as usize]).filter(|frame| frame.kind != FrameKind::Group);
            let Some(frame) = own.filter(|_| value > 0) else { continue };
            let fresh = self.names.len() as u32;
            let number = *self.numbers.entry(frame.name.clone()).or_insert_with(|| {
                self.names.push(frame.name.clone());
                fresh
            });
            *cell.costs.entry(number).or_default() += value;
        }
        if self.cells.len() > 4 * COLUMNS {
            self.narrow(2 * COLUMNS);
        }
    }

    fn grain_ms(&self) -> u64 {
        let times: Vec<u64> = self.cells.keys().copied().collect();
        let span = times.last().zip(times.first()).map_or(0, |(last, first)| last - first);
        (span / (4 * COLUMNS as u64)).max(GRAIN_MS)
    }

    /// Joins cells, so that memory does not grow with the time.
    fn narrow(&mut self, wanted: usize) {
        let span = self.cells.keys().next_back().zip(self.cells.keys().next()).map_or(0, |(last, first)| last - first);
        let grain = (span / wanted as u64 + 1).max(GRAIN_MS);
        for (at, cell) in std::mem::take(&mut self.cells) {
            let sum = self.cells.entry(at / grain * grain).or_default();
            sum.seconds += cell.seconds;
            sum.requests += cell.requests;
            cell.costs.into_iter().for_each(|(number, value)| *sum.costs.entry(number).or_default() += value);
        }
    }

    /// Returns the heatmap of a service, and begins anew: functions that changed first, then the costliest.
    pub fn take(&mut self, service: &str, changes: &Changes, now: &Zoned) -> Option<Heatmap> {
        self.narrow(COLUMNS - 1);
        let all = std::mem::replace(self, Heat::new(self.measure));
        let mut totals: HashMap<u32, u64> = HashMap::new();
        all.cells
            .values()
            .flat_map(|cell| &cell.costs)
            .for_each(|(number, value)| *totals.entry(*number).or_default() += value);
        let mut rows: Vec<u32> = Vec::new();
        rows.extend(changes.changes.iter().filter_map(|change| all.numbers.get(&change.function.name)).take(CHANGED));
        let changed = rows.len();
        let mut costly: Vec<(u32, u64)> = totals.into_iter().collect();
        costly.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        for (number, _) in costly.into_iter().take(COSTLY + CHANGED) {
            if rows.len() < changed + COSTLY && !rows.contains(&number) {
                rows.push(number);
            }
        }
        let is_counted = all.is_counted && all.cells.values().any(|cell| cell.requests > 0.0);
        let per = |cell: &Cell| if is_counted { cell.requests } else { cell.seconds };
        let value = |cell: &Cell, number: &u32| {
            let amount = per(cell);
            (amount > 0.0).then(|| cell.costs.get(number).copied().unwrap_or(0) as f64 / amount)
        };
        let heat_rows = rows.iter().enumerate().map(|(at, number)| HeatRow {
            name: all.names[*number as usize].to_string(),
            is_marked: at < changed,
            values: all.cells.values().map(|cell| value(cell, number)).collect(),
        });
        let (first, last) = (all.cells.keys().next()?, all.cells.keys().next_back()?);
        Some(Heatmap {
            title: format!(
                "Own cost of functions over time: {service}, {}",
                if is_counted { "a request" } else { "a second" }
            ),
            from: clock(*first, now.time_zone()),
            to: clock(*last, now.time_zone()),
            columns: all.cells.keys().map(|at| clock(*at, now.time_zone())).collect(),
            rows: heat_rows.collect(),
            format: super::report::formatter(self.measure),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use yunti_record::{Frame, Period, Question, Windows};

    #[test]
    fn columns_are_bounded() {
        let mut heat = Heat::new(Measure::Cpu);
        for minute in 0..5000u64 {
            let mut slice = Slice::default();
            (slice.facts.begin_ms, slice.facts.duration_ms) = (minute * 60_000, 60_000);
            slice.facts.requests = Some(10);
            slice.stacks.add(&[Frame::new("work", FrameKind::Native)], Measure::Cpu, 50);
            heat.add(&slice);
        }
        let period = |from_ms, to_ms| Period { from_ms, to_ms };
        let changes = Windows::new(&Question::new(Measure::Cpu, period(0, 1), period(1, 2))).changes();
        let now: Zoned = "2026-11-28T04:30:00+00:00[UTC]".parse().unwrap();
        let map = heat.take("shop", &changes, &now).unwrap();
        assert!((COLUMNS / 3..=COLUMNS).contains(&map.columns.len()), "{}", map.columns.len());
        assert_eq!((map.rows.len(), map.rows[0].is_marked), (1, false));
        assert!(map.rows[0].values.iter().all(|value| value.is_some_and(|value| (value - 5.0).abs() < 1e-9)));
        assert!(heat.take("shop", &changes, &now).is_none());
    }
}
