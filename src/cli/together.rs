//! What must hold of runs that go on at the same time, and of those that go on for a given time.

use crate::vocab::moment::Span;
use crate::vocab::plan::{Plan, Run};

/// That groups are neighbours, and that times mean something.
///
/// # Errors
/// The path of the field, and what is wrong with it.
pub(super) fn validate(plan: &Plan) -> Result<(), String> {
    for (i, run) in plan.runs.iter().enumerate() {
        neighbours(&plan.runs[..i], run)
            .and_then(|()| time(run))
            .map_err(|(field, why)| format!("runs[{i}].{field}: {why}"))?;
    }
    Ok(())
}

fn neighbours(before: &[Run], run: &Run) -> Result<(), (&'static str, String)> {
    let Some(word) = &run.together else { return Ok(()) };
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if word.is_empty() || !word.chars().all(plain) {
        return Err(("together", format!("`{word}` is no name; expected lower-case letters, digits and `-`")));
    }
    let same = |other: &Run| other.together.as_ref() == Some(word);
    match (before.iter().rposition(same), before.last()) {
        (Some(last), Some(between)) if last + 1 < before.len() => {
            let (first, between) = (&before[last].name, &between.name);
            Err((
                "together",
                format!(
                    "`{word}` is the word of `{first}` too, and `{between}` stands between; expected neighbouring runs"
                ),
            ))
        }
        _ => Ok(()),
    }
}

fn time(run: &Run) -> Result<(), (&'static str, String)> {
    if let Some(rest) = run.rest {
        let none = [("rest.after", rest.after), ("rest.lasting", rest.lasting)];
        if let Some((field, _)) = none.into_iter().find(|(_, span)| *span == Span::ZERO) {
            return Err((field, "0 s is no rhythm of work and rest; expected more than nothing".to_owned()));
        }
    }
    let Some(lasting) = run.lasting else { return Ok(()) };
    if lasting == Span::ZERO {
        return Err((
            "lasting",
            "0 s would measure nothing; expected more than nothing, or iterations alone".to_owned(),
        ));
    }
    if run.until_steady.is_some() {
        return Err((
            "lasting",
            "a run ends by its time or by being steady; expected one of lasting and until_steady".to_owned(),
        ));
    }
    if run.repeat_disturbed > 0 {
        return Err((
            "lasting",
            "a run that ends by its time does no iteration again; expected one of lasting and repeat_disturbed"
                .to_owned(),
        ));
    }
    match run.deadline.filter(|deadline| *deadline <= lasting) {
        Some(deadline) => {
            Err(("deadline", format!("it is given up after {deadline}, before its {lasting} are over; expected more")))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shelf::Book;
    use crate::vocab::plan::Plan;

    fn parsed(runs: &[(&str, &str)]) -> Result<Plan, String> {
        let run = |(name, more): &(&str, &str)| format!("(name: \"{name}\", kernel: Integer(){more})");
        let runs: Vec<String> = runs.iter().map(run).collect();
        let text = format!("(title: \"t\", runs: [{}])", runs.join(","));
        super::super::presets::parse(&Book { name: "t".to_owned(), path: None, text })
    }

    fn why(runs: &[(&str, &str)]) -> String {
        parsed(runs).unwrap_err()
    }

    #[test]
    fn neighbours_make_a_group_and_others_do_not() {
        let load = ", together: \"load\"";
        let plan = parsed(&[("a", ""), ("b", load), ("c", load), ("d", ", together: \"x\"")]).unwrap();
        assert_eq!(plan.groups().map(<[Run]>::len).collect::<Vec<_>>(), [1, 2, 1]);
        let apart = why(&[("a", load), ("b", ""), ("c", load)]);
        assert!(apart.contains("runs[2].together: `load` is the word of `a` too, and `b` stands between"), "{apart}");
        assert!(why(&[("a", ", together: \"\"")]).contains("runs[0].together: `` is no name"));
    }

    #[test]
    fn times_that_mean_nothing_are_refused() {
        for (more, expected) in [
            (", lasting: \"0 s\"", "runs[0].lasting: 0 s would measure nothing"),
            (
                ", lasting: \"1 h\", iterations: 9, until_steady: ()",
                "runs[0].lasting: a run ends by its time or by being",
            ),
            (", lasting: \"1 h\", repeat_disturbed: 1", "runs[0].lasting: a run that ends by its time does no"),
            (
                ", lasting: \"1 h\", deadline: \"59 min\"",
                "runs[0].deadline: it is given up after 59:00, before its 1:00:00",
            ),
            (", rest: (after: \"0 s\", lasting: \"1 s\")", "runs[0].rest.after: 0 s is no rhythm"),
            (", rest: (after: \"1 s\", lasting: \"0 s\")", "runs[0].rest.lasting: 0 s is no rhythm"),
        ] {
            assert!(why(&[("a", more)]).contains(expected), "{}", why(&[("a", more)]));
        }
        assert!(parsed(&[("a", ", lasting: \"8 h\", rest: (after: \"50 min\", lasting: \"10 min\")")]).is_ok());
    }
}
