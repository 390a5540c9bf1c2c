//! Access control: every request passes here first.
//!
//! A page of another site can send requests to a loopback port, and by DNS rebinding it can even
//! read the answers. So a request must name this address as its host, must not come from another
//! page, and needs the cookie that a token from the socket was exchanged for. Only a request for
//! the page itself with a token may come from elsewhere: from the file to which `checkpointd web
//! --open` sends the browser.

use std::time::Instant;

use actix_web::body::{EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::{Error, HttpResponse, web};
use serde::Deserialize;

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

/// Redirects to the page.
const STEP: &str = "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0; url=/\">\
    <title>checkpointd</title><a href=\"/\">checkpointd</a>\n";

/// The page's own address.
pub(super) struct Own {
    pub(super) port: u16,
}

impl Own {
    /// Returns the name of the page's cookie. Cookies ignore ports, and another daemon may have a
    /// page too.
    fn cookie(&self) -> String {
        format!("checkpointd-{}", self.port)
    }

    /// Returns whether a host header names this page.
    fn is_host(&self, host: &str) -> bool {
        ["127.0.0.1", "localhost"]
            .iter()
            .any(|name| host == format!("{name}:{}", self.port))
    }
}

#[derive(Deserialize)]
struct First {
    token: String,
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

/// Returns the answer to a refused request or to a token; `None` for an admitted request.
fn refusal(request: &ServiceRequest) -> Option<HttpResponse> {
    let own = request
        .app_data::<web::Data<Own>>()
        .expect("the page has it");
    let page = request
        .app_data::<web::Data<Page>>()
        .expect("the page has it");
    let said = |name: HeaderName| said(request.headers(), name);
    let host = said(header::HOST).unwrap_or_default();
    if !own.is_host(host) {
        return Some(forbidden("this address is not the page's own"));
    }
    let is_own_origin = |origin: &str| origin.strip_prefix("http://") == Some(host);
    let is_post = request.method() == Method::POST;
    if !said(header::ORIGIN).map_or(!is_post, is_own_origin) {
        return Some(forbidden("the request comes from another page"));
    }
    let first = web::Query::<First>::from_query(request.query_string()).ok();
    let first = first.filter(|_| request.path() == "/" && request.method() == Method::GET);
    // Browsers say who started a request: the page itself, or a person (`none`).
    let fetch = |name: &'static str| said(HeaderName::from_static(name));
    let is_led_here =
        fetch("sec-fetch-site").is_some_and(|site| site != "same-origin" && site != "none");
    let is_whole_page =
        fetch("sec-fetch-mode") == Some("navigate") && fetch("sec-fetch-dest") == Some("document");
    if is_led_here && !(first.is_some() && is_whole_page) {
        return Some(forbidden("the request comes from another page"));
    }
    let name = own.cookie();
    let is_known = cookies(request.headers(), &name).any(|cookie| page.tokens().know(cookie));
    match first {
        Some(first) => match page.tokens().exchange(&first.token, Instant::now()) {
            Some(cookie) => Some(grant(
                &format!("{name}={cookie}; Path=/; HttpOnly; SameSite=Strict"),
                is_led_here,
            )),
            // A person goes back in an admitted browser.
            None if is_known => Some(go_on().finish()),
            None => Some(forbidden("this address has been used or has expired")),
        },
        None if is_known => None,
        None => Some(forbidden("this browser has no access")),
    }
}

fn said(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    // Two hosts or origins are ambiguous.
    let mut values = headers.get_all(name);
    let first = values.next()?.to_str().unwrap_or("?");
    Some(if values.next().is_some() { "?" } else { first })
}

fn cookies<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = &'a str> {
    let all = headers
        .get_all(header::COOKIE)
        .filter_map(|value| value.to_str().ok())
        .flat_map(|line| line.split(';'));
    all.filter_map(move |cookie| cookie.trim().strip_prefix(name)?.strip_prefix('='))
}

fn go_on() -> actix_web::HttpResponseBuilder {
    let mut response = HttpResponse::build(StatusCode::SEE_OTHER);
    response.insert_header((header::LOCATION, "/"));
    response
}

/// Sets the cookie. A browser that comes from elsewhere would not send it after a redirect; from a
/// page of ours it does.
/// our own it goes on with it.
fn grant(cookie: &str, is_led_here: bool) -> HttpResponse {
    if !is_led_here {
        return go_on().insert_header((header::SET_COOKIE, cookie)).finish();
    }
    let mut response = HttpResponse::Ok();
    response
        .content_type("text/html; charset=utf-8")
        .insert_header((header::SET_COOKIE, cookie))
        .body(STEP)
}

fn forbidden(why: &str) -> HttpResponse {
    let text = format!(
        "checkpointd: {why}.\n\nRun `checkpointd web --open`: it opens the page for this browser.\n"
    );
    HttpResponse::Forbidden()
        .content_type("text/plain; charset=utf-8")
        .body(text)
}
