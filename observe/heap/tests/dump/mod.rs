//! Writer of small heap dumps for tests, and random heaps.
#![allow(dead_code)]

use std::collections::BTreeMap;

/// Types of fields.
pub const OBJECT: u8 = 2;
pub const INT: u8 = 10;
pub const LONG: u8 = 11;
pub const BYTE: u8 = 8;

/// Random numbers from a seed.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) % bound.max(1)
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// Class of a test heap.
#[derive(Clone, Debug, Default)]
pub struct Class {
    pub id: u64,
    pub name: String,
    pub super_id: u64,
    pub loader: u64,
    /// Name, type, value.
    pub statics: Vec<(String, u8, u64)>,
    /// Name, type.
    pub fields: Vec<(String, u8)>,
}

/// Object of a test heap.
#[derive(Clone, Debug)]
pub enum Object {
    Instance { id: u64, class: u64, values: Vec<(u8, u64)> },
    Array { id: u64, class: u64, elements: Vec<u64> },
    Primitive { id: u64, kind: u8, length: u32 },
}

impl Object {
    pub fn id(&self) -> u64 {
        match self {
            Object::Instance { id, .. } | Object::Array { id, .. } | Object::Primitive { id, .. } => *id,
        }
    }
}

/// Root of a test heap.
#[derive(Clone, Copy, Debug)]
pub enum Root {
    Unknown(u64),
    JniGlobal(u64),
    Sticky(u64),
    Monitor(u64),
    Thread(u64, u32),
    Frame(u64, u32),
    JniLocal(u64, u32),
    ThreadBlock(u64, u32),
}

/// Heap to write.
#[derive(Clone, Debug, Default)]
pub struct TestHeap {
    pub id_bytes: usize,
    pub classes: Vec<Class>,
    pub objects: Vec<Object>,
    pub roots: Vec<Root>,
}

pub fn value_bytes(kind: u8, id_bytes: usize) -> usize {
    match kind {
        OBJECT => id_bytes,
        4 | 8 => 1,
        5 | 9 => 2,
        6 | 10 => 4,
        _ => 8,
    }
}

impl TestHeap {
    fn id(&self, out: &mut Vec<u8>, id: u64) {
        out.extend_from_slice(&id.to_be_bytes()[8 - self.id_bytes..]);
    }

    fn value(&self, out: &mut Vec<u8>, kind: u8, value: u64) {
        out.extend_from_slice(&value.to_be_bytes()[8 - value_bytes(kind, self.id_bytes)..]);
    }

    /// Returns the dump, whose segments end at random records.
    pub fn write(&self, random: &mut Random) -> Vec<u8> {
        let mut out = b"JAVA PROFILE 1.0.2\0".to_vec();
        out.extend_from_slice(&(self.id_bytes as u32).to_be_bytes());
        out.extend_from_slice(&[0; 8]);
        let mut names: BTreeMap<&str, u64> = BTreeMap::new();
        let mut next = 1_u64;
        for class in &self.classes {
            let fields = class.statics.iter().map(|f| &*f.0).chain(class.fields.iter().map(|f| &*f.0));
            for name in [&*class.name].into_iter().chain(fields) {
                names.entry(name).or_insert_with(|| {
                    next += 3;
                    next
                });
            }
        }
        for (name, &id) in &names {
            let mut body = Vec::new();
            self.id(&mut body, id);
            body.extend_from_slice(name.as_bytes());
            record(&mut out, 1, &body);
        }
        for (serial, class) in self.classes.iter().enumerate() {
            let mut body = (serial as u32 + 1).to_be_bytes().to_vec();
            self.id(&mut body, class.id);
            body.extend_from_slice(&[0; 4]);
            self.id(&mut body, names[&*class.name]);
            record(&mut out, 2, &body);
        }
        let mut segment = Vec::new();
        for class in &self.classes {
            self.class(&mut segment, class, &names);
            self.maybe_cut(&mut out, &mut segment, random);
        }
        for root in &self.roots {
            self.root(&mut segment, *root);
        }
        for object in &self.objects {
            self.object(&mut segment, object);
            self.maybe_cut(&mut out, &mut segment, random);
        }
        record(&mut out, 0x1c, &segment);
        record(&mut out, 0x2c, &[]);
        out
    }

    fn maybe_cut(&self, out: &mut Vec<u8>, segment: &mut Vec<u8>, random: &mut Random) {
        if random.chance(7) {
            record(out, 0x1c, segment);
            segment.clear();
        }
    }

