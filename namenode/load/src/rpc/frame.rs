//! Frames of Hadoop RPC, version 9.
//!
//! ```text
//!   connection: "hrpc" 9 0 0 (no service class, AuthMethod SIMPLE), then a call with id -3: user and protocol
//!   call:       length (4, big-endian), header, method, argument, each after its length as a varint
//!   response:   length (4, big-endian), header, and without an error the result, each after its length
//! ```

use prost::Message;
use prost::encoding::{decode_varint, encode_varint, encoded_len_varint};
use yunti_base::{Code, Error, Result};

use super::messages::{IpcConnectionContext, RequestHeader, RpcRequestHeader, RpcResponseHeader, UserInformation};

/// Magic, version, service class, and SIMPLE.
const HELLO: [u8; 7] = [b'h', b'r', b'p', b'c', 9, 0, 0];
const CONNECTION_CONTEXT: i32 = -3;
const PROTOCOL_BUFFERS: i32 = 2;
/// Protocol of clients.
pub const CLIENT_PROTOCOL: &str = "org.apache.hadoop.hdfs.protocol.ClientProtocol";
/// Bytes of a response, at most: stock's `ipc.maximum.response.length`.
pub const RESPONSE_BYTES_MAX: usize = 128 << 20;

/// Unique id of a client.
pub type ClientId = [u8; 16];

fn header(call_id: i32, client: &ClientId) -> RpcRequestHeader {
    RpcRequestHeader {
        rpc_kind: Some(PROTOCOL_BUFFERS),
        rpc_op: Some(0),
        call_id,
        client_id: client.to_vec(),
        retry_count: Some(0),
    }
}

/// Writes the start of a connection.
pub fn hello(out: &mut Vec<u8>, client: &ClientId, user: &str, protocol: &str) {
    out.extend_from_slice(&HELLO);
    let context = IpcConnectionContext {
        user: Some(UserInformation { effective_user: Some(user.to_owned()) }),
        protocol: Some(protocol.to_owned()),
    };
    framed(out, |out| {
        delimited(out, &header(CONNECTION_CONTEXT, client));
        delimited(out, &context);
    });
}

/// Returns the part of a call that all calls of a method share.
pub fn method(name: &str, protocol: &str) -> Vec<u8> {
    let mut out = Vec::new();
    delimited(&mut out, &RequestHeader { method: name.to_owned(), protocol: protocol.to_owned(), version: 1 });
    out
}

/// Writes a call.
///
/// @param method as [`method`] returns it
pub fn call(out: &mut Vec<u8>, id: i32, client: &ClientId, method: &[u8], argument: &impl Message) {
    framed(out, |out| {
        delimited(out, &header(id, client));
        out.extend_from_slice(method);
        delimited(out, argument);
    });
}

fn delimited(out: &mut Vec<u8>, message: &impl Message) {
    let bytes = message.encoded_len();
    out.reserve(bytes + encoded_len_varint(bytes as u64));
    encode_varint(bytes as u64, out);
    message.encode_raw(out);
}

fn framed(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    write(out);
    let bytes = (out.len() - at - 4) as u32;
    out[at..at + 4].copy_from_slice(&bytes.to_be_bytes());
}

/// A response to a call: its header, and the bytes of the result.
pub struct Response<'a> {
    pub header: RpcResponseHeader,
    result: &'a [u8],
}

impl Response<'_> {
    /// Decodes the result.
    ///
    /// # Errors
    /// The result is not such a message.
    pub fn result<T: Message + Default>(&self) -> Result<T> {
        take(self.result).map(|(message, _)| message)
    }
}

/// Returns the bytes of the first response, its length field included; None while the length is incomplete.
///
/// # Errors
/// The length exceeds the maximum.
pub fn response_bytes(bytes: &[u8]) -> Result<Option<usize>> {
    let Some(length) = bytes.first_chunk::<4>().map(|length| u32::from_be_bytes(*length) as usize) else {
        return Ok(None);
    };
    if length > RESPONSE_BYTES_MAX {
        let what = format!("a response of {length} bytes: this is not a NameNode's RPC port");
        return Err(Error::new(Code::Input, what));
    }
    Ok(Some(length + 4))
}

/// Decodes a complete response.
///
/// # Errors
/// The bytes are not a complete response.
pub fn response(bytes: &[u8]) -> Result<Response<'_>> {
    let (header, result) = take(bytes.get(4..).unwrap_or_default())?;
    Ok(Response { header, result })
}

fn take<T: Message + Default>(mut bytes: &[u8]) -> Result<(T, &[u8])> {
    let failed = || Error::new(Code::Input, "a response that is not Hadoop RPC".to_owned());
    let length = decode_varint(&mut bytes).map_err(|_| failed())?;
    let length = usize::try_from(length).map_err(|_| failed())?;
    let (message, rest) = bytes.split_at_checked(length).ok_or_else(failed)?;
    T::decode(message).map(|message| (message, rest)).map_err(|_| failed())
}

#[cfg(test)]
mod tests {
    use super::super::messages::{Done, Path};
    use super::*;

    #[test]
    fn encodes_a_call_like_stock() {
        let mut out = Vec::new();
        let name = method("m", "p");
        call(&mut out, 7, b"0123456789abcdef", &name, &Path { src: "/a".to_owned() });
        // Header: kind 2, op 0, call id 7 (zigzag 14), client id, retry count 0; method, protocol, version 1; src.
        let header = [&[8, 2, 16, 0, 24, 14, 34, 16][..], b"0123456789abcdef", &[40, 0]].concat();
        let body = [&[26][..], &header, &[8, 10, 1, b'm', 18, 1, b'p', 24, 1], &[4, 10, 2, b'/', b'a']].concat();
        assert_eq!(out, [&(body.len() as u32).to_be_bytes()[..], &body].concat());
    }

    #[test]
    fn decodes_a_response() {
        let (mut bytes, header) = (Vec::new(), RpcResponseHeader { call_id: 7, ..Default::default() });
        framed(&mut bytes, |out| {
            delimited(out, &header);
            delimited(out, &Done { result: true });
        });
        assert_eq!(response_bytes(&bytes[..3]).unwrap(), None);
        assert_eq!(response_bytes(&bytes).unwrap(), Some(bytes.len()));
        let response = response(&bytes).unwrap();
        assert_eq!((response.header.call_id, response.result::<Done>().unwrap().result), (7, true));
    }

    #[test]
    fn rejects_other_bytes() {
        assert!(response_bytes(b"HTTP/1.1 404").is_err());
        for bytes in [&b""[..], &[0, 0, 0, 1], &[0, 0, 0, 1, 200], &[0, 0, 0, 2, 1, 255]] {
            assert!(response(bytes).is_err(), "{bytes:?}");
        }
    }
}
