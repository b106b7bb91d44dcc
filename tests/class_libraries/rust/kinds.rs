//! Classes of every kind in Rust: numbers, groups, orders, formats, named outputs; and classes that fail on request.
//!
//! A text has lines `key TAB number`. `-D kinds.fail=PLACE` makes the class fail there: by an error, or by a panic with
//! `-D kinds.how=panic`.

use std::cell::RefCell;
use std::ffi::CStr;

use yunti_api::{
    Any, Bytes, Chunk, Class, Context, Counter, Direction, Folder, Form, KeyOrder, Mapper, NamedOutput, OrderedKey,
    Out, Partitioner, Reader, Record, Reducer, Result, Sink, StepReducer, Values, Writer, fail,
};

/// Failure on request: the place, and the way.
struct Trap {
    place: String,
    panics: bool,
}

impl Trap {
    fn new(context: &Context) -> Trap {
        let text = |key| context.setting(key).unwrap_or_default().to_string();
        Trap { place: text("kinds.fail"), panics: text("kinds.how") == "panic" }
    }

    fn at(&self, place: &str) -> Result<()> {
        match self.place == place {
            true if self.panics => panic!("the {place}\nwas bad"),
            true => fail(format!("the {place} failed")),
            false => Ok(()),
        }
    }
}

macro_rules! with_trap {
    ($($name:ident)*) => {$(
        struct $name {
            trap: Trap,
        }
        impl Class for $name {
            fn create(context: &Context) -> Result<Self> {
                let trap = Trap::new(context);
                trap.at(concat!("creation of ", stringify!($name)))?;
                Ok($name { trap })
            }
        }
    )*};
}
with_trap! { Parse Whole Mean ByFirst Descend Lines Page }

fn pair(line: &[u8]) -> Result<(&[u8], i64)> {
    let Some(tab) = line.iter().position(|&byte| byte == b'\t') else { return fail("a line has no tab") };
    Ok((&line[..tab], std::str::from_utf8(&line[tab + 1..])?.parse()?))
}

/// Keys that stay in the input, with numbers.
impl Mapper for Parse {
    type Key = Bytes;
    type Value = i64;
    const KEYS_ARE_SLICES: bool = true;
    fn map<F: Form>(&mut self, line: Record<'_>, out: &mut Out<'_, Bytes, i64, F>) -> Result<()> {
        self.trap.at("map")?;
        let (key, number) = pair(line.value)?;
        out.emit(key, number)
    }
    fn flush(&mut self, _: &mut Out<'_, Bytes, i64>) -> Result<()> {
        self.trap.at("flush")
    }
}

/// Numbers as keys, and texts made of them as values, some of them long.
#[derive(Default)]
struct Numbers;

impl Mapper for Numbers {
    type Key = i32;
    type Value = Bytes;
    fn map<F: Form>(&mut self, line: Record<'_>, out: &mut Out<'_, i32, Bytes, F>) -> Result<()> {
        let (key, number) = pair(line.value)?;
        let length = if number % 10 == 0 { 70_000 } else { number as usize % 50 };
        out.emit(number as i32, &key.repeat(1 + length / key.len().max(1)))
    }
}

impl StepReducer for Numbers {
    type InKey = i32;
    type InValue = Bytes;
    type Key = i32;
    type Value = f64;
    fn begin(&mut self, _: i32) -> Result<()> {
        Ok(())
    }
    fn add(&mut self, key: &[u8], _: &[u8]) -> Result<()> {
        if key.len() == 4 { Ok(()) } else { fail("a key of another length") }
    }
    fn end(&mut self, key: i32, out: &mut Out<'_, i32, f64>) -> Result<()> {
        out.emit(key, f64::from(key) / 2.0)
    }
}

/// Number, sum and largest of the values of a key.
impl Reducer for Whole {
    type InKey = Bytes;
    type InValue = i64;
    type Key = Bytes;
    type Value = Bytes;
    const PURE: bool = true;
    fn reduce(&mut self, key: &[u8], values: &mut Values<'_, i64>, out: &mut Out<'_, Bytes, Bytes>) -> Result<()> {
        self.trap.at("reduce")?;
        let numbers: Vec<i64> = values.collect();
        let (sum, most) = (numbers.iter().sum::<i64>(), numbers.iter().max().copied().unwrap_or(i64::MIN));
        out.emit(key, format!("{} {sum} {most}", numbers.len()).as_bytes())
    }
}

yunti_api::state! {
    struct MeanState { n: u64, sum: i64, last: [u32; 20] }
}

