//! One step of k-means (Lloyd: Least squares quantization in PCM, 1982). Each point goes to the nearest center; the
//! mean of its points is the next center.
//!
//! A point is a line of numbers with spaces, tabs or commas between them. Centers come from a side file, with spaces or
//! commas between their numbers. Text before a tab is ignored, so that the output of a step is the side file of the
//! next.

use std::sync::Arc;

use super::columns::ShortLines;
use crate::library::settings;
use crate::operator::{Batch, Groups, Mapper, Out, Reducer, TaskContext};
use yunti_base::{Code, Error, Result};

const CENTERS: &str = "kmeans.centers";

/// Returns the numbers of a line; None if a word is not a finite number.
fn numbers(line: &[u8]) -> Option<Vec<f64>> {
    let words = line.split(|byte| b" \t,\r".contains(byte)).filter(|word| !word.is_empty());
    words.map(|word| std::str::from_utf8(word).ok()?.parse().ok().filter(|n: &f64| n.is_finite())).collect()
}

struct Centers {
    /// Coordinates of all centers, one center after the other.
    all: Vec<f64>,
    dimensions: usize,
}

impl Centers {
    fn read(context: &TaskContext) -> Result<Centers> {
        let (name, text) = settings::side_file(context, CENTERS, "centers.txt")?;
        let (mut all, mut dimensions) = (Vec::new(), 0);
        for (i, line) in text.split(|&byte| byte == b'\n').enumerate().filter(|(_, line)| !line.trim_ascii().is_empty())
        {
            // The number of the center, if any, is before the tab.
            let point = memchr::memchr(b'\t', line).map_or(line, |tab| &line[tab + 1..]);
            match numbers(point) {
                Some(point) if !point.is_empty() && (dimensions == 0 || point.len() == dimensions) => {
                    dimensions = point.len();
                    all.extend(point);
                }
                _ => {
                    return Err(Error::new(Code::Input, format!("line {} is not a center like the others", i + 1))
                        .at_path(name)
                        .hint("each line needs the same number of coordinates"));
                }
            }
        }
        if all.is_empty() {
            return Err(Error::new(Code::Input, "there are no centers").at_path(name));
        }
        Ok(Centers { all, dimensions })
    }

    /// Returns the center with the least squared Euclidean distance; the first of equal ones.
    fn nearest(&self, point: &[f64]) -> usize {
        let distance = |center: &[f64]| center.iter().zip(point).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        let mut best = (f64::INFINITY, 0);
        for (i, center) in self.all.chunks_exact(self.dimensions).enumerate() {
            let d = distance(center);
            if d < best.0 {
                best = (d, i);
            }
        }
        best.1
    }
}

/// Mapper that sums the points of each center in its split. A value has the sums of all dimensions, then the number of
/// points.
pub struct KMeans {
    centers: Arc<Centers>,
    /// Sums of each center, in the layout of its value.
    sums: Vec<f64>,
    short: ShortLines,
}

impl KMeans {
    /// Reads the side file of centers once a process. Errors: `Usage` for the setting, `Input` for a bad line.
    pub fn new(context: &Arc<TaskContext>) -> Result<Self> {
        let centers = context.job.shared(CENTERS, || Centers::read(context))?;
        let n = centers.all.len() / centers.dimensions;
        Ok(KMeans { sums: vec![0.0; n * (centers.dimensions + 1)], centers, short: ShortLines::new(context) })
    }
}

impl Mapper for KMeans {
    fn map(&mut self, batch: &Batch<'_>, _: &mut Out) -> Result<()> {
        let dimensions = self.centers.dimensions;
        for i in 0..batch.len() {
            let Some(point) = numbers(batch.record(i).1).filter(|point| point.len() == dimensions) else {
                self.short.add();
                continue;
            };
            let sums = &mut self.sums[self.centers.nearest(&point) * (dimensions + 1)..][..=dimensions];
            sums.iter_mut().zip(point.iter().chain(&[1.0])).for_each(|(sum, x)| *sum += x);
        }
        Ok(())
    }

    fn flush(&mut self, out: &mut Out) -> Result<()> {
        for (i, sums) in self.sums.chunks_exact(self.centers.dimensions + 1).enumerate() {
            if sums[self.centers.dimensions] > 0.0 {
                out.emit(&(i as i64).to_le_bytes(), &bytes(sums))?;
            }
        }
        Ok(())
    }
}

fn bytes(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

/// Reducer that emits the mean of each center's points, as a line of numbers.
#[derive(Default)]
pub struct KMeansReducer {
    sums: Vec<f64>,
}

impl Reducer for KMeansReducer {
    fn reduce(&mut self, groups: &Groups<'_>, out: &mut Out) -> Result<()> {
        for i in 0..groups.len() {
            for v in groups.range(i) {
                let value = groups.value(v).chunks_exact(8).map(|n| f64::from_le_bytes(n.try_into().expect("8 bytes")));
                self.sums.resize(self.sums.len().max(value.len()), 0.0);
                self.sums.iter_mut().zip(value).for_each(|(sum, x)| *sum += x);
            }
            if !groups.completes(i) {
                break;
            }
            let sums = std::mem::take(&mut self.sums);
            let Some((points, sums)) = sums.split_last() else {
                return Err(
                    Error::new(Code::UserCode, "a value has no sums").hint("name Yunti.KMeansMapper as the mapper")
                );
            };
            let mean: Vec<String> = sums.iter().map(|sum| (sum / points).to_string()).collect();
            out.emit(groups.key(i), mean.join(" ").as_bytes())?;
        }
        Ok(())
    }
}
