//! A part of a message in Gemini's API, in the records of Gemini CLI and its forks.

use std::borrow::Cow;

use model::{Image, MAX_IMAGES};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::history::{HistoryLimits, blobs};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::history) struct Part<'a> {
    #[serde(borrow)]
    pub(in crate::history) text: Option<Cow<'a, str>>,
    pub(in crate::history) thought: Option<bool>,
    #[serde(borrow)]
    pub(in crate::history) inline_data: Option<Inline<'a>>,
    /// Raw, so that an unknown shape does not lose the other fields.
    #[serde(borrow)]
    pub(in crate::history) function_call: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(in crate::history) function_response: Option<FunctionResponse<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::history) struct Inline<'a> {
    #[serde(borrow)]
    mime_type: Cow<'a, str>,
    #[serde(borrow)]
    data: Cow<'a, str>,
}

#[derive(Deserialize)]
pub(in crate::history) struct FunctionResponse<'a> {
    #[serde(borrow)]
    pub(in crate::history) id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(in crate::history) response: Option<Response<'a>>,
}

#[derive(Deserialize)]
pub(in crate::history) struct Response<'a> {
    #[serde(borrow)]
    pub(in crate::history) output: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(in crate::history) error: Option<Cow<'a, str>>,
}

impl Inline<'_> {
    /// Adds an image to those of its prompt, or a text that mentions it.
    pub(in crate::history) fn join(&self, said: &mut Vec<String>, images: &mut Vec<Image>, limits: &HistoryLimits) {
        match blobs::of_prompt(&self.mime_type, &self.data, limits) {
            Ok(image) if images.len() < MAX_IMAGES => images.push(image),
            Ok(image) => said.push(format!("[{}, not kept]", image.mime_type)),
            Err(mention) => said.push(mention),
        }
    }
}
