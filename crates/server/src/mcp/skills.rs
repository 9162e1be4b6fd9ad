//! The skills on the mount: each of their files as a resource, and two prompts that a person can call up.
//!
//! Invariant: both are the program's own texts and the same for every caller; what a prompt is given is only put into its
//! words, on one line of its own.

use engine::{SKILL_FILE, SKILLS, Skill, SkillFile};
use rmcp::ErrorData;
use rmcp::model::{
    GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, ReadResourceResult, Resource, ResourceContents,
    Role,
};
use serde_json::{Value, json};

const SCHEME: &str = "throughline://skills/";
const MARKDOWN: &str = "text/markdown";
/// As long as the name of a piece of work may be.
const MAX_NAME_CHARS: usize = 200;
/// A goal in a few sentences.
const MAX_GOAL_CHARS: usize = 4_000;

pub(super) fn resources() -> Vec<Resource> {
    let files = SKILLS.into_iter().flat_map(|skill| skill.files.iter().map(move |file| (skill, file)));
    files.map(|(skill, file)| resource(skill, file)).collect()
}

fn resource(skill: Skill, file: &SkillFile) -> Resource {
    let name = format!("{}/{}", skill.name, file.path);
    let resource = Resource::new(uri(skill, file.path), name)
        .with_title(file.title())
        .with_mime_type(MARKDOWN)
        .with_size(file.text.len() as u64);
    match file.path {
        SKILL_FILE => resource.with_description(skill.description()),
        _ => resource,
    }
}

fn uri(skill: Skill, path: &str) -> String {
    format!("{SCHEME}{}/{path}", skill.name)
}

pub(super) fn read(uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let file = uri.strip_prefix(SCHEME).and_then(|rest| rest.split_once('/'));
    let file = file.and_then(|(skill, path)| Skill::find(skill)?.find_file(path));
    let Some(file) = file else {
        let shown: String = uri.chars().take(200).collect();
        let words = format!("there is no resource {shown:?}; resources/list has those that there are");
        return Err(ErrorData::resource_not_found(words, Some(json!({ "uri": shown }))));
    };
    Ok(ReadResourceResult::new(vec![ResourceContents::text(file.text, uri).with_mime_type(MARKDOWN)]))
}

/// One of the prompts.
struct Offered {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    arguments: &'static [Argument],
}

struct Argument {
    name: &'static str,
    description: &'static str,
    is_required: bool,
    max_chars: usize,
}

const NEXT: &str = "next";
const PIPELINE: &str = "pipeline";
const WORK: &str = "work";
const GOAL: &str = "goal";

const PROMPTS: [Offered; 2] = [
    Offered {
        name: NEXT,
        title: "Offer what comes next",
        description: "Lets the agent end with a button that goes on in a fresh session",
        arguments: &[Argument {
            name: WORK,
            description: "The name of the piece of work; without one the agent chooses it",
            is_required: false,
            max_chars: MAX_NAME_CHARS,
        }],
    },
    Offered {
        name: PIPELINE,
        title: "Begin a pipeline",
        description: "Begins the example pipeline: research, requirements, architecture, plan, tasks, build",
        arguments: &[
            Argument {
                name: WORK,
                description: "A short name for the piece of work, such as loom",
                is_required: true,
                max_chars: MAX_NAME_CHARS,
            },
            Argument {
                name: GOAL,
                description: "What is wanted, in a sentence or two",
                is_required: false,
                max_chars: MAX_GOAL_CHARS,
            },
        ],
    },
];

pub(super) fn prompts() -> Vec<Prompt> {
    let argument = |argument: &Argument| {
        PromptArgument::new(argument.name).with_description(argument.description).with_required(argument.is_required)
    };
    let prompt = |offered: &Offered| {
        let arguments = offered.arguments.iter().map(argument).collect();
        Prompt::new(offered.name, Some(offered.description), Some(arguments)).with_title(offered.title)
    };
    PROMPTS.iter().map(prompt).collect()
}

