//! Loading a class library: open it, check the version, read its table of classes.
//! One of the listed files with `unsafe`: it loads code and reads tables of another program.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::adapters::{
    ForeignFolder, ForeignKeyOrderer, ForeignMapper, ForeignPartitioner, ForeignReader, ForeignReducer, ForeignWriter,
    Instance, shape_of,
};
use super::functions::{ForeignAggregate, ForeignFunction, QueryTable};
use super::layout::{
    ABI_MAJOR, ABI_MINOR, ClassTable, FLAG_EMITS_ONE, FLAG_EMITS_REFS, FLAG_GROUPS, FLAG_PURE, FLAG_SOURCE_BLOCKS,
    FLAG_WANTS_SPAN, FLAG_WHOLE_PART, FolderTable, LibraryTable, ReaderTable, SourceTable, WriterTable, read,
};
use super::source::ForeignSource;
use crate::operator::reader::LOOK_BACK_MAX;
use crate::operator::{
    Aggregate, Class, ClassInfo, ClassSource, Flags, Folder, Function, KeyOrderer, Kind, Mapper, Partitioner, Reader,
    Reducer, Signature, Source, TaskContext, Type, Writer,
};
use yunti_base::{Code, Error, Result};

const ENTRY: &CStr = c"yunti_library_v0";

struct Library {
    path: PathBuf,
    classes: BTreeMap<String, Arc<ForeignClass>>,
}

struct ForeignClass {
    info: ClassInfo,
    name: Arc<str>,
    table: ClassTable,
    folder: Option<FolderTable>,
    reader: Option<ReaderTable>,
    writer: Option<WriterTable>,
    source: Option<SourceTable>,
    query: Option<(QueryTable, Signature)>,
    extension: String,
}

// SAFETY: the tables are constant data and functions of a library that is never closed; each instance belongs to one
// thread.
unsafe impl Send for ForeignClass {}
// SAFETY: as above.
unsafe impl Sync for ForeignClass {}

/// Loads a class library. It stays loaded for the life of the process: closing it would run destructors under threads
/// that may still use it, and many libraries cannot be unloaded.
///
/// Fails with `Code::UserCode` and the path if the library is missing, truncated, of another version, or its table is
/// invalid.
pub fn load(path: &Path) -> Result<Arc<dyn ClassSource>> {
    let wrong = |what: String| Error::new(Code::UserCode, what).at_path(path.to_string_lossy());
    if !path.exists() {
        return Err(wrong("there is no class library".into()).hint("check the path that --lib names"));
    }
    check_whole(path)?;
    let name = std::ffi::CString::new(path.as_os_str().as_encoded_bytes())
        .map_err(|_| wrong("the name of the class library holds a NUL byte".into()))?;
    // The loader would search the system's directories for a name without a slash.
    let name = if name.as_bytes().contains(&b'/') {
        name
    } else {
        std::ffi::CString::new([b"./", name.as_bytes()].concat()).unwrap_or(name)
    };
    // SAFETY: loading runs the library's initialisers, as the user requested. RTLD_LOCAL keeps its symbols private.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if handle.is_null() {
        let reason = dl_error().replace(&*name.to_string_lossy(), "it");
        return Err(wrong(format!("cannot load the class library ({reason})")).hint("build it again for this machine"));
    }
    // SAFETY: a lookup in a loaded library.
    let entry = unsafe { libc::dlsym(handle, ENTRY.as_ptr()) };
    if entry.is_null() {
        return Err(wrong("this is not a class library: it does not export yunti_library_v0".into())
            .hint("register its classes with YUNTI_LIBRARY, or link a build for this version"));
    }
    // SAFETY: the ABI gives the symbol this type.
    let entry: unsafe extern "C" fn(u32) -> *const LibraryTable = unsafe { std::mem::transmute(entry) };
    // SAFETY: the ABI: it returns a table that lives as long as the library, or null.
    let table = unsafe { entry(ABI_MAJOR << 16 | ABI_MINOR) };
    if table.is_null() {
        return Err(wrong(format!("the class library refuses version {ABI_MAJOR}.{ABI_MINOR} of the interface"))
            .hint("build it again with the headers of this version"));
    }
    // SAFETY: as above.
    let classes = unsafe { classes_of(table) }.map_err(|e| e.at_path(path.to_string_lossy()))?;
    Ok(Arc::new(Library { path: path.into(), classes }))
}

