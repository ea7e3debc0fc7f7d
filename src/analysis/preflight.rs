//! What a session would do to its nodes, and what speaks against it: told before anything is loaded.

use crate::vocab::moment::Span;
use crate::vocab::name::NodeName;
use crate::vocab::plan::{Plan, Run};
use crate::vocab::size::ByteSize;
use crate::vocab::survey::{Needs, Survey, Target};

/// An idle node is below this; the load average is no use, since it remembers for a minute what is over.
const BUSY_PERCENT: f64 = 25.0;

/// How much a remark of the preflight weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Worth knowing.
    Note,
    /// The figures may be wrong; a person is asked, a headless session says so and goes on.
    Ask,
    /// Harm or nonsense: nothing is started.
    Refuse,
}

/// One remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// How much it weighs.
    pub weight: Weight,
    /// What is the matter and what to do, in one line.
    pub text: String,
}

/// What a session would take, and what speaks against it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preflight {
    /// The remarks, node by node.
    pub remarks: Vec<Remark>,
    /// Likely length of the whole session.
    pub time: Span,
    /// Most bytes of memory at a time, of the neediest node.
    pub memory: u64,
    /// Most bytes of disk at a time, of the neediest node.
    pub disk: u64,
    /// Bytes written in all, of all nodes.
    pub writes: u64,
}

impl Preflight {
    /// The remarks of at least this weight.
    pub fn at_least(&self, weight: Weight) -> impl Iterator<Item = &Remark> {
        self.remarks.iter().filter(move |r| r.weight >= weight)
    }

    /// Whether nothing may be started.
    #[must_use]
    pub fn refuses(&self) -> bool {
        self.at_least(Weight::Refuse).next().is_some()
    }

    fn say(&mut self, weight: Weight, text: String) {
        self.remarks.push(Remark { weight, text });
    }

    fn node(&mut self, plan: &Plan, survey: &Survey) {
        let most = |of: fn(&Needs) -> u64| survey.needs.iter().map(of).max().unwrap_or(0);
        self.memory = self.memory.max(most(|n| n.memory));
        self.disk = self.disk.max(most(|n| n.disk));
        let all = |of: fn(&Needs) -> u64| survey.needs.iter().map(of).fold(0, u64::saturating_add);
        self.writes = self.writes.saturating_add(all(|n| n.writes));
        self.time = self.time.max(Span(all(|n| n.time.0)));
        let loads = survey.needs.iter().any(|n| n.loads);
        if let (true, Some(holder)) = (loads, &survey.held_by) {
            self.say(Weight::Refuse, format!("this node is under test already: {holder}; wait for it, or stop it"));
        }
        for needs in &survey.needs {
            self.run(survey, needs);
        }
        for target in &survey.targets {
            self.target(target, plan, survey);
        }
        if loads {
            self.company(survey);
        }
    }

    fn run(&mut self, survey: &Survey, needs: &Needs) {
        if let Some(why) = &needs.impossible {
            self.say(Weight::Ask, format!("run {} cannot be done here: {why}", needs.run));
        }
        if needs.memory > survey.memory_available {
            let (needs_mib, has_mib) = (needs.memory >> 20, survey.memory_available >> 20);
            self.say(
                Weight::Refuse,
                format!("run {} needs {needs_mib} MiB of memory, {has_mib} MiB are available", needs.run),
            );
        }
    }

    fn target(&mut self, target: &Target, plan: &Plan, survey: &Survey) {
        let path = target.path.display();
        if let Some(why) = &target.unusable {
            return self.say(Weight::Refuse, format!("target {path}: {why}; name another directory with --target DIR"));
        }
        if target.in_memory {
            let stack = &target.stack;
            let text = format!(
                "target {path} lies in memory ({stack}): a disk run would measure memory; name a directory on a disk with --target DIR"
            );
            return self.say(Weight::Refuse, text);
        }
        let here = |run: &&Run| run.target.as_ref() == Some(&target.path);
        let disk = |run: &Run| survey.needs.iter().find(|n| n.run == run.name).map_or(0, |n| n.disk);
        // The run that asks for most; files and reserve of the others fit where its own do.
        let most = plan.runs.iter().filter(here).map(|run| (disk(run), run.leaves(target.total)));
        let Some((disk, reserve)) =
            most.filter(|(disk, _)| *disk > 0).max_by_key(|(disk, leaves)| disk.saturating_add(*leaves))
        else {
            return;
        };
        let size = |bytes: u64| ByteSize(bytes >> 20 << 20);
        let (need, left, free) = (size(disk), size(reserve), size(target.free));
        if target.free < disk.saturating_add(reserve) {
            self.say(Weight::Refuse, format!("target {path}: {need} are needed and {left} stay free, {free} are free; name another directory with --target DIR, a smaller size with --set RUN.size=SIZE, or a smaller reserve with --reserve SIZE"));
        } else {
            self.say(
                Weight::Note,
                format!("target {path}: {need} of {free} that are free are taken while it runs, {left} stay free"),
            );
        }
    }

    fn company(&mut self, survey: &Survey) {
        if survey.busy_percent > BUSY_PERCENT {
            let busy = survey.busy_percent;
            self.say(Weight::Ask, format!("the CPUs are {busy:.0} % busy with something else, figures may be low"));
        }
        for neighbour in &survey.neighbours {
            self.say(Weight::Ask, format!("{neighbour} is at work on this node, figures may be low"));
        }
        if !survey.root {
            self.say(Weight::Note, "not root: serial numbers and some counters stay unread".to_owned());
        }
    }
}

/// Holds a plan against what was learned of its nodes.
#[must_use]
pub fn check(plan: &Plan, surveys: &[(NodeName, Survey)]) -> Preflight {
    let mut preflight = Preflight::default();
    for (_, survey) in surveys {
        preflight.node(plan, survey);
    }
    preflight
}
