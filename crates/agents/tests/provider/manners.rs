//! Tests models that accept only another request style: what they refuse is left out, once and for all.

use agents::provider::{ProviderError, ProviderKind};
use serde_json::Value;

use crate::stage::{ASK, Stage, json};

const OPENAI_WORDS: &str = r#"{"choices":[{"message":{"content":"Fix"},"finish_reason":"stop"}]}"#;
const ANTHROPIC_WORDS: &str = r#"{"content":[{"type":"text","text":"Fix"}],"stop_reason":"end_turn"}"#;
const OLLAMA_WORDS: &str = r#"{"message":{"content":"Fix"},"done":true,"done_reason":"stop"}"#;

/// The bodies that were sent, without what never changes.
fn bodies(stage: &Stage) -> String {
    let body = |heard: &String| {
        let mut body: Value = serde_json::from_str(heard.lines().last().unwrap()).unwrap();
        let fields = body.as_object_mut().unwrap();
        fields.retain(|name, _| !matches!(name.as_str(), "model" | "messages" | "system" | "stream"));
        body.to_string()
    };
    stage.heard().iter().map(body).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn a_model_that_wants_other_words_is_asked_with_them_from_then_on() {
    let stage = Stage::open([
        json(400, r#"{"error":{"message":"Unsupported value: 'temperature' does not support 0.3 with this model.","param":"temperature"}}"#),
        json(400, r#"{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens"}}"#),
        json(400, r#"{"error":{"message":"Could not finish the message because max_tokens or model output limit was reached. Please try again with higher max_tokens."}}"#),
        json(200, OPENAI_WORDS),
        json(200, OPENAI_WORDS),
    ])
    .await;
    let provider = stage.provider(ProviderKind::OpenAi, "/v1");
    assert_eq!(provider.ask(&ASK).await.unwrap(), "Fix");
    assert_eq!(provider.ask(&ASK).await.unwrap(), "Fix");
    insta::assert_snapshot!(bodies(&stage), @r#"
    {"max_tokens":50,"temperature":0.3}
    {"max_tokens":50}
    {"max_completion_tokens":50}
    {"max_completion_tokens":2050}
    {"max_completion_tokens":2050}
    "#);
}

#[tokio::test]
async fn a_model_that_thinks_its_limit_away_is_given_room() {
    let stage = Stage::open([
        json(400, r#"{"type":"error","error":{"type":"invalid_request_error","message":"`temperature` is deprecated for this model."}}"#),
        json(200, r#"{"content":[{"type":"thinking","thinking":"","signature":"s"}],"stop_reason":"max_tokens"}"#),
        json(200, ANTHROPIC_WORDS),
    ])
    .await;
    assert_eq!(stage.provider(ProviderKind::Anthropic, "").ask(&ASK).await.unwrap(), "Fix");
    insta::assert_snapshot!(bodies(&stage), @r#"
    {"max_tokens":50,"temperature":0.3}
    {"max_tokens":50}
    {"max_tokens":2050}
    "#);
}

#[tokio::test]
async fn a_model_that_can_not_think_is_not_told_to_leave_it() {
    let stage =
        Stage::open([json(400, r#"{"error":"\"small-1\" does not support thinking"}"#), json(200, OLLAMA_WORDS)]).await;
    assert_eq!(stage.provider(ProviderKind::Ollama, "").ask(&ASK).await.unwrap(), "Fix");
    insta::assert_snapshot!(bodies(&stage), @r#"
    {"think":false,"options":{"num_predict":50,"temperature":0.3}}
    {"options":{"num_predict":50,"temperature":0.3}}
    "#);
}

#[tokio::test]
async fn one_that_is_never_content_is_left_alone() {
    let refusal = json(
        400,
        r#"{"error":{"message":"temperature, max_tokens, max_completion_tokens, output limit was reached"}}"#,
    );
    let stage = Stage::open(vec![refusal; 20]).await;
    let err = stage.provider(ProviderKind::OpenAi, "/v1").ask(&ASK).await.unwrap_err();
    assert!(matches!(err, ProviderError::Refused { status: 400, .. }), "{err}");
    insta::assert_snapshot!(bodies(&stage), @r#"
    {"max_tokens":50,"temperature":0.3}
    {"max_tokens":50}
    {"max_tokens":2050}
    "#);
}
