//! Calls of a NameNode: their kinds, and their latencies. Clients of HDFS and DataNodes both make them.

pub mod latency;
pub mod operation;
