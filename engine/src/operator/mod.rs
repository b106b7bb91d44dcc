//! Floor 3: the batch interfaces of all operators: built-ins, C++ class libraries, streaming, Java, tests.
//!
//! The layouts here are those in the C ABI (api/include/yunti.h), so a class library needs no translation.

pub mod batch;
pub mod class;
pub mod context;
pub mod cursor;
pub mod folder;
pub mod key_orderer;
pub mod mapper;
pub mod partitioner;
pub mod reader;
pub mod reducer;
pub mod replay;
pub mod types;
pub mod writer;

pub use batch::Batch;
pub use class::{Class, ClassInfo, ClassSource, Flags, Kind};
pub use context::TaskContext;
pub use cursor::{Emitter, Form, Out, Sink};
pub use folder::{FoldShape, Folder, KnownFold};
pub use key_orderer::KeyOrderer;
pub use mapper::Mapper;
pub use partitioner::Partitioner;
pub use reader::source::{Scan, Source, SourceFile, Unit};
pub use reader::{Chunk, Reader};
pub use reducer::Reducer;
pub use reducer::function::{self, Aggregate, Function, Signature};
pub use reducer::groups::{self, Groups};
pub use types::Type;
pub use writer::Writer;
