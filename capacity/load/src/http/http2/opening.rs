//! Opening of a connection: TCP, TLS with ALPN, and the preface of HTTP/2.

use std::net::SocketAddr;
use std::pin::Pin;

use bytes::Bytes;
use h2::client::{Builder, Connection, SendRequest};
use http::Uri;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::request::Template;
use crate::request::script::Script;
use crate::server::target::Target;
use crate::server::trust::Tls;
use crate::tally::failure::Failure;

/// Bodies are dropped at once, so the windows only have to hold what is under way.
const STREAM_WINDOW: u32 = 1 << 20;
const CONNECTION_WINDOW: u32 = 16 << 20;
const HEADER_BYTES_MAX: u32 = 64 << 10;

/// Connection that can send requests.
pub struct Opened {
    pub sender: SendRequest<Bytes>,
    /// Work of the connection until its end, to be driven by a task.
    pub work: Pin<Box<dyn Future<Output = ()> + Send>>,
}

/// Opens a connection.
pub async fn open(address: SocketAddr, tls: Option<Tls>) -> Result<Opened, (Failure, String)> {
    let connect = |e: std::io::Error| (Failure::Connect, e.to_string());
    let socket = TcpStream::connect(address).await.map_err(connect)?;
    socket.set_nodelay(true).map_err(connect)?;
    let Some(tls) = tls else { return greet(socket).await };
    let stream = TlsConnector::from(tls.config).connect(tls.name, socket).await;
    let stream = stream.map_err(|e| (Failure::Tls, e.to_string()))?;
    if stream.get_ref().1.alpn_protocol() != Some(b"h2") {
        return Err((Failure::Tls, "the server does not offer HTTP/2 (ALPN h2)".into()));
    }
    greet(stream).await
}

async fn greet<T: AsyncRead + AsyncWrite + Unpin + Send + 'static>(io: T) -> Result<Opened, (Failure, String)> {
    let mut builder = Builder::new();
    builder
        .initial_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_header_list_size(HEADER_BYTES_MAX)
        .enable_push(false);
    let (sender, connection): (SendRequest<Bytes>, Connection<T, Bytes>) =
        builder.handshake(io).await.map_err(|e| (Failure::Protocol, e.to_string()))?;
    // Each request under way gets the reason of the end too.
    Ok(Opened { sender, work: Box::pin(async move { drop(connection.await) }) })
}

/// Returns the requests of a script for HTTP/2, by their numbers.
pub fn requests(script: &Script, target: &Target) -> Result<Vec<http::Request<()>>, String> {
    let template: &Template = script.template();
    let of = |request: &crate::request::Request| {
        let uri: Uri = format!("{}://{}{}", target.scheme(), template.authority, request.path)
            .parse()
            .map_err(|e| format!("'{}' is no path: {e}", request.path))?;
        let mut builder = http::Request::builder().method(request.method.as_str()).uri(uri);
        for (name, value) in template.headers() {
            builder = builder.header(name, value);
        }
        if !template.body.is_empty() {
            builder = builder.header("content-length", template.body.len());
        }
        builder.body(()).map_err(|e| format!("a request is wrong: {e}"))
    };
    script.requests().iter().map(of).collect()
}
