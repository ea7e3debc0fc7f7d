//! What the node is made of, as `shakedown inventory` prints it.

use super::list::{Item, List, Room, piece};
use crate::view::inventory;
use crate::view::theme::Role;
use crate::view::tui::pane::{Pane, View};
use crate::view::tui::sight::Reach;

pub(super) const PANES: [Pane; 1] =
    [Pane { rows: |view, size| TEXT.rows(view, size), draw: |view, area, brush| TEXT.draw(view, area, brush) }];

const TEXT: List = List {
    title,
    heads: |_| Vec::new(),
    items,
    detail: None,
    empty: |_| "nothing is known of the node yet".to_owned(),
    rest: |_, _| 0,
};

pub(super) fn reach(view: &View<'_>, size: (u16, u16)) -> Reach {
    TEXT.reach(view, size)
}

fn title(view: &View<'_>) -> (String, String) {
    let node = view.screen.node(view.state).map(ToString::to_string).unwrap_or_default();
    (format!("Inventory {node}"), "as read at the start of the session".to_owned())
}

fn items(view: &View<'_>, _: &Room) -> Vec<Item> {
    let node = view.screen.node(view.state).and_then(|name| view.state.nodes.get(name));
    let Some((node, known)) = node.and_then(|node| Some((node, node.inventory.as_ref()?))) else { return Vec::new() };
    // The tools of RAID controllers are asked by the verb alone.
    let text = inventory::text(known, &node.conditions, &[]);
    text.lines().map(line).collect()
}

/// A name at the left edge heads a group; further in it is followed by its value.
fn line(text: &str) -> Item {
    const NAMES: u16 = 17;
    let group = text.chars().next().is_some_and(|c| c != ' ');
    let line = match text.char_indices().nth(usize::from(NAMES)) {
        _ if group => vec![piece(text, Role::Title, 0)],
        Some((at, _)) => vec![piece(&text[..at], Role::Dim, NAMES), piece(&text[at..], Role::Text, 0)],
        None => vec![piece(text, Role::Text, 0)],
    };
    Item { line, of: None, goal: None }
}
