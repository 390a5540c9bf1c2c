//! The real program, asked over its pipes.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use broker::wire::{self, Ask};
use broker::{Authority, Credentials, Issued, Problem, Result};
use serde::de::DeserializeOwned;

fn program() -> Child {
    let started = Command::new(env!("CARGO_BIN_EXE_checkpointd-fleet"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    started.expect("it starts")
}

fn ask<T: DeserializeOwned>(program: &mut Child, ask: &Ask) -> Result<T> {
    let stdin = program.stdin.as_mut().expect("a pipe");
    stdin.write_all(&wire::frame(ask)).expect("it reads");
    let stdout = program.stdout.as_mut().expect("a pipe");
    let mut length = [0; 4];
    stdout.read_exact(&mut length).expect("it answers");
    let mut bytes = vec![0; wire::length(length).expect("a length")];
    stdout.read_exact(&mut bytes).expect("it answers");
    wire::read::<Result<T>>(&bytes).expect("an answer")
}

#[test]
fn it_issues_certificates_and_says_what_is_wrong_with_others() {
    let mut program = program();
    let authority: Authority = ask(&mut program, &Ask::NewAuthority).expect("an authority");
    let names = vec!["1.laptop-7.machine.fleet".to_owned()];
    let issue = Ask::Issue(authority.clone(), names.clone());
    let issued: Issued = ask(&mut program, &issue).expect("a certificate");
    let pem = [
        issued.key,
        issued.certificate,
        authority.certificate.clone(),
    ]
    .concat();
    let check = |pem: &str| Ask::Check(Credentials::Certificate(pem.to_owned()));
    ask::<()>(&mut program, &check(&pem)).expect("it is right");
    for (wrong, said) in [
        ("", "it has no certificate"),
        (
            authority.certificate.as_str(),
            "it has no certificate of an authority",
        ),
    ] {
        let problem = ask::<()>(&mut program, &check(wrong)).expect_err("it is wrong");
        assert_eq!(problem, Problem::Refused(said.to_owned()));
    }
    let broken = Authority {
        key: "no key".to_owned(),
        ..authority
    };
    let problem = ask::<Issued>(&mut program, &Ask::Issue(broken, names));
    assert!(matches!(problem, Err(Problem::Refused(_))));
    drop(program.stdin.take());
    assert!(program.wait().expect("it ends").success());
}

#[test]
fn without_a_broker_it_says_so_and_can_be_asked_again() {
    let mut program = program();
    let unasked = ask::<broker::Look>(&mut program, &Ask::Look).expect_err("no connection");
    assert_eq!(unasked, Problem::Later("it is not connected".into()));
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = free.local_addr().expect("bound").port();
    drop(free);
    for _ in 0..2 {
        let connect = Ask::Connect {
            servers: format!("nats://127.0.0.1:{port}"),
            name: "m".into(),
            credentials: Credentials::None,
        };
        let problem = ask::<()>(&mut program, &connect).expect_err("no one listens");
        assert!(matches!(problem, Problem::Later(_)), "{problem:?}");
    }
    drop(program.stdin.take());
    assert!(program.wait().expect("it ends").success());
}

/// Its parent may be killed while it waits for an answer.
#[test]
fn it_ends_with_its_pipe_while_an_answer_is_awaited() {
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = silent.local_addr().expect("bound").port();
    let mut program = program();
    let connect = Ask::Connect {
        servers: format!("nats://127.0.0.1:{port}"),
        name: "m".into(),
        credentials: Credentials::None,
    };
    let mut stdin = program.stdin.take().expect("a pipe");
    stdin.write_all(&wire::frame(&connect)).expect("it reads");
    let _server = silent.accept().expect("it connects");
    drop(stdin);
    assert!(program.wait().expect("it ends").success());
}

#[test]
fn what_is_no_request_ends_it() {
    let mut program = program();
    let mut stdin = program.stdin.take().expect("a pipe");
    stdin.write_all(&u32::MAX.to_le_bytes()).expect("it reads");
    assert!(program.wait().expect("it ends").success());
}
