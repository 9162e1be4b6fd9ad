//! Updates in, reports out.

mod lines;
mod recorded;

use insta::assert_snapshot;
use serde_json::json;

use super::*;
use crate::acp::translate::content::MAX_KEPT_BYTES;
use lines::lines;

/// One terminal, `term-1`, that has printed two lines.
struct OneTerminal;

impl TerminalOutputs for OneTerminal {
    fn find(&self, id: &str, look: TerminalPart) -> Option<TerminalOutput> {
        let screen =
            TerminalOutput { command: "ls".to_owned(), output: "a\nb\n".to_owned(), omitted: 0, exit_code: Some(0) };
        let begun = TerminalOutput { command: "ls".to_owned(), ..TerminalOutput::default() };
        (id == "term-1").then_some(if look == TerminalPart::Whole { screen } else { begun })
    }
}

fn translate(translator: &mut Translator, update: Value) -> Vec<AgentReport> {
    translator.update(update, &OneTerminal)
}

/// The reports of a turn in which these updates come, a line each.
#[expect(clippy::needless_pass_by_value, reason = "they are made where they are told")]
fn reports_of(updates: Value) -> String {
    let mut translator = Translator::default();
    translator.begin_turn();
    let updates = updates.as_array().unwrap().iter().cloned();
    let mut reports: Vec<_> = updates.flat_map(|update| translate(&mut translator, update)).collect();
    reports.extend(translator.end_turn(Ok(json!({ "stopReason": "end_turn" })), &OneTerminal));
    lines(&reports)
}

fn text(text: &str) -> Value {
    json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } })
}

fn thought(text: &str) -> Value {
    json!({ "sessionUpdate": "agent_thought_chunk", "content": { "type": "text", "text": text } })
}

fn call(id: &str, mut rest: Value) -> Value {
    rest["sessionUpdate"] = json!("tool_call_update");
    rest["toolCallId"] = json!(id);
    rest
}

fn shows(id: &str, texts: &[&str]) -> Value {
    let items = texts.iter().map(|text| json!({ "type": "content", "content": { "type": "text", "text": text } }));
    call(id, json!({ "content": items.collect::<Vec<_>>() }))
}

