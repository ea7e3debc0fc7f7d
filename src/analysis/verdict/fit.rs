//! Parts that were ordered, several of a kind, against parts that were found.
//!
//! Each place of the order takes one part: a matching in a bipartite graph, made as large as it can be by augmenting paths (Berge, 1957).
//! So a part that fits two kinds never makes one of them fail, and a part that is taken away never makes anything better.

use crate::vocab::verdict::Decision;

/// Parts and reasons that a line names at most.
const NAMED: usize = 6;

/// How a part that was found stands to what was ordered.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fit {
    Yes,
    /// The node does not tell, and what to do.
    Open(String),
    /// In what it differs.
    No(String),
}

impl Fit {
    /// What several properties together come to.
    pub(super) fn all(fits: impl IntoIterator<Item = Self>) -> Self {
        let (mut differs, mut open) = (Vec::new(), Vec::new());
        for fit in fits {
            match fit {
                Self::Yes => {}
                Self::Open(why) => open.push(why),
                Self::No(how) => differs.push(how),
            }
        }
        match (differs.is_empty(), open.is_empty()) {
            (false, _) => Self::No(differs.join(" and ")),
            (true, false) => Self::Open(open.join(", ")),
            (true, true) => Self::Yes,
        }
    }
}

/// A kind that was ordered: how many, and how each part stands to it.
pub(super) struct Kind {
    pub(super) count: u32,
    pub(super) fits: Vec<Fit>,
}

/// What a kind came to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    pub(super) decision: Decision,
    /// `7 of 8`.
    pub(super) measured: String,
    pub(super) reason: String,
}

/// Holds kinds against parts with these names.
pub(super) fn compare(kinds: &[Kind], parts: &[String]) -> Vec<Found> {
    let sure = Matching::new(kinds, parts.len(), |fit| *fit == Fit::Yes, None);
    let most = Matching::new(kinds, parts.len(), |fit| !matches!(fit, Fit::No(_)), Some(&sure));
    let beyond: Vec<&str> =
        (0..parts.len()).filter(|part| most.of[*part].is_none()).map(|part| parts[part].as_str()).collect();
    let judge = |(number, kind): (usize, &Kind)| {
        let (sure, most_of) = (sure.of_kind(number), most.of_kind(number));
        let decision = if sure >= kind.count {
            Decision::Pass
        } else if most_of >= kind.count {
            Decision::NotProven
        } else {
            Decision::Fail
        };
        let reason = match decision {
            Decision::Pass if number + 1 == kinds.len() && !beyond.is_empty() => {
                format!(
                    "all that was ordered is there; more than that: {}",
                    listed(beyond.iter().map(|part| (*part).to_owned()))
                )
            }
            Decision::Pass => "all that was ordered is there".to_owned(),
            Decision::NotProven => listed((0..parts.len()).filter_map(|part| match &kind.fits[part] {
                Fit::Open(why) => Some(format!("{}: {why}", parts[part])),
                _ => None,
            })),
            Decision::Fail => missing(kind, most_of, &most, parts),
        };
        Found { decision, measured: format!("{} of {}", sure.min(kind.count), kind.count), reason }
    };
    kinds.iter().enumerate().map(judge).collect()
}

/// What is missing, and the parts that are there and could have been meant for it.
fn missing(kind: &Kind, found: u32, most: &Matching, parts: &[String]) -> String {
    let differs = (0..parts.len()).filter(|part| most.of[*part].is_none()).filter_map(|part| match &kind.fits[part] {
        Fit::No(how) => Some(format!("{} {how}", parts[part])),
        _ => None,
    });
    let differs: Vec<String> = differs.collect();
    let lacking = kind.count - found;
    let verb = if lacking == 1 { "is" } else { "are" };
    match differs.len() {
        0 => format!("{lacking} {verb} missing"),
        _ => format!("{lacking} {verb} missing: {}", listed(differs.into_iter())),
    }
}

fn listed(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    let more = names.len().saturating_sub(NAMED);
    let shown = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join("; ");
    if more == 0 { shown } else { format!("{shown}; and {more} more") }
}

/// Which part stands in a place of which kind.
struct Matching {
    of: Vec<Option<(usize, u32)>>,
}

