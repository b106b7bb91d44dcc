//! A sample of the emitted keys: bounds of a total order over the partitions, and routes to buckets.
//!
//! The sample depends only on the input, the split size and the seed. So the partitions are the same for any memory and
//! any number of threads. It reads several places in each of up to 64 evenly spread splits, so that sorted input is
//! sampled as well as any other. The records go through fresh mappers.

use std::borrow::Cow;
use std::sync::Arc;

use super::map_setup::{make_key_encoder, make_mapper, make_partition, note_failed_attempt, read_setup};
use super::running_job::RunningJob;
use crate::bytes::KeyOrder;
use crate::collect::chains::Chains;
use crate::collect::routes::Routes;
use crate::collect::splitters::Splitters;
use crate::env::random::Random;
use crate::env::sync::Mutex;
use crate::job::spec::Partitioning;
use crate::key_order::OrderedKeyEncoder;
use crate::operator::cursor::{HEADER_BYTES, Scratch, copied};
use crate::operator::mapper::Restart;
use crate::operator::{Emitter, Sink};
use crate::read::split::{Piece, RecordFormat};
use crate::read::{Split, SplitReader};
use yunti_base::{Code, Result};

/// Splits that are sampled at most.
const SPLITS_MAX: usize = 64;
/// Places sampled in a split.
const PLACES: u64 = 8;
/// Bytes read at a place.
const PLACE_BYTES: u64 = if cfg!(debug_assertions) { 64 } else { 8 << 10 };
/// Bytes read from a split that cannot be cut.
const SAMPLE_BYTES: usize = if cfg!(debug_assertions) { 512 } else { 64 << 10 };
/// Keys of a split that decide the bounds of partitions.
const KEYS_A_SPLIT: usize = 500;
/// Bytes of a sampled key. The beginning of a longer key decides as well.
const KEY_BYTES_MAX: usize = 1024;
/// Bytes of input from which sampling for buckets pays.
const ROUTED_BYTES: u64 = if cfg!(debug_assertions) { 4 << 10 } else { 32 << 20 };
/// Samples a bucket needs. With fewer, routes would be a guess.
const SAMPLES_A_BUCKET: usize = if cfg!(debug_assertions) { 2 } else { 8 };

/// Bounds and routes from a sample of keys.
#[derive(Default)]
pub struct KeySample {
    /// Least normalised key of each partition except the first.
    pub bounds: Arc<Vec<Vec<u8>>>,
    /// Routes of records to buckets, if the sample is large enough.
    pub routes: Option<Arc<Routes>>,
}

/// Samples the input, if the job needs bounds or can use routes. `place_bits`: bits of a place in the record store.
pub fn collect(running: &RunningJob<'_>, place_bits: u32) -> Result<KeySample> {
    let plan = running.plan;
    let total_order = plan.partitions > 1 && running.spec.partitioning == Partitioning::TotalOrder;
    let bounded = total_order && running.bounds.is_none();
    // Sampling for routes alone would run user code twice on a record, so only jobs without user code are routed.
    let routed = plan.passes_on()
        && plan.combiner.is_none()
        && plan.folder.is_none()
        && plan.partitioner.is_none()
        && plan.key_order_class.is_none()
        && plan.sources.iter().all(|source| source.reader.is_none())
        && plan.input_bytes >= ROUTED_BYTES;
    if !(bounded || routed) || plan.splits.is_empty() {
        return Ok(KeySample { bounds: running.bounds.clone().unwrap_or_default(), routes: None });
    }
    let n = plan.splits.len().min(SPLITS_MAX);
    let found: Vec<Mutex<SplitSample>> = (0..n).map(|_| Mutex::default()).collect();
    running.crew.each(n, |_, i| {
        let split = &plan.splits[i * plan.splits.len() / n];
        *found[i].lock().unwrap_or_else(|e| e.into_inner()) = sample_split(running, split)?;
        Ok(())
    })?;
    let mut found: Vec<SplitSample> =
        found.into_iter().map(|f| f.into_inner().unwrap_or_else(|e| e.into_inner())).collect();
    let mut sample = KeySample { bounds: running.bounds.clone().unwrap_or_default(), routes: None };
    if bounded {
        sample.bounds = Arc::new(bounds(running, &mut found));
    }
    if routed {
        sample.routes = routes(running, &sample.bounds, &found, place_bits)?;
    }
    Ok(sample)
}

