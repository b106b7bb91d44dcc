//! Replay of a NameNode's audit log: the calls of its lines, at their times.
//!
//! ```text
//!   audit.log.1, audit.log --log/audit_log--> lines, with times --log/audit_line--> events
//!                            |                                          |
//!   fsimage.xml --tree/image_xml--> name space <--tree/derive-- paths   |
//!                                      | created first                  v
//!                                      '-------------> play/player: connections of users, in the order of each path
//!                                                                       |
//!                                                      play/outcome: latencies and errors by command
//! ```

pub mod command;
pub mod log;
pub mod play;
pub mod tree;
