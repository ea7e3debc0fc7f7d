//! How each cause bears on a finding.

use super::bearing::Bearing;
use super::catalogue::{catalogue_hit, plan_hit};
use super::cpu;
use super::facts::{Facts, Sides};
use super::scene::Beside;
use crate::vocab::finding::{Kind, Resource};
use crate::vocab::plan::Load;
use crate::vocab::unit::{Quantity, Unit, short};

/// An array member that takes so many times as long as the others is the slow one.
const SLOW_MEMBER: f64 = 3.0;
/// Writers are held back from here on, in percent of the limit of dirty memory. The kernel lets them run up to the middle between the
/// background limit and the limit (`balance_dirty_pages`); with the usual 10 and 20 percent of memory that is 75. A copy that was held
/// back on a rig stood at 78.7.
const AT_DIRTY_LIMIT: f64 = 75.0;
/// Drives slow down between 70 and 85 C, by the warning temperatures that their makers set.
const HOT_DRIVE: f64 = 80.0;
/// What others move on the run's disk must be more than this, and more than the run itself moves, to be worth a word; MB/s.
const OTHERS: f64 = 10.0;
/// Pages a second that came from a node other than the one asked for.
const REMOTE: f64 = 1_000.0;

fn says(counter: &str, value: f64, unit: Unit) -> String {
    format!("{counter} {}", short(Quantity::new(value, unit)))
}

/// Whether the finding is about the run's disk: nothing else holds it up, or the disk does.
fn is_of_disk(facts: &Facts<'_>, held_by: &[Resource]) -> bool {
    let of_disk =
        |r: &Resource| matches!(r, Resource::Disk | Resource::DiskCap | Resource::DeviceHang | Resource::Flush);
    let stores = matches!(facts.scene.load, Some(Load::Disk(_))) || facts.scene.device.is_some();
    held_by.first().map_or(stores, of_disk) && !facts.loads_cpu()
}

fn is_slow_write(facts: &Facts<'_>, held_by: &[Resource]) -> bool {
    is_of_disk(facts, held_by) && facts.writes() && facts.scene.kind != Kind::Oscillation
}

/// Whether the reads of the same disk became slower as well, which speaks against everything that only writes feel.
fn reads_suffer(facts: &Facts<'_>) -> bool {
    let reads = facts.on_disk("r_await");
    matches!((reads.before, reads.after), (Some(before), Some(after)) if before > 0.0 && after >= SLOW_MEMBER * before)
}

pub(super) fn stolen(facts: &Facts<'_>, held_by: &[Resource]) -> Bearing {
    let steal = facts.after("cpu/", "steal").filter(|_| held_by.contains(&Resource::Steal));
    Bearing::proven(steal.map(|share| says("cpu steal", share, Unit::Percent)))
}

pub(super) fn limited(facts: &Facts<'_>, held_by: &[Resource]) -> Bearing {
    if !held_by.contains(&Resource::CgroupLimit) {
        return Bearing::None;
    }
    let io = cpu::at_io_limit(facts).map(|limit| format!("io.max {limit}"));
    let share = facts.after("cgroup/", "throttled");
    let quota = share.map(|share| {
        let quota = facts.scene.condition("cpu_quota").map_or(String::new(), |quota| format!(", quota {quota}"));
        format!("{}{quota}", says("cgroup throttled", share, Unit::Percent))
    });
    Bearing::proven(io.or(quota))
}

pub(super) fn hot(facts: &Facts<'_>, held_by: &[Resource]) -> Bearing {
    if !held_by.contains(&Resource::Thermal) {
        return Bearing::None;
    }
    let hottest = facts.most("thermal", "temperature").map(|(_, celsius)| says("at", celsius, Unit::Celsius));
    let clock = facts.after("clock/", "median").map(|mhz| says("clock", mhz, Unit::Megahertz));
    Bearing::proven(Some([clock, hottest].into_iter().flatten().collect::<Vec<_>>().join(" ")))
}

