//! Classes by name: the built-in or loaded classes of a library, and the creation of their instances.

use std::path::PathBuf;
use std::sync::Arc;

use super::{
    Aggregate, Folder, Function, KeyOrderer, Mapper, Partitioner, Reader, Reducer, Signature, Source, TaskContext,
    Type, Writer,
};
use yunti_base::{Code, Error, Result};

/// Kind of a class, with its number in the C ABI.
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
    Source = 9,
    Function = 10,
    Aggregate = 11,
}

impl Kind {
    /// Kinds, in the order of their numbers in the C ABI, from 1.
    const ALL: [Kind; 11] = [
        Kind::Mapper,
        Kind::Reducer,
        Kind::Combiner,
        Kind::Folder,
        Kind::Partitioner,
        Kind::Reader,
        Kind::Writer,
        Kind::KeyOrder,
        Kind::Source,
        Kind::Function,
        Kind::Aggregate,
    ];

    /// Returns the kind with this number in the C ABI.
    pub fn from_abi(number: u32) -> Option<Kind> {
        Kind::ALL.get((number as usize).checked_sub(1)?).copied()
    }

    /// Returns the name for messages.
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
            Kind::Source => "source",
            Kind::Function => "function",
            Kind::Aggregate => "aggregate",
        }
    }
}

/// Declarations of a class (yt_class.flags).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Reducer: the output for a group depends on the group alone.
    pub pure: bool,
    /// Mapper: keys are slices of the batch, values have eight bytes.
    pub emits_refs: bool,
    /// Mapper: keys are slices of the batch, each value is the number 1.
    pub emits_one: bool,
    /// Mapper: wants whole spans of text, lines not marked.
    pub wants_span: bool,
    /// Key order: a part of the ordered key is the group.
    pub groups: bool,
    /// Reader: finds records behind a cut, so that files may be split.
    pub finds: bool,
    /// Writer: one instance writes a part from its beginning to its end.
    pub whole_part: bool,
    /// Each instance starts a process, so tasks should not be small.
    pub starts_process: bool,
    /// Folder: its result depends on the keys alone, so that values need not be read.
    pub ignores_values: bool,
    /// Mapper: takes blocks of columns where the source gives them.
    pub takes_blocks: bool,
    /// Source: gives blocks of columns.
    pub gives_blocks: bool,
}

/// Description of a class.
#[derive(Clone, Debug)]
pub struct ClassInfo {
    /// Name of the class in jobs.
    pub name: String,
    /// Kind of operator.
    pub kind: Kind,
    /// Declarations of the class.
    pub flags: Flags,
    /// Type of the keys that it emits.
    pub key_type: Type,
    /// Type of the values that it emits.
    pub value_type: Type,
    /// Reducer, combiner, folder: type of the values that it takes; `Type::None`: any.
    pub in_value_type: Type,
    /// True for a combiner or reducer that is also a fold: the engine may fold instead.
    pub is_fold: bool,
    /// True if it passes each record on unchanged: the engine may skip the call.
    pub is_identity: bool,
    /// True for a mapper that passes some records on: its output types are those without a mapper, whatever its own
    /// types are.
    pub selects: bool,
}

impl ClassInfo {
    /// Returns the description of a class whose keys and values are bytes, the default types.
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

/// Between the names of a mapper and of the folder that folds what it emits.
const FOLDED_BY: &str = ", folded by ";
/// Behind the name of a folder that merges states.
const MERGING: &str = ", of states";

impl ClassInfo {
    /// Returns the description of this mapper when a folder folds what it emits.
    pub fn folding(&self, folder: &ClassInfo) -> ClassInfo {
        let mut info = ClassInfo::of_bytes(format!("{}{FOLDED_BY}{}", self.name, folder.name), Kind::Mapper);
        info.flags.wants_span = self.flags.wants_span;
        info.key_type = self.key_type;
        info
    }

    /// Returns the description of this folder as a reducer of states.
    pub fn merging(&self) -> ClassInfo {
        let mut info = ClassInfo::of_bytes(format!("{}{MERGING}", self.name), Kind::Reducer);
        info.flags.pure = true;
        (info.key_type, info.value_type, info.in_value_type) = (self.key_type, self.value_type, Type::Bytes);
        info
    }

    /// Returns the mapper and the folder of a name that `folding` gave.
    pub fn folded(name: &str) -> Option<(&str, &str)> {
        name.split_once(FOLDED_BY)
    }

