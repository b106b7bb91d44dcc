//! Messages of Hadoop RPC and of HDFS clients, with the fields in use.
//!
//! Field numbers are from RpcHeader.proto, IpcConnectionContext.proto, ProtobufRpcEngine.proto,
//! ClientNamenodeProtocol.proto, hdfs.proto and acl.proto of Hadoop 3.5.

use prost::Message;

use super::datanode_messages::DatanodeId;

/// Header of a call.
#[derive(Clone, PartialEq, Message)]
pub struct RpcRequestHeader {
    /// RPC_PROTOCOL_BUFFER is 2.
    #[prost(int32, optional, tag = "1")]
    pub rpc_kind: Option<i32>,
    /// RPC_FINAL_PACKET is 0.
    #[prost(int32, optional, tag = "2")]
    pub rpc_op: Option<i32>,
    #[prost(sint32, required, tag = "3")]
    pub call_id: i32,
    #[prost(bytes = "vec", required, tag = "4")]
    pub client_id: Vec<u8>,
    #[prost(sint32, optional, tag = "5")]
    pub retry_count: Option<i32>,
}

/// Method and protocol of a call.
#[derive(Clone, PartialEq, Message)]
pub struct RequestHeader {
    #[prost(string, required, tag = "1")]
    pub method: String,
    #[prost(string, required, tag = "2")]
    pub protocol: String,
    #[prost(uint64, required, tag = "3")]
    pub version: u64,
}

#[derive(Clone, PartialEq, Message)]
pub struct UserInformation {
    #[prost(string, optional, tag = "1")]
    pub effective_user: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub struct IpcConnectionContext {
    #[prost(message, optional, tag = "2")]
    pub user: Option<UserInformation>,
    #[prost(string, optional, tag = "3")]
    pub protocol: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub struct RpcResponseHeader {
    #[prost(uint32, required, tag = "1")]
    pub call_id: u32,
    /// 0 success, 1 error, 2 fatal (the server closes the connection).
    #[prost(int32, required, tag = "2")]
    pub status: i32,
    #[prost(string, optional, tag = "4")]
    pub exception: Option<String>,
    #[prost(string, optional, tag = "5")]
    pub error: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub struct FsPermission {
    #[prost(uint32, required, tag = "1")]
    pub perm: u32,
}

#[derive(Clone, PartialEq, Message)]
pub struct Empty {}

/// Argument of getFileInfo, and with the same field of getContentSummary.
#[derive(Clone, PartialEq, Message)]
pub struct Path {
    #[prost(string, required, tag = "1")]
    pub src: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct GetListing {
    #[prost(string, required, tag = "1")]
    pub src: String,
    #[prost(bytes = "vec", required, tag = "2")]
    pub start_after: Vec<u8>,
    #[prost(bool, required, tag = "3")]
    pub need_location: bool,
}

#[derive(Clone, PartialEq, Message)]
pub struct GetBlockLocations {
    #[prost(string, required, tag = "1")]
    pub src: String,
    #[prost(uint64, required, tag = "2")]
    pub offset: u64,
    #[prost(uint64, required, tag = "3")]
    pub length: u64,
}

#[derive(Clone, PartialEq, Message)]
pub struct Mkdirs {
    #[prost(string, required, tag = "1")]
    pub src: String,
    #[prost(message, required, tag = "2")]
    pub masked: FsPermission,
    #[prost(bool, required, tag = "3")]
    pub create_parent: bool,
}

#[derive(Clone, PartialEq, Message)]
pub struct Create {
    #[prost(string, required, tag = "1")]
    pub src: String,
    #[prost(message, required, tag = "2")]
    pub masked: FsPermission,
    #[prost(string, required, tag = "3")]
    pub client: String,
    /// CREATE is 1, OVERWRITE 2.
    #[prost(uint32, required, tag = "4")]
    pub flags: u32,
    #[prost(bool, required, tag = "5")]
    pub create_parent: bool,
    #[prost(uint32, required, tag = "6")]
    pub replication: u32,
    #[prost(uint64, required, tag = "7")]
    pub block_bytes: u64,
}

#[derive(Clone, PartialEq, Message)]
pub struct ExtendedBlock {
    #[prost(string, required, tag = "1")]
    pub pool: String,
    #[prost(uint64, required, tag = "2")]
    pub id: u64,
    #[prost(uint64, required, tag = "3")]
    pub generation: u64,
    #[prost(uint64, optional, tag = "4")]
    pub bytes: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub struct AddBlock {
    #[prost(string, required, tag = "1")]
    pub src: String,
    #[prost(string, required, tag = "2")]
    pub client: String,
    #[prost(message, optional, tag = "3")]
    pub previous: Option<ExtendedBlock>,
    #[prost(uint64, optional, tag = "5")]
    pub file_id: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Complete {
    #[prost(string, required, tag = "1")]
    pub src: String,
    #[prost(string, required, tag = "2")]
    pub client: String,
    #[prost(message, optional, tag = "3")]
    pub last: Option<ExtendedBlock>,
    #[prost(uint64, optional, tag = "4")]
    pub file_id: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Rename {
    #[prost(string, required, tag = "1")]
    pub src: String,
    #[prost(string, required, tag = "2")]
    pub dst: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct Delete {
    #[prost(string, required, tag = "1")]
    pub src: String,
    #[prost(bool, required, tag = "2")]
    pub recursive: bool,
}

#[derive(Clone, PartialEq, Message)]
pub struct SetPermission {
    #[prost(string, required, tag = "1")]
    pub src: String,
    #[prost(message, required, tag = "2")]
    pub permission: FsPermission,
}

#[derive(Clone, PartialEq, Message)]
pub struct FileStatus {
    /// 1 a directory, 2 a file.
    #[prost(int32, optional, tag = "1")]
    pub kind: Option<i32>,
    #[prost(uint64, optional, tag = "13")]
    pub file_id: Option<u64>,
}

/// Result of getFileInfo and create.
#[derive(Clone, PartialEq, Message)]
pub struct FileStatusResponse {
    #[prost(message, optional, tag = "1")]
    pub status: Option<FileStatus>,
}

#[derive(Clone, PartialEq, Message)]
pub struct DatanodeInfo {
    #[prost(message, required, tag = "1")]
    pub id: DatanodeId,
}

#[derive(Clone, PartialEq, Message)]
pub struct LocatedBlock {
    #[prost(message, required, tag = "1")]
    pub block: ExtendedBlock,
    #[prost(message, repeated, tag = "3")]
    pub nodes: Vec<DatanodeInfo>,
}

#[derive(Clone, PartialEq, Message)]
pub struct AddBlockResponse {
    #[prost(message, required, tag = "1")]
    pub block: LocatedBlock,
}

/// Result of mkdirs, complete, rename and delete.
#[derive(Clone, PartialEq, Message)]
pub struct Done {
    #[prost(bool, required, tag = "1")]
    pub result: bool,
}
