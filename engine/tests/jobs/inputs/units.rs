//! Units of files of a source in the tasks of a cluster: byte ranges that cut a file divide them.

use std::sync::Arc;

use yunti_base::{Code, Result};
use yunti_engine::env::{Env, NamedFile};
use yunti_engine::job::task::{self, Cut, TaskSplit};
use yunti_engine::job::{Control, InputFormat, JobSpec, Mode};
use yunti_engine::operator::{Class, ClassInfo, ClassSource, Kind, Out, Scan, Source, SourceFile, TaskContext, Unit};

use crate::support::Temp;

/// A class whose units begin at each `#`: one record, the bytes up to the next one.
struct Marks {
    info: ClassInfo,
    /// True if it plans the units of the range alone.
    keeps_range: bool,
}

struct MarksSource {
    keeps_range: bool,
    open: Vec<u8>,
}

impl Class for Marks {
    fn info(&self) -> &ClassInfo {
        &self.info
    }
    fn source(&self, _: &Arc<TaskContext>) -> Result<Box<dyn Source>> {
        Ok(Box::new(MarksSource { keeps_range: self.keeps_range, open: Vec::new() }))
    }
}

fn content(file: &SourceFile) -> Result<Vec<u8>> {
    let mut bytes = vec![0; file.len() as usize];
    file.read_at(&mut bytes, 0)?;
    Ok(bytes)
}

impl Source for MarksSource {
    fn plan(&mut self, file: &Arc<SourceFile>, scan: &Scan) -> Result<Vec<Unit>> {
        let bytes = content(file)?;
        let marks = (0..file.len()).filter(|&at| bytes[at as usize] == b'#');
        let needed = marks.filter(|&at| !self.keeps_range || (scan.from <= at && (scan.to == 0 || at < scan.to)));
        Ok(needed.map(|at| Unit { number: at, position: at, bytes: 10, records: 1 }).collect())
    }
    fn open(&mut self, file: &Arc<SourceFile>, _: &Scan, unit: u64) -> Result<()> {
        let bytes = content(file)?;
        let record = bytes[unit as usize + 1..].split(|&byte| byte == b'#').next();
        self.open = record.unwrap_or_default().to_vec();
        Ok(())
    }
    fn next(&mut self, out: &mut Out) -> Result<bool> {
        out.emit(&self.open, b"")?;
        Ok(false)
    }
    fn describe(&mut self, _: &Arc<SourceFile>, _: &mut Out) -> Result<()> {
        Ok(())
    }
}

/// Maps a file in the splits between `cuts`, and returns the records of all of them, and their bytes.
fn mapped(text: &str, cuts: &[u64], keeps_range: bool) -> (String, u64) {
    let dir = Temp::new("units");
    let path = dir.path("marks");
    std::fs::write(&path, text).unwrap();
    let info = ClassInfo::of_bytes("Test.Marks", Kind::Source);
    let classes: Vec<Arc<dyn Class>> = vec![Arc::new(Marks { info, keeps_range })];
    let classes: Vec<Arc<dyn ClassSource>> = vec![Arc::new(classes)];
    let spec = JobSpec {
        input_format: InputFormat::Class("Test.Marks".into()),
        mode: Mode::None,
        memory_bytes: Some(16 << 20),
        threads: Some(1),
        ..JobSpec::default()
    };
    let env = Env::real();
    assert_eq!(task::cuts(&spec, &env, &classes).unwrap(), [Cut::Units]);
    let (mut found, mut bytes) = (String::new(), 0);
    for (number, range) in cuts.windows(2).enumerate() {
        let split = TaskSplit {
            path: path.clone(),
            start: range[0],
            end: range[1],
            number: number as u32,
            source: 0,
            attempt: 0,
        };
        let out = dir.path(&format!("part-{number}"));
        let file = NamedFile::create(&*env.files, &out, Code::Output).unwrap();
        let counters = task::map_to_file(&spec, &env, &classes, &Control::new(), &split, file).unwrap();
        let counter = |name: &str| counters.iter().find(|(_, n, _)| n == name).map_or(0, |(_, _, n)| *n);
        bytes += counter(task::INPUT_BYTES.1);
        let part = std::fs::read_to_string(out).unwrap();
        assert_eq!(counter("MAP_INPUT_RECORDS"), part.lines().count() as u64);
        found += &part;
    }
    (found, bytes)
}

#[test]
fn ranges_divide_the_units_of_a_file() {
    let text = "head#a#bb##cccccccccc#d";
    let expect = "a\t\nbb\t\n\t\ncccccccccc\t\nd\t\n";
    let len = text.len() as u64;
    let each: Vec<u64> = (0..=len).collect();
    for keeps_range in [false, true] {
        for cuts in [&[0, len][..], &[0, 4, 5, 9, len], &[0, 6, 12, 18, len], &[0, len - 2, len - 1, len], &each] {
            let (found, bytes) = mapped(text, cuts, keeps_range);
            assert_eq!((&*found, bytes), (expect, 50), "{cuts:?}");
        }
        assert_eq!(mapped("", &[0, 0], keeps_range), (String::new(), 0));
    }
}
