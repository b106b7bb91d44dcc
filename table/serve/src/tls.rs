//! Certificates and keys to configurations of rustls, with ring.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use yunti_base::{Code, Error, Result};

/// Returns the configuration of a server with a chain of certificates and its key, both in PEM.
pub fn server(certificates: &Path, key: &Path) -> Result<Arc<ServerConfig>> {
    let text = read(key)?;
    let key_of = |_| wrong(key, "there is no private key in PEM (PKCS #8, PKCS #1 or SEC 1, without a password)");
    let private = PrivateKeyDer::from_pem_slice(&text).map_err(key_of)?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|e| Error::new(Code::Internal, e.to_string()))?
        .with_no_client_auth()
        .with_single_cert(all(certificates)?, private)
        .map_err(|e| wrong(certificates, &format!("the certificate and the key do not fit: {e}")))?;
    Ok(Arc::new(config))
}

/// Returns the configuration of a client that trusts the certificates of a file in PEM.
pub fn client(authorities: &Path) -> Result<Arc<ClientConfig>> {
    let mut roots = RootCertStore::empty();
    for certificate in all(authorities)? {
        roots.add(certificate).map_err(|e| wrong(authorities, &format!("no certificate of an authority: {e}")))?;
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|e| Error::new(Code::Internal, e.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|e| Error::io(Code::Usage, "cannot read", &e).at_path(path.to_string_lossy()))
}

fn wrong(path: &Path, what: &str) -> Error {
    Error::new(Code::Usage, what).at_path(path.to_string_lossy())
}

fn all(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let text = read(path)?;
    let found: std::result::Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    found.ok().filter(|found| !found.is_empty()).ok_or_else(|| wrong(path, "there is no certificate in PEM"))
}