    /// Returns the folder of a name that `merging` gave.
    pub fn merged_by(name: &str) -> Option<&str> {
        name.strip_suffix(MERGING)
    }
}

/// A class: makes one instance per task. A method for another kind of class fails with `Code::Usage`.
pub trait Class: Send + Sync {
    /// Returns the class's description.
    fn info(&self) -> &ClassInfo;
    /// Returns a new mapper.
    fn mapper(&self, _context: &Arc<TaskContext>) -> Result<Box<dyn Mapper>> {
        Err(self.not_a(Kind::Mapper))
    }
    /// Returns a new reducer or combiner.
    fn reducer(&self, _context: &Arc<TaskContext>) -> Result<Box<dyn Reducer>> {
        Err(self.not_a(Kind::Reducer))
    }
    /// Returns a new folder.
    fn folder(&self, _context: &Arc<TaskContext>) -> Result<Box<dyn Folder>> {
        Err(self.not_a(Kind::Folder))
    }
    /// Returns false for a folder whose states cannot live in the engine. It is a reducer then, which folds the values
    /// of each group.
    fn folds_in_engine(&self) -> bool {
        true
    }
    /// Returns a mapper that folds what this one emits by a folder of this name, and the reducer that merges its
    /// states. None if the two cannot work together.
    fn folding(&self, _folder: &str) -> Option<(Arc<dyn Class>, Arc<dyn Class>)> {
        None
    }
    /// Returns a new partitioner.
    fn partitioner(&self, _context: &Arc<TaskContext>) -> Result<Box<dyn Partitioner>> {
        Err(self.not_a(Kind::Partitioner))
    }
    /// Returns a new key orderer.
    fn key_orderer(&self, _context: &Arc<TaskContext>) -> Result<Box<dyn KeyOrderer>> {
        Err(self.not_a(Kind::KeyOrder))
    }
    /// Returns a new reader.
    fn reader(&self, _context: &Arc<TaskContext>) -> Result<Box<dyn Reader>> {
        Err(self.not_a(Kind::Reader))
    }
    /// Returns the bytes before a cut that its readers need, at most `LOOK_BACK_MAX`.
    fn look_back(&self) -> u32 {
        0
    }
    /// Returns a new source.
    fn source(&self, _context: &Arc<TaskContext>) -> Result<Box<dyn Source>> {
        Err(self.not_a(Kind::Source))
    }
    /// Returns the types of a function or an aggregate; None for all other kinds.
    fn signature(&self) -> Option<&Signature> {
        None
    }
    /// Returns a new function.
    fn function(&self, _context: &Arc<TaskContext>) -> Result<Box<dyn Function>> {
        Err(self.not_a(Kind::Function))
    }
    /// Returns a new aggregate.
    fn aggregate(&self, _context: &Arc<TaskContext>) -> Result<Box<dyn Aggregate>> {
        Err(self.not_a(Kind::Aggregate))
    }
    /// Returns a new writer.
    fn writer(&self, _context: &Arc<TaskContext>) -> Result<Box<dyn Writer>> {
        Err(self.not_a(Kind::Writer))
    }
    /// Returns the extension of the files that its writers write, such as `.json`; may be empty.
    fn extension(&self) -> &str {
        ""
    }

    /// Returns the error for a class of the wrong kind.
    fn not_a(&self, kind: Kind) -> Error {
        let info = self.info();
        Error::new(Code::Usage, format!("the class {} is a {}, not a {}", info.name, info.kind.name(), kind.name()))
    }
}

/// A source of classes: the built-ins, loaded libraries, a host.
pub trait ClassSource: Send + Sync {
    /// Returns the class of this name, if there is one.
    fn find(&self, name: &str) -> Option<Arc<dyn Class>>;
    /// Returns the class of this name for an operator of one of these kinds. Most sources have one class of a name; a
    /// program can be an operator of several kinds.
    ///
    /// Fails with `Code::UserCode` for a name that is certainly of this source, but cannot be used.
    fn find_of_kinds(&self, name: &str, _kinds: &[Kind]) -> Result<Option<Arc<dyn Class>>> {
        Ok(self.find(name))
    }
    /// Returns all names, for messages.
    fn names(&self) -> Vec<String>;
    /// Returns the files whose contents decide what the class of this name does; none if it is not of this source, or
    /// built in.
    fn files(&self, _name: &str) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// Finds the classes of a list by their own names.
impl ClassSource for Vec<Arc<dyn Class>> {
    fn find(&self, name: &str) -> Option<Arc<dyn Class>> {
        self.iter().find(|c| c.info().name == name).cloned()
    }
    fn names(&self) -> Vec<String> {
        self.iter().map(|c| c.info().name.clone()).collect()
    }
}

/// Finds a class in the first of several sources that has it, and checks its kind.
///
/// Fails with `Code::UserCode` if there is no such class, or `Code::Usage` if its kind is not in `kinds`.
pub fn find_class(sources: &[Arc<dyn ClassSource>], name: &str, kinds: &[Kind]) -> Result<Arc<dyn Class>> {
    for source in sources {
        if let Some(class) = source.find_of_kinds(name, kinds)? {
            let kind = class.info().kind;
            return if kinds.contains(&kind) { Ok(class) } else { Err(class.not_a(kinds[0])) };
        }
    }
    let mut names: Vec<String> = sources.iter().flat_map(|s| s.names()).collect();
    names.sort();
    Err(Error::new(Code::UserCode, format!("there is no class {name}")).hint(format!("there are {}", names.join(", "))))
}
