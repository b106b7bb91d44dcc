//! Files of certificates and keys, in PEM.

use std::fs;
use std::path::Path;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use yunti_base::{Code, Error, Result};

/// Reads all certificates of a file, one at the least.
pub fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let text = read(path)?;
    let found: std::result::Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    found.ok().filter(|found| !found.is_empty()).ok_or_else(|| wrong(path, "there is no certificate in PEM"))
}

/// Reads the first private key of a file.
pub fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>> {
    let none = |_| wrong(path, "there is no private key in PEM (PKCS #8, PKCS #1 or SEC 1, without a password)");
    PrivateKeyDer::from_pem_slice(&read(path)?).map_err(none)
}

/// Returns the error of a file that does not hold what it should.
pub fn wrong(path: &Path, what: &str) -> Error {
    Error::new(Code::Usage, what).at_path(path.to_string_lossy())
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|e| Error::io(Code::Usage, "cannot read", &e).at_path(path.to_string_lossy()))
}
