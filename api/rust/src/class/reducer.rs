//! Reducers and combiners: user code that receives each key with all of its values, in key order.

use super::Class;
use super::folder::{Folder, KnownFold};
use super::values::{GroupBuffer, Values};
use crate::context::Context;
use crate::error::{Result, fail};
use crate::layout::{Groups, ValueRange};
use crate::out::Out;
use crate::types::{Type, View};

/// Bytes of a group that spans batches, at most, without the setting `yunti.reduce.buffer.bytes`.
const BUFFER_BYTES: usize = 64 << 20;

/// A reducer, or a combiner, that sees all values of a group at once.
///
/// A group that fits a batch is read in place. A longer one is collected first, in memory of the class, outside of the
/// job's `--memory`; above 64 MiB (`-D yunti.reduce.buffer.bytes=`) the job ends with an error. [`StepReducer`] has no
/// such limit.
pub trait Reducer: Class {
    /// Type of the keys that come in.
    type InKey: Type;
    /// Type of the values that come in.
    type InValue: Type;
    /// Type of the keys that it emits.
    type Key: Type;
    /// Type of the values that it emits.
    type Value: Type;
    /// Promise: the output for a group depends on that group alone, so several objects may share a partition.
    const PURE: bool = false;
    /// Promise: the class computes this fold, so the engine may fold instead of calling it.
    const FOLD: Option<KnownFold> = None;

    /// Reduces a group.
    fn reduce(
        &mut self,
        key: View<'_, Self::InKey>,
        values: &mut Values<'_, Self::InValue>,
        out: &mut Out<'_, Self::Key, Self::Value>,
    ) -> Result<()>;

    /// Ends the task, and may emit.
    fn flush(&mut self, _out: &mut Out<'_, Self::Key, Self::Value>) -> Result<()> {
        Ok(())
    }
}

/// A reducer, or a combiner, that sees a group value by value, in constant memory.
///
/// Call order for a group: `begin`, `add` for each value, `end`.
pub trait StepReducer: Class {
    /// Type of the keys that come in.
    type InKey: Type;
    /// Type of the values that come in.
    type InValue: Type;
    /// Type of the keys that it emits.
    type Key: Type;
    /// Type of the values that it emits.
    type Value: Type;
    /// Promise: the output for a group depends on that group alone, so several objects may share a partition.
    const PURE: bool = false;
    /// Promise: the class computes this fold, so the engine may fold instead of calling it.
    const FOLD: Option<KnownFold> = None;

