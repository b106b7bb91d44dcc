//! Messages of a service: what it costs to turn objects into bytes and back, and what alternatives would save.

pub mod advice;
pub mod capture;
pub mod class_path;
mod flame;
mod folder;
pub mod forks;
mod kinds;
pub mod observe;
pub mod report;
pub mod service;
pub mod shares;
pub mod text;
pub mod trial;
