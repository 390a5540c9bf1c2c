//! Addresses of collectors.

use crate::config::Config;

#[test]
fn a_collector_is_named_by_host_and_port() {
    let endpoint = |text: &str| {
        let config = Config::load(Some((
            "config.yml",
            &format!("otlp: {{endpoint: '{text}'}}\n"),
        )))
        .ok()?;
        config
            .settings
            .otlp
            .endpoint
            .0
            .map(|endpoint| (endpoint.authority().to_owned(), endpoint.path().to_owned()))
    };
    let parts = |authority: &str, path: &str| Some((authority.to_owned(), path.to_owned()));
    assert_eq!(
        endpoint("http://localhost:4318"),
        parts("localhost:4318", "")
    );
    assert_eq!(endpoint("http://[::1]:4318/"), parts("[::1]:4318", ""));
    assert_eq!(
        endpoint("http://collector.lan:80/otlp/x/"),
        parts("collector.lan:80", "/otlp/x")
    );
    for wrong in [
        "",
        "localhost:4318",
        "grpc://localhost:4317",
        "http://",
        "http://:4318",
        "http://localhost:0",
        "http://localhost:+80",
        "http://localhost:99999",
        "http://me:secret@localhost:4318",
        "http://[x]:4318",
        "http://local host:4318",
        "http://localhost:4318/a b",
        "http://localhost:4318/?a=b",
        "http://a\\r\\nb:4318",
    ] {
        assert_eq!(endpoint(wrong), None, "{wrong}");
    }
    assert_eq!(endpoint("none"), None);
}
