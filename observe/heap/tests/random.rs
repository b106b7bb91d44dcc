//! Random heaps: dominators, retained sizes and totals are those of a plain computation that keeps all references.

mod dump;

use std::collections::{BTreeMap, HashMap, HashSet};

use dump::{OBJECT, Object, Random, Root, TestHeap, value_bytes};
use yunti_heap::{Dominator, Heap, Settings};

/// Plain computation over all objects.
struct Plain {
    /// Objects in reverse postorder; 1 is the super root.
    idoms: HashMap<u64, u64>,
    retained: HashMap<u64, u64>,
    totals: BTreeMap<String, (u64, u64)>,
}

const TOP: u64 = 1;

fn plain(heap: &TestHeap, is_compressed: bool) -> Plain {
    let pointer = heap.id_bytes as u64;
    let reference = if is_compressed { 4 } else { pointer };
    let class_of = |name: &str| heap.classes.iter().find(|class| class.name == name).unwrap();
    let up = |n: u64, to: u64| n.div_ceil(to) * to;
    let bytes = |kind: u8| if kind == OBJECT { reference } else { value_bytes(kind, 0) as u64 };
    fn raw(heap: &TestHeap, id: u64, header: u64, reference: u64) -> u64 {
        let class = heap.classes.iter().find(|class| class.id == id).unwrap();
        if class.super_id == 0 {
            return header;
        }
        let own: u64 =
            class.fields.iter().map(|f| if f.1 == OBJECT { reference } else { value_bytes(f.1, 0) as u64 }).sum();
        (own + raw(heap, class.super_id, header, reference)).div_ceil(reference) * reference
    }
    let instance = |class: u64| up(raw(heap, class, pointer + reference, reference), 8);
    let mut edges: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    let mut shallow: BTreeMap<u64, (u64, String)> = BTreeMap::new();
    for class in &heap.classes {
        let statics: u64 = class.statics.iter().map(|s| bytes(s.1)).sum();
        shallow.insert(class.id, (up(statics, 8), "java.lang.Class".to_owned()));
        let mut to = vec![class_of("java/lang/Class").id, class.loader];
        to.extend((class.super_id != 0).then_some(class.super_id));
        to.extend(class.statics.iter().filter(|s| s.1 == OBJECT && s.2 != 0).map(|s| s.2));
        edges.insert(class.id, to);
    }
    let loader = class_of("java/lang/ClassLoader").id;
    shallow.insert(0, (instance(loader), "java.lang.ClassLoader".to_owned()));
    edges.insert(0, vec![loader]);
    let readable = |name: &str| match name {
        "[I" => "int[]".to_owned(),
        "[B" => "byte[]".to_owned(),
        "[Ljava/lang/Object;" => "java.lang.Object[]".to_owned(),
        name => name.replace('/', "."),
    };
    for object in &heap.objects {
        let (class, size, to): (u64, u64, Vec<u64>) = match object {
            Object::Instance { class, values, .. } => {
                (*class, instance(*class), values.iter().filter(|v| v.0 == OBJECT).map(|v| v.1).collect())
            }
            Object::Array { class, elements, .. } => {
                (*class, up(pointer + reference + 4 + elements.len() as u64 * reference, 8), elements.clone())
            }
            Object::Primitive { kind, length, .. } => {
                let class = class_of(if *kind == dump::INT { "[I" } else { "[B" }).id;
                let values = u64::from(*length) * value_bytes(*kind, 0) as u64;
                (class, up(up(pointer + reference + 4, reference) + values, 8), vec![])
            }
        };
        let name = &heap.classes.iter().find(|c| c.id == class).unwrap().name;
        shallow.insert(object.id(), (size, readable(name)));
        edges.insert(object.id(), to.into_iter().filter(|&id| id != 0).chain([class]).collect());
    }
    // Roots and locals.
    let mut roots = HashSet::new();
    let mut threads: HashMap<u32, u64> = HashMap::new();
    let mut is_sticky = false;
    for root in &heap.roots {
        match *root {
            Root::Thread(id, thread) => {
                threads.insert(thread, id);
                roots.insert(id);
            }
            Root::Frame(id, thread) | Root::JniLocal(id, thread) | Root::ThreadBlock(id, thread) => {
                match threads.get(&thread) {
                    Some(thread) => edges.get_mut(thread).into_iter().for_each(|to| to.push(id)),
                    None => _ = roots.insert(id),
                }
            }
            Root::Sticky(id) => {
                is_sticky = true;
                roots.insert(id);
            }
            Root::Unknown(id) | Root::JniGlobal(id) | Root::Monitor(id) => _ = roots.insert(id),
        }
    }
    if !is_sticky {
        roots.extend(heap.classes.iter().filter(|c| c.loader == 0 && !c.name.starts_with('[')).map(|c| c.id));
    }
    let exists: HashSet<u64> = shallow.keys().copied().collect();
    let mut tops: Vec<u64> = roots.into_iter().filter(|id| exists.contains(id)).collect();
    tops.sort_unstable();
    edges.insert(TOP, tops);
    // Postorder, then dominators until nothing changes (Cooper, Harvey, Kennedy).
    let (mut order, mut seen) = (Vec::new(), HashSet::from([TOP]));
    let mut stack = vec![(TOP, 0)];
    while let Some((node, next)) = stack.last_mut() {
        match edges[node].get(*next) {
            Some(&to) => {
                *next += 1;
                if exists.contains(&to) && seen.insert(to) {
                    stack.push((to, 0));
                }
            }
            None => {
                order.push(*node);
                stack.pop();
            }
        }
    }
    let number: HashMap<u64, usize> = order.iter().enumerate().map(|(i, &node)| (node, i)).collect();
    let mut before: HashMap<u64, Vec<u64>> = HashMap::new();
    for &node in &order {
        edges[&node].iter().filter(|to| exists.contains(to)).for_each(|&to| before.entry(to).or_default().push(node));
    }
    let mut idoms: HashMap<u64, u64> = HashMap::from([(TOP, TOP)]);
    let mut is_changed = true;
    while is_changed {
        is_changed = false;
        for &node in order.iter().rev().skip(1) {
            let mut known = before[&node].iter().filter(|from| idoms.contains_key(from)).copied();
            let first = known.next().unwrap();
            let idom = known.fold(first, |mut a, mut b| {
                while a != b {
                    if number[&a] < number[&b] {
                        a = idoms[&a];
                    } else {
                        b = idoms[&b];
                    }
                }
                a
            });
            is_changed |= idoms.insert(node, idom) != Some(idom);
        }
    }
    let mut retained: HashMap<u64, u64> = HashMap::new();
    let mut totals: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for &node in order.iter().filter(|&&node| node != TOP) {
        let (size, name) = &shallow[&node];
        let total = totals.entry(name.clone()).or_default();
        *total = (total.0 + 1, total.1 + size);
        let mut at = node;
        while at != TOP {
            *retained.entry(at).or_default() += size;
            at = idoms[&at];
        }
    }
    Plain { idoms, retained, totals }
}

