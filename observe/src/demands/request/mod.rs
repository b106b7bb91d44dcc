//! Requests, and the steps that each needs.
//!
//! ```text
//!   places.rs    places and objects of events, by their numbers
//!   timeline.rs  events and waits of each thread, by time
//!   kinds.rs     kinds of requests: method and path, without values
//!   requests.rs  requests put together from their parts on several threads
//!   nesting.rs   events within what is taken outside
//!   holds.rs     times at which objects were held, by any thread
//!   work.rs      requests and tasks: which thread did what, and when
//!   elsewhere.rs steps of a request that ends on another thread than it began on
//!   steps.rs     necessary steps of a request: waits for locks, pools and processors left out
//!   under_way.rs requests under way over the time
//!   scaling.rs   processor time of a request, by what runs beside it
//!   groups.rs    units of work of a runtime, by their first function
//!   means.rs     one request of mean times, where single ones are not seen
//! ```

pub mod elsewhere;
pub mod groups;
pub mod holds;
pub mod kinds;
pub mod means;
pub mod nesting;
pub mod places;
pub mod requests;
pub mod scaling;
pub mod steps;
pub mod timeline;
pub mod under_way;
pub mod work;
