//! The columns that the chart, the axis and the host's rows share.

use ratatui::layout::Rect;

use super::axis::Axis;
use super::pane::View;
use crate::analysis::state::RunState;

/// The columns of everything on the stage.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    /// Where labels stand, before the plot.
    pub(super) gutter: (u16, u16),
    /// Where the plot begins.
    pub(super) plot: u16,
    /// Where values stand, behind the plot.
    pub(super) margin: (u16, u16),
    /// The time over the plot's columns.
    pub(super) axis: Axis,
}

impl Grid {
    pub(super) fn new(view: &View<'_>, run: &RunState, inner: Rect) -> Self {
        let (gutter, margin) = if inner.width >= 110 { (18, 27) } else { (13, 18) };
        let columns = inner.width.saturating_sub(gutter + margin);
        let axis = view.screen.window(view.state, run, usize::from(columns));
        let plot = inner.x + gutter;
        Self { gutter: (inner.x, gutter - 1), plot, margin: (plot + columns + 1, margin - 1), axis }
    }

    /// The screen's column of a column of the plot.
    pub(super) fn x(&self, column: usize) -> u16 {
        self.plot + column as u16
    }
}
