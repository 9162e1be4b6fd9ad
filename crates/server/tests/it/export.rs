//! `/sessions/{id}/export` and `/imports/bundle`: a session taken along, and taken in elsewhere as the same one.

use std::fs;
use std::path::PathBuf;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::client::bearer;
use crate::mcp::{Client, Era};
use crate::outputs::showing;
use crate::support::{OutputRoom, World};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n and so on \x00\xff";
const TEXT: &str = "fn main() {\n    \"<script>\";\n}\n";

/// A session whose agent has shown a text and a picture and has come to rest.
async fn shown(world: &World) -> (String, Vec<Value>) {
    let cwd = world.directory.path().canonicalize().unwrap().join("work");
    fs::create_dir_all(&cwd).unwrap();
    fs::write(cwd.join("main.rs"), TEXT).unwrap();
    fs::write(cwd.join("plot.png"), PNG).unwrap();
    let created = world.call("POST /api/v1/sessions", json!({ "agent": "guide", "cwd": cwd })).await.ok(201);
    let session = created["id"].as_str().unwrap().to_owned();
    world.until_entry(&session, |entry| entry["type"] == "agent.commands_changed").await;
    world.turn(&session, "say **bold** <b>raw</b>").await;
    world.prompt(&session, "slow 3600").await;
    world.until_entry(&session, |entry| entry["type"] == "turn.started" && entry["data"]["turn"] == 2).await;
    let token = world.agent_token(&session).await;
    let agent = Client::open_at(&format!("http://{}/mcp/show", world.address), Era::Stateless, &token).await;
    agent.call("render_file_contents", json!({ "path": "main.rs", "highlight": "rust" })).await;
    agent.call("display_image", json!({ "path": "plot.png" })).await;
    drop(agent);
    world.call(&format!("POST /api/v1/sessions/{session}/cancel"), json!({})).await;
    world.until_entry(&session, |entry| entry["type"] == "turn.ended" && entry["data"]["turn"] == 2).await;
    let page = world.get(&format!("/api/v1/sessions/{session}/outputs")).await.ok(200);
    (session, page["outputs"].as_array().unwrap().clone())
}

fn path(session: &str, format: &str) -> String {
    format!("/api/v1/sessions/{session}/export?as={format}")
}

fn payload(world: &World, session: &str, output: &Value, extension: &str) -> PathBuf {
    let name = format!("{}.{extension}", output["id"].as_str().unwrap());
    world.directory.path().join("sessions").join(session).join("outputs").join(name)
}

#[tokio::test]
async fn a_session_is_written_as_markdown_and_as_a_page_with_what_was_shown() {
    let world = World::on_disk().await;
    let (session, outputs) = shown(&world).await;
    let text = world.get(&path(&session, "markdown")).await.text();
    let id = outputs[0]["id"].as_str().unwrap();
    assert!(text.contains(&format!("3 lines, {id})*\n\n```rust\n{TEXT}```\n")), "{text}");
    assert!(text.contains("plot.png` *(image, "), "{text}");

    let answer = world.get(&path(&session, "html")).await;
    assert_eq!(answer.header("content-type"), Some("application/octet-stream"));
    assert!(answer.header("content-disposition").unwrap().starts_with("attachment; filename=\""));
    assert!(answer.header("content-security-policy").unwrap().contains("sandbox"));
    let html = answer.text();
    let style = html.split("<style>").nth(1).unwrap().split("</style>").next().unwrap();
    let hash = BASE64_STANDARD.encode(Sha256::digest(style));
    assert!(html.contains(&format!("default-src 'none'; img-src data:; style-src 'sha256-{hash}'")), "{html}");
    assert!(html.contains("<strong>bold</strong> &lt;b&gt;raw&lt;/b&gt;"), "{html}");
    assert!(html.contains("<li>    &quot;&lt;script&gt;&quot;;</li>"), "{html}");
    assert!(html.contains(&format!("<img src=\"data:image/png;base64,{}\" alt=", BASE64_STANDARD.encode(PNG))));
    assert!(html.contains("<a href=\"#t1\">") && html.contains("id=\"t2\"") && html.ends_with("</html>\n"));
    assert!(!html.contains("<script") && !html.contains("src=\"http"));

    // What is gone or was edited is said to be, and everything else is there.
    fs::remove_file(payload(&world, &session, &outputs[1], "png")).unwrap();
    fs::write(payload(&world, &session, &outputs[0], "txt"), "edited").unwrap();
    let html = world.get(&path(&session, "html")).await.text();
    assert!(html.contains("its bytes are gone") && html.contains("edited since it was shown"), "{html}");
    let text = world.get(&path(&session, "markdown")).await.text();
    assert!(text.contains("its bytes are gone)*") && text.contains("```rust\nedited\n```"), "{text}");
    world.close().await;
}

