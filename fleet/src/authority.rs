//! The fleet's own certificate authority: who a server and a machine are. Nothing else signs for a fleet.

use broker::{Authority, Issued};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose,
};
use time::{Duration, OffsetDateTime};

/// How long the authority's own certificate holds.
const AUTHORITY_DAYS: i64 = 3_653;
/// How long a server's or a machine's does.
const ISSUED_DAYS: i64 = 398;

fn params(names: Vec<String>, common: &str, days: i64) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new(names)?;
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, common);
    params.distinguished_name = name;
    let now = OffsetDateTime::now_utc();
    // Clocks differ.
    params.not_before = now - Duration::days(1);
    params.not_after = now + Duration::days(days);
    Ok(params)
}

fn authority_params() -> Result<CertificateParams, rcgen::Error> {
    let mut params = params(Vec::new(), "checkpointd fleet", AUTHORITY_DAYS)?;
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    Ok(params)
}

/// Makes a new authority.
///
/// # Errors
///
/// If the system has no random numbers.
pub(crate) fn new() -> Result<Authority, rcgen::Error> {
    let key = KeyPair::generate()?;
    let certificate = authority_params()?.self_signed(&key)?.pem();
    let key = key.serialize_pem();
    Ok(Authority { certificate, key })
}

/// Issues a certificate for these names, of hosts or of a user.
///
/// # Errors
///
/// If the authority's key is not right.
pub(crate) fn issue(authority: &Authority, names: &[String]) -> Result<Issued, rcgen::Error> {
    let common = names.first().map_or("", String::as_str);
    let mut params = params(names.to_vec(), common, ISSUED_DAYS)?;
    params.use_authority_key_identifier_extension = true;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    // The servers of a cluster are clients of each other.
    params.extended_key_usages = vec![
        ExtendedKeyUsagePurpose::ServerAuth,
        ExtendedKeyUsagePurpose::ClientAuth,
    ];
    let until = params.not_after.date().to_string();
    let issuer = Issuer::new(authority_params()?, KeyPair::from_pem(&authority.key)?);
    let key = KeyPair::generate()?;
    let certificate = params.signed_by(&key, &issuer)?.pem();
    let key = key.serialize_pem();
    Ok(Issued {
        certificate,
        key,
        until,
    })
}
