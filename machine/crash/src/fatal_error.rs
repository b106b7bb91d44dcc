//! Report from `hs_err_pidN.log`, the file that HotSpot writes when it crashes.
//!
//! The file also holds the environment, the command line, registers and parts of memory. Only lines of a known form
//! are used.

use std::time::SystemTime;

use super::stack::{clean, without_numbers};
use super::{Kind, Report};

/// Frames of a report.
const FRAMES_MAX: usize = 32;
/// Bytes of the longest signal name, with room to spare: `SIGSTKFLT`.
const SIGNAL_BYTES_MAX: usize = 12;

/// Returns the report of an hs_err file. `None`: another file, or cut off before its cause.
pub fn report(text: &str, time: SystemTime) -> Option<Report> {
    let mut lines = text.lines().map(str::trim_end);
    let head: Vec<&str> = lines
        .by_ref()
        .take_while(|line| !line.starts_with("------"))
        .filter_map(|line| line.strip_prefix('#'))
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let is_one = head.iter().any(|line| {
        line.starts_with("A fatal error has been detected by the Java Runtime")
            || line.starts_with("There is insufficient memory for the Java Runtime")
    });
    if !is_one {
        return None;
    }
    let cause = cause(&head)?;
    let version = head.iter().find_map(|line| line.strip_prefix("JRE version: ")).map(clean).unwrap_or_default();
    let pid = head.iter().find_map(|line| line.split_once("pid=")).map(|(_, rest)| number(rest)).unwrap_or_default();
    let mut stack = Vec::new();
    let (mut thread, mut compiled, mut part, mut previous) = ("", String::new(), Part::Other, "");
    for line in lines {
        if let Some(rest) = line.strip_prefix("Current thread ") {
            thread = kind_of_thread(rest);
        } else if line.starts_with("Native frames:") {
            part = Part::Native;
        } else if line.starts_with("Java frames:") {
            // Java frames repeat those of the native frames, so they are used only without native frames.
            part = if stack.is_empty() { Part::Java } else { Part::Other };
        } else if previous.starts_with("Current CompileTask:") {
            compiled = method_of_task(line).unwrap_or_default();
        } else if line.is_empty() {
            part = Part::Other;
        } else if !matches!(part, Part::Other)
            && stack.len() < FRAMES_MAX
            && let Some(frame) = frame(line)
        {
            stack.push(frame);
        }
        previous = line;
    }
    let innermost =
        head.iter().position(|line| line.starts_with("Problematic frame:")).and_then(|at| frame(head.get(at + 1)?));
    if stack.is_empty() {
        stack.extend(innermost);
    }
    let class = class(&cause, thread, &stack);
    let title = match stack.first() {
        Some(top) if cause.is_signal => format!("{}: {top}", cause.text),
        _ => cause.text.clone(),
    };
    let distinguishing = if cause.is_signal { String::new() } else { without_numbers(&cause.text) };
    Some(
        Report::new(Kind::JvmFatal, class, title, time, stack, &[&distinguishing])
            .fact("pid", pid)
            .fact("jre", version)
            .fact("thread", thread)
            .fact("compiles", compiled),
    )
}

/// Section of the file.
enum Part {
    Native,
    Java,
    Other,
}

/// Cause of a crash.
struct Cause {
    /// Signal or message: `SIGSEGV`, `Internal Error: fatal error: ..`.
    text: String,
    is_signal: bool,
}

