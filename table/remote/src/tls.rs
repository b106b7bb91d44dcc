//! Configuration of rustls for a client, with ring.

use std::path::Path;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use yunti_base::{Code, Error, Result};

use crate::pem;

/// Returns the configuration of a client that trusts the certificates of a file in PEM; without one, the ones of the
/// system, or of the variables SSL_CERT_FILE and SSL_CERT_DIR.
pub fn client(authorities: Option<&Path>) -> Result<Arc<ClientConfig>> {
    let roots = match authorities {
        Some(path) => of_file(path)?,
        None => of_system()?,
    };
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|e| Error::new(Code::Internal, e.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

fn of_file(path: &Path) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    for certificate in pem::certificates(path)? {
        roots.add(certificate).map_err(|e| pem::wrong(path, &format!("no certificate of an authority: {e}")))?;
    }
    Ok(roots)
}

/// Returns the system's authorities. One that is damaged is left out, as other programs do: a host has more than a
/// hundred.
fn of_system() -> Result<RootCertStore> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(found.certs);
    if added > 0 {
        return Ok(roots);
    }
    let why = found.errors.first().map_or_else(String::new, |e| format!(": {e}"));
    let what = format!("the system has no certificates of authorities{why}");
    Err(Error::new(Code::Usage, what).hint("install ca-certificates, set SSL_CERT_FILE, or give a file of authorities"))
}