pub(super) fn clocked(facts: &Facts<'_>, held_by: &[Resource]) -> Bearing {
    if held_by.contains(&Resource::PowerCap) {
        return Bearing::proven(facts.after("clock/", "median").map(|mhz| says("clock", mhz, Unit::Megahertz)));
    }
    let governor = facts.scene.condition("governor").filter(|g| g.contains("powersave") && facts.loads_cpu());
    // Under `intel_pstate` and `amd-pstate` in active mode, `powersave` is the usual one and holds nothing back.
    let active = facts.scene.condition("pstate") == Some("active");
    Bearing::proven(governor.filter(|_| !active).map(|g| format!("governor {g}")))
}

pub(super) fn swapping(facts: &Facts<'_>, held_by: &[Resource]) -> Bearing {
    let swap = facts.after("memory/", "swap").filter(|_| held_by.contains(&Resource::Memory));
    Bearing::proven(swap.map(|rate| says("memory swap", rate, Unit::MegabytesPerSecond)))
}

/// What happens at the same time need not be the cause, so it is only possible.
pub(super) fn other_run(facts: &Facts<'_>, _: &[Resource]) -> Bearing {
    if facts.scene.beside == Beside::Turning { Bearing::Possible } else { Bearing::None }
}

/// What the other runs of the plan do is no work of somebody else.
fn shares(facts: &Facts<'_>) -> bool {
    facts.scene.beside != Beside::Nobody
}

pub(super) fn other_work(facts: &Facts<'_>, held_by: &[Resource]) -> Bearing {
    if shares(facts) || !held_by.contains(&Resource::Cpu) && !held_by.contains(&Resource::Generator) {
        return Bearing::None;
    }
    let waited = facts.after("pressure/cpu", "some").filter(|_| facts.loads_cpu());
    waited.map_or(Bearing::Possible, |share| Bearing::Proven(says("pressure cpu some", share, Unit::Percent)))
}

/// The run's disk moves far more than the run does, and did not before.
pub(super) fn others_on_disk(facts: &Facts<'_>, held_by: &[Resource]) -> Bearing {
    let scene = facts.scene;
    let bytes = match scene.load {
        Some(Load::Disk(disk)) if scene.unit == Unit::Iops => disk.block.0 as f64 / 1e6,
        _ => 1.0,
    };
    if shares(facts)
        || !is_of_disk(facts, held_by)
        || facts.buffered() != Some(false)
        || !matches!(scene.unit, Unit::Iops | Unit::MegabytesPerSecond)
    {
        return Bearing::None;
    }
    let moved = |of: fn(Sides) -> Option<f64>| Some(of(facts.on_disk("read"))? + of(facts.on_disk("write"))?);
    let (Some(now), Some(to)) = (moved(|s| s.after), scene.to.map(|to| to * bytes)) else { return Bearing::None };
    let before = moved(|s| s.before).zip(scene.from).map_or(0.0, |(moved, from)| (moved - from * bytes).max(0.0));
    let others = now - to;
    let rate = |value| short(Quantity::new(value, Unit::MegabytesPerSecond));
    let proof = || format!("the disk moves {}, the run {}", rate(now), rate(to));
    Bearing::proven((others >= OTHERS.max(to) && others >= 2.0 * before).then(proof))
}

/// The policy in force and the battery are the controller's own words, by its maker's tool. What the kernel believes of the cache
/// (`queue/write_cache`) says nothing of it.
pub(super) fn writes_through(facts: &Facts<'_>, held_by: &[Resource]) -> Bearing {
    if !is_slow_write(facts, held_by) || reads_suffer(facts) {
        return Bearing::None;
    }
    let policies: Vec<(&str, &str)> = facts.scene.conditions_like("raid", "_policy").collect();
    let batteries: Vec<(&str, &str)> = facts.scene.conditions_like("raid", "_battery").collect();
    let through = policies.iter().find(|(_, policy)| policy.starts_with("WT"));
    // A battery that is not fit makes a controller write through, unless it was told to cache in any case.
    let unfit = batteries.iter().find(|(_, state)| *state != "optimal");
    let cached = !policies.is_empty()
        && policies.iter().all(|(_, policy)| policy.starts_with("WB") || policy.starts_with("AWB"));
    if let Some((name, value)) = through.or(unfit.filter(|_| !cached)) {
        return Bearing::Proven(format!("{name} {value}"));
    }
    let told = !policies.is_empty();
    if !told && has_controller(facts) { Bearing::Possible } else { Bearing::None }
}

