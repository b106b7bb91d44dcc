//! Configuration of rustls for a server, with ring.

use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::ring;
use yunti_base::{Code, Error, Result};
use yunti_table_remote::pem;

/// Returns the configuration of a server with a chain of certificates and its key, both in PEM.
pub fn server(certificates: &Path, key: &Path) -> Result<Arc<ServerConfig>> {
    let private = pem::private_key(key)?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|e| Error::new(Code::Internal, e.to_string()))?
        .with_no_client_auth()
        .with_single_cert(pem::certificates(certificates)?, private)
        .map_err(|e| pem::wrong(certificates, &format!("the certificate and the key do not fit: {e}")))?;
    Ok(Arc::new(config))
}
