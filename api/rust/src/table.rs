//! Tables of classes: types, flags, and the entries of each kind.

use std::ffi::CStr;

use crate::class::folder::{Folder, KnownFold};
use crate::class::key_order::KeyOrder;
use crate::class::mapper::{Mapper, Maps, Records, SpanMapper, Spans, promises};
use crate::class::partitioner::Partitioner;
use crate::class::reader::Reader;
use crate::class::reducer::{Folding, Reducer, Reduces, StepReducer, Steps, Whole};
use crate::class::source::Source;
use crate::class::writer::Writer;
use crate::entry::*;
use crate::layout::*;
use crate::types::Type;

const fn maps<M: Maps>(name: &'static CStr) -> Entry {
    let (refs, one) = const { promises::<M>() };
    let mut class = entry::<M::Object>(MAPPER, name);
    class.flags = (if M::SPANS { WANTS_SPAN } else { 0 })
        | (if refs { EMITS_REFS } else { 0 })
        | (if one { EMITS_ONE } else { 0 });
    (class.key_type, class.value_type) = (M::Key::ID, M::Value::ID);
    class.map = Some(map::<M>);
    class.flush = Some(flush_mapper::<M>);
    Entry::new(class)
}

const fn reduces<R: Reduces>(kind: u32, name: &'static CStr) -> RawClass {
    let mut class = entry::<R>(kind, name);
    class.flags = if R::PURE { PURE } else { 0 };
    (class.key_type, class.value_type, class.in_value_type) = (R::Key::ID, R::Value::ID, R::InValue::ID);
    class.reduce = Some(reduce_groups::<R>);
    class.flush = Some(flush_reducer::<R>);
    if R::FOLD.is_some() {
        class.folder = const { &Promised::<R>::TABLE };
    }
    class
}

const fn folds<F: Folder>(kind: u32, name: &'static CStr) -> Entry {
    let mut class = reduces::<Folding<F>>(kind, name);
    class.folder = const { &FolderTable::<F, Folding<F>>::TABLE };
    Entry::new(class)
}

const fn number_of(fold: Option<KnownFold>) -> u32 {
    match fold {
        Some(fold) => fold as u32,
        None => 0,
    }
}

/// Table of the fold that a reducer promises.
struct Promised<R>(std::marker::PhantomData<R>);
impl<R: Reduces> Promised<R> {
    const TABLE: RawFolder = RawFolder {
        size: size_of::<RawFolder>() as u32,
        state_size: 8,
        known: number_of(R::FOLD),
        exact: !matches!(R::FOLD, Some(KnownFold::SumF64)) as u32,
        init: None,
        fold: None,
        merge: None,
        finish: None,
    };
}

struct FolderTable<F, H>(std::marker::PhantomData<(F, H)>);
impl<F: Folder, H: HasFolder<F>> FolderTable<F, H> {
    const TABLE: RawFolder = {
        assert!(size_of::<F::State>() >= 1 && size_of::<F::State>() <= 65_536, "a state has 1 to 65536 bytes");
        let is_known = F::KNOWN.is_some();
        RawFolder {
            size: size_of::<RawFolder>() as u32,
            state_size: size_of::<F::State>() as u32,
            known: number_of(F::KNOWN),
            exact: F::EXACT as u32,
            init: if is_known { None } else { Some(init_states::<F, H>) },
            fold: if is_known { None } else { Some(fold_values::<F, H>) },
            merge: if is_known { None } else { Some(merge_states::<F, H>) },
            finish: if is_known { None } else { Some(finish_states::<F, H>) },
        }
    };
}

/// Returns the entry of a mapper of records; name: `c"Library.Class"`.
pub const fn mapper<M: Mapper>(name: &'static CStr) -> Entry {
    maps::<Records<M>>(name)
}

/// Returns the entry of a mapper of spans.
pub const fn span_mapper<M: SpanMapper>(name: &'static CStr) -> Entry {
    maps::<Spans<M>>(name)
}

/// Returns the entry of a reducer that sees whole groups.
pub const fn reducer<R: Reducer>(name: &'static CStr) -> Entry {
    Entry::new(reduces::<Whole<R>>(REDUCER, name))
}

/// Returns the entry of a reducer that sees a group value by value.
pub const fn step_reducer<R: StepReducer>(name: &'static CStr) -> Entry {
    Entry::new(reduces::<Steps<R>>(REDUCER, name))
}

