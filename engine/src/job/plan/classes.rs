//! The classes of a job and their types: found by name, then held against each other.

use std::sync::Arc;

use crate::job::spec::{JobSpec, OutputFormat, Partitioning};
use crate::operator::class::find_class;
use crate::operator::{Class, ClassSource, Kind, Type};
use yunti_base::{Code, Error, Result};

/// Classes of a job, except the mappers and readers of its sources.
pub struct JobClasses {
    pub combiner: Option<Arc<dyn Class>>,
    pub reducer: Option<Arc<dyn Class>>,
    pub folder: Option<Arc<dyn Class>>,
    pub partitioner: Option<Arc<dyn Class>>,
    pub key_order: Option<Arc<dyn Class>>,
    pub writer: Option<Arc<dyn Class>>,
}

impl JobClasses {
    /// Finds the classes that `spec` names. A combiner and a reducer that are the same fold become the folder; a folder
    /// whose states cannot live in the engine becomes the reducer.
    ///
    /// Errors: `UserCode` for a name without a class, or a class of another kind.
    pub fn find(spec: &JobSpec, sources: &[Arc<dyn ClassSource>]) -> Result<JobClasses> {
        let class = |name: &Option<String>, kinds: &[Kind]| match name {
            Some(name) => find_class(sources, name, kinds).map(Some),
            None => Ok(None),
        };
        let mut combiner = class(&spec.combiner, &[Kind::Combiner, Kind::Reducer])?;
        let mut reducer = class(&spec.reducer, &[Kind::Reducer, Kind::Combiner])?;
        let mut folder = class(&spec.folder, &[Kind::Folder, Kind::Reducer, Kind::Combiner])?;
        let partitioner = match &spec.partitioning {
            Partitioning::Class(name) => class(&Some(name.clone()), &[Kind::Partitioner])?,
            _ => None,
        };
        let key_order = class(&spec.key_order, &[Kind::KeyOrder])?;
        let writer = match &spec.output_format {
            OutputFormat::Class(name) => class(&Some(name.clone()), &[Kind::Writer])?,
            _ => None,
        };
        if let Some(class) = &folder
            && class.info().kind != Kind::Folder
            && !class.info().is_fold
        {
            return Err(class.not_a(Kind::Folder));
        }
        if let (Some(c), Some(r)) = (&combiner, &reducer)
            && c.info().is_fold
            && r.info().is_fold
            && c.info().name == r.info().name
        {
            folder = reducer.take();
            combiner = None;
        }
        if folder.as_ref().is_some_and(|class| !class.folds_in_engine()) {
            reducer = folder.take();
        }
        Ok(JobClasses { combiner, reducer, folder, partitioner, key_order, writer })
    }

    /// Checks that combiner, reducer and folder take the values of the mappers, and that the combiner emits such
    /// values.
    ///
    /// Errors: `Usage`, naming the class and both types.
    pub fn check_values(&self, map_types: (Type, Type)) -> Result<()> {
        for class in [&self.combiner, &self.reducer, &self.folder].into_iter().flatten() {
            let info = class.info();
            if info.in_value_type != Type::None && info.in_value_type != map_types.1 {
                return Err(Error::new(
                    Code::Usage,
                    format!("{} takes values of type {}", info.name, info.in_value_type.name()),
                )
                .hint(format!("the mapper emits {}", map_types.1.name())));
            }
        }
        if let Some(c) = &self.combiner
            && c.info().value_type != map_types.1
            && !(c.info().is_fold && c.info().value_type == Type::None)
        {
            return Err(Error::new(
                Code::Usage,
                format!("the combiner {} changes the type of the values", c.info().name),
            )
            .hint("a combiner must emit the types of the mapper"));
        }
        Ok(())
    }

    /// Returns the types of the output's keys and values. A reducer or folder without a key type keeps the mappers'
    /// keys.
    pub fn output_types(&self, map_types: (Type, Type)) -> (Type, Type) {
        let last = self.reducer.as_ref().or(self.folder.as_ref());
        last.map_or(map_types, |c| match c.info() {
            info if info.is_identity => map_types,
            info if info.key_type == Type::None => (map_types.0, info.value_type),
            info => (info.key_type, info.value_type),
        })
    }

    /// Checks that the class of the key order takes the mappers' keys. Errors: `Usage`.
    pub fn check_key_order(&self, map_types: (Type, Type)) -> Result<()> {
        if let Some(c) = &self.key_order
            && c.info().key_type != Type::None
            && c.info().key_type != map_types.0
        {
            return Err(Error::new(
                Code::Usage,
                format!("{} orders keys of type {}", c.info().name, c.info().key_type.name()),
            )
            .hint(format!("the mapper emits {}", map_types.0.name())));
        }
        Ok(())
    }

    /// Checks that the writer takes keys and values of the output's types. Errors: `Usage`.
    pub fn check_writer(&self, output_types: (Type, Type)) -> Result<()> {
        let Some(writer) = &self.writer else { return Ok(()) };
        let (key, value) = (writer.info().key_type, writer.info().value_type);
        let takes = |takes: Type, is: Type| takes == Type::None || takes == is;
        if takes(key, output_types.0) && takes(value, output_types.1) {
            return Ok(());
        }
        let name = &writer.info().name;
        let what = format!("the writer {name} takes keys of type {} and values of type {}", key.name(), value.name());
        let hint = format!("the job emits {} and {}", output_types.0.name(), output_types.1.name());
        Err(Error::new(Code::Usage, what).hint(hint))
    }
}
