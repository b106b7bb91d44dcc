//! Histogram of a live heap: objects and bytes by class, which the JVM counts while it stands still.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use yunti_base::{Code, Error, Result};
use yunti_heap::model::name::readable;
use yunti_probe::target::Process;

use crate::jvm::attach::command_within;

/// Time that a count of the largest heaps takes.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(600);

/// Objects and their own bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Number of objects.
    pub objects: u64,
    /// Their shallow bytes.
    pub bytes: u64,
}

/// Histogram of a heap.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// Objects by readable name of their class: `int[]`. Classes of one name are one row.
    pub classes: HashMap<String, Counted>,
    /// Duration of the request, in which the JVM stood still nearly all the time.
    pub took: Duration,
}

impl Histogram {
    /// Makes the JVM count its objects: after a full collection, or with garbage.
    pub fn of(process: &Process, with_garbage: bool) -> Result<Histogram> {
        let begin = Instant::now();
        let which = if with_garbage { "-all" } else { "-live" };
        let answer = command_within(process, &["inspectheap", which], ANSWER_TIME_MAX)?;
        let took = begin.elapsed();
        match answer.split_once('\n') {
            Some(("0", table)) => Ok(Histogram { classes: parse(table), took }),
            _ => {
                let text = answer.lines().find(|line| line.trim() != "0").unwrap_or_default();
                Err(Error::new(Code::Input, format!("the JVM {} gives no histogram: {text}", process.pid)))
            }
        }
    }

    /// Returns the sum of all classes.
    pub fn total(&self) -> Counted {
        self.classes.values().fold(Counted::default(), |sum, class| Counted {
            objects: sum.objects + class.objects,
            bytes: sum.bytes + class.bytes,
        })
    }
}

/// Parses lines such as `   2:         16170         431128  [B (java.base@17.0.15)`.
fn parse(table: &str) -> HashMap<String, Counted> {
    let mut classes: HashMap<String, Counted> = HashMap::new();
    for line in table.lines() {
        let mut words = line.split_whitespace();
        let is_row = words.next().and_then(|word| word.strip_suffix(':')).is_some_and(|n| n.parse::<u64>().is_ok());
        let mut number = || words.next().and_then(|word| word.parse::<u64>().ok());
        let (true, Some(objects), Some(bytes)) = (is_row, number(), number()) else { continue };
        let Some(name) = words.next() else { continue };
        let class = classes.entry(readable(name)).or_default();
        class.objects += objects;
        class.bytes += bytes;
    }
    classes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_several_jvms() {
        let classes = parse(
            " num     #instances         #bytes  class name (module)\n\
             -------------------------------------------------------\n\
             \x20  1:         16170         431128  [B (java.base@17.0.15)\n\
             \x20  2:            12            288  Shop$Order\n\
             \x20  3:             1             16  Shop$Order\n\
             \x20  4:             3             72  [Ljava.lang.String; (java.base@25)\n\
             Total         16186         431504\n",
        );
        let of = |name: &str| classes.get(name).map(|class| (class.objects, class.bytes));
        assert_eq!(of("byte[]"), Some((16170, 431_128)));
        assert_eq!(of("Shop$Order"), Some((13, 304)));
        assert_eq!(of("java.lang.String[]"), Some((3, 72)));
        assert_eq!(classes.len(), 3);
    }
}
