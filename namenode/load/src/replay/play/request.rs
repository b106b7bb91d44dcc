//! Requests of a replay, encoded for one connection.

use prost::Message;

use crate::replay::command::{COMMANDS, Command};
use crate::replay::log::audit_log::Event;
use crate::replay::tree::name_space::{NameTree, Node};
use crate::rpc::frame::{self, CLIENT_PROTOCOL, ClientId};
use crate::rpc::messages as message;
use crate::rpc::replay_messages as more;

const BLOCK_BYTES: u64 = 128 << 20;
/// Flags of CreateFlagProto.
const CREATE: u32 = 1;
const OVERWRITE: u32 = 2;
const APPEND: u32 = 4;
/// Modes of calls whose line has none.
const DIRECTORY_MODE: u16 = 0o755;
const FILE_MODE: u16 = 0o644;
/// Replication of setReplication, which the log does not have, and of new files.
const REPLICATION: u32 = 3;
/// FsActionProto READ, the action of checkAccess, which the log does not have.
const READ: i32 = 4;

/// A request with its arguments; paths are those on the NameNode.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// A command whose only argument is a path.
    Path(Command, String),
    Listing(String),
    Locations(String),
    Create {
        path: String,
        mode: u16,
        is_overwriting: bool,
    },
    Append(String),
    Complete(String),
    Mkdirs {
        path: String,
        mode: u16,
    },
    Delete(String),
    Rename {
        src: String,
        dst: String,
        is_overwriting: bool,
    },
    SetPermission {
        path: String,
        mode: u16,
    },
    SetOwner {
        path: String,
        owner: Option<String>,
        group: Option<String>,
    },
    SetTimes {
        path: String,
        mtime_ms: u64,
        atime_ms: u64,
    },
    SetReplication(String),
    CheckAccess(String),
}

/// Returns the requests of an event.
///
/// @param root directory on the NameNode that stands for the root of the log
/// @param now_ms time for setTimes, which the log does not have
pub fn of_event(event: &Event, root: &str, now_ms: u64) -> Vec<Request> {
    let path = format!("{root}{}", event.src);
    let mode = event.status.as_ref().map(|(.., mode)| *mode);
    let status = event.status.as_ref();
    match event.command {
        Command::ListStatus => vec![Request::Listing(path)],
        Command::Open => vec![Request::Locations(path)],
        Command::Create => {
            let mode = mode.unwrap_or(FILE_MODE);
            // The log does not have the flag; an allowed create of an existing file had it.
            vec![Request::Create { path: path.clone(), mode, is_overwriting: true }, Request::Complete(path)]
        }
        Command::Append => vec![Request::Append(path.clone()), Request::Complete(path)],
        Command::Mkdirs => vec![Request::Mkdirs { path, mode: mode.unwrap_or(DIRECTORY_MODE) }],
        Command::Delete => vec![Request::Delete(path)],
        Command::Rename => vec![Request::Rename {
            src: path,
            dst: format!("{root}{}", event.dst.as_deref().unwrap_or_default()),
            is_overwriting: event.is_overwriting,
        }],
        Command::SetPermission => vec![Request::SetPermission { path, mode: mode.unwrap_or(DIRECTORY_MODE) }],
        Command::SetOwner => vec![Request::SetOwner {
            path,
            owner: status.map(|(owner, ..)| owner.clone()),
            group: status.map(|(_, group, _)| group.clone()),
        }],
        Command::SetTimes => vec![Request::SetTimes { path, mtime_ms: now_ms, atime_ms: now_ms }],
        Command::SetReplication => vec![Request::SetReplication(path)],
        Command::CheckAccess => vec![Request::CheckAccess(path)],
        command => vec![Request::Path(command, path)],
    }
}

/// Returns the requests that create a node; its times follow last, since children change them.
pub fn of_node(tree: &NameTree, node: &Node, path: String) -> Vec<Request> {
    let (owner, group) = (tree.name(node.owner).map(str::to_owned), tree.name(node.group).map(str::to_owned));
    let mut all = if node.is_directory {
        vec![Request::Mkdirs { path: path.clone(), mode: node.mode }]
    } else {
        let create = Request::Create { path: path.clone(), mode: node.mode, is_overwriting: true };
        vec![create, Request::Complete(path.clone())]
    };
    if owner.is_some() || group.is_some() {
        all.push(Request::SetOwner { path: path.clone(), owner, group });
    }
    if !node.is_directory && (node.mtime_ms > 0 || node.atime_ms > 0) {
        all.push(Request::SetTimes { path, mtime_ms: node.mtime_ms, atime_ms: node.atime_ms });
    }
    all
}

