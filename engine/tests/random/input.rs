//! Input of a random job: records, and files of various formats with these records, from one or several sources.

use yunti_engine::env::random::Random as Numbers;
use yunti_engine::format::columns::Columns;
use yunti_engine::job::InputFormat;
use yunti_engine::operator::Type;

use crate::job::Limits;
use crate::plain;
use crate::shapes::{self, Alphabet, Record, Shape, chance, magnitude, pick};

/// Operator of the first job, whose result a simple loop can compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Identity,
    Words,
    Longs,
}

/// Format of a file.
#[derive(Clone)]
pub struct Form {
    pub format: InputFormat,
    pub columns: Columns,
}

pub struct File {
    pub form: Form,
    pub bytes: Vec<u8>,
    /// Records as the mapper gets them.
    pub records: Vec<Record>,
}

pub struct Input {
    pub key_type: Type,
    pub value_type: Type,
    /// Columns in each value.
    pub value_columns: usize,
    /// True if keys and values contain no tabs except between columns.
    pub tabless: bool,
    /// True if each file is a source of its own.
    pub several: bool,
    pub files: Vec<File>,
}

const FILES: usize = 3;

pub fn input(operator: Operator, limits: &Limits, random: &mut Numbers) -> Input {
    if operator == Operator::Words {
        return text(limits, random);
    }
    let (mut shape, form) = shape(operator, random);
    let several =
        shape.key_type == Type::Bytes && chance(random, 20) && !matches!(form.format, InputFormat::Text { .. });
    let mut forms = vec![form; FILES];
    if several {
        if operator == Operator::Identity {
            // Restrict the records to what all formats can hold.
            (shape.alphabet, shape.fixed, shape.value_columns) = (Alphabet::Printable, false, 1);
        }
        forms = (0..FILES).map(|_| one_of_several(operator, &shape, random)).collect();
    }
    // Few jobs are large enough to spill, because jobs with much memory are quick.
    let bytes = if chance(random, 5) { 3_000_000 } else { magnitude(random, 100_000) };
    let bytes = bytes.max(limits.bytes_min).min(limits.bytes);
    // Numbers of its own: a smaller input has the same job around it.
    let own_numbers = &mut Numbers::new(random.next_u64());
    let each = shape.key_bytes_max / 2 + shape.value_bytes_max * (1 + shape.long_percent) / 2 + 8;
    let mut records = shape.records((bytes / each).min(40_000), own_numbers);
    let mut files = Vec::new();
    for (number, form) in forms.into_iter().enumerate() {
        let n = if number + 1 == FILES { 0 } else { random.below(records.len() as u64 + 1) as usize };
        let rest = records.split_off(if number + 1 == FILES { records.len() } else { n });
        let mut own = std::mem::replace(&mut records, rest);
        let bytes = form.bytes(&own, own_numbers);
        if let InputFormat::Text { .. } = form.format {
            own.iter_mut().for_each(|r| r.1.clear());
        }
        files.push(File { form, bytes, records: own });
    }
    let value_type = match (operator, &files[0].form.format) {
        (Operator::Longs, _) => Type::I64,
        (_, InputFormat::Text { .. }) => Type::None,
        _ => Type::Bytes,
    };
    let tabless = shape.alphabet != Alphabet::Any;
    Input { key_type: shape.key_type, value_type, value_columns: shape.value_columns, tabless, several, files }
}

fn text(limits: &Limits, random: &mut Numbers) -> Input {
    let bytes = if chance(random, 5) { 1_500_000 } else { magnitude(random, 100_000) };
    let bytes = bytes.max(limits.bytes_min).min(limits.bytes);
    let distinct = 1 + magnitude(random, 300_000);
    let text = shapes::text(bytes, distinct, &mut Numbers::new(random.next_u64()));
    // Cut between words, because a cut word would become two.
    let at = random.below(text.len() as u64 + 1) as usize;
    let at = text[at..].iter().position(|b| b" \n".contains(b)).map_or(text.len(), |n| at + n + 1);
    let file = |bytes: &[u8]| File {
        form: Form { format: InputFormat::Text { delimiter: None }, columns: Columns::default() },
        bytes: bytes.to_vec(),
        records: plain::words(bytes),
    };
    Input {
        key_type: Type::Bytes,
        value_type: Type::I64,
        value_columns: 1,
        tabless: true,
        several: chance(random, 20),
        files: vec![file(&text[..at]), file(&text[at..])],
    }
}

