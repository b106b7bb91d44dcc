//! Classes of Hadoop's library that jobs of Hadoop Streaming name, with the same results.

pub mod aggregate;
pub mod key_field_order;
pub mod key_field_partitioner;
mod key_fields;
pub mod key_hash_partitioner;
pub mod offsets;
