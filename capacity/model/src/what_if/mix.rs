//! Changes of the mix of requests.

use yunti_base::{Code, Error, Result};

use super::change::Part;
use super::names::missing;
use crate::demands::Demands;
use crate::young;

/// Share above which rounding has made a whole.
const WHOLE: f64 = 1.0 + 1e-9;

/// Gives kinds of requests a new share. The number of all requests stays, so all others change in proportion.
pub fn share(demands: &mut Demands, name: &str, part: Part) -> Result<()> {
    let (chosen, before) = (kinds(demands, name)?, shares(demands));
    let now: f64 = chosen.iter().map(|at| before[*at]).sum();
    let wanted = match part {
        Part::Times(factor) => now * factor,
        Part::Percent(percent) => percent / 100.0,
    };
    if wanted > WHOLE || (now >= 1.0 && wanted < 1.0) {
        let what = format!("the share of '{name}' is {:.0} %, and would be {:.0} %", now * 100.0, wanted * 100.0);
        return Err(Error::new(Code::Usage, what).hint("shares of all kinds are 100 % together"));
    }
    if now <= 0.0 {
        return Err(Error::new(Code::Usage, format!("no request of '{name}' is left")));
    }
    let rest = if now < 1.0 { (1.0 - wanted).max(0.0) / (1.0 - now) } else { 1.0 };
    set(demands, &before, |at, share| share * if chosen.contains(&at) { wanted / now } else { rest });
    Ok(())
}

/// Removes kinds of requests. The other requests come as before.
pub fn without(demands: &mut Demands, name: &str) -> Result<()> {
    let (chosen, before) = (kinds(demands, name)?, shares(demands));
    let rest = 1.0 - chosen.iter().map(|at| before[*at]).sum::<f64>();
    let has_template = |at: usize| demands.templates.iter().any(|template| template.kind as usize == at);
    if !(0..before.len()).any(|at| !chosen.contains(&at) && before[at] > 0.0 && has_template(at)) {
        return Err(Error::new(Code::Usage, "no measured request is left"));
    }
    set(demands, &before, |at, share| if chosen.contains(&at) { 0.0 } else { share });
    demands.requests.per_second *= rest;
    Ok(())
}

/// Returns the places of the kinds with this name, or else of these that have it as a part, in any case of letters.
fn kinds(demands: &Demands, name: &str) -> Result<Vec<usize>> {
    let kinds = &demands.requests.kinds;
    let wanted = name.to_lowercase();
    let fits = |whole: bool| -> Vec<usize> {
        let is = |kind: &str| if whole { kind == wanted } else { kind.contains(&wanted) };
        (0..kinds.len()).filter(|at| is(&kinds[*at].name.to_lowercase())).collect()
    };
    let found = Some(fits(true)).filter(|found| !found.is_empty()).unwrap_or_else(|| fits(false));
    if found.is_empty() {
        let names: Vec<&str> = kinds.iter().map(|kind| kind.name.as_str()).collect();
        return Err(missing(&format!("no kind of requests with '{name}' in its name"), &names));
    }
    Ok(found)
}

/// Returns the share of each kind.
fn shares(demands: &Demands) -> Vec<f64> {
    let weights: Vec<f64> = demands.requests.kinds.iter().map(|kind| kind.weight()).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum.max(f64::MIN_POSITIVE)).collect()
}

/// Sets the weights of all kinds, and with them the allocation of a mean request if each kind's is known.
fn set(demands: &mut Demands, before: &[f64], weight: impl Fn(usize, f64) -> f64) {
    let mean = |demands: &Demands, shares: &[f64]| -> Option<f64> {
        let kinds = demands.requests.kinds.iter().zip(shares).filter(|(_, share)| **share > 0.0);
        kinds.map(|(kind, share)| Some(kind.allocated_bytes? * share)).sum()
    };
    let bytes = mean(demands, before);
    for (at, kind) in demands.requests.kinds.iter_mut().enumerate() {
        kind.weight = Some(weight(at, before[at]));
    }
    let after = mean(demands, &shares(demands));
    if let (Some(bytes), Some(after)) = (bytes.filter(|bytes| *bytes > 0.0), after) {
        young::scale_allocation(demands, after / bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demands::parse;

    fn shop() -> Demands {
        let text = r#"{"version":1,"processors":{"count":2},"requests":{"per_second":100,"kinds":[
            {"name":"GET /a","count":30,"allocated_bytes":100},{"name":"GET /a/b","count":10,"allocated_bytes":500},
            {"name":"POST /c","count":60,"allocated_bytes":100}]},
            "gc":{"allocated_bytes_per_request":280,"collections_per_request":0.01,"eden_bytes":28000,
            "pause_ms_per_request":0.05,"pause_ms_mean":5,"heap_bytes":1000000},"templates":[
            {"kind":0,"steps":[["cpu",2]]},{"kind":1,"steps":[["cpu",9]]},{"kind":2,"steps":[["cpu",1]]}]}"#;
        parse(text).unwrap()
    }

    fn check(demands: &Demands, expected: &[f64]) {
        for (share, expected) in shares(demands).iter().zip(expected) {
            assert!((share - expected).abs() < 1e-9, "{share} {expected}");
        }
    }

    #[test]
    fn shares_are_a_whole() {
        let mut demands = shop();
        share(&mut demands, "get /A/B", Part::Times(2.0)).unwrap();
        check(&demands, &[0.3 * 0.8 / 0.9, 0.2, 0.6 * 0.8 / 0.9]);
        assert_eq!(demands.requests.per_second, 100.0);
        // 140 bytes a request become 180.
        assert!((demands.gc.as_ref().unwrap().allocated_bytes_per_request - 360.0).abs() < 1e-6);
        share(&mut demands, "GET", Part::Percent(50.0)).unwrap();
        assert!((demands.templates_cpu_ms() - (0.5 * (2.0 * 0.571_428 + 9.0 * 0.428_571) + 0.5)).abs() < 1e-3);
    }

    #[test]
    fn requests_that_no_longer_come() {
        let mut demands = shop();
        without(&mut demands, "POST /c").unwrap();
        check(&demands, &[0.75, 0.25, 0.0]);
        assert_eq!((demands.requests.per_second, demands.templates_cpu_ms()), (40.0, 3.75));
        let crate::simulate::Point { per_second, .. } =
            crate::simulate::Network::new(&demands).closed(8, &crate::simulate::Run::default()).unwrap();
        assert!((per_second / (2000.0 / 3.75) - 1.0).abs() < 0.05, "{per_second}");
    }

    #[test]
    fn impossible_mixes() {
        for (name, part) in [("GET /a", Part::Times(4.0)), ("/d", Part::Times(2.0)), ("/", Part::Percent(40.0))] {
            assert_eq!(share(&mut shop(), name, part).unwrap_err().code(), Code::Usage, "{name}");
        }
        assert_eq!(without(&mut shop(), "/").unwrap_err().code(), Code::Usage);
    }
}
