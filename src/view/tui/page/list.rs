//! Lists: entries in lines, one of them chosen, and what is to be said of it below. One that has nothing to be said below is a text, which
//! is scrolled.

use ratatui::layout::Rect;

use crate::view::format;
use crate::view::theme::Role;
use crate::view::tui::look::{Brush, Signs};
use crate::view::tui::pane::{Rows, View};
use crate::view::tui::sight::Reach;
use crate::view::tui::touch::Touch;
use crate::vocab::moment::Moment;

/// A piece of a line: a text, its role, and the columns that it has; 0 are as many as it needs.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) text: String,
    pub(super) role: Role,
    pub(super) columns: u16,
}

/// From left to right.
pub(super) type Pieces = Vec<Piece>;

/// A piece with so many columns, a blank at its end among them.
pub(super) fn piece(text: impl Into<String>, role: Role, columns: u16) -> Piece {
    Piece { text: text.into(), role, columns }
}

/// A number, which ends where its columns do.
pub(super) fn number(text: &str, role: Role, columns: u16) -> Piece {
    piece(format::right(text, usize::from(columns.saturating_sub(1))), role, columns)
}

/// An entry.
#[derive(Clone, Debug, Default)]
pub(super) struct Item {
    pub(super) line: Pieces,
    /// Its place in what the list is made of; none for a head between entries.
    pub(super) of: Option<usize>,
    /// Its run, by its place in the session, and its time on the run's node, where it has them.
    pub(super) goal: Option<(Option<usize>, Moment)>,
}

/// The entries of a list; of a long one those near the chosen entry, and how many there are before and after them.
#[derive(Debug, Default)]
pub(super) struct Items {
    pub(super) before: usize,
    pub(super) shown: Vec<Item>,
    pub(super) after: usize,
}

impl From<Vec<Item>> for Items {
    fn from(shown: Vec<Item>) -> Self {
        Self { shown, ..Self::default() }
    }
}

impl Items {
    /// All of them.
    pub(super) fn count(&self) -> usize {
        self.before + self.shown.len() + self.after
    }
}

/// What an entry is drawn with.
#[derive(Clone, Copy)]
pub(super) struct Room {
    pub(super) width: u16,
    pub(super) signs: &'static Signs,
    /// Entries that are further from the chosen one are not seen, and need no words; none where all are searched for some.
    pub(super) near: Option<usize>,
}

