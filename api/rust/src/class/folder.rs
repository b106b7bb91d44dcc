//! Folders: one small state for each key, in a hash table of the engine; the fast path of every aggregation.

use super::Class;
use crate::error::Result;
use crate::out::Out;
use crate::state::State;
use crate::types::{Any, Type, View};

/// A folder: one state a key.
///
/// Call order for a state: `init`, then `fold` and `merge` any number of times, then `finish` once.
pub trait Folder: Class {
    /// State of a key.
    type State: State;
    /// Type of the values that come in.
    type InValue: Type;
    /// Type of the keys.
    type Key: Type;
    /// Type of the values that it emits.
    type Value: Type;
    /// True if states may be merged in any order with the same result. With false (sums of floating point) the engine
    /// makes a state for each split, and merges them in the order of splits.
    const EXACT: bool;
    /// A fold that the engine knows, and computes without calls.
    #[doc(hidden)]
    const KNOWN: Option<KnownFold> = None;

    /// Returns the state of a key without values.
    fn init(&mut self) -> Self::State;
    /// Adds a value to a state.
    fn fold(&mut self, state: &mut Self::State, value: View<'_, Self::InValue>) -> Result<()>;
    /// Adds a state to another. `other` comes after it.
    fn merge(&mut self, state: &mut Self::State, other: &Self::State) -> Result<()>;
    /// Emits the result of a key.
    fn finish(
        &mut self,
        key: View<'_, Self::Key>,
        state: &Self::State,
        out: &mut Out<'_, Self::Key, Self::Value>,
    ) -> Result<()>;
}

/// A fold that the engine knows, and computes without calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum KnownFold {
    /// Number of values.
    Count = 1,
    /// Sum of `i64` values, which wraps around.
    SumI64 = 2,
    /// Smallest `i64` value.
    MinI64 = 3,
    /// Largest `i64` value.
    MaxI64 = 4,
    /// Sum of `f64` values.
    SumF64 = 5,
}

macro_rules! known_fold {
    ($name:ident<$number:ty>, $in:ty, $known:ident, $exact:literal, $init:expr, $fold:expr, $merge:expr) => {
        impl Folder for $name<$number> {
            type State = $number;
            type InValue = $in;
            type Key = Any;
            type Value = $number;
            const EXACT: bool = $exact;
            const KNOWN: Option<KnownFold> = Some(KnownFold::$known);
            fn init(&mut self) -> $number {
                $init
            }
            fn fold(&mut self, state: &mut $number, value: View<'_, $in>) -> Result<()> {
                *state = $fold(*state, value);
                Ok(())
            }
            fn merge(&mut self, state: &mut $number, other: &$number) -> Result<()> {
                *state = $merge(*state, *other);
                Ok(())
            }
            fn finish(&mut self, key: &[u8], state: &$number, out: &mut Out<'_, Any, $number>) -> Result<()> {
                out.emit(key, *state)
            }
        }
    };
}

/// Number of values of a key, of any type: `Count<i64>`.
#[derive(Default)]
pub struct Count<T>(std::marker::PhantomData<T>);
/// Sum of `i64` values, which wraps around, or of `f64` values.
#[derive(Default)]
pub struct Sum<T>(std::marker::PhantomData<T>);
/// Smallest `i64` value.
#[derive(Default)]
pub struct Min<T>(std::marker::PhantomData<T>);
/// Largest `i64` value.
#[derive(Default)]
pub struct Max<T>(std::marker::PhantomData<T>);

known_fold!(Count<i64>, Any, Count, true, 0, |n: i64, _| n + 1, |a: i64, b| a + b);
known_fold!(Sum<i64>, i64, SumI64, true, 0, i64::wrapping_add, i64::wrapping_add);
known_fold!(Min<i64>, i64, MinI64, true, i64::MAX, i64::min, i64::min);
known_fold!(Max<i64>, i64, MaxI64, true, i64::MIN, i64::max, i64::max);
known_fold!(Sum<f64>, f64, SumF64, false, 0.0, |a: f64, b| a + b, |a: f64, b| a + b);
