//! What each kind of provider is sent, and what is taken of its answer.

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
    insta::assert_snapshot!(asked(ProviderKind::OpenAi, "/v1", answer).await, @"");
}

#[tokio::test]
async fn anthropic() {
    let answer = json(
        200,
        r#"{"id":"m1","type":"message","role":"assistant","model":"small-1","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"Fix the test"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":3}}"#,
    );
    insta::assert_snapshot!(asked(ProviderKind::Anthropic, "", answer).await, @"");
}

#[tokio::test]
async fn ollama() {
    let mut answer = json(
        200,
        r#"{"model":"small-1","created_at":"2026-11-15T00:00:00Z","message":{"role":"assistant","content":"Fix the test"},"done_reason":"stop","done":true,"eval_count":3}"#,
    );
    answer.headers = vec![("content-type", "application/json; charset=utf-8".to_owned())];
    insta::assert_snapshot!(asked(ProviderKind::Ollama, "/", answer).await, @"");
}
