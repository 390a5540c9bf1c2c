//! SSH signatures, made and checked by `ssh-keygen`, as git does.

use std::path::PathBuf;
use std::process::{Command, Output};

use checkpoint::record::Signature;
use checkpoint::record::dsse::{self, Envelope, Signed};

use crate::cli::repository::Git;
use crate::cli::shared::with_input;
use crate::error::{Failure, Result};

/// The namespace, so that a signature of something else is none of a record.
const NAMESPACE: &str = "checkpointd-record";
/// The name of the one who signed, where a key is named instead.
const SIGNER: &str = "record";

fn ssh_keygen(arguments: &[&str], input: &[u8]) -> Result<Output> {
    let program = actors::programs::find("ssh-keygen");
    let program = program.ok_or_else(|| Failure::failed("ssh-keygen was not found"))?;
    let mut command = Command::new(program);
    command.args(arguments);
    Ok(with_input(command, input)?)
}

/// Returns what it says went wrong.
fn said(output: &Output) -> String {
    let said = [&*output.stderr, b"\n", &output.stdout].concat();
    let said = String::from_utf8_lossy(&said);
    let lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
    format!("ssh-keygen: {}", lines.collect::<Vec<_>>().join("; "))
}

/// Returns the key that git signs commits with, as `ssh-keygen` takes it.
///
/// # Errors
///
/// If git signs with none, or with none of SSH.
pub(crate) fn of_git(git: &Git) -> Result<String> {
    let hint = "name a key with `--key FILE`, or use `--unsigned`";
    if git.setting("gpg.format").as_deref() != Some("ssh") {
        return Err(Failure::usage("git does not sign with an SSH key here").hint(hint));
    }
    git.setting("user.signingkey")
        .ok_or_else(|| Failure::usage("git has no `user.signingkey`").hint(hint))
}

/// Signs a payload with a key: the path of a private key, or a public key whose private one an agent has.
///
/// # Errors
///
/// What `ssh-keygen` says.
pub(crate) fn sign(key: &str, payload: &[u8]) -> Result<Envelope> {
    let folder = tempfile::tempdir()?;
    let literal = key
        .strip_prefix("key::")
        .or(key.starts_with("ssh-").then_some(key));
    let file = match literal {
        Some(text) => {
            let file = folder.path().join("key.pub");
            std::fs::write(&file, text)?;
            file
        }
        None => PathBuf::from(key),
    };
    let file = file.to_string_lossy();
    let pae = dsse::pae(dsse::PAYLOAD_TYPE, payload);
    let made = ssh_keygen(&["-q", "-Y", "sign", "-f", &file, "-n", NAMESPACE], &pae)?;
    if !made.status.success() {
        return Err(Failure::failed(said(&made)));
    }
    let shown = ssh_keygen(&["-l", "-f", &file], b"")?;
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    let mut envelope = Envelope::unsigned(payload);
    envelope.signatures.push(Signed {
        keyid: shown.split(' ').nth(1).unwrap_or_default().to_owned(),
        sig: dsse::encode(&made.stdout),
    });
    Ok(envelope)
}

/// The keys that count.
pub(crate) enum Keys {
    /// A public key.
    Key(PathBuf),
    /// Who may sign with which key, as git has it.
    Allowed(PathBuf),
    /// None are known.
    Unknown,
}

/// Checks the signature of an envelope.
///
/// # Errors
///
/// If a file cannot be read or `ssh-keygen` not be run.
pub(crate) fn check(envelope: &Envelope, payload: &[u8], keys: &Keys) -> Result<Signature> {
    let [signed] = &envelope.signatures[..] else {
        let is_none = envelope.signatures.is_empty();
        let many = || Signature::Bad("it has several signatures".to_owned());
        return Ok(if is_none { Signature::Missing } else { many() });
    };
    let Some(sig) = dsse::decode(&signed.sig) else {
        return Ok(Signature::Bad("the signature is not base64".to_owned()));
    };
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("sig");
    std::fs::write(&file, sig)?;
    let sig = file.to_string_lossy();
    let (allowed, signer) = match keys {
        Keys::Key(key) => {
            let allowed = folder.path().join("allowed");
            let key = std::fs::read_to_string(key)
                .map_err(|error| Failure::usage(format!("{}: {error}", key.display())))?;
            std::fs::write(&allowed, format!("{SIGNER} {key}"))?;
            (allowed, SIGNER.to_owned())
        }
        Keys::Allowed(allowed) => {
            std::fs::File::open(allowed)
                .map_err(|error| Failure::usage(format!("{}: {error}", allowed.display())))?;
            let file = allowed.to_string_lossy();
            let found = ssh_keygen(&["-Y", "find-principals", "-f", &file, "-s", &sig], b"")?;
            let signer = String::from_utf8_lossy(&found.stdout);
            let Some(signer) = signer.lines().next().filter(|_| found.status.success()) else {
                let said = said(&found);
                return Ok(Signature::Bad(format!(
                    "no one who may sign has its key: {said}"
                )));
            };
            (allowed.clone(), signer.to_owned())
        }
        Keys::Unknown => {
            return Ok(Signature::Bad(
                "it is not known whose key counts: name it with `--key` or `--allowed-signers`"
                    .to_owned(),
            ));
        }
    };
    let pae = dsse::pae(&envelope.payload_type, payload);
    let allowed = allowed.to_string_lossy();
    let arguments = [
        "-Y", "verify", "-f", &allowed, "-I", &signer, "-n", NAMESPACE, "-s", &sig,
    ];
    let checked = ssh_keygen(&arguments, &pae)?;
    if checked.status.success() {
        return Ok(Signature::Good);
    }
    Ok(Signature::Bad(said(&checked)))
}