/// Whether the node has a RAID controller, as far as its inventory tells.
fn has_controller(facts: &Facts<'_>) -> bool {
    let adapters = facts.scene.inventory.map_or(&[][..], |i| &i.adapters);
    adapters.iter().any(|adapter| adapter.kind == "RAID")
        || facts.scene.conditions_like("raid", "_model").next().is_some()
}

pub(super) fn rebuilds(facts: &Facts<'_>, held_by: &[Resource]) -> Bearing {
    let works =
        |text: &str| ["recover", "resync", "reshape", "check", "repair"].iter().find(|w| text.contains(**w)).copied();
    if !is_of_disk(facts, held_by) {
        return Bearing::None;
    }
    let now = facts.scene.conditions_like("md_", "").find(|(_, state)| works(state).is_some());
    let was = facts
        .scene
        .inventory
        .and_then(|i| i.arrays.iter().find(|a| a.action.known().is_some_and(|a| works(a).is_some())));
    let told = facts.scene.conditions_like("md_", "").next().is_some();
    let proof = now.map(|(name, state)| format!("{name} {state}"));
    Bearing::proven(proof.or_else(|| was.filter(|_| !told).map(|a| format!("{} {}", a.name, a.action))))
}

pub(super) fn slow_member(facts: &Facts<'_>, held_by: &[Resource]) -> Bearing {
    if !is_of_disk(facts, held_by) {
        return Bearing::None;
    }
    let mut waits: Vec<(&str, f64)> = members(facts)
        .iter()
        .filter_map(|name| Some((*name, facts.after(&format!("disk/{name}"), "await")?)))
        .collect();
    waits.sort_by(|a, b| b.1.total_cmp(&a.1));
    let Some(((slowest, wait), others)) = waits.split_first() else { return Bearing::None };
    let Some((_, usual)) = others.get(others.len() / 2) else { return Bearing::None };
    let proof = format!(
        "{slowest} await {}, its peers {}",
        short(Quantity::new(*wait, Unit::Milliseconds)),
        short(Quantity::new(*usual, Unit::Milliseconds))
    );
    Bearing::proven((*usual > 0.0 && *wait >= SLOW_MEMBER * usual).then_some(proof))
}

/// The whole disks below the run's own device, where they are members of an array or of a logical volume.
fn members<'a>(facts: &Facts<'a>) -> Vec<&'a str> {
    let (Some(inventory), Some(own)) = (facts.scene.inventory, facts.scene.device) else { return Vec::new() };
    let mut level = vec![own];
    // Volumes on arrays on disks: no stack is deeper than this.
    for _ in 0..4 {
        let below = |name: &&'a str| -> Vec<&'a str> {
            let disk = inventory.disks.iter().find(|d| d.name == *name).map(|d| d.over.iter());
            disk.into_iter().flatten().map(String::as_str).collect()
        };
        let next: Vec<&str> = level.iter().flat_map(below).collect();
        if next.is_empty() {
            break;
        }
        level = next;
    }
    if level == [own] { Vec::new() } else { level }
}

pub(super) fn page_cache(facts: &Facts<'_>, held_by: &[Resource]) -> Bearing {
    if !is_slow_write(facts, held_by) || facts.buffered() != Some(true) {
        return Bearing::None;
    }
    match facts.after("memory/", "dirty of limit") {
        Some(share) if share >= AT_DIRTY_LIMIT => Bearing::Proven(says("memory dirty of limit", share, Unit::Percent)),
        Some(_) => Bearing::None,
        None => Bearing::Possible,
    }
}

