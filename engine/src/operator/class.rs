//! Classes by name: what a library offers, built in or loaded, and how instances are made.

use std::sync::Arc;

use super::{Folder, KeyOrderer, Mapper, Partitioner, Reader, Reducer, TaskContext, Type, Writer};
use yunti_base::{Code, Error, Result};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    Mapper = 1,
    Reducer = 2,
    Combiner = 3,
    Folder = 4,
    Partitioner = 5,
    Reader = 6,
    Writer = 7,
    KeyOrder = 8,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Mapper => "mapper",
            Kind::Reducer => "reducer",
            Kind::Combiner => "combiner",
            Kind::Folder => "folder",
            Kind::Partitioner => "partitioner",
            Kind::Reader => "reader",
            Kind::Writer => "writer",
            Kind::KeyOrder => "key order",
        }
    }
}

/// What a class declares of itself (yt_class.flags).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Reducer: what it emits for a group depends on that group alone.
    pub pure: bool,
    /// Mapper: keys are slices of the batch, values have eight bytes.
    pub emits_refs: bool,
    /// Mapper: keys are slices of the batch, each value is the number 1.
    pub emits_one: bool,
    /// Mapper: wants whole spans of text, lines not marked.
    pub wants_span: bool,
    /// Key order: groups have a part of the key in common.
    pub groups: bool,
    /// Reader: finds records behind a cut, so that files may be cut.
    pub finds: bool,
    /// Writer: one instance writes a part from its beginning to its end.
    pub whole_part: bool,
}

#[derive(Clone, Debug)]
pub struct ClassInfo {
    pub name: String,
    pub kind: Kind,
    pub flags: Flags,
    /// What it emits.
    pub key_type: Type,
    pub value_type: Type,
    /// Reducer, combiner, folder: the values that it takes; `Type::None`: any.
    pub in_value_type: Type,
    /// A combiner or reducer that is a fold too: the engine may fold instead.
    pub is_fold: bool,
    /// It passes each record on as it is: the engine may leave the call out.
    pub is_identity: bool,
    /// A mapper that passes some records on: what it emits is what a job without a mapper has, whatever its types say.
    pub selects: bool,
}

impl ClassInfo {
    /// A class of which nothing is known but that its keys and values are bytes, which is what those take and give that say nothing else.
    pub fn of_bytes(name: impl Into<String>, kind: Kind) -> ClassInfo {
        ClassInfo {
            name: name.into(),
            kind,
            flags: Flags::default(),
            key_type: Type::Bytes,
            value_type: Type::Bytes,
            in_value_type: Type::None,
            is_fold: false,
            is_identity: false,
            selects: false,
        }
    }
}

pub trait Class: Send + Sync {
    fn info(&self) -> &ClassInfo;
    fn mapper(&self, _context: &Arc<TaskContext>) -> Result<Box<dyn Mapper>> {
        Err(self.not_a(Kind::Mapper))
    }
    /// Reducers and combiners.
    fn reducer(&self, _context: &Arc<TaskContext>) -> Result<Box<dyn Reducer>> {
        Err(self.not_a(Kind::Reducer))
    }
    fn folder(&self, _context: &Arc<TaskContext>) -> Result<Box<dyn Folder>> {
        Err(self.not_a(Kind::Folder))
    }
    fn partitioner(&self, _context: &Arc<TaskContext>) -> Result<Box<dyn Partitioner>> {
        Err(self.not_a(Kind::Partitioner))
    }
    fn key_orderer(&self, _context: &Arc<TaskContext>) -> Result<Box<dyn KeyOrderer>> {
        Err(self.not_a(Kind::KeyOrder))
    }
    fn reader(&self, _context: &Arc<TaskContext>) -> Result<Box<dyn Reader>> {
        Err(self.not_a(Kind::Reader))
    }
    /// Bytes before a cut that its readers want to see.
    fn look_back(&self) -> u32 {
        0
    }
    fn writer(&self, _context: &Arc<TaskContext>) -> Result<Box<dyn Writer>> {
        Err(self.not_a(Kind::Writer))
    }
    /// What the names of files that its writers write end in.
    fn extension(&self) -> &str {
        ""
    }

    fn not_a(&self, kind: Kind) -> Error {
        let info = self.info();
        Error::new(Code::Usage, format!("the class {} is a {}, not a {}", info.name, info.kind.name(), kind.name()))
    }
}

/// Where a job finds its classes: the built-ins, loaded libraries, a host.
pub trait ClassSource: Send + Sync {
    fn find(&self, name: &str) -> Option<Arc<dyn Class>>;
    /// All names, for messages.
    fn names(&self) -> Vec<String>;
}

/// Those of a list, by their own names.
impl ClassSource for Vec<Arc<dyn Class>> {
    fn find(&self, name: &str) -> Option<Arc<dyn Class>> {
        self.iter().find(|c| c.info().name == name).cloned()
    }
    fn names(&self) -> Vec<String> {
        self.iter().map(|c| c.info().name.clone()).collect()
    }
}

/// Finds a class in the first of several sources that has it, and checks its kind.
pub fn find_class(sources: &[Arc<dyn ClassSource>], name: &str, kinds: &[Kind]) -> Result<Arc<dyn Class>> {
    for source in sources {
        if let Some(class) = source.find(name) {
            let kind = class.info().kind;
            return if kinds.contains(&kind) { Ok(class) } else { Err(class.not_a(kinds[0])) };
        }
    }
    let mut names: Vec<String> = sources.iter().flat_map(|s| s.names()).collect();
    names.sort();
    Err(Error::new(Code::UserCode, format!("there is no class {name}")).hint(format!("there are {}", names.join(", "))))
}
