//! Messages of HDFS clients that only a replay sends, with the fields in use.
//!
//! Field numbers are from ClientNamenodeProtocol.proto of Hadoop 3.5.

use prost::Message;

#[derive(Clone, PartialEq, Message)]
pub struct Append {
    #[prost(string, required, tag = "1")]
    pub src: String,
    #[prost(string, required, tag = "2")]
    pub client: String,
    #[prost(uint32, optional, tag = "3")]
    pub flag: Option<u32>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Rename2 {
    #[prost(string, required, tag = "1")]
    pub src: String,
    #[prost(string, required, tag = "2")]
    pub dst: String,
    #[prost(bool, required, tag = "3")]
    pub overwrite: bool,
}

#[derive(Clone, PartialEq, Message)]
pub struct SetOwner {
    #[prost(string, required, tag = "1")]
    pub src: String,
    #[prost(string, optional, tag = "2")]
    pub owner: Option<String>,
    #[prost(string, optional, tag = "3")]
    pub group: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub struct SetTimes {
    #[prost(string, required, tag = "1")]
    pub src: String,
    #[prost(uint64, required, tag = "2")]
    pub mtime_ms: u64,
    #[prost(uint64, required, tag = "3")]
    pub atime_ms: u64,
}

#[derive(Clone, PartialEq, Message)]
pub struct SetReplication {
    #[prost(string, required, tag = "1")]
    pub src: String,
    #[prost(uint32, required, tag = "2")]
    pub replication: u32,
}

#[derive(Clone, PartialEq, Message)]
pub struct CheckAccess {
    #[prost(string, required, tag = "1")]
    pub path: String,
    /// FsActionProto: READ is 4.
    #[prost(int32, required, tag = "2")]
    pub mode: i32,
}