pub(super) fn hot_drive(facts: &Facts<'_>, held_by: &[Resource]) -> Bearing {
    let Some(own) = facts.scene.device.filter(|own| own.starts_with("nvme") && is_of_disk(facts, held_by)) else {
        return Bearing::None;
    };
    // `nvme0` of `nvme0n1`.
    let controller = own.rsplit_once('n').map_or(own, |(controller, _)| controller);
    match facts.after(&format!("nvme/{controller}"), "temperature") {
        Some(celsius) if celsius >= HOT_DRIVE => {
            Bearing::Proven(says(&format!("{controller} at"), celsius, Unit::Celsius))
        }
        Some(_) => Bearing::None,
        None => Bearing::Possible,
    }
}

pub(super) fn credit(facts: &Facts<'_>, held_by: &[Resource]) -> Bearing {
    if !is_of_disk(facts, held_by) || facts.buffered() == Some(true) {
        return Bearing::None;
    }
    let flat = facts.scene.kind == Kind::Cap || held_by.contains(&Resource::DiskCap);
    let item = facts.scene.inventory.and_then(|i| i.disks.iter().find(|d| Some(d.name.as_str()) == facts.scene.device));
    let hit = facts.scene.to.and_then(|to| {
        let plan = item.and_then(|d| plan_hit(to, facts.scene.unit, d.size));
        Some((to, plan.or_else(|| catalogue_hit(to, facts.scene.unit))?))
    });
    match (hit, flat) {
        (Some((to, name)), true) => {
            Bearing::Proven(format!("flat at {}: {name}", short(Quantity::new(to, facts.scene.unit))))
        }
        _ if flat || is_guest(facts) && facts.is_a_change() => Bearing::Possible,
        _ => Bearing::None,
    }
}

fn is_guest(facts: &Facts<'_>) -> bool {
    facts.scene.inventory.is_some_and(|i| i.virtualisation.known().is_some())
}

pub(super) fn device_cache(facts: &Facts<'_>, held_by: &[Resource]) -> Bearing {
    let direct = facts.buffered() == Some(false);
    let fell = matches!(facts.scene.kind, Kind::Collapse | Kind::Step | Kind::Drift)
        && facts.scene.work_before.is_some_and(|w| w > 0.0);
    if direct && fell && is_slow_write(facts, held_by) && !reads_suffer(facts) {
        Bearing::Possible
    } else {
        Bearing::None
    }
}

pub(super) fn narrow_link(facts: &Facts<'_>, held_by: &[Resource]) -> Bearing {
    let of_disk = is_of_disk(facts, held_by);
    let mut narrow = facts.scene.conditions_like("pcie_", "").filter(|(_, link)| link.contains(" of "));
    let nic = held_by.iter().any(|r| matches!(r, Resource::Nic | Resource::NetworkPath));
    let is_own = |name: &str| {
        let device = name.trim_start_matches("pcie_");
        let own_disk = of_disk && facts.scene.device.is_some_and(|own| own.starts_with(&format!("{device}n")));
        own_disk || nic && !device.starts_with("nvme")
    };
    let now = narrow
        .find(|(name, _)| is_own(name))
        .map(|(name, link)| format!("{} {link}", name.trim_start_matches("pcie_")));
    let adapter = || {
        let inventory = facts.scene.inventory.filter(|_| of_disk)?;
        let bus = inventory.disks.iter().find(|d| Some(d.name.as_str()) == facts.scene.device)?.bus.known()?;
        let adapter = inventory.adapters.iter().find(|a| &a.bus == bus)?;
        let link = adapter.link.known().filter(|link| link.contains("(of "))?;
        Some(format!("{} {link}", adapter.bus))
    };
    Bearing::proven(now.or_else(adapter))
}

