//! The server's HTTP API as a program uses it: JSON in and out, and an idempotency key with every change.

use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use crate::kills::http::{Http, Request};
use crate::kills::server::Endpoint;

/// How many requests with a key this process has made; other processes make theirs at the same server.
static KEYS: AtomicU64 = AtomicU64::new(0);

pub(crate) struct Api {
    http: Http,
}

impl Api {
    pub(crate) fn new(endpoint: Endpoint) -> Self {
        Self { http: Http::new(endpoint) }
    }

    pub(crate) fn get(&mut self, path: &str) -> anyhow::Result<Value> {
        self.ask(&Request::get(format!("/api/v1{path}")))
    }

    pub(crate) fn post(&mut self, path: &str, body: &Value) -> anyhow::Result<Value> {
        self.change("POST", path, body)
    }

    /// For what is safe to repeat and takes no key.
    pub(crate) fn post_without_key(&mut self, path: &str, body: &Value) -> anyhow::Result<Value> {
        let (path, body) = (format!("/api/v1{path}"), Some(body.to_string()));
        self.ask(&Request { method: "POST", path, body, idempotency_key: None })
    }

    pub(crate) fn patch(&mut self, path: &str, body: &Value) -> anyhow::Result<Value> {
        self.change("PATCH", path, body)
    }

    fn change(&mut self, method: &'static str, path: &str, body: &Value) -> anyhow::Result<Value> {
        let key = format!("lab-{}-{}", std::process::id(), KEYS.fetch_add(1, Ordering::Relaxed));
        self.ask(&Request {
            method,
            path: format!("/api/v1{path}"),
            body: Some(body.to_string()),
            idempotency_key: Some(key),
        })
    }

    fn ask(&mut self, request: &Request) -> anyhow::Result<Value> {
        let what = format!("{} {}", request.method, request.path);
        let answer = self.http.send(request).with_context(|| format!("{what} was not answered"))?;
        ensure!(answer.is_success(), "{what}: {} {}", answer.status, answer.body);
        if answer.body.is_empty() {
            return Ok(json!(null));
        }
        serde_json::from_str(&answer.body).with_context(|| format!("{what}: not JSON"))
    }
}
