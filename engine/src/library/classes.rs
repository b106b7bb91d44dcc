//! Built-in classes by name. A job can mix them with classes of libraries.

use std::sync::Arc;

use super::applications::{
    CountColumn, Distinct, DistinctReducer, DistinctValues, First, Grep, HashJoin, InvertedIndex, Join, JoinReducer,
    KMeans, KMeansReducer, KeyedLines, LookupRows, Matches, OneSide, PageRank, PageRankCombiner, PageRankReducer,
    Sample, SideRows, Top, WordLengths, shared_table_mapper,
};
use super::field_order::FieldOrder;
use super::fold::KnownReducer;
use super::hadoop::aggregate::AggregateReducer;
use super::hadoop::key_field_order::KeyFieldOrder;
use super::hadoop::key_field_partitioner::KeyFieldPartitioner;
use super::hadoop::key_hash_partitioner::KeyHashPartitioner;
use super::hadoop::offsets::OffsetMapper;
use super::identity::IdentityReducer;
use super::inverse::Inverse;
use super::key_directories::KeyDirectories;
use super::tokenize::Tokenizer;
use crate::columns::aggregate::classes::{AggregateRows, MergeStates};
use crate::columns::aggregate::exact;
use crate::columns::select::SelectRows;
use crate::columns::top::{FirstRows, TopRows};
use crate::map::identity::IdentityMapper;
use crate::operator::folder::KnownFolder;
use crate::operator::{
    Class, ClassInfo, ClassSource, Flags, Folder, KeyOrderer, Kind, KnownFold, Mapper, Partitioner, Reducer,
    TaskContext, Type,
};
use yunti_base::Result;

struct Builtin {
    info: ClassInfo,
    make: Make,
}

type New<T> = fn(&Arc<TaskContext>) -> Result<Box<T>>;

enum Make {
    Mapper(New<dyn Mapper>),
    Reducer(New<dyn Reducer>),
    Folder(New<dyn Folder>),
    KeyOrder(New<dyn KeyOrderer>),
    Partitioner(New<dyn Partitioner>),
    /// A known fold: a folder under its own name, and a reducer.
    Fold(KnownFold),
}

impl Class for Builtin {
    fn info(&self) -> &ClassInfo {
        &self.info
    }
    fn mapper(&self, context: &Arc<TaskContext>) -> Result<Box<dyn Mapper>> {
        match self.make {
            Make::Mapper(new) => new(context),
            _ => Err(self.not_a(Kind::Mapper)),
        }
    }
    fn reducer(&self, context: &Arc<TaskContext>) -> Result<Box<dyn Reducer>> {
        match self.make {
            Make::Reducer(new) => new(context),
            Make::Fold(fold) if self.info.kind != Kind::Folder => Ok(Box::new(KnownReducer::new(fold))),
            _ => Err(self.not_a(Kind::Reducer)),
        }
    }
    fn folder(&self, context: &Arc<TaskContext>) -> Result<Box<dyn Folder>> {
        match self.make {
            Make::Folder(new) => new(context),
            Make::Fold(fold) => Ok(Box::new(KnownFolder(fold))),
            _ => Err(self.not_a(Kind::Folder)),
        }
    }
    fn partitioner(&self, context: &Arc<TaskContext>) -> Result<Box<dyn Partitioner>> {
        match self.make {
            Make::Partitioner(new) => new(context),
            _ => Err(self.not_a(Kind::Partitioner)),
        }
    }
    fn key_orderer(&self, context: &Arc<TaskContext>) -> Result<Box<dyn KeyOrderer>> {
        match self.make {
            Make::KeyOrder(new) => new(context),
            _ => Err(self.not_a(Kind::KeyOrder)),
        }
    }
}

