//! Kinds of classes: the traits that user code implements, and the loops over batches that call them.

pub mod file;
pub mod folder;
pub mod key_order;
pub mod mapper;
pub mod partitioner;
pub mod reader;
pub mod reducer;
pub mod source;
pub mod values;
pub mod writer;

use crate::context::Context;
use crate::error::Result;

/// Creation of an object, for one task. Implement `Default`, or this trait if the class needs its context: settings,
/// side files, counters.
///
/// One thread at a time uses an object, not always the same one.
pub trait Class: Send + Sized + 'static {
    /// Creates an object for a task. Fails if a setting is wrong, say: the job ends with the message.
    fn create(context: &Context) -> Result<Self>;
}

impl<T: Default + Send + 'static> Class for T {
    fn create(_: &Context) -> Result<T> {
        Ok(T::default())
    }
}
