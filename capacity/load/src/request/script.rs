//! Script of a run: its distinct requests, their order, and with a log their times.

use std::collections::HashMap;
use std::sync::Arc;

use super::pattern::Patterns;
use super::{Request, Template};

/// Requests of a run.
#[derive(Clone, Debug)]
pub struct Script {
    template: Template,
    requests: Vec<Request>,
    order: Vec<u32>,
    patterns: Vec<String>,
    /// Nanoseconds since the first request of a log.
    times_ns: Option<Arc<[u64]>>,
}

/// Script under construction.
pub struct Draft {
    template: Template,
    known: HashMap<(String, String), u32>,
    requests: Vec<Request>,
    patterns: Patterns,
}

impl Draft {
    /// Returns a script without requests.
    pub fn new(template: Template) -> Draft {
        Draft { template, known: HashMap::new(), requests: Vec::new(), patterns: Patterns::default() }
    }

    /// Returns the number of a request; a new one if it is unknown.
    pub fn number(&mut self, method: &str, path: &str) -> u32 {
        let key = (method.to_string(), path.to_string());
        if let Some(&number) = self.known.get(&key) {
            return number;
        }
        let number = self.requests.len() as u32;
        self.requests.push(self.template.request(method, path, self.patterns.number(path)));
        self.known.insert(key, number);
        number
    }

    /// Returns the script. Panics if it has no request.
    ///
    /// @param order numbers of its requests
    /// @param times_ns time of each request of the order
    pub fn finish(self, order: Vec<u32>, times_ns: Option<Vec<u64>>) -> Script {
        assert!(!order.is_empty(), "a script has a request");
        assert!(times_ns.as_ref().is_none_or(|times| times.len() == order.len() && times.is_sorted()));
        Script {
            template: self.template,
            requests: self.requests,
            order,
            patterns: self.patterns.into_names(),
            times_ns: times_ns.map(Arc::from),
        }
    }
}

impl Script {
    /// Returns the script of one request that repeats.
    pub fn of_one(template: Template, method: &str, path: &str) -> Script {
        let mut draft = Draft::new(template);
        let number = draft.number(method, path);
        draft.finish(vec![number], None)
    }

    /// Returns the number of a request by its place in the order, which repeats.
    pub fn at(&self, place: u64) -> u32 {
        if self.order.len() == 1 { self.order[0] } else { self.order[(place % self.order.len() as u64) as usize] }
    }

    /// Returns a request by its number.
    pub fn request(&self, number: u32) -> &Request {
        &self.requests[number as usize]
    }

    /// Returns the parts that all requests share.
    pub fn template(&self) -> &Template {
        &self.template
    }

    /// Returns the requests by their numbers.
    pub fn requests(&self) -> &[Request] {
        &self.requests
    }

    /// Returns the length of the order.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Returns false: a script has a request.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Returns the patterns of the paths, by their numbers.
    pub fn patterns(&self) -> &[String] {
        &self.patterns
    }

    /// Returns the times of the requests, if they come from a log.
    pub fn times_ns(&self) -> Option<&Arc<[u64]>> {
        self.times_ns.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_its_order() {
        let mut draft = Draft::new(Template::default());
        let order = ["/a", "/b/1", "/a", "/b/2"].map(|path| draft.number("GET", path));
        let script = draft.finish(order.into(), Some(vec![0, 1, 1, 2]));
        let order: Vec<u32> = (0..6).map(|place| script.at(place)).collect();
        assert_eq!(order, [0, 1, 0, 2, 0, 1]);
        assert_eq!(script.patterns(), ["/a", "/b/*"]);
        assert_eq!(script.request(2).pattern, script.request(1).pattern);
        assert_eq!(script.len(), 4);
    }
}
