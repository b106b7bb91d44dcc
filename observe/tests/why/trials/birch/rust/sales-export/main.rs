//! sales-export: joins sales with their articles and writes them as CSV to its output.
use std::collections::HashMap;
use std::io::{self, BufWriter, Write};
use std::sync::mpsc::sync_channel;
use std::thread;

struct Sale {
    id: u64,
    sku: u32,
    quantity: u32,
    store: u16,
}

struct Article {
    name: String,
    cents: u32,
    group: &'static str,
}

fn master_data() -> HashMap<u32, Article> {
    let groups = ["food", "drinks", "garden", "toys"];
    (0..20_000)
        .map(|i| {
            (
                i,
                Article {
                    name: format!("Article \"{}\" no. {}", i % 700, i),
                    cents: i * 37 % 9_999 + 49,
                    group: groups[i as usize % 4],
                },
            )
        })
        .collect()
}

fn quoted(s: &str) -> String {
    format!("\"{}\"", s.replace('"', "\"\""))
}

fn main() -> io::Result<()> {
    let articles = master_data();
    let (tx, rx) = sync_channel::<Vec<Sale>>(8);
    thread::Builder::new().name("till-reader".into()).spawn(move || {
        let mut x = 88172645463325252u64;
        for n in 0u64.. {
            let batch = (0..500)
                .map(|i| {
                    x ^= x << 13;
                    x ^= x >> 7;
                    x ^= x << 17;
                    Sale {
                        id: n * 500 + i,
                        sku: (x % 20_000) as u32,
                        quantity: (x >> 40) as u32 % 9 + 1,
                        store: (x >> 50) as u16 % 300,
                    }
                })
                .collect();
            if tx.send(batch).is_err() {
                return;
            }
        }
    })?;
    let mut out = BufWriter::with_capacity(32 * 1024, io::stdout());
    for batch in rx {
        for s in batch {
            let a = &articles[&s.sku];
            let total = a.cents as u64 * s.quantity as u64;
            writeln!(
                out,
                "{},{},{},{},{},{}.{:02}",
                s.id,
                s.store,
                quoted(&a.name),
                a.group,
                s.quantity,
                total / 100,
                total % 100
            )?;
        }
    }
    Ok(())
}
