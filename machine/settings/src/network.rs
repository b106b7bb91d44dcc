//! TCP: reuse of ports in TIME_WAIT, ephemeral ports, and accept queues. Values are of the reader's network namespace.

use crate::setting::{Advice, Setting, Values};
use crate::system::System;

const AREA: &str = "network";
const IPV4: &str = "proc/sys/net/ipv4";
/// Connections; a shorter accept queue overflows in a burst.
const BACKLOG: u64 = 1024;
/// Ports from an odd to an even number, or from even to odd: the kernel needs equally many of both, since it hands out
/// one half first.
const PORTS: &str = "15000-64999";

/// Returns the network settings of this machine.
pub fn settings(system: &System) -> Vec<Setting> {
    [reuse, ports, fin_timeout, backlog].iter().filter_map(|setting| setting(system)).collect()
}

/// Returns the first and the last ephemeral port.
fn range(system: &System) -> Option<(u64, u64)> {
    let text = system.text(format!("{IPV4}/ip_local_port_range"))?;
    let mut ends = text.split_whitespace().map(str::parse);
    Some((ends.next()?.ok()?, ends.next()?.ok()?))
}

/// Connections in TIME_WAIT, which lasts 60 s.
fn waiting(system: &System) -> u64 {
    let text = system.field("proc/net/sockstat", "TCP").unwrap_or_default();
    let mut words = text.split_whitespace();
    words.find(|word| *word == "tw").and_then(|_| words.next()?.parse().ok()).unwrap_or(0)
}

/// Returns true if connections in TIME_WAIT hold half of the ephemeral ports.
fn is_short(system: &System) -> bool {
    range(system).is_some_and(|(from, to)| waiting(system) > to.saturating_sub(from).div_ceil(2))
}

fn reuse(system: &System) -> Option<Setting> {
    let path = format!("{IPV4}/tcp_tw_reuse");
    let value = system.number(&path)?;
    let what = match value {
        0 => "never",
        1 => "after a second",
        _ => "after a second, on loopback only",
    };
    // Timestamps tell new segments from old ones.
    let has_times = system.number(format!("{IPV4}/tcp_timestamps")) != Some(0);
    let short = is_short(system);
    let recommended = if short { "1" } else { "2" };
    Some(
        Setting::new(
            "tw-reuse",
            AREA,
            format!("{value}: {what}; {} connections in TIME_WAIT", waiting(system)),
            Values::Number { path, min: 0, max: 2 },
        )
        .why(
            "a client that opens a connection for each request can reuse a port to the same service after a second \
            of TIME_WAIT, not after a minute (yunti machine bench time-wait)",
        )
        .better(
            has_times && (short && value != 1 || value == 0),
            if short { Advice::Change } else { Advice::Consider },
            recommended,
            "none known if both sides send timestamps (tcp_timestamps, the default); connections that are kept open \
             are better still",
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
            Values::Range { path: format!("{IPV4}/ip_local_port_range"), min: 1024, max: 65_535 },
        )
        .why(
            "ephemeral ports limit the connections to one port of one host, TIME_WAIT included; above the limit a \
            client gets `Cannot assign requested address`",
        )
        .better(
            few || is_short(system) && from > 20_000,
            if is_short(system) { Advice::Change } else { Advice::Consider },
            PORTS,
            "services that listen within the range may find their port taken at their start; reserve it with \
             ip_local_reserved_ports",
        ),
    )
}

fn fin_timeout(system: &System) -> Option<Setting> {
    let path = format!("{IPV4}/tcp_fin_timeout");
    let value = system.number(&path)?;
    Some(Setting::new("fin-timeout", AREA, format!("{value} s"), Values::Number { path, min: 1, max: 3600 }).why(
        "seconds that a connection closed here waits for the peer's FIN (FIN_WAIT_2). TIME_WAIT is 60 s in \
                any case: lowering this, as is often advised, frees no port",
    ))
}

fn backlog(system: &System) -> Option<Setting> {
    let path = "proc/sys/net/core/somaxconn".to_owned();
    let value = system.number(&path)?;
    Some(
        Setting::new("listen-backlog", AREA, value.to_string(), Values::Number { path, min: 1, max: 1 << 20 })
            .why(
                "the longest accept queue that a service can have: a client that meets a full queue retries after a \
                second, then after two (yunti machine net)",
            )
            .better(
                value < BACKLOG,
                Advice::Consider,
                "4096",
                "some kernel memory for connections that wait to be \
                accepted; services must request the longer queue too",
            ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::advice;

    #[test]
    fn each_rule_detects_its_problem() {
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
