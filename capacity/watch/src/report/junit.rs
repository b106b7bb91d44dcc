//! JUnit XML: one test case a rule, and one for each function that costs more.

use super::figure::{change, ms, value};
use super::text::failed;
use crate::compare::{Comparison, Figure, Rule, Verdict};
use crate::record::Head;

/// Returns the document of a report.
pub fn report(name: &str, head: &Head, comparison: &Comparison) -> String {
    let mut cases = Vec::new();
    for rule in &comparison.rules {
        cases.push(case(name, rule.figure.name(), rule_result(rule)));
    }
    if let Some(failing) = &comparison.failing {
        let result = match failing.verdict {
            Verdict::Worse => Result::Failed(failed(failing), String::new()),
            _ => Result::Passed,
        };
        cases.push(case(name, "failed_requests", result));
    }
    for cause in &comparison.causes {
        let grown = &cause.change;
        let callers = cause.callers.join(" < ");
        let message = format!(
            "{} costs {} a request, before {} ({} of the service)",
            grown.name,
            ms(grown.now_ms),
            ms(grown.before_ms),
            change(grown.share)
        );
        cases.push(case(name, &format!("function {}", grown.name), Result::Failed(message, callers)));
    }
    let failures = cases.iter().filter(|case| case.contains("<failure")).count();
    let skipped = cases.iter().filter(|case| case.contains("<skipped")).count();
    let time = jiff::Timestamp::from_millisecond(i64::try_from(head.time_ms).unwrap_or(0)).unwrap_or_default();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"yunti watch {}\" tests=\"{}\" \
         failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\" timestamp=\"{}\">\n{}</testsuite>\n</testsuites>\n",
        escaped(name),
        cases.len(),
        time.strftime("%Y-%m-%dT%H:%M:%S"),
        cases.concat()
    )
}

enum Result {
    Passed,
    Skipped(String),
    /// Message, and what belongs to it.
    Failed(String, String),
}

fn rule_result(rule: &Rule) -> Result {
    let (Some(now), Some(expected), Some(by)) = (rule.now, rule.expected, rule.change) else {
        let reason = if rule.now.is_none() { "not measured" } else { "too few earlier measurements" };
        return Result::Skipped(reason.into());
    };
    if rule.verdict != Verdict::Worse {
        return Result::Passed;
    }
    let (now, expected) = (value(rule.figure, now), value(rule.figure, expected));
    let error = rule.error.unwrap_or(0.0) * 100.0;
    let title = match rule.figure {
        Figure::P99 => "the 99th percentile",
        figure => figure.title(),
    };
    Result::Failed(format!("{title} is {now}, expected {expected} ({} ± {error:.1} %)", change(by)), String::new())
}

fn case(watch: &str, name: &str, result: Result) -> String {
    let open = format!("<testcase classname=\"yunti.watch.{}\" name=\"{}\"", escaped(watch), escaped(name));
    match result {
        Result::Passed => format!("{open}/>\n"),
        Result::Skipped(reason) => format!("{open}><skipped message=\"{}\"/></testcase>\n", escaped(&reason)),
        Result::Failed(message, more) => {
            format!("{open}><failure message=\"{}\">{}</failure></testcase>\n", escaped(&message), escaped(&more))
        }
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\n' | '\t' => out.push(' '),
            // XML forbids these characters, but names of functions may contain them.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(verdict: Verdict, now: Option<f64>, expected: Option<f64>) -> Rule {
        Rule {
            figure: Figure::CpuPerRequest,
            verdict,
            now,
            expected,
            change: now.zip(expected).map(|(now, expected)| now / expected - 1.0),
            error: Some(0.01),
            probability: None,
            detectable: None,
            beyond_common: None,
            days: 14,
        }
    }

    #[test]
    fn rules_become_cases() {
        let one = |rule: &Rule| case("shop", rule.figure.name(), rule_result(rule));
        let open = "<testcase classname=\"yunti.watch.shop\" name=\"cpu_per_request\"";
        assert_eq!(one(&rule(Verdict::Same, Some(4.0), Some(4.0))), format!("{open}/>\n"));
        let skipped = "><skipped message=\"too few earlier measurements\"/></testcase>\n";
        assert_eq!(one(&rule(Verdict::Unknown, Some(4.0), None)), format!("{open}{skipped}"));
        let failed = one(&rule(Verdict::Worse, Some(4.2), Some(4.0)));
        let message = "processor time a request is 4.2 ms, expected 4 ms (+5.0 % ± 1.0 %)";
        assert_eq!(failed, format!("{open}><failure message=\"{message}\"></failure></testcase>\n"));
        assert_eq!(escaped("a<b>&\"\u{1}\n"), "a&lt;b&gt;&amp;&quot;\u{fffd} ");
    }
}
