//! Tests the built-in guide, which uses the protocol's own library.

use insta::assert_snapshot;

use crate::support::Place;

#[tokio::test]
async fn the_guide_answers() {
    let place = Place::new(&[]);
    let mut talk = place.start("guide");
    let begun = talk.begun().await;
    assert!(begun.contains("\"memory\":\"new\""), "{begun}");
    let told = talk.turn("hello").await;
    assert_snapshot!(told.lines().last().unwrap(), @r#"stopped {"outcome":"completed"}"#);
    place.agents.shutdown().await;
    talk.ended().await;
}
