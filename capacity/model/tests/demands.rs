//! Demands as text: the example, what is optional, and damaged or hostile input.

mod service;

use yunti_base::Code;
use yunti_model::curve::{Options, curve};
use yunti_model::demands::{Demands, ResourceKind, Step, parse};
use yunti_model::formulas::Formulas;
use yunti_model::simulate::{Network, Run};

const SHOP: &str = include_str!("examples/shop.json");

fn fails(text: &str, expect: &str) {
    let error = parse(text).unwrap_err();
    assert_eq!(error.code(), Code::Input, "{text}");
    let line = error.to_string();
    assert!(
        line.contains(expect)
            && (line.contains("yunti observe demands") || line.contains("--load"))
            && !line.contains('\n'),
        "{line}"
    );
}

/// Smallest text with something in place of the steps.
fn steps(steps: &str) -> String {
    let resources = r#"[{"id":7,"kind":"lock","name":"A"},{"id":9,"kind":"threads","name":"T","parallelism":2}]"#;
    format!(r#"{{"version":1,"processors":{{"count":2}},"resources":{resources},"templates":[{{"steps":{steps}}}]}}"#)
}

#[test]
fn reads_the_example() {
    let demands = parse(SHOP).unwrap();
    assert_eq!((demands.requests.kinds.len(), demands.resources.len(), demands.templates.len()), (2, 7, 6));
    assert_eq!(demands.workers.limit, Some(48));
    assert_eq!(demands.resources[3].parallelism, None);
    assert_eq!(demands.templates[0].steps[1], Step::Wait { resource: 3, ms: 20.1 });
    // What was read is written as it was.
    assert_eq!(parse(&serde_json::to_string(&demands).unwrap()).unwrap(), demands);
}

#[test]
fn the_example_has_its_golden_answer() {
    let found = curve(&parse(SHOP).unwrap(), &Options::default()).unwrap();
    let formulas = &found.formulas;
    assert_eq!(formulas.bottleneck.as_ref().unwrap().name, "processors");
    // (5.6 + 0.3 ms of work + 0.35 ms of the collector's threads in pauses) on 1.95 processors.
    let golden = [
        ("formula rate", formulas.per_second_max, 312.0, 0.001),
        ("formula threads", formulas.threads, 8.06, 0.01),
        ("peak", found.peak.value, 312.0, 0.02),
        ("threads", found.threads.value, 11.0, 0.1),
    ];
    for (what, value, expected, share) in golden {
        assert!((value / expected - 1.0).abs() <= share, "{what}: {value} instead of {expected}");
    }
}

#[test]
fn most_is_optional_and_the_unknown_is_ignored() {
    let least = parse(r#"{"version":1,"processors":{"count":1.5},"templates":[{"steps":[["cpu",2]]}]}"#).unwrap();
    assert_eq!((least.processors.count, least.gc.is_none(), least.workers.limit), (1.5, true, None));
    let more = steps(r#"[["cpu",2,"later"],["wait",7,1,{"why":[1]}]],"color":"red""#);
    assert_eq!(parse(&more).unwrap().resources[0].kind, ResourceKind::Lock);
    let kind = steps(r#"[["cpu",2]]"#).replace("lock", "telepathy");
    assert_eq!(parse(&kind).unwrap().resources[0].kind, ResourceKind::Other);
    // Requests without steps are left out.
    let text = r#"{"version":1,"processors":{"count":1},"templates":[{"steps":[]},{"steps":[["cpu",2]]}]}"#;
    assert_eq!(parse(text).unwrap().templates.len(), 1);
}

#[test]
fn templates_count_by_the_requests_of_their_kind() {
    // A request of 2 ms in four of five cases, but as many templates of the one of 12 ms.
    let text = |kinds: &str| {
        format!(
            r#"{{"version":1,"processors":{{"count":1}},"requests":{{"kinds":[{kinds}]}},"templates":[
            {{"kind":0,"ms":2,"steps":[["cpu",2]]}},{{"kind":1,"ms":12,"steps":[["cpu",12]]}}]}}"#
        )
    };
    let counted = parse(&text(r#"{"name":"a","count":800},{"name":"b","count":200}"#)).unwrap();
    assert_eq!(
        (counted.weights(), counted.templates_cpu_ms(), counted.measured_ms()),
        (vec![1.6, 0.4], 4.0, Some(4.0))
    );
    assert_eq!(Formulas::of(&counted).per_second_max, 250.0);
    let point = Network::new(&counted).closed(4, &Run::default()).unwrap();
    assert!((point.per_second / 250.0 - 1.0).abs() < 0.01, "{}", point.per_second);
    let unknown = parse(&text(r#"{"name":"a","count":800}"#)).unwrap();
    assert_eq!((unknown.weights(), unknown.templates_cpu_ms()), (vec![1.0, 1.0], 7.0));
}

#[test]
fn damaged_text_is_one_clear_error() {
    for (text, expect) in [
        ("", "EOF"),
        ("[]", "invalid"),
        ("{\"version\":1", "EOF"),
        (r#"{"version":2,"processors":{"count":1},"templates":[]}"#, "version 2 instead of 1"),
        (r#"{"version":1,"processors":{"count":1},"templates":[]}"#, "no request was measured"),
        (r#"{"version":1,"processors":{"count":0},"templates":[{"steps":[["cpu",1]]}]}"#, "processors.count is 0"),
        (r#"{"version":1,"processors":{"count":-1},"templates":[{"steps":[["cpu",1]]}]}"#, "processors.count is -1"),
        (r#"{"version":1,"processors":{"count":1e999},"templates":[]}"#, "number out of range"),
        (r#"{"version":1,"templates":[{"steps":[["cpu",1]]}]}"#, "missing field `processors`"),
    ] {
        fails(text, expect);
    }
    for (bad, expect) in [
        (r#"[["cpu"]]"#, "a step ends without milliseconds"),
        (r#"[["cpu",-1]]"#, "template 0 has a step of -1 ms"),
        (r#"[["cpu",1e12]]"#, "template 0 has a step of"),
        (r#"[["cpu",0]]"#, "the templates take no time"),
        (r#"[["nap",1]]"#, "unknown step \"nap\", not one of cpu, wait"),
        (r#"[["wait",3,1]]"#, "names resource 3, which is not in the list"),
        (r#"[["acquire",-3]]"#, "invalid value"),
        (r#"[["release",7],["cpu",1]]"#, "releases resource 7 more often"),
        (r#"[["spawn",1,7,[]],["cpu",1]]"#, "runs task 1 on resource 7, which has no threads"),
        (r#"[["spawn",1,9,[]],["spawn",1,9,[]],["cpu",1]]"#, "two tasks with the number 1"),
        (r#"[["join",[4]],["cpu",1]]"#, "joins task 4, which it has not begun"),
        (r#""cpu""#, "expected a sequence"),
    ] {
        fails(&steps(bad), expect);
    }
    fails(&steps(r#"[["cpu",1]]"#).replace("\"id\":9", "\"id\":7"), "two resources have the id 7");
    fails(&steps(r#"[["cpu",1]]"#).replace("\"parallelism\":2", "\"parallelism\":0"), "no usable parallelism");
}

#[test]
fn hostile_sizes_are_refused() {
    let deep = |depth: usize| {
        let open: String = (0..depth).map(|task| format!("[[\"spawn\",{task},9,")).collect();
        steps(&format!("{open}[[\"cpu\",1]]{}", "]]".repeat(depth)))
    };
    assert!(parse(&deep(10)).is_ok());
    fails(&deep(20), "tasks within tasks");
    fails(&deep(5000), "recursion limit");
    fails(&"[".repeat(1 << 20), "invalid type");
    let many: String = (0..20_000).map(|id| format!(r#"{{"id":{id},"kind":"lock"}},"#)).collect();
    let text = steps(r#"[["cpu",1]]"#).replace("\"resources\":[", &format!("\"resources\":[{many}"));
    fails(&text, "more than 10000 resources");
    fails(&steps(r#"[["cpu",1]]"#).replace("\"A\"", &format!("\"{}\"", "A".repeat(3000))), "a name of more than");
}

#[test]
fn cut_and_changed_bytes_never_panic() {
    let mut random = fastrand::Rng::with_seed(3);
    let (mut good, mut bad) = (0, 0);
    for round in 0..4000 {
        let mut bytes = SHOP.as_bytes().to_vec();
        for _ in 0..=round % 4 {
            let at = random.usize(..bytes.len());
            match random.u8(..4) {
                0 => bytes[at] = random.u8(..),
                1 => bytes[at] = *random.choice(b"0129.-[]{},\":e").unwrap(),
                2 => drop(bytes.remove(at)),
                _ => bytes.truncate(at.max(bytes.len() / 2)),
            }
        }
        match parse(&String::from_utf8_lossy(&bytes)) {
            Ok(demands) => {
                good += 1;
                solve_a_little(&demands);
            }
            Err(error) => {
                bad += 1;
                assert_eq!(error.code(), Code::Input);
            }
        }
    }
    assert!(good > 200 && bad > 1000, "{good} {bad}");
}

/// Simulates a little: no panic, and Little's law.
fn solve_a_little(demands: &Demands) {
    let run = Run { requests: 200, ..Run::default() };
    if let Ok(point) = Network::new(demands).closed(5, &run) {
        assert!(point.per_second.is_finite() && point.response_ms.is_finite() && point.busy >= 0.0);
    }
}

#[test]
fn random_services_are_solved_or_hang_with_an_error() {
    let mut random = fastrand::Rng::with_seed(11);
    let (mut solved, mut hung) = (0, 0);
    for _ in 0..60 {
        let demands = random_service(&mut random);
        let options = Options { requests: 600, resamples: 2, ..Options::default() };
        match curve(&demands, &options) {
            Ok(found) => {
                solved += 1;
                assert!(found.peak.value > 0.0 && found.threads.value >= 1.0, "{found:?}");
                for point in &found.points {
                    let point = &point.simulated;
                    // Each request is in process, and no station has more units in use than it has.
                    let expected = point.per_second * point.response_ms / 1000.0;
                    assert!((point.in_process - expected).abs() < 0.5 * f64::from(point.clients) + 0.5, "{point:?}");
                    assert!(point.stations.iter().all(|station| station.utilisation < 1.0 + 1e-9), "{point:?}");
                    assert!(point.busy <= demands.processors.available() + 1e-9 && point.stopped <= 1.0);
                }
            }
            Err(error) => {
                hung += 1;
                assert!(error.to_string().contains("wait for one another"), "{error}");
            }
        }
    }
    assert!(solved > 30 && hung < 25, "{solved} {hung}");
}

fn random_service(random: &mut fastrand::Rng) -> Demands {
    let mut service = service::Service::new(0.5 + random.f64() * 7.5);
    for (at, kind) in ["lock", "pool", "remote", "disk", "threads", "threads"].iter().enumerate() {
        let units = (*kind != "remote").then(|| if *kind == "lock" { 1 } else { random.u32(1..9) });
        service = service.resource(kind, &format!("r{at}"), units);
    }
    if random.bool() {
        service = service.workers(random.u32(1..300));
    }
    if random.bool() {
        let gc = format!(
            r#"{{"collector":"Parallel","pause_ms_mean":{},"collections_per_request":{},"pause_ms_per_request":0.1,
            "allocated_bytes_per_request":{},"survivor_bytes":1e6,"old_free_bytes":1e8,"held_bytes_per_request":{}}}"#,
            random.f64() * 20.0,
            random.f64() * 0.2,
            random.f64() * 1e7,
            random.f64() * 1e6
        );
        service = service.with("gc", &gc).with("requests", r#"{"count":1000,"per_second":20}"#);
    }
    let templates: Vec<String> = (0..random.usize(1..30)).map(|_| random_steps(random, 0, &mut 0)).collect();
    service.templates(templates).demands()
}

fn random_steps(random: &mut fastrand::Rng, depth: u32, tasks: &mut u32) -> String {
    let mut steps = vec![format!(r#"["cpu",{}]"#, random.f64() * 3.0)];
    for _ in 0..random.usize(0..6) {
        let at = random.u32(0..4);
        match random.u8(0..4) {
            0 => steps.push(format!(r#"["cpu",{}]"#, random.f64() * 5.0)),
            1 => steps.push(format!(r#"["wait",{at},{}]"#, random.f64() * 30.0)),
            2 => {
                let inside = random.f64() * 4.0;
                steps.push(format!(r#"["acquire",{at}],["cpu",{inside}],["wait",2,{inside}],["release",{at}]"#));
            }
            _ if depth < 2 => {
                *tasks += 1;
                let task = *tasks;
                let own = random_steps(random, depth + 1, tasks);
                steps.push(format!(r#"["spawn",{task},{},{own}]"#, 4 + depth));
                if random.bool() {
                    steps.push(format!(r#"["join",[{task}]]"#));
                }
            }
            _ => {}
        }
    }
    format!("[{}]", steps.join(","))
}