/// Sampled keys as emitted, or the group prefix of ordered keys; and the bytes of their records.
#[derive(Default)]
struct SplitSample {
    keys: Vec<Vec<u8>>,
    bytes: u64,
}

/// Samples a split, again after a failure of a mapper that can begin again. Where a job may leave out bad records, a
/// place at which all attempts fail gives no keys; the map phase finds the record.
fn sample_split(running: &RunningJob<'_>, split: &Split) -> Result<SplitSample> {
    // A pipe can be read only once.
    if split.pieces.iter().any(|p| running.plan.files[p.file as usize].is_stream) {
        return Ok(SplitSample::default());
    }
    let mut places = places(running, split);
    let mut attempt = 1;
    loop {
        let mut failed = None;
        match sample_places(running, split, &places, &mut failed) {
            Err(e) if e.code() == Code::UserCode => match failed {
                Some(_) if attempt < running.plan.map_attempts_max => {
                    note_failed_attempt(running, split, &e, attempt);
                    attempt += 1;
                }
                Some(place) if running.job.bad_records.leaves_out() => {
                    places.remove(place);
                    attempt = 1;
                }
                _ => return Err(e),
            },
            result => return result,
        }
    }
}

/// Samples places of a split. Sets `failed` to the place at which a mapper failed that can begin again.
fn sample_places(
    running: &RunningJob<'_>,
    split: &Split,
    places: &[Split],
    failed: &mut Option<usize>,
) -> Result<SplitSample> {
    let plan = running.plan;
    let source = plan.source(split);
    let mut setup = read_setup(running, source);
    setup.read_bytes = if places.len() > 1 { 2 * PLACE_BYTES as usize } else { SAMPLE_BYTES };
    let mut reader = SplitReader::new(setup)?;
    let key_encoder = make_key_encoder(plan, &running.context(false, split.number), plan.map_types)?;
    let mut emitter = Emitter::new(KeySink::new(key_encoder)?, false, false)?;
    for (number, place) in places.iter().enumerate() {
        reader.begin(place);
        let context = running.context_of_sample(split.number);
        let (mut mapper, _) = make_mapper(source, &context)?;
        if let Some(batch) = reader.next_batch()? {
            emitter.run(batch.data(), |out| mapper.map(&batch, out)).inspect_err(|e| {
                let is_final = matches!(mapper.restart(e), Restart::Impossible | Restart::Found(_));
                *failed = (!is_final).then_some(number);
            })?;
        }
    }
    Ok(emitter.finish()?.found)
}

/// Returns the places of a split to sample, each as a split.
fn places(running: &RunningJob<'_>, split: &Split) -> Vec<Split> {
    let plan = running.plan;
    let source = plan.source(split);
    let [piece] = split.pieces[..] else { return vec![split.clone()] };
    let len = piece.end.saturating_sub(piece.start);
    let file = &plan.files[piece.file as usize];
    if file.codec.is_some() || piece.end == u64::MAX || !source.format.splittable() || len < PLACES * PLACE_BYTES {
        return vec![split.clone()];
    }
    let record = match source.format {
        RecordFormat::Fixed { record_bytes, .. } => u64::from(record_bytes),
        _ => 1,
    };
    (0..PLACES)
        .map(|i| {
            let start = piece.start + i * len / PLACES / record * record;
            let end = (start + PLACE_BYTES.next_multiple_of(record)).min(piece.end);
            Split { pieces: vec![Piece { start, end, ..piece }], bytes: end - start, ..split.clone() }
        })
        .collect()
}

