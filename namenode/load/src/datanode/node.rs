//! One DataNode: it registers, sends heartbeats, and sends full and incremental block reports.

use std::collections::HashMap;

use yunti_base::Result;

use crate::call::operation::{CALLS, Call};
use crate::rpc::datanode_messages as message;
use crate::rpc::frame::{self, ClientId};

pub const PROTOCOL: &str = "org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol";
/// Transfer port of the first DataNode; DataNodes at one address differ by this port.
pub const FIRST_PORT: u32 = 20_000;
const INFO_PORT: u32 = 9864;
const IPC_PORT: u32 = 9867;
const CAPACITY_BYTES: u64 = 16 << 40;

const RECEIVED: i32 = 2;
const DELETED: i32 = 3;
const BLOCK_COMMAND: i32 = 1;
const REGISTER_COMMAND: i32 = 5;
const INVALIDATE: i32 = 2;
/// Changes in one incremental report; stock has no bound, but a call has.
const CHANGES_MAX: usize = 1000;

/// A block on a DataNode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replica {
    pub id: u64,
    pub generation: u64,
    pub bytes: u64,
}

/// Encoded names of the methods, shared by all DataNodes.
pub struct Methods(Vec<Vec<u8>>);

impl Methods {
    pub fn new() -> Methods {
        Methods(CALLS.iter().map(|(_, name)| frame::method(name, PROTOCOL)).collect())
    }
}

/// State of one DataNode.
pub struct Node {
    client: ClientId,
    next: i32,
    uuid: String,
    storage: String,
    port: u32,
    /// Registration; None until the NameNode has sent its version.
    registration: Option<message::Registration>,
    pool: String,
    is_registered: bool,
    replicas: HashMap<u64, Replica>,
    /// Blocks that were received or deleted since the last report.
    changes: Vec<(Replica, i32)>,
    wants_report: bool,
    /// Lease for a full report; 0 without one.
    lease: u64,
    is_heartbeat_due: bool,
    /// Call without a response yet, and its start in nanoseconds.
    busy: Option<(Call, u64)>,
}

impl Node {
    /// Returns a DataNode that is not registered.
    ///
    /// @param number from 0, among all
    pub fn new(number: usize, run: u64) -> Node {
        let half = run & 0xffff_ffff_ffff;
        Node {
            client: std::array::from_fn(|_| fastrand::u8(..)),
            next: 0,
            uuid: format!("{number:08x}-0000-4000-8000-{half:012x}"),
            storage: format!("DS-{number:08x}-0000-4000-8000-{half:012x}"),
            port: FIRST_PORT + number as u32,
            registration: None,
            pool: String::new(),
            is_registered: false,
            replicas: HashMap::new(),
            changes: Vec::new(),
            wants_report: true,
            lease: 0,
            is_heartbeat_due: true,
            busy: None,
        }
    }

    /// Writes the start of a new connection.
    pub fn hello(&mut self, out: &mut Vec<u8>, user: &str) {
        self.busy = None;
        self.is_registered = false;
        frame::hello(out, &self.client, user, PROTOCOL);
    }

    /// Returns true once the NameNode has a registration and a full report.
    pub fn is_live(&self) -> bool {
        self.is_registered && !self.wants_report
    }

    /// Adds a block.
    pub fn receive(&mut self, block: Replica) {
        self.replicas.insert(block.id, block);
        self.changes.push((block, RECEIVED));
    }

    /// Schedules a heartbeat.
    pub fn is_due(&mut self) {
        self.is_heartbeat_due = true;
    }

    /// Schedules a full report, and a heartbeat to get its lease.
    pub fn wants_report(&mut self) {
        self.wants_report = true;
        self.is_heartbeat_due = true;
    }

    fn storage(&self) -> message::Storage {
        message::Storage { uuid: self.storage.clone(), state: Some(0), kind: Some(1) }
    }

    fn call(&mut self, out: &mut Vec<u8>, methods: &Methods, call: Call, argument: &impl prost::Message, now_ns: u64) {
        self.next = self.next.checked_add(1).unwrap_or(0);
        frame::call(out, self.next, &self.client, &methods.0[call as usize], argument);
        self.busy = Some((call, now_ns));
    }

    /// Writes the next call, unless one has no response yet.
    pub fn go_on(&mut self, out: &mut Vec<u8>, methods: &Methods, now_ns: u64) {
        if self.busy.is_some() {
            return;
        }
        let Some(registration) = self.registration.clone() else {
            let nothing = crate::rpc::messages::Empty {};
            return self.call(out, methods, Call::VersionRequest, &nothing, now_ns);
        };
        if !self.is_registered {
            let argument = message::Register { registration };
            return self.call(out, methods, Call::RegisterDatanode, &argument, now_ns);
        }
        if self.lease != 0 {
            let argument = self.report(registration);
            return self.call(out, methods, Call::BlockReport, &argument, now_ns);
        }
        if !self.changes.is_empty() {
            let argument = self.incremental(registration);
            return self.call(out, methods, Call::BlockReceivedAndDeleted, &argument, now_ns);
        }
        if self.is_heartbeat_due {
            self.is_heartbeat_due = false;
            let used = self.replicas.values().map(|block| block.bytes).sum();
            let report = message::StorageReport {
                uuid: self.storage.clone(),
                capacity: Some(CAPACITY_BYTES),
                used: Some(used),
                remaining: Some(CAPACITY_BYTES - used),
                storage: Some(self.storage()),
            };
            let argument =
                message::Heartbeat { registration, reports: vec![report], wants_report_lease: Some(self.wants_report) };
            self.call(out, methods, Call::SendHeartbeat, &argument, now_ns);
        }
    }

