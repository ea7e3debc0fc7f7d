//! Machines side by side, as text of 80 columns, as Markdown and as JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::format::{left, quantity, right, wrap};
use crate::analysis::compare::{Against, Cell, Comparison, Difference, Row, Told};
use crate::vocab::text::neutral;

/// Columns of a terminal that nobody has made wider.
const COLUMNS: usize = 80;
/// Columns of a machine's name in the table.
const NAME: usize = 12;
/// Columns of a mean with its unit.
const MEAN: usize = 15;
/// Columns of the longest bar.
const BAR: usize = 44;

/// The whole comparison for people.
#[must_use]
pub fn text(comparison: &Comparison) -> String {
    let mut text = String::new();
    for machine in &comparison.machines {
        let profile = &machine.profile;
        let sessions =
            if profile.sessions == 1 { "1 session".to_owned() } else { format!("{} sessions", profile.sessions) };
        let about = ["virtualisation", "cpu"].iter().filter_map(|name| profile.conditions.get(*name));
        let about: Vec<String> = std::iter::once(sessions).chain(about.cloned()).collect();
        let _ = writeln!(text, "{} {}", left(&machine.name, NAME), neutral(&about.join(", ")));
    }
    differences(comparison, &mut text);
    let _ = writeln!(text, "\n{}", heading());
    for row in &comparison.rows {
        let _ = writeln!(text, "{}", neutral(&row.figure));
        for (at, cell) in row.cells.iter().enumerate() {
            let name = &comparison.machines[at].name;
            match cell {
                Some(cell) => line(name, row, cell, &mut text),
                None => text.push_str(&format!("  {}    not measured\n", left(name, NAME))),
            }
        }
    }
    if comparison.rows.is_empty() {
        text.push_str("There is no figure that two of them have.\n");
    }
    bars(comparison, &mut text);
    findings(comparison, &mut text);
    for remark in &comparison.remarks {
        text.push('\n');
        for line in wrap(remark, COLUMNS) {
            let _ = writeln!(text, "{line}");
        }
    }
    text
}

fn differences(comparison: &Comparison, text: &mut String) {
    if comparison.differences.is_empty() {
        text.push_str("\nNothing that is known of the machines and their runs differs.\n");
        return;
    }
    text.push_str("\nDifferent (! decides what was measured):\n");
    for difference in &comparison.differences {
        let mark = if difference.weighs { "!" } else { " " };
        for (number, line) in wrap(&told(comparison, difference), COLUMNS - 4).iter().enumerate() {
            let _ = writeln!(text, "{} {line}", if number == 0 { mark } else { "   " });
        }
    }
}

/// `kernel: 6.1.0 (a), 5.14.0 (b)`; of a label with the runs that have it.
fn told(comparison: &Comparison, difference: &Difference) -> String {
    let missing = if difference.runs.is_empty() { "not known" } else { "none" };
    let values = difference.values.iter().zip(&comparison.machines);
    let values: Vec<String> =
        values.map(|(value, machine)| format!("{} ({})", value.as_deref().unwrap_or(missing), machine.name)).collect();
    let of = if difference.runs.is_empty() { String::new() } else { format!(" of {}", difference.runs.join(", ")) };
    format!("{}{of}: {}", difference.what, values.join(", "))
}

fn heading() -> String {
    format!(
        "  {} {} {} {} {} {} {}",
        left("machine", NAME),
        right("n", 4),
        right("mean", MEAN),
        right("spread", 8),
        right("of roof", 8),
        right("ratio", 9),
        right("95 %", 16)
    )
}

/// A machine's line below its figure, and what is to be said of it.
fn line(name: &str, row: &Row, cell: &Cell, text: &mut String) {
    let [n, mean, spread, roof, ratio, interval] = columns(row, cell);
    let line = format!(
        "  {} {} {} {} {} {} {}",
        left(name, NAME),
        right(&n, 4),
        right(&mean, MEAN),
        right(&spread, 8),
        right(&roof, 8),
        right(&ratio, 9),
        right(&interval, 16)
    );
    let _ = writeln!(text, "{}", line.trim_end());
    let Some(against) = &cell.against else { return };
    let said = [efficiency(cell), Some(words(against))];
    for line in said.into_iter().flatten().filter(|line| !line.is_empty()) {
        let _ = writeln!(text, "    {line}");
    }
}

/// n, mean, spread, share of the roof, ratio and its interval, as printed.
fn columns(row: &Row, cell: &Cell) -> [String; 6] {
    let percent = |share: f64| format!("{:.2} %", 100.0 * share);
    let against = cell.against.as_ref();
    let interval = |(low, high): (f64, f64)| format!("{:.1} .. {:.1} %", 100.0 * low, 100.0 * high);
    [
        cell.n.to_string(),
        quantity(cell.mean, row.unit),
        cell.spread.map(percent).unwrap_or_default(),
        cell.roof.as_ref().map(|(.., share)| percent(*share)).unwrap_or_default(),
        against.map(|against| percent(against.ratio)).unwrap_or_default(),
        against.and_then(|against| against.interval).map(interval).unwrap_or_default(),
    ]
}

