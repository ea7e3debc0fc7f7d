//! What the person looks at on the host screen.

use crate::analysis::state::Host;

/// A part of the host screen that can be given more room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Cpus,
    Disks,
    Nics,
}

/// What the person looks at on the host screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Glance {
    /// The part that has the room; none while it is shared.
    pub(super) section: Option<Section>,
    /// Lines of it that are scrolled away.
    pub(super) scroll: usize,
}

impl Glance {
    /// The next part, and after the last one all of them.
    pub(super) fn turn(&mut self) {
        let section = match self.section {
            None => Some(Section::Cpus),
            Some(Section::Cpus) => Some(Section::Disks),
            Some(Section::Disks) => Some(Section::Nics),
            Some(Section::Nics) => None,
        };
        *self = Self { section, scroll: 0 };
    }

    /// Scrolls by so many lines, no further than there are things to be seen.
    pub(super) fn scroll_by(&mut self, lines: i8, host: Option<&Host>) {
        let source = match self.section {
            Some(Section::Cpus) => "cpu",
            Some(Section::Disks) => "disk",
            Some(Section::Nics) => "net",
            None => return,
        };
        let most = host.map_or(0, |h| h.of_source(source).count()).saturating_sub(1);
        self.scroll = self.scroll.saturating_add_signed(lines.into()).min(most);
    }
}