/// Chooses a shape of records, and a format that can hold them.
fn shape(operator: Operator, random: &mut Numbers) -> (Shape, Form) {
    let numbers = [Type::I32, Type::U32, Type::F32, Type::I64, Type::U64, Type::F64];
    let value_bytes_max = if operator == Operator::Longs { 8 } else { magnitude(random, 300) };
    let mut shape = Shape {
        alphabet: Alphabet::Any,
        key_type: Type::Bytes,
        distinct: 1 + magnitude(random, 100_000),
        key_bytes_max: magnitude(random, 60),
        value_bytes_max,
        value_columns: 1,
        fixed: operator == Operator::Longs,
        long_percent: if chance(random, 20) && operator == Operator::Identity { 3 } else { 0 },
    };
    let mut columns = Columns::default();
    let format = match if operator == Operator::Longs { random.below(2) } else { random.below(7) } {
        0 => InputFormat::Framed,
        1 => {
            shape.fixed = true;
            shape.long_percent = 0;
            shape.key_bytes_max = shape.key_bytes_max.max(1);
            if operator == Operator::Identity && chance(random, 50) {
                shape.key_type = pick(random, &numbers);
                shape.key_bytes_max = shape.key_type.fixed_bytes().unwrap() as u64;
            }
            fixed(&shape)
        }
        2 | 3 => {
            shape.alphabet = Alphabet::Line;
            InputFormat::KeyValue { separator: b'\t' }
        }
        4 => {
            shape.alphabet = Alphabet::Line;
            (shape.value_bytes_max, shape.key_bytes_max) = (0, shape.key_bytes_max + value_bytes_max);
            InputFormat::Text { delimiter: chance(random, 30).then(|| b"\n".to_vec()) }
        }
        5 => {
            let header = chance(random, 50);
            shape.value_columns = pick(random, &[1, 1, 2, 3]);
            columns = names(header, shape.value_columns);
            InputFormat::Csv { separator: pick(random, b",;\t|"), header }
        }
        _ => {
            shape.alphabet = Alphabet::Printable;
            shape.value_columns = pick(random, &[1, 1, 2, 3]);
            columns = names(true, shape.value_columns);
            InputFormat::Json
        }
    };
    (shape, Form { format, columns })
}

/// Chooses the format of one source of several.
fn one_of_several(operator: Operator, shape: &Shape, random: &mut Numbers) -> Form {
    let plain = |format| Form { format, columns: Columns::default() };
    if operator == Operator::Longs {
        let fixed = if shape.key_bytes_max > 0 { fixed(shape) } else { InputFormat::Framed };
        return plain(if chance(random, 50) { InputFormat::Framed } else { fixed });
    }
    match random.below(4) {
        0 => plain(InputFormat::Framed),
        1 => plain(InputFormat::KeyValue { separator: b'\t' }),
        2 => {
            let header = chance(random, 50);
            Form { format: InputFormat::Csv { separator: pick(random, b",;\t|"), header }, columns: names(header, 1) }
        }
        _ => Form { format: InputFormat::Json, columns: names(true, 1) },
    }
}

fn fixed(shape: &Shape) -> InputFormat {
    let record_bytes = (shape.key_bytes_max + shape.value_bytes_max) as u32;
    InputFormat::Fixed { record_bytes, key_bytes: shape.key_bytes_max as u32 }
}

/// Names the column of a key and `values` columns of a value: `k`, and `v0`, `v1` ..; or by their numbers.
pub fn names(header: bool, values: usize) -> Columns {
    let value = |n: usize| if header { format!("v{n}") } else { format!("{}", n + 2) };
    Columns { key: vec![if header { "k" } else { "1" }.into()], value: (0..values).map(value).collect() }
}

impl Form {
    fn bytes(&self, records: &[Record], random: &mut Numbers) -> Vec<u8> {
        match &self.format {
            InputFormat::Framed => shapes::framed(records),
            InputFormat::Fixed { .. } => shapes::joined(records, b"", b""),
            InputFormat::KeyValue { .. } => shapes::joined(records, b"\t", pick(random, &[b"\n", b"\r\n", b"\r"])),
            InputFormat::Text { delimiter: None } => shapes::joined(records, b"", pick(random, &[b"\n", b"\r\n"])),
            InputFormat::Text { .. } => shapes::joined(records, b"", b"\n"),
            InputFormat::Csv { separator, header } => {
                let head = header.then(|| names(true, self.columns.value.len()));
                shapes::csv(records, *separator, head, self.columns.value.len(), random)
            }
            InputFormat::Json => shapes::json(records, self.columns.value.len(), random),
            InputFormat::Class(_) => unreachable!("no class reads random jobs"),
        }
    }
}