    fn class(&self, out: &mut Vec<u8>, class: &Class, names: &BTreeMap<&str, u64>) {
        out.push(0x20);
        self.id(out, class.id);
        out.extend_from_slice(&[0; 4]);
        for id in [class.super_id, class.loader, 0, 0, 0, 0] {
            self.id(out, id);
        }
        let mut bytes = 0;
        let mut at = class.id;
        while let Some(class) = self.classes.iter().find(|class| class.id == at) {
            bytes += class.fields.iter().map(|f| value_bytes(f.1, self.id_bytes)).sum::<usize>();
            at = class.super_id;
        }
        out.extend_from_slice(&(bytes as u32).to_be_bytes());
        // One constant, which nothing reads.
        out.extend_from_slice(&[0, 1, 0, 7, INT, 0, 0, 0, 9]);
        out.extend_from_slice(&(class.statics.len() as u16).to_be_bytes());
        for (name, kind, value) in &class.statics {
            self.id(out, names[&**name]);
            out.push(*kind);
            self.value(out, *kind, *value);
        }
        out.extend_from_slice(&(class.fields.len() as u16).to_be_bytes());
        for (name, kind) in &class.fields {
            self.id(out, names[&**name]);
            out.push(*kind);
        }
    }

    fn root(&self, out: &mut Vec<u8>, root: Root) {
        let (tag, id, numbers): (u8, u64, Vec<u32>) = match root {
            Root::Unknown(id) => (0xff, id, vec![]),
            Root::JniGlobal(id) => (1, id, vec![]),
            Root::Sticky(id) => (5, id, vec![]),
            Root::Monitor(id) => (7, id, vec![]),
            Root::Thread(id, thread) => (8, id, vec![thread, 0]),
            Root::Frame(id, thread) => (3, id, vec![thread, 1]),
            Root::JniLocal(id, thread) => (2, id, vec![thread, 0]),
            Root::ThreadBlock(id, thread) => (6, id, vec![thread]),
        };
        out.push(tag);
        self.id(out, id);
        if tag == 1 {
            self.id(out, 77);
        }
        numbers.iter().for_each(|number| out.extend_from_slice(&number.to_be_bytes()));
    }

    fn object(&self, out: &mut Vec<u8>, object: &Object) {
        match object {
            Object::Instance { id, class, values } => {
                out.push(0x21);
                self.id(out, *id);
                out.extend_from_slice(&[0; 4]);
                self.id(out, *class);
                let bytes: usize = values.iter().map(|v| value_bytes(v.0, self.id_bytes)).sum();
                out.extend_from_slice(&(bytes as u32).to_be_bytes());
                values.iter().for_each(|(kind, value)| self.value(out, *kind, *value));
            }
            Object::Array { id, class, elements } => {
                out.push(0x22);
                self.id(out, *id);
                out.extend_from_slice(&[0; 4]);
                out.extend_from_slice(&(elements.len() as u32).to_be_bytes());
                self.id(out, *class);
                elements.iter().for_each(|id| self.id(out, *id));
            }
            Object::Primitive { id, kind, length } => {
                out.push(0x23);
                self.id(out, *id);
                out.extend_from_slice(&[0; 4]);
                out.extend_from_slice(&length.to_be_bytes());
                out.push(*kind);
                out.extend(std::iter::repeat_n(7, *length as usize * value_bytes(*kind, 0)));
            }
        }
    }

    /// Returns the fields of a class and its super classes.
    pub fn fields(&self, class: u64) -> Vec<u8> {
        let mut kinds = Vec::new();
        let mut at = class;
        while let Some(class) = self.classes.iter().find(|class| class.id == at) {
            kinds.extend(class.fields.iter().map(|field| field.1));
            at = class.super_id;
        }
        kinds
    }

