//! Prints the size of a slice with the stacks of a file: `size COLLAPSED.txt`, and the time to write and to read it.

use std::time::Instant;

use yunti_record::{Measure, Period, Question, Slice, Windows, collapsed, pprof};

fn main() {
    let path = std::env::args().nth(1).expect("a file of collapsed stacks");
    let text = std::fs::read_to_string(path).expect("the file can be read");
    let mut slice = Slice::default();
    slice.facts.service.name = "shop".into();
    slice.facts.periods = [(Measure::Cpu, 10_101_010)].into();
    slice.stacks = collapsed::read(&text, Measure::Cpu, 10_101_010).expect("the file has collapsed stacks");
    let samples = slice.stacks.total(Measure::Cpu) / 10_101_010;
    let frames: usize = slice.stacks.all().map(|(frames, _)| frames.len()).sum();
    let begin = Instant::now();
    let bytes = pprof::write(&slice);
    let written = begin.elapsed();
    let begin = Instant::now();
    let again = pprof::read(&bytes).expect("the slice can be read");
    let read = begin.elapsed();
    assert!(again == slice);
    let question = Question::new(Measure::Cpu, Period { from_ms: 0, to_ms: 1 }, Period { from_ms: 1, to_ms: 2 });
    let mut windows = Windows::new(&question);
    windows.add(&again);
    let begin = Instant::now();
    windows.add(&again);
    let added = begin.elapsed();
    println!("samples {samples}, stacks {}, mean depth {}", slice.stacks.len(), frames / slice.stacks.len().max(1));
    println!("functions {}, text {} bytes, slice {} bytes", slice.stacks.frames().len(), text.len(), bytes.len());
    println!("written in {written:?}, read in {read:?}, added to a comparison in {added:?}");
    for (name, slices) in [("each 10 minutes", 144), ("each minute", 1440)] {
        println!("{name}: {:.1} MB a day", (bytes.len() * slices) as f64 / 1e6);
    }
}
