//! The view without a screen: a line per iteration, finding and remark, and the verdict as a block.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use super::{amended, words};
use crate::analysis::amended::since;
use crate::analysis::state::{RunState, State};
use crate::session::heard::Heard;
use crate::vocab::event::{Event, Opening, Record};
use crate::vocab::figure::Roof;
use crate::vocab::line;
use crate::vocab::name::RunName;
use crate::vocab::plan::Plan;
use crate::vocab::text::{counted, neutral};
use crate::vocab::unit::short;
use crate::vocab::verdict::{Decision, Verdict};

/// Figures printed on an iteration's line, the main one first.
const FIGURES: usize = 6;

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Lines for people.
    Lines,
    /// The records themselves, as JSON lines.
    Json,
}

/// Prints a session as it comes.
#[derive(Debug)]
pub struct Printer<W: Write> {
    out: W,
    form: Form,
    /// The fold of everything printed so far.
    pub state: State,
    /// What was said last of each finding.
    said: BTreeMap<u32, String>,
    /// Whether the attempts of the session that is amended have been told.
    told: bool,
}

impl<W: Write> Printer<W> {
    /// Prints to `out`.
    pub fn new(out: W, form: Form) -> Self {
        Self { out, form, state: State::default(), said: BTreeMap::new(), told: false }
    }

    /// Takes in one word of the session, and prints what is worth a line.
    pub fn hear(&mut self, heard: &Heard) -> io::Result<()> {
        match heard {
            Heard::Record(record) => {
                self.state.apply(record);
                match self.form {
                    Form::Json => self.out.write_all(line::encode(record).map_err(io::Error::other)?.as_bytes())?,
                    Form::Lines => self.print(record)?,
                }
            }
            Heard::Damaged(why) if self.form == Form::Lines => writeln!(self.out, "  damaged: {}", neutral(why))?,
            Heard::Damaged(_) | Heard::End => {}
            Heard::Anew => self.state = State::default(),
        }
        self.out.flush()
    }

    /// Says how it ended, when it did; one that did not is said to be unfinished.
    pub fn end(&mut self) -> io::Result<()> {
        if self.form == Form::Json {
            return Ok(());
        }
        match &self.state.verdict {
            Some(verdict) => write!(self.out, "{}", verdict_block(verdict, self.state.nodes.len() > 1))?,
            None => writeln!(self.out, "The record ends here, without a verdict: the session was not finished.")?,
        }
        self.out.flush()
    }

    fn print(&mut self, record: &Record) -> io::Result<()> {
        if matches!(record.event, Event::Earlier(_)) {
            return Ok(());
        }
        if self.state.earlier.is_some() && !std::mem::replace(&mut self.told, true) {
            write!(self.out, "{}", amended::attempts(&self.state))?;
        }
        let text = match &record.event {
            Event::SessionOpened(opening) => return self.opened(opening),
            Event::NodeJoined { inventory, .. } => {
                let (host, cpu) = (neutral(&inventory.host), neutral(&inventory.cpu));
                format!(
                    "{host}: {} {cpu}, {:.1} GB of memory, Linux {}",
                    counted(inventory.cpus as usize, "CPU"),
                    inventory.memory as f64 / 1e9,
                    neutral(&inventory.kernel)
                )
            }
            Event::NodeLost { why } => format!("node lost: {}", neutral(why)),
            Event::RunStarted(start) => {
                let labels = start.labels.iter().filter(|(name, _)| Roof::labelled(name).is_none());
                let labels: Vec<String> = labels.map(|(name, value)| format!("{name} {value}")).collect();
                format!("{:<16} begins: {}", start.run, neutral(&labels.join(", ")))
            }
            Event::IterationEnded { run, iteration, .. } => self.iteration(record, run, *iteration),
            Event::RunEnded { run, outcome } => {
                let known = self.state.run(&record.node, run);
                format!("{run:<16} {}", neutral(&words::outcome(outcome, known)))
            }
            Event::Found(finding) => {
                let before = self.said.insert(finding.id, finding.sentence.clone());
                // That it is over goes without saying where nothing else is new.
                if finding.closed.is_some() && before.as_ref() == Some(&finding.sentence) {
                    return Ok(());
                }
                neutral(&finding.sentence)
            }
            Event::ConditionsChanged(_) | Event::Noted(_) | Event::Commanded(_) => {
                neutral(self.state.remarks.last().map_or("", |r| r.text.as_str()))
            }
            Event::Lost(n) => format!("{n} events were lost here"),
            _ => return Ok(()),
        };
        let node = if self.state.nodes.len() > 1 { format!("{:<8} ", record.node) } else { String::new() };
        writeln!(self.out, "{}  {node}{text}", self.clock(record))?;
        match &record.event {
            Event::NodeJoined { .. } => self.changed(record),
            Event::RunStarted(start) => self.below(record, &start.run, words::roofs),
            Event::RunEnded { run, .. } => self.below(record, run, words::utilisation),
            // What is over has been explained while it was open.
            Event::Found(finding) if finding.closed.is_none_or(|_| finding.said == record.at) => {
                write!(self.out, "{}", words::reasons_below(finding))
            }
            _ => Ok(()),
        }
    }