fn cause(head: &[&str]) -> Option<Cause> {
    for (at, line) in head.iter().enumerate() {
        // `SIGSEGV (0xb) at pc=0x.., pid=1, tid=2`
        if let Some((signal, _)) = line.split_once(" (0x")
            && signal.starts_with("SIG")
            && signal.len() <= SIGNAL_BYTES_MAX
            && signal.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
        {
            return Some(Cause { text: signal.to_owned(), is_signal: true });
        }
        // `Internal Error (src/hotspot/share/x.cpp:12), pid=1, tid=2`; the next line may hold an assertion or a
        // message of the JVM.
        for name in ["Internal Error (", "Out of Memory Error ("] {
            let Some(rest) = line.strip_prefix(name) else { continue };
            let place = rest.split_once(')').map_or("", |(place, _)| place);
            let file = place.rsplit('/').next().unwrap_or_default();
            let message = head.get(at + 1).filter(|next| is_jvm_message(next)).map(|next| format!(": {}", clean(next)));
            let name = name.trim_end_matches(" (");
            return Some(Cause {
                text: format!("{name} at {}{}", clean(file), message.unwrap_or_default()),
                is_signal: false,
            });
        }
        if let Some(rest) = line.strip_prefix("Native memory allocation (") {
            let how = rest.split_once(')').map_or("", |(how, _)| how);
            return Some(Cause { text: format!("no native memory left ({})", clean(how)), is_signal: false });
        }
    }
    None
}

/// Returns true for messages from the JVM's own source.
fn is_jvm_message(line: &str) -> bool {
    ["assert(", "guarantee(", "fatal error: ", "Error: "].iter().any(|start| line.starts_with(start))
}

fn class(cause: &Cause, thread: &str, stack: &[String]) -> String {
    if !cause.is_signal {
        let out_of_heap = cause.text.contains("OutOfMemory encountered");
        return match () {
            () if out_of_heap => "no heap left".to_owned(),
            () if cause.text.starts_with("no native memory") || cause.text.starts_with("Out of Memory") => {
                "no native memory left".to_owned()
            }
            () => "an assertion of the JVM".to_owned(),
        };
    }
    let signal = &cause.text;
    let by = match thread {
        "CompilerThread" => Some("the compiler"),
        "GCTaskThread" | "WorkerThread" | "ConcurrentGCThread" => Some("a garbage collector"),
        "VMThread" => Some("the JVM"),
        _ => None,
    };
    let library = |frame: &'_ String| Some(frame.strip_prefix('[')?.split_once(']')?.0.to_owned());
    match (by, stack.first()) {
        (Some(by), _) => format!("{signal} in {by}"),
        (None, Some(top)) => match library(top) {
            Some(name) if name == "libjvm.so" => format!("{signal} in the JVM"),
            Some(name) => format!("{signal} in {name}"),
            None => format!("{signal} in Java code"),
        },
        (None, None) => format!("{signal} in an unknown place"),
    }
}

/// Name of a frame. `V  [libjvm.so+0xd3f1a0]  Unsafe_PutInt+0x120` gives `[libjvm.so] Unsafe_PutInt`; `j
/// Crash.main([Ljava/lang/String;)V+9` gives `Crash.main`.
fn frame(line: &str) -> Option<String> {
    let (kind, rest) = line.split_once(' ')?;
    let rest = rest.trim_start();
    match kind {
        "V" | "v" | "C" => {
            let Some(inside) = rest.strip_prefix('[') else {
                // Code stubs of the JVM: `v  ~StubRoutines::call_stub 0x..`
                if kind != "v" {
                    return None;
                }
                let name = rest.split([' ', '+']).next()?.trim_start_matches('~');
                return Some(name).filter(|n| is_name(n) && !n.starts_with("0x")).map(clean);
            };
            let (library, name) = inside.split_once(']')?;
            let library = library.split("+0x").next()?;
            let name = name.trim_start();
            let name = name.rfind("+0x").map_or(name, |at| &name[..at]);
            (is_name(library) && (name.is_empty() || is_symbol(name))).then(|| match name {
                "" => format!("[{}]", clean(library)),
                _ => format!("[{}] {}", clean(library), clean(name)),
            })
        }
        "j" | "J" | "A" => {
            // `J 1234% c2 com.Shop.find(I)V (10 bytes) @ 0x..`
            let words = rest.split(' ').skip_while(|word| !word.contains('('));
            let method = words.into_iter().next()?.split_once('(')?.0;
            is_name(method).then(|| clean(&without_run_numbers(method)))
        }
        _ => None,
    }
}

