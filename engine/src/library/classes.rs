//! The built-in classes, by name: they mix with the classes of libraries.

use std::sync::Arc;

use super::fold::{Known, KnownReducer};
use super::identity::IdentityReducer;
use super::tokenize::Tokenizer;
use crate::base::Result;
use crate::map::identity::Identity;
use crate::operator::{
    Class, ClassInfo, ClassSource, Flags, Folder, Kind, KnownFold, Mapper, Reducer, TaskContext, Type,
};

struct Builtin {
    info: ClassInfo,
    make: Make,
}

enum Make {
    Mapper(fn() -> Box<dyn Mapper>),
    Reducer(fn() -> Box<dyn Reducer>),
    /// A folder under its own name, a fold under the name of a reducer.
    Fold(KnownFold),
}

impl Class for Builtin {
    fn info(&self) -> &ClassInfo {
        &self.info
    }
    fn mapper(&self, _: &Arc<TaskContext>) -> Result<Box<dyn Mapper>> {
        match self.make {
            Make::Mapper(make) => Ok(make()),
            _ => Err(self.not_a(Kind::Mapper)),
        }
    }
    fn reducer(&self, _: &Arc<TaskContext>) -> Result<Box<dyn Reducer>> {
        match self.make {
            Make::Reducer(make) => Ok(make()),
            Make::Fold(fold) if self.info.kind != Kind::Folder => Ok(Box::new(KnownReducer::new(fold))),
            _ => Err(self.not_a(Kind::Reducer)),
        }
    }
    fn folder(&self, _: &Arc<TaskContext>) -> Result<Box<dyn Folder>> {
        match self.make {
            Make::Fold(fold) => Ok(Box::new(Known(fold))),
            _ => Err(self.not_a(Kind::Folder)),
        }
    }
}

struct Builtins(Vec<Arc<Builtin>>);

impl ClassSource for Builtins {
    fn find(&self, name: &str) -> Option<Arc<dyn Class>> {
        let class = self.0.iter().find(|c| c.info.name == name)?;
        Some(class.clone())
    }
    fn names(&self) -> Vec<String> {
        self.0.iter().map(|c| c.info.name.clone()).collect()
    }
}

pub fn builtin_classes() -> Arc<dyn ClassSource> {
    let base = |name: &str, kind: Kind| ClassInfo {
        name: format!("Yunti.{name}"),
        kind,
        flags: Flags::default(),
        key_type: Type::Bytes,
        value_type: Type::Bytes,
        in_value_type: Type::None,
        is_fold: false,
        is_identity: false,
    };
    let mut all = Vec::new();
    let mut add = |info: ClassInfo, make: Make| all.push(Arc::new(Builtin { info, make }));

    let words = Flags { emits_refs: true, emits_one: true, wants_span: true, ..Flags::default() };
    let mut info = base("WordCountMapper", Kind::Mapper);
    (info.flags, info.value_type) = (words, Type::I64);
    add(info, Make::Mapper(|| Box::new(Tokenizer::default())));
    let mut info = base("IdentityMapper", Kind::Mapper);
    info.is_identity = true;
    add(info, Make::Mapper(|| Box::new(Identity)));
    let mut info = base("IdentityReducer", Kind::Reducer);
    (info.is_identity, info.flags.pure) = (true, true);
    add(info, Make::Reducer(|| Box::new(IdentityReducer)));

    for (name, fold, number) in [
        ("Count", KnownFold::Count, Type::I64),
        ("Sum", KnownFold::SumI64, Type::I64),
        ("Min", KnownFold::MinI64, Type::I64),
        ("Max", KnownFold::MaxI64, Type::I64),
        ("SumDouble", KnownFold::SumF64, Type::F64),
    ] {
        for kind in [Kind::Folder, Kind::Reducer] {
            // Counting counted records again would be wrong: there is no Count as a combiner.
            if kind == Kind::Reducer && fold == KnownFold::Count {
                continue;
            }
            let suffix = if kind == Kind::Folder { "Folder" } else { "Reducer" };
            let mut info = base(&format!("{name}{suffix}"), kind);
            // Without a key type of its own: keys are the mapper's.
            (info.key_type, info.value_type, info.in_value_type) = (Type::None, number, number);
            info.is_fold = true;
            info.flags.pure = true;
            add(info, Make::Fold(fold));
        }
    }
    Arc::new(Builtins(all))
}
