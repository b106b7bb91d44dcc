//! The table of a library, and the macro that exports it.
//! One of the listed files with `unsafe`: the exported symbol is one.

use std::ffi::CStr;

use crate::entry::Entry;
use crate::layout::{ABI_MAJOR, ABI_MINOR, RawClass, RawLibrary};

/// Pointers to the classes of a library.
#[doc(hidden)]
pub struct Classes<const N: usize>([*const RawClass; N]);
// SAFETY: pointers to constants.
unsafe impl<const N: usize> Sync for Classes<N> {}

/// Table of a library.
#[doc(hidden)]
#[repr(transparent)]
pub struct Library(RawLibrary);
// SAFETY: pointers to constants.
unsafe impl Sync for Library {}

impl<const N: usize> Classes<N> {
    /// Returns pointers to the entries of the library `name`. Fails to compile if a class's name is not
    /// `Library.Class`.
    pub const fn of(name: &CStr, entries: &'static [Entry; N]) -> Classes<N> {
        let mut classes = [std::ptr::null(); N];
        let mut i = 0;
        while i < N {
            assert!(
                is_class_of(name.to_bytes(), entries[i].name().to_bytes()),
                "class names are Library.Class: letters, digits, '_' and '.'"
            );
            classes[i] = entries[i].raw();
            i += 1;
        }
        Classes(classes)
    }
}

impl Library {
    /// Returns the table of a library.
    pub const fn new<const N: usize>(
        name: &'static CStr,
        version: &'static CStr,
        classes: &'static Classes<N>,
    ) -> Self {
        Library(RawLibrary {
            size: size_of::<RawLibrary>() as u32,
            abi_major: ABI_MAJOR,
            abi_minor: ABI_MINOR,
            n: N as u32,
            name: name.as_ptr(),
            version: version.as_ptr(),
            classes: classes.0.as_ptr(),
        })
    }

    /// Returns the table for an engine of a version; null if it is another major version.
    pub const fn for_engine(&'static self, engine_abi: u32) -> *const Library {
        if engine_abi >> 16 == ABI_MAJOR { self } else { std::ptr::null() }
    }
}

const fn is_class_of(library: &[u8], class: &[u8]) -> bool {
    let mut i = 0;
    while i < library.len() {
        if i >= class.len() || class[i] != library[i] {
            return false;
        }
        i += 1;
    }
    if i + 1 >= class.len() || class[i] != b'.' {
        return false;
    }
    while i < class.len() {
        if !(class[i].is_ascii_alphanumeric() || class[i] == b'_' || class[i] == b'.') {
            return false;
        }
        i += 1;
    }
    true
}

/// Defines the table of a class library: its name, its version, its classes. Use it once in a crate of the type
/// `cdylib`.
///
/// ```
/// # use yunti_api::{Bytes, Form, Out, Record, Result};
/// #[derive(Default)]
/// struct Lengths;
///
/// impl yunti_api::Mapper for Lengths {
///     type Key = Bytes;
///     type Value = i64;
///     fn map<F: Form>(&mut self, line: Record<'_>, out: &mut Out<'_, Bytes, i64, F>) -> Result<()> {
///         yunti_api::words(line.value).try_for_each(|word| out.emit(&word[..1], word.len() as i64))
///     }
/// }
///
/// yunti_api::library! {
///     c"Longest", c"1.0",
///     yunti_api::mapper::<Lengths>(c"Longest.Lengths"),
///     yunti_api::folder::<yunti_api::Max<i64>>(c"Longest.Max"),
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! library {
    ($name:expr, $version:expr, $($class:expr),+ $(,)?) => {
        const _: () = {
            const N: usize = [$(stringify!($class)),+].len();
            static ENTRIES: [$crate::Entry; N] = [$($class),+];
            static CLASSES: $crate::Classes<N> = $crate::Classes::of($name, &ENTRIES);
            static LIBRARY: $crate::Library = $crate::Library::new($name, $version, &CLASSES);

            // SAFETY: the symbol of the C ABI, exported once in a library.
            #[unsafe(no_mangle)]
            extern "C" fn yunti_library_v0(engine_abi: u32) -> *const $crate::Library {
                LIBRARY.for_engine(engine_abi)
            }
        };
    };
}
