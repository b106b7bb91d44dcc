//! Thrift's binary protocol, as far as a metastore needs it: calls out, answers in. Answers are checked, not trusted.
//!
//! ```text
//!   message   80 01 00 TYPE | name: i32 length, bytes | sequence: i32 | struct
//!   struct    field* 00            field    TYPE: u8 | id: i16 | value
//!   framed    length: i32 | message
//! ```

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use yunti_base::{Code, Error, Result};

/// Levels of structs and lists within each other, at most.
const LEVELS_MAX: usize = 32;
/// Bytes of an answer, at most.
const ANSWER_BYTES_MAX: u64 = 1 << 30;
/// Values of an answer, at most: each takes memory beyond its bytes.
const VALUES_MAX: usize = 20_000_000;

const STRUCT: u8 = 12;
const REPLY: u8 = 2;
const EXCEPTION: u8 = 3;

/// A value of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Bool(bool),
    Number(i64),
    Double(f64),
    Bytes(Vec<u8>),
    Struct(Fields),
    List(Vec<Value>),
    Map(Vec<(Value, Value)>),
}

/// Fields of a struct by their numbers.
pub type Fields = BTreeMap<i16, Value>;

impl Value {
    /// Returns text, with the replacement character for bytes that are no UTF-8.
    pub fn text(&self) -> Option<String> {
        match self {
            Value::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        }
    }

    pub fn fields(&self) -> Option<&Fields> {
        match self {
            Value::Struct(fields) => Some(fields),
            _ => None,
        }
    }

    pub fn list(&self) -> &[Value] {
        match self {
            Value::List(values) => values,
            _ => &[],
        }
    }

    /// Returns a map of texts.
    pub fn texts(&self) -> BTreeMap<String, String> {
        match self {
            Value::Map(pairs) => pairs.iter().filter_map(|(k, v)| Some((k.text()?, v.text()?))).collect(),
            _ => BTreeMap::new(),
        }
    }
}

/// An argument of a call.
pub enum Argument<'a> {
    Text(&'a str),
    Short(i16),
    /// A struct of texts, by the numbers of their fields.
    Texts(&'a [(i16, &'a str)]),
}

/// Returns the message of a call; arguments are numbered from 1.
pub fn call(name: &str, sequence: i32, arguments: &[Argument<'_>]) -> Vec<u8> {
    let mut out = vec![0x80, 0x01, 0x00, 0x01];
    put_text(name, &mut out);
    out.extend_from_slice(&sequence.to_be_bytes());
    for (n, argument) in arguments.iter().enumerate() {
        let id = n as i16 + 1;
        match argument {
            Argument::Text(text) => {
                put_field(11, id, &mut out);
                put_text(text, &mut out);
            }
            Argument::Short(number) => {
                put_field(6, id, &mut out);
                out.extend_from_slice(&number.to_be_bytes());
            }
            Argument::Texts(texts) => {
                put_field(STRUCT, id, &mut out);
                for (id, text) in *texts {
                    put_field(11, *id, &mut out);
                    put_text(text, &mut out);
                }
                out.push(0);
            }
        }
    }
    out.push(0);
    out
}

fn put_field(kind: u8, id: i16, out: &mut Vec<u8>) {
    out.push(kind);
    out.extend_from_slice(&id.to_be_bytes());
}

fn put_text(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(&(text.len() as i32).to_be_bytes());
    out.extend_from_slice(text.as_bytes());
}

/// Writes a message.
pub fn send(message: &[u8], framed: bool, to: &mut impl Write) -> io::Result<()> {
    if framed {
        to.write_all(&(message.len() as i32).to_be_bytes())?;
    }
    to.write_all(message)?;
    to.flush()
}

/// Answer to a call.
#[derive(Debug, PartialEq)]
pub enum Answer {
    /// The result's struct: field 0 is the value, the others are exceptions.
    Fields(Fields),
    /// The server does not know the call.
    Unknown,
    /// The server failed, with this message.
    Failed(String),
}

/// Reads the answer to a call of this name and number.
///
/// Errors: `Input` for a connection that ends, `Corrupt` for bytes that are no answer.
pub fn receive(name: &str, sequence: i32, framed: bool, from: &mut impl Read) -> Result<Answer> {
    let mut length = ANSWER_BYTES_MAX;
    if framed {
        let mut head = [0; 4];
        from.read_exact(&mut head).map_err(lost)?;
        length = u32::from_be_bytes(head).into();
        if length > ANSWER_BYTES_MAX {
            return Err(damaged("its frame is too long; is the server an unframed one?"));
        }
    }
    let mut reader = Reader { from, left: length, values: 0 };
    let kind = reader.number::<4>()?;
    if kind as u32 & 0xffff_0000 != 0x8001_0000 {
        return Err(damaged("it is no Thrift message; add ?framed=true if the server wants frames"));
    }
    let own = reader.bytes()?;
    if own != name.as_bytes() || reader.number::<4>()? != i64::from(sequence) {
        return Err(damaged("it answers another call"));
    }
    let fields = reader.fields(0)?;
    match kind as u8 {
        REPLY => Ok(Answer::Fields(fields)),
        EXCEPTION if fields.get(&2) == Some(&Value::Number(1)) => Ok(Answer::Unknown),
        EXCEPTION => Ok(Answer::Failed(fields.get(&1).and_then(Value::text).unwrap_or_default())),
        _ => Err(damaged("it is neither an answer nor an error")),
    }
}

fn damaged(what: &str) -> Error {
    Error::new(Code::Corrupt, format!("the answer of the metastore is damaged: {what}"))
}

fn lost(e: io::Error) -> Error {
    match e.kind() {
        io::ErrorKind::UnexpectedEof => Error::new(Code::Input, "the metastore closed the connection"),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            Error::new(Code::Input, "the metastore does not answer in time")
        }
        _ => Error::io(Code::Input, "cannot read the metastore's answer", &e),
    }
}

