//! Young generation: the published table, both published services, and the measured sweep.

mod service;

use service::Service;
use yunti_model::curve::{Options, curve};
use yunti_model::demands::Demands;
use yunti_model::formulas::Formulas;
use yunti_model::simulate::{Network, Run};
use yunti_model::what_if::{apply, parse};
use yunti_model::young::{Young, young};

const MB: f64 = 1048576.0;

/// Service that allocates much: `cpu` ms on two processors, some megabytes a request, an Eden, a pause.
fn service(cpu: f64, megabytes: f64, eden: f64, pause: f64, rest: &str) -> Service {
    let per_request = megabytes / eden;
    let gc = format!(
        r#"{{"collector":"Parallel","pause_ms_per_request":{},"collections_per_request":{per_request},
        "pause_ms_mean":{pause},"allocated_bytes_per_request":{},"eden_bytes":{}{rest}}}"#,
        pause * per_request,
        megabytes * MB,
        eden * MB
    );
    Service::new(2.0)
        .with("gc", &gc)
        .with("requests", r#"{"count":20000,"per_second":50}"#)
        .resource("remote", "db:1", None)
        .templates([0.8, 1.2, 0.9, 1.1].map(|by| format!(r#"[["cpu",{}],["wait",0,{}]]"#, cpu * by, 60.0 * by)))
}

fn at(demands: &Demands) -> Young {
    young(demands, &Formulas::of(demands), 12, &Run::default()).unwrap().unwrap()
}

fn peak(demands: &Demands, changes: &[&str]) -> f64 {
    let changes: Vec<_> = changes.iter().map(|text| parse(text).unwrap()).collect();
    let changed = apply(demands, &changes, &[]).unwrap();
    curve(&changed, &Options::default().quick()).unwrap().peak.value
}

#[test]
fn the_published_table_has_its_shape() {
    // Rows: 3 to 7 MB a request. Columns: young generations from 78 to 978 MB.
    let sizes = [78, 178, 378, 678, 978, 2000];
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for megabytes in [3.0, 4.0, 5.0, 6.0, 7.0] {
        // More memory also takes more time to fill.
        let demands = service(2.0 * (0.3 + megabytes / 4.5), megabytes, 62.4, 10.0, "").demands();
        rows.push(sizes.iter().map(|size| peak(&demands, &[&format!("young {size}m")])).collect());
    }
    for (row, megabytes) in rows.iter().zip(3..) {
        assert!(row.windows(2).all(|pair| pair[1] > 0.99 * pair[0]), "rates rise with the size: {row:?}");
        assert!(row[4] / row[0] > 1.25, "{row:?}");
        // Little is gained beyond 100 times the memory of a request: measured elsewhere, 92 % of the best.
        let beyond = sizes.iter().position(|size| *size >= 100 * megabytes).unwrap();
        assert!(row[5] / row[beyond] < 1.10, "{megabytes}: {row:?}");
    }
    for pair in rows.windows(2) {
        assert!(pair[0].iter().zip(&pair[1]).all(|(less, more)| less > more), "{pair:?}");
    }
    assert!((rows[0][0] / 767.0 - 1.0).abs() < 0.15 && (rows[0][4] / 998.0 - 1.0).abs() < 0.15, "{:?}", rows[0]);
}

#[test]
fn larger_eden_is_predicted_from_one_measurement() {
    // Measured with -Xmn40m: 471 a second, 0.83 ms of pauses a request, Eden 14 MB; 945 at 600m, 964 at 1200m.
    let demands = service(2.05, 3.07, 14.0, 0.83 / 3.07 * 14.0, r#","heap_bytes":1.9e9"#).demands();
    let found = at(&demands);
    assert!((found.now.per_second / 471.0 - 1.0).abs() < 0.2, "{:?}", found.now);
    assert!((300.0..850.0).contains(&(found.enough.young_bytes / MB)), "{:?}", found.enough);
    assert!((found.enough.per_second / 945.0 - 1.0).abs() < 0.05, "{:?}", found.enough);
    assert!(found.gain > 0.6 && !found.differs);
    assert!((found.bytes_per_request_check.unwrap() / found.bytes_per_request - 1.0).abs() < 1e-9);
    assert!(found.settings.options[0].starts_with("-Xmn"), "{:?}", found.settings);
    // The formula and the simulation agree.
    let simulated = peak(&demands, &["young 600m"]);
    assert!((simulated / 945.0 - 1.0).abs() < 0.06, "{simulated}");
    assert!(found.table.windows(2).all(|pair| pair[0].per_second < pair[1].per_second));
}

#[test]
fn both_published_promotion_examples() {
    // Requests hold two thirds of their memory while they wait. Survivors: an eighth of Eden each.
    let shop = |megabytes: f64| {
        let rest = format!(
            r#","survivor_bytes":{},"old_free_bytes":{},"held_bytes_per_request":{},"full_pause_ms_mean":400"#,
            50.0 * MB,
            300.0 * MB,
            0.66 * megabytes * MB
        );
        service(11.5, megabytes, 400.0, 12.0, &rest).demands()
    };
    // 12 MB a request: from 500 MB to 2,560 MB, 100 to 170 requests a second.
    let large = shop(12.0);
    let (small, big) = (peak(&large, &["young 500m"]), peak(&large, &["young 2560m"]));
    assert!((small / 100.0 - 1.0).abs() < 0.15 && (big / 170.0 - 1.0).abs() < 0.1, "{small} {big}");
    let found = at(&large).promotion.unwrap();
    assert!(
        found.overflows && found.clients_max == 6 && found.per_second_released > 1.3 * found.per_second,
        "{found:?}"
    );
    // 5 MB a request: nothing.
    let little = shop(5.0);
    let (small, big) = (peak(&little, &["young 500m"]), peak(&little, &["young 2560m"]));
    assert!(big / small < 1.07, "{small} {big}");
    assert!(at(&shop(1.0)).promotion.is_none());
}

#[test]
fn a_large_eden_is_enough() {
    let found = at(&service(4.0, 1.0, 2000.0, 10.0, "").demands());
    assert!(found.gain == 0.0 && found.settings.options.is_empty(), "{found:?}");
    // Processors are not what bounds it: collections do not matter.
    let locked = service(4.0, 3.0, 60.0, 10.0, "").resource("lock", "Stock", Some(1));
    let locked = locked.template(r#"[["acquire",1],["wait",0,40],["release",1]]"#).demands();
    assert_eq!(at(&locked).gain, 0.0);
    let none = Service::new(2.0).template(r#"[["cpu",1]]"#).demands();
    assert_eq!(young(&none, &Formulas::of(&none), 4, &Run::default()), Ok(None));
}

#[test]
fn memory_and_collections_can_be_changed() {
    let demands = service(2.0, 3.0, 60.0, 10.0, "").demands();
    let base = peak(&demands, &["cpu x1"]);
    let (half, off) = (peak(&demands, &["memory x0.5"]), peak(&demands, &["gc off"]));
    assert!(base < half && half < off, "{base} {half} {off}");
    let young = peak(&demands, &["young 150m"]);
    assert!((young / half - 1.0).abs() < 0.03, "twice the Eden is half the memory: {young} {half}");
    let network = Network::new(&demands);
    let point = network.closed(20, &Run::default()).unwrap();
    let expected = point.per_second * 3.0 / 60.0;
    assert!((point.collections_per_second / expected - 1.0).abs() < 0.02, "{}", point.collections_per_second);
}
