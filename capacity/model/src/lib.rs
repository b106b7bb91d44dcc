//! Capacity of a service: demands on resources, formulas, and a simulation of its queues.
