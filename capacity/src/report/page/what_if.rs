//! Section of the sliders: inputs, results, and the data for the script that computes them.

use serde_json::json;
use yunti_model::formulas::Place;
use yunti_program::page::markup::{Tag, note, section, tag};

use super::curve::{clients_axis, key};
use super::sliders::{self, Slider};
use crate::report::Report;
use crate::report::marks::rate;
use crate::report::names::short;
use crate::report::resources::label;

/// Characters of a name in the results.
const NAME_SHOWN: usize = 60;

/// Returns the section.
pub fn section_of(report: &Report<'_>) -> Tag {
    let sliders = sliders::list(report);
    let result = |id: &str, name: &str| {
        let value =
            tag("dd").add(tag("span").set("id", id).say("-")).add(tag("small").set("id", format!("{id}-now")).say(""));
        tag("div").add(tag("dt").say(name)).add(value)
    };
    let results = [
        result("if-peak", "requests a second, at most"),
        result("if-threads", "threads for 95 % of it"),
        result("if-bottleneck", "bottleneck").class("words"),
        result("if-response", "response time at the present rate"),
    ];
    let reset = tag("button").set("id", "if-reset").set("type", "button").say("Reset");
    let keys = [key("simulated", "as it is"), key("changed", "changed")];
    section("what-if", "What if?")
        .add(note(
            "The sliders are an approximation: mean value analysis, scaled to the simulated curve, computed in this \
             page. yunti capacity what-if simulates the change.",
        ))
        .add(tag("noscript").add(note("The sliders need scripts.")))
        .add(
            tag("div").class("what-if").add(tag("div").class("sliders").all(sliders.iter().map(input)).add(reset)).add(
                tag("div")
                    .class("results")
                    .add(tag("dl").class("figures").all(results))
                    .add(
                        tag("div")
                            .class("card")
                            .add(tag("div").set("id", "if-chart"))
                            .add(tag("ul").class("legend").all(keys)),
                    )
                    .add(tag("p").class("note").set("id", "if-command").set("role", "status").say("")),
            ),
        )
        .add(tag("script").set("type", "application/json").set("id", "data").raw(&data(report, &sliders)))
}

fn input(slider: &Slider) -> Tag {
    let range = tag("input")
        .set("type", "range")
        .set("id", &slider.id)
        .set("min", 0)
        .set("max", slider.values.len() - 1)
        .set("step", 1)
        .set("value", slider.now)
        .set("autocomplete", "off");
    tag("div")
        .class("slider")
        .add(tag("label").set("for", &slider.id).add(tag("bdi").say(&slider.label)))
        .add(tag("output").set("id", format!("{}-value", slider.id)).set("for", &slider.id).say(""))
        .add(range)
}

/// Returns the data of the script as JSON, in which no name can end the element.
fn data(report: &Report<'_>, sliders: &[Slider]) -> String {
    let (demands, curve) = (report.demands, report.curve);
    let items = curve.formulas.necessary.items.iter().map(|item| {
        let place = match item.place {
            Place::Processors => "processors",
            Place::Collections => "collections",
            Place::Resource(_) => "resource",
            Place::Workers => "workers",
        };
        json!({ "place": place, "name": short(&label(item), NAME_SHOWN), "ms": item.ms, "units": item.units })
    });
    let points = curve.points.iter().map(|point| (point.simulated.clients, rate(point)));
    let axis = clients_axis(report);
    let data = json!({
        "pid": demands.process.pid,
        "ms": curve.formulas.necessary.ms,
        "processors": { "count": demands.processors.count,
                        "taken": demands.processors.count - demands.processors.available() },
        "items": items.collect::<Vec<_>>(),
        "points": points.collect::<Vec<_>>(),
        "peak": curve.peak.value,
        "peakNow": curve.peak_now.value,
        "threads": curve.threads.value,
        "bottleneck": curve.bottleneck.first.as_ref().map(|first| json!({
            "name": curve.formulas.necessary.items.iter().find(|item| item.place == first.place)
                .map(|item| short(&label(item), NAME_SHOWN)),
        })),
        "workers": demands.workers.limit,
        "present": demands.requests.per_second,
        "response": report.response().map(|response| response.mean_ms),
        "young": report.advice.young.as_ref().map(|young| young.now.young_bytes),
        "end": axis.end,
        "power": axis.power,
        "sliders": sliders.iter().map(Slider::json).collect::<Vec<_>>(),
    });
    data.to_string().replace('<', "\\u003c").replace('&', "\\u0026")
}
