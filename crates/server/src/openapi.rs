//! The API's description, as committed in `openapi.json`: what the routes say of themselves, and what is true of all.
//!
//! Invariant: every answer that a route can give is described, and has words. What the doors or a failing store may answer
//! anywhere stands here once, in `COMMON`; a route describes only what it means differently.

use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{Content, Ref, RefOr, Response, ServerBuilder};
use utoipa::{Modify, OpenApi, openapi};
use utoipa_axum::router::OpenApiRouter;

use crate::{App, router, wire};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Throughline",
        description = "The session server for AI agents. Paths are under /api/v1 and, the same, under /api. \
                       Programs send a bearer token; the WebSocket at /api/v1/live speaks ClientFrame and ServerFrame.",
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    components(schemas(wire::ClientFrame, wire::ServerFrame, wire::ErrorBody)),
    modifiers(&Credentials, &Address),
    security(("bearer" = []), ("cookie" = [], "proof" = []))
)]
struct Description;

/// How callers show who they are; routes that need nothing say so themselves.
struct Credentials;

impl Modify for Credentials {
    fn modify(&self, document: &mut openapi::OpenApi) {
        let components = document.components.get_or_insert_default();
        let bearer = Http::builder().scheme(HttpAuthScheme::Bearer).description(Some("A program's token.")).build();
        components.add_security_scheme("bearer", SecurityScheme::Http(bearer));
        let cookie = "Half of a browser's credential; the name ends in the server's incarnation, and over TLS it begins \
                      with `__Host-`.";
        let cookie = ApiKeyValue::with_description("throughline-INCARNATION", cookie);
        components.add_security_scheme("cookie", SecurityScheme::ApiKey(ApiKey::Cookie(cookie)));
        let proof = "The other half, which only the server's own page has.";
        let proof = ApiKeyValue::with_description(doors::PROOF_HEADER.as_str(), proof);
        components.add_security_scheme("proof", SecurityScheme::ApiKey(ApiKey::Header(proof)));
    }
}

/// Which server is meant.
struct Address;

impl Modify for Address {
    fn modify(&self, document: &mut openapi::OpenApi) {
        let asked = "The server that is asked: http://127.0.0.1:7417, unless its configuration says otherwise.";
        document.servers = Some(vec![ServerBuilder::new().url("/").description(Some(asked)).build()]);
    }
}

/// On which routes an answer is possible.
#[derive(Clone, Copy, PartialEq, Eq)]
enum On {
    All,
    /// Those that need a credential.
    Protected,
    /// Those that take a body, if only an optional one.
    WithBody,
    /// Those that change something.
    Changing,
}

/// A refusal or failure that many routes share.
struct Common {
    status: &'static str,
    name: &'static str,
    words: &'static str,
    on: On,
}

const COMMON: [Common; 13] = [
    Common {
        status: "400",
        name: "BadRequest",
        words: "The request is not what this route takes; `message` says what is.",
        on: On::All,
    },
    Common {
        status: "401",
        name: "Unauthenticated",
        words: "No credential, or none that is in force.",
        on: On::Protected,
    },
    Common {
        status: "403",
        name: "Forbidden",
        words: "The credential does not allow it, or the Host or Origin header is not this server's.",
        on: On::All,
    },
    Common {
        status: "404",
        name: "NotFound",
        words: "What is named is not there, or not for this caller.",
        on: On::Protected,
    },
    Common {
        status: "408",
        name: "BodyTimeout",
        words: "The body did not arrive in time; send it again.",
        on: On::WithBody,
    },
    Common {
        status: "409",
        name: "Conflict",
        words: "It does not go with how things stand, such as a damaged session or an idempotency key that was used for \
                another request; `code` says which.",
        on: On::Protected,
    },
    Common { status: "413", name: "BodyTooLarge", words: "The body is too large; send less.", on: On::WithBody },
    Common { status: "414", name: "UriTooLong", words: "The address is too long.", on: On::All },
    Common {
        status: "415",
        name: "UnsupportedMediaType",
        words: "A body is sent as application/json.",
        on: On::WithBody,
    },
    Common {
        status: "429",
        name: "TooManyRequests",
        words: "Too much at once; `details` or the header `Retry-After` says when to go on.",
        on: On::All,
    },
    Common { status: "500", name: "Failed", words: "The server failed; its log says why.", on: On::All },
    Common {
        status: "503",
        name: "Unavailable",
        words: "The store or the search can not be used now, or the server is stopping; try again.",
        on: On::Protected,
    },
    Common { status: "507", name: "StorageFull", words: "The disk is full; nothing was changed.", on: On::Changing },
];

/// The description of all routes, as JSON.
pub fn openapi() -> String {
    let paths = OpenApiRouter::new().merge(router::protected()).merge(router::open());
    let (_, mut document) =
        OpenApiRouter::<App>::with_openapi(Description::openapi()).nest("/api/v1", paths).split_for_parts();
    let components = document.components.get_or_insert_default();
    for common in &COMMON {
        components.responses.insert(common.name.to_owned(), RefOr::T(error_answer(common.words)));
    }
    for item in document.paths.paths.values_mut() {
        complete(item);
    }
    let mut text = document.to_pretty_json().expect("the description is plain data");
    text.push('\n');
    text
}

fn error_answer(words: &str) -> Response {
    let body = Content::builder().schema(Some(Ref::from_schema_name("ErrorBody"))).build();
    Response::builder().description(words).content("application/json", body).build()
}

fn complete(item: &mut PathItem) {
    for reading in [&mut item.get, &mut item.head].into_iter().flatten() {
        complete_operation(reading, false);
    }
    for changing in [&mut item.post, &mut item.put, &mut item.patch, &mut item.delete].into_iter().flatten() {
        complete_operation(changing, true);
    }
}

fn complete_operation(operation: &mut Operation, changes: bool) {
    let open = operation.security.is_some();
    let summary = operation.summary.clone().unwrap_or_default();
    let answers = &mut operation.responses.responses;
    for answer in answers.values_mut() {
        match answer {
            // What a request is for is what it answers, where the route does not say more.
            RefOr::T(answer) if answer.description.is_empty() => answer.description.clone_from(&summary),
            RefOr::T(_) | RefOr::Ref(_) => (),
        }
    }
    for common in &COMMON {
        let possible = match common.on {
            On::All => true,
            On::Protected => !open,
            // A key may stand in the body of every change.
            On::WithBody | On::Changing => changes,
        };
        if possible && !answers.contains_key(common.status) {
            answers.insert(common.status.to_owned(), RefOr::Ref(Ref::from_response_name(common.name)));
        }
    }
}
