//! Dump of a gene bank as FASTA.
use std::fs::OpenOptions;
use std::io::{BufWriter, Result, Write};
use std::time::{Duration, Instant};

struct Bank {
    state: u64,
}

impl Bank {
    fn next(&mut self, seq: &mut Vec<u8>, len: usize) {
        seq.clear();
        for _ in 0..len {
            self.state = self.state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            seq.push(b"ACGT"[(self.state >> 61) as usize & 3]);
        }
    }
}

fn dump(out: &mut dyn Write, id: u64, seq: &[u8]) -> Result<()> {
    out.write_all(format!(">seq{} len={}\n", id, seq.len()).as_bytes())?;
    for line in seq.chunks(12) {
        out.write_all(line)?;
        out.write_all(b" ")?;
    }
    out.write_all(b"\n")
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let file = OpenOptions::new().write(true).open(&args[1])?;
    let mut out: Box<dyn Write> =
        if args[2] == "blocks" { Box::new(BufWriter::with_capacity(65536, file)) } else { Box::new(file) };
    let mut bank = Bank { state: 42 };
    let mut seq = Vec::new();
    let mut last = Instant::now();
    for id in 1u64.. {
        bank.next(&mut seq, 1200);
        dump(&mut *out, id, &seq)?;
        if last.elapsed() > Duration::from_secs(1) {
            last = Instant::now();
            println!("done {}", id);
        }
    }
    Ok(())
}
