//! The document of an applet, for a frame of our page; `mcp/apps.rs` composes one for other hosts of it.
//!
//! Invariants: it has no origin, no network, no cookie and no storage; all that it has is the way to the page around it, which decides
//! what it is given. No secret of ours is in it: its address can be opened for one minute, and can not be read from inside.
//! `applets/test/` runs what applets might try against these very headers.

use std::sync::LazyLock;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use engine::{AppletContent, AppletError, TicketResource};

use crate::App;
use crate::error::ApiError;
use crate::extract::{Named, NoParams, TicketSecret};

/// The path of documents, up to the ticket.
pub(crate) const ROUTE_PREFIX: &str = "/applet-frame/";

/// The frame's side of the bridge, before the applet's own script.
const RUNTIME_SCRIPT: &str = include_str!("../../../applets/runtime.js");
const RUNTIME_STYLE: &str = include_str!("../../../applets/runtime.css");

const POLICY: &str = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
                      img-src data: blob:; font-src data:; connect-src 'none'; form-action 'none'; base-uri 'none'; \
                      frame-ancestors 'self'";

/// Each is something that a page can ask the person for, or disturb them with.
const FEATURES: [&str; 40] = [
    "accelerometer",
    "ambient-light-sensor",
    "attribution-reporting",
    "autoplay",
    "bluetooth",
    "browsing-topics",
    "camera",
    "clipboard-read",
    "clipboard-write",
    "compute-pressure",
    "display-capture",
    "encrypted-media",
    "fullscreen",
    "gamepad",
    "geolocation",
    "gyroscope",
    "hid",
    "identity-credentials-get",
    "idle-detection",
    "join-ad-interest-group",
    "keyboard-map",
    "local-fonts",
    "magnetometer",
    "microphone",
    "midi",
    "payment",
    "picture-in-picture",
    "private-state-token-issuance",
    "private-state-token-redemption",
    "publickey-credentials-create",
    "publickey-credentials-get",
    "run-ad-auction",
    "screen-wake-lock",
    "serial",
    "shared-storage",
    "storage-access",
    "usb",
    "web-share",
    "window-management",
    "xr-spatial-tracking",
];

static NO_FEATURES: LazyLock<HeaderValue> = LazyLock::new(|| {
    let none = FEATURES.map(|feature| format!("{feature}=()")).join(", ");
    HeaderValue::from_str(&none).expect("they are plain names")
});

/// Shows the document that a ticket is for.
pub(crate) async fn show(
    State(app): State<App>,
    Named(TicketSecret(secret)): Named<TicketSecret>,
    _: NoParams,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    check_destination(&headers)?;
    let target = app.engine.find_ticket(&secret).ok_or(ApiError::TicketNotFound)?;
    if !app.settings.gatekeeper.is_holder_in_force(&target.holder) {
        return Err(ApiError::TicketNotFound);
    }
    let content = match target.resource {
        // The page was told this hash with the ticket, and what the person granted holds for it: another content gets another ticket.
        TicketResource::Applet { name, hash } => {
            let content = app.engine.applet(name).await?.content;
            match content.hash() {
                now if now == hash => content,
                now => return Err(AppletError::Changed { hash: now }.into()),
            }
        }
        TicketResource::AppletAsShown(output) => {
            let row = app.engine.output(target.session, output).await?;
            app.engine.applet_of_output(&row).await?
        }
        TicketResource::Output(_) | TicketResource::Export(_) => return Err(ApiError::TicketNotFound),
    };
    let mut response = frame_document(&content).into_response();
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        // Where a browser knows it (Chromium from 152 on), it covers what a policy does not: WebRTC, hints, navigation.
        (HeaderName::from_static("connection-allowlist"), "()"),
        (HeaderName::from_static("x-dns-prefetch-control"), "off"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(HeaderName::from_static("permissions-policy"), NO_FEATURES.clone());
    Ok(response)
}

/// Browsers say what they fetch for: it is a frame of our page. What says nothing is no browser, or one over plain HTTP.
fn check_destination(headers: &HeaderMap) -> Result<(), ApiError> {
    let is = |name: &str, expected: &str| headers.get_all(name).iter().all(|value| value == expected);
    let fits =
        is("sec-fetch-site", "same-origin") && is("sec-fetch-dest", "iframe") && is("sec-fetch-mode", "navigate");
    if fits { Ok(()) } else { Err(ApiError::TicketNotForThis) }
}

fn frame_document(content: &AppletContent) -> String {
    compose("", "", content)
}

/// Composes an applet's document. `head` is put first into its head, `before_runtime` before the runtime's script; our own page needs
/// neither.
///
/// Errors name a line of the applet's script as its file has it.
pub(crate) fn compose(head: &str, before_runtime: &str, AppletContent { html, js, css }: &AppletContent) -> String {
    let html = without_shadow(html);
    let (style, script) =
        (escape_element_text(css, &["/style"], r"\3c "), escape_element_text(js, &["/script", "!--"], r"\x3c"));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{head}\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <style>{RUNTIME_STYLE}</style>\n<style>{style}</style>\n</head>\n<body>\n{before_runtime}<script>{RUNTIME_SCRIPT}</script>\n\
         <div id=\"applet\">\n{html}\n</div>\n<script>(function () {{{script}\n}})();\n//# sourceURL=script.js\n</script>\n</body>\n</html>\n"
    )
}

/// A declared shadow root could hide a frame from the runtime, which removes frames; written otherwise it is a plain element.
fn without_shadow(html: &str) -> String {
    const DECLARES: &str = "shadowrootmode";
    let lower = html.to_ascii_lowercase();
    let (mut safe, mut from) = (String::with_capacity(html.len()), 0);
    for (at, _) in lower.match_indices(DECLARES) {
        safe.push_str(&html[from..at]);
        safe.push_str("data-");
        from = at;
    }
    safe.push_str(&html[from..]);
    safe
}

/// Text that stands in an element of its own and can not end it: `<` before one of `ends` is written as the language escapes it.
fn escape_element_text(text: &str, ends: &[&str], escaped: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut pieces = text.split('<');
    safe.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let begins = |end: &&str| piece.get(..end.len()).is_some_and(|start| start.eq_ignore_ascii_case(end));
        safe.push_str(if ends.iter().any(begins) { escaped } else { "<" });
        safe.push_str(piece);
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_applet_says_can_not_end_its_element() {
        let content = AppletContent {
            html: "<p>hello</p>".to_owned(),
            js: "const a = '</SCRIPT><script>'; const b = 1 < 2; // <!--".to_owned(),
            css: "p::before { content: '</style>'; } a > b {}".to_owned(),
        };
        let text = frame_document(&content);
        assert_eq!(text.matches("</script>").count(), 2);
        assert_eq!(text.matches("</style>").count(), 2);
        assert!(text.contains(r"'\x3c/SCRIPT><script>'; const b = 1 < 2; // \x3c!--"), "{text}");
        assert!(text.contains(r"'\3c /style>'"), "{text}");
    }

    #[test]
    fn no_shadow_root_is_declared() {
        let html = "<b>ü</b><template ShadowRootMode=closed><i shadowrootmode=open>";
        assert_eq!(without_shadow(html), "<b>ü</b><template data-ShadowRootMode=closed><i data-shadowrootmode=open>");
    }

    #[test]
    fn our_own_parts_do_not_end_theirs() {
        assert!(!RUNTIME_SCRIPT.to_ascii_lowercase().contains("</script") && !RUNTIME_SCRIPT.contains("<!--"));
        assert!(!RUNTIME_STYLE.to_ascii_lowercase().contains("</style"));
    }
}
