//! The screens beside the live one. A screen is one file here and one line of [`PAGES`].

mod compare;
mod findings;
mod interval;
mod inventory;
mod list;
mod log;
mod verdict;

use super::host;
use super::pane::{Pane, View};
use super::sight::{Home, Reach};

/// A screen between the header and the footer.
pub(super) struct Page {
    pub(super) home: Home,
    /// As the picture of it is named.
    pub(super) name: &'static str,
    /// From top to bottom.
    pub(super) panes: &'static [Pane],
    /// How far one can go on a screen of this size.
    pub(super) reach: fn(&View<'_>, (u16, u16)) -> Reach,
}

/// Every screen but the live one.
pub(super) const PAGES: &[Page] = &[
    Page { home: Home::Findings, name: "findings", panes: &findings::PANES, reach: findings::reach },
    Page { home: Home::Verdict, name: "verdict", panes: &verdict::PANES, reach: verdict::reach },
    Page { home: Home::Host, name: "host", panes: &host::PANES, reach: host::reach },
    Page { home: Home::Inventory, name: "inventory", panes: &inventory::PANES, reach: inventory::reach },
    Page { home: Home::Compare, name: "compare", panes: &compare::PANES, reach: compare::reach },
    Page { home: Home::Log, name: "log", panes: &log::PANES, reach: log::reach },
];

/// The screen that is open; none for the live one.
pub(super) fn open(home: Home) -> Option<&'static Page> {
    PAGES.iter().find(|page| page.home == home)
}

/// How far one can go on the screen that is open.
pub(super) fn reach(view: &View<'_>, size: (u16, u16)) -> Reach {
    open(view.screen.home).map_or_else(Reach::default, |page| (page.reach)(view, size))
}
