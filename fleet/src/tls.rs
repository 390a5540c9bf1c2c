//! TLS as the broker's servers expect it.

use std::sync::Arc;

use async_nats::rustls::pki_types::pem::PemObject as _;
use async_nats::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use async_nats::rustls::{ClientConfig, RootCertStore, crypto};
use broker::Credentials;

/// Returns how to speak TLS: only servers that the fleet's own authority vouches for are trusted.
pub(crate) fn tls(credentials: &Credentials) -> Result<Option<ClientConfig>, String> {
    let Credentials::Certificate(pem) = credentials else {
        return Ok(None);
    };
    let wrong = |error: &dyn std::fmt::Display| format!("its PEM is invalid: {error}");
    let certificates: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(pem.as_bytes())
        .collect::<Result<_, _>>()
        .map_err(|error| wrong(&error))?;
    let [own, authorities @ ..] = certificates.as_slice() else {
        return Err("it has no certificate".into());
    };
    if authorities.is_empty() {
        return Err("it has no certificate of an authority".into());
    }
    let key = PrivateKeyDer::from_pem_slice(pem.as_bytes()).map_err(|error| wrong(&error))?;
    let mut roots = RootCertStore::empty();
    for authority in authorities {
        roots
            .add(authority.clone())
            .map_err(|error| wrong(&error))?;
    }
    let provider = Arc::new(crypto::ring::default_provider());
    ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong(&error))?
        .with_root_certificates(roots)
        .with_client_auth_cert(vec![own.clone()], key)
        .map(Some)
        .map_err(|error| wrong(&error))
}
