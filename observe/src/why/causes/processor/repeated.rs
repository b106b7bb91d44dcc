//! Work that a program in its steady state does not need, because once is enough: connections are secured anew, threads
//! and processes are started for each piece of work, costly objects are built for each use.
//!
//! Such work is spread over many functions, so no function is hot. Its outermost functions are known: they are those of
//! the operating system and of the languages' own libraries.

use std::collections::HashMap;
use std::rc::Rc;

use crate::why::account::waiting::{self, Waiting, shown};
use crate::why::causes::finding::{Finding, of_processor, percent, while_processors_are_free};
use crate::why::facts::Facts;
use yunti_probe::stack::Frame;

/// Share of the time from which on such work counts. In a steady state it is a hundredth.
const SHARE_MIN: f64 = 0.25;

/// Kind of such work, by parts of names of functions that do it.
struct Kind {
    cause: &'static str,
    signs: &'static [&'static str],
    sentence: &'static str,
    cure: &'static str,
}

static TLS_HANDSHAKES: Kind = Kind {
    cause: "tls-handshakes",
    signs: &[
        "tls.(*Conn).Handshake",
        "tls.(*Conn).handshake",
        "tls.(*Conn).clientHandshake",
        "tls.(*Conn).serverHandshake",
        ".startHandshake",
        "SSLEngineImpl$DelegatedTask",
        "ssl.HandshakeContext",
        "ssl.SSLHandshake",
        "SSL_do_handshake",
        "SSL_connect",
        "SSL_accept",
        "do_handshake",
        "TLSWrap::Start",
        "rustls::client::hs",
        "rustls::server::hs",
    ],
    sentence: "New TLS connections bound it: handshakes take {share} of its {time}{caller}; a connection is opened \
               and secured for each request",
    cure: "one client or session for all requests, with connections that are kept open and reused (keep-alive, a \
           pool); resumption of TLS sessions",
};

static PROCESS_PER_TASK: Kind = Kind {
    cause: "process-per-task",
    signs: &["do_execveat", "forkExec", "fork_exec", "posix_spawn", "ForkingProcess", "forkAndExec", "do_execve"],
    sentence: "Starting processes (fork, exec) bounds it: it takes {share} of its {time}{caller}; a child process is \
               started for each piece of work",
    cure: "a library call instead of the program, or a few processes that stay and take work from a pipe",
};

static THREAD_PER_TASK: Kind = Kind {
    cause: "thread-per-task",
    signs: &[
        "__do_sys_clone3",
        "__do_sys_clone",
        "kernel_clone",
        "__x64_sys_exit",
        "do_exit",
        "create_thread",
        "pthread_create",
        "allocate_stack",
        "advise_stack_range",
        "__nptl_free_tcb",
        "__nptl_deallocate_stack",
        "Thread.start0",
        "JVM_StartThread",
        "JavaThread::exit",
        "JavaThread::~JavaThread",
        "JavaThread::JavaThread",
        "std::thread::spawn",
        "Thread.start python",
    ],
    sentence: "Creating threads (pthread_create, clone) bounds it: their start and end take {share} of its \
               {time}{caller}; a new thread is started for each piece of work",
    cure: "a pool of threads that stay and take work from a queue (an executor); larger pieces of work, or the call \
           itself without a thread",
};

static REPEATED_SETUP: Kind = Kind {
    cause: "repeated-setup",
    signs: &[
        "jackson.databind.ObjectMapper.<init>",
        "jackson.databind.ObjectMapper.configure",
        "jackson.databind.deser.DeserializerCache._create",
        "jackson.databind.ser.BeanSerializerFactory.create",
        "jackson.databind.ser.SerializerFactory",
        "jackson.databind.introspect.",
        "com.google.gson.Gson.<init>",
        "com.google.gson.GsonBuilder.create",
        "JAXBContext.newInstance",
        "DocumentBuilderFactory.newInstance",
        "TransformerFactory.newInstance",
        "XPathFactory.newInstance",
        "SAXParserFactory.newInstance",
        "SchemaFactory.newSchema",
        "java.util.ServiceLoader",
        "java.text.SimpleDateFormat.<init>",
        "java.text.DecimalFormat.<init>",
        "java.time.format.DateTimeFormatterBuilder",
        "java.time.format.DateTimeFormatter.ofPattern",
        "java.util.ResourceBundle.getBundle",
        "java.util.regex.Pattern.compile",
        "java.util.regex.Pattern.<init>",
        "javax.script.ScriptEngineManager",
        "MethodHandles$Lookup.findVirtual",
        "SSLContext.init",
        "KeyStore.load",
        "HttpClientImpl.<init>",
        "HttpClientFacade.<init>",
        "HttpClientBuilderImpl.build",
        "regexp.Compile",
        "regexp.MustCompile",
        "regexp/syntax.Parse",
        "html/template.(*Template).Parse",
        "text/template.(*Template).Parse",
        "x509.(*CertPool).AppendCertsFromPEM",
        "regex::builders",
        "regex_automata::meta::strategy::new",
        "std::basic_regex",
        "std::__cxx11::basic_regex",
        "_M_compile",
        "_Compiler<",
        "std::__detail::_Compiler",
        "regcomp",
        "pcre2_compile",
        "pcre_compile",
        "/sre_compile.py:",
        "/re/_compiler.py:",
        "/re/_parser.py:",
        "v8::internal::Compiler::Compile",
        "V8::Compile",
        "std::locale::locale",
        "setlocale",
    ],
    sentence: "It builds what could be kept: {inner} takes {share} of its {time}{caller}, each time anew",
    cure: "build it once and keep it: a constant, a field, or a cache by its arguments",
};

