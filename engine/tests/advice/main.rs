//! The advice is right: jobs that are slowed by one known cause, which their reports name, and healthy jobs whose reports name none.

mod causes;
mod classes;
mod ground;
mod healthy;