pub(super) fn silent_device(facts: &Facts<'_>, held_by: &[Resource]) -> Bearing {
    let util = facts.on_disk("util").after.filter(|_| held_by.contains(&Resource::DeviceHang));
    Bearing::proven(util.map(|share| format!("{}, nothing completed", says("util", share, Unit::Percent))))
}

pub(super) fn slow_modules(facts: &Facts<'_>, _: &[Resource]) -> Bearing {
    if !matches!(facts.scene.load, Some(Load::Stream(_) | Load::Memory(_) | Load::Linpack(_) | Load::Gemm(_))) {
        return Bearing::None;
    }
    let Some(fitted) = facts.scene.inventory.and_then(|i| i.modules.fitted.known()) else { return Bearing::None };
    let slow = fitted
        .iter()
        .find_map(|m| Some((m, *m.speed.known()?, *m.rated.known()?)).filter(|(_, now, rated)| now < rated));
    Bearing::proven(slow.map(|(module, now, rated)| format!("{} at {now} of {rated} MT/s", module.slot)))
}

pub(super) fn remote_memory(facts: &Facts<'_>, _: &[Resource]) -> Bearing {
    let missed = facts.most("numa", "miss").filter(|(_, rate)| *rate >= REMOTE && facts.loads_cpu());
    Bearing::proven(missed.map(|(node, rate)| says(&format!("{node} miss"), rate, Unit::PerSecond)))
}

pub(super) fn slow_clock(facts: &Facts<'_>, _: &[Resource]) -> Bearing {
    let slow = ["hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"];
    let source = facts.scene.condition("clocksource").filter(|source| slow.contains(source));
    Bearing::proven(source.map(|source| format!("clocksource {source}")))
}

pub(super) fn host_side(facts: &Facts<'_>, held_by: &[Resource]) -> Bearing {
    if is_guest(facts) && is_of_disk(facts, held_by) { Bearing::Possible } else { Bearing::None }
}

#[cfg(test)]
mod tests {
    use crate::analysis::attribution::attribute;
    use crate::analysis::attribution::staged::{Stage, disk};
    use crate::vocab::fact::Fact;
    use crate::vocab::finding::{Cause, Kind};
    use crate::vocab::hardware::{Adapter, DiskItem, Module};
    use crate::vocab::plan::{Load, Pattern, Stream};

    /// What proves the cause whose words hold this: `possible` without proof, `no` where it is not listed.
    fn cause(stage: &Stage, what: &str) -> String {
        let no = || "no".to_owned();
        let found = attribute(&stage.scene()).causes;
        assert!(found.len() <= 4 && found.iter().all(|c| !c.check.is_empty()));
        assert!(found.is_sorted_by_key(|c: &Cause| c.proof.is_none()), "proven ones first: {found:?}");
        found
            .into_iter()
            .find(|c| c.what.contains(what))
            .map_or_else(no, |c| c.proof.unwrap_or_else(|| "possible".to_owned()))
    }

    fn slow() -> Stage {
        Stage::of(Kind::Collapse).slow_disk()
    }

    fn is(text: &str) -> Fact {
        Fact::Is(text.to_owned())
    }

    #[test]
    fn a_controller_writes_through_by_its_own_word_and_never_by_the_kernel_s() {
        let through = slow().condition("raid0_vd3_policy", "WT (default WB)").condition("raid0_battery", "learning");
        assert_eq!(cause(&through, "writes through"), "raid0_vd3_policy WT (default WB)");
        let battery = slow().condition("raid0_battery", "failed");
        assert_eq!(cause(&battery, "writes through"), "raid0_battery failed");
        let back = slow().condition("raid0_vd3_policy", "WB").condition("raid0_battery", "optimal");
        assert_eq!(cause(&back, "writes through"), "no");
        let forced = slow().condition("raid0_vd3_policy", "AWB (default WB)").condition("raid0_battery", "failed");
        assert_eq!(cause(&forced, "writes through"), "no", "it caches without a battery");
        let mut kernel = slow();
        kernel.inventory.disks =
            vec![DiskItem { name: "vda".into(), write_cache: is("write through"), ..DiskItem::default() }];
        assert_eq!(cause(&kernel, "writes through"), "no");
        let link = Fact::NotPresent;
        kernel.inventory.adapters =
            vec![Adapter { bus: String::new(), kind: "RAID".into(), ids: String::new(), driver: is("x"), link }];
        assert_eq!(cause(&kernel, "writes through"), "possible", "there is a controller, and nobody asked it");
    }

