//! Aggregates that need all values of a group at once: `mode`, `quantile_disc`, `mad`, `histogram`, and moments. They
//! run on the general executor, and keep the values of their group.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, ListArray, MapArray, StructArray, UInt64Array};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Fields};
use datafusion::common::{Result, ScalarValue, exec_err, not_impl_err, plan_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility};

/// Result of an aggregate over the values of a group, none of which is null, in the order of their rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Mode,
    QuantileDisc,
    Histogram,
    Entropy,
    Mad,
    Product,
    Skewness,
    Kurtosis,
    KurtosisPopulation,
}

const KINDS: [(&str, Kind); 9] = [
    ("mode", Kind::Mode),
    ("quantile_disc", Kind::QuantileDisc),
    ("histogram", Kind::Histogram),
    ("entropy", Kind::Entropy),
    ("mad", Kind::Mad),
    ("product", Kind::Product),
    ("skewness", Kind::Skewness),
    ("kurtosis", Kind::Kurtosis),
    ("kurtosis_pop", Kind::KurtosisPopulation),
];

/// Returns the aggregates, for a session.
pub fn all() -> impl Iterator<Item = AggregateUDF> {
    KINDS.iter().map(|&(name, kind)| {
        let signature = match kind {
            Kind::QuantileDisc => Signature::any(2, Volatility::Immutable),
            Kind::Mode | Kind::Histogram | Kind::Entropy => Signature::any(1, Volatility::Immutable),
            _ => Signature::exact(vec![DataType::Float64], Volatility::Immutable),
        };
        AggregateUDF::new_from_impl(Whole { name, kind, signature })
    })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Whole {
    name: &'static str,
    kind: Kind,
    signature: Signature,
}

impl AggregateUDFImpl for Whole {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        let Some(first) = types.first() else { return plan_err!("{} takes a value", self.name) };
        Ok(match self.kind {
            Kind::Mode => first.clone(),
            Kind::Histogram => DataType::Map(entries(first), false),
            Kind::QuantileDisc if types.get(1).is_some_and(is_list) => {
                DataType::List(Arc::new(Field::new_list_field(first.clone(), true)))
            }
            Kind::QuantileDisc => first.clone(),
            _ => DataType::Float64,
        })
    }

    fn accumulator(&self, of: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        if of.is_distinct {
            return not_impl_err!("{} of distinct values", self.name);
        }
        if self.kind == Kind::Mode && !of.order_bys.is_empty() {
            return not_impl_err!("mode in an order");
        }
        let data_type = |n: usize| of.expr_fields.get(n).map_or(DataType::Null, |field| field.data_type().clone());
        let parameter = ScalarValue::try_from(data_type(1))?;
        Ok(Box::new(Group { kind: self.kind, data_type: data_type(0), values: VecDeque::new(), parameter }))
    }

    fn state_fields(&self, of: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let data_type = |n: usize| of.input_fields.get(n).map_or(DataType::Null, |field| field.data_type().clone());
        let values = DataType::List(Arc::new(Field::new_list_field(data_type(0), true)));
        Ok(vec![
            Arc::new(Field::new(format!("{}[values]", of.name), values, true)),
            Arc::new(Field::new(format!("{}[parameter]", of.name), data_type(1), true)),
        ])
    }
}

fn is_list(of: &DataType) -> bool {
    matches!(of, DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..))
}

/// Returns the field of a histogram's entries.
fn entries(of: &DataType) -> FieldRef {
    let fields = vec![Field::new("key", of.clone(), false), Field::new("value", DataType::UInt64, true)];
    Arc::new(Field::new("entries", DataType::Struct(Fields::from(fields)), false))
}

/// The values of one group.
#[derive(Debug)]
struct Group {
    kind: Kind,
    data_type: DataType,
    /// Without nulls.
    values: VecDeque<ScalarValue>,
    /// The second argument, which is the same for all rows.
    parameter: ScalarValue,
}

impl Accumulator for Group {
    fn update_batch(&mut self, arguments: &[ArrayRef]) -> Result<()> {
        let Some(values) = arguments.first() else { return Ok(()) };
        for row in (0..values.len()).filter(|row| values.is_valid(*row)) {
            self.values.push_back(ScalarValue::try_from_array(values, row)?);
        }
        if self.kind == Kind::QuantileDisc
            && let Some(parameters) = arguments.get(1)
            && !parameters.is_empty()
        {
            self.parameter = ScalarValue::try_from_array(parameters, 0)?;
        }
        Ok(())
    }

