//! Rates of the bank, kept for a few uses.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::Mutex;

pub struct Bank {
    out: TcpStream,
    answers: BufReader<TcpStream>,
}

impl Bank {
    pub fn connect(port: u16) -> io::Result<Bank> {
        let out = TcpStream::connect(("127.0.0.1", port))?;
        out.set_nodelay(true)?;
        let answers = BufReader::new(out.try_clone()?);
        Ok(Bank { out, answers })
    }

    fn ask(&mut self, pair: u32) -> io::Result<f64> {
        self.out.write_all(format!("RATE {pair}\n").as_bytes())?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        Ok(1.0 + line.len() as f64 / 100.0)
    }
}

struct Known {
    rate: f64,
    uses: u32,
}

/// The bank's rates; each may be used a few times, then the bank gives it anew.
pub struct Rates {
    known: Mutex<HashMap<u32, Known>>,
    early: bool,
}

fn usable(known: &mut HashMap<u32, Known>, pair: u32) -> Option<f64> {
    let k = known.get_mut(&pair).filter(|k| k.uses > 0)?;
    k.uses -= 1;
    Some(k.rate)
}

impl Rates {
    pub fn new(early: bool) -> Rates {
        Rates { known: Mutex::new(HashMap::new()), early }
    }

    pub fn rate(&self, pair: u32, bank: &mut Bank) -> io::Result<f64> {
        if self.early {
            let found = usable(&mut self.known.lock().unwrap(), pair);
            if let Some(rate) = found {
                return Ok(rate);
            }
            let rate = bank.ask(pair)?;
            self.known.lock().unwrap().insert(pair, Known { rate, uses: 5 });
            return Ok(rate);
        }
        let mut known = self.known.lock().unwrap();
        match usable(&mut known, pair) {
            Some(rate) => Ok(rate),
            None => {
                let rate = bank.ask(pair)?;
                known.insert(pair, Known { rate, uses: 5 });
                Ok(rate)
            }
        }
    }
}