/// Returns all built-in classes, named `Yunti.NAME`.
pub fn builtin_classes() -> Arc<dyn ClassSource> {
    let base = |name: &str, kind: Kind| ClassInfo::of_bytes(format!("Yunti.{name}"), kind);
    let mut all: Vec<Arc<dyn Class>> = Vec::new();
    let mut add = |info: ClassInfo, make: Make| all.push(Arc::new(Builtin { info, make }));

    let refs = Flags { emits_refs: true, emits_one: true, ..Flags::default() };
    let words = Flags { wants_span: true, ..refs };
    for (name, flags, (key_type, value_type), new) in [
        (
            "WordCountMapper",
            words,
            (Type::Bytes, Type::I64),
            (|_| Ok(Box::new(Tokenizer::default()))) as New<dyn Mapper>,
        ),
        ("WordLengthMapper", Flags::default(), (Type::I64, Type::I64), |_| Ok(Box::new(WordLengths))),
        ("CountColumnMapper", refs, (Type::Bytes, Type::I64), |context| Ok(Box::new(CountColumn::new(context)?))),
        ("MatchMapper", Flags::default(), (Type::Bytes, Type::I64), |context| Ok(Box::new(Matches::new(context)?))),
        ("OffsetMapper", Flags::default(), (Type::I64, Type::Bytes), |_| Ok(Box::new(OffsetMapper))),
        ("KeyDirectoriesMapper", Flags::default(), (Type::Bytes, Type::Bytes), |context| {
            Ok(Box::new(KeyDirectories::new(context)?))
        }),
        ("InverseMapper", Flags::default(), (Type::I64, Type::Bytes), |_| Ok(Box::new(Inverse))),
        ("TopMapper", Flags::default(), (Type::F64, Type::Bytes), |context| Ok(Box::new(Top::new(context)?))),
        ("InvertedIndexMapper", Flags::default(), (Type::Bytes, Type::Bytes), |context| {
            Ok(Box::new(InvertedIndex::new(context)))
        }),
        ("JoinMapper", Flags::default(), (Type::Bytes, Type::Bytes), |context| Ok(Box::new(Join::new(context)?))),
        ("HashJoinMapper", Flags::default(), (Type::Bytes, Type::Bytes), |context| {
            Ok(match shared_table_mapper(context)? {
                Some(join) => join,
                None => Box::new(HashJoin::new(context)?),
            })
        }),
        // A hash join whose table does not fit is a sorted one, of two sources with these mappers.
        ("LeftSideMapper", Flags::default(), (Type::Bytes, Type::Bytes), |context| {
            Ok(Box::new(OneSide::left(context)?))
        }),
        ("RightSideMapper", Flags::default(), (Type::Bytes, Type::Bytes), |context| {
            Ok(Box::new(OneSide::right(context)?))
        }),
        ("KMeansMapper", Flags::default(), (Type::I64, Type::Bytes), |context| Ok(Box::new(KMeans::new(context)?))),
        ("PageRankMapper", Flags::default(), (Type::Bytes, Type::Bytes), |context| {
            Ok(Box::new(PageRank::new(context)))
        }),
    ] {
        let mut info = base(name, Kind::Mapper);
        (info.flags, info.key_type, info.value_type) = (flags, key_type, value_type);
        add(info, Make::Mapper(new));
    }
    let mut info = base("ColumnsAggregateMapper", Kind::Mapper);
    info.flags.takes_blocks = true;
    add(info, Make::Mapper(|context| Ok(Box::new(AggregateRows::new(context)?))));
    for (name, value_type) in [("SelectMapper", Type::Bytes), ("SelectOneMapper", Type::None)] {
        let mut info = base(name, Kind::Mapper);
        (info.flags.takes_blocks, info.value_type) = (true, value_type);
        add(info, Make::Mapper(|context| Ok(Box::new(SelectRows::new(context)?))));
    }
    for (name, value_type, new) in [
        ("LeftRowsMapper", Type::Bytes, (|context| Ok(Box::new(SideRows::left(context)?))) as New<dyn Mapper>),
        ("RightRowsMapper", Type::Bytes, |context| Ok(Box::new(SideRows::right(context)?))),
        ("SmallRowsMapper", Type::Bytes, |context| Ok(Box::new(SideRows::lines(context)?))),
        ("LookupRowsMapper", Type::Bytes, |context| Ok(Box::new(LookupRows::new(context)?))),
        ("LookupKeysMapper", Type::None, |context| Ok(Box::new(LookupRows::new(context)?))),
    ] {
        let mut info = base(name, Kind::Mapper);
        (info.flags.takes_blocks, info.value_type) = (true, value_type);
        add(info, Make::Mapper(new));
    }
    add(base("KeyedLinesMapper", Kind::Mapper), Make::Mapper(|context| Ok(Box::new(KeyedLines::new(context)?))));
    let mut info = base("TopRowsMapper", Kind::Mapper);
    info.flags.takes_blocks = true;
    add(info, Make::Mapper(|context| Ok(Box::new(TopRows::new(context)?))));
    for (name, value_type) in [("FirstRowsReducer", Type::Bytes), ("FirstRowsOneReducer", Type::None)] {
        let mut info = base(name, Kind::Reducer);
        (info.value_type, info.in_value_type) = (value_type, Type::Bytes);
        add(info, Make::Reducer(|context| Ok(Box::new(FirstRows::new(context)?))));
    }
    let mut info = base("ColumnsExactOrder", Kind::KeyOrder);
    info.flags.groups = true;
    add(info, Make::KeyOrder(exact::order_of));
    for (name, kind, value_type, new) in [
        (
            "ColumnsAggregateReducer",
            Kind::Reducer,
            Type::Bytes,
            (|context| Ok(Box::new(MergeStates::new(context)?))) as New<dyn Reducer>,
        ),
        // Without columns to group by, a record is one line of results.
        ("ColumnsTotalReducer", Kind::Reducer, Type::None, |context| Ok(Box::new(MergeStates::new(context)?))),
    ] {
        let mut info = base(name, kind);
        // A total has a line even without a group, so that it must see a whole partition.
        (info.value_type, info.in_value_type, info.flags.pure) = (value_type, Type::Bytes, value_type != Type::None);
        add(info, Make::Reducer(new));
    }
    for (name, new) in [
        ("GrepMapper", (|context| Ok(Box::new(Grep::new(context)?))) as New<dyn Mapper>),
        ("SampleMapper", |context| Ok(Box::new(Sample::new(context)?))),
    ] {
        let mut info = base(name, Kind::Mapper);
        info.selects = true;
        add(info, Make::Mapper(new));
    }
    let mut info = base("IdentityMapper", Kind::Mapper);
    info.is_identity = true;
    add(info, Make::Mapper(|_| Ok(Box::new(IdentityMapper))));
    let mut info = base("IdentityReducer", Kind::Reducer);
    (info.is_identity, info.flags.pure) = (true, true);
    add(info, Make::Reducer(|_| Ok(Box::new(IdentityReducer))));
    for (name, pure, value_type, new) in [
        ("DistinctReducer", true, Type::None, (|_| Ok(Box::new(DistinctReducer))) as New<dyn Reducer>),
        ("DistinctValuesReducer", true, Type::Bytes, |_| Ok(Box::new(DistinctValues::one_by_one()))),
        ("JoinedValuesReducer", true, Type::Bytes, |_| Ok(Box::new(DistinctValues::joined()))),
        ("JoinReducer", true, Type::Bytes, |context| Ok(Box::new(JoinReducer::lines(context)?))),
        ("JoinRowsReducer", true, Type::Bytes, |context| Ok(Box::new(JoinReducer::rows(context)?))),
        ("JoinKeysReducer", true, Type::None, |context| Ok(Box::new(JoinReducer::rows(context)?))),
        ("AggregateReducer", true, Type::Bytes, |_| Ok(Box::new(AggregateReducer::new(false)))),
        ("AggregateCombiner", true, Type::Bytes, |_| Ok(Box::new(AggregateReducer::new(true)))),
        // The reducer counts records over all keys, so it is not pure.
        ("FirstReducer", false, Type::None, |context| Ok(Box::new(First::new(context)?))),
        ("PageRankCombiner", true, Type::Bytes, |_| Ok(Box::new(PageRankCombiner::default()))),
        ("PageRankReducer", true, Type::Bytes, |context| Ok(Box::new(PageRankReducer::new(context)?))),
    ] {
        let mut info = base(name, Kind::Reducer);
        (info.flags.pure, info.value_type) = (pure, value_type);
        add(info, Make::Reducer(new));
    }
    let mut info = base("KMeansReducer", Kind::Reducer);
    (info.key_type, info.flags.pure) = (Type::None, true);
    add(info, Make::Reducer(|_| Ok(Box::new(KMeansReducer::default()))));
    let mut info = base("FieldOrder", Kind::KeyOrder);
    info.flags.groups = true;
    add(info, Make::KeyOrder(|context| Ok(Box::new(FieldOrder::new(context)?))));
    add(base("KeyFieldOrder", Kind::KeyOrder), Make::KeyOrder(|context| Ok(Box::new(KeyFieldOrder::new(context)?))));
    let new: New<dyn Partitioner> = |context| Ok(Box::new(KeyFieldPartitioner::new(context)?));
    add(base("KeyFieldPartitioner", Kind::Partitioner), Make::Partitioner(new));
    add(base("KeyHashPartitioner", Kind::Partitioner), Make::Partitioner(|_| Ok(Box::new(KeyHashPartitioner))));
    for (name, new) in [
        ("DistinctFolder", (|_| Ok(Box::new(Distinct::default()))) as New<dyn Folder>),
        // The application has a name of its own: with a table as its input it keeps rows, and DistinctFolder keys.
        ("DistinctLinesFolder", |_| Ok(Box::new(Distinct::default()))),
        ("DistinctRowsFolder", |context| Ok(Box::new(Distinct::of_rows(context)?))),
    ] {
        let mut info = base(name, Kind::Folder);
        (info.key_type, info.value_type, info.is_fold, info.flags.pure) = (Type::None, Type::None, true, true);
        info.flags.ignores_values = true;
        add(info, Make::Folder(new));
    }

    for (name, fold, number) in [
        ("Count", KnownFold::Count, Type::I64),
        ("Sum", KnownFold::SumI64, Type::I64),
        ("Min", KnownFold::MinI64, Type::I64),
        ("Max", KnownFold::MaxI64, Type::I64),
        ("SumDouble", KnownFold::SumF64, Type::F64),
    ] {
        for kind in [Kind::Folder, Kind::Reducer] {
            // A count of counts would be wrong, so Count is no combiner.
            if kind == Kind::Reducer && fold == KnownFold::Count {
                continue;
            }
            let suffix = if kind == Kind::Folder { "Folder" } else { "Reducer" };
            let mut info = base(&format!("{name}{suffix}"), kind);
            // Without a key type of its own, the class keeps the mapper's keys.
            (info.key_type, info.value_type, info.in_value_type) = (Type::None, number, number);
            info.is_fold = true;
            info.flags.pure = true;
            add(info, Make::Fold(fold));
        }
    }
    Arc::new(all)
}
