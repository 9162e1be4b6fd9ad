//! stub
pub mod wire;
#[cfg(test)]
mod t {
    use utoipa::OpenApi;
    #[derive(OpenApi)]
    #[openapi(components(schemas(crate::wire::SessionPage, crate::wire::Session, crate::wire::NewSession, crate::wire::SessionPatch, crate::wire::NewPrompt, crate::wire::PromptPatch, crate::wire::PromptAccepted, crate::wire::Observed, crate::wire::EntryPage, crate::wire::AgentPage, crate::wire::CodeExchange, crate::wire::Proof, crate::wire::Whoami, crate::wire::ErrorBody, crate::wire::ClientFrame, crate::wire::ServerFrame)))]
    struct Doc;
    #[test]
    fn p() { std::fs::write("/tmp/openapi.json", Doc::openapi().to_pretty_json().unwrap()).unwrap(); }
}
