//! The rules about the network.

use super::bearing::Bearing;
use super::facts::Facts;
use crate::vocab::finding::Resource;
use crate::vocab::plan::Load;
use crate::vocab::unit::{Quantity, Unit, short};

/// A direction of a link is full from here on, in percent: headers and gaps take the rest.
const FULL: f64 = 90.0;
/// A link below this is not what holds traffic up, in percent.
const FREE: f64 = 70.0;
/// A disk below this waits for somebody else, in percent.
const DISK_FREE: f64 = 50.0;
/// With more time than this spent in waiting for disks the network is not all of it, in percent.
const DISK_WAITED_FOR: f64 = 10.0;
/// Segments sent again, in percent of those sent, from which on TCP slows down for them.
const RESENT: f64 = 0.5;
/// Or so many times as many as before, and not only a handful: in percent.
const RESENT_TIMES: f64 = 10.0;
const HANDFUL: f64 = 0.05;
/// What is negotiated, in Mb/s, over a gigabit cable of which only two pairs are whole.
const TWO_PAIRS: u32 = 100;

/// Whether the run may depend on the network: one of the CPUs does not, nor one on a disk of this node.
pub(super) fn matters(facts: &Facts<'_>) -> bool {
    let local = matches!(facts.scene.load, Some(Load::Disk(_))) && facts.disk().is_some();
    !facts.loads_cpu() && !local
}

fn disks_are_free(facts: &Facts<'_>) -> bool {
    facts.on_disk("util").after.is_none_or(|util| util < DISK_FREE)
        && facts.after("cpu/", "iowait").is_none_or(|iowait| iowait < DISK_WAITED_FOR)
}

/// A link is full and the disks are not.
pub(super) fn is_full(facts: &Facts<'_>) -> bool {
    facts.most("net", "link").is_some_and(|(_, share)| share >= FULL) && disks_are_free(facts)
}

/// Segments are lost between here and the other end, and neither the link nor the disks are full.
pub(super) fn loses(facts: &Facts<'_>) -> bool {
    let resent = facts.sides("tcp/", "retransmitted");
    let many = resent.after.is_some_and(|after| {
        let times = resent.before.is_some_and(|before| after >= RESENT_TIMES * before && after >= HANDFUL);
        after >= RESENT && (!facts.is_a_change() || resent.before.is_none_or(|before| after > before)) || times
    });
    let free = facts.most("net", "link").is_none_or(|(_, share)| share < FREE);
    many && free && disks_are_free(facts)
}

/// Whether the finding is about the network.
fn is_of_network(held_by: &[Resource]) -> bool {
    held_by.iter().any(|r| matches!(r, Resource::Nic | Resource::NetworkPath))
}

/// Frames that did not arrive whole.
pub(super) fn bad_wire(facts: &Facts<'_>, held_by: &[Resource]) -> Bearing {
    let most = facts.most("link", "crc").filter(|(_, rate)| *rate > 0.0 && (is_of_network(held_by) || matters(facts)));
    Bearing::proven(most.map(|(key, rate)| format!("{key} crc {}", short(Quantity::new(rate, Unit::PerSecond)))))
}

/// A link at half duplex, or at the speed of a cable with two pairs.
pub(super) fn slow_wire(facts: &Facts<'_>, held_by: &[Resource]) -> Bearing {
    if !is_of_network(held_by) {
        return Bearing::None;
    }
    let slow = |speed: &str| {
        let number = speed.split(' ').next().and_then(|n| n.parse::<u32>().ok());
        speed.ends_with(" half") || number.is_some_and(|megabits| megabits <= TWO_PAIRS)
    };
    let found = facts.scene.conditions_like("link_", "").find(|(_, speed)| slow(speed));
    Bearing::proven(found.map(|(name, speed)| format!("{} {speed}", name.trim_start_matches("link_"))))
}

/// Packets that nobody took in time.
pub(super) fn dropped(facts: &Facts<'_>, held_by: &[Resource]) -> Bearing {
    let rows = [("softnet", "dropped"), ("link", "missed"), ("net", "drops")];
    let most = |(source, row): (&'static str, &'static str)| {
        let (key, rate) = facts.most(source, row).filter(|(_, rate)| *rate >= 1.0)?;
        Some(format!("{key} {row} {}", short(Quantity::new(rate, Unit::PerSecond))))
    };
    Bearing::proven(rows.into_iter().find_map(most).filter(|_| is_of_network(held_by)))
}

#[cfg(test)]
mod tests {
    use crate::analysis::attribution::attribute;
    use crate::analysis::attribution::staged::Stage;
    use crate::vocab::finding::{Kind, Resource};

    fn held_by(stage: &Stage) -> Vec<Resource> {
        attribute(&stage.scene()).held_by
    }

    /// A copy to another node.
    fn copy(kind: Kind) -> Stage {
        Stage { load: None, device: None, ..Stage::of(kind) }
    }

    #[test]
    fn a_full_link_is_named_and_one_that_waits_for_the_disk_is_not() {
        let link = |share| copy(Kind::Cap).row("net/eth0", "link", share, share);
        assert_eq!(held_by(&link(94.0)), [Resource::Nic]);
        assert_eq!(held_by(&link(85.0)), []);
        assert_eq!(held_by(&link(94.0).row("disk/sda", "util", 80.0, 80.0)), []);
    }

    #[test]
    fn lost_segments_are_the_path_and_a_few_are_not() {
        let resent = |before, after| copy(Kind::Collapse).row("tcp/", "retransmitted", before, after);
        assert_eq!(held_by(&resent(0.01, 0.8)), [Resource::NetworkPath]);
        assert_eq!(held_by(&resent(0.01, 0.3)), [Resource::NetworkPath], "thirty times as many");
        assert_eq!(held_by(&resent(0.1, 0.4)), []);
        assert_eq!(held_by(&resent(0.001, 0.02)), [], "a handful");
        assert_eq!(held_by(&resent(0.01, 0.8).row("net/eth0", "link", 80.0, 95.0)), [Resource::Nic]);
    }

    #[test]
    fn a_run_on_a_disk_of_this_node_does_not_depend_on_the_network() {
        let stage = Stage::of(Kind::Collapse).healthy_disk().row("tcp/", "retransmitted", 0.01, 3.0);
        assert_eq!(held_by(&stage), []);
    }

    #[test]
    fn the_wire_speaks_for_itself() {
        let lossy = || copy(Kind::Collapse).row("tcp/", "retransmitted", 0.01, 0.8);
        let proof = |stage: Stage, what: &str| {
            let found = attribute(&stage.scene()).causes;
            found.into_iter().find(|c| c.what.contains(what)).and_then(|c| c.proof)
        };
        assert_eq!(proof(lossy().row("link/eth0", "crc", 0.0, 12.0), "CRC").as_deref(), Some("link/eth0 crc 12 /s"));
        assert_eq!(proof(lossy().row("link/eth0", "crc", 0.0, 0.0), "CRC"), None);
        let link = |speed| lossy().condition("link_eth0", speed);
        assert_eq!(proof(link("1000 Mb/s half"), "duplex").as_deref(), Some("eth0 1000 Mb/s half"));
        assert_eq!(proof(link("100 Mb/s full"), "duplex").as_deref(), Some("eth0 100 Mb/s full"));
        assert_eq!(proof(link("25000 Mb/s full"), "duplex"), None);
        let dropped = |rate| proof(lossy().row("softnet/", "dropped", 0.0, rate), "dropped");
        assert_eq!((dropped(40.0).as_deref(), dropped(0.2)), (Some("softnet/ dropped 40 /s"), None));
    }
}
