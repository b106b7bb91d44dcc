//! Curves of whole services: peak, threads, bottleneck, fall, and the services that were measured.

mod service;

use service::{Service, exponential};
use yunti_model::curve::{Curve, Options, calibrated, curve};
use yunti_model::formulas::Place;

fn solve(service: &Service) -> Curve {
    curve(&service.demands(), &Options::default()).unwrap()
}

/// Steps whose times vary like those of a real service: `$` stands for a factor around 1.
fn varied(steps: &str) -> impl Iterator<Item = String> {
    let mut random = fastrand::Rng::with_seed(7);
    (0..400).map(move |_| {
        let mut text = String::new();
        for part in steps.split_inclusive('$') {
            match part.strip_suffix('$') {
                Some(rest) => {
                    // The number before the sign, times 0.7 .. 1.3.
                    let at = rest.rfind(|c: char| !c.is_ascii_digit() && c != '.').map_or(0, |at| at + 1);
                    let ms: f64 = rest[at..].parse().unwrap();
                    text += &format!("{}{}", &rest[..at], ms * (0.7 + 0.6 * random.f64()));
                }
                None => text += part,
            }
        }
        text
    })
}

#[test]
fn measured_services_are_predicted_from_their_demands() {
    let remote = || Service::new(1.95).workers(48).resource("remote", "db:1", None);
    // Demands at low load, then peak and least threads with 95 % of it in the full sweep.
    let pool = remote().resource("pool", "Pool", Some(4)).templates(varied(
        r#"[["cpu",1.9$],["acquire",1],["wait",0,10.47$],["release",1],["wait",0,20.4$],["cpu",1.9$]]"#,
    ));
    let lock = remote().resource("lock", "Stock", Some(1)).templates(varied(
        r#"[["cpu",2.2$],["acquire",1],["wait",0,5.58$],["release",1],["wait",0,20.4$],["cpu",2.2$]]"#,
    ));
    let both = remote()
        .resource("lock", "Stock", Some(1))
        .templates(varied(r#"[["cpu",1.3$],["acquire",1],["cpu",1.5$],["release",1],["wait",0,10.2$],["cpu",1.3$]]"#));
    // On processors the real number of threads is larger, as processor time fell with load there.
    for (name, service, peak, threads, place) in [
        ("pool", pool, 362.0, 11.0..15.0, Place::Resource(1)),
        ("lock", lock, 186.0, 6.0..8.5, Place::Resource(1)),
        ("lock on a processor", both, 462.0, 7.5..16.0, Place::Processors),
    ] {
        let found = solve(&service);
        assert!((found.peak_now.value / peak - 1.0).abs() < 0.1, "{name}: {:?} instead of {peak}", found.peak_now);
        assert!(found.peak_now.low < peak && peak < found.peak_now.high, "{name}: {:?}", found.peak_now);
        assert!(threads.contains(&found.threads.value), "{name}: {:?}, not {threads:?}", found.threads);
        assert_eq!(found.bottleneck.first.unwrap().place, place, "{name}");
        assert!(found.falls_at.is_none() && found.hangs_at.is_none(), "{name}");
    }
}

#[test]
fn processors_need_more_threads_than_the_formula_says() {
    let service =
        Service::new(2.0).resource("remote", "db:1", None).templates(varied(r#"[["cpu",4.5$],["wait",0,20.4$]]"#));
    let found = solve(&service);
    assert!(found.formulas.threads > 10.0 && found.formulas.threads < 12.0, "{}", found.formulas.threads);
    assert!(found.threads.value > 1.1 * found.formulas.threads, "{:?}", found.threads);
    assert!((found.peak.value / found.formulas.per_second_max - 1.0).abs() < 0.02, "{:?}", found.peak);
    assert!(found.threads.low <= found.threads.value && found.threads.value <= found.threads.high);
}

#[test]
fn a_limit_of_workers_is_the_bottleneck_until_it_is_raised() {
    let service = |limit| {
        let service = Service::new(2.0).workers(limit).resource("remote", "db:1", None);
        solve(&service.templates(varied(r#"[["cpu",4$],["wait",0,46$]]"#)))
    };
    let (few, many) = (service(8), service(200));
    assert_eq!(few.bottleneck.first.as_ref().unwrap().place, Place::Workers);
    assert!(few.peak_now.value < 165.0 && few.peak.value > 480.0, "{:?} {:?}", few.peak_now, few.peak);
    assert_eq!(few.at_limit, Some(few.peak_now.value));
    assert_eq!(many.bottleneck.first.unwrap().place, Place::Processors);
    assert!((many.threads.value - few.threads.value).abs() <= 2.0);
}

#[test]
fn nearly_equal_resources_are_both_named() {
    let service = Service::new(2.0)
        .resource("remote", "db:1", None)
        .resource("pool", "Pool", Some(5))
        .templates(varied(r#"[["cpu",8$],["acquire",1],["wait",0,19$],["release",1],["wait",0,20$]]"#));
    let found = solve(&service).bottleneck;
    assert_eq!(found.first.unwrap().place, Place::Processors);
    assert_eq!(found.near.iter().map(|share| share.place).collect::<Vec<_>>(), [Place::Resource(1)]);
}

#[test]
fn a_service_with_collections_is_flat_and_then_falls() {
    // 120 a second from 12 to 20 threads, and half of that with 100: full collections.
    let gc = r#"{"collector":"Parallel","pause_ms_per_request":0.4,"collections_per_request":0.04,"pause_ms_mean":10,
        "allocated_bytes_per_request":4e6,"eden_bytes":1e8,"survivor_bytes":6e7,"old_free_bytes":4e8,
        "held_bytes_per_request":2e6,"full_pause_ms_mean":450}"#;
    let service = Service::new(2.0)
        .workers(100)
        .with("gc", gc)
        .with("requests", r#"{"count":2000,"per_second":30}"#)
        .resource("remote", "db:1", None)
        .templates(varied(r#"[["cpu",15.6$],["wait",0,60$]]"#));
    let found = solve(&service);
    let rate = |clients| {
        let points = found.points.iter().map(|point| &point.simulated);
        points.min_by_key(|point| point.clients.abs_diff(clients)).unwrap().per_second
    };
    for clients in [12, 16, 20] {
        assert!((rate(clients) / 120.0 - 1.0).abs() < 0.08, "{clients}: {}", rate(clients));
    }
    assert!((0.4..0.65).contains(&(rate(100) / rate(16))), "{}", rate(100));
    assert!(found.falls_at.is_some_and(|clients| clients > 20 && clients < 100), "{:?}", found.falls_at);
    assert!(found.at_limit.unwrap() < 0.65 * found.peak.value);
}

#[test]
fn work_for_each_request_in_process_makes_the_service_fall() {
    // The service "auction" of the tests as it was measured: 2.6 ms with 3.7 in process, 0.2 of them for each. It
    // carries 364 requests a second with 10 or 11 threads; with equal steps the model is above it.
    let service = |growth: &str| {
        Service::new(2.0)
            .workers(48)
            .with("cpu", &format!(r#"{{"peers_ms":0.125,"scaling":{{"per_busy":0,"se":0,"at_busy":0.25{growth}}}}}"#))
            .with("requests", r#"{"count":1600,"per_second":109}"#)
            .resource("remote", "accounts:1", None)
            .templates(varied(r#"[["wait",0,20$],["cpu",2.57$]]"#))
    };
    let fall = solve(&service(r#","requests":{"per_request":0.08,"se":0.002,"at_requests":3.7}"#));
    assert!((fall.peak.value / 420.0 - 1.0).abs() < 0.05, "{:?}", fall.peak);
    assert!((9.0..=12.0).contains(&fall.threads.value), "{:?}", fall.threads);
    assert!(fall.falls_at.is_some_and(|clients| clients < 30), "{:?}", fall.falls_at);
    for unclear in ["", r#","requests":{"per_request":0.08,"se":0.03,"at_requests":3.7}"#] {
        assert!(solve(&service(unclear)).peak.value > 700.0);
    }
}

#[test]
fn hangs_and_missing_limits_are_results() {
    let own = Service::new(2.0)
        .resource("threads", "pool", Some(3))
        .template(r#"[["cpu",1],["spawn",1,0,[["cpu",4],["spawn",2,0,[["cpu",1]]],["join",[2]]]],["join",[1]]]"#);
    let found = solve(&own);
    let hang = found.hangs_at.unwrap();
    assert!(hang.clients >= 2 && hang.clients <= 12 && hang.what.contains("pool"), "{hang:?}");
    let free = Service::new(2.0).resource("remote", "db:1", None).template(r#"[["wait",0,10]]"#);
    let found = solve(&free);
    assert!(found.is_unbounded && found.bottleneck.first.is_none());
    let never = Service::new(2.0)
        .resource("pool", "db", Some(1))
        .template(r#"[["acquire",0],["acquire",0],["cpu",1],["release",0],["release",0]]"#);
    assert!(curve(&never.demands(), &Options::default()).is_err());
}

#[test]
fn an_executor_bounds_even_if_nobody_waits_for_its_tasks() {
    let service = Service::new(4.0)
        .resource("threads", "mailer", Some(1))
        .resource("sleep", "smtp", None)
        .templates(varied(r#"[["cpu",1$],["spawn",1,0,[["wait",1,20$]]]]"#));
    let found = solve(&service);
    assert!((found.peak.value / 50.0 - 1.0).abs() < 0.02, "{:?}", found.peak);
    assert_eq!(found.bottleneck.first.unwrap().name, "mailer");
}

#[test]
fn the_band_narrows_with_data() {
    let service = |count: u64| {
        let pairs = exponential(count, 8.0).zip(exponential(count, 20.0).skip(1)).take(count as usize);
        solve(
            &Service::new(2.0)
                .resource("remote", "db:1", None)
                .templates(pairs.map(|(cpu, wait)| format!(r#"[["cpu",{cpu}],["wait",0,{wait}]]"#))),
        )
    };
    let (few, many) = (service(20).relative_error, service(2000).relative_error);
    assert!(few > 0.15 && many < 0.12 && many > 0.025, "{few} {many}");
}

#[test]
fn departures_check_the_curve() {
    let service = |in_process: &str| {
        let service = Service::new(2.0).with("in_process", in_process).resource("remote", "db:1", None);
        service.templates(varied(r#"[["cpu",5$],["wait",0,20$]]"#))
    };
    let fits = solve(&service("[[0,5,0],[1,10,400],[2,5,385]]")).consistency;
    assert!(!fits.is_different && fits.levels.len() == 2, "{fits:?}");
    let slow = service("[[1,10,200],[2,5,199]]");
    let found = solve(&slow).consistency;
    assert!(found.is_different && (found.unexplained_ms - 25.0).abs() < 2.0, "{found:?}");
    let again = curve(&calibrated(&slow.demands(), &found).unwrap(), &Options::default()).unwrap();
    assert!(!again.consistency.is_different && (again.formulas.necessary.ms - 50.0).abs() < 2.0);
}

#[test]
fn equal_seeds_give_equal_curves_on_any_number_of_threads() {
    let service =
        Service::new(2.0).resource("remote", "db:1", None).templates(varied(r#"[["cpu",5$],["wait",0,20$]]"#));
    let with = |threads| curve(&service.demands(), &Options { threads, ..Options::default().quick() }).unwrap();
    let (one, three) = (with(1), with(3));
    assert!((one.peak.value / three.peak.value - 1.0).abs() < 0.01);
    assert_eq!(with(3), three);
    assert_eq!(one.points[0], three.points[0]);
}
