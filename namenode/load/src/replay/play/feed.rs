//! Scripts for a player: the requests of a call, its time and its user.

use std::sync::mpsc::{Receiver, TryRecvError};

use super::request::{self, Request};
use crate::replay::command::Command;
use crate::replay::log::audit_log::Event;
use crate::replay::tree::name_space::NameTree;

/// Requests to send one after the other over one connection.
#[derive(Debug)]
pub struct Script {
    /// Intended time of the first request, in nanoseconds from the begin of the feed.
    pub due_ns: u64,
    /// Number of the user.
    pub user: u32,
    pub requests: Vec<Request>,
    /// Command of the log; None for a request that creates the name space.
    pub command: Option<Command>,
    /// False if the NameNode of the log refused the call.
    pub is_allowed: bool,
}

/// Next script of a feed.
pub enum Next {
    /// Its intended time, in nanoseconds.
    Due(u64),
    /// It is not read yet.
    NotYet,
    End,
}

/// Scripts in the order of their times.
pub trait Feed {
    fn next(&mut self) -> Next;
    /// Takes the script that [`Feed::next`] reported as due.
    fn take(&mut self) -> Option<Script>;
    /// Returns how many scripts may be under way, with the waiting ones.
    fn under_way_max(&self) -> usize;
}

/// Events of a log, from the thread that reads it.
pub struct EventFeed {
    events: Receiver<Event>,
    next: Option<Event>,
    root: String,
    /// Nanoseconds of a millisecond of the log.
    ns_of_ms: f64,
    now_ms: u64,
}

/// Events that wait in memory if the NameNode is slower than the log; the rest stays in the file.
const EVENTS_MAX: usize = 1_000_000;

impl EventFeed {
    /// @param speed factor of the log's time
    /// @param now_ms milliseconds since 1970
    pub fn new(events: Receiver<Event>, root: String, speed: f64, now_ms: u64) -> EventFeed {
        EventFeed { events, next: None, root, ns_of_ms: 1e6 / speed, now_ms }
    }
}

impl Feed for EventFeed {
    fn next(&mut self) -> Next {
        if self.next.is_none() {
            self.next = match self.events.try_recv() {
                Ok(event) => Some(event),
                Err(TryRecvError::Empty) => return Next::NotYet,
                Err(TryRecvError::Disconnected) => return Next::End,
            };
        }
        self.next.as_ref().map_or(Next::End, |event| Next::Due((event.at_ms as f64 * self.ns_of_ms) as u64))
    }

    fn take(&mut self) -> Option<Script> {
        let event = self.next.take()?;
        Some(Script {
            due_ns: (event.at_ms as f64 * self.ns_of_ms) as u64,
            user: event.user,
            requests: request::of_event(&event, &self.root, self.now_ms),
            command: Some(event.command),
            is_allowed: event.is_allowed,
        })
    }

    fn under_way_max(&self) -> usize {
        EVENTS_MAX
    }
}

/// One call of each user, before the log begins.
///
/// A NameNode looks up the groups of a user at the first call, for milliseconds, and then knows them. It knows the
/// users of a log already, since they called before.
pub struct UserFeed<'a> {
    pub users: u32,
    pub at: u32,
    pub root: &'a str,
    pub under_way_max: usize,
}

impl Feed for UserFeed<'_> {
    fn next(&mut self) -> Next {
        if self.at < self.users { Next::Due(0) } else { Next::End }
    }

    fn take(&mut self) -> Option<Script> {
        let user = self.at;
        self.at += 1;
        let requests = vec![Request::Path(Command::GetFileInfo, self.root.to_owned())];
        Some(Script { due_ns: 0, user, requests, command: None, is_allowed: true })
    }

    fn under_way_max(&self) -> usize {
        self.under_way_max
    }
}

/// Nodes of a level of a name space, as the user with the number 0.
pub struct NodeFeed<'a> {
    pub tree: &'a NameTree,
    pub nodes: &'a [u32],
    pub at: usize,
    pub root: &'a str,
    /// True for the times of directories alone, which their children have changed.
    pub is_for_times: bool,
    pub under_way_max: usize,
}

impl Feed for NodeFeed<'_> {
    fn next(&mut self) -> Next {
        if self.at < self.nodes.len() { Next::Due(0) } else { Next::End }
    }

    fn take(&mut self) -> Option<Script> {
        let number = *self.nodes.get(self.at)?;
        self.at += 1;
        let node = &self.tree.nodes[number as usize];
        let path = format!("{}{}", self.root, self.tree.path(number));
        let requests = if self.is_for_times {
            vec![Request::SetTimes { path, mtime_ms: node.mtime_ms, atime_ms: node.atime_ms }]
        } else {
            request::of_node(self.tree, node, path)
        };
        Some(Script { due_ns: 0, user: 0, requests, command: None, is_allowed: true })
    }

    fn under_way_max(&self) -> usize {
        self.under_way_max
    }
}
