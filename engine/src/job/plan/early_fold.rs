//! Folds in workers: a folder whose states cannot live in the engine folds what its mappers emit, in their workers. A
//! reducer merges the states.

use super::classes::JobClasses;
use super::source::Source;
use crate::operator::{Kind, Type};

/// Replaces the mappers and the folder, if the mappers can fold for themselves and nothing else sees their values.
/// Returns true if it did.
pub fn fold_in_workers(sources: &mut [Source], classes: &mut JobClasses, map_types: &mut (Type, Type)) -> bool {
    let Some(folder) = classes.reducer.as_ref().filter(|class| class.info().kind == Kind::Folder) else { return false };
    // A partitioner may look at the values. An order of keys by a class puts the key in front of them.
    if classes.partitioner.is_some() || classes.key_order.is_some() || classes.combiner.is_some() {
        return false;
    }
    let name = &folder.info().name;
    let made: Option<Vec<_>> = sources.iter().map(|source| source.mapper.as_ref()?.folding(name)).collect();
    let Some(made) = made else { return false };
    for (source, (mapper, reducer)) in sources.iter_mut().zip(made) {
        source.types.1 = mapper.info().value_type;
        map_types.1 = source.types.1;
        source.mapper = Some(mapper);
        classes.reducer = Some(reducer);
    }
    true
}