static EXCEPTIONS: Kind = Kind {
    cause: "exceptions",
    signs: &[
        "Throwable.fillInStackTrace",
        "java_lang_Throwable::fill_in_stack_trace",
        "Throwable.<init>",
        "_Unwind_RaiseException",
        "__cxa_throw",
        "runtime.gopanic",
        "std::panicking::begin_panic",
        "rust_panic_with_hook",
        "v8::internal::Isolate::Throw",
        "CaptureSimpleStackTrace",
        "Isolate::CaptureAndSetErrorStack",
    ],
    sentence: "Exceptions bound it: to create and throw them takes {share} of its {time}{caller}",
    cure: "no exceptions in the usual course: return a value, or reuse an exception without a stack trace",
};

static REFLECTION: Kind = Kind {
    cause: "reflection",
    signs: &[
        "Class.getDeclared",
        "Class.getMethod",
        "Class.getField",
        "Class.forName",
        "jdk.internal.reflect.ReflectionFactory",
        "Class.privateGetDeclared",
        "ClassLoader.loadClass",
        "ClassLoader.defineClass",
        "java.lang.reflect.Proxy.newProxyInstance",
    ],
    sentence: "Looking up classes and their members takes {share} of its {time}{caller}, for the same ones each time",
    cure: "look them up once and keep them (MethodHandle, a cache by class)",
};

static NAME_LOOK_UPS: Kind = Kind {
    cause: "name-look-ups",
    signs: &["getaddrinfo", "InetAddress.getAllByName", "net.(*Resolver).lookupIPAddr"],
    sentence: "Name look-ups (DNS) bound it: they take {share} of its {time}{caller}",
    cure: "connections that are kept open, or a cache of addresses",
};

static KINDS: [&Kind; 7] =
    [&TLS_HANDSHAKES, &PROCESS_PER_TASK, &THREAD_PER_TASK, &REPEATED_SETUP, &EXCEPTIONS, &REFLECTION, &NAME_LOOK_UPS];

/// The frames of the facts by kind of work. Many stacks have the same frames, and names are searched once.
struct Marks<'a> {
    facts: &'a Facts,
    /// Names of frames of each kind, by their place in memory.
    names: HashMap<*const u8, Vec<&'static str>>,
}

impl<'a> Marks<'a> {
    fn of(facts: &'a Facts, kinds: &[&'static Kind]) -> Marks<'a> {
        let mut names = HashMap::new();
        let stacks = facts.on_cpu.iter().map(|(frames, _)| frames);
        let moments = facts.moments().map(|moment| &moment.frames);
        for frame in stacks.chain(moments).flat_map(|frames| frames.iter()) {
            names.entry(frame.name.as_ptr()).or_insert_with(|| {
                let has = |kind: &&&Kind| kind.signs.iter().any(|sign| frame.name.contains(sign));
                kinds.iter().filter(has).map(|kind| kind.cause).collect()
            });
        }
        Marks { facts, names }
    }

    fn is_of(&self, kind: &Kind, frame: &Frame) -> bool {
        self.names.get(&frame.name.as_ptr()).is_some_and(|causes| causes.contains(&kind.cause))
    }

    fn has(&self, kind: &Kind, frames: &[Frame]) -> bool {
        frames.iter().any(|frame| self.is_of(kind, frame))
    }

    fn cpu_share(&self, kind: &Kind) -> f64 {
        self.facts.cpu_share(|frames| self.has(kind, frames))
    }
}

/// Returns the share of the processor time in TLS handshakes.
pub fn handshakes(facts: &Facts) -> f64 {
    Marks::of(facts, &[&TLS_HANDSHAKES]).cpu_share(&TLS_HANDSHAKES)
}

/// Returns the costliest kind of work that is repeated.
pub fn repeated(facts: &Facts) -> Option<Finding> {
    let marks = Marks::of(facts, &KINDS);
    let found = KINDS.iter().filter_map(|kind| of_kind(&marks, kind));
    found.max_by(|a, b| a.cost.total_cmp(&b.cost))
}