struct Reader<'r, R> {
    from: &'r mut R,
    left: u64,
    values: usize,
}

impl<R: Read> Reader<'_, R> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        self.left = self.left.checked_sub(N as u64).ok_or_else(|| damaged("it is longer than its frame"))?;
        let mut bytes = [0; N];
        self.from.read_exact(&mut bytes).map_err(lost)?;
        Ok(bytes)
    }

    fn number<const N: usize>(&mut self) -> Result<i64> {
        let bytes = self.take::<N>()?;
        let sign = if bytes[0] & 0x80 != 0 { -1i64 } else { 0 };
        Ok(bytes.iter().fold(sign, |number, &byte| number << 8 | i64::from(byte)))
    }

    fn bytes(&mut self) -> Result<Vec<u8>> {
        let length = self.number::<4>()?;
        let length = u64::try_from(length).map_err(|_| damaged("a text has a negative length"))?;
        self.left = self.left.checked_sub(length).ok_or_else(|| damaged("a text is longer than the answer"))?;
        let mut bytes = Vec::with_capacity(length.min(1 << 16) as usize);
        self.from.take(length).read_to_end(&mut bytes).map_err(lost)?;
        match bytes.len() as u64 == length {
            true => Ok(bytes),
            false => Err(lost(io::ErrorKind::UnexpectedEof.into())),
        }
    }

    fn fields(&mut self, level: usize) -> Result<Fields> {
        let mut fields = Fields::new();
        loop {
            let [kind] = self.take::<1>()?;
            if kind == 0 {
                return Ok(fields);
            }
            let id = self.number::<2>()? as i16;
            fields.insert(id, self.value(kind, level + 1)?);
        }
    }

    fn count(&mut self) -> Result<usize> {
        let count = self.number::<4>()?;
        usize::try_from(count)
            .ok()
            .filter(|count| *count as u64 <= self.left)
            .ok_or_else(|| damaged("a list has more values than the answer has bytes"))
    }

    fn value(&mut self, kind: u8, level: usize) -> Result<Value> {
        self.values += 1;
        if level > LEVELS_MAX || self.values > VALUES_MAX {
            return Err(damaged("it is too deep or has too many values"));
        }
        Ok(match kind {
            2 => Value::Bool(self.take::<1>()?[0] != 0),
            3 => Value::Number(self.number::<1>()?),
            4 => Value::Double(f64::from_be_bytes(self.take::<8>()?)),
            6 => Value::Number(self.number::<2>()?),
            8 => Value::Number(self.number::<4>()?),
            10 => Value::Number(self.number::<8>()?),
            11 => Value::Bytes(self.bytes()?),
            STRUCT => Value::Struct(self.fields(level)?),
            13 => {
                let [key, value] = self.take::<2>()?;
                let count = self.count()?;
                let mut pairs = Vec::new();
                for _ in 0..count {
                    pairs.push((self.value(key, level + 1)?, self.value(value, level + 1)?));
                }
                Value::Map(pairs)
            }
            14 | 15 => {
                let [kind] = self.take::<1>()?;
                let count = self.count()?;
                let mut values = Vec::new();
                for _ in 0..count {
                    values.push(self.value(kind, level + 1)?);
                }
                Value::List(values)
            }
            other => return Err(damaged(&format!("a value is of the unknown type {other}"))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(kind: u8, body: &[u8]) -> Vec<u8> {
        [&[0x80, 1, 0, kind, 0, 0, 0, 1, b'f', 0, 0, 0, 9][..], body].concat()
    }

    fn of(bytes: &[u8]) -> Result<Answer> {
        receive("f", 9, false, &mut &bytes[..])
    }

    #[test]
    fn values_of_all_types() {
        let body = [
            &[2, 0, 1, 1, 3, 0, 2, 0xff, 6, 0, 3, 0xff, 0xfe, 8, 0, 4, 0, 0, 1, 0][..],
            &[10, 0, 5, 0, 0, 0, 0, 0, 0, 0, 7, 4, 0, 6, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 11, 0, 7, 0, 0, 0, 1, b'x'],
            &[15, 0, 8, 11, 0, 0, 0, 1, 0, 0, 0, 0, 13, 0, 9, 11, 8, 0, 0, 0, 0, 12, 0, 10, 0, 0],
        ];
        let Answer::Fields(fields) = of(&reply(REPLY, &body.concat())).unwrap() else { panic!() };
        let expect = [
            Value::Bool(true),
            Value::Number(-1),
            Value::Number(-2),
            Value::Number(256),
            Value::Number(7),
            Value::Double(1.0),
            Value::Bytes(b"x".to_vec()),
            Value::List(vec![Value::Bytes(Vec::new())]),
            Value::Map(Vec::new()),
            Value::Struct(Fields::new()),
        ];
        assert_eq!(fields.into_values().collect::<Vec<_>>(), expect);
    }

    #[test]
    fn exceptions() {
        let unknown = [11, 0, 1, 0, 0, 0, 1, b'm', 8, 0, 2, 0, 0, 0, 1, 0];
        assert_eq!(of(&reply(EXCEPTION, &unknown)), Ok(Answer::Unknown));
        assert_eq!(of(&reply(EXCEPTION, &[11, 0, 1, 0, 0, 0, 1, b'm', 0])), Ok(Answer::Failed("m".into())));
    }

    #[test]
    fn hostile_answers_are_errors() {
        let deep: Vec<u8> = [12u8, 0, 1].repeat(1000);
        for (bytes, code) in [
            (b"HTTP/1.1 400 Bad Request\r\n".to_vec(), Code::Corrupt),
            (reply(REPLY, &[11, 0, 1, 0x7f, 0xff, 0xff, 0xff]), Code::Corrupt),
            (reply(REPLY, &[11, 0, 1, 0xff, 0xff, 0xff, 0xff]), Code::Corrupt),
            (reply(REPLY, &[11, 0, 1, 0, 0, 1, 0, b'x']), Code::Input),
            (reply(REPLY, &[15, 0, 1, 12, 0x7f, 0xff, 0xff, 0xff]), Code::Corrupt),
            (reply(REPLY, &[99, 0, 1]), Code::Corrupt),
            (reply(REPLY, &deep), Code::Corrupt),
            (reply(7, &[0]), Code::Corrupt),
            (reply(REPLY, &[]), Code::Input),
            (Vec::new(), Code::Input),
            (call("other", 9, &[]), Code::Corrupt),
        ] {
            assert_eq!(of(&bytes).unwrap_err().code(), code, "{bytes:?}");
        }
        let framed = receive("f", 9, true, &mut &b"\x7f\xff\xff\xff...."[..]);
        assert_eq!(framed.unwrap_err().code(), Code::Corrupt);
    }

    #[test]
    fn each_cut_is_an_error() {
        let whole = reply(REPLY, &[13, 0, 9, 11, 8, 0, 0, 0, 1, 0, 0, 0, 1, b'k', 0, 0, 0, 5, 0]);
        assert!(of(&whole).is_ok());
        for length in 0..whole.len() {
            assert!(of(&whole[..length]).is_err(), "{length}");
        }
    }
}