/// Method name without the numbers and addresses of classes that the JVM generates:
/// `Shop$$Lambda$14/0x0000000800c03000.run`, `Shop$$Lambda+0x00007f..`, `LambdaForm$MH.0x..`,
/// `GeneratedMethodAccessor12`, `$Proxy7`. The rest is the same in each run.
fn without_run_numbers(method: &str) -> String {
    let mut out = String::with_capacity(method.len());
    let mut rest = method;
    while let Some(c) = rest.chars().next() {
        let address = ["/0x", "+0x", ".0x"].iter().find_map(|mark| rest.strip_prefix(mark));
        if let Some(behind) = address.filter(|behind| behind.starts_with(|c: char| c.is_ascii_hexdigit())) {
            rest = behind.trim_start_matches(|c: char| c.is_ascii_hexdigit());
            continue;
        }
        out.push(c);
        rest = &rest[c.len_utf8()..];
        if ["$$Lambda", "GeneratedMethodAccessor", "GeneratedConstructorAccessor", "$Proxy"]
            .iter()
            .any(|made| out.ends_with(made))
        {
            let behind = rest.strip_prefix('$').unwrap_or(rest);
            let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
            if digits > 0 {
                rest = &behind[digits..];
            }
        }
    }
    out
}

/// Returns true for the characters of a library name, or of a class with its method.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "._$/-+:<>~".contains(c))
}

/// Returns true for the characters of a C++ symbol, including types and arguments.
fn is_symbol(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || "._$-+:<>~(),*& []@{}=".contains(c)) && !text.contains("= ")
}

/// Kind of the thread in `(0x00007f..):  JavaThread "main" [_thread_in_vm, id=1]`. The thread's name belongs to the
/// program and is left out.
fn kind_of_thread(rest: &str) -> &'static str {
    const KINDS: [(&str, &str); 8] = [
        ("CompilerThread", "CompilerThread"),
        ("GCTaskThread", "GCTaskThread"),
        ("GC Thread", "GCTaskThread"),
        ("WorkerThread", "WorkerThread"),
        ("ConcurrentGCThread", "ConcurrentGCThread"),
        ("VMThread", "VMThread"),
        ("WatcherThread", "WatcherThread"),
        ("JavaThread", "JavaThread"),
    ];
    let kind = rest.split_once("):").map_or(rest, |(_, kind)| kind.trim_start());
    let compilers = ["C1 CompilerThread", "C2 CompilerThread", "JVMCI CompilerThread"];
    if kind.strip_prefix("JavaThread \"").is_some_and(|name| compilers.iter().any(|one| name.starts_with(one))) {
        return "CompilerThread";
    }
    KINDS.iter().find(|(start, _)| kind.starts_with(start)).map_or("", |(_, name)| name)
}

/// Method of a compile task: `C2:1234  567 %  4  com.Shop::find @ 5 (10 bytes)` gives `com.Shop::find`.
fn method_of_task(line: &str) -> Option<String> {
    let method = line.split_whitespace().find(|word| word.contains("::"))?;
    is_name(method).then(|| clean(method))
}

