//! Advice for whole services: its sentences, and the order of what would help.

mod service;

use service::Service;
use yunti_model::advice::{Advice, Known, Topic, advice};
use yunti_model::curve::{Options, curve};
use yunti_model::what_if::Conversion;

fn solve(service: &Service, known: &Known) -> Advice {
    let demands = service.demands();
    let options = Options { requests: 9_000, resamples: 6, ..Options::default() };
    let found = advice(&demands, &curve(&demands, &options).unwrap(), known, &options).unwrap();
    for sentence in &found.sentences {
        assert!(sentence.text.ends_with('.') && !sentence.text.contains("NaN"), "{}", sentence.text);
    }
    found
}

fn sentence(advice: &Advice, topic: Topic) -> String {
    let texts: Vec<&str> = advice.sentences.iter().filter(|s| s.topic == topic).map(|s| s.text.as_str()).collect();
    texts.join("\n")
}

fn varied(steps: impl Fn(f64, f64) -> String) -> Vec<String> {
    let mut random = fastrand::Rng::with_seed(2);
    (0..300).map(|_| steps(0.7 + 0.6 * random.f64(), 0.7 + 0.6 * random.f64())).collect()
}

#[test]
fn processors_bound_a_service_with_calls_in_turn() {
    let service = Service::new(2.0)
        .workers(48)
        .with("requests", r#"{"count":1500,"per_second":50}"#)
        .resource("remote", "search:80", None)
        .resource("remote", "goods:80", None)
        .templates(varied(|a, b| format!(r#"[["cpu",{}],["wait",0,{}],["wait",1,{}]]"#, 10.0 * a, 30.0 * b, 40.0 * a)));
    let json = Conversion {
        from: "json".into(),
        to: "protobuf".into(),
        cpu_share: 0.3,
        speed_up: 3.0,
        ..Conversion::default()
    };
    let known = Known { conversions: vec![json], client_p50_ms: Some(123.0) };
    let found = solve(&service, &known);
    assert!(sentence(&found, Topic::Bottleneck).starts_with("Its bottleneck is the processors: "));
    assert!(sentence(&found, Topic::Peak).contains("the present 50 are 2"), "{}", sentence(&found, Topic::Peak));
    assert!(sentence(&found, Topic::Threads).contains("; it has 48."));
    let order: Vec<&str> = found.changes.iter().map(|answer| answer.changes[0].as_str()).collect();
    assert_eq!(order, ["cpu +2", "json -> protobuf", "parallel: goods:80,search:80"], "{:?}", found.changes);
    let changes = sentence(&found, Topic::Change);
    assert!(changes.contains("cpu +2: +9") || changes.contains("cpu +2: +10"), "{changes}");
    assert!(changes.contains("parallel: goods:80,search:80: no more requests a second, but answers in"), "{changes}");
    assert!(sentence(&found, Topic::Nagle).contains("nodelay"), "{:?}", found.prospect.response);
    assert!(found.data.is_enough && sentence(&found, Topic::Data).is_empty());
}

#[test]
fn nearly_equal_resources_are_changed_together() {
    let service = Service::new(2.0)
        .with("requests", r#"{"count":1500,"per_second":40}"#)
        .resource("lock", "com.shop.Stock", Some(1))
        .resource("sleep", "write", None)
        .templates(varied(|a, b| {
            format!(r#"[["cpu",{}],["acquire",0],["wait",1,{}],["release",0]]"#, 10.0 * a, 4.9 * b)
        }));
    let found = solve(&service, &Known::default());
    let text = sentence(&found, Topic::Bottleneck);
    assert!(text.contains("the processors") && text.contains("the lock com.shop.Stock"), "{text}");
    assert_eq!(found.changes[0].changes.len(), 2, "{:?}", found.changes[0]);
    assert!(found.changes[0].gain.value > 0.8 && found.changes[1].gain.value < 0.25, "{:?}", found.changes);
}

#[test]
fn few_threads_are_raised_and_too_many_are_lowered() {
    let few = Service::new(2.0)
        .workers(4)
        .with("requests", r#"{"count":1500,"per_second":20}"#)
        .resource("remote", "db:1", None)
        .templates(varied(|a, b| format!(r#"[["cpu",{}],["wait",0,{}]]"#, 4.0 * a, 46.0 * b)));
    let found = solve(&few, &Known::default());
    assert!(sentence(&found, Topic::Bottleneck).contains("the number of threads that serve requests"));
    assert!(found.changes[0].changes[0].starts_with("threads ") && found.changes[0].gain.value > 3.0);
    let gc = r#"{"collector":"Parallel","pause_ms_per_request":0.4,"collections_per_request":0.04,"pause_ms_mean":10,
        "allocated_bytes_per_request":4e6,"eden_bytes":1e8,"survivor_bytes":4e7,"old_free_bytes":4e8,
        "held_bytes_per_request":2e6,"full_pause_ms_mean":450}"#;
    let many = Service::new(2.0)
        .workers(100)
        .with("gc", gc)
        .with("requests", r#"{"count":2000,"per_second":30}"#)
        .resource("remote", "db:1", None)
        .templates(varied(|a, b| format!(r#"[["cpu",{}],["wait",0,{}]]"#, 15.6 * a, 60.0 * b)));
    let found = solve(&many, &Known::default());
    assert!(sentence(&found, Topic::Fall).contains("with all its threads busy"), "{:?}", found.sentences);
    assert!(sentence(&found, Topic::Young).starts_with("A request allocates 3.81 MB."));
    assert!(sentence(&found, Topic::Promotion).is_empty() || found.young.unwrap().promotion.unwrap().overflows);
}

#[test]
fn too_little_data_says_how_long_to_wait() {
    let service = Service::new(2.0)
        .with("requests", r#"{"count":60,"per_second":4}"#)
        .with("in_process", "[[1,20,400]]")
        .resource("pool", "db", Some(2))
        .templates(
            varied(|a, _| format!(r#"[["acquire",0],["acquire",0],["cpu",{a}],["release",0],["release",0]]"#))
                .into_iter()
                .take(60),
        );
    let found = solve(&service, &Known::default());
    let text = sentence(&found, Topic::Data);
    assert!(
        text.starts_with("The data is not enough: only 60 requests were measured; measure 35 seconds more."),
        "{text}"
    );
    assert!(sentence(&found, Topic::Hang).contains("can hang"), "{:?}", found.sentences);
    assert!(sentence(&found, Topic::Consistency).contains("longer than their measured steps explain"));
    let free = Service::new(2.0).resource("remote", "db:1", None).template(r#"[["wait",0,10]]"#);
    let found = solve(&free, &Known::default());
    assert!(sentence(&found, Topic::Peak).starts_with("No resource with a limit was seen"));
}

#[test]
fn a_heap_dump_says_what_to_release() {
    let service = |objects: &str, waiting: u32| {
        let gc = r#"{"collector":"Parallel","pause_ms_per_request":0.3,"cpu_ms_per_request":0.6,"pause_ms_mean":8.8,
            "collections_per_request":0.034,"allocated_bytes_per_request":2.1e6,"eden_bytes":6.2e7,
            "survivor_bytes":2.0e7,"old_free_bytes":9e7,"live_bytes_after_old":3e7}"#;
        let held = format!(r#"{{"in_process":10,"waiting":{waiting},"objects":[{objects}]}}"#);
        let service = Service::new(2.0)
            .workers(100)
            .with("gc", gc)
            .with("held", &held)
            .with("requests", r#"{"count":3000,"per_second":200}"#)
            .resource("remote", "labels:1", None)
            .templates(varied(|a, b| format!(r#"[["cpu",{}],["wait",0,{}],["cpu",1.5]]"#, 0.3 * a, 50.0 * b)));
        solve(&service, &Known::default())
    };
    let picture = r#"{"class":"byte[][]","bytes":2000000,"requests":9,"held_in":"shop.Gallery.show:25",
        "handed_to":"shop.Gallery.label:36","call":"shop.Remote.call"}"#;
    let found = service(picture, 9);
    let [release] = &found.releases[..] else { panic!("{:?}", found.releases) };
    assert!(release.per_second_released > 1.1 * release.per_second, "{release:?}");
    assert!(release.pause_ms_per_second_released < 0.8 * release.pause_ms_per_second, "{release:?}");
    let text = sentence(&found, Topic::Release);
    for part in [
        "9 of 9 waiting requests hold 1.91 MB over the call of shop.Remote.call: byte[][] in shop.Gallery.show:25, and",
        "in shop.Gallery.label:36",
        "requests a second at the peak instead of",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Small objects are no advice; a dump that met no waiting request says so.
    let small = picture.replace("2000000", "4000");
    assert!(sentence(&service(&small, 9), Topic::Release).contains("held little memory"));
    assert!(sentence(&service("", 0), Topic::Release).starts_with("None of the 10 requests in process waited"));
}
