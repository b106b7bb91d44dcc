//! Compilation in a JVM: code that is interpreted, compiled again and again, or loaded again and again.

use crate::why::causes::finding::{Finding, has_frame, of_processor, percent, while_processors_are_free};
use crate::why::facts::Facts;

/// Share of interpreted code on the processors from which on it is the cause.
const INTERPRETED_MIN: f64 = 0.6;
/// Age of a process in seconds from which on it has warmed up.
const WARM_SECONDS: f64 = 60.0;
/// Speed of interpreted code, relative to compiled code, at most.
const SPEED_INTERPRETED: f64 = 0.2;

/// Returns true if the state of the code cache would tell why code is interpreted.
pub fn needs_code_cache(facts: &Facts) -> bool {
    facts.is_jvm && facts.jvm.interpreted > INTERPRETED_MIN && of_processor(facts) > 0.0
}

pub fn interpreted(facts: &Facts) -> Option<Finding> {
    let share = facts.jvm.interpreted;
    if !facts.is_jvm || share < INTERPRETED_MIN {
        return None;
    }
    let is_off =
        facts.heap.as_ref().is_some_and(|heap| heap.options.split_whitespace().any(|option| option == "-Xint"));
    let is_full = facts.details.code_cache_full == Some(true);
    let is_warm = facts.outside.age_seconds > WARM_SECONDS;
    if !is_off && !is_full && !is_warm {
        return None;
    }
    let (why, cure) = match (is_off, is_full) {
        (true, _) => ("because of -Xint", "remove -Xint"),
        (_, true) => (
            "because the code cache is full and the compiler is off",
            "-XX:ReservedCodeCacheSize larger (256m), -XX:+UseCodeCacheFlushing, fewer generated classes",
        ),
        _ => (
            "although it has run for long enough",
            "look for what keeps code from being compiled: methods over 8000 bytes (-XX:-DontCompileHugeMethods), \
             classes that are generated again and again, -XX:CompileThreshold, a debugger's agent",
        ),
    };
    Some(Finding {
        cause: "interpreted",
        cost: share * (1.0 - SPEED_INTERPRETED) * of_processor(facts),
        sentence: format!(
            "Its Java code is interpreted, not compiled, {why}: {} of its processor time.",
            percent(share)
        ),
        evidence: vec![format!(
            "{:.0} compilations in the measurement, {:.1} s of the compilers' processor time",
            facts.heap.as_ref().map_or(0.0, |heap| heap.compilations),
            facts.jvm.compiling_seconds
        )],
        cure: cure.to_owned(),
    })
}

const DEOPTIMISATION: [&str; 4] =
    ["Deoptimization::", "uncommon_trap", "OptoRuntime::handle_exception_C", "SharedRuntime::handle_wrong_method"];
const CLASS_LOADING: [&str; 7] = [
    "ClassLoader.defineClass",
    "ClassLoader.loadClass",
    "ClassFileParser::",
    "SystemDictionary::",
    "Lookup.defineHiddenClass",
    "ClassLoader.findClass",
    "InnerClassLambdaMetafactory",
];
/// Share of processor time from which on these count.
const SHARE_MIN: f64 = 0.1;
/// The same for compilers in a young process: they work in each of them, and hold it up if they have a large part.
const WARM_UP_MIN: f64 = 0.3;

pub fn deoptimised(facts: &Facts) -> Option<Finding> {
    let share = facts.cpu_share(|frames| has_frame(frames, &DEOPTIMISATION));
    let own = facts.own_function(|frames| has_frame(frames, &DEOPTIMISATION));
    let place = own.map_or_else(String::new, |(name, _)| format!(", above all in {name}"));
    (facts.is_jvm && share > SHARE_MIN).then(|| Finding {
        cause: "deoptimisation",
        cost: share * of_processor(facts),
        sentence: format!(
            "Compiled code is given up again and again: {} of its processor time is deoptimisation{place}.",
            percent(share)
        ),
        evidence: vec![format!(
            "{:.1} compilations per second",
            facts.heap.as_ref().map_or(0.0, |heap| heap.compilations) / facts.seconds.max(0.001)
        )],
        cure: "-Xlog:deoptimization=debug names the reason: exceptions as control flow, types that change, \
               -XX:PerMethodTrapLimit; a newer JDK"
            .to_owned(),
    })
}

