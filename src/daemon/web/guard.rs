//! Access control: every request passes here first.
//!
//! A page of another site can send requests to a loopback port, and by DNS rebinding it can even
//! read the answers. So a request must name this machine as its host, must not come from another
//! page, and needs the key that a token from the socket was exchanged for. The key is in a header
//! and never in a cookie: browsers send cookies to every port of a host, so each program that
//! listens on this machine could ask for them. The page's own files hold nothing of the user's and
//! need no key. Only a request for the page itself may come from elsewhere: from the file to which
//! `checkpointd web --open` sends the browser.

use actix_web::body::{EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use actix_web::middleware::Next;
use actix_web::{Error, HttpResponse, web};

use super::page::Page;

/// Security headers of every answer: the browser loads, runs and contacts only the page's own
/// files.
const HEADERS: [(&str, &str); 7] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
         frame-ancestors 'none'; base-uri 'none'; form-action 'self'; require-trusted-types-for 'script'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cache-control", "no-store"),
    ("x-frame-options", "DENY"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];

/// Where a token is exchanged for a key.
pub(super) const ENTER: &str = "/api/enter";
/// Where a tab comes back after a restart.
pub(super) const RESUME: &str = "/api/resume";
/// What comes before the key in its header.
const SCHEME: &str = "Bearer ";

/// Returns whether a host header names this machine by a name that no DNS server answers. Any port is accepted, because
/// `ssh -L` may move the page to another one. The origin shows whether a request comes from another port's page.
fn is_this_machine(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    ["127.0.0.1", "localhost", "[::1]"].contains(&name)
}

/// Passes a request on, or answers it here.
pub(super) async fn check<B: MessageBody + 'static>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B>>, Error> {
    let mut response = match refusal(&request) {
        Some(answer) => request.into_response(answer).map_into_right_body(),
        None => next.call(request).await?.map_into_left_body(),
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
    Ok(response)
}

/// Returns the answer to a refused request; `None` for an admitted one.
fn refusal(request: &ServiceRequest) -> Option<HttpResponse> {
    let page = request
        .app_data::<web::Data<Page>>()
        .expect("the page has it");
    let said = |name: HeaderName| said(request.headers(), name);
    let host = said(header::HOST).unwrap_or_default();
    if !is_this_machine(host) {
        return Some(forbidden("this address is not the page's own"));
    }
    let is_own_origin = |origin: &str| origin.strip_prefix("http://") == Some(host);
    let is_post = request.method() == Method::POST;
    if !said(header::ORIGIN).map_or(!is_post, is_own_origin) {
        return Some(forbidden("the request comes from another page"));
    }
    // Browsers say who started a request: the page itself, or a person (`none`).
    let fetch = |name: &'static str| said(HeaderName::from_static(name));
    let is_led_here =
        fetch("sec-fetch-site").is_some_and(|site| site != "same-origin" && site != "none");
    let is_whole_page =
        fetch("sec-fetch-mode") == Some("navigate") && fetch("sec-fetch-dest") == Some("document");
    let path = request.path();
    let is_get = request.method() == Method::GET;
    if is_led_here && !(is_get && path == "/" && is_whole_page) {
        return Some(forbidden("the request comes from another page"));
    }
    let is_open = match path {
        ENTER | RESUME => is_post,
        "/" | "/favicon.ico" => is_get,
        _ => is_get && path.starts_with("/assets/"),
    };
    let key = said(header::AUTHORIZATION).and_then(|value| value.strip_prefix(SCHEME));
    let is_known = key.is_some_and(|key| page.tokens().know(key));
    (!is_open && !is_known).then(|| forbidden("this browser tab has no access"))
}

/// Returns whether the head of a request has the key. This decides only which place its connection
/// gets; [`check`] admits each request.
pub(super) fn has_key(head: &[u8], page: &Page) -> bool {
    let text = String::from_utf8_lossy(head);
    let mut fields = text.split("\r\n").filter_map(|line| line.split_once(':'));
    fields.any(|(name, value)| {
        let key = value.trim().strip_prefix(SCHEME);
        name.eq_ignore_ascii_case("authorization") && key.is_some_and(|key| page.tokens().know(key))
    })
}

fn said(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    // Two hosts or origins are ambiguous.
    let mut values = headers.get_all(name);
    let first = values.next()?.to_str().unwrap_or("?");
    Some(if values.next().is_some() { "?" } else { first })
}

pub(super) fn forbidden(why: &str) -> HttpResponse {
    let text = format!(
        "checkpointd: {why}.\n\nRun `checkpointd web --open`: it opens the page in your browser.\n"
    );
    HttpResponse::Forbidden()
        .content_type("text/plain; charset=utf-8")
        .body(text)
}

#[cfg(test)]
mod tests {
    use super::is_this_machine;

    #[test]
    fn a_host_is_this_machine_by_three_names_on_any_port() {
        for host in [
            "127.0.0.1",
            "127.0.0.1:80",
            "localhost:9999",
            "[::1]:8080",
            "[::1]",
        ] {
            assert!(is_this_machine(host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example:80",
            "127.0.0.1.evil.example",
            "127.0.0.1@evil.example",
            "127.0.0.1:80x",
            "localhost:80:80",
            "127.0.0.2:80",
            ":80",
        ] {
            assert!(!is_this_machine(host), "{host}");
        }
    }
}
