//! Sentences about suspects, groups of objects and threads of a dump.

use yunti_heap::answer::groups::Group;
use yunti_heap::answer::suspects::Suspect;
use yunti_heap::answer::threads::kinds::KindOfThreads;
use yunti_probe::answer::bytes;
use yunti_program::text::numbers::count as grouped;

use super::holders::kept_alive;

/// Holders that a sentence names.
const HOLDERS_NAMED: usize = 3;

/// Returns the sentence about a suspect.
pub fn of_suspect(suspect: &Suspect, total: u64) -> String {
    let held_in = suspect.held_in.as_ref().map_or_else(String::new, |field| format!(" in {field}"));
    let entries = match (&suspect.entries, &suspect.entry_class) {
        (Some(entries), Some(class)) => format!(" ({} entries of {class})", grouped(*entries)),
        (Some(entries), None) => format!(" ({} entries)", grouped(*entries)),
        _ => String::new(),
    };
    let alive = kept_alive(&suspect.steps);
    let chain = suspect.chain.as_ref().map_or_else(String::new, |(class, field, count)| {
        format!(", a chain of more than {} objects of {class} by {field}", grouped(rounded_down(*count)))
    });
    let below = suspect.groups.first().map_or_else(String::new, |group| {
        format!(", below it by {} objects of {}{}", grouped(group.objects), group.class, shared(&group.holders))
    });
    format!(
        "{} of {} are held by {}{held_in}{entries}{chain}{below}{alive}",
        bytes(suspect.bytes),
        bytes(total),
        suspect.name
    )
}

/// Returns the sentence about objects that no single one holds.
pub fn of_group(group: &Group, total: u64) -> String {
    format!(
        "{} of {} are held by {} objects of {}, none of which holds much{}",
        bytes(group.bytes),
        bytes(total),
        grouped(group.objects),
        group.class,
        shared(&group.holders)
    )
}

/// Returns the first two digits of a count, and zeros.
fn rounded_down(count: u64) -> u64 {
    let unit = 10_u64.pow(count.max(1).ilog10().saturating_sub(1));
    count / unit * unit
}

/// Returns what refers to the objects of a group, as the end of a sentence.
fn shared(holders: &[String]) -> String {
    let named: Vec<&str> = holders.iter().take(HOLDERS_NAMED).map(String::as_str).collect();
    match &named[..] {
        [] => String::new(),
        [one] if one.starts_with("root: ") => format!(", each a {one}"),
        [one] => format!(", in {one}"),
        [others @ .., last] => {
            let more = if holders.len() > HOLDERS_NAMED { " and others" } else { "" };
            format!(", shared by {} and {last}{more}", others.join(", "))
        }
    }
}

/// Returns the sentence about threads of one kind.
pub fn of_kind(kind: &KindOfThreads) -> String {
    let method = kind.method.as_ref().map_or_else(String::new, |method| format!(" in {method}"));
    let local = kind
        .local
        .as_ref()
        .map_or_else(String::new, |(class, held)| format!(", {} of it by local variables of {class}", bytes(*held)));
    format!(
        "{} threads {} hold {}, {} each{local}; each {}{method}.",
        grouped(kind.threads),
        kind.name,
        bytes(kind.bytes),
        bytes(kind.bytes / kind.threads),
        kind.state
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_names_holder_and_path() {
        let suspect = Suspect {
            name: "java.util.HashMap @0x10".to_owned(),
            bytes: 2_100_000_000,
            held_in: Some("static field shop.Cache.ENTRIES".to_owned()),
            entries: Some(312_455),
            entry_class: Some("shop.Order".to_owned()),
            steps: vec!["java.util.HashMap @0x10".to_owned(), "class shop.Cache static ENTRIES".to_owned()],
            ..Suspect::default()
        };
        assert_eq!(
            of_suspect(&suspect, 2_400_000_000),
            "2.10 GB of 2.40 GB are held by java.util.HashMap @0x10 in static field shop.Cache.ENTRIES (312,455 \
             entries of shop.Order); it is kept alive by class shop.Cache static ENTRIES"
        );
    }

    #[test]
    fn counts_are_rounded_down() {
        for (count, rounded) in [(0, 0), (9, 9), (99, 99), (149_234, 140_000), (2_099, 2_000)] {
            assert_eq!(rounded_down(count), rounded);
        }
    }

    #[test]
    fn a_group_names_what_shares_it() {
        let group = |holders: &[&str]| Group {
            class: "shop.Order".to_owned(),
            objects: 2_900_000,
            bytes: 700_000_000,
            holders: holders.iter().map(|&holder| holder.to_owned()).collect(),
        };
        let begin = "700.0 MB of 2.40 GB are held by 2,900,000 objects of shop.Order, none of which holds much";
        assert_eq!(of_group(&group(&[]), 2_400_000_000), begin);
        assert_eq!(
            of_group(&group(&["static field A.X", "B.y"]), 2_400_000_000),
            format!("{begin}, shared by static field A.X and B.y")
        );
        assert!(of_group(&group(&["a", "b", "c", "d"]), 1).ends_with(", shared by a, b and c and others"));
    }
}
