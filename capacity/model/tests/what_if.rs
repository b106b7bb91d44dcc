//! Changes of a service, and what they bring.

mod service;

use service::Service;
use yunti_model::curve::{Options, curve};
use yunti_model::demands::Demands;
use yunti_model::formulas::Formulas;
use yunti_model::what_if::{Answer, Conversion, apply, parse, prospect, what_if};

fn answer(demands: &Demands, changes: &[&str]) -> Answer {
    let options = Options { resamples: 0, requests: 9_000, ..Options::default() };
    let changes: Vec<_> = changes.iter().map(|text| parse(text).unwrap()).collect();
    let found = curve(demands, &options).unwrap();
    let before = prospect(demands, &found, &options).unwrap();
    what_if(demands, &changes, &conversions(), &before, found.relative_error, &options).unwrap()
}

fn conversions() -> Vec<Conversion> {
    let json = |to: &str, speed_up| Conversion {
        from: "json".into(),
        to: to.into(),
        cpu_share: 0.5,
        speed_up,
        memory_share: 0.4,
        memory_factor: 0.5,
    };
    vec![json("protobuf", 4.0), json("fastjson2", 2.0)]
}

/// Service whose processors, lock and pool carry 200, 250 and 400 requests a second.
fn shop() -> Service {
    let jitter = [0.7, 1.3, 0.9, 1.1, 1.2, 0.8, 1.0];
    let steps = jitter.iter().enumerate().map(|(at, by)| {
        let other = jitter[(at + 3) % jitter.len()];
        format!(
            r#"[["cpu",{a}],["acquire",0],["wait",4,{b}],["release",0],["wait",2,{c}],["acquire",1],["wait",3,{d}],
            ["release",1],["cpu",{a}]]"#,
            a = 5.0 * by,
            b = 4.0 * other,
            c = 20.0 * by,
            d = 10.0 * other
        )
    });
    Service::new(2.0)
        .with("requests", r#"{"count":3000,"per_second":60}"#)
        .resource("lock", "com.shop.Stock", Some(1))
        .resource("pool", "com.shop.Pool.borrow (Semaphore)", Some(4))
        .resource("remote", "search:80", None)
        .resource("remote", "goods:80", None)
        .resource("sleep", "write", None)
        .templates(steps)
}

fn close(found: f64, expected: f64, share: f64, what: &str) {
    assert!((found / expected - 1.0).abs() <= share, "{what}: {found} instead of {expected}");
}

#[test]
fn peaks_follow_the_next_limit() {
    let shop = shop().demands();
    for (changes, peak) in [
        (&["cpu x1"][..], 200.0),
        (&["cpu x1.2"], 240.0),
        (&["cpu +2"], 250.0),
        (&["cpu 8", "lock Stock x0.5"], 400.0),
        (&["cpu 8", "lock x0.5", "pool +4"], 500.0),
        (&["cpu 8", "lock x0.5", "pool borrow x0.5"], 500.0),
        (&["cpu 8", "lock x0.5", "remote goods x0.5"], 500.0),
        (&["cpu 8", "lock stock 2", "pool Semaphore 8"], 500.0),
        (&["lock x0.1"], 200.0),
        (&["cpu x0.5"], 100.0),
        (&["json -> protobuf"], 250.0),
        (&["JSON -> other x1.5"], 240.0),
    ] {
        let found = answer(&shop, changes);
        close(found.after.peak.value, peak, 0.04, &format!("{changes:?}"));
        assert_eq!(found.changes, changes.iter().map(|text| parse(text).unwrap().to_string()).collect::<Vec<_>>());
        close(1.0 + found.gain.value, found.after.peak.value / found.before.peak.value, 1e-9, "gain");
        assert!(found.gain.low < found.gain.value && found.gain.value < found.gain.high);
    }
}