pub fn compilation(facts: &Facts) -> Option<Finding> {
    let all = facts.cpu_seconds().max(0.001);
    let share = facts.jvm.compiling_seconds / all;
    // Compilers beside free processors hold nobody up.
    let scarce = facts.utilisation() * (1.0 - while_processors_are_free(facts));
    let is_warm = facts.outside.age_seconds > WARM_SECONDS;
    let least = if is_warm { SHARE_MIN } else { WARM_UP_MIN };
    if !facts.is_jvm || share < least || facts.cpu_seconds() < facts.seconds * 0.3 {
        return None;
    }
    Some(Finding {
        cause: if is_warm { "compilation" } else { "warm-up" },
        cost: share * scarce,
        sentence: match is_warm {
            true => format!(
                "Compilers take {} of its processor time, although it has run for {:.0} minutes: code is generated or \
                 given up again and again.",
                percent(share),
                facts.outside.age_seconds / 60.0
            ),
            false => format!(
                "It warms up: compilers take {} of its processor time, {:.0} s after its start.",
                percent(share),
                facts.outside.age_seconds
            ),
        },
        evidence: vec![format!("{:.1} s of processor time in compiler threads", facts.jvm.compiling_seconds)],
        cure: match is_warm {
            true => {
                "-Xlog:jit+compilation=debug names the methods; fewer generated classes, a larger code cache".to_owned()
            }
            false => "wait; or start warm (`yunti warmup`), with a profile or archive (AOT cache, CDS)".to_owned(),
        },
    })
}

pub fn class_loading(facts: &Facts) -> Option<Finding> {
    let share = facts.cpu_share(|frames| has_frame(frames, &CLASS_LOADING));
    let rate = facts.heap.as_ref().map_or(0.0, |heap| heap.classes) / facts.seconds.max(0.001);
    let own = facts.own_function(|frames| has_frame(frames, &CLASS_LOADING));
    let place = own.map_or_else(String::new, |(name, _)| format!(", above all in {name}"));
    (facts.is_jvm && share > SHARE_MIN).then(|| Finding {
        cause: "class-loading",
        cost: share * of_processor(facts),
        sentence: format!(
            "Class loading bounds it: {} of its processor time, {rate:.0} new classes per second{place}.",
            percent(share)
        ),
        evidence: vec![match rate < 1.0 {
            true => "no new classes: the same ones are looked up in vain, again and again".to_owned(),
            false => format!("{rate:.0} classes are loaded per second"),
        }],
        cure: "cache what is looked up or generated (scripts, proxies, mappers, JAXB contexts), one class loader for \
               all requests; an archive of classes (CDS) for the start"
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::why::account::waiting::Waiting;
    use crate::why::facts::{Details, HeapFacts, JvmStacks, OutsideFacts, ThreadFacts};
    use yunti_probe::stack::{Frame, Kind};

    fn facts(function: &str, age_seconds: f64) -> Facts {
        let thread = ThreadFacts { shares: [(Waiting::Not, 1.0)].into(), ..ThreadFacts::default() };
        let frame = |name: &str, kind| Frame { name: name.into(), kind };
        Facts {
            seconds: 10.0,
            processors: 1.0,
            user_seconds: 9.9,
            is_jvm: true,
            threads: vec![thread],
            on_cpu: vec![(vec![frame("a.Shop.run", Kind::Compiled), frame(function, Kind::Jvm)].into(), 10)],
            outside: OutsideFacts { age_seconds, ..OutsideFacts::default() },
            ..Facts::default()
        }
    }

    #[test]
    fn interpreted_code_needs_a_reason() {
        let jvm = JvmStacks { interpreted: 0.9, ..JvmStacks::default() };
        let of = |age, options: &str, full| {
            let heap = Some(HeapFacts { options: options.to_owned(), ..HeapFacts::default() });
            let details = Details { code_cache_full: full, ..Details::default() };
            let outside = OutsideFacts { age_seconds: age, ..OutsideFacts::default() };
            interpreted(&Facts { jvm: jvm.clone(), heap, details, outside, ..facts("x", age) })
                .map(|found| found.sentence)
        };
        assert!(of(5.0, "-Xmx1g -Xint", None).is_some_and(|sentence| sentence.contains("because of -Xint")));
        assert!(of(5.0, "", Some(true)).is_some_and(|sentence| sentence.contains("code cache is full")));
        assert!(of(500.0, "", None).is_some());
        // It has just started.
        assert_eq!(of(5.0, "", Some(false)), None);
    }

    #[test]
    fn work_of_the_jvm_by_its_frames() {
        let found = deoptimised(&facts("Deoptimization::uncommon_trap_inner", 99.0)).unwrap();
        assert!(found.sentence.contains("above all in a.Shop.run"), "{}", found.sentence);
        assert!(class_loading(&facts("SystemDictionary::resolve_or_null", 99.0)).is_some());
        let jvm = JvmStacks { compiling_seconds: 5.0, ..JvmStacks::default() };
        let of = |age| compilation(&Facts { jvm: jvm.clone(), ..facts("x", age) }).map(|found| found.cause);
        assert_eq!((of(5.0), of(500.0)), (Some("warm-up"), Some("compilation")));
    }
}