/// Encoder of one connection's requests.
pub struct Encoder {
    id: ClientId,
    /// Name of the lease holder.
    name: String,
    next: i32,
}

/// Encoded names of the methods.
pub struct Methods {
    of: Vec<Vec<u8>>,
    complete: Vec<u8>,
    rename: Vec<u8>,
}

impl Methods {
    pub fn new() -> Methods {
        let method = |name: &str| frame::method(name, CLIENT_PROTOCOL);
        Methods {
            of: COMMANDS.iter().map(|(.., name)| method(name)).collect(),
            complete: method("complete"),
            rename: method("rename2"),
        }
    }
}

impl Encoder {
    pub fn new() -> Encoder {
        Encoder {
            id: std::array::from_fn(|_| fastrand::u8(..)),
            name: format!("yunti-nn_{:016x}", fastrand::u64(..)),
            next: 0,
        }
    }

    /// Writes the start of a connection.
    pub fn hello(&self, out: &mut Vec<u8>, user: &str) {
        frame::hello(out, &self.id, user, CLIENT_PROTOCOL);
    }

    fn put(&mut self, out: &mut Vec<u8>, method: &[u8], argument: &impl Message) {
        self.next = self.next.checked_add(1).unwrap_or(0);
        frame::call(out, self.next, &self.id, method, argument);
    }

    /// Writes a request.
    pub fn write(&mut self, out: &mut Vec<u8>, methods: &Methods, request: &Request) {
        let of = |command: Command| &methods.of[command as usize][..];
        let client = self.name.clone();
        match request.clone() {
            Request::Path(command, src) => self.put(out, of(command), &message::Path { src }),
            Request::Listing(src) => {
                let argument = message::GetListing { src, start_after: Vec::new(), need_location: false };
                self.put(out, of(Command::ListStatus), &argument);
            }
            Request::Locations(src) => {
                let argument = message::GetBlockLocations { src, offset: 0, length: 10 * BLOCK_BYTES };
                self.put(out, of(Command::Open), &argument);
            }
            Request::Create { path, mode, is_overwriting } => {
                let argument = message::Create {
                    src: path,
                    masked: permission(mode),
                    client,
                    flags: if is_overwriting { CREATE | OVERWRITE } else { CREATE },
                    create_parent: true,
                    replication: REPLICATION,
                    block_bytes: BLOCK_BYTES,
                };
                self.put(out, of(Command::Create), &argument);
            }
            Request::Append(src) => {
                self.put(out, of(Command::Append), &more::Append { src, client, flag: Some(APPEND) });
            }
            Request::Complete(src) => {
                let argument = message::Complete { src, client, last: None, file_id: None };
                self.put(out, &methods.complete, &argument);
            }
            Request::Mkdirs { path, mode } => {
                let argument = message::Mkdirs { src: path, masked: permission(mode), create_parent: true };
                self.put(out, of(Command::Mkdirs), &argument);
            }
            Request::Delete(src) => {
                self.put(out, of(Command::Delete), &message::Delete { src, recursive: true });
            }
            Request::Rename { src, dst, is_overwriting: true } => {
                self.put(out, &methods.rename, &more::Rename2 { src, dst, overwrite: true });
            }
            Request::Rename { src, dst, is_overwriting: false } => {
                self.put(out, of(Command::Rename), &message::Rename { src, dst });
            }
            Request::SetPermission { path, mode } => {
                let argument = message::SetPermission { src: path, permission: permission(mode) };
                self.put(out, of(Command::SetPermission), &argument);
            }
            Request::SetOwner { path, owner, group } => {
                self.put(out, of(Command::SetOwner), &more::SetOwner { src: path, owner, group });
            }
            Request::SetTimes { path, mtime_ms, atime_ms } => {
                self.put(out, of(Command::SetTimes), &more::SetTimes { src: path, mtime_ms, atime_ms });
            }
            Request::SetReplication(src) => {
                let argument = more::SetReplication { src, replication: REPLICATION };
                self.put(out, of(Command::SetReplication), &argument);
            }
            Request::CheckAccess(path) => {
                self.put(out, of(Command::CheckAccess), &more::CheckAccess { path, mode: READ });
            }
        }
    }
}

fn permission(mode: u16) -> message::FsPermission {
    message::FsPermission { perm: u32::from(mode) }
}
