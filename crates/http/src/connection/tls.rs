//! TLS by a certificate and its key, which may be replaced while the server runs.

use std::sync::{Arc, PoisonError, RwLock};

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

/// What is spoken, the best first.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TlsFileError {
    #[error(
        "holds no readable certificate; it must be in PEM form, with those that lead to a known authority after it"
    )]
    Certificate,
    #[error("holds no readable private key; it must be in PEM form and without a password")]
    Key,
    #[error("does not belong to the certificate")]
    Pair,
}

/// New connections use what was put here last; those that are open go on as they began.
pub struct Certificates(RwLock<Arc<ServerConfig>>);

impl Certificates {
    pub fn new(certificate_pem: &[u8], key_pem: &[u8]) -> Result<Certificates, TlsFileError> {
        let config = config(certificate_pem, key_pem)?;
        Ok(Certificates(RwLock::new(Arc::new(config))))
    }

    /// What cannot be used changes nothing.
    pub fn replace(&self, certificate_pem: &[u8], key_pem: &[u8]) -> Result<(), TlsFileError> {
        let config = Arc::new(config(certificate_pem, key_pem)?);
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = config;
        Ok(())
    }

    pub(super) fn acceptor(&self) -> TlsAcceptor {
        let config = self.0.read().unwrap_or_else(PoisonError::into_inner);
        TlsAcceptor::from(Arc::clone(&config))
    }
}

fn config(certificate_pem: &[u8], key_pem: &[u8]) -> Result<ServerConfig, TlsFileError> {
    let chain: Result<Vec<CertificateDer<'static>>, _> =
        CertificateDer::pem_slice_iter(certificate_pem).collect();
    let chain = chain.map_err(|_| TlsFileError::Certificate)?;
    if chain.is_empty() {
        return Err(TlsFileError::Certificate);
    }
    let key = PrivateKeyDer::from_pem_slice(key_pem).map_err(|_| TlsFileError::Key)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|_| TlsFileError::Key)?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| match error {
            rustls::Error::InconsistentKeys(_) => TlsFileError::Pair,
            rustls::Error::InvalidCertificate(_) => TlsFileError::Certificate,
            _ => TlsFileError::Key,
        })?;
    config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).into();
    Ok(config)
}

/// Whether HTTP/2 was agreed on.
pub(super) fn is_http2(agreed: Option<&[u8]>) -> bool {
    agreed == Some(PROTOCOLS[0])
}
