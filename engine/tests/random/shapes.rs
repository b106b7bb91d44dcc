//! Random records, and their bytes in each input format.

use yunti_engine::env::random::Random;
use yunti_engine::format::columns::Columns;
use yunti_engine::operator::Type;

pub type Record = (Vec<u8>, Vec<u8>);

pub fn pick<T: Copy>(random: &mut Random, from: &[T]) -> T {
    from[random.below(from.len() as u64) as usize]
}

pub fn chance(random: &mut Random, percent: u64) -> bool {
    random.below(100) < percent
}

/// Returns a random number up to `max`; all numbers of digits are equally likely.
pub fn magnitude(random: &mut Random, max: u64) -> u64 {
    let bits = random.below(u64::from(u64::BITS - max.leading_zeros()) + 1);
    random.below((1u64 << bits).min(max) + 1)
}

/// Bytes allowed in keys and values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alphabet {
    Any,
    /// No line ends and no tabs.
    Line,
    /// Printable ASCII, as in a JSON string.
    Printable,
}

impl Alphabet {
    fn byte(self, random: &mut Random) -> u8 {
        match self {
            Alphabet::Any => random.next_u64() as u8,
            Alphabet::Line => match random.next_u64() as u8 {
                b'\n' | b'\r' | b'\t' => b'_',
                // Not the first byte of a byte-order mark, which readers skip.
                0xef => b'.',
                b => b,
            },
            Alphabet::Printable => 0x20 + random.below(0x5f) as u8,
        }
    }
}

/// Shape of random records.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub alphabet: Alphabet,
    pub key_type: Type,
    /// Distinct keys at most.
    pub distinct: u64,
    pub key_bytes_max: u64,
    pub value_bytes_max: u64,
    /// Columns in a value, each of this length, with tabs between them (`docs/formats/columns.md`).
    pub value_columns: usize,
    /// True if all keys and values have their largest length.
    pub fixed: bool,
    /// Percentage of values that are a hundred times longer.
    pub long_percent: u64,
}

impl Shape {
    pub fn records(&self, n: u64, random: &mut Random) -> Vec<Record> {
        let seed = random.next_u64();
        (0..n)
            .map(|_| {
                let key = self.key(&mut Random::new(seed ^ random.below(self.distinct)));
                let long = if chance(random, self.long_percent) { 100 } else { 1 };
                let mut columns = || self.bytes(self.value_bytes_max * long, random);
                let value = match self.value_columns {
                    1 => columns(),
                    n => (0..n).map(|_| escaped(&columns())).collect::<Vec<_>>().join(&b'\t'),
                };
                (key, value)
            })
            .collect()
    }

    fn key(&self, random: &mut Random) -> Vec<u8> {
        match self.key_type.fixed_bytes() {
            Some(n) => {
                let edges = [0, 1, u64::MAX, 1 << 63, 1 << 31, (1 << 31) - 1, 0x80, 0xff00];
                let number =
                    if chance(random, 30) { pick(random, &edges) } else { random.next_u64() >> random.below(64) };
                number.to_le_bytes()[..n].to_vec()
            }
            None => self.bytes(self.key_bytes_max, random),
        }
    }

    fn bytes(&self, max: u64, random: &mut Random) -> Vec<u8> {
        let n = if self.fixed { max } else { magnitude(random, max) };
        // Half of the strings repeat a byte and compress well; the others do not.
        let few = chance(random, 50).then(|| self.alphabet.byte(random));
        (0..n).map(|i| few.filter(|_| i % 16 > 2).unwrap_or_else(|| self.alphabet.byte(random))).collect()
    }
}

/// Returns random words with random separators.
pub fn text(bytes: u64, distinct: u64, random: &mut Random) -> Vec<u8> {
    let mut text = Vec::new();
    while (text.len() as u64) < bytes {
        let mut word = Random::new(random.below(distinct.max(1)));
        let n = 1 + magnitude(&mut word, 30);
        text.extend((0..n).map(|_| match 0x21 + word.below(0xde) as u8 {
            // Not the first byte of a byte-order mark.
            0xef => b'.',
            b => b,
        }));
        text.push(pick(random, b"  \t\n\n\r\x0c"));
    }
    text
}

