//! Names of JavaScript in a perf map, which Node.js writes with `--perf-basic-prof`.

use std::path::Path;

use yunti_probe::stack::{Frame, Kind};
use yunti_probe::target::{Process, arguments};

use super::profile::place;

/// Returns true if the process writes a perf map.
pub fn is_written(process: &Process) -> bool {
    let path = process.path(&format!("/tmp/perf-{}.map", process.pid_inside));
    arguments(process.pid).iter().any(|word| word.starts_with("--perf-basic-prof")) && Path::new(&path).exists()
}

/// Returns the frame of a name in the map, if it is JavaScript: `JS:*total /srv/shop/cart.js:12:20`.
pub fn frame(name: &str) -> Option<Frame> {
    const KINDS: [&str; 6] = ["JS:", "LazyCompile:", "Function:", "Script:", "Eval:", "Handler:"];
    let rest = KINDS.iter().find_map(|kind| name.strip_prefix(kind))?;
    let rest = rest.trim_start_matches(['*', '~', '^', '+']);
    let (function, position) = rest.rsplit_once(' ').unwrap_or(("", rest));
    let function = if function.is_empty() { "(anonymous)" } else { function };
    // Positions are a line, or a line and a column.
    let mut numbers: Vec<&str> = position.rsplitn(3, ':').collect();
    numbers.reverse();
    let is_number = |text: &&&str| text.parse::<u32>().is_ok();
    let (script, line) = match numbers[..] {
        [script, line, column] if is_number(&&line) && is_number(&&column) => (script.to_owned(), line),
        [head, script, line] if is_number(&&line) => (format!("{head}:{script}"), line),
        [script, line] if is_number(&&line) => (script.to_owned(), line),
        _ => return None,
    };
    Some(Frame { name: format!("{function} {}:{line}", place(&script)).into(), kind: Kind::JavaScript })
}

#[cfg(test)]
mod tests {
    use super::frame;

    #[test]
    fn names_of_a_map() {
        let check =
            |name: &str, expect| assert_eq!(frame(name).map(|f| f.name.to_string()).as_deref(), expect, "{name}");
        check("JS:*total /srv/shop/cart.js:12:20", Some("total cart.js:12"));
        check("LazyCompile:~get total /srv/shop/cart.js:12", Some("get total cart.js:12"));
        check("JS:^processTimers node:internal/timers:499:25", Some("processTimers node:internal/timers:499"));
        check("JS:* file:///srv/a.mjs:3:1", Some("(anonymous) a.mjs:3"));
        check("Builtin:ArrayMap", None);
        check("main", None);
    }
}
