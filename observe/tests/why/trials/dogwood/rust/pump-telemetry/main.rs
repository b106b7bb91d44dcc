//! Forwards what pumps report to the control room: one connection a pump, each message is confirmed.
use std::io::{Read, Result, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

struct Sample {
    pump: u32,
    pressure: f32,
    flow: f32,
    notes: Vec<u8>,
}

impl Sample {
    fn read(pump: u32, n: u64) -> Sample {
        let level = (n % 100) as f32;
        Sample { pump, pressure: 2.0 + level / 50.0, flow: 30.0 - level / 10.0, notes: vec![b'n'; 60] }
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64);
        out.extend(self.pressure.to_be_bytes());
        out.extend(self.flow.to_be_bytes());
        out.extend(&self.notes);
        out
    }
}

struct Uplink {
    stream: TcpStream,
}

impl Uplink {
    fn open(port: u16, direct: bool) -> Result<Uplink> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(direct)?;
        Ok(Uplink { stream })
    }

    fn header(&mut self, sample: &Sample, length: usize) -> Result<()> {
        let mut head = [0u8; 8];
        head[..4].copy_from_slice(&sample.pump.to_be_bytes());
        head[4..].copy_from_slice(&(length as u32).to_be_bytes());
        self.stream.write_all(&head)
    }

    fn send(&mut self, sample: &Sample) -> Result<u32> {
        let body = sample.encode();
        self.header(sample, body.len())?;
        self.stream.write_all(&body)?;
        let mut receipt = [0u8; 4];
        self.stream.read_exact(&mut receipt)?;
        Ok(u32::from_be_bytes(receipt))
    }
}

fn forward(pump: u32, port: u16, direct: bool, sent: &AtomicU64) -> Result<()> {
    let mut uplink = Uplink::open(port, direct)?;
    for n in 0.. {
        let receipt = uplink.send(&Sample::read(pump, n))?;
        if receipt == pump {
            sent.fetch_add(1, Ordering::Relaxed);
        }
    }
    Ok(())
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let port: u16 = args[1].parse().unwrap();
    let direct = args[2] == "b";
    let sent = Arc::new(AtomicU64::new(0));
    for pump in 0..6 {
        let sent = sent.clone();
        let name = format!("pump-{pump}");
        let run = move || forward(pump, port, direct, &sent).expect("control room");
        thread::Builder::new().name(name).spawn(run).unwrap();
    }
    loop {
        thread::sleep(Duration::from_millis(200));
        println!("sent {}", sent.load(Ordering::Relaxed));
    }
}