    #[test]
    fn what_only_writes_feel_is_no_cause_where_reads_suffer_or_nothing_is_written() {
        let through = || slow().condition("raid0_vd3_policy", "WT");
        assert_eq!(cause(&through().row("disk/vda", "r_await", 1.0, 1.2), "writes through"), "raid0_vd3_policy WT");
        assert_eq!(cause(&through().row("disk/vda", "r_await", 1.0, 30.0), "writes through"), "no");
        let mut reads = through();
        reads.load = Some(disk(Pattern::Read, 32, true));
        assert_eq!(cause(&reads, "writes through"), "no");
        assert_eq!(
            (cause(&slow(), "cache of the device"), cause(&reads, "cache of the device")),
            ("possible".into(), "no".into())
        );
    }

    #[test]
    fn the_page_cache_is_one_of_buffered_writes_at_the_limit() {
        let stage = |direct, share| {
            let mut stage = slow().row("memory/", "dirty of limit", 20.0, share);
            stage.load = Some(disk(Pattern::Write, 1, direct));
            stage
        };
        assert_eq!(cause(&stage(false, 97.0), "dirty memory"), "memory dirty of limit 97 %");
        assert_eq!(
            (cause(&stage(false, 50.0), "dirty memory"), cause(&stage(true, 97.0), "dirty memory")),
            ("no".into(), "no".into())
        );
    }

    #[test]
    fn a_flat_rate_of_the_catalogue_is_a_plan_and_one_beside_it_only_possible() {
        let flat = |to| Stage::of(Kind::Cap).slow_disk().fell_to(to);
        assert_eq!(cause(&flat(131.0), "plan"), "flat at 131 MB/s: EBS gp3 baseline");
        assert_eq!((cause(&flat(288.0), "plan"), cause(&slow(), "plan")), ("possible".into(), "no".into()));
        let mut sized = flat(130.0);
        sized.inventory.disks = vec![DiskItem { name: "vda".into(), size: 20 << 30, ..DiskItem::default() }];
        assert!(cause(&sized, "plan").contains("120 + 0.5 MB/s a GiB"), "{:?}", cause(&sized, "plan"));
    }

    #[test]
    fn a_drive_is_hot_by_its_own_thermometer() {
        let nvme = |celsius| {
            let mut stage = Stage::of(Kind::Collapse).row("nvme/nvme0", "temperature", 60.0, celsius);
            stage.device = Some("nvme0n1");
            stage
        };
        assert_eq!(cause(&nvme(84.0), "NVMe"), "nvme0 at 84 C");
        assert_eq!(cause(&nvme(66.0), "NVMe"), "no");
    }

    #[test]
    fn a_member_that_is_slower_than_its_peers_is_named() {
        let array = |slowest| {
            let mut stage = Stage::of(Kind::Collapse)
                .row("disk/sda", "await", 8.0, 8.0)
                .row("disk/sdb", "await", 8.0, slowest)
                .row("disk/sdc", "await", 8.0, 9.0);
            stage.device = Some("md0");
            let over = ["sda", "sdb", "sdc"].map(str::to_owned).to_vec();
            stage.inventory.disks = vec![DiskItem { name: "md0".into(), over, ..DiskItem::default() }];
            stage
        };
        assert_eq!(cause(&array(120.0), "member"), "sdb await 120 ms, its peers 8 ms");
        assert_eq!(cause(&array(20.0), "member"), "no");
    }

