//! Types of keys and values: what they are in a batch, and in user code.
//!
//! ```text
//!   type          yt_type       in memory                     in user code
//!   ()            YT_NONE       nothing                       ()
//!   Bytes         YT_BYTES      any bytes                     &[u8]
//!   i32 .. f64    YT_I32 ..     4 or 8 bytes, little-endian   the number
//!   Any           YT_NONE       bytes of any type             &[u8]
//! ```

/// Bytes of any length, ordered byte by byte; user code sees `&[u8]`.
pub enum Bytes {}

/// Type of any input, as bytes. As the key type of a reducer or folder: the type of its input keys.
pub enum Any {}

mod sealed {
    pub trait Sealed {}
}

/// A type of keys or values: [`Bytes`], `i32`, `i64`, `u32`, `u64`, `f32`, `f64`, `()` for no value, [`Any`].
pub trait Type: sealed::Sealed + 'static {
    /// User code's view of it: the number, or the bytes.
    type View<'a>: Copy;
    /// Number of the type in the C ABI (yt_type).
    const ID: u32;
    /// Bytes of a number; 0 for other types.
    const BYTES: usize;

    /// Returns the view of a value's bytes; None if a number has another length.
    #[doc(hidden)]
    fn decode(bytes: &[u8]) -> Option<Self::View<'_>>;
    /// Returns the bytes of a value; a number lies in `space`.
    #[doc(hidden)]
    fn encode<'s, 'v: 's>(view: Self::View<'v>, space: &'s mut [u8; 8]) -> &'s [u8];
    /// Returns the eight bytes of a number as one number; 0 for other types.
    #[doc(hidden)]
    fn bits(view: Self::View<'_>) -> u64;
}

/// User code's view of a type: the number itself, or its bytes.
pub type View<'a, T> = <T as Type>::View<'a>;

/// A number with eight bytes that counts: `i64` or `u64`.
pub trait Whole: Type {
    /// The number 1.
    #[doc(hidden)]
    fn one() -> Self::View<'static>;
}

macro_rules! bytes_type {
    ($name:ty, $id:literal) => {
        impl sealed::Sealed for $name {}
        impl Type for $name {
            type View<'a> = &'a [u8];
            const ID: u32 = $id;
            const BYTES: usize = 0;
            #[inline(always)]
            fn decode(bytes: &[u8]) -> Option<&[u8]> {
                Some(bytes)
            }
            #[inline(always)]
            fn encode<'s, 'v: 's>(view: &'v [u8], _: &'s mut [u8; 8]) -> &'s [u8] {
                view
            }
            #[inline(always)]
            fn bits(_: &[u8]) -> u64 {
                0
            }
        }
    };
}
bytes_type!(Bytes, 1);
bytes_type!(Any, 0);

impl sealed::Sealed for () {}
impl Type for () {
    type View<'a> = ();
    const ID: u32 = 0;
    const BYTES: usize = 0;
    #[inline(always)]
    fn decode(_: &[u8]) -> Option<()> {
        Some(())
    }
    #[inline(always)]
    fn encode<'s, 'v: 's>(_: (), space: &'s mut [u8; 8]) -> &'s [u8] {
        &space[..0]
    }
    #[inline(always)]
    fn bits(_: ()) -> u64 {
        0
    }
}

macro_rules! number_type {
    ($($name:ty, $id:literal, $bits:expr;)*) => {$(
        impl sealed::Sealed for $name {}
        impl Type for $name {
            type View<'a> = $name;
            const ID: u32 = $id;
            const BYTES: usize = size_of::<$name>();
            #[inline(always)]
            fn decode(bytes: &[u8]) -> Option<$name> {
                bytes.try_into().ok().map(<$name>::from_le_bytes)
            }
            #[inline(always)]
            fn encode<'s, 'v: 's>(view: $name, space: &'s mut [u8; 8]) -> &'s [u8] {
                space[..Self::BYTES].copy_from_slice(&view.to_le_bytes());
                &space[..Self::BYTES]
            }
            #[inline(always)]
            fn bits(view: $name) -> u64 {
                $bits(view)
            }
        }
    )*};
}
number_type! {
    i32, 2, |v| v as u64;
    i64, 3, |v| v as u64;
    u32, 4, u64::from;
    u64, 5, |v| v;
    f32, 6, |v: f32| u64::from(v.to_bits());
    f64, 7, f64::to_bits;
}

impl Whole for i64 {
    #[inline(always)]
    fn one() -> i64 {
        1
    }
}
impl Whole for u64 {
    #[inline(always)]
    fn one() -> u64 {
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Type>(view: View<'_, T>, bytes: &[u8]) {
        assert_eq!(T::encode(view, &mut [7; 8]), bytes);
        let back = T::decode(bytes).map(|v| T::encode(v, &mut [0; 8]).to_vec());
        assert_eq!(back.as_deref(), Some(bytes));
    }

    #[test]
    fn views_become_bytes_and_come_back() {
        check::<Bytes>(b"ab", b"ab");
        check::<Any>(b"", b"");
        check::<()>((), b"");
        check::<i32>(-2, b"\xfe\xff\xff\xff");
        check::<i64>(i64::MIN, b"\0\0\0\0\0\0\0\x80");
        check::<u32>(0x0403_0201, b"\x01\x02\x03\x04");
        check::<u64>(1, b"\x01\0\0\0\0\0\0\0");
        check::<f32>(1.0, b"\0\0\x80\x3f");
        check::<f64>(-0.0, b"\0\0\0\0\0\0\0\x80");
        assert_eq!(i64::decode(b"1234567"), None);
        assert_eq!(u32::decode(b"12345"), None);
        assert_eq!(f64::bits(-0.0), 1 << 63);
    }
}