/// The same by a folder with a state of its own.
impl Folder for Mean {
    type State = MeanState;
    type InValue = i64;
    type Key = Bytes;
    type Value = Bytes;
    const EXACT: bool = true;
    fn init(&mut self) -> MeanState {
        MeanState { n: 0, sum: 0, last: [0; 20] }
    }
    fn fold(&mut self, state: &mut MeanState, value: i64) -> Result<()> {
        self.trap.at("fold")?;
        state.n += 1;
        state.sum += value;
        state.last[value.rem_euclid(20) as usize] += 1;
        Ok(())
    }
    fn merge(&mut self, state: &mut MeanState, other: &MeanState) -> Result<()> {
        state.n += other.n;
        state.sum += other.sum;
        state.last.iter_mut().zip(other.last).for_each(|(to, from)| *to += from);
        Ok(())
    }
    fn finish(&mut self, key: &[u8], state: &MeanState, out: &mut Out<'_, Bytes, Bytes>) -> Result<()> {
        out.emit(key, format!("{} {} {:?}", state.n, state.sum, state.last).as_bytes())
    }
}

impl Partitioner for ByFirst {
    type InKey = Bytes;
    fn partition(&mut self, key: &[u8], value: &[u8], parts: u32) -> Result<u32> {
        self.trap.at("partition")?;
        assert_eq!(value.len(), 8);
        Ok(if self.trap.place == "parts" { parts } else { u32::from(key.first().copied().unwrap_or(0)) % parts })
    }
}

/// Groups by the first byte of the key, the largest numbers first.
impl KeyOrder for Descend {
    type InKey = Bytes;
    const GROUPS: bool = true;
    fn arrange(&mut self, key: &[u8], value: &[u8], form: &mut OrderedKey) -> Result<()> {
        self.trap.at("arrange")?;
        let number = i64::from_le_bytes(value.try_into()?);
        form.text(&key[..1], Direction::Ascending).group().number(number, Direction::Descending);
        Ok(())
    }
}

/// The keys of a group with their values, in order.
#[derive(Default)]
struct List(Vec<u8>);

impl StepReducer for List {
    type InKey = Bytes;
    type InValue = i64;
    type Key = Bytes;
    type Value = Bytes;
    fn begin(&mut self, _: &[u8]) -> Result<()> {
        self.0.clear();
        Ok(())
    }
    fn add(&mut self, key: &[u8], value: i64) -> Result<()> {
        self.0.extend_from_slice(key);
        self.0.extend_from_slice(format!("={value} ").as_bytes());
        Ok(())
    }
    fn end(&mut self, key: &[u8], out: &mut Out<'_, Bytes, Bytes>) -> Result<()> {
        out.emit(&key[..1], &self.0)
    }
}

/// Lines by their positions, in splits of any size.
impl Reader for Lines {
    type Key = u64;
    type Value = Bytes;
    const FINDS: bool = true;
    const LOOK_BACK: u32 = 1;
    fn find(&mut self, chunk: Chunk<'_>) -> Result<Option<usize>> {
        self.trap.at("find")?;
        let from = chunk.cut - usize::from(chunk.cut > 0);
        let end = chunk.bytes[from..].iter().position(|&byte| byte == b'\n');
        Ok(end.map(|at| from + at + 1))
    }
    fn read(&mut self, chunk: Chunk<'_>, out: &mut Out<'_, u64, Bytes>) -> Result<usize> {
        self.trap.at("read")?;
        let mut at = 0;
        while at < chunk.owned() {
            let Some(length) = chunk.bytes[at..].iter().position(|&byte| byte == b'\n') else { break };
            out.emit(chunk.position + at as u64, &chunk.bytes[at..at + length])?;
            at += length + 1;
        }
        Ok(at)
    }
}

/// Records with numbers of their lines, between head and foot of a whole part.
impl Writer for Page {
    type Key = Any;
    type Value = Bytes;
    const WHOLE_PART: bool = true;
    const EXTENSION: Option<&'static CStr> = Some(c".page");
    fn begin(&mut self, out: &mut Sink<'_>) -> Result<()> {
        out.put(b"<page>\n")?;
        Ok(())
    }
    fn write(&mut self, key: &[u8], value: &[u8], out: &mut Sink<'_>) -> Result<()> {
        self.trap.at("write")?;
        out.display(key.len())?.put(b":")?.put(value)?.put(b"\n")?;
        Ok(())
    }
    fn end(&mut self, out: &mut Sink<'_>) -> Result<()> {
        out.put(b"</page>\n")?;
        Ok(())
    }
}

/// Bad lines to an output of their own; counters, status, side file, name of the input.
struct Route {
    context: Context,
    bad: NamedOutput<Bytes, i64>,
    lines: Counter,
}

impl Class for Route {
    fn create(context: &Context) -> Result<Self> {
        let lines = context.counter("Kinds", "LINES")?;
        Ok(Route { bad: NamedOutput::open(context, "bad")?, lines, context: context.clone() })
    }
}

