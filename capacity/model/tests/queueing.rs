//! Simulation against known results of queueing theory, and against networks solved by hand.

mod service;

use service::{Service, exponential};
use yunti_model::formulas::Necessary;
use yunti_model::simulate::{Network, Point, Run};

fn run(requests: u32) -> Run {
    Run { requests, ..Run::default() }
}

/// Asserts that two numbers agree within a share of the second.
fn close(found: f64, expected: f64, share: f64, what: &str) {
    assert!((found - expected).abs() <= share * expected.abs(), "{what}: {found} instead of {expected}");
}

/// Asserts that requests in process = rate x response time.
fn little(point: &Point) {
    close(point.in_process, point.per_second * point.response_ms / 1000.0, 0.02, "Little's law");
}

/// Response time of M/M/c with the mean service time in milliseconds, by Erlang's C formula.
fn erlang(per_second: f64, ms: f64, servers: u32) -> f64 {
    let offered = per_second * ms / 1000.0;
    let (mut term, mut sum) = (1.0, 0.0);
    for n in 0..servers {
        sum += term;
        term *= offered / f64::from(n + 1);
    }
    let last = term / (1.0 - offered / f64::from(servers));
    ms + last / (sum + last) * ms / (f64::from(servers) - offered)
}

/// Requests a second of a closed network: a station of `servers` with exponential times, and a delay. The exact
/// solution by birth and death of the number at the station.
fn repairman(clients: u32, ms: f64, servers: u32, delay_ms: f64) -> f64 {
    let mut weights = vec![1.0];
    for n in 1..=clients {
        let arrive = f64::from(clients - n + 1) / delay_ms;
        let leave = f64::from(n.min(servers)) / ms;
        weights.push(weights[n as usize - 1] * arrive / leave);
    }
    let total: f64 = weights.iter().sum();
    (1..=clients).map(|n| weights[n as usize] / total * f64::from(n.min(servers)) / ms).sum::<f64>() * 1000.0
}

#[test]
fn open_processors_are_m_m_c() {
    for (servers, per_second) in [(1, 70.0), (1, 40.0), (2, 160.0), (4, 340.0)] {
        let service =
            Service::new(f64::from(servers)).templates(exponential(4000, 10.0).map(|ms| format!("[[\"cpu\",{ms}]]")));
        let point = Network::new(&service.demands()).open(per_second, &run(200_000)).unwrap();
        close(point.response_ms, erlang(per_second, 10.0, servers), 0.04, &format!("M/M/{servers} at {per_second}"));
        close(point.busy, per_second * 0.01, 0.02, "busy processors");
        little(&point);
    }
}

