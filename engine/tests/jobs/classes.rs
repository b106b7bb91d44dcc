//! Classes of the tests: mappers and partitioners from plain functions, with keys and values of any type.

use std::sync::Arc;

use yunti_base::Result;
use yunti_engine::env::random::Random;
use yunti_engine::operator::{
    Batch, Class, ClassInfo, ClassSource, Groups, Kind, Mapper, Out, Partitioner, Reducer, TaskContext, Type,
};

use aside::{Aside, Without};

#[path = "aside.rs"]
#[allow(dead_code)]
pub mod aside;

type MapBatch = fn(&Batch<'_>, &mut Out) -> Result<()>;

struct TestMapper {
    info: ClassInfo,
    map: MapBatch,
}

struct FunctionMapper(MapBatch);

impl Mapper for FunctionMapper {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        (self.0)(batch, out)
    }
}

impl Class for TestMapper {
    fn info(&self) -> &ClassInfo {
        &self.info
    }
    fn mapper(&self, _: &Arc<TaskContext>) -> Result<Box<dyn Mapper>> {
        Ok(Box::new(FunctionMapper(self.map)))
    }
}

/// `Test.FirstByte` (partitioner): chooses by the first byte of the key.
struct ByFirstByte(ClassInfo);

impl Class for ByFirstByte {
    fn info(&self) -> &ClassInfo {
        &self.0
    }
    fn partitioner(&self, _: &Arc<TaskContext>) -> Result<Box<dyn Partitioner>> {
        Ok(Box::new(FirstByte))
    }
}

struct FirstByte;

impl Partitioner for FirstByte {
    fn partition(&mut self, batch: &Batch<'_>, parts: u32, part: &mut [u32]) -> Result<()> {
        for (i, part) in part.iter_mut().enumerate().take(batch.len()) {
            *part = batch.record(i).0.first().map_or(0, |&b| u32::from(b)) % parts;
        }
        Ok(())
    }
}

/// `Test.Sum` (reducer): sums that the engine does not know as a fold, to run real combiners and reducers.
struct Sum(ClassInfo);

impl Class for Sum {
    fn info(&self) -> &ClassInfo {
        &self.0
    }
    fn reducer(&self, _: &Arc<TaskContext>) -> Result<Box<dyn Reducer>> {
        Ok(Box::new(SumReducer(None)))
    }
}

/// Last key, which may continue in the next batch, and its sum so far.
struct SumReducer(Option<(Vec<u8>, i64)>);

impl Reducer for SumReducer {
    fn reduce(&mut self, groups: &Groups<'_>, out: &mut Out) -> Result<()> {
        for i in 0..groups.len() {
            let sum = groups.range(i).map(|v| i64::from_le_bytes(groups.value(v).try_into().unwrap()));
            let sum = sum.fold(0, i64::wrapping_add);
            match &mut self.0 {
                Some((key, so_far)) if key[..] == *groups.key(i) => *so_far = so_far.wrapping_add(sum),
                _ => {
                    self.flush(out)?;
                    self.0 = Some((groups.key(i).to_vec(), sum));
                }
            }
        }
        Ok(())
    }
    fn flush(&mut self, out: &mut Out) -> Result<()> {
        if let Some((key, sum)) = self.0.take() {
            out.emit(&key, &sum.to_le_bytes())?;
        }
        Ok(())
    }
}

/// Passes all records.
fn pass(batch: &Batch<'_>, out: &mut Out) -> Result<()> {
    for i in 0..batch.len() {
        let (key, value) = batch.record(i);
        out.emit(key, value)?;
    }
    Ok(())
}

/// Cuts keys to the length in their first byte.
fn strings(batch: &Batch<'_>, out: &mut Out) -> Result<()> {
    for i in 0..batch.len() {
        let (key, value) = batch.record(i);
        out.emit(&key[1..1 + key[0] as usize], value)?;
    }
    Ok(())
}