/// Returns the classes of a library's table, each with all that its kind requires.
///
/// # Safety
/// The table is as the ABI requires: its first field is the number of its bytes. Its pointers are null or lead to such
/// tables and to NUL-terminated strings.
unsafe fn classes_of(table: *const LibraryTable) -> Result<BTreeMap<String, Arc<ForeignClass>>> {
    let wrong = |what: String| Error::new(Code::UserCode, what);
    // SAFETY: as the caller promises.
    let table = unsafe { read(table) };
    if table.abi_major != ABI_MAJOR {
        return Err(wrong(format!(
            "the class library was built for version {}.{} of the interface, this is {ABI_MAJOR}.{ABI_MINOR}",
            table.abi_major, table.abi_minor
        ))
        .hint("build it again with the headers of this version"));
    }
    if table.classes.is_null() || table.n > 65_536 {
        return Err(wrong("the class library's table of classes is invalid".into()));
    }
    let mut classes = BTreeMap::new();
    for i in 0..table.n as usize {
        // SAFETY: the table has n pointers to class tables, or null.
        let class = unsafe { *table.classes.add(i) };
        if class.is_null() {
            return Err(wrong(format!("class {i} of the class library is null")));
        }
        // SAFETY: as above.
        let class = unsafe { read(class) };
        let class = ForeignClass::new(class)?;
        classes.insert(class.info.name.clone(), Arc::new(class));
    }
    Ok(classes)
}

/// Rejects a library truncated during a copy: the loader would map missing pages and die of SIGBUS. Only the segments
/// that the loader maps are checked.
fn check_whole(path: &Path) -> Result<()> {
    let Ok(file) = std::fs::File::open(path) else { return Ok(()) };
    let Ok(len) = file.metadata().map(|file| file.len()) else { return Ok(()) };
    let read = |at: u64, n: usize| {
        let mut bytes = vec![0; n];
        file.read_exact_at(&mut bytes, at).ok().map(|()| bytes)
    };
    match is_cut(len, read) {
        true => Err(Error::new(Code::UserCode, "the class library is truncated: its end is missing")
            .at_path(path.to_string_lossy())
            .at_offset(len)
            .hint("copy or build it again")),
        false => Ok(()),
    }
}

/// Returns true if a segment of a library ends beyond its `len` bytes.
fn is_cut(len: u64, read: impl Fn(u64, usize) -> Option<Vec<u8>>) -> bool {
    let Some(head) = read(0, 64).filter(|head| head.starts_with(b"\x7fELF\x02\x01")) else { return false };
    let number = |bytes: &[u8], at: usize, n: usize| {
        bytes[at..at + n].iter().rev().fold(0u64, |all, &b| all << 8 | u64::from(b))
    };
    // ELF-64: e_phoff, e_phentsize, e_phnum; in a program header p_type (1: loadable), p_offset and p_filesz.
    let (table, entry, n) = (number(&head, 32, 8), number(&head, 54, 2), number(&head, 56, 2));
    (0..n).any(|i| match read(table.saturating_add(i * entry), 56) {
        Some(of) => number(&of, 0, 4) == 1 && number(&of, 8, 8).saturating_add(number(&of, 32, 8)) > len,
        None => true,
    })
}

fn dl_error() -> String {
    // SAFETY: dlerror returns null or a string that lives until the next dl call of this thread.
    unsafe {
        let text = libc::dlerror();
        if text.is_null() { "no reason given".into() } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
    }
}

