//! Parts that Yunti's commands find beside their programs: stores (`s3://` ..), and the class library for files of
//! others.

pub mod library;
pub mod stores;