    fn retract_batch(&mut self, arguments: &[ArrayRef]) -> Result<()> {
        // Rows leave a frame in the order in which they came.
        let gone = arguments.first().map_or(0, |values| values.len() - values.null_count());
        self.values.drain(..gone.min(self.values.len()));
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let [lists, parameters] = states else { return exec_err!("a state of another aggregate") };
        let lists = lists.as_list::<i32>();
        for row in (0..lists.len()).filter(|row| lists.is_valid(*row)) {
            let values = lists.value(row);
            for at in 0..values.len() {
                self.values.push_back(ScalarValue::try_from_array(&values, at)?);
            }
            if parameters.is_valid(row) {
                self.parameter = ScalarValue::try_from_array(parameters, row)?;
            }
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let values: Vec<ScalarValue> = self.values.iter().cloned().collect();
        let list: Arc<ListArray> = ScalarValue::new_list_nullable(&values, &self.data_type);
        Ok(vec![ScalarValue::List(list), self.parameter.clone()])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        match self.kind {
            Kind::Mode => self.mode(),
            Kind::QuantileDisc => self.quantiles(),
            Kind::Histogram => self.histogram(),
            Kind::Entropy => {
                let total = self.values.len() as f64;
                let part = |count: u64| count as f64 / total;
                let parts = self.counts()?.into_iter().map(|(_, count, _)| -part(count) * part(count).log2());
                Ok(ScalarValue::Float64(Some(parts.sum::<f64>().max(0.0))))
            }
            _ => Ok(ScalarValue::Float64(of_numbers(self.kind, self.numbers()))),
        }
    }

    fn size(&self) -> usize {
        size_of::<Group>() + self.values.iter().map(ScalarValue::size).sum::<usize>()
    }
}

impl Group {
    fn numbers(&self) -> Vec<f64> {
        let number = |value: &ScalarValue| if let ScalarValue::Float64(number) = value { *number } else { None };
        self.values.iter().filter_map(number).collect()
    }

    /// Returns the values in their order.
    fn sorted(&self) -> Result<Vec<(usize, &ScalarValue)>> {
        let mut sorted: Vec<(usize, &ScalarValue)> = self.values.iter().enumerate().collect();
        let mut failure = None;
        sorted.sort_by(|(_, a), (_, b)| {
            a.try_cmp(b).unwrap_or_else(|error| {
                failure = Some(error);
                Ordering::Equal
            })
        });
        failure.map_or(Ok(sorted), Err)
    }

    /// Returns each value in its order, with the number of its rows and the first of them.
    fn counts(&self) -> Result<Vec<(&ScalarValue, u64, usize)>> {
        let mut counts: Vec<(&ScalarValue, u64, usize)> = Vec::new();
        for (row, value) in self.sorted()? {
            match counts.last_mut() {
                Some((last, count, first)) if *last == value => (*count, *first) = (*count + 1, row.min(*first)),
                _ => counts.push((value, 1, row)),
            }
        }
        Ok(counts)
    }

    /// Returns the most frequent value; of several, the one that came first.
    fn mode(&self) -> Result<ScalarValue> {
        let most = self.counts()?.into_iter().max_by_key(|(_, count, first)| (*count, std::cmp::Reverse(*first)));
        most.map_or_else(|| ScalarValue::try_from(&self.data_type), |(value, ..)| Ok(value.clone()))
    }

    fn quantiles(&self) -> Result<ScalarValue> {
        let sorted = self.sorted()?;
        let quantile = |part: ScalarValue| {
            let ScalarValue::Float64(Some(part)) = part.cast_to(&DataType::Float64)? else {
                return exec_err!("quantile_disc takes a number from 0 to 1");
            };
            if !(-1.0..=1.0).contains(&part) {
                return exec_err!("quantile_disc takes a number from 0 to 1, not {part}");
            }
            // One below zero counts from the end.
            let from_end = part.is_sign_negative() && part != 0.0;
            let place = (part.abs() * sorted.len() as f64).ceil().max(1.0) as usize - 1;
            let place = if from_end { (sorted.len().max(1) - 1).saturating_sub(place) } else { place };
            sorted.get(place).map_or_else(|| ScalarValue::try_from(&self.data_type), |(_, value)| Ok((*value).clone()))
        };
        let parts = match &self.parameter {
            ScalarValue::List(list) => list.value(0),
            ScalarValue::LargeList(list) => list.value(0),
            ScalarValue::FixedSizeList(list) => list.value(0),
            one if sorted.is_empty() && one.is_null() => return ScalarValue::try_from(&self.data_type),
            one => return quantile(one.clone()),
        };
        let list = DataType::List(Arc::new(Field::new_list_field(self.data_type.clone(), true)));
        if sorted.is_empty() {
            return ScalarValue::try_from(list);
        }
        let values = (0..parts.len()).map(|n| quantile(ScalarValue::try_from_array(&parts, n)?));
        let values = values.collect::<Result<Vec<_>>>()?;
        Ok(ScalarValue::List(ScalarValue::new_list_nullable(&values, &self.data_type)))
    }

