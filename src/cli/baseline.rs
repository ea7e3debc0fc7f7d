//! Baselines: what several sessions of good nodes have shown, as a file of RON.

use ron::ser::{PrettyConfig, to_string_pretty};

use crate::vocab::reference::Profile;
use crate::vocab::ronfile;
use crate::vocab::text::neutral;

/// Reads a baseline and checks that it makes sense.
///
/// # Errors
/// One line: `name:line:column: what is wrong, what was expected`, or the name of the figure that makes no sense.
pub fn parse(name: &str, text: &str) -> Result<Profile, String> {
    let profile: Profile = ronfile::parse(name, text)?;
    let fault = |what: String| Err(neutral(&format!("{name}: {what}")));
    if profile.figures.is_empty() {
        return fault("there is no figure in it".to_owned());
    }
    if profile.sessions == 0 {
        return fault("sessions: 0 have measured nothing".to_owned());
    }
    for (figure, values) in &profile.figures {
        if !figure.split_once('.').is_some_and(|(run, figure)| !run.is_empty() && !figure.is_empty()) {
            return fault(format!("figures: `{figure}` is not of the form RUN.FIGURE"));
        }
        if values.values.is_empty() {
            return fault(format!("figures: `{figure}` has no values"));
        }
        if values.values.iter().any(|value| !value.is_finite()) {
            return fault(format!("figures: `{figure}` has a value that is not a finite number"));
        }
    }
    if let Some((roof, _)) = profile.roofs.iter().find(|(_, roof)| roof.value <= 0.0) {
        return fault(format!("roofs: `{roof}` is not above zero"));
    }
    Ok(profile)
}

/// The text of a baseline, with a heading that says what it is.
///
/// # Errors
/// Why it cannot be written as RON.
pub fn print(profile: &Profile) -> Result<String, String> {
    let pretty = PrettyConfig::new().compact_arrays(true);
    let body = to_string_pretty(profile, pretty).map_err(|why| why.to_string())?;
    let sessions = profile.from.split(", ").fold(String::new(), |text, name| text + "//   " + &neutral(name) + "\n");
    let count = profile.sessions;
    Ok(format!(
        "// A baseline of shakedown {}: of each figure the median of each session, in the order of the sessions ({count}).\n{sessions}\
         // Read by `shakedown compare`.\n{body}\n",
        env!("CARGO_PKG_VERSION")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::reference::{Described, Values};
    use crate::vocab::unit::{Quantity, Unit};

    fn profile() -> Profile {
        let values = Values { unit: Unit::MegabytesPerSecond, values: vec![101.25, 98.0, 0.1] };
        let labels = [("path".to_owned(), "direct \"quoted\"\n// )".to_owned())].into();
        let run = Described { class: "disk".to_owned(), main: "mb_per_s".to_owned(), labels };
        Profile {
            from: "a, b\u{1b}".to_owned(),
            sessions: 3,
            figures: [("r.mb_per_s".to_owned(), values)].into(),
            roofs: [("disk".to_owned(), Quantity::new(200.0, Unit::MegabytesPerSecond))].into(),
            conditions: [("kernel".to_owned(), "6.1 | 6.6".to_owned())].into(),
            runs: [("r".to_owned(), run)].into(),
        }
    }

    #[test]
    fn what_is_printed_reads_back() {
        let text = print(&profile()).unwrap();
        assert!(text.starts_with("// A baseline of shakedown ") && text.contains("//   a\n//   b?\n"), "{text}");
        assert_eq!(parse("b.ron", &text).unwrap(), profile());
    }

    #[test]
    fn what_makes_no_sense_is_one_line() {
        let whole = r#"(sessions: 2, figures: {"r.f": (unit: "IOPS", values: [1.0])})"#;
        assert_eq!(parse("b", whole).unwrap().figures.len(), 1);
        let fault = |from: &str, to: &str| parse("b.ron", &whole.replacen(from, to, 1)).unwrap_err();
        assert_eq!(fault("[1.0]", "[]"), "b.ron: figures: `r.f` has no values");
        assert_eq!(fault("[1.0]", "[inf]"), "b.ron: figures: `r.f` has a value that is not a finite number");
        assert_eq!(fault("r.f", "f"), "b.ron: figures: `f` is not of the form RUN.FIGURE");
        assert_eq!(fault("sessions: 2", "sessions: 0"), "b.ron: sessions: 0 have measured nothing");
        assert_eq!(parse("b.ron", "()").unwrap_err(), "b.ron: there is no figure in it");
        let other = parse("b.ron", "(title: \"a preset\")").unwrap_err();
        assert!(other.starts_with("b.ron:1:2: there is no `title`") && !other.contains('\n'), "{other}");
        assert!(fault("IOPS", "XPS").contains("XPS"));
    }
}