impl Matching {
    /// The largest one, grown from another so that what is sure stays.
    fn new(kinds: &[Kind], parts: usize, may: impl Fn(&Fit) -> bool, from: Option<&Self>) -> Self {
        let mut matching = Self { of: from.map_or_else(|| vec![None; parts], |from| from.of.clone()) };
        for (number, kind) in kinds.iter().enumerate() {
            // There is no use in more places than there are parts for.
            let places = kind.count.min(u32::try_from(parts).unwrap_or(u32::MAX));
            for place in (0..places).map(|place| (number, place)) {
                if !matching.of.contains(&Some(place)) {
                    matching.fill(place, kinds, &may, &mut vec![false; parts]);
                }
            }
        }
        matching
    }

    /// Finds a part for a place, moving others to where they fit as well.
    fn fill(&mut self, place: (usize, u32), kinds: &[Kind], may: &impl Fn(&Fit) -> bool, seen: &mut [bool]) -> bool {
        for part in 0..self.of.len() {
            if seen[part] || !may(&kinds[place.0].fits[part]) {
                continue;
            }
            seen[part] = true;
            let is_free = match self.of[part] {
                None => true,
                Some(other) => self.fill(other, kinds, may, seen),
            };
            if is_free {
                self.of[part] = Some(place);
                return true;
            }
        }
        false
    }

    fn of_kind(&self, kind: usize) -> u32 {
        self.of.iter().flatten().filter(|(number, _)| *number == kind).count() as u32
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kind(count: u32, fits: &str) -> Kind {
        let fit = |c| match c {
            'y' => Fit::Yes,
            'o' => Fit::Open("nobody tells".to_owned()),
            _ => Fit::No("is another".to_owned()),
        };
        Kind { count, fits: fits.chars().map(fit).collect() }
    }

    fn decisions(kinds: &[Kind]) -> Vec<Decision> {
        let parts: Vec<String> = (0..kinds[0].fits.len()).map(|n| format!("d{n}")).collect();
        compare(kinds, &parts).into_iter().map(|found| found.decision).collect()
    }

    #[test]
    fn a_part_that_fits_two_kinds_is_given_to_the_one_that_needs_it() {
        assert_eq!(decisions(&[kind(2, "yyy"), kind(1, "ynn")]), [Decision::Pass; 2]);
        assert_eq!(decisions(&[kind(2, "yyn"), kind(1, "ynn")]), [Decision::Pass, Decision::Fail]);
        assert_eq!(decisions(&[kind(1, "oy"), kind(1, "yn")]), [Decision::Pass; 2]);
        assert_eq!(decisions(&[kind(2, "yo"), kind(u32::MAX, "nn")]), [Decision::NotProven, Decision::Fail]);
    }

    #[test]
    fn what_is_missing_and_what_is_beyond_is_named() {
        let parts = ["d0".to_owned(), "d1".to_owned()];
        let found = |kinds: &[Kind]| compare(kinds, &parts).remove(0);
        assert_eq!(
            (found(&[kind(2, "yn")]).measured.as_str(), found(&[kind(2, "yn")]).reason.as_str()),
            ("1 of 2", "1 is missing: d1 is another")
        );
        assert_eq!(found(&[kind(4, "yy")]).reason, "2 are missing");
        assert_eq!(found(&[kind(1, "yy")]).reason, "all that was ordered is there; more than that: d1");
        assert_eq!(found(&[kind(2, "yo")]).reason, "d1: nobody tells");
    }

    proptest! {
        #[test]
        fn a_part_that_is_taken_away_makes_nothing_better(
            fits in prop::collection::vec("[yon]{6}", 1..4), counts in prop::collection::vec(1_u32..4, 3), gone in 0_usize..6,
        ) {
            let all: Vec<Kind> = fits.iter().zip(&counts).map(|(fits, count)| kind(*count, fits)).collect();
            let fewer: Vec<Kind> = fits.iter().zip(&counts).map(|(fits, count)| {
                let fits: String = fits.chars().enumerate().filter(|(n, _)| *n != gone).map(|(_, c)| c).collect();
                kind(*count, &fits)
            }).collect();
            prop_assert!(decisions(&fewer).into_iter().max() >= decisions(&all).into_iter().max());
        }
    }
}
