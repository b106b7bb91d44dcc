//! ticket-sync: keeps the tickets of a help desk in step with the customer database of the company.
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, Mutex};

struct Crm {
    stream: BufReader<TcpStream>,
    line: String,
}

impl Crm {
    async fn connect(port: u16) -> std::io::Result<Crm> {
        let s = TcpStream::connect(("127.0.0.1", port)).await?;
        s.set_nodelay(true)?;
        Ok(Crm { stream: BufReader::new(s), line: String::new() })
    }

    async fn push(&mut self, ticket: u64, state: &str) -> std::io::Result<bool> {
        self.stream.write_all(format!("TICKET {ticket} {state}\n").as_bytes()).await?;
        self.line.clear();
        self.stream.read_line(&mut self.line).await?;
        Ok(self.line.starts_with("SYNCED"))
    }
}

struct Desk {
    crm: Vec<Mutex<Crm>>,
    synced: AtomicU64,
    states: Mutex<HashMap<u64, &'static str>>,
}

async fn agent(desk: Arc<Desk>, id: u64, tell: mpsc::Sender<u64>) {
    let all = ["open", "waiting", "solved", "closed"];
    for n in 0u64.. {
        let ticket = id * 100_000 + n / 4 % 1000;
        let state = all[(n % 4) as usize];
        desk.states.lock().await.insert(ticket, state);
        let slot = (id as usize) % desk.crm.len();
        let ok = desk.crm[slot].lock().await.push(ticket, state).await.unwrap_or(false);
        if ok {
            desk.synced.fetch_add(1, Ordering::Relaxed);
            let _ = tell.send(ticket).await;
        }
    }
}

#[tokio::main]
async fn main() {
    let mut a = std::env::args().skip(1).map(|x| x.parse::<u16>().unwrap());
    let (port, conns) = (a.next().unwrap(), a.next().unwrap());
    let mut crm = Vec::new();
    for _ in 0..conns {
        crm.push(Mutex::new(Crm::connect(port).await.expect("crm")));
    }
    let desk = Arc::new(Desk { crm, synced: AtomicU64::new(0), states: Mutex::new(HashMap::new()) });
    let (tx, mut rx) = mpsc::channel(64);
    for id in 0..32 {
        tokio::spawn(agent(desk.clone(), id, tx.clone()));
    }
    tokio::spawn(async move { while rx.recv().await.is_some() {} });
    let mut tick = tokio::time::interval(Duration::from_millis(500));
    loop {
        tick.tick().await;
        println!("done {}", desk.synced.load(Ordering::Relaxed));
    }
}