    /// Returns a random heap of about `size` objects: trees, joins, cycles, garbage, threads, loaders.
    pub fn random(random: &mut Random, size: u64) -> TestHeap {
        let id_bytes = if random.chance(70) { 8 } else { 4 };
        let base = if id_bytes == 8 && random.chance(30) { 0x7_4000_0000 } else { 0x1_0000 };
        let mut heap = TestHeap { id_bytes, ..TestHeap::default() };
        // Addresses in any order, with gaps; the file has another order.
        let mut addresses: Vec<u64> = Vec::new();
        let mut at = base;
        for _ in 0..size + 20 {
            at += 8 * (2 + random.below(6)) + if random.chance(2) { 1 << 16 } else { 0 };
            addresses.push(at);
        }
        for i in (1..addresses.len()).rev() {
            addresses.swap(i, random.below(i as u64 + 1) as usize);
        }
        let mut address = || addresses.pop().unwrap();
        let object = address();
        let mut class = |name: &str, super_id: u64, fields: &[u8]| Class {
            id: address(),
            name: name.to_owned(),
            super_id,
            fields: fields.iter().enumerate().map(|(i, kind)| (format!("f{i}"), *kind)).collect(),
            ..Class::default()
        };
        heap.classes.push(Class { id: object, name: "java/lang/Object".to_owned(), ..Class::default() });
        for (name, fields) in [
            ("java/lang/Class", &[OBJECT][..]),
            ("java/lang/ClassLoader", &[OBJECT, INT]),
            ("[I", &[]),
            ("[B", &[]),
            ("[Ljava/lang/Object;", &[]),
            ("shop/Node", &[OBJECT, OBJECT]),
        ] {
            heap.classes.push(class(name, object, fields));
        }
        let node = heap.classes[6].id;
        heap.classes.push(class("shop/Order", node, &[BYTE, OBJECT, LONG]));
        heap.classes.push(class("shop/Leaf", object, &[INT, BYTE]));
        let kinds = heap.classes.len() as u64;
        let ids: Vec<u64> = (0..size).map(|_| address()).collect();
        // Mostly trees: an object refers to later ones, each of which is taken once; some references go anywhere.
        let mut untaken = ids.clone();
        let joins = random.below(40);
        for &id in &ids {
            let mut to = |random: &mut Random| {
                if random.chance(joins) {
                    match random.below(10) {
                        0 => 0,
                        1 => 0xdead_b000,
                        2 => heap.classes[random.below(kinds) as usize].id,
                        _ => ids[random.below(size) as usize],
                    }
                } else if random.chance(85) {
                    untaken.pop().unwrap_or(0)
                } else {
                    0
                }
            };
            let made = match random.below(10) {
                0 => Object::Primitive {
                    id,
                    kind: if random.chance(50) { INT } else { BYTE },
                    length: random.below(40) as u32,
                },
                1..=3 => {
                    let bound = if random.chance(5) { 60 } else { 6 };
                    let length = random.below(bound);
                    let elements = (0..length).map(|_| to(random)).collect();
                    Object::Array { id, class: heap.classes[5].id, elements }
                }
                n => {
                    let class = heap.classes[if n < 6 {
                        6
                    } else if n < 9 {
                        7
                    } else {
                        8
                    }]
                    .id;
                    let fields = heap.fields(class);
                    let values = fields
                        .into_iter()
                        .map(|kind| (kind, if kind == OBJECT { to(random) } else { random.below(99) }));
                    Object::Instance { id, class, values: values.collect() }
                }
            };
            heap.objects.push(made);
        }
        let any = |random: &mut Random| ids[random.below(size) as usize];
        let sticky = random.below(101);
        for i in 0..heap.classes.len() {
            if i >= 6 && random.chance(70) {
                heap.classes[i].loader = any(random);
            }
            for name in ["A", "B"] {
                if random.chance(40) {
                    heap.classes[i].statics.push((name.to_owned(), OBJECT, any(random)));
                }
            }
            heap.classes[i].statics.push(("N".to_owned(), INT, 5));
            if random.chance(sticky) {
                heap.roots.push(Root::Sticky(heap.classes[i].id));
            }
        }
        for _ in 0..1 + random.below(6) {
            let id = any(random);
            let thread = 1 + random.below(2) as u32;
            heap.roots.push(match random.below(9) {
                0 => Root::Unknown(id),
                1 => Root::JniGlobal(id),
                2 => Root::Monitor(id),
                3 | 4 => Root::Thread(id, thread),
                5 => Root::Frame(id, thread),
                6 => Root::JniLocal(id, thread),
                7 => Root::ThreadBlock(id, thread),
                _ => Root::Unknown(0xdead_b000),
            });
        }
        heap
    }
}

fn record(out: &mut Vec<u8>, tag: u8, body: &[u8]) {
    out.push(tag);
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&(body.len() as u32).to_be_bytes());
    out.extend_from_slice(body);
}

/// Writes bytes to a file of the test and returns its path.
pub fn file(name: &str, bytes: &[u8]) -> std::path::PathBuf {
    let path = std::env::temp_dir().join(format!(
        "yunti-heap-test-{}-{:?}-{name}",
        std::process::id(),
        std::thread::current().id()
    ));
    std::fs::write(&path, bytes).unwrap();
    path
}
