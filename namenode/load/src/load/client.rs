//! Client of HDFS: the calls of one connection, encoded.

use prost::Message;

use crate::call::operation::{CALLS, Call};
use crate::rpc::frame::{self, CLIENT_PROTOCOL, ClientId};
use crate::rpc::messages as message;

/// Permissions of new directories; files have 0644.
const OF_DIRECTORIES: message::FsPermission = message::FsPermission { perm: 0o755 };
const OF_FILES: message::FsPermission = message::FsPermission { perm: 0o644 };
const REPLICATION: u32 = 1;
const BLOCK_BYTES: u64 = 128 << 20;
/// Flag `CREATE` of CreateFlagProto.
const CREATE: u32 = 1;

/// A client that encodes its calls.
///
/// The NameNode's retry cache keeps the ids of client and call for ten minutes, to detect a repeated call. So each
/// client of each run has a random id.
pub struct Client {
    id: ClientId,
    /// Name of the lease holder.
    name: String,
    next: i32,
    methods: Vec<Vec<u8>>,
}

impl Client {
    pub fn new() -> Client {
        Client {
            id: std::array::from_fn(|_| fastrand::u8(..)),
            name: format!("yunti-nn_{:016x}", fastrand::u64(..)),
            next: 0,
            methods: CALLS.iter().map(|(_, name)| frame::method(name, CLIENT_PROTOCOL)).collect(),
        }
    }

    /// Writes the start of a connection.
    pub fn hello(&self, out: &mut Vec<u8>, user: &str) {
        frame::hello(out, &self.id, user, CLIENT_PROTOCOL);
    }

    fn put(&mut self, out: &mut Vec<u8>, call: Call, argument: &impl Message) {
        self.next = self.next.checked_add(1).unwrap_or(0);
        frame::call(out, self.next, &self.id, &self.methods[call as usize], argument);
    }

    pub fn null(&mut self, out: &mut Vec<u8>) {
        self.put(out, Call::Null, &message::Empty {});
    }

    /// Writes getFileInfo or getContentSummary.
    pub fn path(&mut self, out: &mut Vec<u8>, call: Call, src: String) {
        self.put(out, call, &message::Path { src });
    }

    pub fn listing(&mut self, out: &mut Vec<u8>, src: String) {
        let argument = message::GetListing { src, start_after: Vec::new(), need_location: false };
        self.put(out, Call::GetListing, &argument);
    }

    pub fn locations(&mut self, out: &mut Vec<u8>, src: String) {
        let argument = message::GetBlockLocations { src, offset: 0, length: 10 * BLOCK_BYTES };
        self.put(out, Call::GetBlockLocations, &argument);
    }

    pub fn mkdirs(&mut self, out: &mut Vec<u8>, src: String) {
        let argument = message::Mkdirs { src, masked: OF_DIRECTORIES, create_parent: true };
        self.put(out, Call::Mkdirs, &argument);
    }

    pub fn create(&mut self, out: &mut Vec<u8>, src: String) {
        let argument = message::Create {
            src,
            masked: OF_FILES,
            client: self.name.clone(),
            flags: CREATE,
            create_parent: true,
            replication: REPLICATION,
            block_bytes: BLOCK_BYTES,
        };
        self.put(out, Call::Create, &argument);
    }

    pub fn add_block(&mut self, out: &mut Vec<u8>, src: String, file_id: u64) {
        let argument = message::AddBlock { src, client: self.name.clone(), previous: None, file_id: Some(file_id) };
        self.put(out, Call::AddBlock, &argument);
    }

    pub fn complete(&mut self, out: &mut Vec<u8>, src: String, file_id: u64, last: Option<message::ExtendedBlock>) {
        let argument = message::Complete { src, client: self.name.clone(), last, file_id: Some(file_id) };
        self.put(out, Call::Complete, &argument);
    }

    pub fn rename(&mut self, out: &mut Vec<u8>, src: String, dst: String) {
        self.put(out, Call::Rename, &message::Rename { src, dst });
    }

    pub fn delete(&mut self, out: &mut Vec<u8>, src: String, recursive: bool) {
        self.put(out, Call::Delete, &message::Delete { src, recursive });
    }

    pub fn set_permission(&mut self, out: &mut Vec<u8>, src: String, perm: u32) {
        let argument = message::SetPermission { src, permission: message::FsPermission { perm } };
        self.put(out, Call::SetPermission, &argument);
    }
}