/// Emits lines under their position.
fn positions(batch: &Batch<'_>, out: &mut Out) -> Result<()> {
    for (i, &offset) in batch.values().offsets.iter().enumerate() {
        out.emit(&(batch.first_position() + u64::from(offset)).to_le_bytes(), batch.record(i).1)?;
    }
    Ok(())
}

fn number_of(line: &[u8]) -> u64 {
    line.iter().fold(7, |n, &b| n * 31 + u64::from(b))
}

/// Emits 90 records of 1000 bytes with few distinct keys for each line: much to sort from little input.
fn large(batch: &Batch<'_>, out: &mut Out) -> Result<()> {
    for i in 0..batch.len() {
        let mut random = Random::new(number_of(batch.record(i).1));
        for _ in 0..90 {
            let key = random.below(500).to_be_bytes();
            let value = random.next_u64().to_le_bytes().repeat(124);
            out.emit(&key, &value)?;
        }
    }
    Ok(())
}

/// Emits a record of 400 KB a line, larger than a block of a run: few runs fit into a merge, so it needs several
/// passes.
fn long(batch: &Batch<'_>, out: &mut Out) -> Result<()> {
    for i in 0..batch.len() {
        let n = Random::new(number_of(batch.record(i).1)).next_u64();
        out.emit(&n.to_be_bytes(), &n.to_le_bytes().repeat(50_000))?;
    }
    Ok(())
}

/// Emits 300 long words a line, most of them new.
fn words(batch: &Batch<'_>, out: &mut Out) -> Result<()> {
    for i in 0..batch.len() {
        let mut random = Random::new(number_of(batch.record(i).1));
        for _ in 0..300 {
            out.emit(format!("word-{:070}", random.below(1 << 20)).as_bytes(), &1i64.to_le_bytes())?;
        }
    }
    Ok(())
}

/// Returns `Test.Pass.T` (passes records with keys of type T), the mappers above, the reducer `Test.Sum`, the
/// partitioner `Test.FirstByte`, and the classes of `aside.rs`.
pub fn test_classes() -> Arc<dyn ClassSource> {
    let info = |name: &str, kind: Kind, key_type: Type, value_type: Type| ClassInfo {
        key_type,
        value_type,
        ..ClassInfo::of_bytes(format!("Test.{name}"), kind)
    };
    let mapper = |name: &str, key: Type, value: Type, map: MapBatch| -> Arc<dyn Class> {
        Arc::new(TestMapper { info: info(name, Kind::Mapper, key, value), map })
    };
    let mut all: Vec<Arc<dyn Class>> =
        Type::ALL[1..].iter().map(|&t| mapper(&format!("Pass.{}", t.name()), t, Type::Bytes, pass)).collect();
    all.push(mapper("Doubles", Type::Bytes, Type::F64, pass));
    all.push(mapper("Longs", Type::Bytes, Type::I64, pass));
    all.push(mapper("Numbers", Type::I64, Type::I64, pass));
    all.push(mapper("Strings", Type::Bytes, Type::Bytes, strings));
    all.push(mapper("Positions", Type::U64, Type::Bytes, positions));
    all.push(mapper("Large", Type::Bytes, Type::Bytes, large));
    all.push(mapper("Long", Type::Bytes, Type::Bytes, long));
    all.push(mapper("Words", Type::Bytes, Type::I64, words));
    all.push(Arc::new(Sum(info("Sum", Kind::Reducer, Type::Bytes, Type::I64))));
    all.push(Arc::new(ByFirstByte(info("FirstByte", Kind::Partitioner, Type::None, Type::None))));
    all.push(Arc::new(Aside(info("Aside", Kind::Mapper, Type::Bytes, Type::Bytes))));
    all.push(Arc::new(Aside(info("AsideReducer", Kind::Reducer, Type::Bytes, Type::Bytes))));
    all.push(Arc::new(Without(info("Without", Kind::Mapper, Type::Bytes, Type::Bytes))));
    Arc::new(all)
}
