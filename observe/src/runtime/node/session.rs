//! Session of the Chrome DevTools Protocol: calls of methods, one at a time, each with a time limit.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::websocket::WebSocket;

/// Bytes of a list of targets, at most.
const LIST_BYTES_MAX: usize = 1 << 20;

/// Session with one inspector. Errors are reasons, to be put behind what is skipped.
pub struct Session {
    socket: WebSocket,
    calls: u64,
}

impl Session {
    /// Connects to the first target of an inspector.
    pub fn open(address: SocketAddr, limit: Duration) -> Result<Session, String> {
        let list = targets(address, limit).map_err(|e| format!("the inspector at {address}: {e}"))?;
        let url = list[0]["webSocketDebuggerUrl"].as_str();
        let path = url.and_then(|url| url.strip_prefix("ws://")?.split_once('/')).map(|(_, path)| format!("/{path}"));
        let path = path.ok_or_else(|| format!("what listens at {address} is no inspector, or has a client already"))?;
        let socket = WebSocket::open(address, &path, limit).map_err(|e| format!("the inspector at {address}: {e}"))?;
        Ok(Session { socket, calls: 0 })
    }

    /// Calls a method. Returns its result.
    pub fn call(&mut self, method: &str, parameters: Value, limit: Duration) -> Result<Value, String> {
        let end = Instant::now() + limit;
        let number = self.send(method, parameters)?;
        loop {
            let message = self.socket.receive(end).map_err(|e| format!("{method}: {e}"))?;
            let message = message.ok_or_else(|| format!("{method}: the connection was closed"))?;
            let mut message: Value = serde_json::from_str(&message).map_err(|e| format!("{method}: {e}"))?;
            // Other messages are events.
            if message["id"].as_u64() == Some(number) {
                return match message["error"]["message"].as_str() {
                    Some(error) => Err(format!("{method}: {error}")),
                    None => Ok(message["result"].take()),
                };
            }
        }
    }

    /// Evaluates an expression. Returns its value, or the reference to it.
    pub fn evaluate(&mut self, expression: &str, by_value: bool, limit: Duration) -> Result<Value, String> {
        let mut answer = self.call("Runtime.evaluate", evaluation(expression, by_value), limit)?;
        match answer.get("exceptionDetails") {
            Some(_) => Err(format!("evaluation: {}", answer["result"]["description"].as_str().unwrap_or("failed"))),
            None => Ok(answer["result"].take()),
        }
    }

    /// Evaluates an expression that closes the connection, and waits for the close.
    pub fn evaluate_last(mut self, expression: &str, limit: Duration) -> Result<(), String> {
        self.send("Runtime.evaluate", evaluation(expression, true))?;
        let end = Instant::now() + limit;
        loop {
            match self.socket.receive(end) {
                Ok(Some(_)) => {}
                Ok(None) => return Ok(()),
                Err(e) if e.kind() == std::io::ErrorKind::TimedOut => return Err("it did not close in time".to_owned()),
                Err(_) => return Ok(()),
            }
        }
    }

    fn send(&mut self, method: &str, parameters: Value) -> Result<u64, String> {
        self.calls += 1;
        let message = json!({"id": self.calls, "method": method, "params": parameters}).to_string();
        self.socket.send(&message).map_err(|e| format!("{method}: {e}"))?;
        Ok(self.calls)
    }
}

fn evaluation(expression: &str, by_value: bool) -> Value {
    // The command line's names include `require`, also in programs of ECMAScript modules.
    json!({"expression": expression, "includeCommandLineAPI": true, "silent": true, "returnByValue": by_value})
}

/// Requests the list of targets: `GET /json/list`.
fn targets(address: SocketAddr, limit: Duration) -> std::io::Result<Value> {
    let end = Instant::now() + limit;
    let mut stream = TcpStream::connect_timeout(&address, limit)?;
    stream.write_all(format!("GET /json/list HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").as_bytes())?;
    let (mut text, mut bytes) = (Vec::new(), [0; 4096]);
    loop {
        if let Some(body) = body(&text) {
            return serde_json::from_slice(body).map_err(std::io::Error::from);
        }
        let left = end.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut bytes)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            n => text.extend(&bytes[..n]),
        }
        if text.len() > LIST_BYTES_MAX {
            return Err(std::io::Error::other("its answer is too long"));
        }
    }
}

/// Returns the body of an HTTP response if all of it has arrived.
fn body(response: &[u8]) -> Option<&[u8]> {
    let head = response.windows(4).position(|four| four == b"\r\n\r\n")?;
    let lines = String::from_utf8_lossy(&response[..head]).to_ascii_lowercase();
    let length = lines.lines().find_map(|line| line.strip_prefix("content-length:"))?.trim().parse::<usize>().ok()?;
    response.get(head + 4..head + 4 + length)
}

#[cfg(test)]
mod tests {
    use super::body;

    #[test]
    fn bodies_of_responses() {
        let response = b"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\n[1]x";
        assert_eq!(body(response), Some(&b"[1]"[..]));
        assert!(body(&response[..response.len() - 2]).is_none() && body(b"HTTP/1.0 200 OK\r\n").is_none());
    }
}
