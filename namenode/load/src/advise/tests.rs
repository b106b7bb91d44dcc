//! Rules on recorded documents.