    /// Begins a group. The key is valid during the call.
    fn begin(&mut self, key: View<'_, Self::InKey>) -> Result<()>;
    /// Adds a value. `key` is its own key, which differs within a group if groups share only a part of the key.
    fn add(&mut self, key: &[u8], value: View<'_, Self::InValue>) -> Result<()>;
    /// Ends a group.
    fn end(&mut self, key: View<'_, Self::InKey>, out: &mut Out<'_, Self::Key, Self::Value>) -> Result<()>;

    /// Ends the task, and may emit.
    fn flush(&mut self, _out: &mut Out<'_, Self::Key, Self::Value>) -> Result<()> {
        Ok(())
    }
}

/// Interface of all kinds of reducers to the entry.
pub trait Reduces: Class {
    type InKey: Type;
    type InValue: Type;
    type Key: Type;
    type Value: Type;
    const PURE: bool;
    const FOLD: Option<KnownFold>;
    /// `is_first`, `is_last`: the values are the first of their group, the last.
    fn part(
        &mut self,
        key: &[u8],
        values: ValueRange<'_>,
        is_first: bool,
        is_last: bool,
        out: &mut Out<'_, Self::Key, Self::Value>,
    ) -> Result<()>;
    fn flush(&mut self, out: &mut Out<'_, Self::Key, Self::Value>) -> Result<()>;
}

/// Calls the reducer with each group of a batch. `input`: declares the bytes of a key to the cursor.
pub fn reduce<R: Reduces>(
    reducer: &mut R,
    groups: &Groups<'_>,
    out: &mut Out<'_, R::Key, R::Value>,
    input: impl Fn(&mut Out<'_, R::Key, R::Value>, &[u8]),
) -> Result<()> {
    let n = groups.len();
    for i in 0..n {
        let is_first = i > 0 || !groups.is_continued();
        let is_last = i < n - 1 || !groups.is_cut();
        input(out, groups.key(i));
        reducer.part(groups.key(i), groups.values(i), is_first, is_last, out)?;
    }
    Ok(())
}

pub fn key_of<T: Type>(bytes: &[u8]) -> Result<View<'_, T>> {
    match T::decode(bytes) {
        Some(key) => Ok(key),
        None => fail("the class's keys differ in length from the mapper's: declare the same key type in both"),
    }
}

/// A [`Reducer`] with its buffer for long groups.
pub struct Whole<R> {
    reducer: R,
    buffer: GroupBuffer,
}

impl<R: Reducer> Class for Whole<R> {
    fn create(context: &Context) -> Result<Self> {
        let bytes_max = context.parse("yunti.reduce.buffer.bytes")?.unwrap_or(BUFFER_BYTES);
        Ok(Whole { reducer: R::create(context)?, buffer: GroupBuffer::new(bytes_max) })
    }
}

impl<R: Reducer> Reduces for Whole<R> {
    type InKey = R::InKey;
    type InValue = R::InValue;
    type Key = R::Key;
    type Value = R::Value;
    const PURE: bool = R::PURE;
    const FOLD: Option<KnownFold> = R::FOLD;

    #[inline(always)]
    fn part(
        &mut self,
        key: &[u8],
        values: ValueRange<'_>,
        is_first: bool,
        is_last: bool,
        out: &mut Out<'_, R::Key, R::Value>,
    ) -> Result<()> {
        let key = key_of::<R::InKey>(key)?;
        if is_first && is_last {
            return self.reducer.reduce(key, &mut Values::new(values)?, out);
        }
        self.buffer.add(&values)?;
        if is_last {
            self.reducer.reduce(key, &mut Values::new(self.buffer.values())?, out)?;
            self.buffer.clear();
        }
        Ok(())
    }

    fn flush(&mut self, out: &mut Out<'_, R::Key, R::Value>) -> Result<()> {
        self.reducer.flush(out)
    }
}

/// A [`StepReducer`] as the entry calls it.
pub struct Steps<R>(R);

impl<R: StepReducer> Class for Steps<R> {
    fn create(context: &Context) -> Result<Self> {
        Ok(Steps(R::create(context)?))
    }
}

impl<R: StepReducer> Reduces for Steps<R> {
    type InKey = R::InKey;
    type InValue = R::InValue;
    type Key = R::Key;
    type Value = R::Value;
    const PURE: bool = R::PURE;
    const FOLD: Option<KnownFold> = R::FOLD;

    #[inline(always)]
    fn part(
        &mut self,
        key: &[u8],
        values: ValueRange<'_>,
        is_first: bool,
        is_last: bool,
        out: &mut Out<'_, R::Key, R::Value>,
    ) -> Result<()> {
        let view = key_of::<R::InKey>(key)?;
        if is_first {
            self.0.begin(view)?;
        }
        let mut values = Values::<R::InValue>::new(values)?;
        loop {
            let own = values.next_key().unwrap_or(key);
            let Some(value) = values.next() else { break };
            self.0.add(own, value)?;
        }
        if is_last { self.0.end(view, out) } else { Ok(()) }
    }

    fn flush(&mut self, out: &mut Out<'_, R::Key, R::Value>) -> Result<()> {
        self.0.flush(out)
    }
}

/// A [`Folder`] as a reducer: the state of one key at a time.
pub struct Folding<F: Folder> {
    pub(crate) folder: F,
    /// State of the group that is open.
    state: Option<F::State>,
}

impl<F: Folder> Class for Folding<F> {
    fn create(context: &Context) -> Result<Self> {
        Ok(Folding { folder: F::create(context)?, state: None })
    }
}

impl<F: Folder> Reduces for Folding<F> {
    type InKey = F::Key;
    type InValue = F::InValue;
    type Key = F::Key;
    type Value = F::Value;
    const PURE: bool = true;
    // Its table has the folder itself.
    const FOLD: Option<KnownFold> = None;

    #[inline(always)]
    fn part(
        &mut self,
        key: &[u8],
        values: ValueRange<'_>,
        is_first: bool,
        is_last: bool,
        out: &mut Out<'_, F::Key, F::Value>,
    ) -> Result<()> {
        let mut state = match self.state.take() {
            Some(state) if !is_first => state,
            _ => self.folder.init(),
        };
        for value in Values::<F::InValue>::new(values)? {
            self.folder.fold(&mut state, value)?;
        }
        if is_last {
            return self.folder.finish(key_of::<F::Key>(key)?, &state, out);
        }
        self.state = Some(state);
        Ok(())
    }

    fn flush(&mut self, _: &mut Out<'_, F::Key, F::Value>) -> Result<()> {
        Ok(())
    }
}
