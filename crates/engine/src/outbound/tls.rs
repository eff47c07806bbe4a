//! Whom we believe to be the receiver.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, RootCertStore};
use till_core::webhook::UrlPolicy;

use super::SenderError;

pub(super) fn client_config(
    policy: UrlPolicy,
    trusted_pem: &[Vec<u8>],
) -> Result<ClientConfig, SenderError> {
    let roots = roots(trusted_pem)?;
    // Development gets by with http.
    if roots.is_empty() && policy == UrlPolicy::Public {
        return Err(SenderError::NoTrustedCertificates);
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

fn roots(trusted_pem: &[Vec<u8>]) -> Result<RootCertStore, SenderError> {
    let mut roots = RootCertStore::empty();
    let native = rustls_native_certs::load_native_certs();
    for error in &native.errors {
        tracing::warn!(%error, "a system certificate could not be loaded");
    }
    roots.add_parsable_certificates(native.certs);
    for (index, pem) in trusted_pem.iter().enumerate() {
        let unreadable = || SenderError::Certificate(index);
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