#[test]
fn open_queues_are_m_m_c_and_m_d_1() {
    for (servers, per_second) in [(1, 60.0), (3, 240.0)] {
        let service = Service::new(8.0)
            .resource("disk", "a disk", Some(servers))
            .templates(exponential(4000, 10.0).map(|ms| format!("[[\"wait\",0,{ms}]]")));
        let point = Network::new(&service.demands()).open(per_second, &run(200_000)).unwrap();
        close(point.response_ms, erlang(per_second, 10.0, servers), 0.04, &format!("M/M/{servers} at {per_second}"));
        close(point.stations[0].utilisation, per_second * 0.01 / f64::from(servers), 0.02, "utilisation");
        little(&point);
    }
    let fixed = Service::new(8.0).resource("disk", "a disk", Some(1)).template(r#"[["wait",0,10]]"#);
    let point = Network::new(&fixed.demands()).open(60.0, &run(200_000)).unwrap();
    close(point.response_ms, 10.0 + 0.6 * 10.0 / (2.0 * 0.4), 0.03, "M/D/1");
}

#[test]
fn closed_networks_agree_with_the_exact_solution() {
    for (clients, servers) in [(1, 1), (3, 1), (10, 1), (30, 1), (4, 2), (12, 2), (40, 4)] {
        let exact = repairman(clients, 5.0, servers, 20.0);
        let pairs = exponential(4000, 5.0).zip(exponential(4000, 20.0).skip(1));
        let on_cpu = Service::new(f64::from(servers))
            .resource("remote", "db:1", None)
            .templates(pairs.map(|(cpu, wait)| format!("[[\"cpu\",{cpu}],[\"wait\",0,{wait}]]")));
        let point = Network::new(&on_cpu.demands()).closed(clients, &run(60_000)).unwrap();
        close(point.per_second, exact, 0.03, &format!("{clients} clients, {servers} processors"));
        little(&point);
        let pairs = exponential(4000, 5.0).zip(exponential(4000, 20.0).skip(1));
        let in_lock =
            Service::new(64.0).resource("remote", "db:1", None).resource("pool", "a pool", Some(servers)).templates(
                pairs.map(|(held, wait)| format!(r#"[["acquire",1],["cpu",{held}],["release",1],["wait",0,{wait}]]"#)),
            );
        let point = Network::new(&in_lock.demands()).closed(clients, &run(60_000)).unwrap();
        close(point.per_second, exact, 0.03, &format!("{clients} clients, pool of {servers}"));
        close(point.stations[1].utilisation, exact * 0.005 / f64::from(servers), 0.04, "pool");
        little(&point);
    }
}

#[test]
fn two_queues_agree_with_mean_value_analysis() {
    let triples = exponential(5000, 4.0).zip(exponential(5000, 6.0).skip(1)).zip(exponential(5000, 30.0).skip(2));
    let service = Service::new(1.0).resource("disk", "a disk", Some(1)).resource("remote", "db:1", None).templates(
        triples.map(|((cpu, disk), wait)| format!(r#"[["cpu",{cpu}],["wait",0,{disk}],["wait",1,{wait}]]"#)),
    );
    let network = Network::new(&service.demands());
    let mut queues = [0.0f64; 2];
    for clients in 1..=24u32 {
        let at: Vec<f64> = [4.0, 6.0].iter().zip(queues).map(|(ms, queue)| ms * (1.0 + queue)).collect();
        let rate = f64::from(clients) / (30.0 + at.iter().sum::<f64>());
        queues = [rate * at[0], rate * at[1]];
        if [1, 2, 6, 12, 24].contains(&clients) {
            let point = network.closed(clients, &run(60_000)).unwrap();
            close(point.per_second, rate * 1000.0, 0.03, &format!("{clients} clients"));
        }
    }
}

#[test]
fn a_lock_held_on_a_processor_holds_both() {
    // Two clients, one lock, two processors: 10 ms in the lock, then 10 ms outside. They alternate exactly.
    let service = Service::new(2.0)
        .resource("lock", "Stock", Some(1))
        .template(r#"[["acquire",0],["cpu",10],["release",0],["cpu",10]]"#);
    let network = Network::new(&service.demands());
    let point = network.closed(2, &run(2000)).unwrap();
    close(point.per_second, 100.0, 0.01, "two clients");
    close(point.stations[0].utilisation, 1.0, 0.01, "lock");
    // Many clients: two of them run, and one of these holds the lock. Both resources are full.
    let point = network.closed(20, &run(2000)).unwrap();
    assert!(point.per_second > 80.0 && point.per_second < 100.5, "{}", point.per_second);
    // A processor alone: hold and rest share it, so 20 ms each.
    let single = Service::new(1.0)
        .resource("lock", "Stock", Some(1))
        .template(r#"[["acquire",0],["cpu",10],["release",0],["cpu",10]]"#);
    close(Network::new(&single.demands()).closed(8, &run(2000)).unwrap().per_second, 50.0, 0.01, "one processor");
    // A wait in the lock holds it without a processor.
    let wait = Service::new(2.0)
        .resource("lock", "Stock", Some(1))
        .resource("sleep", "sleep", None)
        .template(r#"[["acquire",0],["wait",1,10],["release",0],["cpu",1]]"#);
    close(Network::new(&wait.demands()).closed(8, &run(2000)).unwrap().per_second, 100.0, 0.01, "wait in a lock");
}

#[test]
fn a_lock_may_be_acquired_again_by_its_holder() {
    let service = Service::new(2.0)
        .resource("lock", "Stock", Some(1))
        .template(r#"[["acquire",0],["acquire",0],["cpu",5],["release",0],["cpu",5],["release",0]]"#);
    close(Network::new(&service.demands()).closed(4, &run(2000)).unwrap().per_second, 100.0, 0.01, "again");
}

#[test]
fn readers_share_a_lock_and_writers_are_alone() {
    let service = |templates: &[&str]| {
        let service = Service::new(2.0).resource("lock", "Prices", Some(1)).resource("sleep", "sleep", None);
        service.templates(templates.iter().map(|steps| (*steps).to_owned())).demands()
    };
    let (read, write) =
        (r#"[["acquire",0,"shared"],["wait",1,10],["release",0]]"#, r#"[["acquire",0],["wait",1,10],["release",0]]"#);
    let peak = |templates: &[&str]| Network::new(&service(templates)).closed(8, &run(4000)).unwrap().per_second;
    close(peak(&[read]), 800.0, 0.01, "readers");
    close(peak(&[write]), 100.0, 0.01, "writers");
    // Readers between two writers go on together, at most 7 of 8 clients: both turns take 20 ms.
    let mixed = peak(&[read, read, read, read, read, read, read, write]);
    assert!(mixed > 200.0 && mixed < 450.0, "{mixed}");
    // Only writers keep others out for their time.
    let necessary = Necessary::of(&service(&[read, write]));
    let lock = necessary.items.iter().find(|item| item.name == "Prices").unwrap();
    close(lock.ms, 5.0, 0.001, "a writer in two requests");
}

#[test]
fn tasks_run_beside_on_threads_of_an_executor() {
    let steps = r#"[["spawn",1,1,[["wait",0,50]]],["spawn",2,1,[["wait",0,30]]],["wait",0,20],["join",[1,2]]]"#;
    let service = |threads| {
        let service = Service::new(2.0).resource("remote", "db:1", None).resource("threads", "pool-2", Some(threads));
        Network::new(&service.template(steps).demands()).closed(1, &run(500)).unwrap()
    };
    close(service(2).response_ms, 50.0, 0.001, "both at once");
    close(service(1).response_ms, 80.0, 0.001, "one after the other");
    close(service(1).stations[1].utilisation, 1.0, 0.01, "executor");
}

#[test]
fn workers_limit_the_requests_in_process() {
    let service = Service::new(2.0).workers(4).resource("remote", "db:1", None).template(r#"[["wait",0,10]]"#);
    let network = Network::new(&service.demands());
    let point = network.closed(10, &run(2000)).unwrap();
    close(point.per_second, 400.0, 0.01, "four workers");
    close(point.response_ms, 25.0, 0.01, "with the queue");
    close(point.stations[1].queued, 6.0, 0.02, "queue");
    close(network.without_worker_limit().closed(10, &run(2000)).unwrap().per_second, 1000.0, 0.01, "no limit");
    assert!(network.open(500.0, &run(50_000)).unwrap().saturated);
}

#[test]
fn side_work_takes_processors_but_no_time_of_the_request() {
    let side =
        Service::new(1.0).with("cpu", r#"{"measured_ms":10,"side_ms":4,"peers_ms":2}"#).template(r#"[["cpu",6]]"#);
    let network = Network::new(&side.demands());
    close(network.closed(50, &run(20_000)).unwrap().per_second, 1000.0 / 12.0, 0.01, "peak");
    let idle = network.open(1.0, &run(1000)).unwrap();
    close(idle.response_ms_p50, 12.0, 0.05, "both share the processor");
    // What templates lack against the process is side work; what they have too much is scaled down.
    let less = Service::new(1.0).with("cpu", r#"{"measured_ms":10}"#).template(r#"[["cpu",6]]"#);
    close(Network::new(&less.demands()).closed(50, &run(20_000)).unwrap().per_second, 100.0, 0.01, "less");
    let more = Service::new(1.0).with("cpu", r#"{"measured_ms":3}"#).template(r#"[["cpu",6]]"#);
    close(Network::new(&more.demands()).closed(50, &run(20_000)).unwrap().per_second, 1000.0 / 3.0, 0.01, "more");
}

#[test]
fn processor_time_changes_with_busy_processors() {
    let service = Service::new(4.0)
        .with("cpu", r#"{"scaling":{"per_busy":-0.05}}"#)
        .with("requests", r#"{"count":1000,"per_second":100}"#)
        .template(r#"[["cpu",10]]"#);
    // Measured with one busy processor; at the peak there are four.
    let point = Network::new(&service.demands()).closed(40, &run(20_000)).unwrap();
    close(point.per_second, 400.0 / 0.85, 0.01, "peak");
}

#[test]
fn circles_of_waiting_requests_are_errors() {
    let opposite = Service::new(2.0)
        .resource("lock", "A", Some(1))
        .resource("lock", "B", Some(1))
        .template(r#"[["acquire",0],["cpu",5],["acquire",1],["cpu",5],["release",1],["release",0]]"#)
        .template(r#"[["acquire",1],["cpu",5],["acquire",0],["cpu",5],["release",0],["release",1]]"#);
    let network = Network::new(&opposite.demands());
    assert!(network.closed(1, &run(500)).is_ok());
    let error = network.closed(8, &run(5000)).unwrap_err().to_string();
    assert!(error.contains("wait for one another at A and B"), "{error}");
    // Tasks of tasks on the same threads, and connections taken twice.
    let own = Service::new(2.0)
        .resource("threads", "pool", Some(2))
        .template(r#"[["spawn",1,0,[["spawn",2,0,[["cpu",1]]],["join",[2]]]],["join",[1]]]"#);
    assert!(Network::new(&own.demands()).closed(1, &run(500)).is_ok());
    assert!(Network::new(&own.demands()).closed(4, &run(500)).is_err());
    let twice = Service::new(2.0)
        .resource("pool", "db", Some(3))
        .template(r#"[["acquire",0],["cpu",1],["acquire",0],["cpu",1],["release",0],["release",0]]"#);
    assert!(Network::new(&twice.demands()).closed(9, &run(500)).is_err());
    let itself = Service::new(2.0)
        .resource("threads", "pool", None)
        .template(r#"[["spawn",1,0,[["join",[1]]]],["cpu",1],["join",[1]]]"#);
    assert!(Network::new(&itself.demands()).closed(1, &run(10)).is_err());
}

#[test]
fn what_is_not_released_goes_back_with_the_request() {
    let service = Service::new(2.0).resource("pool", "db", Some(2)).template(r#"[["acquire",0],["cpu",1]]"#);
    close(Network::new(&service.demands()).closed(8, &run(2000)).unwrap().per_second, 2000.0, 0.01, "two at once");
}

#[test]
fn equal_seeds_give_equal_runs() {
    let service = Service::new(2.0)
        .resource("remote", "db:1", None)
        .templates(exponential(100, 5.0).map(|ms| format!(r#"[["cpu",{ms}],["wait",0,20]]"#)));
    let network = Network::new(&service.demands());
    let seeded = |seed| network.closed(9, &Run { requests: 2000, seed, handoff_ms: 0.0 }).unwrap();
    assert_eq!(seeded(5), seeded(5));
    assert_ne!(seeded(5).per_second, seeded(6).per_second);
}

#[test]
fn hand_off_adds_to_each_contended_hold() {
    let service =
        Service::new(2.0).resource("lock", "A", Some(1)).template(r#"[["acquire",0],["cpu",4],["release",0]]"#);
    let run = Run { requests: 2000, handoff_ms: 1.0, ..Run::default() };
    let network = Network::new(&service.demands());
    close(network.closed(8, &run).unwrap().per_second, 200.0, 0.01, "contended");
    close(network.closed(1, &run).unwrap().per_second, 250.0, 0.01, "alone");
}
