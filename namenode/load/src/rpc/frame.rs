//! Hadoop RPC, version 9, on the wire.
//!
//! ```text
//!   connection: "hrpc" 9 0 0 (no service class, AuthMethod SIMPLE), then a call numbered -3 with the context: user and protocol
//!   call:       length (4, big-endian), header, method, argument, each with its length as a varint before it
//!   answer:     length (4, big-endian), header, and where it is no error the result, in the same way
//! ```

use prost::Message;
use prost::encoding::{decode_varint, encode_varint, encoded_len_varint};
use yunti_base::{Code, Error, Result};

use super::messages::{IpcConnectionContext, RequestHeader, RpcRequestHeader, RpcResponseHeader, UserInformation};

/// Magic, version, service class, and SIMPLE.
const HELLO: [u8; 7] = [b'h', b'r', b'p', b'c', 9, 0, 0];
const CONNECTION_CONTEXT: i32 = -3;
const PROTOCOL_BUFFERS: i32 = 2;
pub const CLIENT_PROTOCOL: &str = "org.apache.hadoop.hdfs.protocol.ClientProtocol";
/// An answer is no longer: `ipc.maximum.response.length` of stock.
pub const ANSWER_BYTES_MAX: usize = 128 << 20;

/// Sixteen bytes that tell this client from all others.
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

/// What a connection begins with.
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

/// The part of a call that is the same for each call of a method.
pub fn method(name: &str, protocol: &str) -> Vec<u8> {
    let mut out = Vec::new();
    delimited(&mut out, &RequestHeader { method: name.to_owned(), protocol: protocol.to_owned(), version: 1 });
    out
}

/// @param method as [`method`] gives it
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

/// An answer to a call: its header, and the bytes of the result.
pub struct Answer<'a> {
    pub header: RpcResponseHeader,
    result: &'a [u8],
}

impl Answer<'_> {
    /// # Errors
    /// The result is no such message.
    pub fn result<T: Message + Default>(&self) -> Result<T> {
        take(self.result).map(|(message, _)| message)
    }
}

/// How many bytes the answer at the begin of these has, with its length; None: not all of the length is there.
///
/// # Errors
/// No answer is as long.
pub fn answer_bytes(bytes: &[u8]) -> Result<Option<usize>> {
    let Some(length) = bytes.first_chunk::<4>().map(|length| u32::from_be_bytes(*length) as usize) else {
        return Ok(None);
    };
    if length > ANSWER_BYTES_MAX {
        let what = format!("an answer of {length} bytes: this is no NameNode's RPC port");
        return Err(Error::new(Code::Input, what));
    }
    Ok(Some(length + 4))
}

/// # Errors
/// These are no whole answer.
pub fn answer(bytes: &[u8]) -> Result<Answer<'_>> {
    let (header, result) = take(bytes.get(4..).unwrap_or_default())?;
    Ok(Answer { header, result })
}

fn take<T: Message + Default>(mut bytes: &[u8]) -> Result<(T, &[u8])> {
    let failed = || Error::new(Code::Input, "an answer that is none of Hadoop RPC".to_owned());
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
    fn a_call_is_what_stock_sends() {
        let mut out = Vec::new();
        let name = method("m", "p");
        call(&mut out, 7, b"0123456789abcdef", &name, &Path { src: "/a".to_owned() });
        // Header: kind 2, op 0, call id 7 (zigzag 14), client id, retry count 0; method, protocol, version 1; src.
        let header = [&[8, 2, 16, 0, 24, 14, 34, 16][..], b"0123456789abcdef", &[40, 0]].concat();
        let body = [&[26][..], &header, &[8, 10, 1, b'm', 18, 1, b'p', 24, 1], &[4, 10, 2, b'/', b'a']].concat();
        assert_eq!(out, [&(body.len() as u32).to_be_bytes()[..], &body].concat());
    }

    #[test]
    fn answers() {
        let (mut bytes, header) = (Vec::new(), RpcResponseHeader { call_id: 7, ..Default::default() });
        framed(&mut bytes, |out| {
            delimited(out, &header);
            delimited(out, &Done { result: true });
        });
        assert_eq!(answer_bytes(&bytes[..3]).unwrap(), None);
        assert_eq!(answer_bytes(&bytes).unwrap(), Some(bytes.len()));
        let answer = answer(&bytes).unwrap();
        assert_eq!((answer.header.call_id, answer.result::<Done>().unwrap().result), (7, true));
    }

    #[test]
    fn what_is_none() {
        assert!(answer_bytes(b"HTTP/1.1 404").is_err());
        for bytes in [&b""[..], &[0, 0, 0, 1], &[0, 0, 0, 1, 200], &[0, 0, 0, 2, 1, 255]] {
            assert!(answer(bytes).is_err(), "{bytes:?}");
        }
    }
}
