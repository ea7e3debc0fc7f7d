//! Roles and signs as this terminal shows them, and the brush that panes paint with. The only place that turns a role into a style.

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

use super::touch::{Touch, Touches};
use crate::view::format;
use crate::view::theme::{Colour, Glyphs, Role, Theme};
use crate::vocab::text::is_plain;

/// The characters that stand for things. Every state has a sign of its own, so that colour is never the only one.
#[derive(Debug)]
pub(super) struct Signs {
    pub(super) ok: &'static str,
    pub(super) warn: &'static str,
    pub(super) fail: &'static str,
    pub(super) unproven: &'static str,
    pub(super) wait: &'static str,
    pub(super) run: &'static str,
    pub(super) limit: &'static str,
    /// What another machine did.
    pub(super) ghost: &'static str,
    pub(super) figure: &'static str,
    pub(super) cursor: &'static str,
    pub(super) mark: &'static str,
    pub(super) tick: &'static str,
    /// What lies in an interval.
    pub(super) mark_of_interval: &'static str,
    /// The good side of a limit.
    pub(super) track: &'static str,
    /// Top left, top right, bottom left, bottom right, horizontal, vertical.
    pub(super) frame: [&'static str; 6],
    /// Bars from the lowest to the highest.
    pub(super) bars: &'static [&'static str],
}

const LINES: [&str; 6] = ["┌", "┐", "└", "┘", "─", "│"];
const BARS: &[&str] = &["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

const BRAILLE: Signs = Signs {
    ok: "✓",
    warn: "!",
    fail: "✗",
    unproven: "?",
    wait: "◦",
    run: "▸",
    limit: "╌",
    ghost: "·",
    figure: "◉",
    cursor: "│",
    mark: "━",
    tick: "┴",
    mark_of_interval: "━",
    track: "·",
    frame: ["╭", "╮", "╰", "╯", "─", "│"],
    bars: BARS,
};

const BLOCK: Signs = Signs { frame: LINES, figure: "o", wait: ".", run: ">", ..BRAILLE };

const ASCII: Signs = Signs {
    ok: "+",
    fail: "X",
    wait: ".",
    run: ">",
    limit: "-",
    ghost: "~",
    figure: "o",
    cursor: "|",
    mark: "^",
    tick: "+",
    mark_of_interval: "=",
    track: ".",
    frame: ["+", "+", "+", "+", "-", "|"],
    bars: &["_", ".", ":", "-", "=", "+", "*", "#"],
    ..BRAILLE
};

/// How things look on this terminal.
#[derive(Clone, Debug)]
pub(super) struct Look {
    pub(super) theme: Theme,
    pub(super) glyphs: Glyphs,
}

impl Look {
    pub(super) fn signs(&self) -> &'static Signs {
        match self.glyphs {
            Glyphs::Braille => &BRAILLE,
            Glyphs::Block => &BLOCK,
            Glyphs::Ascii => &ASCII,
        }
    }

    /// Text in a role, on whatever ground is there.
    pub(super) fn text(&self, role: Role) -> Style {
        // What was written here before must not shine through, but for the reversal that a ground may be made of.
        let plain = Style::new().remove_modifier(Modifier::BOLD | Modifier::DIM | Modifier::UNDERLINED);
        plain.patch(self.modifiers(role)).fg(color(self.theme.paint(role).colour))
    }

    /// A role as the ground behind text.
    pub(super) fn ground(&self, role: Role) -> Style {
        let style = self.modifiers(role);
        match self.theme.paint(role).colour {
            Colour::None => style,
            colour => style.bg(color(colour)),
        }
    }

    fn modifiers(&self, role: Role) -> Style {
        let paint = self.theme.paint(role);
        let all = [
            (paint.bold, Modifier::BOLD),
            (paint.dim, Modifier::DIM),
            (paint.reverse, Modifier::REVERSED),
            (paint.underline, Modifier::UNDERLINED),
        ];
        let set = all.iter().filter(|(on, _)| *on).fold(Modifier::empty(), |sum, (_, m)| sum | *m);
        Style::new().add_modifier(set)
    }
}

fn color(colour: Colour) -> Color {
    match colour {
        Colour::None => Color::Reset,
        Colour::Ansi(i) | Colour::Indexed(i) => Color::Indexed(i),
        Colour::Rgb(r, g, b) => Color::Rgb(r, g, b),
    }
}

/// Paints into a buffer by role; whatever lies outside the buffer is left out.
#[derive(Debug)]
pub(super) struct Brush<'a> {
    pub(super) buffer: &'a mut Buffer,
    pub(super) look: &'a Look,
    /// What of the painted can be touched.
    pub(super) touches: Touches,
}

impl<'a> Brush<'a> {
    pub(super) fn new(buffer: &'a mut Buffer, look: &'a Look) -> Self {
        Self { buffer, look, touches: Touches::default() }
    }

    /// Says what a touch of an area means.
    pub(super) fn touch(&mut self, area: Rect, touch: Touch) {
        self.touches.add(area, touch);
    }