#[test]
fn words_of_one_kind_share_a_block_until_something_comes_between() {
    let with_id = |words: &str, id: &str| {
        let mut update = text(words);
        update["messageId"] = json!(id);
        update
    };
    let reports = reports_of(json!([
        thought("hm"),
        text("a"),
        text(""),
        text("b"),
        with_id("c", "m1"),
        with_id("d", "m2"),
        json!({ "sessionUpdate": "user_message_chunk", "content": { "type": "text", "text": "me" } }),
        text("e"),
        call("x", json!({ "title": "look" })),
        text("f"),
        call("x", json!({ "status": "completed" })),
        text("g"),
        call("y", json!({})),
        with_id("i", "m3"),
        call("y", json!({ "status": "failed" })),
        with_id("j", "m3"),
        json!({ "sessionUpdate": "plan", "entries": [{ "content": "do", "priority": "low", "status": "in_progress" }] }),
        json!({ "sessionUpdate": "plan", "entries": [{ "content": "do", "priority": "low", "status": "in_progress" }] }),
        text("h"),
    ]));
    assert_snapshot!(reports, @r#"
    thought 0 "hm"
    text 1 "a"
    text 1 "b"
    text 2 "c"
    text 3 "d"
    text 3 "e"
    tool 1 started "x" {"title":"look"}
    text 4 "f"
    tool 1 {"status":"completed"}
    text 5 "g"
    tool 2 started "y" {}
    text 6 "i"
    tool 2 {"status":"failed"}
    text 6 "j"
    plan [{"text":"do","status":"running","priority":"low"}]
    text 7 "h"
    stopped {"outcome":"completed"}
    "#);
}

#[test]
fn a_change_carries_only_what_differs() {
    let reports = reports_of(json!([
        { "sessionUpdate": "tool_call", "toolCallId": "x", "title": "Read", "kind": "read", "status": "pending",
          "locations": [{ "path": "/p/a", "line": 3 }], "rawInput": { "path": "/p/a" }, "content": [] },
        { "sessionUpdate": "tool_call", "toolCallId": "x", "title": "Read a", "kind": "read", "status": "in_progress",
          "locations": [{ "path": "/p/a", "line": 3 }], "rawInput": { "path": "/p/a" } },
        call("x", json!({ "status": "in_progress", "title": null, "kind": "mystery" })),
        call("x", json!({ "status": "completed", "rawOutput": { "lines": 3 }, "locations": [] })),
        call("x", json!({ "status": "in_progress", "rawOutput": { "lines": 3 } })),
        call("y", json!({ "status": "failed", "name": "Bash" })),
    ]));
    assert_snapshot!(reports, @r#"
    tool 1 started "x" {"title":"Read","kind":"read","locations":[{"path":"/p/a","line":3}],"input":{"path":"/p/a"}}
    tool 1 {"title":"Read a","status":"running"}
    tool 1 {"kind":"other"}
    tool 1 {"status":"completed","locations":[],"output":{"lines":3}}
    tool 2 started "y" {"name":"Bash"}
    tool 2 {"status":"failed"}
    stopped {"outcome":"completed"}
    "#);
}

#[test]
fn a_text_that_grew_is_told_by_its_growth() {
    let reports = reports_of(json!([
        shows("x", &["one"]),
        shows("x", &["one"]),
        shows("x", &["one two"]),
        shows("x", &["one two", "three"]),
        shows("x", &["one two", "three four"]),
        shows("x", &["one", "three four five"]),
        call(
            "x",
            json!({ "status": "completed", "content": [
            { "type": "content", "content": { "type": "text", "text": "one" } },
            { "type": "content", "content": { "type": "text", "text": "three four five six" } },
        ] })
        ),
    ]));
    assert_snapshot!(reports, @r#"
    tool 1 started "x" {"content":[{"type":"text","text":"one"}]}
    tool 1 " two"
    tool 1 {"content":[{"type":"text","text":"one two"},{"type":"text","text":"three"}]}
    tool 1 " four"
    tool 1 {"content":[{"type":"text","text":"one"},{"type":"text","text":"three four five"}]}
    tool 1 " six"
    tool 1 {"status":"completed"}
    stopped {"outcome":"completed"}
    "#);
}

#[test]
fn all_sorts_of_content_are_shown_or_kept_as_they_came() {
    let reports = reports_of(json!([call(
        "x",
        json!({ "content": [
        { "type": "diff", "path": "/p/a", "oldText": "a", "newText": "b" },
        { "type": "diff", "path": "/p/new", "newText": "b" },
        { "type": "content", "content": { "type": "image", "data": "AA==", "mimeType": "image/png" } },
        { "type": "content", "content": { "type": "resource_link", "uri": "file:///p/a", "name": "a" } },
        { "type": "content", "content": { "type": "resource", "resource": { "uri": "file:///p/b", "text": "inside" } } },
        { "type": "content", "content": { "type": "resource", "resource": { "uri": "file:///p/c", "blob": "AA==" } } },
        { "type": "content", "content": { "type": "audio", "data": "AA==", "mimeType": "audio/wav" } },
        { "type": "hologram", "depth": 3 },
        { "type": "terminal", "terminalId": "gone" },
    ] })
    )]));
    assert_snapshot!(reports, @r#"
    tool 1 started "x" {"content":[{"type":"diff","path":"/p/a","oldText":"a","newText":"b"},{"type":"diff","path":"/p/new","newText":"b"},{"type":"image","mimeType":"image/png","data":"AA=="},{"type":"link","uri":"file:///p/a","name":"a"},{"type":"link","uri":"file:///p/b","name":"file:///p/b"},{"type":"text","text":"inside"},{"type":"raw","value":{"type":"content","content":{"type":"resource","resource":{"uri":"file:///p/c","blob":"AA=="}}}},{"type":"raw","value":{"type":"content","content":{"type":"audio","data":"AA==","mimeType":"audio/wav"}}},{"type":"raw","value":{"type":"hologram","depth":3}},{"type":"raw","value":{"type":"terminal","terminalId":"gone"}}]}
    stopped {"outcome":"completed"}
    "#);
}

#[test]
fn a_terminal_of_the_agents_own_is_told_as_it_prints() {
    let with = |meta: Value, mut rest: Value| {
        rest["_meta"] = meta;
        call("x", rest)
    };
    let prints = |data: &str| with(json!({ "terminal_output": { "terminal_id": "t", "data": data } }), json!({}));
    let reports = reports_of(json!([
        with(
            json!({ "terminal_info": { "terminal_id": "t" } }),
            json!({ "rawInput": { "command": "make" }, "content": [{ "type": "terminal", "terminalId": "t" }] })
        ),
        prints("one\n"),
        with(json!({ "terminal_output": { "terminal_id": "other", "data": "not this" } }), json!({})),
        with(json!({ "terminal_output_delta": { "terminal_id": "t", "data": "two\n" } }), json!({})),
        with(
            json!({ "terminal_exit": { "terminal_id": "t", "exit_code": 2, "signal": null } }),
            json!({ "status": "failed" })
        ),
    ]));
    assert_snapshot!(reports, @r#"
    tool 1 started "x" {"content":[{"type":"terminal","command":"make","output":""}],"input":{"command":"make"}}
    tool 1 "one\n"
    tool 1 "two\n"
    tool 1 {"status":"failed","content":[{"type":"terminal","command":"make","output":"one\ntwo\n","exitCode":2}]}
    stopped {"outcome":"completed"}
    "#);
}

/// Codex runs commands that it takes for mere reading in this way: there is output, and no terminal is shown.
#[test]
fn what_is_printed_without_a_terminal_is_told_at_the_end() {
    let prints = |data: &str| {
        let piece = json!({ "terminal_id": "x", "data": data });
        call("x", json!({ "_meta": { "terminal_output_delta": piece } }))
    };
    let reports = reports_of(json!([
        call("x", json!({ "title": "Read file 'a'", "kind": "read" })),
        prints("one\n"),
        prints("two\n"),
        call("x", json!({ "status": "completed", "content": null, "rawOutput": { "exit_code": 0 } })),
        prints("too late"),
    ]));
    assert_snapshot!(reports, @r#"
    tool 1 started "x" {"title":"Read file 'a'","kind":"read"}
    tool 1 {"status":"completed","content":[{"type":"text","text":"one\ntwo\n"}],"output":{"exit_code":0}}
    stopped {"outcome":"completed"}
    "#);
}

#[test]
fn a_terminal_of_ours_is_shown_whole_when_its_call_or_the_turn_ends() {
    let terminal = |id| call(id, json!({ "content": [{ "type": "terminal", "terminalId": "term-1" }] }));
    let reports = reports_of(json!([terminal("x"), terminal("y"), call("x", json!({ "status": "completed" }))]));
    assert_snapshot!(reports, @r#"
    tool 1 started "x" {"content":[{"type":"terminal","command":"ls","output":""}]}
    tool 2 started "y" {"content":[{"type":"terminal","command":"ls","output":""}]}
    tool 1 {"status":"completed","content":[{"type":"terminal","command":"ls","output":"a\nb\n","exitCode":0}]}
    tool 2 {"content":[{"type":"terminal","command":"ls","output":"a\nb\n","exitCode":0}]}
    stopped {"outcome":"completed"}
    "#);
}

#[test]
fn what_is_too_large_is_cut_and_said_to_be() {
    let large = "ü".repeat(MAX_KEPT_BYTES);
    let mut translator = Translator::default();
    translator.begin_turn();
    let mut update = shows("x", &["before", &large, "after"]);
    update["rawInput"] = json!({ "a": 1, "text": large, "z": 2 });
    update["rawOutput"] = json!(large);
    let reports = translate(&mut translator, update);
    let [AgentReport::ToolStarted { change, .. }] = &reports[..] else { panic!("{}", lines(&reports)) };
    let kept = "ü".repeat((MAX_KEPT_BYTES - 6) / 2);
    assert_eq!(
        change.content.clone().unwrap(),
        [
            model::ToolContent::Text { text: "before".to_owned() },
            model::ToolContent::Text { text: kept.clone() },
            model::ToolContent::Omitted { bytes: (2 * MAX_KEPT_BYTES - kept.len() + 5) as u64 },
        ]
    );
    let input = change.input.clone().unwrap();
    assert_eq!((&input["a"], &input["z"]), (&json!(1), &Value::Null));
    assert_eq!(input["omitted"]["type"], "omitted");
    assert!(input["text"].as_str().unwrap().len() > MAX_KEPT_BYTES - 100);
    let output = change.output.clone().unwrap();
    assert_eq!(output[0].as_str().unwrap().len(), MAX_KEPT_BYTES);
    assert_eq!(output[1], json!({ "type": "omitted", "bytes": MAX_KEPT_BYTES }));
}

#[test]
fn output_that_grows_without_end_is_told_about_once() {
    let mut translator = Translator::default();
    translator.begin_turn();
    let mut reports = 0;
    let mut output = String::new();
    for n in 0..60 {
        output.push_str(&format!("{n} ").repeat(4_000));
        for report in translate(&mut translator, shows("x", &[&output])) {
            reports += format!("{report:?}").len();
        }
    }
    let end = translate(&mut translator, call("x", json!({ "status": "completed" })));
    assert_eq!(end.len(), 1);
    assert!(reports < 3 * MAX_KEPT_BYTES, "{reports} bytes reported of {}", output.len());
}

#[test]
fn what_changes_whole_again_and_again_waits_for_the_end() {
    let mut translator = Translator::default();
    translator.begin_turn();
    let mut reports = 0;
    for n in 0..300 {
        let page = format!("{n} ").repeat(3_000);
        let mut update = shows("x", &[&page]);
        update["rawInput"] = json!({ "page": page });
        reports += translate(&mut translator, update).iter().map(|report| format!("{report:?}").len()).sum::<usize>();
    }
    assert!(reports < 3 << 20, "{reports}");
    let end = lines(&translate(&mut translator, call("x", json!({ "status": "completed" }))));
    assert!(end.contains("299 299") && end.contains("page"), "{}", &end[..200]);
}

#[test]
fn what_nobody_knows_is_kept_as_it_came() {
    let reports = reports_of(json!([
        { "sessionUpdate": "telepathy", "strength": 9 },
        { "sessionUpdate": "agent_message_chunk", "content": { "type": "smell", "of": "roses" } },
        { "sessionUpdate": "agent_message_chunk", "content": { "type": "image", "data": "AA==", "mimeType": "image/png" } },
        { "sessionUpdate": "tool_call_update", "title": "no id" },
        { "no": "kind" },
        17,
    ]));
    assert_snapshot!(reports, @r#"
    raw {"sessionUpdate":"telepathy","strength":9}
    raw {"sessionUpdate":"agent_message_chunk","content":{"type":"smell","of":"roses"}}
    raw {"sessionUpdate":"agent_message_chunk","content":{"type":"image","data":"AA==","mimeType":"image/png"}}
    raw {"sessionUpdate":"tool_call_update","title":"no id"}
    raw {"no":"kind"}
    raw 17
    stopped {"outcome":"completed"}
    "#);
}

#[test]
fn what_comes_between_turns_is_late() {
    let mut translator = Translator::default();
    let reports = [text("boo"), call("x", json!({ "title": "t" })), json!({ "sessionUpdate": "plan", "entries": [] })]
        .into_iter()
        .flat_map(|update| translate(&mut translator, update));
    assert_snapshot!(lines(&reports.collect::<Vec<_>>()), @r#"
    raw {"late":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"boo"}}}
    raw {"late":{"title":"t","sessionUpdate":"tool_call_update","toolCallId":"x"}}
    raw {"late":{"sessionUpdate":"plan","entries":[]}}
    "#);
}

/// The kind and input are those of the call, whichever message carried them: the policy reads them.
#[test]
fn a_question_beside_the_turns_knows_the_call_that_it_is_about() {
    let mut translator = Translator::default();
    translator.begin_turn();
    translate(
        &mut translator,
        call("x", json!({ "title": "Watch", "kind": "execute", "rawInput": { "command": "make" } })),
    );
    translator.end_turn(Ok(json!({ "stopReason": "end_turn" })), &OneTerminal);
    translate(
        &mut translator,
        call("y", json!({ "title": "Write", "kind": "edit", "rawInput": { "file_path": "/p/a" } })),
    );
    let mut all = Vec::new();
    for id in ["x", "y", "z"] {
        let TranslatedQuestion { reports, question, .. } =
            translator.ask(permission(id, json!({ "title": "May I?" })), &OneTerminal);
        all.extend(reports);
        all.push(AgentReport::Asked(Question { options: Vec::new(), digest: None, ..question }));
    }
    assert_snapshot!(lines(&all), @r#"
    raw {"late":{"title":"May I?","toolCallId":"x"}}
    asked {"title":"May I?","kind":"execute","subject":"make","options":[]}
    raw {"late":{"title":"May I?","toolCallId":"y"}}
    asked {"title":"May I?","kind":"edit","subject":"/p/a","options":[]}
    raw {"late":{"title":"May I?","toolCallId":"z"}}
    asked {"title":"May I?","kind":"other","options":[]}
    "#);
    translator.begin_turn();
    let TranslatedQuestion { question, .. } =
        translator.ask(permission("x", json!({ "title": "May I?" })), &OneTerminal);
    assert_eq!((question.tool, question.subject), (Some(1), None), "a turn knows its own calls alone");
}

#[test]
fn of_a_record_that_is_read_again_only_the_present_is_told() {
    let mut translator = Translator::default();
    translator.begin_replay();
    let updates = [
        text("old words"),
        call("x", json!({ "title": "old call" })),
        json!({ "sessionUpdate": "session_info_update", "title": "old title" }),
        json!({ "sessionUpdate": "telepathy" }),
        json!({ "sessionUpdate": "available_commands_update", "availableCommands": [{ "name": "go", "description": "Goes" }] }),
        json!({ "sessionUpdate": "usage_update", "used": 10, "size": 100 }),
    ];
    let reports: Vec<_> = updates.into_iter().flat_map(|update| translate(&mut translator, update)).collect();
    assert_snapshot!(lines(&reports), @r#"
    commands [{"name":"go","description":"Goes"}]
    usage {"used":10,"size":100}
    "#);
    translator.end_replay();
    translator.begin_turn();
    assert_snapshot!(lines(&translate(&mut translator, text("new words"))), @r#"text 0 "new words""#);
}

#[test]
fn the_rest_of_what_agents_say() {
    let usage = json!({ "sessionUpdate": "usage_update", "used": 10, "size": 100, "cost": { "amount": 0.00001, "currency": "USD" } });
    let title = |title| json!({ "sessionUpdate": "session_info_update", "title": title });
    let reports = reports_of(json!([
        usage, usage, title(json!("A title")), title(json!("A title")), title(json!(null)),
        { "sessionUpdate": "available_commands_update", "availableCommands": [
            { "name": "plan", "description": "Plans", "input": { "hint": "what" } }, { "name": "go", "description": "Goes" }] },
        { "sessionUpdate": "notice", "severity": "warning", "title": "careful" },
        { "sessionUpdate": "notice", "severity": "odd", "title": "well", "description": "at length" },
        { "sessionUpdate": "compaction_update", "compactionId": "c1", "status": "in_progress" },
        { "sessionUpdate": "compaction_summary_chunk", "compactionId": "c1", "content": { "type": "text", "text": "all " } },
        { "sessionUpdate": "compaction_summary_chunk", "compactionId": "c1", "content": { "type": "text", "text": "in all" } },
        { "sessionUpdate": "compaction_update", "compactionId": "c1", "status": "completed" },
        { "sessionUpdate": "compaction_update", "compactionId": "c1", "status": "completed" },
        { "sessionUpdate": "compaction_update", "compactionId": "c2", "status": "failed", "error": "no room" },
    ]));
    assert_snapshot!(reports, @r#"
    usage {"used":10,"size":100,"cost":{"amount":"0.00001","currency":"USD"}}
    title "A title"
    commands [{"name":"plan","description":"Plans","hint":"what"},{"name":"go","description":"Goes"}]
    noticed {"severity":"warning","title":"careful"}
    noticed {"severity":"info","title":"well","description":"at length"}
    compacted Some("all in all")
    noticed {"severity":"warning","title":"The agent could not make room in its window","description":"no room"}
    stopped {"outcome":"completed"}
    "#);
}

#[test]
fn modes_and_options_are_one_list() {
    let modes = json!({ "currentModeId": "ask", "availableModes": [
        { "id": "ask", "name": "Ask" }, { "id": "code", "name": "Code", "description": "Writes" }] });
    let model = json!({ "id": "model", "name": "Model", "category": "model", "type": "select", "currentValue": "a",
        "options": [{ "group": "g", "name": "G", "options": [{ "value": "a", "name": "A" }, { "value": "b", "name": "B" }] }] });
    let fast = json!({ "id": "fast", "name": "Fast", "type": "boolean", "currentValue": false });
    let mut translator = Translator::default();
    let mut reports = translator
        .offered(serde_json::from_value(modes.clone()).unwrap(), serde_json::from_value(json!([model, fast])).unwrap());
    reports
        .extend(translate(&mut translator, json!({ "sessionUpdate": "current_mode_update", "currentModeId": "code" })));
    reports.extend(translator.option_set("fast", "true", None));
    assert_snapshot!(lines(&reports), @r#"
    options [{"id":"mode","name":"Mode","category":"mode","value":"ask","choices":[{"value":"ask","name":"Ask"},{"value":"code","name":"Code","description":"Writes"}]},{"id":"model","name":"Model","category":"model","value":"a","choices":[{"value":"a","name":"A"},{"value":"b","name":"B"}]},{"id":"fast","name":"Fast","category":"other","value":"false","choices":[]}]
    options [{"id":"mode","name":"Mode","category":"mode","value":"code","choices":[{"value":"ask","name":"Ask"},{"value":"code","name":"Code","description":"Writes"}]},{"id":"model","name":"Model","category":"model","value":"a","choices":[{"value":"a","name":"A"},{"value":"b","name":"B"}]},{"id":"fast","name":"Fast","category":"other","value":"false","choices":[]}]
    options [{"id":"mode","name":"Mode","category":"mode","value":"code","choices":[{"value":"ask","name":"Ask"},{"value":"code","name":"Code","description":"Writes"}]},{"id":"model","name":"Model","category":"model","value":"a","choices":[{"value":"a","name":"A"},{"value":"b","name":"B"}]},{"id":"fast","name":"Fast","category":"other","value":"true","choices":[]}]
    "#);
    let settings =
        ["mode", "model", "fast", "other"].map(|option| translator.find_option(option).map(|offer| offer.setting));
    assert_eq!(settings, [Some(OptionSetter::Mode), Some(OptionSetter::Choice), Some(OptionSetter::Switch), None]);

    // The mode is offered twice, in the old form and in the new.
    let mode = json!({ "id": "permissions", "name": "Mode", "category": "mode", "type": "select", "currentValue": "ask",
        "options": [{ "value": "ask", "name": "Ask" }] });
    let mut translator = Translator::default();
    let reports =
        translator.offered(serde_json::from_value(modes).unwrap(), serde_json::from_value(json!([mode])).unwrap());
    assert_snapshot!(lines(&reports), @r#"options [{"id":"permissions","name":"Mode","category":"mode","value":"ask","choices":[{"value":"ask","name":"Ask"}]}]"#);
    assert_eq!(translator.find_option("mode"), None);
}

fn permission(id: &str, mut call: Value) -> QuestionRequest {
    call["toolCallId"] = json!(id);
    let options = json!([{ "optionId": "yes", "name": "Yes", "kind": "allow_once" },
        { "optionId": "no", "name": "No", "kind": "reject_once" }]);
    QuestionRequest::permission(&json!({ "sessionId": "s", "toolCall": call, "options": options })).unwrap()
}

#[test]
fn a_question_shows_what_is_really_to_be_done() {
    let mut translator = Translator::default();
    translator.begin_turn();
    let mut all = translate(&mut translator, text("I will"));
    all.extend(translate(
        &mut translator,
        call("x", json!({ "title": "List files", "kind": "execute", "rawInput": { "command": "rm -rf /" } })),
    ));
    let TranslatedQuestion { reports, question, .. } =
        translator.ask(permission("x", json!({ "title": "List files" })), &OneTerminal);
    all.extend(reports);
    all.push(AgentReport::Asked(question));
    let TranslatedQuestion { reports, question, .. } = translator.ask(
        permission("new", json!({ "content": [{ "type": "diff", "path": "/p/a", "newText": "" }] })),
        &OneTerminal,
    );
    all.extend(reports);
    all.push(AgentReport::Asked(question));
    all.extend(translate(&mut translator, text("I did")));
    assert_snapshot!(lines(&all), @r#"
    text 0 "I will"
    tool 1 started "x" {"title":"List files","kind":"execute","input":{"command":"rm -rf /"}}
    asked {"tool":1,"title":"List files","kind":"execute","subject":"rm -rf /","digest":"27fcdc81274547bf2f10b72cabfb0f1f9bcab38d0370c563c555885e95058f9e","options":[{"id":"yes","name":"Yes","kind":"allow_once"},{"id":"no","name":"No","kind":"reject_once"}]}
    tool 2 started "new" {"content":[{"type":"diff","path":"/p/a","newText":""}]}
    asked {"tool":2,"title":"","kind":"other","subject":"/p/a","options":[{"id":"yes","name":"Yes","kind":"allow_once"},{"id":"no","name":"No","kind":"reject_once"}]}
    text 1 "I did"
    "#);
}

#[test]
fn a_change_that_is_shown_later_is_another_question_about_the_same_input() {
    let ask = |text: &str| {
        let mut translator = Translator::default();
        translator.begin_turn();
        translate(&mut translator, call("x", json!({ "kind": "edit", "rawInput": { "file_path": "/p/a" } })));
        let shown = json!({ "content": [{ "type": "diff", "path": "/elsewhere", "newText": text }] });
        translator.ask(permission("x", shown), &OneTerminal).question
    };
    assert_eq!(ask("one").digest, ask("one").digest);
    assert_ne!(ask("one").digest.unwrap(), ask("two").digest.unwrap());
    assert_eq!(ask("one").subject.as_deref(), Some("/p/a"));
}

#[test]
fn a_form_and_an_address_are_questions() {
    let ask = |request: Value| {
        let mut translator = Translator::default();
        translator.begin_turn();
        let asking = QuestionRequest::Elicitation(serde_json::from_value(request).unwrap());
        lines(&[AgentReport::Asked(translator.ask(asking, &OneTerminal).question)])
    };
    let form = json!({ "sessionId": "s", "mode": "form", "message": "Which branch?", "requestedSchema": {
        "type": "object", "properties": { "branch": { "type": "string" } }, "required": ["branch"] } });
    assert_snapshot!(ask(form), @r#"asked {"title":"Which branch?","kind":"other","options":[{"id":"accept","name":"Accept","kind":"allow_once"},{"id":"decline","name":"Decline","kind":"reject_once"}],"form":{"type":"object","properties":{"branch":{"type":"string"}},"required":["branch"]}}"#);
    let url =
        json!({ "sessionId": "s", "mode": "url", "message": "Sign in", "elicitationId": "e1", "url": "https://x.y" });
    assert_snapshot!(ask(url), @r#"asked {"title":"Sign in","kind":"other","subject":"https://x.y","options":[{"id":"accept","name":"Accept","kind":"allow_once"},{"id":"decline","name":"Decline","kind":"reject_once"}]}"#);
}

#[test]
fn a_turn_ends_as_the_agent_says() {
    let end = |answer: Result<Value, TurnError>| lines(&Translator::default().end_turn(answer, &OneTerminal));
    let reasons = ["end_turn", "cancelled", "max_tokens", "max_turn_requests", "refusal", "bored\u{1b}[2J"];
    let reports: String = reasons.iter().map(|reason| end(Ok(json!({ "stopReason": reason })))).collect();
    assert_snapshot!(reports, @r#"
    stopped {"outcome":"completed"}
    stopped {"outcome":"cancelled"}
    stopped {"outcome":"completed","reason":"max_tokens"}
    stopped {"outcome":"completed","reason":"max_turn_requests"}
    stopped {"outcome":"completed","reason":"refusal"}
    stopped {"outcome":"completed","reason":"bored [2J"}
    "#);
    assert_snapshot!(end(Ok(json!(null))), @r#"stopped {"outcome":"failed","reason":"the agent ended the turn without saying how"}"#);
    assert_snapshot!(end(Err(TurnError { message: "no credit".to_owned() })), @r#"stopped {"outcome":"failed","reason":"no credit"}"#);
    let usage = json!({ "stopReason": "end_turn", "usage": { "totalTokens": 3, "inputTokens": 1, "outputTokens": 2 } });
    assert_snapshot!(end(Ok(usage)), @r#"
    usage {"used":0,"size":0,"turn":{"models":[{"input":1,"output":2}]}}
    stopped {"outcome":"completed"}
    "#);
}

/// Some agents offer modes in both forms, and report a change in the older one only.
#[test]
fn a_change_of_mode_is_believed_however_modes_are_offered() {
    let option = |value: &str| {
        let choices = json!([{ "value": "ask", "name": "Ask" }, { "value": "yolo", "name": "YOLO" }]);
        json!([{ "id": "approval", "name": "Approval", "category": "mode", "type": "select", "currentValue": value,
            "options": choices }])
    };
    let modes = json!({ "currentModeId": "ask", "availableModes": [{ "id": "ask", "name": "Ask" }] });
    let mut translator = Translator::default();
    let modes = serde_json::from_value(modes).unwrap();
    translator.offered(Some(modes), Some(serde_json::from_value(option("ask")).unwrap()));
    assert_eq!(translator.find_option("approval").unwrap().value, "ask");
    let reports =
        translate(&mut translator, json!({ "sessionUpdate": "current_mode_update", "currentModeId": "yolo" }));
    assert_eq!(translator.find_option("approval").unwrap().value, "yolo");
    assert_eq!(reports.len(), 1);
}

#[test]
fn long_words_are_told_in_parts() {
    let mut translator = Translator::default();
    translator.begin_turn();
    let words = "€".repeat(100_000);
    let content = json!({ "type": "text", "text": words });
    let reports = translate(&mut translator, json!({ "sessionUpdate": "agent_message_chunk", "content": content }));
    let parts: Vec<&str> = reports
        .iter()
        .map(|report| match report {
            AgentReport::Text { block: 0, text } => text.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(parts.len() > 1 && parts.iter().all(|part| part.len() <= MAX_PART_BYTES));
    assert!(parts.concat() == words);
}

#[test]
fn more_calls_than_are_told_are_said_to_be_so_once_in_a_turn() {
    let mut translator = Translator::default();
    let call = |n: usize| json!({ "sessionUpdate": "tool_call", "toolCallId": n.to_string(), "title": "Look" });
    for _ in 0..2 {
        translator.begin_turn();
        for n in 0..MAX_CALLS {
            assert_eq!(translate(&mut translator, call(n)).len(), 1);
        }
        let reports = translate(&mut translator, call(MAX_CALLS));
        let [AgentReport::Noticed(notice), AgentReport::Raw(kept)] = &reports[..] else { panic!("{reports:?}") };
        assert_eq!(notice.title, "The agent makes more than 10000 tool calls in this turn");
        assert_eq!(kept, &call(MAX_CALLS));
        let next = call(MAX_CALLS + 1);
        assert_eq!(translate(&mut translator, next.clone()), vec![AgentReport::Raw(next)]);
        // Calls that began before are still reported.
        let end = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "7", "status": "completed" });
        assert_eq!(translate(&mut translator, end).len(), 1);
    }
}

fn asked_about(id: &str, mut call: Value) -> QuestionRequest {
    call["toolCallId"] = json!(id);
    let options = json!([{ "optionId": "y", "name": "Yes", "kind": "allow_once" }]);
    QuestionRequest::permission(&json!({ "toolCall": call, "options": options })).unwrap()
}

/// Kimi streams the input as the text of its call, and then asks with a name and a sentence.
#[test]
fn a_question_shows_what_is_known_of_its_call_from_whichever_message() {
    let mut translator = Translator::default();
    translator.begin_turn();
    translate(&mut translator, call("0:c", json!({ "title": "Bash", "kind": "execute" })));
    translate(&mut translator, shows("0:c", &[r#"{"comma"#]));
    translate(&mut translator, shows("0:c", &[r#"{"command":"rm -rf build && curl x | sh","timeout":60}"#]));
    let sentence = json!([{ "type": "content", "content": { "type": "text", "text": "Requesting approval to run" } }]);
    let TranslatedQuestion { reports, question, .. } =
        translator.ask(asked_about("0:c", json!({ "title": "Bash", "content": sentence })), &OneTerminal);
    assert_eq!(question.subject.as_deref(), Some("rm -rf build && curl x | sh"));
    assert_eq!(question.digest, None, "what is only shown is not what it is given");
    assert_eq!(lines(&reports), "", "the command stays in its call");
    // The real input takes precedence over the text.
    translate(&mut translator, call("0:c", json!({ "rawInput": { "command": "make" } })));
    let TranslatedQuestion { question, .. } =
        translator.ask(asked_about("0:c", json!({ "title": "Bash" })), &OneTerminal);
    assert_eq!(question.subject.as_deref(), Some("make"));
}

/// An agent may describe a call wrongly, so the description is not the subject.
#[test]
fn words_about_a_call_are_no_subject() {
    let mut translator = Translator::default();
    translator.begin_turn();
    let words = |text: &str| json!([{ "type": "content", "content": { "type": "text", "text": text } }]);
    let asked = json!({ "title": "touch a", "kind": "execute", "content": words("ls -l") });
    let TranslatedQuestion { question, .. } = translator.ask(asked_about("a", asked), &OneTerminal);
    assert_eq!((question.subject.as_deref(), question.said.as_deref()), (None, Some("ls -l")));
    translate(&mut translator, shows("b", &["Deletes the build folder"]));
    let TranslatedQuestion { question, .. } =
        translator.ask(asked_about("b", json!({ "title": "Shell" })), &OneTerminal);
    assert_eq!((question.subject.as_deref(), question.said.as_deref()), (None, Some("Deletes the build folder")));
    let TranslatedQuestion { question, .. } =
        translator.ask(asked_about("c", json!({ "title": "Shell" })), &OneTerminal);
    assert_eq!((question.subject, question.said), (None, None));
}

#[test]
fn the_name_of_a_tool_does_not_take_the_place_of_what_its_call_was_called() {
    let mut translator = Translator::default();
    translator.begin_turn();
    let command = format!("rm -rf build{} # end", " x".repeat(2_000));
    translate(&mut translator, call("a", json!({ "title": command, "kind": "execute" })));
    let TranslatedQuestion { reports, question, .. } =
        translator.ask(asked_about("a", json!({ "title": "Bash" })), &OneTerminal);
    assert_eq!((question.title, question.subject), (command, None));
    assert_eq!(lines(&reports), "");
    // Another sentence does replace it, and a name where there was none.
    let TranslatedQuestion { question, .. } =
        translator.ask(asked_about("a", json!({ "title": "Run it?" })), &OneTerminal);
    assert_eq!(question.title, "Run it?");
    let TranslatedQuestion { question, .. } =
        translator.ask(asked_about("b", json!({ "title": "Bash" })), &OneTerminal);
    assert_eq!(question.title, "Bash");
}

/// Gemini replies that it has loaded its record while it still replays it.
#[test]
fn a_record_that_is_still_read_after_the_reply_is_of_the_past() {
    let mut translator = Translator::default();
    translator.begin_replay();
    translator.end_replay();
    let updates = [text("old words"), thought("old"), call("x", json!({ "title": "old call" }))];
    let reports: Vec<_> = updates.into_iter().flat_map(|update| translate(&mut translator, update)).collect();
    assert_eq!(lines(&reports), "");
    translator.begin_turn();
    assert_snapshot!(lines(&translate(&mut translator, text("new words"))), @r#"text 0 "new words""#);
}

#[test]
fn tokens_beside_words_are_added_up_and_told_at_the_end() {
    let counted = |words: &str, input: u32| {
        let mut update = text(words);
        update["_meta"] = json!({ "usage": { "inputTokens": input, "outputTokens": 5, "thoughtTokens": 1 } });
        update
    };
    let reports = reports_of(json!([text("a"), counted("", 10), counted("b", 20)]));
    assert_snapshot!(reports, @r#"
    text 0 "a"
    text 0 "b"
    usage {"used":0,"size":0,"turn":{"models":[{"input":30,"output":10,"thought":2}]}}
    stopped {"outcome":"completed"}
    "#);
}

#[test]
fn models_and_tokens_are_read_in_geminis_way() {
    let mut translator = Translator::default();
    let models = json!({ "currentModelId": "auto", "availableModels": [
        { "modelId": "auto", "name": "Auto", "description": "Chooses" }, { "modelId": "pro", "name": "" }, {}] });
    translator.read_models(&json!({ "models": models }));
    assert_snapshot!(lines(&translator.offered(None, None)), @r#"options [{"id":"model","name":"Model","category":"model","value":"auto","choices":[{"value":"auto","name":"Auto","description":"Chooses"},{"value":"pro","name":"pro"}]}]"#);
    assert_eq!(translator.find_option("model").unwrap().setting, OptionSetter::Model);
    assert_snapshot!(lines(&translator.option_set("model", "pro", None)), @r#"options [{"id":"model","name":"Model","category":"model","value":"pro","choices":[{"value":"auto","name":"Auto","description":"Chooses"},{"value":"pro","name":"pro"}]}]"#);
    // An agent that also offers an option means the same models.
    let option = json!([{ "id": "m", "name": "Model", "category": "model", "type": "select", "currentValue": "pro",
        "options": [{ "value": "pro", "name": "Pro" }] }]);
    assert_snapshot!(lines(&translator.option_set("m", "pro", serde_json::from_value(option).unwrap())), @r#"options [{"id":"m","name":"Model","category":"model","value":"pro","choices":[{"value":"pro","name":"Pro"}]}]"#);

    translator.begin_turn();
    let count = json!({ "token_count": { "input_tokens": 30, "output_tokens": 4 } });
    let answer = json!({ "stopReason": "end_turn", "_meta": { "quota": count } });
    assert_snapshot!(lines(&translator.end_turn(Ok(answer), &OneTerminal)), @r#"
    usage {"used":0,"size":0,"turn":{"models":[{"model":"pro","input":30,"output":4}]}}
    stopped {"outcome":"completed"}
    "#);
}

/// As codex-acp 2.6.0 sent it while its model's server answered 500.
#[test]
fn a_request_to_the_model_that_is_made_again_is_told() {
    let error = |message: &str, again: bool| {
        json!({ "sessionUpdate": "session_info_update", "_meta": { "codex": { "error": {
            "message": message, "codexErrorInfo": { "responseStreamDisconnected": { "httpStatusCode": null } },
            "additionalDetails": "We are currently experiencing high demand.", "willRetry": again } } } })
    };
    let status = json!({ "sessionUpdate": "session_info_update",
        "_meta": { "codex": { "threadStatus": { "type": "active", "activeFlags": [] } } } });
    let reports = reports_of(json!([
        status,
        error("Reconnecting... 1/5", true),
        error("Reconnecting... 1/5", true),
        error("Reconnecting... 2/5", true),
        error("given up", false),
        text("high demand"),
    ]));
    assert_snapshot!(reports, @r#"
    noticed {"severity":"info","title":"The model did not answer, and the agent tries again: Reconnecting... 1/5","description":"We are currently experiencing high demand."}
    noticed {"severity":"info","title":"The model did not answer, and the agent tries again: Reconnecting... 2/5","description":"We are currently experiencing high demand."}
    text 0 "high demand"
    stopped {"outcome":"completed"}
    "#);
    let mut translator = Translator::default();
    translator.begin_turn();
    let many = (0..100).flat_map(|n| translate(&mut translator, error(&n.to_string(), true))).count();
    assert_eq!(many, 20);
}

#[test]
fn a_call_is_open_until_it_has_ended() {
    let mut translator = Translator::default();
    translator.begin_turn();
    let mut open = Vec::new();
    for (id, status) in
        [("a", "pending"), ("b", "in_progress"), ("a", "completed"), ("b", "failed"), ("b", "in_progress")]
    {
        translate(&mut translator, call(id, json!({ "status": status })));
        open.push(translator.has_open_call());
    }
    assert_eq!(open, [true, true, true, false, false]);
}