fn efficiency(cell: &Cell) -> Option<String> {
    let efficiency = cell.against.as_ref()?.virtualisation_efficiency?;
    Some(format!("virtualisation efficiency {:.2} %", 100.0 * efficiency))
}

/// What the test says of a difference.
#[must_use]
pub fn words(against: &Against) -> String {
    let p = |p: f64| if p < 0.001 { "p < 0.001".to_owned() } else { format!("p = {p:.3}") };
    let (values, sessions) = against.chance.map(|chance| (p(chance.values), p(chance.sessions))).unwrap_or_default();
    match &against.told {
        Told::Significant => format!("SIGNIFICANT, {sessions}"),
        Told::OfSessions => format!("these sessions differ ({values}), as two of one machine may"),
        Told::Trifle => format!("more than chance ({values}), and too little to matter"),
        Told::Chance => "no significant difference".to_owned(),
        Told::NotTested(why) => format!("not tested: {why}"),
        Told::NotComparable(labels) => {
            format!("NOT COMPARABLE: {} differ{}", labels.join(", "), if labels.len() == 1 { "s" } else { "" })
        }
    }
}

/// A bar for each machine in the main figure of each run.
fn bars(comparison: &Comparison, text: &mut String) {
    for row in comparison.rows.iter().filter(|row| row.main) {
        let most = row.cells.iter().flatten().map(|cell| cell.mean).fold(0.0, f64::max);
        let less = if row.unit.lower_is_better() { ", less is better" } else { "" };
        let _ = writeln!(text, "\n{}{less}", neutral(&row.figure));
        for (machine, cell) in comparison.machines.iter().zip(&row.cells) {
            let Some(cell) = cell else { continue };
            let share = if most > 0.0 { (cell.mean / most).clamp(0.0, 1.0) } else { 0.0 };
            let bar = "#".repeat((share * BAR as f64).round() as usize);
            let name = left(&machine.name, NAME);
            let _ = writeln!(text, "  {name} {} {}", left(&bar, BAR), right(&quantity(cell.mean, row.unit), MEAN));
        }
    }
}

fn findings(comparison: &Comparison, text: &mut String) {
    for machine in comparison.machines.iter().filter(|machine| !machine.findings.is_empty()) {
        let _ = writeln!(text, "\nFound on {}:", neutral(&machine.name));
        for finding in &machine.findings {
            let _ = writeln!(text, "  {}", neutral(finding));
        }
    }
}

/// The comparison as Markdown, for a report or an issue.
#[must_use]
pub fn markdown(comparison: &Comparison) -> String {
    let cell = |text: &str| neutral(text).replace('\\', "\\\\").replace('|', "\\|");
    let list = |lines: &[String]| lines.iter().fold(String::new(), |text, line| text + "- " + &neutral(line) + "\n");
    let mut text = String::from("## Machines\n\n| machine | sessions | from |\n|---|--:|---|\n");
    for machine in &comparison.machines {
        let profile = &machine.profile;
        let _ = writeln!(text, "| {} | {} | {} |", cell(&machine.name), profile.sessions, cell(&profile.from));
    }
    let different: Vec<String> = comparison.differences.iter().map(|difference| told(comparison, difference)).collect();
    let _ = write!(text, "\n## Differences\n\n{}", list(&different));
    text.push_str("\n## Figures\n\n| figure | machine | n | mean | spread | of roof | ratio | 95 % | |\n");
    text.push_str("|---|---|--:|--:|--:|--:|--:|--:|---|\n");
    for row in &comparison.rows {
        for (machine, found) in comparison.machines.iter().zip(&row.cells) {
            let Some(found) = found else { continue };
            let told = found.against.as_ref().map(words);
            let said: Vec<String> = efficiency(found).into_iter().chain(told).collect();
            let (figure, name) = (cell(&row.figure), cell(&machine.name));
            let _ = writeln!(text, "| {figure} | {name} | {} | {} |", columns(row, found).join(" | "), said.join("; "));
        }
    }
    for machine in comparison.machines.iter().filter(|machine| !machine.findings.is_empty()) {
        let _ = write!(text, "\n## Found on {}\n\n{}", cell(&machine.name), list(&machine.findings));
    }
    if !comparison.remarks.is_empty() {
        let _ = write!(text, "\n## Remarks\n\n{}", list(&comparison.remarks));
    }
    text
}

