//! Types of keys and values: they fix the order of keys and the form of values in text (yt_type of the C ABI).

use yunti_base::{Code, Error, Result};

/// Type of a key or value; numbers are little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(u32)]
pub enum Type {
    /// Absent; text output then has no tab.
    None = 0,
    #[default]
    Bytes = 1,
    I32 = 2,
    I64 = 3,
    U32 = 4,
    U64 = 5,
    F32 = 6,
    F64 = 7,
}

impl Type {
    /// All types, in the order of their numbers.
    pub const ALL: [Type; 8] =
        [Type::None, Type::Bytes, Type::I32, Type::I64, Type::U32, Type::U64, Type::F32, Type::F64];

    /// Returns the type with this number in the C ABI.
    pub fn from_abi(number: u32) -> Option<Type> {
        Type::ALL.get(number as usize).copied()
    }

    /// Returns the name in settings and messages.
    pub fn name(self) -> &'static str {
        ["none", "bytes", "i32", "i64", "u32", "u64", "f32", "f64"][self as usize]
    }

    /// Returns the type of a name; `text` is another name for bytes. Fails with `Code::Usage` for any other name.
    pub fn parse(name: &str) -> Result<Type> {
        Type::ALL.into_iter().find(|t| t.name() == name || (name == "text" && *t == Type::Bytes)).ok_or_else(|| {
            Error::new(Code::Usage, format!("unknown type '{name}'"))
                .hint("use one of none, bytes, text, i32, i64, u32, u64, f32, f64")
        })
    }

    /// Returns true if `len` bytes can be a value of this type.
    #[inline]
    pub fn fits(self, len: usize) -> bool {
        self.fixed_bytes().is_none_or(|n| n == len)
    }

    /// Returns the bytes of a value of this type, or None for byte strings.
    pub fn fixed_bytes(self) -> Option<usize> {
        match self {
            Type::None => Some(0),
            Type::Bytes => None,
            Type::I32 | Type::U32 | Type::F32 => Some(4),
            Type::I64 | Type::U64 | Type::F64 => Some(8),
        }
    }
}

/// Returns the error for a record whose lengths differ from the declared types.
#[cold]
pub fn wrong_length((key, value): (Type, Type), key_bytes: usize, value_bytes: usize) -> Error {
    let text = |t: Type| t.fixed_bytes().map_or("any".to_string(), |n| n.to_string());
    Error::new(Code::UserCode, format!("a key of {key_bytes} bytes and a value of {value_bytes} bytes were emitted"))
        .hint(format!("the class declares types of {} and {} bytes", text(key), text(value)))
}
