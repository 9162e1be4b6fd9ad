//! Cards of media elsewhere: what the site says of an address, and its small picture.
//!
//! Invariant: the picture is what its bytes are, and is kept as any other output, so that the page loads nothing from outside.
//! Where there is none, or the site can not be asked, the card is a plain link, whose bytes are the address.

use std::io::Cursor;

use agents::embed::{EmbedAddress, EmbedDetails, EmbedError};
use model::{AboutOutput, OutputKind, OutputRow, SessionId};

use crate::outputs::types::picture_type;
use crate::outputs::{NewOutput, OutputError, OutputShown, TEXT};
use crate::{Asker, Engine};

impl Engine {
    /// Shows the person a card of something on one of the sites that have cards.
    pub async fn embed_media(&self, id: SessionId, url: &str, asker: Asker) -> Result<OutputRow, OutputError> {
        let address = EmbedAddress::parse(url)?;
        // Nobody is asked for what could not be shown.
        let turn = self.turn_to_show_in(id).await?;
        let details = match self.shared.outputs.settings.embeds.look_up(&address).await {
            Ok(details) => details,
            Err(err @ EmbedError::NotThere { .. }) => return Err(err.into()),
            Err(err @ EmbedError::NotAsked { .. }) => {
                let error = &err as &dyn std::error::Error;
                tracing::info!(session = %id, error, "a card is shown as a plain link");
                EmbedDetails::default()
            }
        };
        let EmbedDetails { title, author, thumbnail } = details;
        let (mime_type, bytes) = thumbnail
            .and_then(|bytes| bitmap_type(&bytes).map(|mime_type| (mime_type, bytes)))
            .unwrap_or_else(|| (TEXT, format!("{}\n", address.url()).into_bytes()));
        let about = AboutOutput {
            url: Some(address.url().to_owned()),
            provider: Some(address.provider().name().to_owned()),
            title,
            author,
            ..AboutOutput::default()
        };
        let from = Box::new(Cursor::new(bytes));
        let new =
            NewOutput { kind: OutputKind::Embed, mime_type, about, from, scanned: None, shown: OutputShown::Alone };
        self.store_output(id, turn, new, asker).await
    }
}

/// A drawing could refer to other places, so it is no picture of a card.
fn bitmap_type(bytes: &[u8]) -> Option<&'static str> {
    picture_type(bytes).filter(|mime_type| *mime_type != "image/svg+xml")
}