#[test]
fn more_of_anything_never_makes_a_service_slower() {
    let shop = shop().demands();
    for changes in [
        "cpu +1",
        "cpu x2",
        "lock x0.5",
        "lock Stock 2",
        "pool 8",
        "pool x0.5",
        "remote x0.5",
        "sleep x0.5",
        "parallel: search,goods",
        "gc off",
        "json -> fastjson2",
    ] {
        let found = answer(&shop, &[changes]);
        assert!(found.gain.value > -0.02, "{changes}: {:?}", found.gain);
        let (before, after) = (found.before.response.unwrap(), found.after.response.unwrap());
        assert!(after.mean_ms < before.mean_ms * 1.02, "{changes}: {after:?} {before:?}");
    }
    for changes in ["cpu -1", "cpu x0.5", "lock x3", "pool 1", "remote x4"] {
        let found = answer(&shop, &[changes]);
        let (before, after) = (found.before.response.unwrap(), found.after.response.unwrap());
        assert!(found.gain.value < 0.01 && after.mean_ms > before.mean_ms * 0.99, "{changes}");
    }
}

#[test]
fn calls_at_once_need_fewer_threads_for_the_same_peak() {
    let service = Service::new(4.0)
        .resource("remote", "search", None)
        .resource("remote", "goods", None)
        .resource("remote", "shop", None)
        .template(r#"[["cpu",10],["wait",0,50],["wait",1,25],["wait",2,100],["cpu",15]]"#)
        .demands();
    let at_once = apply(&service, &[parse("parallel: search,goods,shop").unwrap()], &[]).unwrap();
    let formulas = Formulas::of(&at_once);
    assert_eq!((formulas.necessary.ms, formulas.threads, formulas.per_second_max), (125.0, 20.0, 160.0));
    let found = answer(&service, &["parallel: search,goods,shop"]);
    close(found.after.peak.value, 160.0, 0.03, "peak");
    assert!(found.after.threads.value < 0.75 * found.before.threads.value);
}

#[test]
fn threads_help_until_the_bottleneck_is_full() {
    let demands = shop().workers(4).demands();
    assert!(answer(&demands, &["threads +4"]).gain.value > 0.5);
    let full = answer(&demands, &["threads 100"]);
    close(full.after.peak.value, 200.0, 0.04, "peak");
    close(full.after.threads.value, full.before.threads.value, 0.3, "threads");
    assert!(apply(&shop().demands(), &[parse("threads +4").unwrap()], &[]).is_err());
}

#[test]
fn the_response_time_is_that_of_an_open_loop_at_the_present_rate() {
    let found = answer(&shop().demands(), &["cpu x0.25"]);
    let (before, after) = (found.before.response.unwrap(), found.after.response.unwrap());
    assert!(!before.saturated && before.mean_ms > 44.0 && before.p99_ms > before.p50_ms, "{before:?}");
    assert!(before.mean_ms_low < before.mean_ms && before.mean_ms < before.mean_ms_high, "{before:?}");
    assert!(before.mean_ms_high < 1.3 * before.mean_ms, "{before:?}");
    assert!(after.saturated && after.mean_ms_high == f64::INFINITY, "{after:?}");
}

#[test]
fn unknown_names_list_what_there_is() {
    let shop = shop().demands();
    for (text, expect) in [
        ("lock Basket x0.5", "no lock with 'Basket' in its name: there is com.shop.Stock"),
        ("remote db x0.5", "no remote with 'db' in its name: there are search:80, goods:80"),
        ("disk x0.5", "no disk: the measurement saw none"),
        ("parallel: search,db", "no resource with 'db' in its name: there are com.shop.Stock, com.shop.Pool"),
        ("xml -> protobuf", "no such pair of formats was measured: there are json -> protobuf, json -> fastjson2"),
        ("xml -> protobuf x2", "no such pair of formats was measured: there are json -> protobuf, json -> fastjson2"),
        ("young 600m", "no collections and no allocation were measured: measure a JVM"),
        ("cpu -2", "no processor is left"),
    ] {
        let error = apply(&shop, &[parse(text).unwrap()], &conversions()).unwrap_err().to_string();
        assert!(error.starts_with(&format!("change '{text}': {expect}")), "{error}");
    }
}

#[test]
fn changes_that_change_nothing_give_the_same_demands() {
    let demands =
        shop().with("cpu", r#"{"measured_ms":12,"templates_ms":9,"peers_ms":1,"scaling":{"per_busy":-0.02}}"#);
    let demands = demands.demands();
    let found = answer(&demands, &["cpu x1", "lock x1", "memory x1", "pool +0"]);
    close(found.after.peak.value, found.before.peak.value, 0.02, "peak");
    let (before, after) = (found.before.response.unwrap(), found.after.response.unwrap());
    close(after.mean_ms, before.mean_ms, 0.01, "response");
}
