//! Stages as text.

use std::fmt::Write;

use yunti_base::Result;
use yunti_sql_plan::Node;

use crate::cut::{Drive, Job};

/// Returns the stages of a plan as text.
pub fn text(jobs: &[Job]) -> Result<String> {
    let mut text = String::new();
    for (number, job) in jobs.iter().enumerate() {
        let reduces = match job.reduces {
            0 => "no reduce".to_string(),
            1 => "1 reduce".to_string(),
            n => format!("{n} reduces"),
        };
        let _ = writeln!(text, "stage {} of {}: {reduces}", number + 1, jobs.len());
        for (fragment, drive) in job.stage.fragments.iter().zip(&job.drives) {
            let from = match drive {
                Drive::Files(paths) => match &paths[..] {
                    [one] => one.display().to_string(),
                    [first, ..] => format!("{} and {} others", first.display(), paths.len() - 1),
                    [] => "no file".into(),
                },
                Drive::Stage(stage) => format!("stage {}", stage + 1),
                Drive::Once => "nowhere: one task".into(),
            };
            let to = match &fragment.route {
                None => "the rows of the stage".to_string(),
                Some(route) if route.keys.is_empty() || job.reduces == 1 => format!("input {}", route.input),
                Some(route) => {
                    let keys: Vec<String> = route.keys.iter().map(ToString::to_string).collect();
                    format!("input {} by ({})", route.input, keys.join(", "))
                }
            };
            let _ = writeln!(text, "  map tasks over {from}, to {to}");
            put_plan(&fragment.plan, &mut text);
        }
        if let Some(reduction) = &job.stage.reduction {
            let _ = writeln!(text, "  reduce tasks");
            put_plan(&reduction.plan, &mut text);
        }
        for (path, name) in &job.shipped {
            let _ = writeln!(text, "  in each task's directory: {name}, of {}", path.display());
        }
    }
    Ok(text)
}

fn put_plan(plan: &Node, text: &mut String) {
    for line in plan.to_string().lines() {
        let _ = writeln!(text, "    {line}");
    }
}
