//! Arbitrary bytes as a shared table: no panic, no read beyond the file, and work that its size bounds.

use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::PathBuf;

use yunti_table::read::{Limits, Options, Table};

/// Rows that are read at most: a short file may say that it has billions of slots.
const MOST: usize = 2000;

/// Opens the bytes as a table, with a right checksum of the header, and reads it in every way.
pub fn shared_table(bytes: &[u8]) {
    const HEADER: usize = 4096;
    let mut bytes = bytes.to_vec();
    if bytes.len() >= HEADER {
        let sum = crc32c::crc32c(&bytes[..HEADER - 4]);
        bytes[HEADER - 4..HEADER].copy_from_slice(&sum.to_le_bytes());
    }
    let file = rustix::fs::memfd_create("table", rustix::fs::MemfdFlags::empty()).expect("a file in memory");
    let mut file = std::fs::File::from(file);
    file.write_all(&bytes).expect("a file in memory");
    let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    // Without checksums, which arbitrary bytes do not have: each offset is checked all the same.
    let trusted = Options { is_trusted: true, ..Options::default() };
    let Ok(table) = Table::open_with(&path, trusted) else { return };
    let mut keys: Vec<Vec<u8>> = vec![Vec::new(), vec![0; 8], vec![0xff; 8], b"a key that is long".to_vec()];
    for row in table.rows().take(MOST).flatten() {
        let mut key = Vec::new();
        row.key(&mut key);
        keys.push(key);
        let _ = row.object();
    }
    for key in &keys {
        let _ = table.get(key).map(|row| row.map(|row| row.object()));
        let _ = table.get_all(key).map(|rows| rows.take(MOST).flatten().for_each(|row| drop(row.object())));
    }
    let _ = table.get_batch(&keys, |_, row| drop(row.map(|row| row.object())));
    for column in 0..table.schema().columns.len() {
        if table.schema().columns[column].kind == yunti_table::format::Kind::Dict {
            let _ = table.dictionary(column);
        }
    }
    let from = [keys[keys.len() - 1].clone()];
    for limits in
        [Limits { from: None, to: None, is_prefix: false }, Limits { from: Some(&from), to: None, is_prefix: false }]
    {
        let _ = table.range(limits).map(|rows| rows.take(MOST).count());
    }
    if table.header().all_slots() <= 1 << 16 {
        let _ = table.verify();
    }
}
