//! Searches: what is durable is found at once, what was deleted is not, and no query is an error.

use serde_json::{Value, json};

use crate::support::World;

async fn found(world: &World, query: &str) -> Vec<String> {
    let page = world.get(&format!("/api/v1/search?q={query}")).await.ok(200);
    let results = page["results"].as_array().unwrap().iter();
    results.map(|result| format!("{} t{}", result["session_id"].as_str().unwrap(), result["turn"])).collect()
}

#[tokio::test]
async fn a_turn_is_found_as_soon_as_it_is_durable_and_after_a_restart() {
    let world = World::on_disk().await;
    let (one, two) = (world.session().await, world.session().await);
    world.turn(&one, "say the parser met ECONNREFUSED in parseHttpResponse").await;
    world.turn(&two, "say nothing of that here").await;
    world.turn(&one, "say done").await;
    let mut world = world;
    for life in 0..2 {
        for query in
            ["econnrefused", "http%20response", "%22parser%20met%22", "pars*", "ECONNREF", "role:prompt%20parser"]
        {
            assert_eq!(found(&world, query).await.first(), Some(&format!("{one} t1")), "{query} in life {life}");
        }
        assert_eq!(found(&world, "parser%20-econnrefused").await, Vec::<String>::new());
        assert_eq!(found(&world, "nothing").await, [format!("{two} t1")]);
        let exact = world.get("/api/v1/search?q=NNREFU&exact=true").await.ok(200);
        assert_eq!(exact["results"][0]["session_id"], json!(one));
        let best = &world.get("/api/v1/search?q=econnrefused").await.ok(200)["results"][0];
        let (text, ranges) = (best["snippet"]["text"].as_str().unwrap(), &best["snippet"]["highlights"]);
        let marked: String = text
            .chars()
            .skip(usize::try_from(ranges[0][0].as_u64().unwrap()).unwrap())
            .take(usize::try_from(ranges[0][1].as_u64().unwrap() - ranges[0][0].as_u64().unwrap()).unwrap())
            .collect();
        assert_eq!(marked, "ECONNREFUSED");
        if life == 0 {
            world = world.restart().await;
        }
    }
    world.close().await;
}

#[tokio::test]
async fn a_running_turn_is_found_and_a_deleted_session_is_not_until_it_is_back() {
    let world = World::on_disk().await;
    let session = world.session().await;
    world.turn(&session, "say a walrus sat on the dock").await;
    world.prompt(&session, "run echo permission-marmot").await;
    world.until_entry(&session, |entry| entry["type"] == "permission.asked").await;
    assert_eq!(found(&world, "permission-marmot").await, [format!("{session} t2")]);
    let cancel = format!("POST /api/v1/sessions/{session}/cancel");
    world.call(&cancel, None).await.ok(202);
    world.until_entry(&session, |entry| entry["type"] == "turn.ended" && entry["data"]["turn"] == 2).await;
    assert_eq!(world.call(&format!("DELETE /api/v1/sessions/{session}"), None).await.status, 204);
    assert_eq!(found(&world, "walrus").await, Vec::<String>::new());
    world.call(&format!("POST /api/v1/sessions/{session}/restore"), None).await.ok(200);
    assert_eq!(found(&world, "walrus").await, [format!("{session} t1")]);
    world.close().await;
}

#[tokio::test]
async fn inside_a_session_turns_come_in_order_in_the_shape_of_contents() {
    let world = World::open().await;
    let session = world.session().await;
    for text in ["say alpha beta", "say gamma", "say Beta again", "say alphabet"] {
        world.turn(&session, text).await;
    }
    let search = async |query: &str| world.get(&format!("/api/v1/sessions/{session}/search?{query}")).await.ok(200);
    let numbers = |toc: &Value| -> Vec<u64> {
        toc["entries"].as_array().unwrap().iter().map(|entry| entry["turn"].as_u64().unwrap()).collect()
    };
    let beta = search("q=beta").await;
    assert_eq!((numbers(&beta), &beta["total_turns"], &beta["matches"]), (vec![1, 3], &json!(4), &json!(2)));
    assert!(beta["entries"][0]["snippet"]["text"].as_str().unwrap().contains("beta"));
    // A part of a word is found as it stands, in any case.
    assert_eq!(numbers(&search("q=ALPHA").await), [1, 4]);
    assert_eq!(numbers(&search("q=beta&limit=1").await), [1]);
    assert_eq!(numbers(&search("q=beta&limit=nonsense").await), [1, 3]);
    assert_eq!(numbers(&search("q=Beta&exact=true").await), [3]);
    assert_eq!(numbers(&search("q=gamma%20-beta").await), [2]);
    for query in ["", "q=", "q=%20"] {
        let answer = world.get(&format!("/api/v1/sessions/{session}/search?{query}")).await;
        assert_eq!(answer.status, 400, "{query}");
    }
    world.close().await;
}

