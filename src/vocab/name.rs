//! Names of nodes and runs. Cheap to copy, since every record bears one or two.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The name of a node in its session; the runner's own records (ticks, findings of the session) bear the empty name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeName(pub Arc<str>);

impl From<&str> for NodeName {
    fn from(name: &str) -> Self {
        Self(name.into())
    }
}

impl NodeName {
    /// Whether this is the runner itself and no node under test.
    #[must_use]
    pub fn is_runner(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// The name of a run, unique in its plan: `disk-write`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunName(pub Arc<str>);

impl From<&str> for RunName {
    fn from(name: &str) -> Self {
        Self(name.into())
    }
}

impl fmt::Display for RunName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
