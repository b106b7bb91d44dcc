//! Worker of one connection: one operation at a time, of one call or of several.

use yunti_base::Result;

use super::client::Client;
use super::history::History;
use super::names::{NameSpace, OwnFiles};
use super::recent::Batch;
use crate::call::latency::Latencies;
use crate::call::operation::{Call, Operation};
use crate::datanode::fleet::Pipeline;
use crate::datanode::node::Replica;
use crate::rpc::frame;
use crate::rpc::messages::{AddBlockResponse, Done, ExtendedBlock, FileStatusResponse};

/// Bytes of a block that a client writes.
const BLOCK_BYTES: u64 = 1 << 20;

/// An operation under way.
struct ActiveOperation {
    call: Call,
    /// Start of the call's latency: for the first call of an operation, its arrival.
    due_ns: u64,
    /// Number of the connection's file; 0 without one.
    number: u64,
    path: String,
    file_id: u64,
    has_block: bool,
    block: Option<ExtendedBlock>,
    is_kept: bool,
    /// Line for the history file, if the run has one.
    change: Option<String>,
}

impl Shared<'_> {
    fn fails(&mut self, busy: &ActiveOperation, error: String) {
        self.latencies.failed(busy.call);
        self.batch.failed();
        busy.record(self, false);
        if self.errors.iter().all(|(call, _)| *call != busy.call) {
            self.errors.push((busy.call, error));
        }
    }
}

impl ActiveOperation {
    /// Returns the result of a change: a successful response may still contain false.
    fn is_done(&self, response: &frame::Response) -> Result<bool> {
        if self.change.is_some() { Ok(response.result::<Done>()?.result) } else { Ok(true) }
    }

    fn record(&self, common: &Shared, is_known: bool) {
        if let (Some(history), Some(change)) = (common.history, &self.change) {
            history.add(is_known, change);
        }
    }
}

/// State of an operation after a response.
#[derive(Debug, PartialEq, Eq)]
pub enum NextStep {
    /// Another call follows.
    Continue,
    /// The same call follows a little later.
    Repeat,
    /// The operation is over.
    Finish,
}

/// State of one connection.
pub struct Worker {
    own: OwnFiles,
    client: Client,
    busy: Option<ActiveOperation>,
    is_odd: bool,
}

/// State that all workers of a driver share.
pub struct Shared<'a> {
    pub names: &'a NameSpace,
    pub rng: fastrand::Rng,
    pub latencies: Latencies,
    pub batch: Batch,
    /// Channel to the DataNodes; set if files have a block.
    pub pipeline: Option<Pipeline>,
    /// Start of the measured time.
    pub kept_from_ns: u64,
    /// History file, if the run has one.
    pub history: Option<&'a History>,
    /// First error of each kind of call.
    pub errors: Vec<(Call, String)>,
}

impl Worker {
    pub fn new(names: &NameSpace, number: usize) -> Worker {
        Worker { own: OwnFiles::of(names, number), client: Client::new(), busy: None, is_odd: false }
    }

    /// Writes the start of a connection.
    pub fn hello(&self, out: &mut Vec<u8>, user: &str) {
        self.client.hello(out, user);
    }

    pub fn is_busy(&self) -> bool {
        self.busy.is_some()
    }

    /// Counts a call without a response as failed when the connection breaks.
    pub fn give_up(&mut self, common: &mut Shared) {
        if let Some(busy) = self.busy.take() {
            common.latencies.failed(busy.call);
            common.batch.failed();
            busy.record(common, false);
        }
    }

    fn begin(&mut self, call: Call, due_ns: u64, number: u64, path: String) {
        self.busy = Some(ActiveOperation {
            call,
            due_ns,
            number,
            path,
            file_id: 0,
            has_block: false,
            block: None,
            is_kept: true,
            change: None,
        });
    }

    /// Records the change of the operation that has just begun.
    fn changes(&mut self, common: &Shared, change: impl FnOnce() -> String) {
        if let (Some(busy), Some(_)) = (&mut self.busy, common.history) {
            busy.change = Some(change());
        }
    }

    /// Writes the first call of an operation.
    pub fn start(&mut self, out: &mut Vec<u8>, common: &mut Shared, operation: Operation, due_ns: u64) {
        let (client, names) = (&mut self.client, common.names);
        let files = names.files.max(1);
        let call = match operation {
            Operation::Null => {
                client.null(out);
                Call::Null
            }
            Operation::GetFileInfo => {
                client.path(out, Call::GetFileInfo, names.file(common.rng.u64(..files)));
                Call::GetFileInfo
            }
            Operation::GetListing => {
                client.listing(out, names.directory(common.rng.u64(..names.directories().max(1))));
                Call::GetListing
            }
            Operation::GetBlockLocations => {
                client.locations(out, names.file(common.rng.u64(..files)));
                Call::GetBlockLocations
            }
            Operation::ContentSummary => {
                let directory = names.directory(common.rng.u64(..names.directories().max(1)));
                client.path(out, Call::ContentSummary, directory);
                Call::ContentSummary
            }
            Operation::SetPermission => {
                self.is_odd = !self.is_odd;
                let perm = if self.is_odd { 0o640 } else { 0o644 };
                client.set_permission(out, names.file(common.rng.u64(..files)), perm);
                Call::SetPermission
            }
            Operation::Mkdirs => {
                let (_, path) = self.own.fresh();
                client.mkdirs(out, format!("{path}d"));
                self.begin(Call::Mkdirs, due_ns, 0, String::new());
                return self.changes(common, || format!("mkdirs {path}d"));
            }
            Operation::Rename | Operation::Delete => match self.own.take(&mut common.rng) {
                // Without a file of its own the connection creates one, for the next operation.
                None => return self.create_own(out, common, due_ns),
                Some(path) if operation == Operation::Delete => {
                    client.delete(out, path.clone(), false);
                    self.begin(Call::Delete, due_ns, 0, String::new());
                    return self.changes(common, || format!("delete {path}"));
                }
                Some(path) => {
                    let (number, to) = self.own.fresh();
                    client.rename(out, path.clone(), to.clone());
                    let change = format!("rename {path} {to}");
                    self.begin(Call::Rename, due_ns, number, to);
                    return self.changes(common, || change);
                }
            },
            Operation::Create => return self.create_own(out, common, due_ns),
        };
        self.begin(call, due_ns, 0, String::new());
    }

