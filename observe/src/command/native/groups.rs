//! Counts of calls by values: rows for tables and JSON, with the values as a reader expects them.

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::{Value, json};

use yunti_probe::answer::{self, Table};
use yunti_probe::condition::expression::{Binary, Expression, Unary, Variable, is_signed};
use yunti_probe::condition::{Grouping, Key};
use yunti_probe::kernel::Group;
use yunti_probe::stack::{Frame, Kind};

use super::watch::Watch;

/// Calls with the same values, and with the same stack under `--count-by stack`.
pub struct Row {
    pub group: Group,
    /// Frames, outermost first; `None` if none was taken.
    pub stack: Option<Rc<[Frame]>>,
}

/// All groups of a measurement.
pub struct Groups<'a> {
    watches: &'a [Watch],
    /// Texts of the keys, as the user wrote them.
    texts: Vec<String>,
    rows: Vec<Row>,
    /// Names of processes and threads by their numbers.
    names: HashMap<u64, String>,
    sum: Option<String>,
}

/// Rows on a terminal.
const SHOWN: usize = 40;
const WIDEST: u64 = 40;

impl<'a> Groups<'a> {
    /// Takes the rows. `name`: the name of a process or a thread.
    pub fn new(
        watches: &'a [Watch],
        (keys, sum): (Vec<&str>, Option<&str>),
        mut rows: Vec<Row>,
        name: impl Fn(&Key, u64) -> Option<String>,
    ) -> Groups<'a> {
        rows.sort_by(|a, b| {
            let by_hits = b.group.hits.cmp(&a.group.hits);
            by_hits.then_with(|| (a.group.probe, &a.group.keys).cmp(&(b.group.probe, &b.group.keys)))
        });
        let mut names = HashMap::new();
        for row in &rows {
            for (key, value) in keys_of(watches, &row.group).iter().zip(&row.group.keys) {
                if matches!(key, Key::Process | Key::Thread) && !names.contains_key(value) {
                    names.insert(*value, name(key, *value).unwrap_or_else(|| "[ended]".to_owned()));
                }
            }
        }
        let texts = keys.into_iter().map(str::to_owned).collect();
        Groups { watches, texts, rows, names, sum: sum.map(str::to_owned) }
    }

    /// Returns the values of a group as a frame, to stand above its calls in a graph; `None` without values.
    pub fn frame(&self, probe: usize, keys: &[u64]) -> Option<Frame> {
        let group = Group { probe, keys: keys[..self.texts.len()].to_vec(), hits: 0, sum: 0 };
        let name = self.describe(&group, true);
        (!self.texts.is_empty()).then(|| Frame { name: name.into(), kind: Kind::Group })
    }

    /// Returns the values of a group as text: `java 4711, 0x10`.
    fn describe(&self, group: &Group, with_names: bool) -> String {
        let keys = keys_of(self.watches, group);
        let one = |((key, value), text): ((&Key, &u64), &String)| match self.shown(key, *value) {
            shown if with_names && matches!(key, Key::Value(_)) => format!("{text} = {shown}"),
            shown => shown,
        };
        keys.iter().zip(&group.keys).zip(&self.texts).map(one).collect::<Vec<_>>().join(", ")
    }

    fn shown(&self, key: &Key, value: u64) -> String {
        match key {
            Key::Process | Key::Thread => {
                let name = self.names.get(&value).map_or("", String::as_str);
                format!("{name} {value}")
            }
            Key::Value(expression) => number(expression, value),
        }
    }

    /// Returns the table of groups; those of one stack are put together.
    pub fn table(&self) -> Table {
        let mut groups: Vec<Group> = Vec::new();
        let mut places: HashMap<(usize, &[u64]), usize> = HashMap::new();
        for row in &self.rows {
            let place = *places.entry((row.group.probe, &row.group.keys)).or_insert(groups.len());
            match groups.get_mut(place) {
                Some(group) => {
                    group.hits += row.group.hits;
                    group.sum = group.sum.wrapping_add(row.group.sum);
                }
                None => groups.push(row.group.clone()),
            }
        }
        let is_histogram = self.is_histogram();
        if is_histogram {
            groups.sort_by(|a, b| (a.probe, &a.keys).cmp(&(b.probe, &b.keys)));
        } else {
            groups.sort_by_key(|group| std::cmp::Reverse(group.hits));
        }
        let all: u64 = groups.iter().map(|group| group.hits).sum();
        let most = groups.iter().map(|group| group.hits).max().unwrap_or(0).max(1);
        let row = |group: &Group| {
            let mut cells = vec![group.hits.to_string(), answer::percent(group.hits, all)];
            if self.sum.is_some() {
                cells.extend(self.sums(group));
            }
            let values = self.describe(group, false);
            cells.push(match self.watches {
                [_] => values,
                watches => format!("{}: {values}", watches[group.probe].name),
            });
            if is_histogram {
                cells.push("#".repeat((group.hits * WIDEST).div_ceil(most) as usize));
            }
            cells
        };
        let mut columns = vec![("hits", true), ("share", true)];
        if self.sum.is_some() {
            columns.extend([("sum", true), ("mean", true)]);
        }
        columns.push(("group", false));
        if is_histogram {
            columns.push(("", false));
        }
        let sum = self.sum.as_ref().map(|sum| format!("; sum of {sum}")).unwrap_or_default();
        let by = if self.texts.is_empty() { "Counts".to_owned() } else { format!("By {}", self.texts.join(", ")) };
        Table { title: by + &sum, columns, rows: groups.iter().map(row).collect(), shown: SHOWN }
    }

    fn sums(&self, group: &Group) -> [String; 2] {
        let grouping = self.watches[group.probe].probe.conditions.grouping.as_ref();
        let sum = grouping.and_then(|grouping| grouping.sum.as_ref());
        let hits = group.hits.max(1);
        match sum {
            Some(sum) if is_signed(sum) => {
                [(group.sum as i64).to_string(), (group.sum as i64 / hits as i64).to_string()]
            }
            Some(sum) if is_time(sum) => [answer::time(group.sum), answer::time(group.sum / hits)],
            _ => [group.sum.to_string(), (group.sum / hits).to_string()],
        }
    }

    /// Returns true if the only key is a logarithm, whose groups read best in the order of their values.
    fn is_histogram(&self) -> bool {
        self.watches.iter().all(|watch| {
            let keys = watch.probe.conditions.grouping.as_ref().map(|grouping| grouping.keys.as_slice());
            matches!(keys, Some([Key::Value(Expression::Unary(Unary::Log2, _))]))
        })
    }

    pub fn to_json(&self) -> Value {
        let one = |row: &Row| {
            let keys = keys_of(self.watches, &row.group);
            let value = |(key, value): (&Key, u64)| match key {
                Key::Process => json!({ "pid": value, "name": self.names.get(&value) }),
                Key::Thread => json!({ "tid": value, "name": self.names.get(&value) }),
                Key::Value(expression) if is_signed(expression) => json!(value as i64),
                Key::Value(_) => json!(value),
            };
            let values: Vec<Value> = keys.iter().zip(row.group.keys.iter().copied()).map(value).collect();
            let names = row.stack.as_ref().map(|frames| frames.iter().map(|f| f.name.to_string()).collect::<Vec<_>>());
            let mut json = json!({
                "what": self.watches[row.group.probe].name,
                "keys": values,
                "hits": row.group.hits,
                "stack": names,
            });
            if let Some(sum) = self.sum_as_json(&row.group) {
                json["sum"] = sum;
            }
            json
        };
        json!({ "by": self.texts, "sum": self.sum, "groups": self.rows.iter().map(one).collect::<Vec<_>>() })
    }

    fn sum_as_json(&self, group: &Group) -> Option<Value> {
        let sum = self.watches[group.probe].probe.conditions.grouping.as_ref()?.sum.as_ref()?;
        Some(if is_signed(sum) { json!(group.sum as i64) } else { json!(group.sum) })
    }
}

