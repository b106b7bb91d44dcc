//! Packages of Go's own library, whose functions are nobody's own code.

/// Beginnings of import paths, up to the first slash or dot.
const LIBRARY: [&str; 52] = [
    "archive",
    "bufio",
    "builtin",
    "bytes",
    "cmp",
    "compress",
    "container",
    "context",
    "crypto",
    "database",
    "debug",
    "embed",
    "encoding",
    "errors",
    "expvar",
    "flag",
    "fmt",
    "go",
    "hash",
    "html",
    "image",
    "index",
    "internal",
    "io",
    "iter",
    "log",
    "maps",
    "math",
    "mime",
    "net",
    "os",
    "path",
    "plugin",
    "reflect",
    "regexp",
    "runtime",
    "slices",
    "sort",
    "strconv",
    "strings",
    "structs",
    "sync",
    "syscall",
    "testing",
    "text",
    "time",
    "type",
    "unicode",
    "unique",
    "unsafe",
    "vendor",
    "weak",
];

/// Returns true for a function of Go's library: `net/http.(*conn).serve`, `sync.(*Mutex).Lock`; also for one of
/// `golang.org/x`. A program's own functions are in `main`, or in a path that begins with a host.
pub fn is_of_library(function: &str) -> bool {
    let end = function.find(['/', '.']).unwrap_or(0);
    // `log::info` of Rust, `time.constprop.0` of C.
    let is_go = end > 0 && !function.contains("::") && !function[end..].starts_with(".constprop");
    is_go && LIBRARY.binary_search(&&function[..end]).is_ok() || function.starts_with("golang.org/x/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_the_library() {
        assert!(LIBRARY.is_sorted());
        for (function, expected) in [
            ("net/http.(*conn).serve", true),
            ("sync.(*Mutex).lockSlow", true),
            ("runtime.gopark", true),
            ("internal/poll.(*FD).Read", true),
            ("golang.org/x/sync/errgroup.(*Group).Go.func1", true),
            ("main.main", false),
            ("main.(*Pool[...]).Get", false),
            ("github.com/lib/pq.(*conn).query", false),
            ("shop/orders.(*Store).Load", false),
            ("log::info", false),
            ("malloc", false),
            ("", false),
        ] {
            assert_eq!(is_of_library(function), expected, "{function}");
        }
    }
}
