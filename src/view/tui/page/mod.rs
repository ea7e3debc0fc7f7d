//! The screens beside the live one. A screen is one file here and one line of [`PAGES`].

mod compare;
mod findings;
mod interval;
mod inventory;
mod list;
mod log;
mod verdict;

use super::host;
use super::keys::Action;
use super::pane::{Pane, View};
use super::sight::{Home, Reach};

/// A screen between the header and the footer.
pub(super) struct Page {
    pub(super) home: Home,
    /// As the picture of it is named.
    pub(super) name: &'static str,
    /// From top to bottom.
    pub(super) panes: &'static [Pane],
    /// What can be done on other screens and not here.
    pub(super) lacks: &'static [Action],
    /// How far one can go on a screen of this size.
    pub(super) reach: fn(&View<'_>, (u16, u16)) -> Reach,
}

/// A text has no entries, which could be opened or have a time.
const TEXT: [Action; 2] = [Action::Expand, Action::Go];

/// Every screen but the live one.
pub(super) const PAGES: &[Page] = &[
    Page { home: Home::Findings, name: "findings", panes: &findings::PANES, lacks: &[], reach: findings::reach },
    Page { home: Home::Verdict, name: "verdict", panes: &verdict::PANES, lacks: &[Action::Go], reach: verdict::reach },
    Page { home: Home::Host, name: "host", panes: &host::PANES, lacks: &[], reach: host::reach },
    Page { home: Home::Inventory, name: "inventory", panes: &inventory::PANES, lacks: &TEXT, reach: inventory::reach },
    Page { home: Home::Compare, name: "compare", panes: &compare::PANES, lacks: &TEXT, reach: compare::reach },
    Page { home: Home::Log, name: "log", panes: &log::PANES, lacks: &[], reach: log::reach },
];

/// The screen that is open; none for the live one.
pub(super) fn open(home: Home) -> Option<&'static Page> {
    PAGES.iter().find(|page| page.home == home)
}

/// Whether something that is bound to a key can be done on the screen that is open.
pub(super) fn can(home: Home, action: Action) -> bool {
    open(home).is_none_or(|page| !page.lacks.contains(&action))
}

/// How far one can go on the screen that is open.
pub(super) fn reach(view: &View<'_>, size: (u16, u16)) -> Reach {
    open(view.screen.home).map_or_else(Reach::default, |page| (page.reach)(view, size))
}
