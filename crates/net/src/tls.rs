//! Whom we believe to be the receiver.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, RootCertStore};
use thiserror::Error;

#[derive(Debug, Error)]
pub enum TlsError {
    #[error("trusted certificate file {0} contains no readable certificate")]
    Certificate(usize),
    #[error("no trusted certificates: the system's could not be loaded and none is configured")]
    NoTrustedCertificates,
    #[error("TLS cannot be set up: {0}")]
    Tls(#[from] rustls::Error),
}

/// Whether a machine that trusts nobody can do without: it can where http is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Roots {
    Needed,
    Optional,
}

/// Trusts the system's certificates and those of `trusted_pem`, each entry a PEM file.
pub fn client_config(need: Roots, trusted_pem: &[Vec<u8>]) -> Result<ClientConfig, TlsError> {
    let roots = roots(trusted_pem)?;
    if roots.is_empty() && need == Roots::Needed {
        return Err(TlsError::NoTrustedCertificates);
    }
    // The process-wide default provider is whatever a dependency installed first: name ours.
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13, &TLS12])?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

fn roots(trusted_pem: &[Vec<u8>]) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    let native = rustls_native_certs::load_native_certs();
    for error in &native.errors {
        tracing::warn!(%error, "a system certificate could not be loaded, so servers it vouches for are not trusted; mend the system's certificate store");
    }
    roots.add_parsable_certificates(native.certs);
    for (index, pem) in trusted_pem.iter().enumerate() {
        let unreadable = || TlsError::Certificate(index);
        let certificates = CertificateDer::pem_slice_iter(pem)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|_| unreadable())?;
        if certificates.is_empty() {
            return Err(unreadable());
        }
        for certificate in certificates {
            roots.add(certificate).map_err(|_| unreadable())?;
        }
    }
    Ok(roots)
}