impl ForeignClass {
    fn new(table: ClassTable) -> Result<ForeignClass> {
        if table.name.is_null() {
            return Err(Error::new(Code::UserCode, "a class of the library has no name"));
        }
        // SAFETY: the ABI: a NUL-terminated string of the library.
        let name = unsafe { CStr::from_ptr(table.name) }.to_string_lossy().into_owned();
        let wrong = |what: String| Error::new(Code::UserCode, format!("the class {name} {what}"));
        let unknown = || wrong(format!("is of kind {}, which this engine does not know", table.kind));
        let kind = Kind::from_abi(table.kind).ok_or_else(unknown)?;
        let kind_of = |number: u32, what: &str| {
            Type::from_abi(number)
                .ok_or_else(|| wrong(format!("has a {what} type {number}, which this engine does not know")))
        };
        // SAFETY: the ABI: null, or a table with its size first, of the library.
        let reader = (!table.reader.is_null()).then(|| unsafe { read(table.reader) });
        // SAFETY: as above.
        let writer = (!table.writer.is_null()).then(|| unsafe { read(table.writer) });
        // SAFETY: as above.
        let source = (!table.source.is_null()).then(|| unsafe { read(table.source) });
        let query = match kind {
            Kind::Function | Kind::Aggregate => QueryTable::of(&name, &table)?,
            _ => None,
        };
        let missing = match kind {
            Kind::Mapper => table.map.is_none(),
            Kind::Reducer | Kind::Combiner => table.reduce.is_none(),
            Kind::Folder => table.folder.is_null(),
            Kind::Partitioner => table.partition.is_none(),
            Kind::KeyOrder => table.arrange.is_none(),
            Kind::Reader => reader.is_none_or(|r| r.read.is_none()),
            Kind::Writer => writer.is_none_or(|w| w.write.is_none()),
            Kind::Source => source.is_none_or(|s| s.plan.is_none() || s.open.is_none() || s.next.is_none()),
            Kind::Function => !matches!(query, Some((QueryTable::Function(_), _))),
            Kind::Aggregate => !matches!(query, Some((QueryTable::Aggregate(_), _))),
        };
        if missing {
            return Err(wrong(format!("is a {} without its function", kind.name())));
        }
        if reader.is_some_and(|r| r.look_back > LOOK_BACK_MAX) {
            return Err(wrong(format!("looks back over more than {LOOK_BACK_MAX} bytes")));
        }
        let extension = match writer {
            // SAFETY: as for the name.
            Some(w) if !w.extension.is_null() => unsafe { CStr::from_ptr(w.extension) }.to_string_lossy().into_owned(),
            _ => String::new(),
        };
        if extension.contains('/') {
            return Err(wrong(format!("has the extension '{extension}', which holds a slash")));
        }
        let in_value_type = kind_of(table.in_value_type, "value")?;
        let folder = if table.folder.is_null() {
            None
        } else {
            // SAFETY: the ABI: a table with its size first, of the library.
            Some(unsafe { read(table.folder) })
        };
        if let Some(folder) = &folder {
            shape_of(&name, folder, in_value_type.fixed_bytes() == Some(8))?;
        }
        let info = ClassInfo {
            kind,
            flags: Flags {
                pure: table.flags & FLAG_PURE != 0,
                emits_refs: table.flags & FLAG_EMITS_REFS != 0,
                emits_one: table.flags & FLAG_EMITS_ONE != 0,
                wants_span: table.flags & FLAG_WANTS_SPAN != 0,
                groups: table.flags & FLAG_GROUPS != 0,
                finds: reader.is_some_and(|r| r.find.is_some()),
                whole_part: writer.is_some_and(|w| w.flags & FLAG_WHOLE_PART != 0),
                starts_process: false,
                ignores_values: false,
                takes_blocks: false,
                gives_blocks: source.is_some_and(|s| s.flags & FLAG_SOURCE_BLOCKS != 0),
            },
            key_type: kind_of(table.key_type, "key")?,
            value_type: kind_of(table.value_type, "value")?,
            in_value_type,
            is_fold: folder.is_some(),
            is_identity: false,
            selects: false,
            name: name.clone(),
        };
        Ok(ForeignClass { info, name: name.into(), table, folder, reader, writer, source, query, extension })
    }

    fn instance(&self, context: &Arc<TaskContext>) -> Result<Instance> {
        Instance::create(&self.name, &self.table, context)
    }
}

impl Class for ForeignClass {
    fn info(&self) -> &ClassInfo {
        &self.info
    }
    fn mapper(&self, context: &Arc<TaskContext>) -> Result<Box<dyn Mapper>> {
        if self.info.kind != Kind::Mapper {
            return Err(self.not_a(Kind::Mapper));
        }
        Ok(Box::new(ForeignMapper(self.instance(context)?)))
    }
    fn reducer(&self, context: &Arc<TaskContext>) -> Result<Box<dyn Reducer>> {
        if self.table.reduce.is_none() {
            return Err(self.not_a(Kind::Reducer));
        }
        Ok(Box::new(ForeignReducer(self.instance(context)?)))
    }
    fn folder(&self, context: &Arc<TaskContext>) -> Result<Box<dyn Folder>> {
        let Some(folder) = self.folder else { return Err(self.not_a(Kind::Folder)) };
        let shape = shape_of(&self.name, &folder, self.info.in_value_type.fixed_bytes() == Some(8))?;
        Ok(Box::new(ForeignFolder::new(self.instance(context)?, folder, shape)))
    }
    fn partitioner(&self, context: &Arc<TaskContext>) -> Result<Box<dyn Partitioner>> {
        if self.info.kind != Kind::Partitioner {
            return Err(self.not_a(Kind::Partitioner));
        }
        Ok(Box::new(ForeignPartitioner(self.instance(context)?)))
    }
    fn key_orderer(&self, context: &Arc<TaskContext>) -> Result<Box<dyn KeyOrderer>> {
        if self.info.kind != Kind::KeyOrder {
            return Err(self.not_a(Kind::KeyOrder));
        }
        Ok(Box::new(ForeignKeyOrderer(self.instance(context)?)))
    }
    fn reader(&self, context: &Arc<TaskContext>) -> Result<Box<dyn Reader>> {
        let Some(table) = self.reader else { return Err(self.not_a(Kind::Reader)) };
        Ok(Box::new(ForeignReader { instance: self.instance(context)?, table }))
    }
    fn look_back(&self) -> u32 {
        self.reader.map_or(0, |r| r.look_back)
    }
    fn writer(&self, context: &Arc<TaskContext>) -> Result<Box<dyn Writer>> {
        let Some(table) = self.writer else { return Err(self.not_a(Kind::Writer)) };
        Ok(Box::new(ForeignWriter { instance: self.instance(context)?, table }))
    }
    fn source(&self, context: &Arc<TaskContext>) -> Result<Box<dyn Source>> {
        let Some(table) = self.source else { return Err(self.not_a(Kind::Source)) };
        Ok(Box::new(ForeignSource::new(self.instance(context)?, table)))
    }
    fn signature(&self) -> Option<&Signature> {
        self.query.as_ref().map(|(_, signature)| signature)
    }
    fn function(&self, context: &Arc<TaskContext>) -> Result<Box<dyn Function>> {
        let Some((QueryTable::Function(table), signature)) = &self.query else {
            return Err(self.not_a(Kind::Function));
        };
        let (instance, name) = (self.instance(context)?, self.name.clone());
        Ok(Box::new(ForeignFunction { instance, name, table: *table, signature: signature.clone() }))
    }
    fn aggregate(&self, context: &Arc<TaskContext>) -> Result<Box<dyn Aggregate>> {
        let Some((QueryTable::Aggregate(table), signature)) = &self.query else {
            return Err(self.not_a(Kind::Aggregate));
        };
        let (instance, name) = (self.instance(context)?, self.name.clone());
        Ok(Box::new(ForeignAggregate { instance, name, table: *table, signature: signature.clone() }))
    }
    fn extension(&self) -> &str {
        &self.extension
    }
}

