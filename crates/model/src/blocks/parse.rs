//! What the body of a block says.
