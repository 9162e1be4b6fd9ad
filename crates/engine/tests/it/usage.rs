//! What usage is told of, by name.

use engine::ChangeSession;
use model::{FilingWish, UsageKey};
use store::conformance::faulty::StoreCall;

use crate::support::{World, asker};

/// However many sessions used something, their names are one question.
#[tokio::test(start_paused = true)]
async fn the_names_of_many_sessions_are_read_at_once() {
    let world = World::new().await;
    let mut keys = vec![UsageKey::Day(3), UsageKey::Work(None)];
    for n in 0..20 {
        let session = world.session().await;
        let name = Some(format!("session {n}")).filter(|_| n > 0);
        let named = ChangeSession { name, env_hint: None, context: None, filing: FilingWish::default() };
        world.engine.submit(session, named, asker()).await.unwrap();
        keys.push(UsageKey::Session(session));
    }
    let calls = || [StoreCall::Session, StoreCall::SessionsById].map(|call| world.disk.met(call).calls);
    let before = calls();
    let names = world.engine.usage_names(&keys).await.unwrap();
    assert_eq!((names.len(), names[&keys[21]].as_str()), (19, "session 19"), "the first one has no name");
    assert_eq!(calls(), [before[0], before[1] + 1]);
    let before = calls();
    assert!(world.engine.usage_names(&keys[..2]).await.unwrap().is_empty());
    assert_eq!(calls(), before, "nothing is asked for nothing");
}