pub(super) fn prompt(name: &str, arguments: &JsonObject) -> Result<GetPromptResult, ErrorData> {
    let Some(offered) = PROMPTS.iter().find(|offered| offered.name == name) else {
        let shown: String = name.chars().take(100).collect();
        return Err(invalid(format!("there is no prompt {shown:?}; there are {NEXT} and {PIPELINE}")));
    };
    if let Some(unknown) = arguments.keys().find(|key| offered.arguments.iter().all(|known| known.name != **key)) {
        let known: Vec<_> = offered.arguments.iter().map(|argument| argument.name).collect();
        let shown: String = unknown.chars().take(100).collect();
        return Err(invalid(format!("{name} takes {}, not {shown:?}", known.join(" and "))));
    }
    let mut given = offered.arguments.iter().map(|argument| line(argument, arguments.get(argument.name)));
    let work = given.next().transpose()?.flatten();
    let goal = given.next().transpose()?.flatten();
    let text = match offered.name {
        PIPELINE => pipeline(&work.unwrap_or_default(), goal.as_deref()),
        _ => next(work.as_deref()),
    };
    let message = PromptMessage::new_text(Role::User, text);
    Ok(GetPromptResult::new(vec![message]).with_description(offered.description))
}

/// What was given for an argument, as one line.
fn line(argument: &Argument, given: Option<&Value>) -> Result<Option<String>, ErrorData> {
    let Argument { name, is_required, max_chars, .. } = argument;
    let text = match given {
        None | Some(Value::Null) => "",
        Some(Value::String(text)) => text.trim(),
        Some(_) => return Err(invalid(format!("{name} is a text"))),
    };
    match text {
        "" if *is_required => Err(invalid(format!("{name} is missing: {}", argument.description))),
        "" => Ok(None),
        text if text.chars().count() > *max_chars || text.contains(char::is_control) => {
            Err(invalid(format!("{name} is one line of at most {max_chars} characters")))
        }
        text => Ok(Some(text.to_owned())),
    }
}

fn next(work: Option<&str>) -> String {
    let named = match work {
        Some(work) => format!("The piece of work is named {}: its `metaContext`, to the letter.", json!(work)),
        None => "If this session belongs to a piece of work already, use its name as `metaContext`.".to_owned(),
    };
    format!(
        "Bring what you are doing to an end that a fresh session can take up: write down, in files, what it needs. Then end \
         your answer with a `throughline:next` block for the step that comes next. {named} This is its reference:\n\n{}",
        text("throughline", "references/next.md")
    )
}

fn pipeline(work: &str, goal: Option<&str>) -> String {
    let goal = goal.map(|goal| format!(" What is wanted: {goal}")).unwrap_or_default();
    let phase = text("pipeline", "phases/research.md");
    format!(
        "Use the pipeline skill: phase research of the work {work}.{goal}\n\nIf you do not have the skill, it is below, with the \
         page of this phase; the pages of others are the resources `{SCHEME}pipeline/phases/…`.\n\n{}\n\n{phase}",
        text("pipeline", SKILL_FILE)
    )
}

/// A text of ours, without the head that is for agents' own folders.
fn text(skill: &str, path: &str) -> &'static str {
    let text = Skill::find(skill).and_then(|skill| skill.find_file(path)).map_or("", |file| file.text);
    text.strip_prefix("---\n").and_then(|text| text.split_once("\n---\n")).map_or(text, |(_, text)| text).trim()
}

