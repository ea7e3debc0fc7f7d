//! Which screen is open, and what of it is looked at.

use crate::vocab::moment::Moment;

/// The screens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Home {
    /// The run on the chart.
    #[default]
    Live,
    Findings,
    Verdict,
    Host,
    Inventory,
    Compare,
    Log,
}

/// A part of the host screen that can be given more room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Cpus,
    Disks,
    Nics,
}

impl Section {
    /// The next part, and after the last one all of them.
    pub(super) fn after(section: Option<Self>) -> Option<Self> {
        match section {
            None => Some(Self::Cpus),
            Some(Self::Cpus) => Some(Self::Disks),
            Some(Self::Disks) => Some(Self::Nics),
            Some(Self::Nics) => None,
        }
    }
}

/// What is looked at on the screen that is open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sight {
    /// The chosen entry of a list, or the first line of a text; none where the screen itself chooses.
    pub(super) at: Option<usize>,
    /// Whether the chosen entry has the whole screen.
    pub(super) open: bool,
    /// Lines of the open entry that are scrolled away.
    pub(super) scroll: usize,
    /// Only what has this in its line is listed.
    pub(super) filter: String,
    /// The part of the host screen that has the room; none while it is shared.
    pub(super) section: Option<Section>,
}

impl Sight {
    /// Whether a line is listed, in whatever case it is written.
    pub(super) fn lists(&self, line: &str) -> bool {
        self.filter.is_empty() || line.to_lowercase().contains(&self.filter.to_lowercase())
    }

    /// Moves by so many lines within what there is.
    pub(super) fn step(&mut self, by: isize, reach: &Reach) {
        if self.open {
            self.scroll = self.scroll.min(reach.last).saturating_add_signed(by).min(reach.last);
        } else {
            self.at = Some(self.at.unwrap_or(reach.rest).min(reach.last).saturating_add_signed(by).min(reach.last));
        }
    }

    /// To the first line, or back to where the screen itself is.
    pub(super) fn turn_to(&mut self, last: bool, reach: &Reach) {
        match (self.open, last) {
            (true, true) => self.scroll = reach.last,
            (true, false) => self.scroll = 0,
            // At the end of what grows one stays at its end.
            (false, true) => self.at = (reach.rest != reach.last).then_some(reach.last),
            (false, false) => self.at = Some(0),
        }
    }
}

/// How far one can go on the screen that is open, as it was when a key was pressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reach {
    /// The last place.
    pub(super) last: usize,
    /// The place that the screen itself chooses.
    pub(super) rest: usize,
    /// Whether the chosen entry can be opened, or was.
    pub(super) opens: bool,
    /// Lines of the help that can be scrolled away.
    pub(super) help: usize,
    /// Lines of a page.
    pub(super) page: usize,
    /// The place of the chosen entry in what the list is made of.
    pub(super) of: Option<usize>,
    /// The chosen entry's run, by its place, and its time on that run's node.
    pub(super) goal: Option<(Option<usize>, Moment)>,
}
