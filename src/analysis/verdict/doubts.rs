//! What speaks against a comparison whatever it comes to: its runs did not do what the plan asks for.

use super::bench::Bench;
use super::soundness;
use crate::analysis::state::RunState;
use crate::vocab::text::counted;
use crate::vocab::verdict::Decision;

impl Bench<'_> {
    /// Why a comparison that holds proves nothing yet: its runs are not sound, not complete, not steady where that is asked for.
    pub(super) fn doubts(&self, runs: &[&RunState], figure: &str) -> Vec<String> {
        let mut doubts = Vec::new();
        if let Some(run) = runs.iter().find(|run| soundness(run).decision != Decision::Pass) {
            doubts.push(format!("{} did not come to a sound end", run.name));
        }
        doubts.extend(runs.iter().filter_map(|run| self.companion(run)));
        doubts.extend(runs.iter().filter_map(|run| self.other_work(run)));
        if let Some(least) = self.check.iterations {
            let few = runs.iter().filter(|run| run.figure(figure).len() < least as usize);
            doubts.extend(few.map(|run| {
                let has = counted(run.figure(figure).len(), "iteration");
                format!("{} has {has} of the {least} that are asked for", run.name)
            }));
        }
        if self.check.steady {
            let unsteady = runs.iter().filter_map(|run| match run.is_steady(figure) {
                Ok(_) => None,
                Err(why) => Some(format!("{} is not steady: {why}", run.name)),
            });
            doubts.extend(unsteady);
        }
        doubts
    }

    /// A figure of a group is one of the node under all of it: a run that is not sound leaves another load.
    fn companion(&self, run: &RunState) -> Option<String> {
        let unsound = self.state.companions(run).find(|other| soundness(other).decision != Decision::Pass)?;
        Some(format!("{}, which goes together with {}, did not come to a sound end", unsound.name, run.name))
    }

    /// A session that is judged by another plan than its own may have done other work than that plan asks for.
    fn other_work(&self, run: &RunState) -> Option<String> {
        let asked = self.plan.runs.iter().find(|asked| asked.name == run.name)?;
        if asked.kernel != run.load {
            return Some(format!("the session's {} is another load than the plan's", run.name));
        }
        let fewer = asked.lasting.is_none() && run.lasting.is_none() && asked.iterations > run.iterations;
        fewer.then(|| {
            format!("{} was asked for {} iterations, the plan asks for {}", run.name, run.iterations, asked.iterations)
        })
    }
}
