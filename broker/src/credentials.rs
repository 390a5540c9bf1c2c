//! What a client shows to the broker: nothing, a password, or a certificate.

use std::sync::Arc;

use async_nats::rustls::pki_types::pem::PemObject as _;
use async_nats::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use async_nats::rustls::{ClientConfig, RootCertStore, crypto};

/// What a client shows to the broker.
#[derive(Clone, Default, PartialEq, Eq)]
pub enum Credentials {
    /// Nothing: for a broker on this machine only.
    #[default]
    None,
    /// A user and a password.
    Password(String, String),
    /// In PEM: a key, its certificate, then that of the authority of the fleet's servers.
    Certificate(String),
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Password(..) => "Password",
            Self::Certificate(_) => "Certificate",
        })
    }
}

impl Credentials {
    /// Reads the text of a file: PEM, or one line `user:password`.
    ///
    /// # Errors
    ///
    /// A sentence on what is wrong with it.
    pub fn read(text: &str) -> Result<Self, String> {
        if text.contains("-----BEGIN ") {
            let read = Self::Certificate(text.to_owned());
            read.tls()?;
            return Ok(read);
        }
        match text.trim().split_once(':') {
            Some((user, password)) if !user.is_empty() && !text.trim().contains('\n') => {
                Ok(Self::Password(user.to_owned(), password.to_owned()))
            }
            _ => Err("it is neither PEM nor one line `user:password`".into()),
        }
    }

    /// Returns how to speak TLS: only servers that the fleet's own authority vouches for are trusted.
    pub(crate) fn tls(&self) -> Result<Option<ClientConfig>, String> {
        let Self::Certificate(pem) = self else {
            return Ok(None);
        };
        let wrong = |error: &dyn std::fmt::Display| format!("its PEM is invalid: {error}");
        let certificates: Vec<CertificateDer<'static>> =
            CertificateDer::pem_slice_iter(pem.as_bytes())
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
}
