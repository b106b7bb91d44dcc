//! States of folders: types that the engine moves as bytes.
//! One of the listed files with `unsafe`: it vouches for types.

/// A state of a folder: plain data that the engine moves, spills and loads as bytes.
///
/// Numbers, arrays and pairs of states are states. [`state!`](crate::state) declares a struct of states.
///
/// # Safety
/// The type has no pointers, references or functions: its bytes mean the same at any place and in any process. It has
/// at most 64 KiB.
pub unsafe trait State: Copy + Send + 'static {}

macro_rules! plain {
    ($($type:ty)*) => {$(
        // SAFETY: a number.
        unsafe impl State for $type {}
    )*};
}
plain! { u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 bool char }
// SAFETY: states, one after the other.
unsafe impl<T: State, const N: usize> State for [T; N] {}
// SAFETY: two states.
unsafe impl<A: State, B: State> State for (A, B) {}

/// Declares a struct of plain data as the [`State`](crate::State) of a folder. All fields are states: numbers, arrays
/// and pairs of them.
///
/// ```
/// yunti_api::state! {
///     /// Number and sum of values.
///     pub struct Mean { n: u64, sum: f64 }
/// }
/// ```
#[macro_export]
macro_rules! state {
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $($field_vis:vis $field:ident: $type:ty),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy)]
        #[repr(C)]
        $vis struct $name { $($field_vis $field: $type),+ }

        const _: () = {
            const fn is_state<T: $crate::State>() {}
            $(is_state::<$type>();)+
        };
        // SAFETY: all fields are states.
        unsafe impl $crate::State for $name {}
    };
}