#[tokio::test]
async fn nobody_exports_another_session() {
    let world = World::open().await;
    let (own, other) = (world.session().await, world.session().await);
    world.turn(&other, "say secret").await;
    let token = world.agent_token(&own).await;
    for format in ["markdown", "html", "bundle"] {
        let get = |session: &str| format!("GET {}", path(session, format));
        assert_eq!(world.call_as(bearer(&token), &get(&own), None).await.status, 200);
        let answer = world.call_as(bearer(&token), &get(&other), None).await;
        assert!(answer.status == 404 && !answer.text().contains("secret"), "{}", answer.text());
        assert_eq!(world.call_as(Vec::new(), &get(&own), None).await.status, 401);
    }
    assert_eq!(world.get(&path(&own, "pdf")).await.summary(), "400 invalid_query");
    assert_eq!(world.get(&format!("/api/v1/sessions/{own}/export")).await.summary(), "400 invalid_query");
    let body = json!({ "name": "0190a8c0-0000-7000-8000-000000000001" });
    let refused = world.call_as(bearer(&token), "POST /api/v1/imports/bundle", Some(body)).await;
    assert_eq!(refused.summary(), "403 forbidden");
    world.close().await;
}

/// Gives a bundle to a server; its answer.
async fn take_in(world: &World, bundle: &[u8]) -> crate::client::Answer {
    let name = "0190a8c0-0000-7000-8000-0000000000b1";
    let folder = world.directory.path().join("incoming");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(format!("{name}.tar")), bundle).unwrap();
    world.call("POST /api/v1/imports/bundle", json!({ "name": name })).await
}

#[tokio::test]
async fn a_bundle_is_taken_in_as_the_same_session() {
    let world = World::on_disk().await;
    let (session, outputs) = shown(&world).await;
    let answer = world.get(&path(&session, "bundle")).await;
    assert_eq!(answer.header("content-type"), Some("application/octet-stream"));
    let bundle = answer.body.to_vec();
    let entries = world.entries(&session).await;
    assert_eq!(take_in(&world, &bundle).await.ok(200)["wasHere"], true, "where it comes from it is known");
    assert_eq!(world.entries(&session).await, entries);

    let other = World::on_disk().await;
    let taken = take_in(&other, &bundle).await.ok(200);
    let counts = json!({ "session": session, "entries": entries.len(), "payloads": 2, "missing": 0, "wasHere": false });
    assert_eq!(taken, counts);
    let here = other.entries(&session).await;
    assert_eq!(here[..entries.len()], entries[..]);
    assert!(here[entries.len()..].iter().any(|entry| entry["type"] == "session.imported"), "{here:?}");
    let row = other.get(&format!("/api/v1/sessions/{session}")).await.ok(200);
    assert_eq!(row["readOnly"], "imported");
    for (output, bytes) in outputs.iter().zip([TEXT.as_bytes(), PNG]) {
        let shown = other.get(&format!("/api/v1/sessions/{session}/outputs/{}", output["id"].as_str().unwrap())).await;
        assert_eq!(shown.body.as_ref(), bytes);
    }
    // A file that was lost comes back with the bundle; an output that was removed does not.
    let lost = payload(&other, &session, &outputs[0], "txt");
    let removed = payload(&other, &session, &outputs[1], "png");
    fs::remove_file(&lost).unwrap();
    let removal = format!("DELETE /api/v1/sessions/{session}/outputs/{}", outputs[1]["id"].as_str().unwrap());
    assert_eq!(other.call(&removal, json!({})).await.status, 204);
    assert_eq!(take_in(&other, &bundle).await.ok(200)["wasHere"], true);
    assert_eq!((lost.exists(), removed.exists()), (true, false));
    let here = other.entries(&session).await;
    // Twice is once, and it is read-only until an agent takes it over.
    assert_eq!(take_in(&other, &bundle).await.ok(200)["wasHere"], true);
    assert_eq!(other.entries(&session).await, here);
    let prompt = json!({ "text": "go on" });
    let refused = other.call(&format!("POST /api/v1/sessions/{session}/prompts"), prompt).await;
    assert_eq!(refused.status, 409);
    other.call(&format!("POST /api/v1/sessions/{session}/resume"), json!({ "agent": "guide" })).await;
    other.until_entry(&session, |entry| entry["type"] == "session.changed" && entry["data"]["agent"] == "guide").await;
    assert_eq!(take_in(&other, &bundle).await.ok(200)["wasHere"], true, "also once it goes on");
    // What goes on elsewhere in another way is not mixed.
    world.turn(&session, "say more").await;
    let longer = world.get(&path(&session, "bundle")).await.body.to_vec();
    assert_eq!(take_in(&other, &longer).await.summary(), "409 session_differs");
    let other = other.restart().await;
    assert_eq!(other.get(&format!("/api/v1/sessions/{session}/outputs")).await.ok(200)["outputs"], json!(outputs[..1]));
    other.call(&format!("DELETE /api/v1/sessions/{session}?now=true"), json!({})).await;
    assert_eq!(take_in(&other, &bundle).await.summary(), "410 session_removed");
    other.close().await;
    world.close().await;
}

