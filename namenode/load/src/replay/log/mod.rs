//! Audit logs: their lines, files and times.

pub mod audit_line;
pub mod audit_log;
pub mod clock;
pub mod text_file;
