//! Comparisons as bars: the limit as a mark, what was measured as a point on its interval, and the good side always on the right, so that
//! floors and ceilings are read alike. All bars of a list have one scale, in percent of the limit.

use super::list::{Pieces, piece};
use crate::view::theme::Role;
use crate::view::tui::look::Signs;
use crate::vocab::verdict::{Decision, Numbers};

/// The ends that a scale may have, as shares of the limit.
const ENDS: [f64; 6] = [0.02, 0.05, 0.1, 0.25, 0.5, 1.0];

/// How far on the good side of the limit a value is, as a share of it; none where the limit is zero.
fn good(numbers: &Numbers, value: f64) -> Option<f64> {
    let side = if numbers.above_is_good { 1.0 } else { -1.0 };
    let share = side * (value - numbers.limit) / numbers.limit.abs();
    share.is_finite().then_some(share)
}

/// The smallest scale on which all that was measured has its place, with room around it; what is further off stands at its end, and an
/// interval that is wider ends there.
pub(super) fn scale<'a>(all: impl Iterator<Item = &'a Numbers>) -> f64 {
    let most = all.filter_map(|n| good(n, n.value)).fold(0.0, |far: f64, share| far.max(share.abs()));
    ENDS.into_iter().find(|end| most <= 0.9 * end).unwrap_or(1.0)
}

/// The head of a column of bars: its ends, and where the limit is.
pub(super) fn head(scale: f64, columns: u16) -> Pieces {
    let end = |sign: char| format!("{sign}{:.0} %", 100.0 * scale);
    let (left, middle, right) = (end('-'), "limit", end('+'));
    let last = usize::from(columns.saturating_sub(2));
    let before = last.div_ceil(2).saturating_sub(left.len() + middle.len() / 2);
    let text = format!("{left}{}{middle}", " ".repeat(before));
    let after = (last + 1).saturating_sub(text.len() + right.len());
    vec![piece(format!("{text}{}{right}", " ".repeat(after)), Role::Dim, columns)]
}

/// A comparison as a bar; its last column stays blank.
pub(super) fn bar(numbers: &Numbers, decision: Option<Decision>, scale: f64, columns: u16, signs: &Signs) -> Pieces {
    let last = columns.saturating_sub(2);
    let (low, high) = numbers.interval.unwrap_or((numbers.value, numbers.value));
    let Some([value, low, high]) = sides(numbers, [numbers.value, low, high]) else {
        return vec![piece("a limit of 0", Role::Dim, columns)];
    };
    let place = |share: f64| (f64::midpoint((share / scale).clamp(-1.0, 1.0), 1.0) * f64::from(last)).round() as u16;
    let (at, from, to, limit) = (place(value), place(low.min(high)), place(low.max(high)), place(0.0));
    let off_by = numbers.limit_off_by / numbers.limit.abs();
    let band = (place(-off_by), place(off_by));
    let role = decision.map_or(Role::Figure, role);
    let mut pieces: Pieces = (0..=last)
        .map(|x| match x {
            x if x == at && value > scale => piece(">", role, 1),
            x if x == at && value < -scale => piece("<", role, 1),
            x if x == at => piece(signs.figure, role, 1),
            x if x == limit => piece(signs.cursor, Role::Limit, 1),
            x if (from..=to).contains(&x) => piece(signs.mark_of_interval, role, 1),
            x if (band.0..=band.1).contains(&x) && off_by > 0.0 => piece(signs.limit, Role::Limit, 1),
            x if x > limit => piece(signs.track, Role::Ok, 1),
            _ => piece(" ", Role::Dim, 1),
        })
        .collect();
    pieces.push(piece(" ", Role::Dim, columns.saturating_sub(last + 1)));
    pieces
}

fn sides(numbers: &Numbers, values: [f64; 3]) -> Option<[f64; 3]> {
    let [value, low, high] = values.map(|v| good(numbers, v));
    Some([value?, low?, high?])
}

fn role(decision: Decision) -> Role {
    match decision {
        Decision::Pass => Role::Ok,
        Decision::NotProven => Role::Unproven,
        Decision::Fail => Role::Fail,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::theme::{Glyphs, Theme};
    use crate::view::tui::look::Look;
    use crate::vocab::unit::Unit;

    fn drawn(value: f64, interval: Option<(f64, f64)>, limit: f64, above_is_good: bool) -> String {
        let look = Look { theme: Theme::load("mono", None).unwrap(), glyphs: Glyphs::Ascii };
        let numbers = Numbers { unit: Unit::Percent, value, interval, limit, limit_off_by: 0.0, above_is_good };
        bar(&numbers, None, scale([numbers].iter()), 22, look.signs()).iter().map(|p| p.text.as_str()).collect()
    }

    #[test]
    fn the_good_side_is_on_the_right_of_floors_and_ceilings() {
        assert_eq!(drawn(120.0, Some((115.0, 125.0)), 100.0, true), "          |.....==o== ");
        assert_eq!(drawn(80.0, Some((75.0, 85.0)), 100.0, false), "          |.....==o== ");
        assert_eq!(drawn(120.0, None, 100.0, false), "  o       |.......... ");
    }

    #[test]
    fn what_is_off_the_scale_stands_at_its_end() {
        assert_eq!(drawn(1_000.0, None, 100.0, true), "          |.........> ");
        assert_eq!(drawn(1_000.0, None, 100.0, false), "<         |.......... ");
        assert_eq!(drawn(1.0, None, 0.0, false), "a limit of 0");
    }

    #[test]
    fn a_scale_has_round_ends_and_room_for_all() {
        let of = |value| Numbers {
            unit: Unit::Percent,
            value,
            interval: None,
            limit: 100.0,
            limit_off_by: 0.0,
            above_is_good: true,
        };
        assert_eq!(scale([of(101.0), of(104.0)].iter()), 0.05);
        assert_eq!(scale([of(101.0), of(60.0)].iter()), 0.5);
        assert_eq!(scale([of(9e9)].iter()), 1.0);
    }
}