/// Signs are no words and in no index, and are found all the same where a text is looked for as it stands.
#[tokio::test]
async fn a_text_of_signs_alone_is_found_as_it_stands() {
    let world = World::open().await;
    let session = world.session().await;
    for text in ["say from here → there", "say std::mem and more", "say nothing of that"] {
        world.turn(&session, text).await;
    }
    for (query, expected) in [("%E2%86%92", "t1"), ("::", "t2"), ("std::mem", "t2"), ("here%20%E2%86%92", "t1")] {
        let everywhere = world.get(&format!("/api/v1/search?q={query}&exact=true")).await.ok(200);
        let turns: Vec<String> =
            everywhere["results"].as_array().unwrap().iter().map(|found| format!("t{}", found["turn"])).collect();
        assert_eq!(turns, [expected], "{query}: {everywhere}");
        let inside = world.get(&format!("/api/v1/sessions/{session}/search?q={query}&exact=true")).await.ok(200);
        assert_eq!(inside["matches"], 1, "{query}: {inside}");
    }
    let nothing = world.get("/api/v1/search?q=%E2%87%92&exact=true").await.ok(200);
    assert_eq!(nothing["total"], 0, "{nothing}");
    world.close().await;
}

#[tokio::test]
async fn no_query_is_an_error() {
    let world = World::open().await;
    let session = world.session().await;
    world.turn(&session, "say hello").await;
    let long = "a%20".repeat(1_900);
    for query in [
        "%22",
        "%22%22%22",
        "%22unclosed",
        "AND",
        "OR%20OR",
        "(",
        ")",
        "*",
        "-",
        "--",
        "%00",
        "a%00b",
        "%5B%5B%5B",
        "(a%2B)%2B%24",
        "the%20a%20of",
        "session:",
        "session:x",
        "exit:abc",
        "before:yesterday",
        "after:99999-99-99",
        "outcome:maybe",
        "role:king",
        "file:",
        "%F0%9F%A7%B5",
        "%E6%A4%9C%E7%B4%A2",
        &long,
    ] {
        for path in ["/api/v1/search?q=".to_owned(), format!("/api/v1/sessions/{session}/search?q=")] {
            for exact in ["", "&exact=true"] {
                let answer = world.get(&format!("{path}{query}{exact}")).await;
                assert_eq!(answer.status, 200, "{path}{query:.60}{exact}: {}", answer.text());
            }
        }
    }
    world.close().await;
}

#[tokio::test]
async fn an_index_that_is_deleted_or_damaged_comes_back_by_itself() {
    let world = World::on_disk().await;
    let session = world.session().await;
    world.turn(&session, "say a heron stood still").await;
    assert_eq!(found(&world, "heron").await, [format!("{session} t1")]);
    let folder = world.directory.path().join("search");
    // At one stroke, since it is being written.
    std::fs::rename(&folder, world.directory.path().join("gone")).unwrap();
    world.turn(&session, "say a heron flew away").await;
    let world = world.restart().await;
    let mut both = found(&world, "heron").await;
    both.sort();
    assert_eq!(both, [format!("{session} t1"), format!("{session} t2")]);
    let world = world.restart().await;
    // Garbage in every file of it.
    fn scribble(folder: &std::path::Path) {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.path().is_dir() {
                scribble(&entry.path());
            } else {
                std::fs::write(entry.path(), b"garbage").unwrap();
            }
        }
    }
    let directory = world.directory.path().join("search");
    let world = world.restart_between(|| scribble(&directory)).await;
    let mut both = found(&world, "heron").await;
    both.sort();
    assert_eq!(both, [format!("{session} t1"), format!("{session} t2")]);
    world.close().await;
}

/// However far down somebody asks, there is an end.
#[tokio::test]
async fn paging_ends() {
    let world = World::open().await;
    let session = world.session().await;
    world.turn(&session, "say a newt slept").await;
    for after in ["5", "1000", "5000", "18446744073709551615"] {
        let page = world.get(&format!("/api/v1/search?q=newt&after={after}")).await.ok(200);
        assert_eq!((&page["results"], page.get("next_cursor")), (&json!([]), None), "{after}");
    }
    world.close().await;
}

/// What is gone for good is not counted either.
#[tokio::test]
async fn a_purged_session_leaves_no_word_behind() {
    let world = World::on_disk().await;
    let session = world.session().await;
    world.turn(&session, "say a lynx crept by").await;
    assert_eq!(found(&world, "lynx").await, [format!("{session} t1")]);
    assert_eq!(world.call(&format!("DELETE /api/v1/sessions/{session}?now=true"), None).await.status, 204);
    let page = world.get("/api/v1/search?q=lynx").await.ok(200);
    assert_eq!((&page["results"], &page["total"]), (&json!([]), &json!(0)), "{page}");
    world.close().await;
}