/// What is too long for an entry goes with the entries, byte by byte, and the page has all of it.
#[tokio::test]
async fn a_long_result_and_a_prompts_picture_go_with_the_session() {
    let world = World::on_disk().await;
    let (session, _) = shown(&world).await;
    let text: String = (1..=190).map(|n| format!("line{n} {}\n", "abcde ".repeat(50))).collect();
    let text = text + "kingfisher\n";
    let picture: Vec<u8> = PNG.iter().copied().chain((0..50_000_u32).map(|n| (n % 253) as u8)).collect();
    fs::write(world.directory.path().join("work/long.txt"), &text).unwrap();
    world.turn(&session, "read long.txt").await;
    let image = json!({ "mimeType": "image/png", "data": BASE64_STANDARD.encode(&picture) });
    let prompts = format!("POST /api/v1/sessions/{session}/prompts");
    world.call(&prompts, json!({ "text": "say what this is", "images": [image] })).await.ok(202);
    world.until_entry(&session, |entry| entry["type"] == "turn.ended" && entry["data"]["turn"] == 4).await;
    let bodies = [text.as_bytes(), &picture].map(|bytes| (format!("{:x}", Sha256::digest(bytes)), bytes));
    let html = world.get(&path(&session, "html")).await.text();
    assert!(html.contains("kingfisher") && html.contains(&BASE64_STANDARD.encode(&picture)), "{}", html.len());
    let bundle = world.get(&path(&session, "bundle")).await.body.to_vec();
    let members = members(&bundle);
    for (hash, bytes) in &bodies {
        let member = members.iter().find(|(name, ..)| *name == format!("bodies/{hash}"));
        assert!(member.is_some_and(|(.., found)| found == bytes), "{hash}");
    }

    let other = World::on_disk().await;
    assert_eq!(take_in(&other, &bundle).await.ok(200)["payloads"], 4);
    let folder = other.directory.path().join("sessions").join(&session).join("bodies");
    for (hash, bytes) in &bodies {
        let address = format!("/api/v1/sessions/{session}/bodies/{hash}");
        assert_eq!(other.get(&address).await.body.as_ref(), *bytes);
        assert_eq!(fs::read(folder.join(hash)).unwrap(), *bytes);
        // One that was lost comes back with the bundle.
        fs::remove_file(folder.join(hash)).unwrap();
        assert_eq!(other.get(&address).await.summary(), "410 body_gone");
        assert_eq!(take_in(&other, &bundle).await.ok(200)["wasHere"], true);
        assert_eq!(other.get(&address).await.body.as_ref(), *bytes);
    }
    // A bundle of another one's bytes, or without them, changes nothing.
    let third = World::on_disk().await;
    let name = format!("bodies/{}", bodies[0].0);
    let without: Vec<_> = members.iter().filter(|member| member.0 != name).cloned().collect();
    let mut altered = members.clone();
    altered.iter_mut().find(|member| member.0 == name).unwrap().2 = b"other".to_vec();
    for bundle in [sealed(without), bundled(&altered)] {
        assert_eq!(take_in(&third, &bundle).await.summary(), "400 bundle_invalid");
        assert!(!third.directory.path().join("sessions").join(&session).exists());
    }
    // One that was edited before it was bundled is known as such here too.
    assert_eq!(take_in(&third, &sealed(altered)).await.status, 200);
    let address = format!("/api/v1/sessions/{session}/{name}");
    assert_eq!(third.get(&address).await.summary(), "410 body_changed");
    third.close().await;
    other.close().await;
    world.close().await;
}

