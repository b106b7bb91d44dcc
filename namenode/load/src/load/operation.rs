//! What a NameNode can be asked for, and how it is asked.

use yunti_base::{Code, Error};

/// What a mix is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// A call that takes no lock and reads nothing: getServerDefaults.
    Null,
    GetFileInfo,
    GetListing,
    GetBlockLocations,
    ContentSummary,
    Mkdirs,
    /// create, addBlock (where there are DataNodes), complete.
    Create,
    Rename,
    Delete,
    SetPermission,
}

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

/// A call of the protocol: what is measured.
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
    // Of DataNodes.
    VersionRequest,
    RegisterDatanode,
    SendHeartbeat,
    BlockReport,
    BlockReceivedAndDeleted,
}

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

/// What stock calls an exception without its package: `FileNotFoundException`.
pub fn short_name(exception: &str) -> &str {
    exception.rsplit(['.', '$']).next().unwrap_or(exception)
}

/// An error of the server's, where there is no going on.
pub fn refused(call: Call, exception: &str, message: &str) -> Error {
    let first = message.lines().next().unwrap_or_default();
    // Of a server with hadoop.security.authentication=kerberos; behind it, what it takes.
    if first.contains("SIMPLE authentication is not enabled") {
        let what = format!("the NameNode wants SASL (Kerberos, tokens), which yunti nn does not speak: {first}");
        return Error::new(Code::Input, what).hint("load one of hadoop.security.authentication=simple");
    }
    Error::new(Code::Input, format!("{}: {}: {first}", call.name(), short_name(exception)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_have_their_own_names() {
        for (n, (call, _)) in CALLS.iter().enumerate() {
            assert_eq!(*call as usize, n);
        }
        assert_eq!(short_name("org.apache.hadoop.ipc.StandbyException"), "StandbyException");
    }
}
