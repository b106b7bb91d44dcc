//! Identity and retained bytes of every object of a heap snapshot, to be compared with other tools:
//! `snapshot_objects SNAPSHOT`.

use std::io::Write;

use yunti_base::Result;
use yunti_heap::v8::Snapshot;

fn main() -> Result<()> {
    let path = std::env::args().nth(1).unwrap_or_default();
    let snapshot = Snapshot::read(path.as_ref())?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for &node in snapshot.reached() {
        let _ = writeln!(out, "{} {}", snapshot.id(node), snapshot.retained(node));
    }
    Ok(())
}
