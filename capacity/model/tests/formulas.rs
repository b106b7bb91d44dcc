//! Formulas of capacity on whole services, with the published examples.

mod service;

use service::Service;
use yunti_model::formulas::{Formulas, Item, Place, mva};

fn item(formulas: &Formulas, place: Place) -> &Item {
    formulas.necessary.items.iter().find(|item| item.place == place).unwrap()
}

#[test]
fn ten_threads_for_a_processor_and_a_call() {
    let service =
        Service::new(2.0).resource("remote", "db:1", None).template(r#"[["cpu",10],["wait",0,80],["cpu",10]]"#);
    let formulas = Formulas::of(&service.demands());
    assert_eq!((formulas.threads, formulas.per_second_max, formulas.necessary.ms), (10.0, 100.0, 100.0));
    assert_eq!(formulas.bottleneck.as_ref().unwrap().place, Place::Processors);
    assert_eq!((formulas.bound(5.0), formulas.bound(50.0)), (50.0, 100.0));
    assert_eq!(formulas.utilisation(item(&formulas, Place::Processors), 30.0), 0.3);
}

#[test]
fn fifteen_threads_by_processor_and_three_by_the_lock() {
    let service = |lock| {
        let service = Service::new(2.0).resource("remote", "db:1", None).resource("sleep", "work", None);
        let service = if lock { service.resource("lock", "Stock", Some(1)) } else { service };
        let (acquire, release) = if lock { (r#"["acquire",2],"#, r#",["release",2]"#) } else { ("", "") };
        let steps = format!(r#"[["cpu",20],["wait",0,80],{acquire}["wait",1,50]{release}]"#);
        Formulas::of(&service.template(&steps).demands())
    };
    assert_eq!((service(false).threads, service(true).threads), (15.0, 3.0));
    assert_eq!(service(true).bottleneck.unwrap().name, "Stock");
    assert_eq!(service(true).per_second_max, 20.0);
}

#[test]
fn thirty_two_threads_in_turn_and_twenty_at_once() {
    let service = || {
        let service = Service::new(4.0).resource("remote", "search", None);
        service.resource("remote", "goods", None).resource("remote", "shop", None)
    };
    let turn = service().template(r#"[["cpu",10],["wait",0,50],["wait",1,25],["wait",2,100],["cpu",15]]"#);
    let turn = Formulas::of(&turn.demands());
    assert_eq!((turn.necessary.ms, turn.threads, turn.per_second_max), (200.0, 32.0, 160.0));
    assert_eq!(
        (turn.necessary.calls.count, turn.necessary.calls.ms, turn.necessary.calls.elapsed_ms),
        (3.0, 175.0, 175.0)
    );
    let once = service().template(
        r#"[["cpu",10],["spawn",1,null,[["wait",0,50]]],["spawn",2,null,[["wait",1,25]]],["wait",2,100],["join",[1,2]],["cpu",15]]"#,
    );
    let once = Formulas::of(&once.demands());
    assert_eq!((once.necessary.ms, once.threads, once.per_second_max), (125.0, 20.0, 160.0));
    assert_eq!((once.necessary.calls.ms, once.necessary.calls.elapsed_ms), (175.0, 100.0));
}

#[test]
fn times_on_one_resource_are_added_and_holds_are_whole() {
    let service = Service::new(1.0)
        .resource("pool", "db", Some(4))
        .resource("remote", "db:1", None)
        .resource("lock", "Stock", Some(1))
        .resource("threads", "pool-2", Some(8));
    let steps = r#"[["acquire",0],["wait",1,10],["acquire",2],["cpu",2],["acquire",2],["cpu",1],["release",2],
        ["release",2],["release",0],["acquire",0],["wait",1,7],["spawn",4,3,[["wait",1,30]]]]"#;
    let formulas = Formulas::of(&service.template(steps).demands());
    let ms: Vec<f64> = (0..4).map(|at| item(&formulas, Place::Resource(at)).ms).collect();
    assert_eq!(ms, [20.0, 47.0, 3.0, 30.0]);
    assert_eq!(formulas.necessary.ms, 20.0);
    assert_eq!(item(&formulas, Place::Resource(0)).ms_of_one(), 5.0);
}

#[test]
fn collections_take_all_processors() {
    let service = Service::new(2.0).with("gc", r#"{"pause_ms_per_request":0.5}"#).template(r#"[["cpu",3]]"#);
    let formulas = Formulas::of(&service.demands());
    assert_eq!((item(&formulas, Place::Processors).ms, formulas.per_second_max), (4.0, 500.0));
}

#[test]
fn mean_value_analysis_is_exact_for_single_servers() {
    let service = Service::new(1.0)
        .resource("disk", "sda", Some(1))
        .resource("remote", "db:1", None)
        .template(r#"[["cpu",4],["wait",0,4],["wait",1,8]]"#);
    let rates = mva(&Formulas::of(&service.demands()).necessary, 100);
    assert_eq!(rates[0], 62.5);
    // Two clients: each station adds a quarter of its time.
    assert!((rates[1] - 2000.0 / 18.0).abs() < 1e-9, "{}", rates[1]);
    assert!(rates.windows(2).all(|pair| pair[0] < pair[1]) && rates[99] < 250.0 && rates[99] > 240.0);
}

#[test]
fn a_service_without_limits_has_no_bottleneck() {
    let service = Service::new(2.0).resource("remote", "db:1", None).template(r#"[["wait",0,10]]"#);
    let formulas = Formulas::of(&service.demands());
    assert_eq!((formulas.bottleneck.is_none(), formulas.bound(5.0)), (true, 500.0));
}