/// The comparison as JSON: ratios and shares as such, no percent; the profiles themselves are left to their files.
#[must_use]
pub fn json(comparison: &Comparison) -> Value {
    let machine = |machine: &crate::analysis::compare::Machine| {
        let profile = &machine.profile;
        json!({
            "name": machine.name,
            "from": profile.from,
            "sessions": profile.sessions,
            "conditions": profile.conditions,
            "findings": machine.findings,
        })
    };
    json!({
        "machines": comparison.machines.iter().map(machine).collect::<Vec<_>>(),
        "differences": comparison.differences,
        "figures": comparison.rows,
        "remarks": comparison.remarks,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::compare::{Machine, compare};
    use crate::vocab::reference::{Described, Profile, Values};
    use crate::vocab::unit::{Quantity, Unit};

    /// So many values with a spread of 0.1 % around a mean that they have exactly.
    fn around(mean: f64, n: usize) -> Vec<f64> {
        (0..n).map(|at| if at % 2 == 0 { mean * 1.001 } else { mean * 0.999 }).collect()
    }

    /// The machines of an acceptance report: LINPACK 36 times, STREAM and memory transfer 20 times.
    fn reported(name: &str, kind: &str, figures: &[(&str, f64)], roof: Option<f64>) -> Machine {
        let mut profile = Profile { from: name.to_owned(), sessions: 1, ..Profile::default() };
        profile.conditions.insert("virtualisation".to_owned(), kind.to_owned());
        let roofs = roof
            .into_iter()
            .flat_map(|gflops| [("cpu", gflops, Unit::Gflops), ("memory", 12_800.0, Unit::MegabytesPerSecond)]);
        profile.roofs = roofs.map(|(name, value, unit)| (name.to_owned(), Quantity::new(value, unit))).collect();
        for (figure, mean) in figures {
            let (run, main) = figure.split_once('.').unwrap();
            let (class, unit, n) =
                if main == "gflops" { ("cpu", Unit::Gflops, 36) } else { ("memory", Unit::MegabytesPerSecond, 20) };
            profile.figures.insert((*figure).to_owned(), Values { unit, values: around(*mean, n) });
            let run_is = Described { class: class.to_owned(), main: main.to_owned(), ..Described::default() };
            profile.runs.insert(run.to_owned(), run_is);
        }
        Machine { name: name.to_owned(), profile, findings: Vec::new() }
    }

    fn report() -> Comparison {
        let (float, stream, transfer) = ("cpu-float.gflops", "stream.best_mb_per_s", "transfer.mb_per_s");
        let bare = reported("bare", "bare metal", &[(float, 31.46), (transfer, 10_084.0)], None);
        let private =
            reported("private", "KVM", &[(float, 26.32), (stream, 10_338.0), (transfer, 8_687.0)], Some(35.2));
        let public = reported("public", "KVM", &[(float, 30.38), (stream, 9_666.0), (transfer, 7_703.0)], Some(40.0));
        compare(vec![bare, private, public], false)
    }

    #[test]
    fn the_figures_of_the_report_are_printed_as_they_are_right() {
        let text = text(&report());
        for share in ["74.77 %", "75.95 %", "83.66 %", "80.77 %", "75.52 %", "67.87 %", "60.18 %", "86.15 %"] {
            assert!(text.contains(share), "{share}\n{text}");
        }
        assert!(
            text.contains("virtualisation efficiency 83.66 %") && text.contains("SIGNIFICANT, p < 0.001"),
            "{text}"
        );
        assert!(text.lines().all(|line| crate::view::format::width(line) <= COLUMNS), "{text}");
        let figure = text.lines().skip_while(|line| *line != "stream.best_mb_per_s").nth(1).unwrap();
        assert!(figure.starts_with("  bare") && figure.ends_with("not measured"), "{figure}");
        let private = text.lines().find(|line| line.contains("74.77 %")).unwrap();
        let words: Vec<&str> = private.split_whitespace().collect();
        assert_eq!(
            words[..10],
            ["private", "36", "26.3", "GFLOPS", "0.15", "%", "74.77", "%", "83.66", "%"],
            "{private}"
        );
    }

    #[test]
    fn markdown_and_json_tell_the_same() {
        let comparison = report();
        let markdown = markdown(&comparison);
        let row = "| cpu-float.gflops | private | 36 | 26.3 GFLOPS | 0.15 % | 74.77 % | 83.66 % |";
        assert!(markdown.contains(row), "{markdown}");
        assert!(markdown.contains("| virtualisation efficiency 83.66 %; SIGNIFICANT, p < 0.001 |"), "{markdown}");
        let json = json(&comparison);
        let cell = &json["figures"][0]["cells"][1];
        assert_eq!((json["figures"][0]["figure"].as_str(), cell["n"].as_u64()), (Some("cpu-float.gflops"), Some(36)));
        let ratio = cell["against"]["ratio"].as_f64().unwrap();
        assert!((ratio - 26.32 / 31.46).abs() < 1e-9, "{ratio}");
        assert_eq!(json["differences"][0]["values"][0], "bare metal");
    }

    #[test]
    fn nothing_from_a_file_reaches_the_terminal_raw() {
        let mut comparison = report();
        comparison.machines[1].name = "p\u{1b}[2J|".to_owned();
        comparison.machines[1].findings = vec!["COLLAPSE\u{1b}".to_owned()];
        comparison.differences[0].values[1] = Some("K\u{7}".to_owned());
        for text in [text(&comparison), markdown(&comparison)] {
            assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
        }
    }
}
