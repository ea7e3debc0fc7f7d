//! Curves and bars as characters: braille dots, blocks or ASCII. Knows cells and values, no colours and no meaning.

use super::axis::{Axis, unbroken};
use super::look::Signs;
use crate::analysis::series::Point;
use crate::view::theme::Glyphs;

/// Dots in a braille cell, by column and row from the top.
const DOTS: [[u32; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];

/// A curve as cells, row by row from the top.
#[derive(Debug)]
pub(super) struct Curve {
    pub(super) columns: usize,
    pub(super) cells: Vec<Option<char>>,
}

impl Curve {
    /// The uppermost cell of a column that the curve goes through.
    pub(super) fn top(&self, column: usize) -> Option<usize> {
        (0..self.cells.len() / self.columns.max(1)).find(|row| self.cells[row * self.columns + column].is_some())
    }
}

/// The row of a value among `rows` on a scale from 0 at the bottom to `max` at the top.
pub(super) fn row(value: f64, max: f64, rows: usize) -> usize {
    let share = if max > 0.0 { (value / max).clamp(0.0, 1.0) } else { 0.0 };
    ((1.0 - share) * rows.saturating_sub(1) as f64).round() as usize
}

/// Draws readings over an axis, `rows` high, on a scale from 0 to `max`.
pub(super) fn curve(glyphs: Glyphs, axis: &Axis, points: &[Point], rows: usize, max: f64) -> Curve {
    match glyphs {
        Glyphs::Braille => braille(axis, points, rows, max),
        Glyphs::Block => steps(axis, points, rows, max, ['▀', '▄', '█']),
        Glyphs::Ascii => steps(axis, points, rows, max, ['*', '*', '|']),
    }
}

fn braille(axis: &Axis, points: &[Point], rows: usize, max: f64) -> Curve {
    let columns = axis.columns;
    let mut masks = vec![0u32; columns * rows];
    let mut dot = |x: usize, y: usize| {
        if let Some(mask) = masks.get_mut(y / 4 * columns + x / 2) {
            *mask |= DOTS[x % 2][y % 4];
        }
    };
    for run in unbroken(points) {
        let places = run.iter().filter_map(|p| Some((axis.place(p.at, columns * 2)?, row(p.value, max, rows * 4))));
        let mut last: Option<(usize, usize)> = None;
        for (x, y) in places {
            let (from_x, from_y) = last.unwrap_or((x, y));
            let length = x.abs_diff(from_x).max(y.abs_diff(from_y)).max(1);
            for i in 0..=length {
                let between =
                    |a: usize, b: usize| (a as f64 + (b as f64 - a as f64) * i as f64 / length as f64).round();
                dot(between(from_x, x) as usize, between(from_y, y) as usize);
            }
            last = Some((x, y));
        }
    }
    let cells = masks.iter().map(|m| if *m == 0 { None } else { char::from_u32(0x2800 + m) }).collect();
    Curve { columns, cells }
}

/// One value a column, two steps a cell, with the third glyph where the curve goes straight up or down.
fn steps(axis: &Axis, points: &[Point], rows: usize, max: f64, [upper, lower, whole]: [char; 3]) -> Curve {
    let columns = axis.columns;
    let mut cells = vec![None; columns * rows];
    let mut last: Option<usize> = None;
    for (column, value) in axis.spread(points).into_iter().enumerate() {
        let place = value.map(|v| row(v, max, rows * 2));
        if let Some(place) = place {
            let here = place / 2;
            if let Some(before) = last.map(|l| l / 2) {
                (before.min(here)..before.max(here)).skip(1).for_each(|r| cells[r * columns + column] = Some(whole));
            }
            cells[here * columns + column] = Some(if place % 2 == 0 { upper } else { lower });
        }
        last = place;
    }
    Curve { columns, cells }
}

/// Bars of values on a scale from 0 to `max`, `rows` high, each row a sign a column, the upper row first.
/// A gap is a space; a reading of nothing is the lowest bar, so that zero and unknown differ. The highest bar stays below the full
/// cell, so that rows below each other do not run together.
pub(super) fn bars(signs: &Signs, values: &[Option<f64>], max: f64, rows: usize) -> Vec<Vec<&'static str>> {
    let levels = signs.bars.len();
    let height = |value: f64| if max > 0.0 { (value / max).clamp(0.0, 1.0) * (levels * rows - 1) as f64 } else { 0.0 };
    let cell = |value: Option<f64>, above: usize| {
        let filled = value.map_or(0, |v| (height(v).round() as usize).max(1)).saturating_sub(above * levels);
        if filled == 0 { " " } else { signs.bars[filled.min(levels) - 1] }
    };
    (0..rows).rev().map(|above| values.iter().map(|v| cell(*v, above)).collect()).collect()
}

/// The next round number to end a scale with; its half and quarter are printed too.
pub(super) fn round_up(value: f64) -> f64 {
    if !(value.is_finite() && value > 0.0) {
        return 1.0;
    }
    let decade = 10f64.powf(value.log10().floor());
    let steps = [1.0, 1.2, 1.6, 2.0, 2.4, 3.0, 4.0, 5.0, 6.0, 8.0];
    steps.iter().map(|s| s * decade).find(|s| *s >= value * (1.0 - 1e-9)).unwrap_or(10.0 * decade)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::moment::Moment;

    fn text(curve: &Curve) -> Vec<String> {
        curve.cells.chunks(curve.columns).map(|row| row.iter().map(|c| c.unwrap_or(' ')).collect()).collect()
    }

    #[test]
    fn a_fall_is_drawn_in_every_set_of_glyphs() {
        let axis = Axis { from: Moment(0), to: Moment(800_000), columns: 8 };
        let value = |i: u64| if i < 4 { 100.0 } else { 0.0 };
        let points: Vec<Point> = (0..8).map(|i| Point { at: Moment(i * 100_000 + 1), value: value(i) }).collect();
        let drawn = |glyphs| text(&curve(glyphs, &axis, &points, 4, 100.0));
        assert_eq!(drawn(Glyphs::Ascii), ["****    ", "    |   ", "    |   ", "    ****"]);
        assert_eq!(drawn(Glyphs::Block), ["▀▀▀▀    ", "    █   ", "    █   ", "    ▄▄▄▄"]);
        assert_eq!(drawn(Glyphs::Braille), ["⠉⠉⠉⡇    ", "   ⢸    ", "   ⢸    ", "    ⣇⣀⣀⡀"].map(str::to_owned));
    }

    #[test]
    fn bars_tell_zero_from_unknown() {
        let values = [Some(0.0), None, Some(50.0), Some(100.0)];
        let signs = crate::view::tui::look::Look {
            theme: crate::view::theme::Theme::load("mono", None).unwrap(),
            glyphs: Glyphs::Braille,
        }
        .signs();
        assert_eq!(bars(signs, &values, 100.0, 1), [["▁", " ", "▄", "▇"]]);
        assert_eq!(bars(signs, &values, 100.0, 2), [[" ", " ", " ", "▇"], ["▁", " ", "█", "█"]]);
    }

    #[test]
    fn scales_end_on_round_numbers() {
        for (value, expected) in [(0.0, 1.0), (104.0, 120.0), (250.0, 300.0), (58.1, 60.0), (0.9, 1.0), (1.0, 1.0)] {
            assert!((round_up(value) - expected).abs() < 1e-9, "{value}");
        }
    }
}
