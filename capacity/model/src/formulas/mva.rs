//! Mean value analysis of a closed network with one class of requests: a check line beside the simulation.
//!
//! Exact for independent stations with one server each. A station of `m` servers is replaced by one server with
//! 1/m of the time and a delay of the rest (Seidmann). Resources that are held together count as visited in
//! turn, which makes the result too low where a lock is held on a processor.

use super::Necessary;

/// Returns the requests a second with 1, 2, .. clients.
pub fn mva(necessary: &Necessary, clients: u32) -> Vec<f64> {
    let stations: Vec<f64> =
        necessary.items.iter().filter(|item| item.can_bound()).map(|item| item.ms_of_one()).collect();
    let delay = (necessary.ms - stations.iter().sum::<f64>()).max(0.0);
    let mut queues = vec![0.0; stations.len()];
    (1..=clients)
        .map(|clients| {
            let times: Vec<f64> = stations.iter().zip(&queues).map(|(ms, queue)| ms * (1.0 + queue)).collect();
            let rate = f64::from(clients) / (delay + times.iter().sum::<f64>()).max(1e-9);
            queues = times.iter().map(|ms| ms * rate).collect();
            rate * 1000.0
        })
        .collect()
}
