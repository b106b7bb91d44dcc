//! Load on HTTP servers: open and closed loops, access logs, steps until the knee.
