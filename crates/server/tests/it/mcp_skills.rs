//! `/mcp`: the skills that come with the program, as resources and as prompts, in both revisions of the protocol.

use rmcp::model::{GetPromptRequestParams, ReadResourceRequestParams, ResourceContents};
use serde_json::{Value, json};

use crate::mcp::{Client, Era};
use crate::support::{World, within};

#[tokio::test]
async fn skills_are_resources_and_prompts_in_both_revisions() {
    let world = World::open().await;
    let session = world.session().await;
    let token = world.agent_token(&session).await;
    let before = world.position().await;
    for era in [Era::Stateless, Era::Handshake] {
        let client = Client::open(&world, era, &token).await;
        let offered = client.peer().peer_info().unwrap().capabilities.clone();
        assert!(offered.resources.is_some() && offered.prompts.is_some(), "{offered:?}");

        let listed = within("the resources", client.peer().list_all_resources()).await.unwrap();
        let files = engine::SKILLS.iter().flat_map(|skill| skill.files.iter().map(move |file| (skill.name, file)));
        let expected: Vec<_> =
            files.map(|(skill, file)| (format!("throughline://skills/{skill}/{}", file.path), file.text)).collect();
        assert_eq!(
            listed.iter().map(|resource| &resource.uri).collect::<Vec<_>>(),
            expected.iter().map(|(uri, _)| uri).collect::<Vec<_>>()
        );
        for (uri, expected) in expected {
            let read = client.peer().read_resource(ReadResourceRequestParams::new(&uri));
            let read = within(&uri, read).await.unwrap();
            match read.contents.as_slice() {
                [ResourceContents::TextResourceContents { text, .. }] => assert_eq!(text, expected),
                other => panic!("{other:?}"),
            }
        }
        let templates = within("the templates", client.peer().list_all_resource_templates()).await.unwrap();
        assert!(templates.is_empty(), "{templates:?}");

        let prompts = within("the prompts", client.peer().list_all_prompts()).await.unwrap();
        assert_eq!(prompts.iter().map(|prompt| &*prompt.name).collect::<Vec<_>>(), ["next", "pipeline"]);
        let Value::Object(arguments) = json!({ "work": "loom" }) else { unreachable!() };
        let request = GetPromptRequestParams::new("pipeline").with_arguments(arguments);
        let prompt = within("a prompt", client.peer().get_prompt(request)).await.unwrap();
        let text = &prompt.messages[0].content.as_text().unwrap().text;
        assert!(text.starts_with("Use the pipeline skill: phase research of the work loom."), "{text}");

        let wrong = client.peer().read_resource(ReadResourceRequestParams::new("throughline://skills/none/SKILL.md"));
        let err = within("what is not there", wrong).await.unwrap_err().to_string();
        assert!(err.contains("there is no resource") && err.contains("resources/list"), "{err}");
        let wrong = client.peer().get_prompt(GetPromptRequestParams::new("pipeline"));
        let err = within("what is missing", wrong).await.unwrap_err().to_string();
        assert!(err.contains("work is missing"), "{err}");
    }
    assert_eq!(world.position().await, before, "reading writes nothing");
    world.close().await;
}