/// The lines about the entry of this place.
pub(super) type Detail = fn(&View<'_>, usize, &Room) -> Vec<Pieces>;

/// A list.
pub(super) struct List {
    /// What stands at both ends of the frame.
    pub(super) title: fn(&View<'_>) -> (String, String),
    /// The heads of the columns; empty for a text.
    pub(super) heads: fn(&Room) -> Pieces,
    pub(super) items: fn(&View<'_>, &Room) -> Items,
    /// What is to be said of an entry, in lines; none for a text.
    pub(super) detail: Option<Detail>,
    /// What an empty list says.
    pub(super) empty: fn(&View<'_>) -> String,
    /// Whether what is said of an entry stands beside the list on a wide screen, and not below it.
    pub(super) beside: bool,
    /// The entry that is chosen while nobody has chosen one, of so many.
    pub(super) rest: fn(&View<'_>, &Items) -> usize,
}

/// A list has all the room between header and footer.
pub(super) const ROWS: Rows = Rows { least: 5, wish: 5, share: 1 };
/// Lines around what is inside the frame: the header, the footer, and the frame itself.
const AROUND: u16 = 4;
/// Columns from which on a list has room beside it.
const WIDE: u16 = 160;

impl List {
    /// A text, which is scrolled.
    pub(super) const fn text(
        title: fn(&View<'_>) -> (String, String),
        items: fn(&View<'_>, &Room) -> Items,
        empty: fn(&View<'_>) -> String,
    ) -> Self {
        Self { title, heads: |_| Vec::new(), items, detail: None, beside: false, empty, rest: |_, _| 0 }
    }

    /// The entries that the filter lets through.
    fn items(&self, view: &View<'_>, room: &Room) -> Items {
        let mut items = (self.items)(view, room);
        let sight = &view.screen.sight;
        let text = |item: &Item| item.line.iter().map(|p| p.text.as_str()).collect::<Vec<_>>().join(" ");
        items.shown.retain(|item| (self.detail.is_some() && item.of.is_none()) || sight.lists(&text(item)));
        items
    }

    /// The places of the entries that can be chosen among those that are shown, heads left out.
    fn choices(&self, items: &Items) -> Vec<usize> {
        (0..items.shown.len()).filter(|i| self.detail.is_none() || items.shown[*i].of.is_some()).collect()
    }

    /// The place of the chosen entry among those that are shown.
    fn chosen(&self, view: &View<'_>, items: &Items) -> Option<usize> {
        let choices = self.choices(items);
        let at = view.screen.sight.at.unwrap_or_else(|| (self.rest)(view, items));
        choices.get(at.saturating_sub(items.before).min(choices.len().saturating_sub(1))).copied()
    }

    /// The columns of the list and of what stands beside it; none where that stands below, or has the whole screen.
    fn split(&self, view: &View<'_>, width: u16) -> Option<(u16, u16)> {
        let list = width * 3 / 5;
        let beside = self.beside && width >= WIDE && !view.screen.sight.open;
        beside.then_some((list, width - list))
    }

    /// The room of an entry's line on a screen of this size.
    fn room(&self, view: &View<'_>, (width, height): (u16, u16)) -> Room {
        let width = self.split(view, width).map_or(width, |(list, _)| list);
        let near = view.screen.sight.filter.is_empty().then_some(usize::from(height));
        Room { width: width.saturating_sub(4), signs: view.signs, near }
    }

    /// How far one can go here on a screen of this size.
    pub(super) fn reach(&self, view: &View<'_>, (width, height): (u16, u16)) -> Reach {
        let room = self.room(view, (width, height));
        let items = self.items(view, &room);
        let count = items.before + self.choices(&items).len() + items.after;
        let lines = usize::from(height.saturating_sub(AROUND));
        let chosen = self.chosen(view, &items);
        let goal = chosen.and_then(|i| items.shown[i].goal);
        let of = chosen.and_then(|i| items.shown[i].of);
        let opens = self.detail.is_some() && count > 0;
        let (last, page) = match self.detail {
            None => (count.saturating_sub(lines), lines.saturating_sub(1)),
            Some(detail) if view.screen.sight.open => {
                let all = of.map_or(0, |of| detail(view, of, &room).len());
                (all.saturating_sub(lines), lines.saturating_sub(1))
            }
            Some(_) => (count.saturating_sub(1), lines / 2),
        };
        Reach { last, rest: (self.rest)(view, &items).min(last), page: page.max(1), of, goal, opens, help: 0 }
    }

    /// Paints the list and what is to be said of the chosen entry, below or beside it. The entries are made once a frame.
    pub(super) fn draw(&self, view: &View<'_>, area: Rect, brush: &mut Brush<'_>) {
        let room = self.room(view, (area.width, area.height));
        let items = self.items(view, &room);
        let chosen = self.chosen(view, &items);
        let of = chosen.and_then(|i| items.shown[i].of);
        let (Some(detail), Some(of)) = (self.detail, of) else {
            return self.draw_list(view, area, (&items, &room), brush);
        };
        if view.screen.sight.open {
            return draw_detail(view, area, &detail(view, of, &room), brush);
        }
        let (list, rest) = if let Some((list, rest)) = self.split(view, area.width) {
            (Rect { width: list, ..area }, Rect { x: area.x + list, width: rest, ..area })
        } else {
            let below = detail(view, of, &room).len();
            let height = self.height(items.count(), below, area.height, &room);
            let rest = Rect { y: area.y + height, height: area.height - height, ..area };
            (Rect { height, ..area }, rest)
        };
        self.draw_list(view, list, (&items, &room), brush);
        let room = Room { width: rest.width.saturating_sub(4), ..room };
        draw_detail(view, rest, &detail(view, of, &room), brush);
    }

    /// How high the list is above so many lines about the chosen entry: half of the room, or what these leave.
    fn height(&self, items: usize, below: usize, body: u16, room: &Room) -> u16 {
        let head = u16::from(!(self.heads)(room).is_empty());
        let most = (body / 2).max(body.saturating_sub(below.min(1_000) as u16 + 2));
        (items.min(1_000) as u16 + head + 2).min(most).min(body.saturating_sub(5)).max(4.min(body))
    }

    fn draw_list(&self, view: &View<'_>, area: Rect, (items, room): (&Items, &Room), brush: &mut Brush<'_>) {
        let (left, right) = (self.title)(view);
        let filter = &view.screen.sight.filter;
        let left = if filter.is_empty() { left } else { format!("{left}, those with \"{filter}\"") };
        let mut inner = brush.frame(area, Role::Frame, (&left, &right));
        if items.shown.is_empty() {
            let text = if filter.is_empty() { (self.empty)(view) } else { format!("nothing here has \"{filter}\"") };
            let lines = format::wrap(&text, usize::from(room.width));
            for (y, line) in (inner.y..inner.bottom()).zip(&lines) {
                brush.text((inner.x + 1, y), line, Role::Dim, room.width);
            }
            return;
        }
        let heads = (self.heads)(room);
        if !heads.is_empty() && inner.height > 2 {
            line(&heads, (inner.x + 1, inner.y), room.width, brush);
            inner = Rect { y: inner.y + 1, height: inner.height - 1, ..inner };
        }
        let lines = usize::from(inner.height);
        let chosen = items.before + self.chosen(view, items).unwrap_or(0);
        // A text begins with its first line; of a list the chosen entry stands in the middle where there is more on both sides.
        let first = if self.detail.is_some() { chosen.saturating_sub(lines / 2) } else { chosen };
        let skipped = first.min(items.count().saturating_sub(lines));
        let choices = self.choices(items);
        let shown = (items.before..).zip(&items.shown).skip(skipped.saturating_sub(items.before));
        for (y, (place, item)) in (inner.y..inner.bottom()).zip(shown) {
            if self.detail.is_some() && place == chosen {
                brush.ground(Rect::new(inner.x, y, inner.width, 1), Role::GroundSelect);
                // The ground alone is no sign where there is no colour.
                brush.sign(inner.x, y, room.signs.run, Role::Active);
            }
            if let (Some(_), Ok(choice)) = (self.detail, choices.binary_search(&(place - items.before))) {
                brush.touch(Rect::new(inner.x, y, inner.width, 1), Touch::Row(items.before + choice));
            }
            line(&item.line, (inner.x + 1, y), room.width, brush);
        }
        more(inner, items.count().saturating_sub(skipped + lines), "", brush);
    }
}

/// Paints the lines about the chosen entry.
fn draw_detail(view: &View<'_>, area: Rect, lines: &[Pieces], brush: &mut Brush<'_>) {
    let sight = &view.screen.sight;
    let (role, right) = if sight.open { (Role::FrameFocus, "Esc closes") } else { (Role::Frame, "") };
    let inner = brush.frame(area, role, ("", right));
    let height = usize::from(inner.height);
    let skipped = if sight.open { sight.scroll.min(lines.len().saturating_sub(height)) } else { 0 };
    for (y, pieces) in (inner.y..inner.bottom()).zip(lines.iter().skip(skipped)) {
        line(pieces, (inner.x + 1, y), inner.width.saturating_sub(2), brush);
    }
    let hint = if sight.open { "" } else { ", Enter shows them" };
    more(inner, lines.len().saturating_sub(skipped + height), hint, brush);
}

fn more(inner: Rect, hidden: usize, hint: &str, brush: &mut Brush<'_>) {
    if hidden > 0 && inner.height > 0 {
        brush.text_before(inner.right(), inner.bottom(), &format!(" {hidden} more below{hint} "), Role::Dim);
    }
}

/// Paints a line of pieces within so many columns.
fn line(pieces: &[Piece], (mut x, y): (u16, u16), columns: u16, brush: &mut Brush<'_>) {
    let end = x + columns;
    for piece in pieces {
        let left = end.saturating_sub(x);
        if left == 0 {
            break;
        }
        let wanted = if piece.columns == 0 { format::width(&piece.text) as u16 } else { piece.columns };
        // The blank between two columns stays blank.
        let shown = if piece.columns > 1 { wanted - 1 } else { wanted };
        brush.text((x, y), &piece.text, piece.role, shown.min(left));
        x += wanted.min(left);
    }
}

/// A heading and a text below it, broken into lines of so many columns.
pub(super) fn paragraph(heading: &str, text: &str, role: Role, room: &Room) -> Vec<Pieces> {
    const HEADING: u16 = 11;
    let columns = usize::from(room.width.saturating_sub(HEADING));
    let lines = format::wrap(text, columns).into_iter().enumerate();
    lines
        .map(|(i, line)| vec![piece(if i == 0 { heading } else { "" }, Role::Title, HEADING), piece(line, role, 0)])
        .collect()
}