fn number(text: &str) -> String {
    text.chars().take_while(char::is_ascii_digit).take(10).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIGSEGV: &str = r#"#
# A fatal error has been detected by the Java Runtime Environment:
#
#  SIGSEGV (0xb) at pc=0x00007f0a1c0d5f1a, pid=4711, tid=4712
#
# JRE version: OpenJDK Runtime Environment (17.0.9+9) (build 17.0.9+9-Debian-1)
# Java VM: OpenJDK 64-Bit Server VM (17.0.9+9-Debian-1, mixed mode, sharing, tiered, compressed oops, g1 gc, linux-amd64)
# Problematic frame:
# V  [libjvm.so+0xe5df1a]  Unsafe_PutInt+0x9a
#
# No core dump will be written. Core dumps have been disabled.
#
# If you would like to submit a bug report, please visit:
#   https://bugs.debian.org/openjdk-17
#

---------------  S U M M A R Y ------------

Command Line: -Dpassword=hunter2 -Xmx1g Crash --token=hunter2

Host: AMD EPYC, 2 cores, 23G, Debian
Time: Mon Nov 23 20:00:00 2026 UTC elapsed time: 0.1 seconds (0d 0h 0m 0s)

---------------  T H R E A D  ---------------

Current thread (0x00007f0a14025710):  JavaThread "hunter2-worker" [_thread_in_vm, id=4712, stack(0x1,0x2)]

Stack: [0x00007f0a1b0f1000,0x00007f0a1b1f2000],  sp=0x00007f0a1b1f0750,  free space=1021k
Native frames: (J=compiled Java code, A=aot compiled Java code, j=interpreted, Vv=VM code, C=native code)
V  [libjvm.so+0xe5df1a]  Unsafe_PutInt+0x9a
j  jdk.internal.misc.Unsafe.putInt(Ljava/lang/Object;JI)V+0 java.base@17.0.9
j  Crash.main([Ljava/lang/String;)V+22
v  ~StubRoutines::call_stub
C  [libjli.so+0x4b0f]  JavaMain+0xd2f

Java frames: (J=compiled Java code, j=interpreted, Vv=VM code)
j  jdk.internal.misc.Unsafe.putInt(Ljava/lang/Object;JI)V+0 java.base@17.0.9
j  Crash.main([Ljava/lang/String;)V+22

siginfo: si_signo: 11 (SIGSEGV), si_code: 1 (SEGV_MAPERR), si_addr: 0x0000000000000000

Register to memory mapping:
RAX=hunter2

Environment Variables:
SECRET=hunter2
JAVA_TOOL_OPTIONS=-Dkey=hunter2
"#;

    fn read(text: &str) -> Report {
        report(text, SystemTime::UNIX_EPOCH).expect(text)
    }

    #[test]
    fn reports_names_only() {
        let report = read(SIGSEGV);
        assert_eq!(report.class, "SIGSEGV in the JVM");
        assert_eq!(report.title, "SIGSEGV: [libjvm.so] Unsafe_PutInt");
        assert_eq!(
            report.stack,
            [
                "[libjvm.so] Unsafe_PutInt",
                "jdk.internal.misc.Unsafe.putInt",
                "Crash.main",
                "StubRoutines::call_stub",
                "[libjli.so] JavaMain"
            ]
        );
        assert!(
            report.facts.contains(&("pid", "4711".to_owned()))
                && report.facts.contains(&("thread", "JavaThread".to_owned()))
        );
        assert!(!format!("{report:?}").contains("hunter2"), "{report:?}");
    }

    #[test]
    fn the_same_crash_has_the_same_signature() {
        let again =
            SIGSEGV.replace("4711", "99").replace("+0x9a", "+0xb0").replace("0xe5df1a", "0xaaaa").replace("+22", "+3");
        assert_eq!(read(&again).signature, read(SIGSEGV).signature);
        assert_ne!(read(&SIGSEGV.replace("SIGSEGV", "SIGBUS")).signature, read(SIGSEGV).signature);
        assert_ne!(read(&SIGSEGV.replace("Crash.main", "Crash.run")).signature, read(SIGSEGV).signature);
    }

    #[test]
    fn classifies_crashes() {
        let native =
            SIGSEGV.replace("V  [libjvm.so+0xe5df1a]  Unsafe_PutInt+0x9a", "C  [libshop.so+0x119]  Java_Shop_find+0x9");
        assert_eq!(read(&native).class, "SIGSEGV in libshop.so");
        let compiler =
            SIGSEGV.replace("JavaThread \"hunter2-worker\"", "JavaThread \"C2 CompilerThread0\" daemon").replace(
                "Stack: [",
                "\nCurrent CompileTask:\nC2:  1234  567 %  4       com.Shop::find @ 5 (10 bytes)\n\nStack: [",
            );
        let compiler = read(&compiler);
        assert_eq!(compiler.class, "SIGSEGV in the compiler");
        assert!(compiler.facts.contains(&("compiles", "com.Shop::find".to_owned())), "{compiler:?}");
        let java = SIGSEGV.replace(
            "V  [libjvm.so+0xe5df1a]  Unsafe_PutInt+0x9a",
            "J 1234% c2 com.Shop.find(I)V (10 bytes) @ 0x00007f0a [0x00007f0a+0x4c]",
        );
        assert_eq!(read(&java).class, "SIGSEGV in Java code");
        assert_eq!(read(&java).stack[0], "com.Shop.find");
    }

    #[test]
    fn generated_classes_have_the_same_name_in_each_run() {
        for (line, name) in [
            ("j  Shop$$Lambda$14/0x0000000800c03000.run()V+4", "Shop$$Lambda.run"),
            ("j  Shop$$Lambda$1.run()V+4", "Shop$$Lambda.run"),
            ("j  Shop$$Lambda+0x00007f1234000a00.run()V+4", "Shop$$Lambda.run"),
            (
                "j  java.lang.invoke.LambdaForm$MH.0x0000000800c04000.invoke(I)V+4 java.base@17",
                "java.lang.invoke.LambdaForm$MH.invoke",
            ),
            (
                "j  java.lang.invoke.LambdaForm$DMH+0x00007f.invokeStatic(I)V+4",
                "java.lang.invoke.LambdaForm$DMH.invokeStatic",
            ),
            (
                "j  jdk.internal.reflect.GeneratedMethodAccessor12.invoke(I)V+4",
                "jdk.internal.reflect.GeneratedMethodAccessor.invoke",
            ),
            ("J 12 c2 jdk.proxy2.$Proxy34.find()V (5 bytes) @ 0x1", "jdk.proxy2.$Proxy.find"),
            ("j  Shop$1.find2()V+1", "Shop$1.find2"),
        ] {
            assert_eq!(frame(line).as_deref(), Some(name), "{line}");
        }
    }

    /// A crafted file cannot make the report oversized.
    #[test]
    fn refuses_an_endless_signal_name() {
        let made = SIGSEGV.replace("SIGSEGV", &format!("SIG{}", "A".repeat(100_000)));
        assert_eq!(report(&made, SystemTime::UNIX_EPOCH), None);
    }

    #[test]
    fn reports_causes_other_than_signals() {
        let heap = "#\n# A fatal error has been detected by the Java Runtime Environment:\n#\n#  Internal Error \
            (debug.cpp:362), pid=12, tid=13\n#  fatal error: OutOfMemory encountered: Java heap space\n#\n";
        let report = read(heap);
        assert_eq!(report.class, "no heap left");
        assert_eq!(
            report.title,
            "Internal Error at debug.cpp:362: fatal error: OutOfMemory encountered: Java heap space"
        );
        let native = "#\n# There is insufficient memory for the Java Runtime Environment to continue.\n# Native \
            memory allocation (mmap) failed to map 65536 bytes. Error detail: G1 virtual space\n# Possible \
            reasons:\n#  Out of Memory Error (os_linux.cpp:2790), pid=1, tid=2\n";
        assert_eq!(read(native).class, "no native memory left");
    }

    #[test]
    fn refuses_other_files_and_truncated_files() {
        for text in
            ["", "#\n#\n", "SECRET=hunter2", "# A fatal error has been detected by the Java Runtime Environment:\n#\n"]
        {
            assert_eq!(report(text, SystemTime::UNIX_EPOCH), None);
        }
        for cut in (0..SIGSEGV.len()).filter(|at| SIGSEGV.is_char_boundary(*at)) {
            let report = format!(
                "{:?}{:?}",
                report(&SIGSEGV[..cut], SystemTime::UNIX_EPOCH),
                report(&SIGSEGV[cut..], SystemTime::UNIX_EPOCH)
            );
            assert!(!report.contains("hunter2"));
        }
    }

    /// A crafted file cannot make the report include other text.
    #[test]
    fn leaves_out_lines_that_only_resemble_frames() {
        let made = SIGSEGV.replace(
            "j  Crash.main([Ljava/lang/String;)V+22\nv",
            "C  root:x:0:0:root /root\nj  SECRET=hunter2(\nV  [a b+0x1]  PASSWORD = hunter2\nv",
        );
        let report = format!("{:?}", read(&made));
        assert!(!report.contains("hunter2") && !report.contains("root"), "{report}");
    }
}
