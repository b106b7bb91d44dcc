//! Messages of a service: what it costs to turn objects into bytes and back, and what alternatives would save.

pub mod advice;
mod flame;
mod kinds;
pub mod observe;
pub mod report;
pub mod shares;
pub mod text;
pub mod trial;
