//! A connection and what it is at: one operation at a time, of one call or of several.

use yunti_base::Result;

use super::client::Client;
use super::history::History;
use super::latency::Latencies;
use super::names::{NameSpace, Own};
use super::operation::{Call, Operation};
use super::recent::Batch;
use crate::datanode::fleet::Pipeline;
use crate::datanode::node::Held;
use crate::rpc::frame;
use crate::rpc::messages::{AddBlockAnswer, Done, ExtendedBlock, FileStatusAnswer};

/// Of a block that a client writes.
const BLOCK_BYTES: u64 = 1 << 20;

/// An operation that has begun.
struct Busy {
    call: Call,
    /// When it should have been sent: for the first call of an operation, the moment it was due.
    due_ns: u64,
    /// Of its own file.
    number: u64,
    path: String,
    file_id: u64,
    has_block: bool,
    block: Option<ExtendedBlock>,
    is_kept: bool,
    /// What it changes, where that is written down.
    change: Option<String>,
}

impl Common<'_> {
    fn fails(&mut self, busy: &Busy, error: String) {
        self.latencies.failed(busy.call);
        self.batch.failed();
        busy.is_told(self, false);
        if self.errors.iter().all(|(call, _)| *call != busy.call) {
            self.errors.push((busy.call, error));
        }
    }
}

impl Busy {
    /// An answer that is no error may still say no.
    fn is_done(&self, answer: &frame::Answer) -> Result<bool> {
        if self.change.is_some() { Ok(answer.result::<Done>()?.result) } else { Ok(true) }
    }

    fn is_told(&self, common: &Common, is_known: bool) {
        if let (Some(history), Some(change)) = (common.history, &self.change) {
            history.add(is_known, change);
        }
    }
}

/// What became of an answer.
#[derive(Debug, PartialEq, Eq)]
pub enum Then {
    /// The operation goes on by a further call.
    GoesOn,
    /// It goes on by the same call again, a little later.
    Waits,
    /// It is over.
    Over,
}

pub struct Worker {
    own: Own,
    client: Client,
    busy: Option<Busy>,
    is_odd: bool,
}

/// What all workers of a driver have in common.
pub struct Common<'a> {
    pub names: &'a NameSpace,
    pub rng: fastrand::Rng,
    pub latencies: Latencies,
    pub batch: Batch,
    /// Whether files get a block: there are DataNodes.
    pub pipeline: Option<Pipeline>,
    /// Times before this are not kept: warm-up.
    pub kept_from_ns: u64,
    /// Where changes are written down.
    pub history: Option<&'a History>,
    /// The first error of each call.
    pub errors: Vec<(Call, String)>,
}

impl Worker {
    pub fn new(names: &NameSpace, number: usize) -> Worker {
        Worker { own: Own::of(names, number), client: Client::new(), busy: None, is_odd: false }
    }

    /// What a connection of its own begins with.
    pub fn hello(&self, out: &mut Vec<u8>, user: &str) {
        self.client.hello(out, user);
    }

    pub fn is_busy(&self) -> bool {
        self.busy.is_some()
    }

    /// What was asked for and never answered, when the connection is lost.
    pub fn give_up(&mut self, common: &mut Common) {
        if let Some(busy) = self.busy.take() {
            common.latencies.failed(busy.call);
            common.batch.failed();
            busy.is_told(common, false);
        }
    }

    fn begin(&mut self, call: Call, due_ns: u64, number: u64, path: String) {
        self.busy = Some(Busy {
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

    /// What the operation that has just begun changes.
    fn changes(&mut self, common: &Common, change: impl FnOnce() -> String) {
        if let (Some(busy), Some(_)) = (&mut self.busy, common.history) {
            busy.change = Some(change());
        }
    }

    /// Writes the first call of an operation.
    pub fn start(&mut self, out: &mut Vec<u8>, common: &mut Common, operation: Operation, due_ns: u64) {
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
                // Nothing of its own is there any more: it makes a file, which the next one finds.
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

    fn create_own(&mut self, out: &mut Vec<u8>, common: &Common, due_ns: u64) {
        let (number, path) = self.own.fresh();
        self.client.create(out, path.clone());
        let change = format!("create {path}");
        self.begin(Call::Create, due_ns, number, path);
        self.changes(common, || change);
        if let Some(busy) = &mut self.busy {
            busy.has_block = common.pipeline.is_some();
        }
    }

    /// Writes the call that makes a file of the name space, or a directory.
    pub fn make(&mut self, out: &mut Vec<u8>, common: &Common, path: String, is_file: bool, now_ns: u64) {
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

    /// Asks once more whether a file is complete, as stock's client does.
    pub fn ask_again(&mut self, out: &mut Vec<u8>, now_ns: u64) {
        if let Some(busy) = &mut self.busy {
            busy.due_ns = now_ns;
            self.client.complete(out, busy.path.clone(), busy.file_id, busy.block.clone());
        }
    }

    /// Takes an answer. What it makes necessary is written to `out`.
    ///
    /// # Errors
    /// The other side speaks no Hadoop RPC, or ends the connection with a reason.
    pub fn answered(&mut self, bytes: &[u8], out: &mut Vec<u8>, common: &mut Common, now_ns: u64) -> Result<Then> {
        let answer = frame::answer(bytes)?;
        let Some(mut busy) = self.busy.take() else { return Ok(Then::Over) };
        if answer.header.status != 0 {
            let exception = answer.header.exception.as_deref().unwrap_or("an error without a name");
            let message = answer.header.error.as_deref().unwrap_or_default();
            let error = super::operation::refused(busy.call, exception, message);
            // Fatal: the server ends the connection, and so would each that follows.
            if answer.header.status == 2 {
                return Err(error);
            }
            common.fails(&busy, error.to_string());
            return Ok(Then::Over);
        }
        common.batch.add(now_ns.saturating_sub(busy.due_ns));
        if now_ns >= common.kept_from_ns && busy.is_kept {
            common.latencies.add(busy.call, now_ns.saturating_sub(busy.due_ns));
        }
        match busy.call {
            Call::Create => {
                let status = answer.result::<FileStatusAnswer>()?.status;
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
                let located = answer.result::<AddBlockAnswer>()?.block;
                let block = ExtendedBlock { bytes: Some(BLOCK_BYTES), ..located.block };
                let held = Held { id: block.id, generation: block.generation, bytes: BLOCK_BYTES };
                let is_ours = |pipeline: &Pipeline| {
                    located.nodes.iter().filter(|node| pipeline.write(node.id.transfer_port, held)).count() > 0
                };
                if !common.pipeline.as_ref().is_some_and(is_ours) {
                    let what =
                        "addBlock: a DataNode of somebody else, or of a load before, which is not known to be dead yet";
                    common.fails(&busy, what.to_owned());
                    return Ok(Then::Over);
                }
                self.client.complete(out, busy.path.clone(), busy.file_id, Some(block.clone()));
                busy.block = Some(block);
                busy.call = Call::Complete;
            }
            // The last block is not reported yet.
            Call::Complete if !answer.result::<Done>()?.result => {
                self.busy = Some(busy);
                return Ok(Then::Waits);
            }
            Call::Complete | Call::Rename if busy.number > 0 => {
                self.own.is_there(busy.number);
                busy.is_told(common, busy.is_done(&answer)?);
                return Ok(Then::Over);
            }
            _ => {
                busy.is_told(common, busy.is_done(&answer)?);
                return Ok(Then::Over);
            }
        }
        busy.due_ns = now_ns;
        self.busy = Some(busy);
        Ok(Then::GoesOn)
    }
}
