//! TCP: ports that wait after a connection, how many there are, and queues of those that listen. Of the network namespace of who reads it.

use crate::setting::{Advice, Setting, Takes};
use crate::system::System;

const AREA: &str = "network";
const IPV4: &str = "proc/sys/net/ipv4";
const BACKLOG: u64 = 1024;
/// From an odd to an even number or the other way round: the kernel gives out one half first, and asks for equal halves.
const PORTS: &str = "15000-64999";

pub fn settings(system: &System) -> Vec<Setting> {
    [reuse, ports, fin_timeout, backlog].iter().filter_map(|setting| setting(system)).collect()
}

fn range(system: &System) -> Option<(u64, u64)> {
    let text = system.text(format!("{IPV4}/ip_local_port_range"))?;
    let mut ends = text.split_whitespace().map(str::parse);
    Some((ends.next()?.ok()?, ends.next()?.ok()?))
}

/// Connections that wait for their 60 s to be over.
fn waiting(system: &System) -> u64 {
    let text = system.field("proc/net/sockstat", "TCP").unwrap_or_default();
    let mut words = text.split_whitespace();
    words.find(|word| *word == "tw").and_then(|_| words.next()?.parse().ok()).unwrap_or(0)
}

/// Whether half of the ports are taken by those that wait.
fn is_short(system: &System) -> bool {
    range(system).is_some_and(|(from, to)| waiting(system) > to.saturating_sub(from).div_ceil(2))
}

fn reuse(system: &System) -> Option<Setting> {
    let path = format!("{IPV4}/tcp_tw_reuse");
    let value = system.number(&path)?;
    let what = match value {
        0 => "never",
        1 => "after a second",
        _ => "after a second, on loopback alone",
    };
    // By their times new segments are told from old ones.
    let has_times = system.number(format!("{IPV4}/tcp_timestamps")) != Some(0);
    let short = is_short(system);
    let recommended = if short { "1" } else { "2" };
    Some(
        Setting::new(
            "tw-reuse",
            AREA,
            format!("{value}: {what}; {} connections in TIME_WAIT", waiting(system)),
            Takes::Number { path, min: 0, max: 2 },
        )
        .why("a port to the same service may be taken again while an old connection waits: each of them after a second, not after a minute, for who connects anew for each request (yunti machine bench time-wait)")
        .better(
            has_times && (short && value != 1 || value == 0),
            if short { Advice::Change } else { Advice::Consider },
            recommended,
            "none that is known where both sides send times (tcp_timestamps), as all do; connections that are kept open are better still",
        ),
    )
}

fn ports(system: &System) -> Option<Setting> {
    let (from, to) = range(system)?;
    let few = to.saturating_sub(from) < 20_000;
    Some(
        Setting::new(
            "local-ports",
            AREA,
            format!("{from} to {to}"),
            Takes::Range { path: format!("{IPV4}/ip_local_port_range"), min: 1024, max: 65_535 },
        )
        .why("so many connections at a time to one port of one host, those that wait after their end with them: then `Cannot assign requested address`")
        .better(
            few || is_short(system) && from > 20_000,
            if is_short(system) { Advice::Change } else { Advice::Consider },
            PORTS,
            "services that listen within it may find their port taken when they start: ip_local_reserved_ports",
        ),
    )
}

fn fin_timeout(system: &System) -> Option<Setting> {
    let path = format!("{IPV4}/tcp_fin_timeout");
    let value = system.number(&path)?;
    Some(
        Setting::new("fin-timeout", AREA, format!("{value} s"), Takes::Number { path, min: 1, max: 3600 })
            .why("how long a connection that we have closed waits for the other side's end (FIN_WAIT_2). TIME_WAIT is 60 s whatever this is: lowering it, as is often advised, frees no port"),
    )
}

fn backlog(system: &System) -> Option<Setting> {
    let path = "proc/sys/net/core/somaxconn".to_owned();
    let value = system.number(&path)?;
    Some(
        Setting::new("listen-backlog", AREA, value.to_string(), Takes::Number { path, min: 1, max: 1 << 20 })
            .why("no queue of a service that listens is longer, whatever it asks for: what comes while it is full tries again after a second, then two (yunti machine net)")
            .better(value < BACKLOG, Advice::Consider, "4096", "some kernel memory for connections that nobody has taken yet; services must ask for it too"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    fn advice(name: &str, files: &[(&str, &str)]) -> Option<(Advice, Option<String>)> {
        let tree = Tree::of(files);
        let setting = settings(&tree.system()).into_iter().find(|s| s.name == name)?;
        if let Some(value) = &setting.recommended {
            setting.wanted(&tree.system(), value).unwrap_or_else(|e| panic!("{name}: {e}"));
        }
        Some((setting.advice, setting.recommended))
    }

    #[test]
    fn each_rule_holds_and_is_broken() {
        let keep = Some((Advice::Keep, None));
        let is = |advice, value: &str| Some((advice, Some(value.to_owned())));
        let range = ("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n");
        let narrow = ("proc/sys/net/ipv4/ip_local_port_range", "40000\t50000\n");
        let many = ("proc/net/sockstat", "sockets: used 9\nTCP: inuse 1 orphan 0 tw 20000 alloc 2 mem 0\n");
        let few = ("proc/net/sockstat", "sockets: used 9\nTCP: inuse 1 orphan 0 tw 20 alloc 2 mem 0\n");
        let reuse = |value| ("proc/sys/net/ipv4/tcp_tw_reuse", value);
        assert_eq!(advice("tw-reuse", &[range, few, reuse("2\n")]), keep);
        assert_eq!(advice("tw-reuse", &[range, many, reuse("2\n")]), is(Advice::Change, "1"));
        assert_eq!(advice("tw-reuse", &[range, many, reuse("1\n")]), keep);
        assert_eq!(advice("tw-reuse", &[range, few, reuse("0\n")]), is(Advice::Consider, "2"));
        assert_eq!(advice("tw-reuse", &[range, many, reuse("2\n"), ("proc/sys/net/ipv4/tcp_timestamps", "0\n")]), keep);
        assert_eq!(advice("local-ports", &[range, few]), keep);
        assert_eq!(advice("local-ports", &[narrow, few]), is(Advice::Consider, "15000-64999"));
        assert_eq!(advice("local-ports", &[range, many]), is(Advice::Change, "15000-64999"));
        assert_eq!(advice("fin-timeout", &[("proc/sys/net/ipv4/tcp_fin_timeout", "60\n")]), keep);
        assert_eq!(advice("listen-backlog", &[("proc/sys/net/core/somaxconn", "128\n")]), is(Advice::Consider, "4096"));
        assert_eq!(advice("listen-backlog", &[("proc/sys/net/core/somaxconn", "4096\n")]), keep);
    }
}