/// The members of a tar file: name, type and bytes.
fn members(bundle: &[u8]) -> Vec<(String, u8, Vec<u8>)> {
    let (mut at, mut found) = (0, Vec::new());
    while bundle[at] != 0 {
        let block = &bundle[at..at + 512];
        let name = String::from_utf8(block[..100].iter().copied().take_while(|byte| *byte != 0).collect()).unwrap();
        let size = std::str::from_utf8(&block[124..135]).unwrap();
        let size = usize::from_str_radix(size, 8).unwrap();
        found.push((name, block[156], bundle[at + 512..at + 512 + size].to_vec()));
        at += 512 + size.next_multiple_of(512);
    }
    found
}

/// A tar file of these members.
fn bundled(members: &[(String, u8, Vec<u8>)]) -> Vec<u8> {
    let mut bundle = Vec::new();
    for (name, kind, bytes) in members {
        let mut block = vec![0; 512];
        block[..name.len()].copy_from_slice(name.as_bytes());
        block[100..108].copy_from_slice(b"0000600\0");
        block[124..136].copy_from_slice(format!("{:011o}\0", bytes.len()).as_bytes());
        block[136..148].copy_from_slice(b"00000000000\0");
        block[148..156].copy_from_slice(b"        ");
        block[156] = *kind;
        if *kind == b'2' {
            block[157..168].copy_from_slice(b"/etc/passwd");
        }
        block[257..265].copy_from_slice(b"ustar\x0000");
        let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
        block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        bundle.extend(block);
        bundle.extend(bytes);
        bundle.resize(bundle.len().next_multiple_of(512), 0);
    }
    bundle.extend([0; 1024]);
    bundle
}

/// The same with a manifest that fits.
fn sealed(mut members: Vec<(String, u8, Vec<u8>)>) -> Vec<u8> {
    let (_, _, manifest) = members.pop().unwrap();
    let mut manifest: Value = serde_json::from_slice(&manifest).unwrap();
    let file = |(name, _, bytes): &(String, u8, Vec<u8>)| json!({ "path": name, "bytes": bytes.len(), "sha256": format!("{:x}", Sha256::digest(bytes)) });
    manifest["files"] = members.iter().map(file).collect();
    let lines = members.iter().filter(|(name, ..)| name.starts_with("entries/"));
    let count: usize = lines.map(|(_, _, bytes)| bytes.iter().filter(|byte| **byte == b'\n').count()).sum();
    manifest["entries"] = count.into();
    members.push(("manifest.json".to_owned(), b'0', manifest.to_string().into_bytes()));
    bundled(&members)
}

/// The entries, and one more that names a body of 8 MiB a thousand times.
fn many_bodies(text: &str) -> String {
    let seq = text.lines().count() + 1;
    let body = json!({ "bytes": 8 << 20, "sha256": "a".repeat(64) });
    let data = json!({ "turn": 1, "tool": 1, "bodies": vec![body; 1_000] });
    let at = text.split("\"at\":\"").nth(1).unwrap().split('"').next().unwrap();
    let version = model::EVENT_VERSION;
    format!("{text}{{\"seq\":{seq},\"at\":\"{at}\",\"version\":{version},\"type\":\"tool.changed\",\"data\":{data}}}\n")
}

