//! Class libraries for Yunti in Rust: mappers, reducers, folders, partitioners, key orders, readers, sources and
//! writers, as a shared library that `yunti run --lib` loads.
//!
//! The crate has no dependency and needs no header: it speaks the C ABI of `yunti.h`, whose layout its tests compare.
//! A class implements a trait, `library!` exports it, and `crate-type = ["cdylib"]` makes the library. An error or a
//! panic of user code ends the job with its message; it never unwinds into the engine. (With `panic = "abort"` the
//! engine reports the signal instead.)
//!
//! ```
//! use yunti_api::{Bytes, Class, Context, Counter, Form, Out, Record, Result, fail};
//!
//! struct Temperatures {
//!     bad: Counter,
//!     is_strict: bool,
//! }
//!
//! impl Class for Temperatures {
//!     fn create(context: &Context) -> Result<Self> {
//!         let is_strict = context.parse("temperatures.strict")?.unwrap_or(false);
//!         Ok(Temperatures { bad: context.counter("Temperatures", "BAD_LINES")?, is_strict })
//!     }
//! }
//!
//! impl yunti_api::Mapper for Temperatures {
//!     type Key = Bytes;
//!     type Value = f64;
//!     fn map<F: Form>(&mut self, line: Record<'_>, out: &mut Out<'_, Bytes, f64, F>) -> Result<()> {
//!         let mut fields = line.value.split(|&byte| byte == b'\t');
//!         let (city, degrees) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
//!         match std::str::from_utf8(degrees)?.parse() {
//!             Ok(degrees) => out.emit(city, degrees),
//!             Err(_) if self.is_strict => fail(format!("no number at byte {}", line.position)),
//!             Err(_) => Ok(self.bad.add(1)),
//!         }
//!     }
//! }
//!
//! yunti_api::library! { c"Climate", c"1.0", yunti_api::mapper::<Temperatures>(c"Climate.Temperatures") }
//! # fn main() {}
//! ```

#[cfg(not(target_endian = "little"))]
compile_error!("Yunti needs a little-endian machine");

mod class;
mod context;
mod cursor;
mod entry;
mod error;
mod layout;
mod library;
mod out;
mod state;
mod table;
mod text;
mod types;

pub use class::Class;
pub use class::file::{Scan, SourceFile};
pub use class::folder::{Count, Folder, KnownFold, Max, Min, Sum};
pub use class::key_order::{Direction, KeyOrder, OrderedKey, OrderedKeyReader, Part};
pub use class::mapper::{Mapper, Record, Span, SpanMapper};
pub use class::partitioner::Partitioner;
pub use class::reader::{Chunk, Reader};
pub use class::reducer::{Reducer, StepReducer};
pub use class::source::Source;
pub use class::values::Values;
pub use class::writer::Writer;
pub use context::{Context, Counter, TableServers};
pub use entry::Entry;
pub use error::{Error, Result, fail};
pub use layout::Unit;
#[doc(hidden)]
pub use library::{Classes, Library};
pub use out::{Copied, Form, NamedOutput, Ones, Out, References, Sink};
pub use state::State;
pub use table::{
    combiner, fold_combiner, fold_reducer, folder, key_order, mapper, partitioner, reader, reducer, source,
    span_mapper, step_combiner, step_reducer, writer,
};
pub use text::{Lines, Words, lines, words};
pub use types::{Any, Bytes, Type, View, Whole};
