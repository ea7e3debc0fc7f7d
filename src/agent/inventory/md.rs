//! Software RAIDs: `/proc/mdstat`, and sysfs where it tells more.

use std::path::Path;

use super::fact;
use crate::agent::{host, list};
use crate::vocab::fact::Fact;
use crate::vocab::hardware::Array;
use crate::vocab::text::neutral;

/// The arrays, in the order of their names.
pub(super) fn read(root: &Path) -> Vec<Array> {
    let text = host::text(&root.join("proc/mdstat")).unwrap_or_default();
    let mut arrays = parse(&text);
    let class = root.join("sys/class/block");
    for name in host::names(&class) {
        let kept = class.join(&name).join("md");
        if !kept.is_dir() {
            continue;
        }
        if !arrays.iter().any(|array| array.name == name) {
            arrays.push(unknown(&name));
        }
        let Some(array) = arrays.iter_mut().find(|array| array.name == name) else { continue };
        refine(array, &kept);
    }
    arrays.sort_by(|a, b| a.name.cmp(&b.name));
    arrays
}

fn unknown(name: &str) -> Array {
    Array {
        name: neutral(name),
        level: Fact::NotPresent,
        state: Fact::NotPresent,
        disks: Fact::NotPresent,
        degraded: Fact::NotPresent,
        action: Fact::NotPresent,
        members: Vec::new(),
    }
}

fn refine(array: &mut Array, kept: &Path) {
    let better = |own: &mut Fact, file: &str| {
        if let found @ Fact::Is(_) = fact::setting(&kept.join(file)) {
            *own = found;
        }
    };
    better(&mut array.level, "level");
    better(&mut array.state, "array_state");
    for (own, file) in [(&mut array.disks, "raid_disks"), (&mut array.degraded, "degraded")] {
        if let found @ Fact::Is(_) = fact::number(&kept.join(file)) {
            *own = found;
        }
    }
    // What goes on is told with its progress in mdstat.
    if array.action.known().is_none_or(|action| action == "idle") {
        better(&mut array.action, "sync_action");
    }
    if array.members.is_empty() {
        let members = host::names(kept).into_iter().filter_map(|name| {
            let device = name.strip_prefix("dev-")?.to_owned();
            let state = host::value(&kept.join(&name).join("state")).unwrap_or_default();
            let marks: Vec<&str> = ["faulty", "spare"].into_iter().filter(|mark| state.contains(mark)).collect();
            Some(member(&device, &marks))
        });
        array.members = members.collect();
    }
}

fn member(device: &str, marks: &[&str]) -> String {
    let marks = if marks.is_empty() { String::new() } else { format!(" ({})", marks.join(", ")) };
    neutral(device) + &marks
}

/// `md0 : active raid5 sdc1[3] sdb1[1](F) sda1[0]`, and indented lines that tell more of it.
fn parse(text: &str) -> Vec<Array> {
    let mut arrays: Vec<Array> = Vec::new();
    for line in text.lines() {
        let indented = line.starts_with([' ', '\t']);
        if !indented {
            if let Some((name, rest)) = line.split_once(" : ").filter(|(name, _)| name.starts_with("md")) {
                arrays.push(head(name.trim(), rest));
            }
        } else if let Some(array) = arrays.last_mut() {
            detail(array, line);
        }
    }
    arrays
}

fn head(name: &str, rest: &str) -> Array {
    let mut array = unknown(name);
    array.action = Fact::Is("idle".to_owned());
    let mut state: Vec<&str> = Vec::new();
    for word in rest.split_ascii_whitespace() {
        let Some((device, slot)) = word.split_once('[') else {
            if list::numbered(word, "raid").is_some() || ["linear", "multipath", "faulty", "container"].contains(&word)
            {
                array.level = Fact::Is(word.to_owned());
            } else {
                state.push(word);
            }
            continue;
        };
        let marks =
            [("(F)", "faulty"), ("(S)", "spare"), ("(W)", "write-mostly"), ("(J)", "journal"), ("(R)", "replacement")];
        let marks: Vec<&str> = marks.iter().filter(|(mark, _)| slot.contains(mark)).map(|(_, name)| *name).collect();
        array.members.push(member(device, &marks));
    }
    array.state = if state.is_empty() { Fact::NotPresent } else { Fact::Is(neutral(&state.join(" "))) };
    array
}

