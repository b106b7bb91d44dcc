//! Trust in certificates of servers: the system's roots, a file of roots, or none.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use yunti_base::{Code, Error, Result};

/// Files of the system's roots: Debian, Fedora and RHEL, SUSE, Alpine.
const SYSTEM_ROOTS: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// Settings of TLS connections to one server.
#[derive(Clone)]
pub struct Tls {
    pub config: Arc<ClientConfig>,
    pub name: ServerName<'static>,
}

/// Check of the server's certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    /// True to accept any certificate.
    pub accepts_all: bool,
    /// File of roots in PEM, instead of the system's.
    pub roots: Option<PathBuf>,
}

impl Trust {
    /// Returns the settings of TLS connections.
    ///
    /// @param protocol name of the protocol for ALPN
    pub fn config(&self, protocol: &str) -> Result<Arc<ClientConfig>> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(|e| Error::new(Code::Internal, format!("cannot set up TLS: {e}")))?;
        let accepts = match self.accepts_all {
            true => Accepts::All,
            false => {
                let (store, pinned) = self.root_store()?;
                let ordinary = WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider.clone())
                    .build()
                    .map_err(|e| Error::new(Code::Internal, format!("cannot set up TLS: {e}")))?;
                Accepts::Trusted { ordinary, pinned }
            }
        };
        let verifier = Arc::new(Verifier { provider, accepts });
        let mut config = builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
        config.alpn_protocols = vec![protocol.into()];
        Ok(Arc::new(config))
    }

    /// Returns the roots, and the certificates of the user's file.
    fn root_store(&self) -> Result<(RootCertStore, Vec<CertificateDer<'static>>)> {
        let system = || SYSTEM_ROOTS.iter().map(Path::new).find(|path| path.exists()).map(Path::to_path_buf);
        let Some(path) = self.roots.clone().or_else(system) else {
            return Err(Error::new(Code::Usage, "this machine has no file of trusted certificates")
                .hint("name one with --ca FILE, or add --insecure"));
        };
        let fault = |what: String| {
            Error::new(Code::Usage, what).at_path(path.to_string_lossy()).hint("name a file of certificates in PEM")
        };
        let (mut store, mut pinned) = (RootCertStore::empty(), Vec::new());
        let certificates =
            CertificateDer::pem_file_iter(&path).map_err(|e| fault(format!("cannot read certificates: {e}")))?;
        for certificate in certificates {
            let certificate = certificate.map_err(|e| fault(format!("cannot read certificates: {e}")))?;
            if self.roots.is_some() {
                pinned.push(certificate.clone());
            }
            // Systems have roots that rustls does not accept.
            if let (true, Err(e)) = (self.roots.is_some(), store.add(certificate)) {
                return Err(fault(format!("cannot trust a certificate: {e}")));
            }
        }
        if store.is_empty() { Err(fault("the file has no certificate".into())) } else { Ok((store, pinned)) }
    }
}

/// Verifier of the server's certificate. It always checks that the server has the key of its certificate.
#[derive(Debug)]
struct Verifier {
    provider: Arc<CryptoProvider>,
    accepts: Accepts,
}

/// Certificates that a verifier accepts.
#[derive(Debug)]
enum Accepts {
    All,
    /// Certificates of the roots, and the ones of the user's file as they are.
    ///
    /// `openssl req -x509` makes certificates that are their own authority, which the ordinary check refuses.
    Trusted {
        ordinary: Arc<WebPkiServerVerifier>,
        pinned: Vec<CertificateDer<'static>>,
    },
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        own: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        stapled: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        match &self.accepts {
            Accepts::All => Ok(ServerCertVerified::assertion()),
            Accepts::Trusted { pinned, .. } if pinned.iter().any(|pinned| pinned == own) => {
                verify_server_name(&ParsedCertificate::try_from(own)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            Accepts::Trusted { ordinary, .. } => ordinary.verify_server_cert(own, between, name, stapled, now),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Returns the name that a certificate must have.
pub fn server_name(host: &str) -> Result<ServerName<'static>> {
    ServerName::try_from(host.to_string())
        .map_err(|_| Error::new(Code::Usage, format!("'{host}' is no host name for TLS")).hint("check the URL"))
}