    fn histogram(&self) -> Result<ScalarValue> {
        let field = entries(&self.data_type);
        let counts = self.counts()?;
        if counts.is_empty() {
            return ScalarValue::try_from(DataType::Map(field, false));
        }
        let keys = ScalarValue::iter_to_array(counts.iter().map(|(value, ..)| (*value).clone()))?;
        let numbers: ArrayRef = Arc::new(counts.iter().map(|(_, count, _)| *count).collect::<UInt64Array>());
        let DataType::Struct(fields) = field.data_type() else { return exec_err!("a histogram without entries") };
        let rows = StructArray::try_new(fields.clone(), vec![keys, numbers], None)?;
        let offsets = OffsetBuffer::from_lengths([rows.len()]);
        Ok(ScalarValue::Map(Arc::new(MapArray::try_new(field, offsets, rows, None, false)?)))
    }
}

/// Returns what an aggregate makes of numbers; None for too few of them.
fn of_numbers(kind: Kind, mut numbers: Vec<f64>) -> Option<f64> {
    let count = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    let moment = |power: i32| numbers.iter().map(|number| (number - mean).powi(power)).sum::<f64>() / count;
    let needed = match kind {
        Kind::Skewness => 3.0,
        Kind::Kurtosis => 4.0,
        Kind::KurtosisPopulation => 2.0,
        _ => 1.0,
    };
    if count < needed {
        return None;
    }
    let is_flat = || moment(2) == 0.0;
    match kind {
        Kind::Product => Some(numbers.iter().product()),
        Kind::Mad => {
            let middle = median(&mut numbers);
            median(&mut numbers.iter().map(|number| (number - middle).abs()).collect::<Vec<_>>()).into()
        }
        Kind::Skewness | Kind::Kurtosis | Kind::KurtosisPopulation if is_flat() => None,
        Kind::Skewness => Some((count * (count - 1.0)).sqrt() / (count - 2.0) * moment(3) / moment(2).powf(1.5)),
        Kind::KurtosisPopulation => Some(moment(4) / moment(2).powi(2) - 3.0),
        Kind::Kurtosis => {
            let excess = moment(4) / moment(2).powi(2) - 3.0;
            Some((count - 1.0) / ((count - 2.0) * (count - 3.0)) * ((count + 1.0) * excess + 6.0))
        }
        _ => None,
    }
}

/// Returns the value in the middle, or the mean of the two there. There is one at least.
fn median(numbers: &mut [f64]) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let middle = numbers.len() / 2;
    if numbers.len() % 2 == 1 { numbers[middle] } else { (numbers[middle - 1] + numbers[middle]) / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(kind: Kind, values: &[i64], parameter: ScalarValue) -> ScalarValue {
        let values = values.iter().map(|&value| ScalarValue::Int64(Some(value))).collect();
        Group { kind, data_type: DataType::Int64, values, parameter }.evaluate().unwrap()
    }

    #[test]
    fn the_first_of_equally_frequent_values() {
        for (values, expect) in [(&[3, 1, 1, 3][..], Some(3)), (&[1, 2, 2], Some(2)), (&[], None)] {
            assert_eq!(group(Kind::Mode, values, ScalarValue::Null), ScalarValue::Int64(expect), "{values:?}");
        }
    }

    #[test]
    fn quantiles_are_values() {
        for (part, expect) in [(0.0, 1), (0.25, 1), (0.26, 2), (0.5, 2), (0.75, 3), (1.0, 4)] {
            let part = ScalarValue::Float64(Some(part));
            assert_eq!(
                group(Kind::QuantileDisc, &[4, 2, 3, 1], part.clone()),
                ScalarValue::Int64(Some(expect)),
                "{part}"
            );
        }
    }

    #[test]
    fn moments() {
        for (kind, numbers, expect) in [
            (Kind::Skewness, &[1.0, 2.0][..], None),
            (Kind::Skewness, &[1.0, 2.0, 9.0], Some(1.6301)),
            (Kind::Kurtosis, &[1.0, 2.0, 9.0], None),
            (Kind::Kurtosis, &[1.0, 2.0, 3.0, 9.0], Some(3.0144)),
            (Kind::Mad, &[1.0, 2.0, 9.0, 4.0], Some(1.5)),
            (Kind::Product, &[2.0, 3.0], Some(6.0)),
            (Kind::Product, &[], None),
        ] {
            let found = of_numbers(kind, numbers.to_vec());
            let is_near = match (found, expect) {
                (Some(found), Some(expect)) => f64::abs(found - expect) < 1e-3,
                (found, expect) => found == expect,
            };
            assert!(is_near, "{kind:?} {numbers:?}: {found:?}");
        }
    }
}
