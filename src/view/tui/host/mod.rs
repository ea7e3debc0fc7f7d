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
mod history;
mod memory;
mod table;

use super::finding;
use super::pane::{Pane, View};
use super::sight::{Reach, Section, Sight};
use crate::analysis::state::Host;
use crate::view::theme::Role;
use crate::vocab::moment::{Moment, Span};

/// From top to bottom, between the header and the footer.
pub(super) const PANES: [Pane; 5] = [finding::PANE, cpus::PANE, memory::PANE, devices::DISKS, devices::NICS];

/// How far one can scroll: no further than there are things to be seen.
pub(super) fn reach(view: &View<'_>, _: (u16, u16)) -> Reach {
    let source = match view.screen.sight.section {
        Some(Section::Cpus) => "cpu",
        Some(Section::Disks) => "disk",
        Some(Section::Nics) => "net",
        None => return Reach::default(),
    };
    let count = Shown::of(view).map_or(0, |shown| shown.host.of_source(source).count());
    Reach { last: count.saturating_sub(1), page: 10, ..Reach::default() }
}

/// Data that is older is not what is going on now.
const STALE: Span = Span::seconds(3);

/// A node's counters and its time.
#[derive(Clone, Copy)]
struct Shown<'a> {
    host: &'a Host,
    now: Moment,
    sight: &'a Sight,
}

impl<'a> Shown<'a> {
    fn of(view: &View<'a>) -> Option<Self> {
        let name = view.screen.node(view.state)?;
        let host = &view.state.nodes.get(name)?.host;
        Some(Self { host, now: view.state.node_now(name), sight: &view.screen.sight })
    }

    fn is_wide(&self, section: Section) -> bool {
        self.sight.section == Some(section)
    }

    /// Lines of a part that are scrolled away, so that the last of so many still stand on so many lines.
    fn skipped(&self, section: Section, (all, lines): (usize, usize)) -> usize {
        let skipped = self.sight.at.unwrap_or(0).min(all.saturating_sub(lines));
        if self.is_wide(section) { skipped } else { 0 }
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
