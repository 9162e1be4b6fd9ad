//! Tickets: addresses of one resource each, for elements of the page that can not show the page's credential.
//!
//! Invariants: a ticket is good for a minute, for reading one output of a session, the session as one file or an applet's
//! document, and for nothing else. It is kept in memory as a hash, bounded in number for each credential and in all, and is in no log. Whoever redeems it asks whether the credential
//! that it was made for is still in force.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use model::{AppletName, OutputId, SessionId, Timestamp};
use subtle::ConstantTimeEq as _;
use tokio::time::Instant;

use crate::tokens::hash;
use crate::{Engine, TokenSecret};

/// How long a ticket is good for.
pub const TICKET_GOOD_FOR: Duration = Duration::from_secs(60);
/// How many one credential has at once; the oldest gives way.
const MAX_OF_ONE: usize = 256;
/// How many there are in all; the oldest gives way.
const MAX_TICKETS: usize = 2_048;

/// What a ticket opens, and for whom it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TicketTarget {
    /// The session.
    pub session: SessionId,
    /// What of it.
    pub resource: TicketResource,
    /// The principal who asked for it.
    pub holder: String,
}

/// What of a session a ticket opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TicketResource {
    /// An output's bytes.
    Output(OutputId),
    /// The session as a file.
    Export(ExportKind),
    /// An applet's document, made of this output.
    AppletAsShown(OutputId),
    /// An applet's document, as long as its content has this hash: whoever opens it was told so, and what is granted hangs on it.
    Applet {
        /// Which.
        name: AppletName,
        /// Of the content.
        hash: String,
    },
}

/// What a session is exported as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportKind {
    /// As Markdown.
    Markdown,
    /// As a web page that needs no network.
    Html,
    /// As a bundle, which another server takes in.
    Bundle,
}

/// A ticket that was just made.
#[derive(Debug, Clone)]
pub struct OfferedTicket {
    /// What stands in the address.
    pub secret: TokenSecret,
    /// From when on it opens nothing.
    pub expires_at: Timestamp,
}

/// The tickets in force, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Tickets(Mutex<VecDeque<Ticket>>);

#[derive(Debug)]
struct Ticket {
    hash: String,
    target: TicketTarget,
    expires_at: Instant,
}

impl Tickets {
    fn add(&self, secret: &TokenSecret, target: TicketTarget) {
        let mut tickets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        tickets.retain(|ticket| ticket.expires_at > now);
        let is_own = |ticket: &Ticket| ticket.target.holder == target.holder;
        if tickets.iter().filter(|ticket| is_own(ticket)).count() >= MAX_OF_ONE
            && let Some(oldest) = tickets.iter().position(is_own)
        {
            tickets.remove(oldest);
        }
        if tickets.len() >= MAX_TICKETS {
            tickets.pop_front();
        }
        tickets.push_back(Ticket { hash: hash(secret), target, expires_at: now + TICKET_GOOD_FOR });
    }

    fn find(&self, secret: &TokenSecret) -> Option<TicketTarget> {
        let presented = hash(secret);
        let tickets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |ticket: &&Ticket| bool::from(ticket.hash.as_bytes().ct_eq(presented.as_bytes()));
        tickets
            .iter()
            .find(is_it)
            .filter(|ticket| ticket.expires_at > Instant::now())
            .map(|ticket| ticket.target.clone())
    }
}

impl Engine {
    /// Makes a ticket for what its holder may read.
    pub fn offer_ticket(&self, target: TicketTarget) -> OfferedTicket {
        let secret = TokenSecret::generate(&*self.shared.ids);
        self.shared.tickets.add(&secret, target);
        OfferedTicket { secret, expires_at: self.shared.clock.now().plus(TICKET_GOOD_FOR) }
    }

    /// What a ticket opens, while it is good.
    pub fn find_ticket(&self, secret: &TokenSecret) -> Option<TicketTarget> {
        self.shared.tickets.find(secret)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(n: u8, holder: &str) -> TicketTarget {
        let session = SessionId::from_uuid(uuid::Uuid::from_bytes([1; 16]));
        let resource = TicketResource::Output(OutputId::from_bytes([n; 16]));
        TicketTarget { session, resource, holder: holder.to_owned() }
    }

    fn secret(text: impl Into<String>) -> TokenSecret {
        TokenSecret::new(text)
    }

    #[tokio::test(start_paused = true)]
    async fn a_ticket_is_good_for_a_minute_and_for_one_output() {
        let tickets = Tickets::default();
        tickets.add(&secret("a"), target(1, "x"));
        tokio::time::advance(TICKET_GOOD_FOR / 2).await;
        tickets.add(&secret("b"), target(2, "x"));
        assert_eq!(tickets.find(&secret("a")), Some(target(1, "x")));
        assert_eq!(tickets.find(&secret("b")), Some(target(2, "x")));
        assert_eq!(tickets.find(&secret("c")), None);
        tokio::time::advance(TICKET_GOOD_FOR / 2).await;
        assert_eq!(tickets.find(&secret("a")), None);
        assert_eq!(tickets.find(&secret("b")), Some(target(2, "x")));
    }

    #[tokio::test(start_paused = true)]
    async fn there_are_never_more_than_so_many_and_nobody_takes_anothers_place() {
        let tickets = Tickets::default();
        tickets.add(&secret("theirs"), target(1, "other"));
        for n in 0..MAX_OF_ONE + 3 {
            tickets.add(&secret(n.to_string()), target(2, "greedy"));
        }
        assert_eq!(tickets.0.lock().unwrap().len(), MAX_OF_ONE + 1);
        assert_eq!(tickets.find(&secret("2")), None);
        assert!(tickets.find(&secret("3")).is_some() && tickets.find(&secret("theirs")).is_some());
        for n in 0..MAX_TICKETS {
            tickets.add(&secret(format!("x{n}")), target(3, &n.to_string()));
        }
        assert_eq!(tickets.0.lock().unwrap().len(), MAX_TICKETS);
        tokio::time::advance(TICKET_GOOD_FOR).await;
        tickets.add(&secret("new"), target(1, "x"));
        assert_eq!(tickets.0.lock().unwrap().len(), 1);
    }
}
