//! What the node is made of, as `shakedown inventory` prints it.

use super::list::{Item, List, Pieces, ROWS, Room, piece};
use crate::view::theme::Role;
use crate::view::tui::pane::{Pane, View};
use crate::view::tui::sight::Reach;
use crate::view::{format, inventory};

pub(super) const PANES: [Pane; 1] =
    [Pane { rows: |_, _| ROWS, draw: |view, area, brush| TEXT.draw(view, area, brush) }];

const TEXT: List =
    List::text(title, |view, room| items(view, room).into(), |_| "nothing is known of the node yet".to_owned());

pub(super) fn reach(view: &View<'_>, size: (u16, u16)) -> Reach {
    TEXT.reach(view, size)
}

fn title(view: &View<'_>) -> (String, String) {
    let node = view.screen.node(view.state).map(ToString::to_string).unwrap_or_default();
    (format!("Inventory {node}"), "as read at the start of the session".to_owned())
}

fn items(view: &View<'_>, room: &Room) -> Vec<Item> {
    let node = view.screen.node(view.state).and_then(|name| view.state.nodes.get(name));
    let Some((node, known)) = node.and_then(|node| Some((node, node.inventory.as_ref()?))) else { return Vec::new() };
    // The tools of RAID controllers are asked by the verb alone.
    let text = inventory::text(known, &node.conditions, &[]);
    text.lines().flat_map(|text| lines(text, room)).map(|line| Item { line, ..Item::default() }).collect()
}

/// A name at the left edge heads a group; further in it is followed by its value, which is broken where it has not the room that it has
/// on paper.
fn lines(text: &str, room: &Room) -> Vec<Pieces> {
    /// Where values begin on paper, and the columns of a name here.
    const VALUES: usize = 17;
    const NAMES: u16 = 15;
    if text.is_empty() || !text.starts_with(' ') {
        return vec![vec![piece(text, Role::Title, 0)]];
    }
    // The page is ASCII, so that bytes are columns.
    let (name, value) = text.split_at_checked(VALUES).unwrap_or((text, ""));
    let values = format::wrap(value, usize::from(room.width.saturating_sub(NAMES)));
    let line =
        |(i, value)| vec![piece(if i == 0 { name.trim() } else { "" }, Role::Dim, NAMES), piece(value, Role::Text, 0)];
    values.into_iter().enumerate().map(line).collect()
}