pub fn framed(records: &[Record]) -> Vec<u8> {
    let mut out = Vec::new();
    for (key, value) in records {
        out.extend_from_slice(&(key.len() as u32).to_be_bytes());
        out.extend_from_slice(&(value.len() as u32).to_be_bytes());
        out.extend_from_slice(key);
        out.extend_from_slice(value);
    }
    out
}

pub fn joined(records: &[Record], between: &[u8], end: &[u8]) -> Vec<u8> {
    records.iter().flat_map(|(key, value)| [key, between, value, end].concat()).collect()
}

/// Escapes a column that has neighbours.
pub fn escaped(column: &[u8]) -> Vec<u8> {
    let escape = |b: u8| match b {
        b'\t' => b"\\t".to_vec(),
        b'\n' => b"\\n".to_vec(),
        b'\r' => b"\\r".to_vec(),
        b'\\' => b"\\\\".to_vec(),
        other => vec![other],
    };
    column.iter().flat_map(|&b| escape(b)).collect()
}

/// Returns the columns of a value without escapes.
fn columns_of(value: &[u8], columns: usize) -> Vec<Vec<u8>> {
    if columns == 1 {
        return vec![value.to_vec()];
    }
    let plain = |column: &[u8]| {
        let (mut out, mut bytes) = (Vec::new(), column.iter());
        while let Some(&b) = bytes.next() {
            let escape = if b == b'\\' { bytes.next() } else { None };
            out.push(match escape {
                Some(b't') => b'\t',
                Some(b'n') => b'\n',
                Some(b'r') => b'\r',
                _ => b,
            });
        }
        out
    };
    value.split(|&b| b == b'\t').map(plain).collect()
}

/// Returns CSV with one column for the key and `columns` for the value; `head`: line of names.
pub fn csv(records: &[Record], separator: u8, head: Option<Columns>, columns: usize, random: &mut Random) -> Vec<u8> {
    let mut out = Vec::new();
    if let Some(names) = head {
        out.extend_from_slice([names.key, names.value].concat().join(&*char::from(separator).to_string()).as_bytes());
        out.push(b'\n');
    }
    for (key, value) in records {
        let mut cells = vec![key.clone()];
        cells.extend(columns_of(value, columns));
        for (n, cell) in cells.iter().enumerate() {
            let special = cell.is_empty() || cell.iter().any(|&b| b == separator || b"\"\r\n".contains(&b));
            if special || chance(random, 20) {
                out.push(b'"');
                for &b in cell {
                    out.extend_from_slice(if b == b'"' { b"\"\"" } else { std::slice::from_ref(&b) });
                }
                out.push(b'"');
            } else {
                out.extend_from_slice(cell);
            }
            match n + 1 == cells.len() {
                true => out.extend_from_slice(pick(random, &[&b"\n"[..], b"\r\n"])),
                false => out.push(separator),
            }
        }
    }
    out
}

pub fn json(records: &[Record], columns: usize, random: &mut Random) -> Vec<u8> {
    let quoted = |bytes: &[u8]| serde_json::to_string(std::str::from_utf8(bytes).unwrap()).unwrap();
    let mut out = Vec::new();
    for (key, value) in records {
        let k = quoted(key);
        let values = columns_of(value, columns).into_iter().enumerate();
        let v = values.map(|(n, v)| format!("\"v{n}\":{}", quoted(&v))).collect::<Vec<_>>().join(", ");
        let line = match random.below(3) {
            0 => format!("{{\"k\":{k},{v}}}\n"),
            1 => format!("{{ \"x\": [1, {{\"k\": 2}}], {v}, \"k\" : {k} }}\n"),
            _ => format!("\n{{\"k\":\"no\",\"k\":{k},{v},\"z\":null}}\n"),
        };
        out.extend_from_slice(line.as_bytes());
    }
    out
}