#[tokio::test]
async fn two_at_once_take_a_bundle_in_once_and_whole() {
    let world = World::on_disk().await;
    let (session, outputs) = shown(&world).await;
    let bundle = world.get(&path(&session, "bundle")).await.body.to_vec();
    let picture =
        world.get(&format!("/api/v1/sessions/{session}/outputs/{}", outputs[1]["id"].as_str().unwrap())).await;
    world.close().await;
    let other = World::on_disk().await;
    let (first, second) = tokio::join!(take_in(&other, &bundle), take_in(&other, &bundle));
    let were_here = [first.ok(200)["wasHere"].clone(), second.ok(200)["wasHere"].clone()];
    assert!(were_here.contains(&json!(true)) && were_here.contains(&json!(false)), "{were_here:?}");
    let address = format!("/api/v1/sessions/{session}/outputs/{}", outputs[1]["id"].as_str().unwrap());
    assert_eq!(other.get(&address).await.body, picture.body);
    // What went missing is put back by taking the same in again.
    std::fs::remove_file(payload(&other, &session, &outputs[1], "png")).unwrap();
    assert_eq!(other.get(&address).await.summary(), "410 output_gone");
    assert_eq!(take_in(&other, &bundle).await.ok(200)["wasHere"], true);
    assert_eq!(other.get(&address).await.body, picture.body);
    // A link in its place is nothing of ours.
    std::fs::remove_file(payload(&other, &session, &outputs[1], "png")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", payload(&other, &session, &outputs[1], "png")).unwrap();
    assert_eq!(other.get(&address).await.summary(), "410 output_gone");
    assert!(other.get(&path(&session, "html")).await.text().contains("its bytes are gone"));
    other.close().await;
}

/// Whatever lies in the place of one payload, the bundle is whole, and everything else in it is there.
#[tokio::test]
async fn one_payload_that_is_none_does_not_break_a_bundle() {
    let world = World::on_disk().await;
    let (session, outputs) = shown(&world).await;
    let (text, picture) =
        (payload(&world, &session, &outputs[0], "txt"), payload(&world, &session, &outputs[1], "png"));
    let address = |output: &Value| format!("/api/v1/sessions/{session}/outputs/{}", output["id"].as_str().unwrap());
    let whole = world.get(&path(&session, "bundle")).await.body.to_vec();
    let link = || std::os::unix::fs::symlink("/etc/passwd", &picture).unwrap();
    let folder = || fs::create_dir(&picture).unwrap();
    let (gone, edited) = (|| (), || fs::write(&picture, "edited").unwrap());
    let cases: [(&str, &dyn Fn(), &str); 4] = [
        ("a link", &link, "410 output_gone"),
        ("a folder", &folder, "410 output_gone"),
        ("nothing", &gone, "410 output_gone"),
        ("other bytes", &edited, "200"),
    ];
    for (what, put, expected) in cases {
        fs::remove_file(&picture).unwrap();
        put();
        let answer = world.get(&path(&session, "bundle")).await;
        let all = members(&answer.body);
        let manifest: Value = serde_json::from_slice(&all.last().unwrap().2).unwrap();
        let name = format!("outputs/{}", picture.file_name().unwrap().to_str().unwrap());
        let missing = if expected == "200" { Vec::new() } else { vec![name] };
        assert_eq!(manifest["missing"], json!(missing), "{what}");
        let other = World::on_disk().await;
        assert_eq!(take_in(&other, &answer.body).await.ok(200)["wasHere"], false, "{what}");
        assert_eq!(other.get(&address(&outputs[0])).await.body.as_ref(), TEXT.as_bytes(), "{what}");
        let there = other.get(&address(&outputs[1])).await;
        assert!(there.summary().starts_with(expected), "{what}: {}", there.summary());
        other.close().await;

        // Taking the same in again puts back what can be put back.
        fs::remove_file(&text).unwrap();
        assert_eq!(take_in(&world, &whole).await.ok(200)["wasHere"], true, "{what}");
        assert_eq!(fs::read(&text).unwrap(), TEXT.as_bytes(), "{what}");
        if what == "a folder" {
            fs::remove_dir(&picture).unwrap();
            fs::write(&picture, PNG).unwrap();
        }
        assert!(fs::symlink_metadata(&picture).unwrap().is_file(), "{what}");
    }
    world.close().await;
}

/// Bytes of somebody else's in a body's file are shown nowhere, and go nowhere.
#[tokio::test]
async fn a_body_that_was_edited_is_gone_for_a_bundle() {
    let world = World::on_disk().await;
    let (session, _) = shown(&world).await;
    fs::write(world.directory.path().join("work/long.txt"), format!("{}\n", "abcde ".repeat(50)).repeat(190)).unwrap();
    world.turn(&session, "read long.txt").await;
    let bodies = world.directory.path().join("sessions").join(&session).join("bodies");
    let body = fs::read_dir(&bodies).unwrap().next().unwrap().unwrap();
    fs::write(body.path(), "edited").unwrap();
    let hash = body.file_name().into_string().unwrap();
    let bundle = world.get(&path(&session, "bundle")).await.body.to_vec();
    let manifest: Value = serde_json::from_slice(&members(&bundle).last().unwrap().2).unwrap();
    assert_eq!(manifest["missing"], json!([format!("bodies/{hash}")]));
    world.close().await;
    let other = World::on_disk().await;
    assert_eq!(take_in(&other, &bundle).await.ok(200)["payloads"], 2);
    assert_eq!(other.get(&format!("/api/v1/sessions/{session}/bodies/{hash}")).await.summary(), "410 body_gone");
    other.close().await;
}

#[tokio::test]
async fn what_waited_elsewhere_is_not_sent_here() {
    let world = World::on_disk().await;
    let (session, _) = shown(&world).await;
    world.prompt(&session, "slow 600").await;
    world.prompt(&session, "say what a stranger wants").await;
    let bundle = world.get(&path(&session, "bundle")).await.body.to_vec();
    world.close().await;
    let other = World::on_disk().await;
    take_in(&other, &bundle).await.ok(200);
    let entries = other.entries(&session).await;
    let count = |kind: &str| entries.iter().filter(|entry| entry["type"] == kind).count();
    assert_eq!((count("prompt.queued"), count("prompt.removed")), (1, 1), "{entries:?}");
    other.close().await;
}

/// A card is followed by whoever trusts the name on it.
#[tokio::test]
async fn a_card_in_a_bundle_leads_to_the_site_that_it_names() {
    const VIDEO: &str = "https://www.youtube.com/watch?v=dQw4w9WgXcQ";
    let world = World::on_disk().await;
    let (session, _, agent) = showing(&world).await;
    agent.call("embed_media", json!({ "url": VIDEO })).await;
    world.call(&format!("POST /api/v1/sessions/{session}/cancel"), json!({})).await;
    world.until_entry(&session, |entry| entry["type"] == "turn.ended").await;
    let all = members(&world.get(&path(&session, "bundle")).await.body);
    world.close().await;
    let other = World::on_disk().await;
    let with = |from: &str, to: &str| {
        let mut all = all.clone();
        let entries = all.iter_mut().find(|member| member.0 == "entries/000001.jsonl").unwrap();
        let text = String::from_utf8(entries.2.clone()).unwrap();
        assert!(text.contains(from), "{text}");
        entries.2 = text.replace(from, to).into_bytes();
        sealed(all)
    };
    for (from, to) in [
        (VIDEO, "https://evil.example/watch?v=dQw4w9WgXcQ"),
        (VIDEO, "https://www.youtube.com.evil.example/watch?v=dQw4w9WgXcQ"),
        (VIDEO, "https://www.youtube.com@evil.example/watch?v=dQw4w9WgXcQ"),
        (VIDEO, "https://www.youtube.com/redirect?q=https://evil.example"),
        ("\"YouTube\"", "\"Vimeo\""),
        ("\"YouTube\"", "\"Your Bank\""),
        ("\"type\":\"embed\"", "\"type\":\"raw\""),
    ] {
        let refused = take_in(&other, &with(from, to)).await;
        assert_eq!(refused.summary(), "400 bundle_invalid", "{to}");
        assert!(refused.text().contains("leads elsewhere"), "{}", refused.text());
    }
    assert_eq!(take_in(&other, &sealed(all.clone())).await.ok(200)["wasHere"], false);
    other.close().await;
}

/// What is shown elsewhere is bounded here as what is shown here, and the refusal says by which setting.
#[tokio::test]
async fn a_bundle_that_shows_more_than_is_kept_here_is_refused() {
    let world = World::on_disk().await;
    let (session, _) = shown(&world).await;
    let all = members(&world.get(&path(&session, "bundle")).await.body);
    world.close().await;
    let claiming = |text: u64, picture: u64| {
        let mut all = all.clone();
        let entries = all.iter_mut().find(|member| member.0 == "entries/000001.jsonl").unwrap();
        let claimed = String::from_utf8(entries.2.clone()).unwrap();
        let claimed = claimed.replace(&format!("\"bytes\":{},", TEXT.len()), &format!("\"bytes\":{text},"));
        let claimed = claimed.replace(&format!("\"bytes\":{},", PNG.len()), &format!("\"bytes\":{picture},"));
        entries.2 = claimed.into_bytes();
        sealed(all)
    };
    let mut padded = all.clone();
    padded.iter_mut().find(|member| member.0.ends_with(".png")).unwrap().2 = vec![0; (1 << 20) + 4_096];
    let room = OutputRoom { session_count: 1, ..OutputRoom::default() };
    let (one, three) = (World::with_room(room).await, World::on_disk().await);
    for (other, bundle, expected) in [
        (&one, sealed(all.clone()), "outputs.session_count = 2, and it is 1 here"),
        (&three, claiming((1 << 20) + 1, 1), "outputs.max_mb = 2, and it is 1 here"),
        (&three, sealed(padded), "outputs.max_mb = 2, and it is 1 here"),
    ] {
        let refused = take_in(other, &bundle).await;
        assert_eq!(refused.summary(), "409 outputs_full");
        assert!(refused.text().contains(expected), "{}", refused.text());
        assert!(!other.directory.path().join("sessions").join(&session).exists());
    }
    assert_eq!(take_in(&three, &claiming(1 << 20, 1 << 20)).await.status, 200);
    one.close().await;
    three.close().await;
}

#[tokio::test]
async fn a_bundle_that_is_not_what_was_written_changes_nothing() {
    let version = |number| format!("\"version\":{number}");
    let world = World::on_disk().await;
    let (session, outputs) = shown(&world).await;
    let whole = world.get(&path(&session, "bundle")).await.body.to_vec();
    let all = members(&whole);
    world.close().await;
    assert_eq!(bundled(&all).len(), whole.len());
    let names: Vec<&str> = all.iter().map(|(name, ..)| name.as_str()).collect();
    let picture = format!("outputs/{}.png", outputs[1]["id"].as_str().unwrap());
    assert_eq!(names[..4], ["throughline-bundle.json", "README.txt", "entries/000001.jsonl", "contents.jsonl"]);
    assert!(names.contains(&picture.as_str()) && names.last() == Some(&"manifest.json"), "{names:?}");
    let with = |name: &str, change: &dyn Fn(String) -> String| {
        let mut all = all.clone();
        let member = all.iter_mut().find(|member| member.0 == name).unwrap();
        member.2 = change(String::from_utf8_lossy(&member.2).into_owned()).into_bytes();
        all
    };
    let entries = |change: &dyn Fn(String) -> String| sealed(with("entries/000001.jsonl", change));
    let plus = |name: &str, kind: u8, bytes: &[u8]| {
        let mut all = all.clone();
        all.insert(4, (name.to_owned(), kind, bytes.to_vec()));
        all
    };
    let stray = "outputs/out_00000000000000000000000000000009.txt";
    let mut twice = all.clone();
    twice.insert(4, all[3].clone());
    let mut behind = all.clone();
    behind.push((stray.to_owned(), b'0', b"x".to_vec()));
    let mut huge = bundled(&all);
    // The size that the first block of entries claims is a terabyte.
    let at = 512 * 4 + 512 * (all[1].2.len().div_ceil(512) - 1);
    let at = (0..huge.len()).step_by(512).find(|at| huge[*at..].starts_with(b"entries/")).unwrap_or(at);
    huge[at + 124..at + 136].copy_from_slice(b"17777777777\0");
    huge[at + 148..at + 156].copy_from_slice(b"        ");
    let sum: u32 = huge[at..at + 512].iter().map(|byte| u32::from(*byte)).sum();
    huge[at + 148..at + 156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let no_picture: Vec<_> = all.iter().filter(|(name, ..)| *name != picture).cloned().collect();
    let newer = |text: String| text.replacen("\"version\":1", "\"version\":2", 1);
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("nothing", Vec::new(), "415 not_a_bundle"),
        ("no tar", b"PK\x03\x04 and so on".repeat(99), "415 not_a_bundle"),
        ("another tar", bundled(&[("a.txt".to_owned(), b'0', b"x".to_vec())]), "415 not_a_bundle"),
        ("a newer format", sealed(with("throughline-bundle.json", &newer)), "409 bundle_newer"),
        ("cut off", whole[..whole.len() / 2].to_vec(), "400 bundle_invalid"),
        ("without its end", whole[..whole.len() - 4096].to_vec(), "400 bundle_invalid"),
        ("climbing", sealed(plus("../../evil.txt", b'0', b"x")), "400 bundle_invalid"),
        ("climbing in outputs", sealed(plus("outputs/../../evil.txt", b'0', b"x")), "400 bundle_invalid"),
        ("absolute", sealed(plus("/tmp/evil.txt", b'0', b"x")), "400 bundle_invalid"),
        (
            "a directory that is none",
            entries(&|text| text.replacen("\"cwd\":\"/", "\"cwd\":\"../", 1)),
            "400 bundle_invalid",
        ),
        (
            "an output of all bytes there are",
            entries(&|text| text.replacen("\"bytes\":", "\"bytes\":9223372036854775807,\"was\":", 1)),
            "400 bundle_invalid",
        ),
        ("one body a thousand times", entries(&|text| many_bodies(&text)), "400 bundle_invalid"),
        ("a link", sealed(plus(stray, b'2', b"")), "400 bundle_invalid"),
        ("a hard link", sealed(plus(stray, b'1', b"")), "400 bundle_invalid"),
        ("a folder", sealed(plus("outputs/", b'5', b"")), "400 bundle_invalid"),
        ("a long name", sealed(plus("././@LongLink", b'L', b"../../evil.txt\0")), "400 bundle_invalid"),
        ("an extended header", sealed(plus("x", b'x', b"19 path=../../evil\n")), "400 bundle_invalid"),
        ("a file that no entry names", sealed(plus(stray, b'0', b"x")), "400 bundle_invalid"),
        ("a file twice", bundled(&twice), "400 bundle_invalid"),
        ("a file behind the manifest", bundled(&behind), "400 bundle_invalid"),
        ("a size that is none", huge, "413 bundle_too_large"),
        ("a payload that is not there", sealed(no_picture), "400 bundle_invalid"),
        ("another payload", bundled(&with(&picture, &|_| "other".to_owned())), "400 bundle_invalid"),
        (
            "other entries",
            bundled(&with("entries/000001.jsonl", &|text| text.replace("bold", "bald"))),
            "400 bundle_invalid",
        ),
        ("a gap", entries(&|text| text.replacen("\"seq\":2,", "\"seq\":3,", 1)), "400 bundle_invalid"),
        ("no first entry", entries(&|text| text.split_once('\n').unwrap().1.to_owned()), "400 bundle_invalid"),
        ("no entry", entries(&|_| String::new()), "400 bundle_invalid"),
        ("a line that is none", entries(&|text| text + "nonsense\n"), "400 bundle_invalid"),
        (
            "an event of a newer version",
            entries(&|text| text.replacen(&version(model::EVENT_VERSION), &version(model::EVENT_VERSION + 1), 1)),
            "409 bundle_newer",
        ),
        (
            "an event that is unknown",
            entries(&|text| text.replace("session.created", "session.dreamt")),
            "409 bundle_newer",
        ),
        (
            "an event of the server",
            entries(&|text| text.replace("session.created", "token.revoked")),
            "409 bundle_newer",
        ),
        ("a turn that has not begun", entries(&|text| text.replace("\"turn\":2", "\"turn\":9")), "400 bundle_invalid"),
        (
            "a shown thing that is none",
            entries(&|text| text.replace("image/png", "image/p\\u000ang")),
            "400 bundle_invalid",
        ),
    ];
    let other = World::on_disk().await;
    let count = other.store.last_position();
    for (what, bundle, expected) in cases {
        assert_eq!(take_in(&other, &bundle).await.summary(), expected, "{what}");
        assert_eq!(other.store.last_position(), count, "{what}");
        assert!(!other.directory.path().join("sessions").join(&session).exists(), "{what}");
    }
    assert!(!other.directory.path().join("evil.txt").exists());
    // A link in the folder of incoming ones leads nowhere.
    let folder = other.directory.path().join("incoming");
    let name = "0190a8c0-0000-7000-8000-0000000000b2";
    fs::write(other.directory.path().join("elsewhere.tar"), &whole).unwrap();
    std::os::unix::fs::symlink(other.directory.path().join("elsewhere.tar"), folder.join(format!("{name}.tar")))
        .unwrap();
    let refused = other.call("POST /api/v1/imports/bundle", json!({ "name": name })).await;
    assert_eq!(refused.summary(), "404 file_not_found");
    let refused = other.call("POST /api/v1/imports/bundle", json!({ "name": "../token" })).await;
    assert_eq!(refused.summary(), "400 invalid_body");
    assert_eq!(take_in(&other, &sealed(all.clone())).await.ok(200)["wasHere"], false, "and the whole one is taken");
    other.close().await;
}