fn bounds(running: &RunningJob<'_>, found: &mut [SplitSample]) -> Vec<Vec<u8>> {
    let plan = running.plan;
    let mut random = Random::new(running.seed());
    let mut keys: Vec<(u64, Cow<'_, [u8]>)> = Vec::new();
    for split in found {
        let own = split.keys.len();
        for i in 0..own.min(KEYS_A_SPLIT) {
            // The first keys, after these swaps, are a random choice without repetition.
            split.keys.swap(i, i + random.below((own - i) as u64) as usize);
        }
        keys.extend(split.keys.iter().take(KEYS_A_SPLIT).map(|key| {
            let key = normalised(plan.order, key);
            (plan.order.prefix(&key, 0), key)
        }));
    }
    keys.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| plan.order.compare(&a.1, &b.1)));
    let mut bounds: Vec<Vec<u8>> = Vec::new();
    for p in 1..plan.partitions as usize {
        if let Some((_, key)) = keys.get(p * keys.len() / plan.partitions as usize)
            && bounds.last().is_none_or(|last| last[..] != key[..])
        {
            bounds.push(key.to_vec());
        }
    }
    bounds
}

fn normalised(order: KeyOrder, key: &[u8]) -> Cow<'_, [u8]> {
    if order.is_bytes() {
        return Cow::Borrowed(key);
    }
    let mut key = key.to_vec();
    order.normalise(&mut key);
    Cow::Owned(key)
}

fn routes(
    running: &RunningJob<'_>,
    bounds: &Arc<Vec<Vec<u8>>>,
    found: &[SplitSample],
    place_bits: u32,
) -> Result<Option<Arc<Routes>>> {
    let plan = running.plan;
    let context = running.context(false, 0);
    let partition = make_partition(running, &context, bounds)?;
    let samples: Vec<(u32, u64)> = found
        .iter()
        .flat_map(|f| &f.keys)
        .enumerate()
        .map(|(i, raw)| {
            let key = normalised(plan.order, raw);
            let prefix = plan.order.prefix(&key, 0);
            (partition.of(i, raw, &key, prefix), prefix)
        })
        .collect();
    let bytes: u64 = found.iter().map(|f| f.bytes).sum();
    let records = u128::from(plan.input_bytes) * samples.len() as u128 / u128::from(bytes.max(1));
    let wanted = Splitters::wanted(records as u64);
    if samples.len() < wanted * SAMPLES_A_BUCKET {
        return Ok(None);
    }
    let routes = Routes::new(Splitters::of(samples, plan.partitions, wanted), place_bits);
    // With many buckets and little memory, chunks would hold few entries each.
    let fits = Chains::least_bytes(routes.buckets()) * 8 <= running.sizing.share_bytes;
    Ok(fits.then(|| Arc::new(routes)))
}

struct KeySink {
    key_encoder: Option<OrderedKeyEncoder>,
    block: Scratch,
    found: SplitSample,
}

impl KeySink {
    fn new(key_encoder: Option<OrderedKeyEncoder>) -> Result<Self> {
        Ok(KeySink { key_encoder, block: Scratch::new()?, found: SplitSample::default() })
    }

    fn add(found: &mut SplitSample, key: &[u8], value_len: usize) {
        found.keys.push(key[..key.len().min(KEY_BYTES_MAX)].to_vec());
        found.bytes += (key.len() + value_len) as u64;
    }
}

impl Sink for KeySink {
    fn begin(&mut self) -> Result<(*mut u8, usize)> {
        Ok(self.block.block())
    }
    fn filled(&mut self, len: usize, _: usize, _: &[u8]) -> Result<(*mut u8, usize)> {
        let KeySink { key_encoder, block, found } = self;
        let bytes = block.bytes(len);
        if let Some(key_encoder) = key_encoder {
            key_encoder.encode_block(bytes, |_, record| {
                Self::add(found, &record.ordered_key[..record.group_bytes], record.value.len());
                Ok(())
            })?;
        } else {
            for (at, klen, vlen) in copied(bytes) {
                Self::add(found, &bytes[at + HEADER_BYTES..][..klen], vlen);
            }
        }
        Ok(self.block.block())
    }
    fn large(&mut self, key: &[u8], value: &[u8]) -> Result<(*mut u8, usize)> {
        let KeySink { key_encoder, found, .. } = self;
        if let Some(key_encoder) = key_encoder {
            key_encoder.encode_one(key, value, |_, record| {
                Self::add(found, &record.ordered_key[..record.group_bytes], record.value.len());
                Ok(())
            })?;
        } else {
            Self::add(found, key, value.len());
        }
        Ok(self.block.block())
    }
}
