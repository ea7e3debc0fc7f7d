//! The panes and their heights. A pane is one file and one line of [`PANES`].

use ratatui::layout::Rect;

use super::look::Brush;
use super::pane::{Pane, Rows, View};
use super::{dialog, finding, footer, header, log, page, plan, stage, verdict};
use crate::view::theme::Role;

/// Below this nothing useful can be shown.
pub(super) const SMALLEST: (u16, u16) = (60, 16);

/// From top to bottom.
const PANES: &[Pane] = &[header::PANE, finding::PANE, plan::PANE, verdict::PANE, stage::PANE, log::PANE, footer::PANE];

/// Paints the screen.
pub(super) fn draw(view: &View<'_>, area: Rect, brush: &mut Brush<'_>) {
    // A frame begins empty.
    brush.ground(area, Role::Ground);
    let (columns, rows) = SMALLEST;
    if area.width < columns || area.height < rows {
        let text = format!("terminal too small {}x{}, need {columns}x{rows}", area.width, area.height);
        brush.text((area.x, area.y), &text, Role::Warn, area.width);
        return;
    }
    let open = page::open(view.screen.home);
    let panes: Vec<&Pane> = match open {
        Some(page) => [&header::PANE].into_iter().chain(page.panes).chain([&footer::PANE]).collect(),
        None => PANES.iter().collect(),
    };
    let wishes: Vec<Rows> = panes.iter().map(|p| (p.rows)(view, (area.width, area.height))).collect();
    let mut y = area.y;
    for (pane, height) in panes.iter().zip(share_out(&wishes, area.height)) {
        let height = height.min(area.bottom().saturating_sub(y));
        if height > 0 {
            (pane.draw)(view, Rect::new(area.x, y, area.width, height), brush);
        }
        y += height;
    }
    if open.is_some() {
        session(view, area, brush);
    }
    dialog::draw(view, area, brush);
}

/// Names the session in the lowest frame, as the live screen does in its plan's: a picture of any screen is evidence.
fn session(view: &View<'_>, area: Rect, brush: &mut Brush<'_>) {
    let Some(opening) = &view.state.opening else { return };
    let text = format!(" session {} ", opening.session);
    brush.text((area.x + 2, area.bottom().saturating_sub(2)), &text, Role::Dim, area.width.saturating_sub(30));
}

/// Gives every pane its least, then fills the wishes from the top, then shares out the rest.
fn share_out(wishes: &[Rows], height: u16) -> Vec<u16> {
    let mut heights: Vec<u16> = wishes.iter().map(|w| w.least).collect();
    let mut left = height.saturating_sub(heights.iter().sum());
    for (height, wish) in heights.iter_mut().zip(wishes) {
        let more = wish.wish.saturating_sub(wish.least).min(left);
        *height += more;
        left -= more;
    }
    let shares: u16 = wishes.iter().map(|w| w.share).sum::<u16>().max(1);
    let rest = left;
    for (height, wish) in heights.iter_mut().zip(wishes) {
        let more = (u32::from(rest) * u32::from(wish.share) / u32::from(shares)) as u16;
        *height += more;
        left -= more;
    }
    if let Some((height, _)) = heights.iter_mut().zip(wishes).find(|(_, w)| w.share > 0) {
        *height += left;
    }
    heights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_fill_the_screen() {
        let wishes = [
            Rows { least: 1, wish: 1, share: 0 },
            Rows { least: 3, wish: 6, share: 0 },
            Rows { least: 9, wish: 14, share: 3 },
            Rows { least: 0, wish: 4, share: 1 },
            Rows { least: 1, wish: 1, share: 0 },
        ];
        for height in 14..100 {
            assert_eq!(share_out(&wishes, height).iter().sum::<u16>(), height);
        }
        assert_eq!(share_out(&wishes, 16), [1, 5, 9, 0, 1]);
        assert_eq!(share_out(&wishes, 30), [1, 6, 17, 5, 1]);
    }
}