    fn report(&self, registration: message::Registration) -> message::BlockReport {
        let mut blocks = vec![self.replicas.len() as u64, 0];
        // Sorted by id, as in a DataNode's directories.
        let mut replicas: Vec<&Replica> = self.replicas.values().collect();
        replicas.sort_unstable_by_key(|block| block.id);
        replicas.iter().for_each(|block| blocks.extend([block.id, block.bytes, block.generation]));
        // Separator before blocks that are being written, of which there are none.
        blocks.extend([u64::MAX; 3]);
        message::BlockReport {
            registration,
            pool: self.pool.clone(),
            reports: vec![message::StorageBlocks { storage: self.storage(), blocks }],
            context: Some(message::ReportContext {
                calls: 1,
                call: 0,
                id: fastrand::i64(1..),
                lease: Some(self.lease),
            }),
        }
    }

    fn incremental(&mut self, registration: message::Registration) -> message::IncrementalReport {
        let rest = self.changes.split_off(self.changes.len().min(CHANGES_MAX));
        let of = |(replica, status): (Replica, i32)| message::ReceivedOrDeleted {
            block: message::Block { id: replica.id, generation: replica.generation, bytes: Some(replica.bytes) },
            status,
        };
        let blocks = std::mem::replace(&mut self.changes, rest).into_iter().map(of).collect();
        let changes = message::StorageChanges { uuid: self.storage.clone(), blocks, storage: Some(self.storage()) };
        message::IncrementalReport { registration, pool: self.pool.clone(), changes: vec![changes] }
    }

    /// Handles a response.
    ///
    /// @return the call, its nanoseconds, and its error
    /// # Errors
    /// The response is not Hadoop RPC, or the NameNode refuses this DataNode.
    pub fn handle_response(&mut self, bytes: &[u8], now_ns: u64) -> Result<Option<(Call, u64, Option<String>)>> {
        let response = frame::response(bytes)?;
        let Some((call, sent_ns)) = self.busy.take() else { return Ok(None) };
        if response.header.status != 0 {
            let exception = response.header.exception.as_deref().unwrap_or("an unnamed error");
            let message = response.header.error.as_deref().unwrap_or_default();
            let error = crate::call::operation::refused(call, exception, message);
            if matches!(call, Call::VersionRequest | Call::RegisterDatanode) || response.header.status == 2 {
                return Err(error.hint(
                    "give the machine a DNS name, or set dfs.namenode.datanode.registration.ip-hostname-check=false",
                ));
            }
            // The NameNode no longer knows this DataNode.
            self.is_registered = false;
            self.lease = 0;
            return Ok(Some((call, now_ns - sent_ns, Some(error.to_string()))));
        }
        match call {
            Call::VersionRequest => {
                let info = response.result::<message::VersionResponse>()?.info;
                self.pool = info.pool;
                self.registration = Some(message::Registration {
                    id: message::DatanodeId {
                        address: "127.0.0.1".to_owned(),
                        host: "localhost".to_owned(),
                        uuid: self.uuid.clone(),
                        transfer_port: self.port,
                        info_port: INFO_PORT,
                        ipc_port: IPC_PORT,
                    },
                    storage: info.storage,
                    keys: message::BlockKeys {
                        is_enabled: false,
                        update_interval: 0,
                        token_lifetime: 0,
                        current: message::BlockKey { id: 0, expires: 0 },
                    },
                    software_version: info.software_version,
                });
            }
            Call::RegisterDatanode => {
                self.is_registered = true;
                self.wants_report();
            }
            Call::SendHeartbeat => {
                let response = response.result::<message::HeartbeatResponse>()?;
                if self.wants_report {
                    self.lease = response.report_lease.unwrap_or(0);
                }
                response.commands.into_iter().for_each(|command| self.execute(command));
            }
            Call::BlockReport => {
                self.lease = 0;
                self.wants_report = false;
            }
            _ => {}
        }
        Ok(Some((call, now_ns - sent_ns, None)))
    }

    fn execute(&mut self, command: message::Command) {
        match (command.kind, command.blocks) {
            (REGISTER_COMMAND, _) => self.is_registered = false,
            (BLOCK_COMMAND, Some(blocks)) if blocks.action == INVALIDATE => {
                let gone: Vec<Replica> =
                    blocks.blocks.iter().filter_map(|block| self.replicas.remove(&block.id)).collect();
                self.changes.extend(gone.into_iter().map(|replica| (replica, DELETED)));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datanodes_have_distinct_ids() {
        let (one, other, of_another_run) = (Node::new(0, 1), Node::new(1, 1), Node::new(0, 2));
        assert_ne!(one.uuid, other.uuid);
        assert_ne!(one.uuid, of_another_run.uuid);
        assert_ne!(one.storage, of_another_run.storage);
        assert_ne!(one.port, other.port);
    }

    #[test]
    fn reports_a_deleted_block_once() {
        let mut node = Node::new(0, 1);
        node.receive(Replica { id: 7, generation: 1, bytes: 10 });
        node.changes.clear();
        let block = message::Block { id: 7, generation: 1, bytes: None };
        let command = message::BlockCommand { action: INVALIDATE, blocks: vec![block] };
        node.execute(message::Command { kind: BLOCK_COMMAND, blocks: Some(command.clone()) });
        node.execute(message::Command { kind: BLOCK_COMMAND, blocks: Some(command) });
        assert_eq!(node.changes, [(Replica { id: 7, generation: 1, bytes: 10 }, DELETED)]);
        assert!(node.replicas.is_empty());
    }
}
