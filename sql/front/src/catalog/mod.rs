//! Catalogs of other systems: tables by their names there.

pub mod hive;
