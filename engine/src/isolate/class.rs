//! Classes of worker processes, for the engine.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::instance::Instance;
use super::mapper::IsolatedMapper;
use super::message::RemoteClass;
use super::operators::{IsolatedKeyOrderer, IsolatedPartitioner, IsolatedReader, IsolatedReducer, IsolatedWriter};
use super::worker::WorkerPool;
use crate::env::Env;
use crate::env::process::Launcher;
use crate::operator::folder::KnownFolder;
use crate::operator::{
    Class, ClassInfo, ClassSource, FoldShape, Folder, KeyOrderer, Kind, Mapper, Partitioner, Reader, Reducer, Source,
    TaskContext, Writer,
};
use yunti_base::{Code, Error, Result};

/// Returns the classes that a worker process of this launcher has. Their code runs in workers only.
///
/// `timeout`: time for a class to handle one batch; None: any.
///
/// Errors: `UserCode` if no worker can be started, or it cannot load its classes.
pub fn isolated(launcher: Launcher, env: &Env, timeout: Option<Duration>) -> Result<Arc<dyn ClassSource>> {
    let arguments = launcher.arguments.iter().map(PathBuf::from);
    let files =
        arguments.filter(|path| env.files.meta(path).is_ok_and(|meta| !meta.is_dir && !meta.is_stream)).collect();
    let pool = WorkerPool::new(env.processes.clone(), launcher, env.clock.clone());
    let worker = pool.take()?;
    let classes = worker.classes.clone();
    pool.put_back(worker);
    Ok(Arc::new(Isolated { pool, classes, timeout, files }))
}

struct Isolated {
    pool: Arc<WorkerPool>,
    classes: Arc<Vec<RemoteClass>>,
    timeout: Option<Duration>,
    /// Files among the arguments of the workers.
    files: Vec<PathBuf>,
}

impl ClassSource for Isolated {
    fn find(&self, name: &str) -> Option<Arc<dyn Class>> {
        let class = self.classes.iter().find(|class| class.info.name == name)?.clone();
        let (pool, classes) = (self.pool.clone(), self.classes.clone());
        Some(Arc::new(IsolatedClass { class: Arc::new(class), classes, pool, timeout: self.timeout }))
    }

    fn names(&self) -> Vec<String> {
        self.classes.iter().map(|class| class.info.name.clone()).collect()
    }

    fn files(&self, name: &str) -> Vec<PathBuf> {
        let is_own = self.classes.iter().any(|class| class.info.name == name);
        if is_own { self.files.clone() } else { Vec::new() }
    }
}

struct IsolatedClass {
    class: Arc<RemoteClass>,
    /// All classes of the workers.
    classes: Arc<Vec<RemoteClass>>,
    pool: Arc<WorkerPool>,
    timeout: Option<Duration>,
}

impl IsolatedClass {
    fn instance(&self, kind: Kind, context: &Arc<TaskContext>) -> Result<Instance> {
        Instance::new(self.pool.clone(), self.class.clone(), kind, context, self.timeout)
    }

    fn check(&self, kinds: &[Kind]) -> Result<()> {
        if kinds.contains(&self.class.info.kind) { Ok(()) } else { Err(self.not_a(kinds[0])) }
    }
}

impl Class for IsolatedClass {
    fn info(&self) -> &ClassInfo {
        &self.class.info
    }
    fn mapper(&self, context: &Arc<TaskContext>) -> Result<Box<dyn Mapper>> {
        self.check(&[Kind::Mapper])?;
        Ok(Box::new(IsolatedMapper::new(self.instance(Kind::Mapper, context)?)))
    }
    fn reducer(&self, context: &Arc<TaskContext>) -> Result<Box<dyn Reducer>> {
        self.check(&[Kind::Reducer, Kind::Combiner, Kind::Folder])?;
        Ok(Box::new(IsolatedReducer::new(self.instance(Kind::Reducer, context)?)))
    }
    fn folder(&self, _: &Arc<TaskContext>) -> Result<Box<dyn Folder>> {
        match self.class.shape {
            Some(FoldShape { known: Some(known), .. }) => Ok(Box::new(KnownFolder(known))),
            Some(_) => Err(Error::new(Code::Internal, "a folder of a worker with states in the engine")),
            None => Err(self.not_a(Kind::Folder)),
        }
    }
    fn folds_in_engine(&self) -> bool {
        self.class.shape.is_none_or(|shape| shape.known.is_some())
    }
    fn folding(&self, folder: &str) -> Option<(Arc<dyn Class>, Arc<dyn Class>)> {
        let folder = self.classes.iter().find(|class| class.info.name == folder && class.folds_early)?;
        let with = |info: ClassInfo| -> Arc<dyn Class> {
            let class = RemoteClass { info, shape: None, ..RemoteClass::clone(&self.class) };
            let (pool, classes) = (self.pool.clone(), self.classes.clone());
            Arc::new(IsolatedClass { class: Arc::new(class), classes, pool, timeout: self.timeout })
        };
        Some((with(self.class.info.folding(&folder.info)), with(folder.info.merging())))
    }
    fn partitioner(&self, context: &Arc<TaskContext>) -> Result<Box<dyn Partitioner>> {
        self.check(&[Kind::Partitioner])?;
        Ok(Box::new(IsolatedPartitioner(self.instance(Kind::Partitioner, context)?)))
    }
    fn key_orderer(&self, context: &Arc<TaskContext>) -> Result<Box<dyn KeyOrderer>> {
        self.check(&[Kind::KeyOrder])?;
        Ok(Box::new(IsolatedKeyOrderer(self.instance(Kind::KeyOrder, context)?)))
    }
    fn reader(&self, context: &Arc<TaskContext>) -> Result<Box<dyn Reader>> {
        self.check(&[Kind::Reader])?;
        Ok(Box::new(IsolatedReader(self.instance(Kind::Reader, context)?)))
    }
    fn look_back(&self) -> u32 {
        self.class.look_back
    }
    fn writer(&self, context: &Arc<TaskContext>) -> Result<Box<dyn Writer>> {
        self.check(&[Kind::Writer])?;
        Ok(Box::new(IsolatedWriter(self.instance(Kind::Writer, context)?)))
    }
    fn source(&self, _: &Arc<TaskContext>) -> Result<Box<dyn Source>> {
        self.check(&[Kind::Source])?;
        let what = format!("the source {} runs in the engine's process alone", self.class.info.name);
        Err(Error::new(Code::Usage, what).hint("leave out --isolate and --sandbox"))
    }
    fn extension(&self) -> &str {
        &self.class.extension
    }
}