impl Mapper for Route {
    type Key = Bytes;
    type Value = Bytes;
    fn map<F: Form>(&mut self, line: Record<'_>, out: &mut Out<'_, Bytes, Bytes, F>) -> Result<()> {
        self.lines.add(1);
        self.context.set_status("it routes");
        let limit: i64 = self.context.parse("kinds.limit")?.unwrap_or(0);
        let side = self.context.side_file("side.txt").map_or(0, <[u8]>::len);
        let Some(input) = self.context.input(line.file_index) else { return fail("no name of the input") };
        match pair(line.value) {
            Ok((key, number)) if number >= limit => {
                out.emit(key, format!("{} {side} {}", String::from_utf8_lossy(input), line.position).as_bytes())
            }
            _ => self.bad.emit(line.value, line.value.len() as i64),
        }
    }
}

thread_local! {
    static KEPT: RefCell<Option<Context>> = const { RefCell::new(None) };
}

/// Keeps its context longer than itself.
struct Leak;

impl Class for Leak {
    fn create(context: &Context) -> Result<Self> {
        KEPT.set(Some(context.clone()));
        Ok(Leak)
    }
}

impl Mapper for Leak {
    type Key = Bytes;
    type Value = ();
    fn map<F: Form>(&mut self, line: Record<'_>, out: &mut Out<'_, Bytes, (), F>) -> Result<()> {
        out.emit(line.value, ())
    }
}

/// Uses its context on another thread.
struct Elsewhere(Context);

impl Class for Elsewhere {
    fn create(context: &Context) -> Result<Self> {
        Ok(Elsewhere(context.clone()))
    }
}

impl Mapper for Elsewhere {
    type Key = Bytes;
    type Value = ();
    fn map<F: Form>(&mut self, _: Record<'_>, _: &mut Out<'_, Bytes, (), F>) -> Result<()> {
        let context = self.0.clone();
        match std::thread::spawn(move || context.setting("a").is_some()).join() {
            Ok(_) => Ok(()),
            Err(panic) => fail(panic.downcast_ref::<&str>().copied().unwrap_or("?")),
        }
    }
}

/// Breaks its promises.
#[derive(Default)]
struct Liar;

impl Mapper for Liar {
    type Key = Bytes;
    type Value = i64;
    const KEYS_ARE_SLICES: bool = true;
    const VALUE_IS_ONE: bool = true;
    fn map<F: Form>(&mut self, line: Record<'_>, out: &mut Out<'_, Bytes, i64, F>) -> Result<()> {
        if line.position == 0 { out.emit(line.value, 2) } else { out.one(b"of its own") }
    }
}

/// Values as texts, for a folder of numbers.
#[derive(Default)]
struct Texts;

impl Mapper for Texts {
    type Key = Bytes;
    type Value = Bytes;
    fn map<F: Form>(&mut self, line: Record<'_>, out: &mut Out<'_, Bytes, Bytes, F>) -> Result<()> {
        out.emit(line.value, b"12345678")
    }
}

yunti_api::library! {
    c"Kinds", c"1.0",
    yunti_api::mapper::<Parse>(c"Kinds.Parse"),
    yunti_api::mapper::<Numbers>(c"Kinds.Numbers"),
    yunti_api::step_reducer::<Numbers>(c"Kinds.Halves"),
    yunti_api::reducer::<Whole>(c"Kinds.Whole"),
    yunti_api::folder::<Mean>(c"Kinds.Mean"),
    yunti_api::fold_reducer::<Mean>(c"Kinds.MeanReducer"),
    yunti_api::fold_combiner::<yunti_api::Sum<i64>>(c"Kinds.SumCombiner"),
    yunti_api::fold_reducer::<yunti_api::Sum<i64>>(c"Kinds.SumReducer"),
    yunti_api::folder::<yunti_api::Max<i64>>(c"Kinds.Max"),
    yunti_api::partitioner::<ByFirst>(c"Kinds.ByFirst"),
    yunti_api::key_order::<Descend>(c"Kinds.Descend"),
    yunti_api::step_reducer::<List>(c"Kinds.List"),
    yunti_api::reader::<Lines>(c"Kinds.Lines"),
    yunti_api::writer::<Page>(c"Kinds.Page"),
    yunti_api::mapper::<Route>(c"Kinds.Route"),
    yunti_api::mapper::<Leak>(c"Kinds.Leak"),
    yunti_api::mapper::<Elsewhere>(c"Kinds.Elsewhere"),
    yunti_api::mapper::<Liar>(c"Kinds.Liar"),
    yunti_api::mapper::<Texts>(c"Kinds.Texts"),
}