    fn opened(&mut self, opening: &Opening) -> io::Result<()> {
        let plan = &opening.plan;
        writeln!(self.out, "session {}  started {}", neutral(&opening.session), neutral(&opening.started))?;
        writeln!(self.out, "plan    {}: {}", neutral(&plan.name), neutral(&plan.title))?;
        let Some(amends) = &opening.amends else { return Ok(()) };
        let only: Vec<&str> = amends.only.iter().map(|run| &*run.0).collect();
        let (session, only) = (neutral(&amends.session), neutral(&only.join(", ")));
        writeln!(self.out, "amends  {session}, {}: {only} again", counted(amends.records as usize, "record"))
    }

    /// What has changed on a node since the session that is amended.
    fn changed(&mut self, record: &Record) -> io::Result<()> {
        let Some(before) = &self.state.earlier else { return Ok(()) };
        let Some(changes) = since(before, &self.state, &record.node) else { return Ok(()) };
        write!(self.out, "{}", amended::changed_since(before.name(), &changes))
    }

    /// Lines about a run, indented to stand below its own.
    fn below(&mut self, record: &Record, run: &RunName, lines: fn(&Plan, &RunState) -> Vec<String>) -> io::Result<()> {
        let (plan, run) = (self.state.opening.as_ref().map(|o| &o.plan), self.state.run(&record.node, run));
        let Some((plan, run)) = plan.zip(run) else { return Ok(()) };
        lines(plan, run).iter().try_for_each(|line| writeln!(self.out, "       {}", neutral(line)))
    }

    /// Minutes, seconds and tenths since the session began.
    fn clock(&self, record: &Record) -> String {
        let tenths = self.state.clock(&record.node, record.at).0 / 100_000;
        format!("{:>3}:{:02}.{}", tenths / 600, tenths / 10 % 60, tenths % 10)
    }

    fn iteration(&self, record: &Record, run: &RunName, iteration: u32) -> String {
        let Some(state) = self.state.run(&record.node, run) else { return String::new() };
        let mut text = format!("{run:<16} {}", state.counted(iteration as usize));
        let figures = state.done.last().map(|i| i.figures.as_slice()).unwrap_or_default();
        let main = state.main_figure().map_or("", |(name, _)| name);
        let main_first = figures.iter().filter(|f| f.name == main).chain(figures.iter().filter(|f| f.name != main));
        for figure in main_first.take(FIGURES) {
            let _ = write!(text, "  {} {}", figure.name, short(figure.quantity()));
        }
        if let Some(odd) = state.done.last().and_then(|last| words::odd(state, last)) {
            let _ = write!(text, "  {odd}");
        }
        text
    }
}

/// The verdict as a block of text: the lines, then the headline.
#[must_use]
pub fn verdict_block(verdict: &Verdict, name_nodes: bool) -> String {
    format!("{}{}", preface(verdict), lines(verdict, name_nodes, "VERDICT"))
}

/// What is to be read before the lines of a verdict; empty where there is nothing.
#[must_use]
pub fn preface(verdict: &Verdict) -> String {
    let said: Vec<String> = verdict.preface.iter().map(|line| neutral(line)).collect();
    if said.is_empty() { String::new() } else { format!("\n{}\n", said.join("\n")) }
}

/// The lines of a verdict and its headline behind `word`.
#[must_use]
pub fn lines(verdict: &Verdict, name_nodes: bool, word: &str) -> String {
    let mut text = String::from("\n");
    for line in &verdict.lines {
        let mark = words::mark(line.decision);
        let node = if name_nodes { format!("{:<8} ", neutral(&line.node)) } else { String::new() };
        let margin = if line.margin.is_empty() { String::new() } else { format!(" (margin {})", line.margin) };
        let detail = if line.detail.is_empty() { String::new() } else { format!(", {}", neutral(&line.detail)) };
        let measured = if line.measured.is_empty() { String::new() } else { format!(": {}", neutral(&line.measured)) };
        let limit = if line.limit.is_empty() { String::new() } else { format!(" {}", neutral(&line.limit)) };
        let _ = writeln!(
            text,
            "{mark} {:<10} {node}{:<26} {}{limit}{measured}{detail}{margin}",
            line.word(),
            neutral(&line.of),
            neutral(&line.comparison),
        );
        let asks = line.decision != Decision::Pass || line.told || !line.limit.is_empty();
        if asks && !line.reason.is_empty() {
            let _ = writeln!(text, "             {}", neutral(&line.reason));
        }
    }
    for (section, decision) in verdict.sections() {
        let _ = writeln!(text, "\n{}: {decision}", neutral(section));
    }
    let _ = writeln!(text, "\n{word}: {}", verdict.headline());
    text
}
