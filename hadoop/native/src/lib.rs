//! Yunti inside Hadoop's tasks: the native half of yunti-hadoop.jar.
//!
//! The modules are floors; each imports only from floors below it, and all from the engine. Only `jni` knows the Java
//! VM: all other modules are tested without one.
//!
//! ```text
//!   jni        one file a Java class
//!   task       whole tasks of a job of the fat node
//!   shuffle    a reduce task's input: fetched segments, merged
//!   collect    a map task's output: the engine's collector in front, IFile behind
//!   sorted     sorted records, and the user's combiner over them
//!   ifile      Hadoop's format of sorted map output
//!   compress   Hadoop's codecs
//!   key        keys in an order of bytes, and back to what Hadoop wrote
//!   vint       Hadoop's integers of variable length
//! ```

pub mod collect;
pub mod compress;
pub mod ifile;
pub mod jni;
pub mod key;
pub mod shuffle;
pub mod sorted;
pub mod task;
pub mod vint;
