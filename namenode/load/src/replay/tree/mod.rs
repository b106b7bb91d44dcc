//! Name space that exists before a replay, from an image or from the log.

pub mod derive;
pub mod image_xml;
pub mod name_space;
