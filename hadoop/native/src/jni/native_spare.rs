//! `org.yunti.hadoop.runner.launch.NativeSpare`: a JVM that waits becomes a program.
//! One of the listed files with `unsafe`: Java finds its functions by name.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use jni::EnvUnowned;
use jni::objects::{JByteArray, JClass};
use yunti_base::{Code, Error, descriptors};

use super::failure::{Result, ThrowPolicy};
use super::java_of_bytes;

/// Longer arguments than the kernel lets a program have are a mistake.
const ARGUMENTS_BYTES_MAX: usize = 16 << 20;

/// `static native byte[] await()`: reports that the JVM waits, and returns the arguments of the program that it
/// becomes, each with a zero byte behind it. Its standard streams are then those of the program.
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_yunti_hadoop_runner_launch_NativeSpare_await<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
) -> JByteArray<'local> {
    env.with_env(|env| -> Result<JByteArray<'local>> {
        let arguments = wait().map_err(|e| Error::new(Code::Internal, format!("the pool is gone: {e}")))?;
        let bytes = env.new_byte_array(arguments.len())?;
        bytes.set_region(env, 0, java_of_bytes(&arguments))?;
        Ok(bytes)
    })
    .resolve::<ThrowPolicy>()
}

fn wait() -> std::io::Result<Vec<u8>> {
    let mut socket = UnixStream::from(rustix::io::dup(rustix::stdio::stdin())?);
    socket.write_all(&[1])?;
    let mut length = [0; 4];
    let (received, streams) = descriptors::receive(&socket, &mut length)?;
    if received == 0 {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    socket.read_exact(&mut length[received..])?;
    let length = u32::from_be_bytes(length) as usize;
    let [input, output, error] = streams.as_slice() else { return Err(std::io::ErrorKind::InvalidData.into()) };
    if length > ARGUMENTS_BYTES_MAX {
        return Err(std::io::ErrorKind::InvalidData.into());
    }
    let mut arguments = vec![0; length];
    socket.read_exact(&mut arguments)?;
    rustix::stdio::dup2_stdin(input)?;
    rustix::stdio::dup2_stdout(output)?;
    rustix::stdio::dup2_stderr(error)?;
    Ok(arguments)
}
