//! Tests of the advice: reports of jobs slowed by one known cause name it, and reports of healthy jobs name none.

mod causes;
mod classes;
mod ground;
mod healthy;
