//! Tests what each kind of provider is sent, and what is read from its answer.

use agents::provider::ProviderKind;

use crate::stage::{ASK, Play, Stage, json};

async fn asked(kind: ProviderKind, path: &str, answer: Play) -> String {
    let stage = Stage::open([answer]).await;
    let words = stage.provider(kind, path).ask(&ASK).await.unwrap();
    format!("{}\n→ {words}", stage.heard().join("\n\n"))
}

#[tokio::test]
async fn openai() {
    let answer = json(
        200,
        r#"{"id":"c1","object":"chat.completion","created":1,"model":"small-1","choices":[{"index":0,"message":{"role":"assistant","content":"Fix the test","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}"#,
    );
    insta::assert_snapshot!(asked(ProviderKind::OpenAi, "/v1", answer).await, @r#"
    POST /v1/chat/completions
    user-agent: throughline
    accept: application/json
    content-type: application/json
    authorization: Bearer canary-4711
    {"model":"small-1","messages":[{"role":"system","content":"One line."},{"role":"user","content":"fix it"}],"stream":false,"max_tokens":50,"temperature":0.3}
    → Fix the test
    "#);
}

#[tokio::test]
async fn anthropic() {
    let answer = json(
        200,
        r#"{"id":"m1","type":"message","role":"assistant","model":"small-1","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"Fix the test"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":3}}"#,
    );
    insta::assert_snapshot!(asked(ProviderKind::Anthropic, "", answer).await, @r#"
    POST /v1/messages
    user-agent: throughline
    accept: application/json
    content-type: application/json
    anthropic-version: 2023-06-01
    x-api-key: canary-4711
    {"model":"small-1","max_tokens":50,"system":"One line.","messages":[{"role":"user","content":"fix it"}],"temperature":0.3}
    → Fix the test
    "#);
}

#[tokio::test]
async fn ollama() {
    let mut answer = json(
        200,
        r#"{"model":"small-1","created_at":"2026-11-15T00:00:00Z","message":{"role":"assistant","content":"Fix the test"},"done_reason":"stop","done":true,"eval_count":3}"#,
    );
    answer.headers = vec![("content-type", "application/json; charset=utf-8".to_owned())];
    insta::assert_snapshot!(asked(ProviderKind::Ollama, "/", answer).await, @r#"
    POST /api/chat
    user-agent: throughline
    accept: application/json
    content-type: application/json
    authorization: Bearer canary-4711
    {"model":"small-1","messages":[{"role":"system","content":"One line."},{"role":"user","content":"fix it"}],"stream":false,"think":false,"options":{"num_predict":50,"temperature":0.3}}
    → Fix the test
    "#);
}