fn keys_of<'w>(watches: &'w [Watch], group: &Group) -> &'w [Key] {
    let grouping: Option<&Grouping> = watches[group.probe].probe.conditions.grouping.as_ref();
    grouping.map_or(&[], |grouping| &grouping.keys)
}

fn is_time(of: &Expression) -> bool {
    matches!(of, Expression::Variable { variable: Variable::Time, .. })
}

/// Formats the value of an expression: a range for a logarithm, hexadecimal where bits are taken, else decimal.
fn number(of: &Expression, value: u64) -> String {
    let is_bits = |part: &Expression| {
        matches!(
            part,
            Expression::Unary(Unary::Complement, _)
                | Expression::Binary(
                    Binary::BitAnd | Binary::BitOr | Binary::BitXor | Binary::ShiftLeft | Binary::ShiftRight,
                    ..
                )
        )
    };
    match of {
        Expression::Unary(Unary::Log2, _) if value == 0 => "0 to 1".to_owned(),
        Expression::Unary(Unary::Log2, _) => {
            let from = 1u64 << value.min(63);
            format!("{from} to {}", from - 1 + from)
        }
        _ if is_time(of) => answer::time(value),
        _ if is_signed(of) => (value as i64).to_string(),
        _ if of.any(&is_bits) => format!("0x{value:x}"),
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use yunti_probe::condition::expression::parse;

    #[test]
    fn values_as_a_reader_expects_them() {
        let scope = |name: &str| {
            (name == "arg0").then_some(Expression::Variable { variable: Variable::Argument(0), is_signed: false })
        };
        for (text, value, expected) in [
            ("arg0", 16, "16"),
            ("arg0 & 0xfff", 16, "0x10"),
            ("s32(arg0)", u64::MAX, "-1"),
            ("log2(arg0)", 12, "4096 to 8191"),
            ("log2(arg0)", 0, "0 to 1"),
            ("log2(arg0)", 63, "9223372036854775808 to 18446744073709551615"),
            ("arg0 > 5", 1, "1"),
        ] {
            assert_eq!(number(&parse(text, &scope).unwrap(), value), expected, "{text}");
        }
    }
}