fn detail(array: &mut Array, line: &str) {
    // `[3/2] [UU_]`: members of the whole array, and those at work.
    let mut counts = line.split('[').filter_map(|part| part.split_once(']')?.0.split_once('/'));
    let numbers = |(all, working): (&str, &str)| Some((all.parse::<u32>().ok()?, working.parse::<u32>().ok()?));
    if let Some((all, working)) = counts.find_map(numbers) {
        array.disks = Fact::Is(all);
        array.degraded = Fact::Is(all.saturating_sub(working));
    }
    for action in ["recovery", "resync", "reshape", "check", "repair"] {
        let Some((_, rest)) = line.split_once(action) else { continue };
        let how_far = rest.trim_start_matches([' ', '=']).split_ascii_whitespace().next().unwrap_or_default();
        array.action = Fact::Is(neutral(format!("{action} {how_far}").trim_end()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::fake;

    const MDSTAT: &str = "Personalities : [raid1] [raid6]
md0 : active raid5 sdc1[3](F) sdb1[1] sda1[0] sdd1[4](S)
      20958208 blocks super 1.2 level 5, 512k chunk, algorithm 2 [3/2] [UU_]
      [==>..................]  recovery = 12.6% (1323/10479) finish=0.7min speed=200K/sec
      bitmap: 0/1 pages [0KB], 65536KB chunk

md1 : active (auto-read-only) raid1 sdf[0]
      1048 blocks [1/1] [U]
      \tresync=PENDING
md127 : inactive sdg[0](S)
      1048 blocks super 1.2

unused devices: <none>
";

    #[test]
    fn arrays_tell_their_members_and_what_goes_on() {
        let got = parse(MDSTAT);
        let is = |text: &str| Fact::Is(text.to_owned());
        assert_eq!(got.len(), 3);
        assert_eq!(
            (&got[0].level, &got[0].state, &got[0].action),
            (&is("raid5"), &is("active"), &is("recovery 12.6%"))
        );
        assert_eq!((&got[0].disks, &got[0].degraded), (&Fact::Is(3), &Fact::Is(1)));
        assert_eq!(got[0].members, ["sdc1 (faulty)", "sdb1", "sda1", "sdd1 (spare)"]);
        assert_eq!((&got[1].state, &got[1].action), (&is("active (auto-read-only)"), &is("resync PENDING")));
        assert_eq!((&got[2].level, &got[2].state), (&Fact::NotPresent, &is("inactive")));
    }

    #[test]
    fn sysfs_tells_more_and_knows_arrays_of_its_own() {
        let root = fake::root(&[
            ("proc/mdstat", "md0 : active raid1 sda[0]\n      8 blocks [2/1] [U_]\n"),
            ("sys/class/block/md0/md/array_state", "clean\n"),
            ("sys/class/block/md0/md/sync_action", "check\n"),
            ("sys/class/block/md9/md/level", "raid6\n"),
            ("sys/class/block/md9/md/degraded", "2\n"),
            ("sys/class/block/md9/md/dev-sdb/state", "faulty\n"),
        ]);
        let got = read(root.path());
        let is = |text: &str| Fact::Is(text.to_owned());
        assert_eq!((&got[0].state, &got[0].action, &got[0].degraded), (&is("clean"), &is("check"), &Fact::Is(1)));
        assert_eq!(
            (&got[1].level, &got[1].degraded, &got[1].members[..]),
            (&is("raid6"), &Fact::Is(2), &["sdb (faulty)".to_owned()][..])
        );
    }

    #[test]
    fn no_cut_no_damage_and_no_mix_stops_the_reader() {
        for end in 0..MDSTAT.len() {
            parse(&MDSTAT[..end]);
        }
        let lines: Vec<&str> = MDSTAT.lines().collect();
        for step in 1..lines.len() {
            let mixed: Vec<&str> = (0..lines.len()).map(|n| lines[n * step % lines.len()]).collect();
            parse(&mixed.join("\n"));
        }
        fake::cut_anywhere("proc/mdstat", MDSTAT, |root| {
            read(root);
            Vec::new()
        });
    }
}
