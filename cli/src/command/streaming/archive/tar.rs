//! tar: ustar, the long names of GNU, and pax headers (POSIX.1-2001).
//!
//! ```text
//!   0 name 100 | 100 mode 8 | 124 size 12 | 148 checksum 8 | 156 type | 157 link 100 | 257 ustar | 345 prefix 155
//! ```

use std::io::Read;

use super::folder::Folder;
use yunti_base::Result;

const BLOCK: usize = 512;
/// Bytes of a name or of a pax header at most.
const HEADER_BYTES_MAX: u64 = 1 << 20;

/// Unpacks all entries. Errors: as `archive::unpack`.
pub fn unpack(from: &mut dyn Read, folder: &Folder) -> Result<()> {
    // Name, link and size of an entry, from the headers before it.
    let (mut name, mut link, mut size) = (None::<String>, None::<String>, None::<u64>);
    loop {
        let mut block = [0; BLOCK];
        match fill(from, &mut block).map_err(|e| folder.unread(&e))? {
            0 => return Ok(()),
            BLOCK => {}
            _ => return Err(folder.damaged("it ends too early")),
        }
        if block.iter().all(|&byte| byte == 0) {
            return Ok(());
        }
        check(&block, folder)?;
        let wrong = || folder.damaged("a header of the tar has a wrong number");
        let own_size = number(&block[124..136]).ok_or_else(wrong)?;
        let mode = number(&block[100..108]).ok_or_else(wrong)? as u32;
        let kind = block[156];
        if matches!(kind, b'L' | b'K' | b'x' | b'g') {
            let data = header_data(from, own_size, folder)?;
            match kind {
                b'L' => name = Some(text(&data)),
                b'K' => link = Some(text(&data)),
                b'x' => {
                    for (key, value) in pax(&data).ok_or_else(|| folder.damaged("a pax header is damaged"))? {
                        match &*key {
                            "path" => name = Some(value),
                            "linkpath" => link = Some(value),
                            "size" => size = Some(value.parse().map_err(|_| wrong())?),
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
            continue;
        }
        let name = name.take().unwrap_or_else(|| own_name(&block));
        let link = link.take().unwrap_or_else(|| text(&block[157..257]));
        let size = size.take().unwrap_or(own_size);
        match kind {
            b'0' | 0 | b'7' if name.ends_with('/') => folder.directory(&name)?,
            b'0' | 0 | b'7' => {
                folder.file(&name, mode, size, from)?;
                skip(from, (BLOCK as u64 - size % BLOCK as u64) % BLOCK as u64, folder)?;
                continue;
            }
            b'5' => folder.directory(&name)?,
            b'2' => folder.link(&name, &link)?,
            b'1' => folder.hard_link(&name, &link)?,
            other => {
                let what = format!("the entry {name} of the type '{}' is no file, directory or link", other as char);
                return Err(folder.damaged(what));
            }
        }
        // Links may carry a size without data; others have none.
        if kind != b'1' && kind != b'2' {
            skip(from, size.next_multiple_of(BLOCK as u64), folder)?;
        }
    }
}

/// Reads as many bytes as there are, up to a whole block.
fn fill(from: &mut dyn Read, to: &mut [u8]) -> std::io::Result<usize> {
    let mut n = 0;
    while n < to.len() {
        match from.read(&mut to[n..]) {
            Ok(0) => break,
            Ok(more) => n += more,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(n)
}

fn skip(from: &mut dyn Read, n: u64, folder: &Folder) -> Result<()> {
    let skipped = std::io::copy(&mut from.take(n), &mut std::io::sink()).map_err(|e| folder.unread(&e))?;
    if skipped == n { Ok(()) } else { Err(folder.damaged("it ends too early")) }
}

fn header_data(from: &mut dyn Read, size: u64, folder: &Folder) -> Result<Vec<u8>> {
    if size > HEADER_BYTES_MAX {
        return Err(folder.damaged("a name of the tar is too long"));
    }
    let mut data = vec![0; size.next_multiple_of(BLOCK as u64) as usize];
    if fill(from, &mut data).map_err(|e| folder.unread(&e))? < data.len() {
        return Err(folder.damaged("it ends too early"));
    }
    data.truncate(size as usize);
    Ok(data)
}

/// Fails unless the header has its checksum: the sum of its bytes, with blanks in place of the sum.
fn check(block: &[u8; BLOCK], folder: &Folder) -> Result<()> {
    let sum = |of: &[u8]| of.iter().map(|&byte| u64::from(byte)).sum::<u64>();
    let expect = sum(&block[..148]) + 8 * u64::from(b' ') + sum(&block[156..]);
    if number(&block[148..156]) == Some(expect) {
        Ok(())
    } else {
        Err(folder.damaged("a header of the tar is damaged"))
    }
}

/// Returns a number: octal digits, or base 256 with the highest bit set.
fn number(field: &[u8]) -> Option<u64> {
    if field[0] & 0x80 != 0 {
        let bytes = field.iter().enumerate().map(|(i, &byte)| if i == 0 { byte & 0x7f } else { byte });
        return bytes.into_iter().try_fold(0u64, |n, byte| n.checked_mul(256)?.checked_add(u64::from(byte)));
    }
    let digits: Vec<u8> =
        field.iter().copied().skip_while(|&b| b == b' ').take_while(|&b| b != b' ' && b != 0).collect();
    digits.iter().try_fold(0u64, |n, &digit| match digit {
        b'0'..=b'7' => n.checked_mul(8)?.checked_add(u64::from(digit - b'0')),
        _ => None,
    })
}

fn text(field: &[u8]) -> String {
    String::from_utf8_lossy(field.split(|&byte| byte == 0).next().unwrap_or_default()).into_owned()
}

fn own_name(block: &[u8; BLOCK]) -> String {
    let (name, prefix) = (text(&block[..100]), text(&block[345..500]));
    // GNU has other fields there.
    if &block[257..263] == b"ustar\0" && !prefix.is_empty() { format!("{prefix}/{name}") } else { name }
}

/// Returns the records of a pax header: `LENGTH KEY=VALUE` and a line end. None if it is damaged.
fn pax(mut data: &[u8]) -> Option<Vec<(String, String)>> {
    let mut records = Vec::new();
    while !data.is_empty() {
        let blank = data.iter().position(|&byte| byte == b' ')?;
        let length: usize = std::str::from_utf8(&data[..blank]).ok()?.parse().ok()?;
        let record = data.get(blank + 1..length)?.strip_suffix(b"\n")?;
        let equals = record.iter().position(|&byte| byte == b'=')?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        records.push((text(&record[..equals]), text(&record[equals + 1..])));
        data = &data[length..];
    }
    Some(records)
}
