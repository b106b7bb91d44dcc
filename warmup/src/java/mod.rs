//! Java from outside: command lines, builds and jars, and what each JVM can archive.

pub mod archive;
pub mod command_line;
pub mod jar;
pub mod release;
