//! What flows against the stream: a viewer's commands to the runner, and the runner's orders to an agent.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::moment::{Moment, Span};
use super::node::FORMAT;
use super::plan::{Plan, Run};

/// What a person may ask of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// End the runs under way as Stopped and go on with the next.
    StopRun,
    /// End the session cleanly; the runs that are left are not done.
    StopSession,
    /// End the session without waiting for anybody.
    StopNow,
    /// Put a remark on the time axis.
    Note(String),
}

/// What a runner asks of an agent, one JSON line each. The end of the stream means: stop everything, clean up, go.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum AgentOrder {
    /// The first line; answered by `NodeJoined`.
    Hello(Hello),
    /// Learn what a preflight needs; answered by `Surveyed`. Loads nothing.
    Survey(Plan),
    /// Hold the node and these directories for this session alone; `NodeLost` when another has them.
    Hold(Vec<PathBuf>),
    /// Sample the host from now on.
    Watch,
    /// Answered at once by `Clock`.
    Ping(Moment),
    /// Start a worker, beside those that are at work. Each has its own process, deadline and end.
    Start {
        /// The run.
        run: Run,
        /// Given up after so long.
        deadline: Span,
    },
    /// Stop the workers; each run ends Stopped, or Stuck if its worker does not obey within two seconds.
    Stop,
}

/// How a runner greets an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The record format the runner speaks.
    pub format: u32,
    /// The session's name; two sessions do not share a node that is under load.
    pub session: String,
}

impl Hello {
    /// A greeting in this build's format.
    #[must_use]
    pub fn new(session: &str) -> Self {
        Self { format: FORMAT, session: session.to_owned() }
    }
}

/// What an agent hands to a worker on its first line of input; the end of that input means stop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// The run.
    pub run: Run,
    /// When the agent will give it up.
    pub deadline: Span,
    /// Bytes of memory that it may size itself by, where others run beside it.
    #[serde(default)]
    pub memory: Option<u64>,
    /// Labels of the run that only the agent knows: what a size was made of, the device below the target.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
}
