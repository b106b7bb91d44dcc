//! Messages between a DataNode and a NameNode, with the fields in use.
//!
//! Field numbers are from DatanodeProtocol.proto, HdfsServer.proto and hdfs.proto of Hadoop 3.5.

use prost::Message;

#[derive(Clone, PartialEq, Message)]
pub struct StorageInfo {
    #[prost(uint32, required, tag = "1")]
    pub layout_version: u32,
    #[prost(uint32, required, tag = "2")]
    pub namespace_id: u32,
    #[prost(string, required, tag = "3")]
    pub cluster_id: String,
    #[prost(uint64, required, tag = "4")]
    pub created: u64,
}

#[derive(Clone, PartialEq, Message)]
pub struct NamespaceInfo {
    #[prost(string, required, tag = "3")]
    pub pool: String,
    #[prost(message, required, tag = "4")]
    pub storage: StorageInfo,
    #[prost(string, required, tag = "5")]
    pub software_version: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct VersionResponse {
    #[prost(message, required, tag = "1")]
    pub info: NamespaceInfo,
}

#[derive(Clone, PartialEq, Message)]
pub struct DatanodeId {
    #[prost(string, required, tag = "1")]
    pub address: String,
    #[prost(string, required, tag = "2")]
    pub host: String,
    #[prost(string, required, tag = "3")]
    pub uuid: String,
    #[prost(uint32, required, tag = "4")]
    pub transfer_port: u32,
    #[prost(uint32, required, tag = "5")]
    pub info_port: u32,
    #[prost(uint32, required, tag = "6")]
    pub ipc_port: u32,
}

#[derive(Clone, PartialEq, Message)]
pub struct BlockKey {
    #[prost(uint32, required, tag = "1")]
    pub id: u32,
    #[prost(uint64, required, tag = "2")]
    pub expires: u64,
}

#[derive(Clone, PartialEq, Message)]
pub struct BlockKeys {
    #[prost(bool, required, tag = "1")]
    pub is_enabled: bool,
    #[prost(uint64, required, tag = "2")]
    pub update_interval: u64,
    #[prost(uint64, required, tag = "3")]
    pub token_lifetime: u64,
    #[prost(message, required, tag = "4")]
    pub current: BlockKey,
}

#[derive(Clone, PartialEq, Message)]
pub struct Registration {
    #[prost(message, required, tag = "1")]
    pub id: DatanodeId,
    #[prost(message, required, tag = "2")]
    pub storage: StorageInfo,
    #[prost(message, required, tag = "3")]
    pub keys: BlockKeys,
    #[prost(string, required, tag = "4")]
    pub software_version: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct Register {
    #[prost(message, required, tag = "1")]
    pub registration: Registration,
}

/// NORMAL is 0, DISK 1.
#[derive(Clone, PartialEq, Message)]
pub struct Storage {
    #[prost(string, required, tag = "1")]
    pub uuid: String,
    #[prost(int32, optional, tag = "2")]
    pub state: Option<i32>,
    #[prost(int32, optional, tag = "3")]
    pub kind: Option<i32>,
}

#[derive(Clone, PartialEq, Message)]
pub struct StorageReport {
    #[prost(string, required, tag = "1")]
    pub uuid: String,
    #[prost(uint64, optional, tag = "3")]
    pub capacity: Option<u64>,
    #[prost(uint64, optional, tag = "4")]
    pub used: Option<u64>,
    #[prost(uint64, optional, tag = "5")]
    pub remaining: Option<u64>,
    #[prost(message, optional, tag = "7")]
    pub storage: Option<Storage>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Heartbeat {
    #[prost(message, required, tag = "1")]
    pub registration: Registration,
    #[prost(message, repeated, tag = "2")]
    pub reports: Vec<StorageReport>,
    #[prost(bool, optional, tag = "9")]
    pub wants_report_lease: Option<bool>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Block {
    #[prost(uint64, required, tag = "1")]
    pub id: u64,
    #[prost(uint64, required, tag = "2")]
    pub generation: u64,
    #[prost(uint64, optional, tag = "3")]
    pub bytes: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub struct BlockCommand {
    /// INVALIDATE is 2.
    #[prost(int32, required, tag = "1")]
    pub action: i32,
    #[prost(message, repeated, tag = "3")]
    pub blocks: Vec<Block>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Command {
    /// BlockCommand is 1, RegisterCommand 5.
    #[prost(int32, required, tag = "1")]
    pub kind: i32,
    #[prost(message, optional, tag = "3")]
    pub blocks: Option<BlockCommand>,
}

#[derive(Clone, PartialEq, Message)]
pub struct HeartbeatResponse {
    #[prost(message, repeated, tag = "1")]
    pub commands: Vec<Command>,
    #[prost(uint64, optional, tag = "5")]
    pub report_lease: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub struct StorageBlocks {
    #[prost(message, required, tag = "1")]
    pub storage: Storage,
    /// Count of finalized blocks, count of blocks being written, then id, length and generation of each.
    #[prost(uint64, repeated, tag = "2")]
    pub blocks: Vec<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub struct ReportContext {
    #[prost(int32, required, tag = "1")]
    pub calls: i32,
    #[prost(int32, required, tag = "2")]
    pub call: i32,
    #[prost(int64, required, tag = "3")]
    pub id: i64,
    #[prost(uint64, optional, tag = "4")]
    pub lease: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub struct BlockReport {
    #[prost(message, required, tag = "1")]
    pub registration: Registration,
    #[prost(string, required, tag = "2")]
    pub pool: String,
    #[prost(message, repeated, tag = "3")]
    pub reports: Vec<StorageBlocks>,
    #[prost(message, optional, tag = "4")]
    pub context: Option<ReportContext>,
}

#[derive(Clone, PartialEq, Message)]
pub struct ReceivedOrDeleted {
    #[prost(message, required, tag = "1")]
    pub block: Block,
    #[prost(int32, required, tag = "3")]
    pub status: i32,
}

#[derive(Clone, PartialEq, Message)]
pub struct StorageChanges {
    #[prost(string, required, tag = "1")]
    pub uuid: String,
    #[prost(message, repeated, tag = "2")]
    pub blocks: Vec<ReceivedOrDeleted>,
    #[prost(message, optional, tag = "3")]
    pub storage: Option<Storage>,
}

#[derive(Clone, PartialEq, Message)]
pub struct IncrementalReport {
    #[prost(message, required, tag = "1")]
    pub registration: Registration,
    #[prost(string, required, tag = "2")]
    pub pool: String,
    #[prost(message, repeated, tag = "3")]
    pub changes: Vec<StorageChanges>,
}
