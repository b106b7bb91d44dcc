//! Short name of a stack: its innermost function of the program itself, and that function's caller.

use yunti_probe::stack::{Frame, Kind};

/// Returns true if a frame belongs to the program: not to Java's libraries, and not to common C functions.
fn is_own(frame: &Frame) -> bool {
    const OF_JAVA: [&str; 7] = ["java.", "javax.", "jdk.", "sun.", "com.sun.", "jakarta.", "one.profiler."];
    const OF_C: [&str; 26] = [
        "accept",
        "accept4",
        "clock_nanosleep",
        "clone",
        "clone3",
        "connect",
        "fdatasync",
        "fsync",
        "main",
        "memcpy",
        "memset",
        "munmap",
        "nanosleep",
        "open",
        "poll",
        "pread64",
        "pwrite64",
        "read",
        "recv",
        "recvfrom",
        "select",
        "send",
        "sendto",
        "start_thread",
        "usleep",
        "write",
    ];
    let name = &*frame.name;
    match frame.kind {
        _ if is_java(frame) => !OF_JAVA.iter().any(|begin| name.starts_with(begin)),
        Kind::Native | Kind::Inlined => {
            !name.starts_with(['_', '['])
                && !["pthread_", "futex", "lll_", "std::"].iter().any(|begin| name.starts_with(begin))
                && !OF_C.contains(&name)
        }
        _ => false,
    }
}

fn is_java(frame: &Frame) -> bool {
    match frame.kind {
        Kind::Interpreted | Kind::CompiledC1 | Kind::Compiled => true,
        Kind::Inlined => frame.name.contains('.'),
        _ => false,
    }
}

/// Returns the place of a stack, the caller last: `com.shop.Cart.reserve <- com.shop.Cart.total`.
pub fn place(frames: &[Frame]) -> Option<String> {
    let has_java = frames.iter().any(is_java);
    let mut own = frames.iter().rev().filter(|frame| is_own(frame) && (!has_java || is_java(frame)));
    match (own.next(), own.next()) {
        (Some(here), Some(caller)) => Some(format!("{} <- {}", here.name, caller.name)),
        (Some(here), None) => Some(here.name.to_string()),
        (None, _) => frames.last().map(|frame| frame.name.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_functions() {
        let check = |frames: &[(&str, Kind)], expected: Option<&str>| {
            let frames: Vec<Frame> =
                frames.iter().map(|(name, kind)| Frame { name: (*name).into(), kind: *kind }).collect();
            assert_eq!(place(&frames).as_deref(), expected);
        };
        let java = Kind::Compiled;
        check(
            &[
                ("a.B.run", java),
                ("a.B.get", Kind::Inlined),
                ("java.io.X.read", java),
                ("read", Kind::Native),
                ("ksys_read", Kind::Kernel),
            ],
            Some("a.B.get <- a.B.run"),
        );
        check(
            &[("main", Kind::Native), ("serve", Kind::Native), ("store", Kind::Native), ("fsync", Kind::Native)],
            Some("store <- serve"),
        );
        check(&[("java.lang.Thread.run", java), ("x", Kind::Kernel)], Some("x"));
        check(&[], None);
    }
}