/// Returns the function that builds what could be kept, with its caller, if it takes much of the processor time.
pub fn set_up(facts: &Facts) -> Option<String> {
    let marks = Marks::of(facts, &[&REPEATED_SETUP]);
    let share = marks.cpu_share(&REPEATED_SETUP);
    let (caller, inner) = places(&marks, &REPEATED_SETUP);
    (share >= SHARE_MIN).then_some(())?;
    let caller = caller.map_or_else(String::new, |name| format!(", called from {}", shown(&name)));
    Some(format!("{}{caller} ({} of its processor time)", shown(&inner?), percent(share)))
}

fn of_kind(marks: &Marks, kind: &Kind) -> Option<Finding> {
    let facts = marks.facts;
    let on_processor = marks.cpu_share(kind);
    let (mut within, mut all) = (0.0, 0.0);
    for moment in facts.moments() {
        if !matches!(moment.waiting, Waiting::Idle | Waiting::Sleep | Waiting::Unknown) {
            all += moment.share;
            within += if marks.has(kind, &moment.frames) { moment.share } else { 0.0 };
        }
    }
    // Waits for addresses are slow-dns, which knows the server.
    let of_all = if std::ptr::eq(kind, &NAME_LOOK_UPS) { 0.0 } else { within / f64::max(all, 0.01) };
    let (by_processor, by_time) = (on_processor * of_processor(facts), of_all * while_processors_are_free(facts));
    let (share, time, cost) = match by_processor >= by_time {
        true => (on_processor, "processor time", by_processor),
        false => (of_all, "threads' time", by_time),
    };
    if share < SHARE_MIN {
        return None;
    }
    let (caller, inner) = places(marks, kind);
    let caller = caller.map_or_else(String::new, |name| format!(", called from {}", shown(&name)));
    let inner = inner.map_or_else(String::new, |name| shown(&name));
    let sentence = kind.sentence.replace("{share}", &percent(share)).replace("{time}", time);
    Some(Finding {
        cause: kind.cause,
        cost,
        sentence: sentence.replace("{caller}", &caller).replace("{inner}", &inner) + ".",
        evidence: vec![format!(
            "{} of the processor time and {} of the threads' time is in these functions",
            percent(on_processor),
            percent(of_all)
        )],
        cure: kind.cure.to_owned(),
    })
}

/// Returns the program's own function that asks for such work most often, and the outermost function of the work.
fn places(marks: &Marks, kind: &Kind) -> (Option<Rc<str>>, Option<Rc<str>>) {
    let facts = marks.facts;
    let (mut callers, mut works): (HashMap<Rc<str>, f64>, HashMap<Rc<str>, f64>) = Default::default();
    let mut add = |frames: &[Frame], n: f64| {
        let Some(at) = frames.iter().position(|frame| marks.is_of(kind, frame)) else { return };
        *works.entry(frames[at].name.clone()).or_default() += n;
        if let Some(user) = waiting::user_frame(&frames[..at]) {
            *callers.entry(user.name.clone()).or_default() += n;
        }
    };
    facts.on_cpu.iter().for_each(|(frames, n)| add(frames, *n as f64));
    if facts.on_cpu.is_empty() {
        facts.moments().for_each(|moment| add(&moment.frames, moment.share));
    }
    let most = |sums: HashMap<Rc<str>, f64>| {
        sums.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then_with(|| b.0.cmp(&a.0))).map(|(name, _)| name)
    };
    (most(callers), most(works))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::why::facts::ThreadFacts;
    use yunti_probe::stack;

    fn facts(stacks: &[(&[&str], u64)]) -> Facts {
        let frame = |name: &&str| Frame { name: (*name).into(), kind: stack::Kind::Compiled };
        let on_cpu = stacks.iter().map(|(names, n)| (names.iter().map(frame).collect(), *n)).collect();
        let thread = ThreadFacts { shares: [(Waiting::Not, 1.0)].into(), ..ThreadFacts::default() };
        Facts { seconds: 5.0, processors: 2.0, user_seconds: 5.0, threads: vec![thread], on_cpu, ..Facts::default() }
    }

    #[test]
    fn a_mapper_for_each_message() {
        let init =
            ["java.lang.Thread.run", "trucks.Parser.parse", "com.fasterxml.jackson.databind.ObjectMapper.<init>"];
        let read =
            ["java.lang.Thread.run", "trucks.Parser.parse", "com.fasterxml.jackson.databind.ObjectMapper.readValue"];
        let found = repeated(&facts(&[(&init, 40), (&read, 60)])).unwrap();
        assert_eq!(found.cause, "repeated-setup");
        assert!(found.sentence.contains("ObjectMapper.<init> takes 40 %"), "{}", found.sentence);
        assert!(found.sentence.contains("called from trucks.Parser.parse"), "{}", found.sentence);
        assert!(repeated(&facts(&[(&init, 4), (&read, 96)])).is_none());
    }
}
