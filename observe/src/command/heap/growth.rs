//! Growth of classes between two counts of a live heap.

use yunti_heap::model::name::is_of_the_jdk;

use crate::jvm::{Counted, Histogram};

/// Class in both counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassGrowth {
    /// Name of the class.
    pub class: String,
    /// Objects in the second count.
    pub now: Counted,
    /// Further objects, negative if there are fewer.
    pub objects: i64,
    /// Further bytes.
    pub bytes: i64,
}

/// Returns all classes, the largest first.
pub fn classes(old: &Histogram, new: &Histogram) -> Vec<ClassGrowth> {
    let gone = old.classes.keys().filter(|class| !new.classes.contains_key(*class));
    let mut all: Vec<ClassGrowth> = new
        .classes
        .keys()
        .chain(gone)
        .map(|class| {
            let count = |of: &Histogram| of.classes.get(class).copied().unwrap_or_default();
            let (then, now) = (count(old), count(new));
            let more = |now: u64, then: u64| now as i64 - then as i64;
            let (objects, bytes) = (more(now.objects, then.objects), more(now.bytes, then.bytes));
            ClassGrowth { class: class.clone(), now, objects, bytes }
        })
        .collect();
    all.sort_by(|a, b| (b.now.bytes, &a.class).cmp(&(a.now.bytes, &b.class)));
    all
}

/// Share of a heap below which growth is not worth a sentence.
const LEAST_SHARE: u64 = 1000;

/// Returns the class that stands for the growth: the one of an application that grew most if its objects come with the
/// bytes, else the one that grew most. Arrays and classes of the JDK grow with every other class.
pub fn most(all: &[ClassGrowth], total: Counted) -> Option<&ClassGrowth> {
    let grown = || all.iter().filter(|class| class.bytes > 0 && class.bytes as u64 >= total.bytes / LEAST_SHARE);
    let largest = grown().max_by_key(|class| class.bytes)?;
    let own = all.iter().filter(|class| is_of_an_application(&class.class) && class.objects > 0);
    let own = own.max_by_key(|class| (class.objects, class.bytes));
    // An application's object holds some objects of the JDK: strings, arrays, nodes of maps.
    let follows = |class: &&ClassGrowth| class.objects.saturating_mul(OBJECTS_HELD) >= largest.objects;
    Some(own.filter(follows).unwrap_or(largest))
}

/// Objects of the JDK that one of an application holds at most, for it to stand for their growth.
const OBJECTS_HELD: i64 = 20;

/// Returns true for a class, or a method of one, that is no part of the JDK and no array.
pub fn is_of_an_application(class: &str) -> bool {
    !class.ends_with("[]") && !is_of_the_jdk(class)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_class_that_grows_is_named() {
        let histogram = |rows: &[(&str, u64, u64)]| Histogram {
            classes: rows.iter().map(|&(name, objects, bytes)| (name.to_owned(), Counted { objects, bytes })).collect(),
            took: Duration::ZERO,
        };
        let old = histogram(&[("byte[]", 1000, 90_000), ("shop.Order", 10, 240), ("shop.Gone", 2, 32)]);
        let new = histogram(&[("byte[]", 3000, 190_000), ("shop.Order", 900, 21_600), ("java.lang.String", 5, 120)]);
        let all = classes(&old, &new);
        assert_eq!(all.iter().map(|class| class.bytes).collect::<Vec<_>>(), [100_000, 21_360, 120, -32]);
        assert_eq!(most(&all, new.total()).map(|class| &*class.class), Some("shop.Order"));
        // Few objects of an application do not explain many arrays.
        let few = histogram(&[("byte[]", 3000, 190_000), ("shop.Order", 12, 288)]);
        assert_eq!(most(&classes(&old, &few), few.total()).map(|class| &*class.class), Some("byte[]"));
        assert_eq!(most(&classes(&new, &new), new.total()), None);
    }
}