fn check(heap: &TestHeap, path: &std::path::Path, threads: usize) {
    let found = Heap::read(path, Settings { threads, scratch: &std::env::temp_dir() }).unwrap();
    assert_eq!(found.notes, Vec::<String>::new());
    let plain = plain(heap, found.classes.memory.reference == 4 && heap.id_bytes == 8);
    let ids = heap.objects.iter().map(Object::id).chain(heap.classes.iter().map(|class| class.id)).chain([0]);
    for id in ids {
        let place = found.forest.places[found.ids.number(id).unwrap() as usize];
        let want = match plain.idoms.get(&id) {
            None => Dominator::Garbage,
            Some(&TOP) => Dominator::Roots,
            Some(&idom) => Dominator::Place(found.forest.places[found.ids.number(idom).unwrap() as usize]),
        };
        assert_eq!(found.dominator(place), want, "dominator of {id:#x}");
        if want != Dominator::Garbage {
            assert_eq!(found.retained(place), plain.retained[&id], "retained by {id:#x}");
        }
    }
    let totals: BTreeMap<String, (u64, u64)> = found
        .classes
        .list
        .iter()
        .zip(&found.totals)
        .filter(|(_, total)| total.objects > 0)
        .map(|(class, total)| (class.name.clone(), (total.objects, total.bytes)))
        .collect();
    assert_eq!(totals, plain.totals);
}

#[test]
fn random_heaps_agree_with_a_plain_computation() {
    for seed in 1..=1000 {
        let mut random = Random(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
        let size = 5 + random.below(if seed % 10 == 0 { 300 } else { 60 });
        let heap = TestHeap::random(&mut random, size);
        let path = dump::file("random", &heap.write(&mut random));
        for threads in [1, 3] {
            if std::panic::catch_unwind(|| check(&heap, &path, threads)).is_err() {
                panic!("seed {seed}, {threads} threads, dump {}", path.display());
            }
        }
        std::fs::remove_file(&path).unwrap();
    }
}
