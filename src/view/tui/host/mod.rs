//! The host screen: every CPU, disk and NIC of the node on the chart, the busy ones first.
//!
//! ```text
//! ╭ 480 CPUs, 2 offline ─────────────── busy: least 0, median 41, most 100 % ╮   cpus
//! │ all busy 43 %  user 40  system 3  iowait 1  steal 0                      │
//! │   0 ▃▃▄▃▇▇▇▁▁▁▁▁                                                         │
//! ╰──────────────────────────────────────────────────────────────────────────╯
//!  memory 52 GB free of 64 GB  dirty 2 MB  …                                     memory
//! ╭ Disks ──────────────────────────────────────────── 102 idle, + in total ─╮   disks
//! ╭ NICs ─────────────────────────────────────────────── 45 idle, + in total ╮   nics
//! ```

mod cpus;
mod devices;
mod memory;
mod table;

use super::pane::{Pane, View};
use crate::analysis::state::Host;
use crate::view::theme::Role;
use crate::vocab::moment::{Moment, Span};

/// From top to bottom, between the finding and the footer.
pub(super) const PANES: [Pane; 4] = [cpus::PANE, memory::PANE, devices::DISKS, devices::NICS];

/// Data that is older is not what is going on now.
const STALE: Span = Span::seconds(3);

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

/// A node's counters and its time.
#[derive(Clone, Copy)]
struct Shown<'a> {
    host: &'a Host,
    now: Moment,
    glance: Glance,
}

impl<'a> Shown<'a> {
    fn of(view: &View<'a>) -> Option<Self> {
        let name = view.screen.node(view.state)?;
        let host = &view.state.nodes.get(name)?.host;
        Some(Self { host, now: view.state.node_now(name), glance: view.screen.glance.unwrap_or_default() })
    }

    fn is_wide(&self, section: Section) -> bool {
        self.glance.section == Some(section)
    }

    /// Lines of a part that are scrolled away, so that the last of so many still stand on so many lines.
    fn skipped(&self, section: Section, (all, lines): (usize, usize)) -> usize {
        if self.is_wide(section) { self.glance.scroll.min(all.saturating_sub(lines)) } else { 0 }
    }

    /// How old a device's reading is, when it is too old, in words.
    fn stale(&self, device: &str) -> Option<String> {
        self.host.age(device, self.now).and_then(too_old)
    }

    fn frame(&self, section: Section) -> Role {
        if self.is_wide(section) { Role::FrameFocus } else { Role::Frame }
    }
}

/// The age in words of what is too old to be shown as the present.
pub(super) fn too_old(age: Span) -> Option<String> {
    let seconds = age.0 / 1_000_000;
    let words = || if seconds < 100 { format!("{seconds} s old") } else { format!("{} m old", seconds / 60) };
    (age > STALE).then(words)
}
