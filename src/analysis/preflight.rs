//! What a session would do to its nodes, and what speaks against it: told before anything is loaded.

use crate::vocab::moment::Span;
use crate::vocab::name::NodeName;
use crate::vocab::plan::{Load, Plan, Run, TIMES_CACHE};
use crate::vocab::size::ByteSize;
use crate::vocab::survey::{Needs, Raw, Survey, Target};

/// A file of twice the memory cannot be read again from it.
const TIMES_MEMORY: u64 = 2;
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
        let groups = groups(plan, survey);
        let sum = |group: &[&Needs], of: fn(&Needs) -> u64| group.iter().map(|n| of(n)).fold(0, u64::saturating_add);
        let most = |of: fn(&Needs) -> u64| groups.iter().map(|group| sum(group, of)).max().unwrap_or(0);
        self.memory = self.memory.max(most(|n| n.memory));
        self.disk = self.disk.max(most(|n| n.disk));
        let longest = |group: &Vec<&Needs>| group.iter().map(|n| n.time.0).max().unwrap_or(0);
        self.writes = groups.iter().map(|group| sum(group, |n| n.writes)).fold(self.writes, u64::saturating_add);
        self.time = self.time.max(Span(groups.iter().map(longest).fold(0, u64::saturating_add)));
        for group in groups.iter().filter(|group| group.len() > 1) {
            self.together(group, sum(group, |n| n.memory), survey);
        }
        let loads = survey.needs.iter().any(|n| n.loads);
        if let (true, Some(holder)) = (loads, &survey.held_by) {
            self.say(Weight::Refuse, format!("this node is under test already: {holder}; wait for it, or stop it"));
        }
        for needs in &survey.needs {
            self.run(survey, needs);
            let run = plan.runs.iter().find(|run| run.name == needs.run);
            if let (Some(run), Some(file)) = (run, needs.file) {
                self.caches(run, file, survey);
            }
        }
        for target in &survey.targets {
            self.target(target, plan, survey);
        }
        if loads {
            self.company(survey);
        }
    }

    fn run(&mut self, survey: &Survey, needs: &Needs) {
        if let Some(why) = &needs.open {
            self.say(Weight::Refuse, format!("run {}: {why}", needs.run));
        }
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

    /// Runs that go on at the same time must have room beside each other.
    fn together(&mut self, group: &[&Needs], memory: u64, survey: &Survey) {
        let available = survey.memory_available;
        if memory > available && group.iter().all(|needs| needs.memory <= available) {
            let names: Vec<String> = group.iter().map(|needs| needs.run.to_string()).collect();
            let (names, needs_mib, has_mib) = (names.join(", "), memory >> 20, available >> 20);
            self.say(
                Weight::Refuse,
                format!("runs {names} together need {needs_mib} MiB of memory, {has_mib} MiB are available"),
            );
        }
    }

    fn target(&mut self, target: &Target, plan: &Plan, survey: &Survey) {
        let path = target.path.display();
        if let Some(raw) = &target.raw {
            return self.device(target, raw);
        }
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
        let disk = |run: &Run| survey.needs.iter().find(|n| n.run == run.name).map_or(0, |n| n.disk);
        // The run, or the runs at the same time, that ask for most; files and reserve of the others fit where theirs do.
        let most = plan.groups().map(|group| {
            let here = group.iter().filter(|run| run.target.as_ref() == Some(&target.path));
            here.fold((0_u64, 0), |(files, reserve), run| {
                (files.saturating_add(disk(run)), reserve.max(run.leaves(target.total)))
            })
        });
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

    /// A target that is a device itself.
    fn device(&mut self, target: &Target, raw: &Raw) {
        let line = &raw.line;
        if let Some(why) = &target.unusable {
            return self.say(Weight::Refuse, format!("device {}: {why}", target.path.display()));
        }
        if target.in_memory {
            let stack = &target.stack;
            self.say(Weight::Ask, format!("{line}: it lies in memory ({stack}), and is no measure of a disk"));
        }
        if raw.destroyed {
            self.say(Weight::Ask, format!("ALL DATA ON THIS DEVICE IS DESTROYED: {line}"));
        } else {
            self.say(Weight::Note, format!("read and never written: {line}"));
        }
    }

    /// Whether a cache may hold so much of a run's file that the figures are the cache's.
    fn caches(&mut self, run: &Run, file: u64, survey: &Survey) {
        let Load::Disk(load) = &run.kernel else { return };
        let (name, size) = (&run.name, ByteSize(file));
        match survey.controller_cache {
            Some(cache) if file < cache.saturating_mul(TIMES_CACHE) => {
                let cache = ByteSize(cache);
                self.say(Weight::Ask, format!("run {name}: its file of {size} is less than {TIMES_CACHE} times the disk controllers' cache of {cache}, so its figures may be the cache's; give --set {name}.size={TIMES_CACHE}xCache"));
            }
            Some(_) => {}
            None if survey.raid_controllers.is_empty() => {}
            None => {
                let controllers = survey.raid_controllers.join(", ");
                self.say(Weight::Note, format!("run {name}: the cache of the RAID controller ({controllers}) is not known; with a file of {size} its figures may be the cache's, unless that is less than a quarter of it"));
            }
        }
        let Some(memory) =
            survey.memory.filter(|memory| !load.is_direct() && file < memory.saturating_mul(TIMES_MEMORY))
        else {
            return;
        };
        let memory = ByteSize(memory >> 20 << 20);
        let how = if load.pattern.writes() {
            "what counts is the rate to the end of the flush"
        } else {
            "it is dropped from there before each iteration"
        };
        self.say(Weight::Note, format!("run {name}: its file of {size} goes through a page cache of up to {memory}; {how}, and --set {name}.size={TIMES_MEMORY}xMemory is what cannot stay in it"));
    }

    fn company(&mut self, survey: &Survey) {
        if survey.busy_percent > BUSY_PERCENT {
            let busy = survey.busy_percent;
            self.say(Weight::Ask, format!("the CPUs are {busy:.0} % busy with something else, figures may be low"));
        }
        self.part(survey);
        for neighbour in &survey.neighbours {
            self.say(Weight::Ask, format!("{neighbour} is at work on this node, figures may be low"));
        }
        if !survey.root {
            self.say(Weight::Note, "not root: serial numbers and some counters stay unread".to_owned());
        }
    }
}

impl Preflight {
    /// Whether only a part of the node's CPUs is measured.
    fn part(&mut self, survey: &Survey) {
        let (all, own) = (survey.cpus_online.unwrap_or(survey.cpus), f64::from(survey.cpus));
        let usable = match survey.cpu_quota.filter(|quota| *quota < own) {
            Some(quota) => format!("{quota:.2}"),
            None if survey.cpus < all => survey.cpus.to_string(),
            None => return,
        };
        self.say(
            Weight::Ask,
            format!("this process may use {usable} of {all} CPUs: figures are of that, not of the node"),
        );
    }
}

/// What the runs of a plan take, those at the same time in one piece.
fn groups<'a>(plan: &Plan, survey: &'a Survey) -> Vec<Vec<&'a Needs>> {
    let of = |run: &Run| survey.needs.iter().find(|needs| needs.run == run.name);
    plan.groups().map(|group| group.iter().filter_map(of).collect()).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::scenario::disk;
    use crate::vocab::plan::Pattern;

    const TARGET: &str = "/t";

    fn survey(file: u64) -> Survey {
        let text = format!(
            r#"{{"targets":[{{"path":"{TARGET}","file_system":"ext4","device":"sda","free":100000000000,"total":200000000000,
            "in_memory":false,"unusable":null}}],"needs":[{{"run":"r","memory":1,"disk":{file},"writes":1,"time":1,"loads":true,
            "impossible":null,"file":{file}}}],"memory_available":1000000000,"cpus":1,"load":0.0,"busy_percent":0.0,"root":true,
            "page":4096,"held_by":null,"neighbours":[]}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    fn remarks(run: Run, survey: Survey) -> Vec<(Weight, String)> {
        let run = Run { target: Some(TARGET.into()), ..run };
        let plan = Plan { runs: vec![run], ..serde_json::from_str(r#"{"title":"t","runs":[]}"#).unwrap() };
        check(&plan, &[("n".into(), survey)]).remarks.into_iter().map(|r| (r.weight, r.text)).collect()
    }

    fn direct() -> Run {
        Run::new("r", disk(Pattern::Write, true))
    }

    #[test]
    fn the_space_is_said_before_and_the_reserve_is_the_plans() {
        let said = remarks(direct(), survey(1 << 30));
        assert_eq!(
            said,
            [(
                Weight::Note,
                "target /t: 1GiB of 95367MiB that are free are taken while it runs, 9536MiB stay free".to_owned()
            )]
        );
        let tight = remarks(direct(), survey(95_000_000_000));
        assert!(tight[0].0 == Weight::Refuse && tight[0].1.contains("9536MiB stay free"), "{tight:?}");
        let own = Run { reserve: Some(ByteSize(1 << 30)), ..direct() };
        assert_eq!(remarks(own, survey(95_000_000_000))[0].0, Weight::Note);
    }

    #[test]
    fn what_runs_together_must_fit_together_and_takes_the_time_of_the_longest() {
        let group = |word: Option<&str>, memory: u64, available: u64, size: u64| {
            let mut survey = survey(size);
            let needs = Needs { memory, ..survey.needs[0].clone() };
            let other = Needs { run: "s".into(), time: Span(5), ..needs.clone() };
            (survey.needs, survey.memory_available) = (vec![needs, other], available);
            let run = |name: &str| Run {
                target: Some(TARGET.into()),
                together: word.map(str::to_owned),
                ..Run::new(name, disk(Pattern::Write, true))
            };
            let plan =
                Plan { runs: vec![run("r"), run("s")], ..serde_json::from_str(r#"{"title":"t","runs":[]}"#).unwrap() };
            check(&plan, &[("n".into(), survey)])
        };
        let together = group(Some("load"), 600 << 20, 1 << 30, 1 << 30);
        assert_eq!((together.time, together.memory, together.disk), (Span(5), 1200 << 20, 2 << 30));
        let refusals: Vec<&str> = together.at_least(Weight::Refuse).map(|r| r.text.as_str()).collect();
        assert_eq!(refusals, ["runs r, s together need 1200 MiB of memory, 1024 MiB are available"]);
        let apart = group(None, 600 << 20, 1 << 30, 1 << 30);
        assert_eq!((apart.time, apart.memory, apart.disk, apart.refuses()), (Span(6), 600 << 20, 1 << 30, false));
        let full = group(Some("load"), 1, 1 << 30, 50_000_000_000);
        assert!(full.refuses() && !group(None, 1, 1 << 30, 50_000_000_000).refuses(), "two files of half the disk");
    }

    #[test]
    fn a_file_that_a_cache_holds_is_said() {
        let small = Survey { controller_cache: Some(1 << 30), ..survey(2 << 30) };
        let said = remarks(direct(), small);
        assert!(said[0].0 == Weight::Ask && said[0].1.contains("give --set r.size=4xCache"), "{said:?}");
        let large = Survey { controller_cache: Some(512 << 20), ..survey(2 << 30) };
        assert_eq!(remarks(direct(), large).len(), 1, "only the space");
        let unknown = Survey { raid_controllers: vec!["megaraid_sas".to_owned()], ..survey(2 << 30) };
        assert!(remarks(direct(), unknown)[0].1.contains("RAID controller (megaraid_sas) is not known"));
        let buffered = Survey { memory: Some(8 << 30), ..survey(2 << 30) };
        let said = remarks(Run::new("r", disk(Pattern::Read, false)), buffered);
        assert!(said[0].1.contains("a page cache of up to 8GiB") && said[0].1.contains("2xMemory"), "{said:?}");
    }

    #[test]
    fn a_device_is_named_in_full_before_it_is_written_over() {
        let raw = |destroyed, unusable: Option<&str>| {
            let mut survey = survey(0);
            let line = "/dev/sdb: model, serial, 1.0 GB".to_owned();
            survey.targets[0].raw = Some(Raw { line, destroyed });
            survey.targets[0].unusable = unusable.map(str::to_owned);
            remarks(direct(), survey).remove(0)
        };
        assert_eq!(
            raw(true, None),
            (Weight::Ask, "ALL DATA ON THIS DEVICE IS DESTROYED: /dev/sdb: model, serial, 1.0 GB".to_owned())
        );
        assert_eq!(raw(false, None).0, Weight::Note);
        assert_eq!(raw(true, Some("it is mounted at /")), (Weight::Refuse, "device /t: it is mounted at /".to_owned()));
    }

    #[test]
    fn a_part_of_the_cpus_is_said_to_be_one() {
        let part = |cpus, cpus_online, cpu_quota| {
            let said = remarks(direct(), Survey { cpus, cpus_online, cpu_quota, ..survey(1 << 30) });
            said.into_iter().find(|(_, text)| text.contains("CPUs: figures are of that")).map(|(_, text)| text)
        };
        let of =
            |usable: &str| Some(format!("this process may use {usable} CPUs: figures are of that, not of the node"));
        assert_eq!(part(2, Some(2), Some(0.5)), of("0.50 of 2"));
        assert_eq!(part(1, Some(2), None), of("1 of 2"));
        assert_eq!(part(1, Some(2), Some(4.0)), of("1 of 2"));
        assert_eq!((part(2, Some(2), None), part(2, None, Some(2.0))), (None, None));
    }

    #[test]
    fn what_only_a_person_can_say_is_asked_before_anything_begins() {
        let mut open = survey(0);
        open.needs[0].open = Some("its size is 4xCache".to_owned());
        assert_eq!(remarks(direct(), open)[0], (Weight::Refuse, "run r: its size is 4xCache".to_owned()));
    }
}
