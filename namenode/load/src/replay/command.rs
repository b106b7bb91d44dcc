//! Commands of the audit log, and the RPC methods that make their lines.

/// A command that can be replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Command {
    GetFileInfo,
    ListStatus,
    Open,
    Create,
    Append,
    Mkdirs,
    Delete,
    Rename,
    SetPermission,
    SetOwner,
    SetTimes,
    SetReplication,
    ContentSummary,
    QuotaUsage,
    GetEzForPath,
    GetAclStatus,
    GetXAttrs,
    ListXAttrs,
    GetStoragePolicy,
    GetErasureCodingPolicy,
    IsFileClosed,
    CheckAccess,
}

/// Commands with their names in the log and their methods, in the order of [`Command`].
pub const COMMANDS: [(Command, &str, &str); 22] = [
    (Command::GetFileInfo, "getfileinfo", "getFileInfo"),
    (Command::ListStatus, "listStatus", "getListing"),
    (Command::Open, "open", "getBlockLocations"),
    (Command::Create, "create", "create"),
    (Command::Append, "append", "append"),
    (Command::Mkdirs, "mkdirs", "mkdirs"),
    (Command::Delete, "delete", "delete"),
    (Command::Rename, "rename", "rename"),
    (Command::SetPermission, "setPermission", "setPermission"),
    (Command::SetOwner, "setOwner", "setOwner"),
    (Command::SetTimes, "setTimes", "setTimes"),
    (Command::SetReplication, "setReplication", "setReplication"),
    (Command::ContentSummary, "contentSummary", "getContentSummary"),
    (Command::QuotaUsage, "quotaUsage", "getQuotaUsage"),
    (Command::GetEzForPath, "getEZForPath", "getEZForPath"),
    (Command::GetAclStatus, "getAclStatus", "getAclStatus"),
    (Command::GetXAttrs, "getXAttrs", "getXAttrs"),
    (Command::ListXAttrs, "listXAttrs", "listXAttrs"),
    (Command::GetStoragePolicy, "getStoragePolicy", "getStoragePolicy"),
    (Command::GetErasureCodingPolicy, "getErasureCodingPolicy", "getErasureCodingPolicy"),
    (Command::IsFileClosed, "isFileClosed", "isFileClosed"),
    (Command::CheckAccess, "checkAccess", "checkAccess"),
];

impl Command {
    /// Returns the command of a name in the log; None if it is not replayed.
    pub fn of(name: &str) -> Option<Command> {
        COMMANDS.iter().find(|(_, known, _)| *known == name).map(|(command, ..)| *command)
    }

    /// Returns the name in the log.
    pub fn name(self) -> &'static str {
        COMMANDS[self as usize].1
    }

    /// Returns true if the command changes the name space.
    pub fn is_change(self) -> bool {
        use Command::*;
        matches!(
            self,
            Create | Append | Mkdirs | Delete | Rename | SetPermission | SetOwner | SetTimes | SetReplication
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_in_order() {
        for (n, (command, name, _)) in COMMANDS.iter().enumerate() {
            assert_eq!((*command as usize, Command::of(name)), (n, Some(*command)));
        }
        assert_eq!(Command::of("fsck"), None);
    }
}