    #[test]
    fn facts_of_the_node_prove_a_rebuild_a_narrow_link_and_a_slow_clock() {
        let with = |name, value| slow().condition(name, value);
        assert_eq!(
            cause(&with("md_md0", "active raid1, 1 of 2, recovery"), "rebuilt"),
            "md_md0 active raid1, 1 of 2, recovery"
        );
        assert_eq!(cause(&with("md_md0", "active raid1, 2 of 2"), "rebuilt"), "no");
        assert_eq!(cause(&with("clocksource", "hpet"), "clock is slow"), "clocksource hpet");
        assert_eq!(cause(&with("clocksource", "tsc"), "clock is slow"), "no");
        let nvme = |link| {
            let mut stage = Stage::of(Kind::BelowBaseline)
                .condition("pcie_nvme0", link)
                .condition("pcie_eth0", "8.0 GT/s x4 of 16.0 GT/s x8");
            stage.device = Some("nvme0n1");
            stage
        };
        assert_eq!(cause(&nvme("8.0 GT/s x2 of 16.0 GT/s x4"), "PCI"), "nvme0 8.0 GT/s x2 of 16.0 GT/s x4");
        assert_eq!(cause(&nvme("16.0 GT/s x4"), "PCI"), "no");
    }

    #[test]
    fn memory_that_runs_below_its_rating_is_a_cause_of_slow_memory() {
        let modules = |speed| {
            let mut stage = Stage::of_integer(Kind::BelowBaseline);
            stage.load = Some(Load::Stream(Stream::default()));
            let fact = || Fact::NotPresent;
            let module = Module {
                slot: "DIMM A1".into(),
                bank: fact(),
                size: Fact::NotPresent,
                kind: fact(),
                speed: Fact::Is(speed),
                rated: Fact::Is(4_800),
                ranks: Fact::NotPresent,
                manufacturer: fact(),
                part: fact(),
                serial: fact(),
            };
            stage.inventory.modules.fitted = Fact::Is(vec![module]);
            stage
        };
        assert_eq!(cause(&modules(4_000), "modules"), "DIMM A1 at 4000 of 4800 MT/s");
        assert_eq!(cause(&modules(4_800), "modules"), "no");
    }

    #[test]
    fn what_held_the_cpu_up_is_proven_by_the_counter_that_says_so() {
        let steal = Stage::of_integer(Kind::Collapse).row("cpu/", "steal", 0.0, 30.0);
        assert_eq!(cause(&steal, "other guests"), "cpu steal 30 %");
        let quota =
            Stage::of_integer(Kind::Collapse).row("cgroup/", "throttled", 0.0, 90.0).condition("cpu_quota", "0.20 CPU");
        assert_eq!(cause(&quota, "quota"), "cgroup throttled 90 %, quota 0.20 CPU");
        assert_eq!(cause(&quota, "other guests"), "no");
    }

    #[test]
    fn others_that_use_the_disk_are_proven_by_what_it_moves_beside_the_run() {
        let shared = |write| slow().row("disk/vda", "read", 0.0, 0.0).row("disk/vda", "write", 101.0, write);
        assert_eq!(cause(&shared(90.0), "others use"), "the disk moves 90 MB/s, the run 10 MB/s");
        assert_eq!(cause(&shared(14.0), "others use"), "no");
        let mut small = shared(90.0);
        small.unit = crate::vocab::unit::Unit::Iops;
        (small.from, small.to) = (Some(96.0), Some(80.0));
        assert_eq!(cause(&small, "others use"), "no", "80 operations of 1 MiB a second");
    }

    #[test]
    fn of_a_guest_the_host_is_unknown() {
        let mut guest = slow();
        assert_eq!(cause(&guest, "host of this guest"), "no");
        guest.inventory.virtualisation = is("KVM");
        assert_eq!(cause(&guest, "host of this guest"), "possible");
    }
}
