//! Output of user code: typed records through the cursor, named outputs, and the bytes of writers.

use std::marker::PhantomData;

use crate::context::{Context, EDGES_SLACK, OutputHandle, find_edges};
use crate::cursor::Cursor;
use crate::error::{Result, fail};
use crate::layout::{FORM_COPY, FORM_ONE, FORM_REF, FindEdges};
use crate::text::{SPACES, words};
use crate::types::{Type, View, Whole};

mod sealed {
    pub trait Sealed {}
}

/// Form in which the engine takes records. A mapper is compiled once for each form that it declares.
pub trait Form: sealed::Sealed + 'static {
    /// Number of the form in the C ABI.
    #[doc(hidden)]
    const FORM: u32;
}

/// Form of records that are copied.
pub enum Copied {}
/// Form of keys that stay in the input, each with the value 1.
pub enum Ones {}
/// Form of keys that stay in the input, each with a number of eight bytes.
pub enum References {}

impl sealed::Sealed for Copied {}
impl sealed::Sealed for Ones {}
impl sealed::Sealed for References {}
impl Form for Copied {
    const FORM: u32 = FORM_COPY;
}
impl Form for Ones {
    const FORM: u32 = FORM_ONE;
}
impl Form for References {
    const FORM: u32 = FORM_REF;
}

/// Output of a mapper, reducer, folder or reader: records of keys `K` and values `V`.
pub struct Out<'a, K: Type, V: Type, F: Form = Copied> {
    cursor: Cursor<'a>,
    edges: Option<FindEdges>,
    types: PhantomData<fn(K, V, F)>,
}

/// Bytes of text from which on the engine finds the words.
const LONG_TEXT: usize = 512;
/// Bytes of text whose words are found at once.
const PIECE: usize = 4096;
/// Bytes of a word at most, so that its places fit in 32 bits with a sign.
const WORD_BYTES_MAX: usize = 1 << 30;

impl<'a, K: Type, V: Type, F: Form> Out<'a, K, V, F> {
    pub(crate) fn new(cursor: Cursor<'a>, edges: Option<FindEdges>) -> Self {
        Out { cursor, edges, types: PhantomData }
    }

    pub(crate) fn cursor(&mut self) -> &mut Cursor<'a> {
        &mut self.cursor
    }

    /// Emits a record. Fails if the engine stops the task, for a record of more than 2 GiB, and for a key or value that
    /// breaks a promise of the mapper: return the error.
    #[inline(always)]
    pub fn emit(&mut self, key: View<'_, K>, value: View<'_, V>) -> Result<()> {
        let (mut key_space, mut value_space) = ([0; 8], [0; 8]);
        let key = K::encode(key, &mut key_space);
        match F::FORM {
            FORM_ONE if V::bits(value) != 1 => not_one(),
            FORM_ONE => self.cursor.refer(key, None),
            FORM_REF => self.cursor.refer(key, Some(V::bits(value))),
            _ => self.cursor.copy(key, V::encode(value, &mut value_space), K::BYTES != 0, V::BYTES != 0),
        }
    }

    /// Emits a key with the value 1, as [`emit`](Self::emit) does.
    #[inline(always)]
    pub fn one(&mut self, key: View<'_, K>) -> Result<()>
    where
        V: Whole,
    {
        match F::FORM {
            FORM_ONE => self.cursor.refer(K::encode(key, &mut [0; 8]), None),
            _ => self.emit(key, V::one()),
        }
    }
}

impl<V: Whole, F: Form> Out<'_, crate::types::Bytes, V, F> {
    /// Emits each word of a text with the value 1. Of a mapper that declares `KEYS_ARE_SLICES` and `VALUE_IS_ONE`, the
    /// engine finds the words of long texts by its vector instructions: the fastest way.
    pub fn words(&mut self, text: &[u8]) -> Result<()> {
        match self.edges {
            Some(find) if F::FORM == FORM_ONE && text.len() >= LONG_TEXT => self.words_by(find, text),
            _ => words(text).try_for_each(|word| self.one(word)),
        }
    }

    /// Emits the words that the engine finds, piece by piece. The first word of a piece may begin before it.
    fn words_by(&mut self, find: FindEdges, text: &[u8]) -> Result<()> {
        let mut edges = [0; PIECE + EDGES_SLACK + 2];
        // 1: edges[0] is the start of a word that goes on.
        let (mut open, mut before) = (0, 1);
        for (n, piece) in text.chunks(PIECE).enumerate() {
            let at = n * PIECE;
            let mut found = open + find_edges(find, piece, &SPACES, &mut before, &mut edges[open..]);
            let is_last = at + piece.len() == text.len();
            if is_last && found % 2 == 1 {
                edges[found] = piece.len() as u32;
                found += 1;
            }
            self.cursor.refer_all(text, at, &edges[..found / 2 * 2])?;
            open = found % 2;
            if open == 1 {
                // From the next piece, the start lies before its beginning.
                edges[0] = edges[found - 1].wrapping_sub(PIECE as u32);
                if (edges[0] as i32).unsigned_abs() as usize > WORD_BYTES_MAX {
                    return fail("a word has more than 1 GiB: cut the text differently; a record has less than 2 GiB");
                }
            }
        }
        Ok(())
    }
}

#[cold]
fn not_one() -> Result<()> {
    fail("a mapper that declares VALUE_IS_ONE emitted a value other than 1: remove the declaration")
}

/// Records that go to files beside the parts, by a name that the job declares (`--named-output NAME=FORMAT`).
///
/// Make it in `create` of a mapper or reducer.
pub struct NamedOutput<K: Type, V: Type> {
    handle: OutputHandle,
    types: PhantomData<fn(K, V)>,
}

impl<K: Type, V: Type> NamedOutput<K, V> {
    /// Opens an output. Fails if the job has none of this name, or it cannot be written.
    pub fn open(context: &Context, name: &str) -> Result<Self> {
        Ok(NamedOutput { handle: context.task_handle().output(name, K::ID, V::ID)?, types: PhantomData })
    }

    /// Emits a record to this output.
    pub fn emit(&mut self, key: View<'_, K>, value: View<'_, V>) -> Result<()> {
        let mut out = Out::<K, V>::new(self.handle.cursor(), None);
        out.emit(key, value)?;
        out.cursor.commit();
        Ok(())
    }
}

/// Bytes of a part file, from a writer.
pub struct Sink<'a> {
    cursor: Cursor<'a>,
}

impl<'a> Sink<'a> {
    pub(crate) fn new(cursor: Cursor<'a>) -> Self {
        Sink { cursor }
    }

    pub(crate) fn commit(&mut self) {
        self.cursor.commit();
    }

    /// Appends bytes.
    #[inline(always)]
    pub fn put(&mut self, bytes: &[u8]) -> Result<&mut Self> {
        self.cursor.put(bytes)?;
        Ok(self)
    }

    /// Appends what a value displays: a number in decimal, a text.
    pub fn display(&mut self, value: impl std::fmt::Display) -> Result<&mut Self> {
        use std::fmt::Write;
        struct To<'s, 'a>(&'s mut Cursor<'a>, Result<()>);
        impl Write for To<'_, '_> {
            fn write_str(&mut self, text: &str) -> std::fmt::Result {
                self.1 = self.0.put(text.as_bytes());
                if self.1.is_ok() { Ok(()) } else { Err(std::fmt::Error) }
            }
        }
        let mut to = To(&mut self.cursor, Ok(()));
        let done = write!(to, "{value}");
        to.1?;
        done?;
        Ok(self)
    }
}