fn invalid(words: String) -> ErrorData {
    ErrorData::invalid_params(words, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Some clients put both lists in front of every conversation.
    const MAX_RESOURCES_BYTES: usize = 4_000;
    const MAX_PROMPTS_BYTES: usize = 1_500;
    /// What a client is handed at once.
    const MAX_TEXT_CHARS: usize = 16_000;

    #[test]
    fn the_lists_are_small_and_all_that_is_listed_is_there() {
        let list = serde_json::to_string(&resources()).unwrap();
        assert!(list.len() <= MAX_RESOURCES_BYTES, "{} bytes: {list}", list.len());
        for resource in resources() {
            let read = read(&resource.uri).unwrap();
            match read.contents.as_slice() {
                [ResourceContents::TextResourceContents { uri, mime_type, text, .. }] => {
                    assert_eq!((uri, mime_type.as_deref()), (&resource.uri, Some(MARKDOWN)));
                    assert_eq!(Some(text.len() as u64), resource.size);
                    assert!(text.chars().count() <= MAX_TEXT_CHARS);
                }
                other => panic!("{other:?}"),
            }
        }
        let list = serde_json::to_string(&prompts()).unwrap();
        assert!(list.len() <= MAX_PROMPTS_BYTES, "{} bytes: {list}", list.len());
    }

    #[test]
    fn what_is_not_there_is_said_so() {
        for uri in [
            "",
            "throughline://skills/",
            "throughline://skills/throughline",
            "throughline://skills/throughline/",
            "throughline://skills/throughline/../pipeline/SKILL.md",
            "throughline://skills/throughline/references/none.md",
            "file:///etc/passwd",
            &"x".repeat(100_000),
        ] {
            let err = read(uri).unwrap_err();
            assert_eq!(err.code, rmcp::model::ErrorCode::RESOURCE_NOT_FOUND, "{uri:.80}");
            assert!(err.message.len() < 400, "{}", err.message);
        }
    }

    fn words(name: &str, arguments: Value) -> Result<String, String> {
        let Value::Object(arguments) = arguments else { panic!("{arguments}") };
        let result = prompt(name, &arguments).map_err(|err| err.message.into_owned())?;
        let [message] = result.messages.as_slice() else { panic!("{result:?}") };
        let text = message.content.as_text().unwrap().text.clone();
        assert!(text.chars().count() <= MAX_TEXT_CHARS + MAX_GOAL_CHARS, "{}", text.len());
        Ok(text)
    }

    #[test]
    fn prompts_hold_the_reference_and_what_was_given() {
        let next = words(NEXT, json!({})).unwrap();
        assert!(next.contains("# throughline:next") && next.contains("```throughline:next\n"), "{next}");
        let next = words(NEXT, json!({ "work": " the \"loom\" ", "goal": null }));
        assert_eq!(next.unwrap_err(), "next takes work, not \"goal\"");
        assert!(words(NEXT, json!({ "work": " the \"loom\" " })).unwrap().contains("named \"the \\\"loom\\\"\": its"));
        let begun = words(PIPELINE, json!({ "work": "loom", "goal": "Weave faster." })).unwrap();
        assert!(
            begun.starts_with(
                "Use the pipeline skill: phase research of the work loom. What is wanted: Weave faster.\n"
            )
        );
        assert!(begun.contains("# Research") && !begun.contains("\ndescription: "), "{begun}");
        words(PIPELINE, json!({ "work": "x".repeat(MAX_NAME_CHARS), "goal": "y".repeat(MAX_GOAL_CHARS) })).unwrap();
    }

    #[test]
    fn what_a_prompt_can_not_take_is_refused_in_words() {
        for (name, arguments, says) in [
            ("none", json!({}), "there is no prompt \"none\"; there are next and pipeline"),
            (PIPELINE, json!({}), "work is missing"),
            (PIPELINE, json!({ "work": "  " }), "work is missing"),
            (PIPELINE, json!({ "work": 5 }), "work is a text"),
            (PIPELINE, json!({ "work": "a\nb" }), "one line of at most 200"),
            (PIPELINE, json!({ "work": "é".repeat(201) }), "one line of at most 200"),
            (PIPELINE, json!({ "work": "loom", "goal": "é".repeat(4_001) }), "one line of at most 4000"),
            (PIPELINE, json!({ "work": "loom", "gaol": "x" }), "takes work and goal, not \"gaol\""),
        ] {
            let err = words(name, arguments).unwrap_err();
            assert!(err.contains(says), "{err}");
        }
    }
}
