//! A table of all calls, with one row per call path: a method below its callers, from an outermost method on.
//! A recursive method has one row on its path, so there are at most as many levels as methods.

use super::{Call, Durations};

/// All calls of one method on one call path.
#[derive(Clone, Debug)]
pub struct Row {
    pub method: u32,
    /// Durations of the calls that have ended.
    pub durations: Durations,
    /// Nanoseconds in the method and its callees. Recursive calls count once.
    pub total: u64,
    /// Nanoseconds outside other traced calls.
    pub own: u64,
    pub thrown: u64,
    pub running: u64,
    /// Rows of its callees; by descending total after [`Table::sort`].
    pub callees: Vec<Row>,
}

impl Row {
    fn of(method: u32) -> Row {
        Row { method, durations: Durations::default(), total: 0, own: 0, thrown: 0, running: 0, callees: Vec::new() }
    }
}

/// The outermost rows. Each row holds its callees.
#[derive(Debug, Default)]
pub struct Table {
    pub rows: Vec<Row>,
}

impl Table {
    pub fn add(&mut self, call: &Call) {
        self.put(call, &mut Vec::new());
    }

    /// Adds a call and its callees.
    ///
    /// @param path indices of the rows from the outermost to the caller
    fn put(&mut self, call: &Call, path: &mut Vec<usize>) {
        let known = self.within(path, call.method);
        let depth = path.len();
        let cut = match known {
            Some(at) => path.split_off(at + 1),
            None => {
                let callees = self.callees(path);
                let found = callees.iter().position(|row| row.method == call.method);
                path.push(found.unwrap_or(callees.len()));
                if found.is_none() {
                    callees.push(Row::of(call.method));
                }
                Vec::new()
            }
        };
        let row = self.row(path);
        if call.is_running {
            row.running += 1;
        } else {
            row.durations.add(call.nanos);
            row.thrown += u64::from(call.has_thrown);
        }
        row.own += call.own_nanos();
        if known.is_none() {
            row.total += call.nanos;
        }
        for callee in &call.calls {
            self.put(callee, path);
        }
        path.extend(cut);
        path.truncate(depth);
    }

    /// Returns the position of the method's row on a path, or `None` if no row on the path is of this method.
    fn within(&self, path: &[usize], method: u32) -> Option<usize> {
        let mut rows = &self.rows;
        path.iter().position(|at| {
            let row = &rows[*at];
            rows = &row.callees;
            row.method == method
        })
    }

    fn callees(&mut self, path: &[usize]) -> &mut Vec<Row> {
        path.iter().fold(&mut self.rows, |rows, at| &mut rows[*at].callees)
    }

    fn row(&mut self, path: &[usize]) -> &mut Row {
        let last = path[path.len() - 1];
        &mut self.callees(&path[..path.len() - 1])[last]
    }

    pub fn sort(&mut self) {
        fn sort(rows: &mut [Row]) {
            rows.sort_by_key(|row| std::cmp::Reverse(row.total));
            rows.iter_mut().for_each(|row| sort(&mut row.callees));
        }
        sort(&mut self.rows);
    }

    /// Visits each row with its level, callers before callees.
    pub fn each(&self, mut visit: impl FnMut(usize, &Row)) {
        fn walk(rows: &[Row], level: usize, visit: &mut impl FnMut(usize, &Row)) {
            for row in rows {
                visit(level, row);
                walk(&row.callees, level + 1, visit);
            }
        }
        walk(&self.rows, 0, &mut visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(method: u32, nanos: u64, calls: Vec<Call>) -> Call {
        Call { method, nanos, calls, ..Call::default() }
    }

    fn rows(table: &mut Table) -> Vec<(usize, u32, u64, u64, u64)> {
        table.sort();
        let mut rows = Vec::new();
        table.each(|level, row| rows.push((level, row.method, row.durations.count, row.total, row.own)));
        rows
    }

    #[test]
    fn one_row_per_call_path() {
        let mut table = Table::default();
        table.add(&call(1, 100, vec![call(2, 30, vec![]), call(2, 40, vec![call(3, 5, vec![])])]));
        table.add(&call(2, 7, vec![]));
        assert_eq!(rows(&mut table), [(0, 1, 1, 100, 30), (1, 2, 2, 70, 65), (2, 3, 1, 5, 5), (0, 2, 1, 7, 7)]);
    }

    #[test]
    fn recursion_is_one_row() {
        let mut table = Table::default();
        // 1 -> 1 -> 2 -> 1 -> 3
        let inner = call(2, 60, vec![call(1, 40, vec![call(3, 10, vec![])])]);
        table.add(&call(1, 100, vec![call(1, 80, vec![inner]), call(3, 1, vec![])]));
        assert_eq!(rows(&mut table), [(0, 1, 3, 100, 69), (1, 2, 1, 60, 20), (1, 3, 2, 11, 11)]);
    }

    #[test]
    fn running_calls_are_counted_apart() {
        let mut table = Table::default();
        table.add(&Call { is_running: true, ..call(1, 100, vec![call(2, 30, vec![])]) });
        assert_eq!(rows(&mut table), [(0, 1, 0, 100, 70), (1, 2, 1, 30, 30)]);
        assert_eq!(table.rows[0].running, 1);
    }
}