/// Returns the entry of a combiner that sees whole groups. It must emit keys and values of its input types.
pub const fn combiner<R: Reducer>(name: &'static CStr) -> Entry {
    Entry::new(reduces::<Whole<R>>(COMBINER, name))
}

/// Returns the entry of a combiner that sees a group value by value. It must emit keys and values of its input types.
pub const fn step_combiner<R: StepReducer>(name: &'static CStr) -> Entry {
    Entry::new(reduces::<Steps<R>>(COMBINER, name))
}

/// Returns the entry of a folder.
pub const fn folder<F: Folder>(name: &'static CStr) -> Entry {
    let mut class = entry::<Alone<F>>(FOLDER, name);
    (class.key_type, class.value_type, class.in_value_type) = (F::Key::ID, F::Value::ID, F::InValue::ID);
    class.folder = const { &FolderTable::<F, Alone<F>>::TABLE };
    Entry::new(class)
}

/// Returns the entry of a reducer that is a folder. The engine may fold instead of sort.
pub const fn fold_reducer<F: Folder>(name: &'static CStr) -> Entry {
    folds::<F>(REDUCER, name)
}

/// Returns the entry of a combiner that is a folder. The engine may fold instead of calling it.
pub const fn fold_combiner<F: Folder>(name: &'static CStr) -> Entry {
    folds::<F>(COMBINER, name)
}

/// Returns the entry of a partitioner.
pub const fn partitioner<P: Partitioner>(name: &'static CStr) -> Entry {
    let mut class = entry::<P>(PARTITIONER, name);
    class.partition = Some(partition::<P>);
    Entry::new(class)
}

/// Returns the entry of a key order.
pub const fn key_order<O: KeyOrder>(name: &'static CStr) -> Entry {
    let mut class = entry::<O>(KEY_ORDER, name);
    class.flags = if O::GROUPS { GROUPS } else { 0 };
    class.key_type = O::InKey::ID;
    class.arrange = Some(arrange::<O>);
    Entry::new(class)
}

struct ReaderTable<R>(std::marker::PhantomData<R>);
impl<R: Reader> ReaderTable<R> {
    const TABLE: RawReader = RawReader {
        size: size_of::<RawReader>() as u32,
        flags: 0,
        look_back: R::LOOK_BACK,
        pad: 0,
        find: if R::FINDS { Some(find::<R>) } else { None },
        read: Some(read_records::<R>),
    };
}

/// Returns the entry of a reader.
pub const fn reader<R: Reader>(name: &'static CStr) -> Entry {
    let mut class = entry::<R>(READER, name);
    (class.key_type, class.value_type) = (R::Key::ID, R::Value::ID);
    class.reader = const { &ReaderTable::<R>::TABLE };
    Entry::new(class)
}

struct WriterTable<W>(std::marker::PhantomData<W>);
impl<W: Writer> WriterTable<W> {
    const TABLE: RawWriter = RawWriter {
        size: size_of::<RawWriter>() as u32,
        flags: if W::WHOLE_PART { WHOLE_PART } else { 0 },
        begin: Some(begin_part::<W>),
        write: Some(write_records::<W>),
        end: Some(end_part::<W>),
        extension: match W::EXTENSION {
            Some(extension) => extension.as_ptr(),
            None => std::ptr::null(),
        },
    };
}

/// Returns the entry of a writer.
pub const fn writer<W: Writer>(name: &'static CStr) -> Entry {
    let mut class = entry::<W>(WRITER, name);
    (class.key_type, class.value_type) = (W::Key::ID, W::Value::ID);
    class.writer = const { &WriterTable::<W>::TABLE };
    Entry::new(class)
}

struct SourceTable<S>(std::marker::PhantomData<S>);
impl<S: Source> SourceTable<S> {
    const TABLE: RawSource = RawSource {
        size: size_of::<RawSource>() as u32,
        flags: if S::GIVES_BLOCKS { SOURCE_BLOCKS } else { 0 },
        plan: Some(plan_units::<S>),
        open: Some(open_unit::<S>),
        next: Some(next_records::<S>),
        describe: Some(describe_file::<S>),
    };
}

/// Returns the entry of a source.
pub const fn source<S: Source>(name: &'static CStr) -> Entry {
    let mut class = entry::<S>(SOURCE, name);
    (class.key_type, class.value_type) = (S::Key::ID, S::Value::ID);
    class.source = const { &SourceTable::<S>::TABLE };
    Entry::new(class)
}
