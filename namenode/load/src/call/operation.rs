//! Operations of a mix, and the RPC calls that they consist of.

use yunti_base::{Code, Error};

/// An operation of a mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// getServerDefaults: takes no lock and reads nothing.
    Null,
    GetFileInfo,
    GetListing,
    GetBlockLocations,
    ContentSummary,
    Mkdirs,
    /// create, addBlock (with DataNodes), complete.
    Create,
    Rename,
    Delete,
    SetPermission,
}

/// Operations and their names in a mix.
pub const OPERATIONS: [(Operation, &str); 10] = [
    (Operation::Null, "null"),
    (Operation::GetFileInfo, "getFileInfo"),
    (Operation::GetListing, "getListing"),
    (Operation::GetBlockLocations, "getBlockLocations"),
    (Operation::ContentSummary, "contentSummary"),
    (Operation::Mkdirs, "mkdirs"),
    (Operation::Create, "create"),
    (Operation::Rename, "rename"),
    (Operation::Delete, "delete"),
    (Operation::SetPermission, "setPermission"),
];

/// A call of the protocol, the unit of latencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Call {
    Null,
    GetFileInfo,
    GetListing,
    GetBlockLocations,
    ContentSummary,
    Mkdirs,
    Create,
    AddBlock,
    Complete,
    Rename,
    Delete,
    SetPermission,
    // Calls of DataNodes.
    VersionRequest,
    RegisterDatanode,
    SendHeartbeat,
    BlockReport,
    BlockReceivedAndDeleted,
}

/// Calls and their method names, in the order of [`Call`].
pub const CALLS: [(Call, &str); 17] = [
    (Call::Null, "getServerDefaults"),
    (Call::GetFileInfo, "getFileInfo"),
    (Call::GetListing, "getListing"),
    (Call::GetBlockLocations, "getBlockLocations"),
    (Call::ContentSummary, "getContentSummary"),
    (Call::Mkdirs, "mkdirs"),
    (Call::Create, "create"),
    (Call::AddBlock, "addBlock"),
    (Call::Complete, "complete"),
    (Call::Rename, "rename"),
    (Call::Delete, "delete"),
    (Call::SetPermission, "setPermission"),
    (Call::VersionRequest, "versionRequest"),
    (Call::RegisterDatanode, "registerDatanode"),
    (Call::SendHeartbeat, "sendHeartbeat"),
    (Call::BlockReport, "blockReport"),
    (Call::BlockReceivedAndDeleted, "blockReceivedAndDeleted"),
];

impl Call {
    pub fn name(self) -> &'static str {
        CALLS[self as usize].1
    }
}

/// Returns an exception's name without its package: `FileNotFoundException`.
pub fn short_name(exception: &str) -> &str {
    exception.rsplit(['.', '$']).next().unwrap_or(exception)
}

/// Returns the error for an exception of the server.
pub fn refused(call: Call, exception: &str, message: &str) -> Error {
    let first = message.lines().next().unwrap_or_default();
    // A server with hadoop.security.authentication=kerberos sends this, followed by the methods that it accepts.
    if first.contains("SIMPLE authentication is not enabled") {
        let what = format!("the NameNode requires SASL (Kerberos, tokens), which yunti nn does not support: {first}");
        return Error::new(Code::Input, what).hint("load a NameNode with hadoop.security.authentication=simple");
    }
    Error::new(Code::Input, format!("{}: {}: {first}", call.name(), short_name(exception)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_in_order() {
        for (n, (call, _)) in CALLS.iter().enumerate() {
            assert_eq!(*call as usize, n);
        }
        assert_eq!(short_name("org.apache.hadoop.ipc.StandbyException"), "StandbyException");
    }
}
