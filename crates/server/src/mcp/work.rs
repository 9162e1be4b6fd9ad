//! What tools say of the piece of work that a session belongs to.

use engine::{Engine, QueryError, Work};
use model::{ForkOrigin, Origin, SessionRow, StepOrigin, Turn, one_line};

const NAME_CHARS: usize = 80;

/// Its work and its place there, and what it was started from: a line each.
pub(super) async fn place(engine: &Engine, row: &SessionRow) -> Result<Vec<String>, QueryError> {
    let mut lines = Vec::new();
    let work = match row.work {
        None => None,
        Some(id) => match engine.work(id).await {
            Ok(work) => Some(work),
            // It was taken apart.
            Err(QueryError::NoSuchWork(_)) => None,
            Err(err) => return Err(err),
        },
    };
    if let Some(Work { row: work, sessions }) = work {
        let place = sessions.iter().position(|id| *id == row.id).map(|index| {
            let of = if sessions.len() == 1 { "session" } else { "sessions" };
            format!(": {} of {} {of}", nth(index + 1), sessions.len())
        });
        lines.push(format!("Work {} {}{}", work.id, name(&work.name), place.unwrap_or_default()));
    }
    if let Some(from) = row.from {
        lines.push(match from {
            Origin::Step(StepOrigin { session, block }) => {
                format!("Started from session {session}, by its offer {block}")
            }
            Origin::Fork(ForkOrigin { session, turn: Turn(0) }) => {
                format!("Forked from session {session}, at its beginning")
            }
            Origin::Fork(ForkOrigin { session, turn }) => {
                format!("Forked from session {session}, after its turn {turn}")
            }
        });
    }
    Ok(lines)
}

/// The session before it, for the head of its contents.
pub(super) async fn before(engine: &Engine, row: &SessionRow) -> Result<Option<String>, QueryError> {
    let Some(work) = engine.work_of(row).await? else { return Ok(None) };
    let earlier = engine.session_before(row).await?;
    Ok(earlier
        .map(|earlier| format!("It goes on with the work {}; the session before it is {earlier}.", name(&work.name))))
}

/// `"the loom"`.
pub(super) fn name(name: &str) -> String {
    format!("\"{}\"", one_line(name, NAME_CHARS))
}

/// `1st`, `2nd`, `11th`.
fn nth(number: usize) -> String {
    let ending = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        (_, _) => "th",
    };
    format!("{number}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_spelt_as_people_say_them() {
        let places = [1, 2, 3, 4, 11, 12, 13, 21, 22, 101, 111, 113].map(nth);
        let said = ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "22nd", "101st", "111th", "113th"];
        assert_eq!(places, said);
    }
}