impl ClassSource for Library {
    fn find(&self, name: &str) -> Option<Arc<dyn Class>> {
        let class = self.classes.get(name)?;
        Some(class.clone())
    }
    fn names(&self) -> Vec<String> {
        self.classes.keys().cloned().collect()
    }
    fn files(&self, name: &str) -> Vec<PathBuf> {
        self.classes.contains_key(name).then(|| self.path.clone()).into_iter().collect()
    }
}

/// Loads any bytes as the file of a library and as its tables, for the fuzzer. Pointers are null or valid.
pub fn fuzz(bytes: &[u8]) {
    unsafe extern "C" fn nothing(
        _: *mut std::ffi::c_void,
        _: *const std::ffi::c_void,
        _: *mut crate::operator::Out,
    ) -> i32 {
        0
    }
    is_cut(bytes.len() as u64, |at, n| {
        let at = usize::try_from(at).ok()?;
        bytes.get(at..at.checked_add(n)?).map(<[u8]>::to_vec)
    });
    let mut rest = bytes;
    let mut number = || match rest.split_first_chunk::<4>() {
        Some((first, behind)) => {
            rest = behind;
            u32::from_le_bytes(*first)
        }
        None => 0,
    };
    let name = std::ffi::CString::new(bytes.iter().copied().filter(|&b| b != 0).take(40).collect::<Vec<u8>>());
    let name = name.unwrap_or_default();
    let header = [number(), number(), number(), number()];
    // SAFETY: zeros are a value of the plain struct (Sized32).
    let (mut folder, mut class): (FolderTable, ClassTable) = unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
    (folder.size, folder.state_size, folder.known, folder.exact) = (number(), number(), number(), number());
    (class.size, class.kind, class.flags) = (number(), number(), number());
    (class.key_type, class.value_type, class.in_value_type) = (number(), number(), number());
    let there = number();
    class.name = if there & 1 == 0 { name.as_ptr() } else { std::ptr::null() };
    class.folder = if there & 2 == 0 { &folder } else { std::ptr::null() };
    (class.map, class.reduce) = ((there & 4 == 0).then_some(nothing as _), (there & 8 == 0).then_some(nothing as _));
    let classes = [&raw const class, if there & 16 == 0 { &raw const class } else { std::ptr::null() }];
    let [size, abi_major, abi_minor, n] = header;
    let classes_at = if there & 32 == 0 { classes.as_ptr() } else { std::ptr::null() };
    let n = if n <= 65_536 { n % 3 } else { n };
    let (none, version) = (std::ptr::null(), std::ptr::null());
    let table = LibraryTable { size, abi_major: abi_major % 2, abi_minor, n, name: none, version, classes: classes_at };
    // SAFETY: the tables are whole, whatever their first fields contain, and outlive the call; so do the strings.
    match unsafe { classes_of(&table) } {
        Ok(classes) => classes.values().for_each(|class| assert!(class.folder.is_some() || !class.info.is_fold)),
        Err(e) => assert!(e.code() == Code::UserCode, "{e}"),
    }
}