    fn create_own(&mut self, out: &mut Vec<u8>, common: &Shared, due_ns: u64) {
        let (number, path) = self.own.fresh();
        self.client.create(out, path.clone());
        let change = format!("create {path}");
        self.begin(Call::Create, due_ns, number, path);
        self.changes(common, || change);
        if let Some(busy) = &mut self.busy {
            busy.has_block = common.pipeline.is_some();
        }
    }

    /// Writes the call that creates a file to read, or a directory.
    pub fn make(&mut self, out: &mut Vec<u8>, common: &Shared, path: String, is_file: bool, now_ns: u64) {
        if is_file {
            self.client.create(out, path.clone());
        } else {
            self.client.mkdirs(out, path.clone());
        }
        self.begin(if is_file { Call::Create } else { Call::Mkdirs }, now_ns, 0, path);
        if let Some(busy) = &mut self.busy {
            busy.is_kept = false;
            busy.has_block = is_file && common.pipeline.is_some();
        }
    }

    /// Repeats `complete`, as stock's client does.
    pub fn repeat_complete(&mut self, out: &mut Vec<u8>, now_ns: u64) {
        if let Some(busy) = &mut self.busy {
            busy.due_ns = now_ns;
            self.client.complete(out, busy.path.clone(), busy.file_id, busy.block.clone());
        }
    }

    /// Handles a response, and writes the next call of the operation to `out`.
    ///
    /// # Errors
    /// The response is not Hadoop RPC, or the server ends the connection with an exception.
    pub fn handle_response(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
        common: &mut Shared,
        now_ns: u64,
    ) -> Result<NextStep> {
        let response = frame::response(bytes)?;
        let Some(mut busy) = self.busy.take() else { return Ok(NextStep::Finish) };
        if response.header.status != 0 {
            let exception = response.header.exception.as_deref().unwrap_or("an unnamed error");
            let message = response.header.error.as_deref().unwrap_or_default();
            let error = crate::call::operation::refused(busy.call, exception, message);
            // Fatal: the server closes this connection, and would close each further one.
            if response.header.status == 2 {
                return Err(error);
            }
            common.fails(&busy, error.to_string());
            return Ok(NextStep::Finish);
        }
        common.batch.add(now_ns.saturating_sub(busy.due_ns));
        if now_ns >= common.kept_from_ns && busy.is_kept {
            common.latencies.add(busy.call, now_ns.saturating_sub(busy.due_ns));
        }
        match busy.call {
            Call::Create => {
                let status = response.result::<FileStatusResponse>()?.status;
                busy.file_id = status.and_then(|status| status.file_id).unwrap_or(0);
                if busy.has_block {
                    self.client.add_block(out, busy.path.clone(), busy.file_id);
                    busy.call = Call::AddBlock;
                } else {
                    self.client.complete(out, busy.path.clone(), busy.file_id, None);
                    busy.call = Call::Complete;
                }
            }
            Call::AddBlock => {
                let located = response.result::<AddBlockResponse>()?.block;
                let block = ExtendedBlock { bytes: Some(BLOCK_BYTES), ..located.block };
                let replica = Replica { id: block.id, generation: block.generation, bytes: BLOCK_BYTES };
                let is_ours = |pipeline: &Pipeline| {
                    located.nodes.iter().filter(|node| pipeline.write(node.id.transfer_port, replica)).count() > 0
                };
                if !common.pipeline.as_ref().is_some_and(is_ours) {
                    let what =
                        "addBlock: the NameNode chose a DataNode of another load; wait until it is declared dead";
                    common.fails(&busy, what.to_owned());
                    return Ok(NextStep::Finish);
                }
                self.client.complete(out, busy.path.clone(), busy.file_id, Some(block.clone()));
                busy.block = Some(block);
                busy.call = Call::Complete;
            }
            // The DataNode has not reported the last block yet.
            Call::Complete if !response.result::<Done>()?.result => {
                self.busy = Some(busy);
                return Ok(NextStep::Repeat);
            }
            Call::Complete | Call::Rename if busy.number > 0 => {
                self.own.is_there(busy.number);
                busy.record(common, busy.is_done(&response)?);
                return Ok(NextStep::Finish);
            }
            _ => {
                busy.record(common, busy.is_done(&response)?);
                return Ok(NextStep::Finish);
            }
        }
        busy.due_ns = now_ns;
        self.busy = Some(busy);
        Ok(NextStep::Continue)
    }
}
