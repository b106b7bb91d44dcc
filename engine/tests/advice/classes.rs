//! Classes of the test jobs: a mapper and a writer that burn time, reducers with linear and quadratic cost.

use std::hint::black_box;
use std::sync::Arc;

use yunti_base::Result;
use yunti_engine::operator::{
    Batch, Class, ClassInfo, ClassSource, Groups, Kind, Mapper, Out, Reducer, TaskContext, Type, Writer,
};

/// Runs steps of work that the optimiser keeps.
fn burn(steps: u64) {
    for i in 0..steps {
        black_box(i);
    }
}

/// Mapper and writer that pass each record after some work.
#[derive(Clone, Copy)]
struct Pass {
    steps: u64,
}

impl Mapper for Pass {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        for i in 0..batch.len() {
            burn(self.steps);
            let (key, value) = batch.record(i);
            out.emit(key, value)?;
        }
        Ok(())
    }
}

/// Mapper that emits nothing.
struct Nothing;

impl Mapper for Nothing {
    fn map(&mut self, _: &Batch<'_>, _: &mut Out) -> Result<()> {
        Ok(())
    }
}

impl Writer for Pass {
    fn write(&mut self, records: &Batch<'_>, bytes: &mut Out) -> Result<()> {
        for i in 0..records.len() {
            burn(self.steps);
            bytes.append(records.record(i).0)?;
            bytes.append(b"\n")?;
        }
        Ok(())
    }
}

/// Reducer that counts the values of a key; with `pairs`, it compares each with each.
struct Count {
    pairs: bool,
    /// First bytes of the values of a group that may continue.
    values: Vec<u8>,
}

impl Reducer for Count {
    fn reduce(&mut self, groups: &Groups<'_>, out: &mut Out) -> Result<()> {
        for i in 0..groups.len() {
            self.values.extend(groups.range(i).map(|v| groups.value(v).first().copied().unwrap_or(0)));
            if i + 1 == groups.len() && groups.goes_on() {
                break;
            }
            if self.pairs {
                for a in &self.values {
                    for b in &self.values {
                        black_box(a == b);
                    }
                }
            }
            out.emit(groups.key(i), format!("{}", self.values.len()).as_bytes())?;
            self.values.clear();
        }
        Ok(())
    }
}

enum Make {
    Pass(u64),
    Nothing,
    Count { pairs: bool },
    Write(u64),
}

struct TestClass {
    info: ClassInfo,
    make: Make,
}

impl Class for TestClass {
    fn info(&self) -> &ClassInfo {
        &self.info
    }
    fn mapper(&self, _: &Arc<TaskContext>) -> Result<Box<dyn Mapper>> {
        Ok(match self.make {
            Make::Pass(steps) => Box::new(Pass { steps }),
            _ => Box::new(Nothing),
        })
    }
    fn reducer(&self, _: &Arc<TaskContext>) -> Result<Box<dyn Reducer>> {
        Ok(Box::new(Count { pairs: matches!(self.make, Make::Count { pairs: true }), values: Vec::new() }))
    }
    fn writer(&self, _: &Arc<TaskContext>) -> Result<Box<dyn Writer>> {
        let Make::Write(steps) = self.make else { unreachable!("only writers make writers") };
        Ok(Box::new(Pass { steps }))
    }
}

/// Returns the mappers `Test.Slow`, `Test.Pass` and `Test.Nothing`, the reducers `Test.Count` and `Test.Pairs`, and the
/// writer `Test.Write`.
pub fn test_classes() -> Arc<dyn ClassSource> {
    let class = |name: &str, kind: Kind, make: Make| -> Arc<dyn Class> {
        let types = if kind == Kind::Writer { Type::None } else { Type::Bytes };
        let info =
            ClassInfo { key_type: types, value_type: types, ..ClassInfo::of_bytes(format!("Test.{name}"), kind) };
        Arc::new(TestClass { info, make })
    };
    Arc::new(vec![
        class("Slow", Kind::Mapper, Make::Pass(40_000)),
        class("Pass", Kind::Mapper, Make::Pass(0)),
        class("Nothing", Kind::Mapper, Make::Nothing),
        class("Count", Kind::Reducer, Make::Count { pairs: false }),
        class("Pairs", Kind::Reducer, Make::Count { pairs: true }),
        class("Write", Kind::Writer, Make::Write(40_000)),
    ])
}