    /// Writes harmless text within `columns`; gives the column behind it.
    pub(super) fn text(&mut self, at: (u16, u16), text: &str, role: Role, columns: u16) -> u16 {
        let (x, y) = at;
        if !self.buffer.area.contains((x, y).into()) {
            return x;
        }
        let text = format::cut(text, usize::from(columns));
        let style = self.look.text(role);
        if !is_plain(&text) {
            return self.buffer.set_stringn(x, y, text, usize::from(columns), style).0;
        }
        // Without looking for what belongs together, which is most of the time of a frame.
        let end = self.buffer.area.right().min(x + text.len() as u16);
        let first = self.buffer.index_of(x, y);
        for (cell, at) in self.buffer.content[first..first + usize::from(end - x)].iter_mut().zip(0..) {
            cell.set_symbol(&text[at..=at]).set_style(style);
        }
        end
    }

    /// Writes a text so that it ends before the column `end`.
    pub(super) fn text_before(&mut self, end: u16, y: u16, text: &str, role: Role) -> u16 {
        let columns = format::width(text).min(usize::from(end)) as u16;
        self.text((end - columns, y), text, role, columns);
        end - columns
    }

    /// One sign.
    pub(super) fn sign(&mut self, x: u16, y: u16, sign: &str, role: Role) {
        let style = self.look.text(role);
        if let Some(cell) = self.buffer.cell_mut((x, y)) {
            cell.set_symbol(sign).set_style(style);
        }
    }

    /// Signs from left to right; a blank leaves what is there.
    pub(super) fn signs(&mut self, (x, y): (u16, u16), signs: &[&str], role: Role) {
        let style = self.look.text(role);
        for (x, sign) in (x..).zip(signs).filter(|(_, sign)| **sign != " ") {
            if let Some(cell) = self.buffer.cell_mut((x, y)) {
                cell.set_symbol(sign).set_style(style);
            }
        }
    }

    /// Marks a cell as under the cursor without hiding what stands in it.
    pub(super) fn cursor(&mut self, x: u16, y: u16) {
        let empty = self.buffer.cell((x, y)).is_some_and(|c| c.symbol() == " ");
        if empty {
            self.sign(x, y, self.look.signs().cursor, Role::Cursor);
        } else if let Some(cell) = self.buffer.cell_mut((x, y)) {
            cell.modifier.toggle(Modifier::REVERSED);
        }
    }

    /// Lays a ground, leaving the text.
    pub(super) fn ground(&mut self, area: Rect, role: Role) {
        let style = self.look.ground(role);
        if style != Style::new() {
            self.buffer.set_style(area, style);
        }
    }

    /// Empties an area.
    pub(super) fn clear(&mut self, area: Rect) {
        let area = area.intersection(self.buffer.area);
        let mut empty = Cell::EMPTY;
        empty.set_style(self.look.ground(Role::Ground));
        for y in (area.top()..area.bottom()).filter(|_| area.width > 0) {
            let start = self.buffer.index_of(area.x, y);
            self.buffer.content[start..start + usize::from(area.width)].fill(empty.clone());
        }
        self.touch(area, Touch::Nothing);
    }

    /// Draws a frame with a title at each end of its upper side; gives what is inside.
    pub(super) fn frame(&mut self, area: Rect, role: Role, titles: (&str, &str)) -> Rect {
        let [top_left, top_right, bottom_left, bottom_right, across, down] = self.look.signs().frame;
        if area.width < 4 || area.height < 2 {
            return Rect::new(area.x, area.y, 0, 0);
        }
        let (right, bottom) = (area.right() - 1, area.bottom() - 1);
        for x in area.x + 1..right {
            self.sign(x, area.y, across, role);
            self.sign(x, bottom, across, role);
        }
        for y in area.y + 1..bottom {
            self.sign(area.x, y, down, role);
            self.sign(right, y, down, role);
        }
        for (x, y, corner) in [
            (area.x, area.y, top_left),
            (right, area.y, top_right),
            (area.x, bottom, bottom_left),
            (right, bottom, bottom_right),
        ] {
            self.sign(x, y, corner, role);
        }
        let (left_title, right_title) = titles;
        let mut end = right;
        let room = usize::from(area.width.saturating_sub(4));
        if !right_title.is_empty() && format::width(left_title) + format::width(right_title) + 6 <= room {
            end = self.text_before(right - 1, area.y, &format!(" {right_title} "), Role::Dim);
        }
        if !left_title.is_empty() {
            let columns = end.saturating_sub(area.x + 3);
            self.text((area.x + 2, area.y), &format!(" {left_title} "), Role::Title, columns);
        }
        Rect::new(area.x + 1, area.y + 1, area.width - 2, area.height - 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Colour is never the only sign: a person who sees none, and a terminal that has none, lose nothing.
    #[test]
    fn every_state_has_a_sign_of_its_own_in_every_set_of_glyphs() {
        for signs in [&BRAILLE, &BLOCK, &ASCII] {
            let states = [signs.ok, signs.warn, signs.fail, signs.unproven, signs.run, signs.wait];
            let others = |i: usize| states.iter().enumerate().filter(move |(j, _)| *j != i);
            for (i, sign) in states.iter().enumerate() {
                assert!(format::width(sign) == 1 && others(i).all(|(_, other)| other != sign), "{sign}: {signs:?}");
            }
        }
    }
}
