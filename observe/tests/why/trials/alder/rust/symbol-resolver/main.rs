//! Symbol resolver for crash reports.
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

struct Server {
    read: BufReader<TcpStream>,
    write: TcpStream,
}

impl Server {
    fn connect(port: &str) -> Server {
        let s = TcpStream::connect(format!("127.0.0.1:{}", port)).unwrap();
        s.set_nodelay(true).unwrap();
        Server { read: BufReader::new(s.try_clone().unwrap()), write: s }
    }

    fn ask(&mut self, addr: u64) -> String {
        self.write.write_all(format!("SYM {:x}\n", addr).as_bytes()).unwrap();
        let mut line = String::new();
        self.read.read_line(&mut line).unwrap();
        line
    }
}

struct Resolver {
    cache: Mutex<HashMap<u64, String>>,
    outside: bool,
}

impl Resolver {
    fn resolve(&self, addr: u64, server: &mut Server) -> usize {
        let page = addr >> 12;
        if self.outside {
            if let Some(s) = self.cache.lock().unwrap().get(&page) {
                return s.len();
            }
            let s = server.ask(addr);
            let n = s.len();
            self.store(&mut self.cache.lock().unwrap(), page, s);
            return n;
        }
        let mut c = self.cache.lock().unwrap();
        if let Some(s) = c.get(&page) {
            return s.len();
        }
        let s = server.ask(addr);
        let n = s.len();
        self.store(&mut c, page, s);
        n
    }

    fn store(&self, c: &mut HashMap<u64, String>, page: u64, s: String) {
        if c.len() > 5000 {
            c.clear();
        }
        c.insert(page, s);
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let r = Arc::new(Resolver { cache: Mutex::new(HashMap::new()), outside: args[2] == "outside" });
    let resolved = Arc::new(AtomicU64::new(0));
    for w in 0..10u64 {
        let (r, n, port) = (r.clone(), resolved.clone(), args[1].clone());
        thread::Builder::new()
            .name(format!("report-{}", w))
            .spawn(move || {
                let mut server = Server::connect(&port);
                let mut x = 88172645463325252u64 + w * 977;
                loop {
                    x ^= x << 13;
                    x ^= x >> 7;
                    x ^= x << 17;
                    r.resolve(x & 0xfff_ffff_ffff, &mut server);
                    n.fetch_add(1, Ordering::Relaxed);
                }
            })
            .unwrap();
    }
    loop {
        thread::sleep(Duration::from_secs(1));
        println!("done {}", resolved.load(Ordering::Relaxed));
    }
}
