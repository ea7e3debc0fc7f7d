//! What is known of a node, or why it is not.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Something about a node that could perhaps not be read, and then why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fact<T = String> {
    /// What it is.
    Is(T),
    /// It exists, and this user may not read it.
    NeedsRoot,
    /// This node has none.
    NotPresent,
    /// It may exist, and cannot be read for this reason.
    Unreadable(String),
}

impl<T> Default for Fact<T> {
    /// What a record of an older build does not tell.
    fn default() -> Self {
        Self::Unreadable("not recorded".to_owned())
    }
}

impl<T> Fact<T> {
    /// What is known; none for any reason why it is not.
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Is(known) => Some(known),
            _ => None,
        }
    }

    /// The same fact in another form; a reason stays the same.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Fact<U> {
        match self {
            Self::Is(known) => Fact::Is(change(known)),
            Self::NeedsRoot => Fact::NeedsRoot,
            Self::NotPresent => Fact::NotPresent,
            Self::Unreadable(why) => Fact::Unreadable(why),
        }
    }

    /// This fact where it is known, else another; of two that are not known, the reason that says more.
    #[must_use]
    pub fn or_else(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::Is(_) => self,
            Self::NotPresent => other(),
            why => match other() {
                Self::NotPresent => why,
                better => better,
            },
        }
    }

    /// Why it is not known; empty when it is.
    #[must_use]
    pub fn reason(&self) -> &str {
        match self {
            Self::Is(_) => "",
            Self::NeedsRoot => "needs root",
            Self::NotPresent => "not present",
            Self::Unreadable(why) => why,
        }
    }
}

impl<T: fmt::Display> fmt::Display for Fact<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Is(known) => known.fmt(f),
            why => f.pad(why.reason()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_better_reason_stays() {
        let gone = || Fact::<u32>::NotPresent;
        assert_eq!(Fact::NeedsRoot.or_else(gone), Fact::NeedsRoot);
        assert_eq!(gone().or_else(|| Fact::Is(1)), Fact::Is(1));
        assert_eq!(Fact::Is(2).or_else(gone), Fact::Is(2));
        assert_eq!(format!("{:>4}|{:<12}|", Fact::Is(7), gone()), "   7|not present |");
    }
}
