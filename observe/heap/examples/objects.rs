//! Every object of a heap dump with its class, sizes and dominator, to be compared with Eclipse MAT object by object
//! (`observe/tests/memory/mat/`).
//!
//! ```text
//!   objects DUMP OUT
//!   OUT          per object of 40 bytes, by address: address, class, shallow, retained, dominator; little-endian u64;
//!                dominator 2^64-1: the roots as a whole
//!   OUT.classes  per class, garbage left out, a line: address, loader, objects, bytes, name; by address
//! ```

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use yunti_base::Result;
use yunti_heap::graph::ids::Ids;
use yunti_heap::model::class::Classes;
use yunti_heap::pass::batch::Batch;
use yunti_heap::pass::references::{Objects, Receiver, pass};
use yunti_heap::{Dominator, Heap, Settings};

/// Class index and shallow bytes of each object by number.
struct Shallow(Vec<(u32, u64)>);

impl Receiver for Shallow {
    fn object(&mut self, number: u32, class: u32, bytes: u64) {
        self.0[number as usize] = (class, bytes);
    }

    fn references(&mut self, batch: &mut Batch) {
        batch.take().for_each(drop);
    }
}

fn shallow(heap: &Heap) -> Result<Vec<(u32, u64)>> {
    let Heap { source, units, ids, classes, roots, .. } = heap;
    // One thread, so that one receiver has all objects.
    let objects = Objects { source, units, ids, classes, roots, threads: 1 };
    let all = pass(&objects, || Shallow(vec![(u32::MAX, 0); ids.count()]))?;
    let mut all = all.into_iter().next().map_or_else(Vec::new, |receiver| receiver.0);
    // Classes and the boot loader have no record of an object.
    for class in &classes.list {
        set(&mut all, ids, class.record.id, (classes.class, class.own_bytes));
    }
    set(&mut all, ids, 0, (classes.loader, classes.list[classes.loader as usize].shallow_bytes));
    Ok(all)
}

fn set(all: &mut [(u32, u64)], ids: &Ids, id: u64, value: (u32, u64)) {
    if let Some(number) = ids.number(id) {
        all[number as usize] = value;
    }
}

fn write(heap: &Heap, out: &Path) -> std::io::Result<()> {
    let Heap { ids, classes, forest, .. } = heap;
    let shallow = shallow(heap).map_err(std::io::Error::other)?;
    let mut number_at = vec![0; ids.count()];
    for (number, &place) in forest.places.iter().enumerate() {
        number_at[place as usize] = number as u32;
    }
    let mut file = BufWriter::with_capacity(1 << 20, File::create(out)?);
    for (number, (class, bytes)) in (0..).zip(shallow) {
        let place = forest.places[number as usize];
        let dominator = match heap.dominator(place) {
            Dominator::Garbage => continue,
            Dominator::Roots => u64::MAX,
            Dominator::Place(place) => ids.id(number_at[place as usize]),
        };
        let class = classes.list.get(class as usize).map_or(u64::MAX, |class| class.record.id);
        for value in [ids.id(number), class, bytes, heap.retained(place), dominator] {
            file.write_all(&value.to_le_bytes())?;
        }
    }
    file.flush()?;
    let is_alive =
        |id| ids.number(id).is_some_and(|of| heap.dominator(forest.places[of as usize]) != Dominator::Garbage);
    write_classes(classes, heap, is_alive, Path::new(&format!("{}.classes", out.display())))
}

fn write_classes(classes: &Classes, heap: &Heap, is_alive: impl Fn(u64) -> bool, out: &Path) -> std::io::Result<()> {
    let mut rows: Vec<_> = classes.list.iter().zip(&heap.totals).collect();
    rows.retain(|(class, _)| is_alive(class.record.id));
    rows.sort_by_key(|(class, _)| class.record.id);
    let mut file = BufWriter::new(File::create(out)?);
    for (class, total) in rows {
        let (id, loader) = (class.record.id, class.record.loader);
        writeln!(file, "{id:#x} {loader:#x} {} {} {}", total.objects, total.bytes, class.name)?;
    }
    file.flush()
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let [dump, out] = &paths[..] else { return Err("usage: objects DUMP OUT".into()) };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let heap = Heap::read(Path::new(dump), Settings { threads, scratch: &std::env::temp_dir() })?;
    heap.notes.iter().for_each(|note| eprintln!("{note}"));
    write(&heap, Path::new(out))?;
    Ok(())
}
