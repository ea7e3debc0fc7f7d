//! Software RAID as `/proc/mdstat` prints it (`Documentation/admin-guide/md.rst`).

/// One array.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Array {
    pub(super) name: String,
    /// `active`, `inactive`, with what is in parentheses behind it.
    pub(super) state: String,
    /// `raid1`; none of an inactive array.
    pub(super) level: Option<String>,
    /// Members that it should have, and those that work.
    pub(super) members: Option<(u32, u32)>,
    /// Members marked as failed.
    pub(super) failed: u32,
    /// What it is doing, and how far it is in percent: `resync`, `recovery`, `reshape`, `check`.
    pub(super) action: Option<(String, f64)>,
}

/// The arrays of a whole file.
pub(super) fn arrays<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<Array> {
    let mut found: Vec<Array> = Vec::new();
    let mut within = false;
    for line in lines {
        if !line.starts_with([' ', '\t']) {
            let array = array(line);
            within = array.is_some();
            found.extend(array);
        } else if let Some(array) = found.last_mut().filter(|_| within) {
            array.members = array.members.or_else(|| members(line));
            array.action = array.action.take().or_else(|| action(line));
        }
    }
    found
}

/// `md0 : active raid1 sdb1[1](F) sda1[0]`.
fn array(line: &str) -> Option<Array> {
    let (name, rest) = line.split_once(" : ")?;
    let mut words = rest.split_ascii_whitespace().peekable();
    let mut state = words.next().filter(|word| ["active", "inactive"].contains(word))?.to_owned();
    while let Some(note) = words.next_if(|word| word.starts_with('(')) {
        state = format!("{state} {note}");
    }
    let level = words.next_if(|word| !word.contains('[')).map(str::to_owned);
    let failed = words.filter(|word| word.ends_with("(F)")).count() as u32;
    Some(Array { name: name.trim().to_owned(), state, level, failed, ..Array::default() })
}

/// `[4/3]`: four there should be, three there are.
fn members(line: &str) -> Option<(u32, u32)> {
    line.split_ascii_whitespace().find_map(|word| {
        let (all, working) = word.strip_prefix('[')?.strip_suffix(']')?.split_once('/')?;
        Some((all.parse().ok()?, working.parse().ok()?))
    })
}

/// `recovery =  8.5% (17/200) finish=…`, `resync=DELAYED`.
fn action(line: &str) -> Option<(String, f64)> {
    const ACTIONS: [&str; 5] = ["resync", "recovery", "reshape", "check", "repair"];
    let line = line.trim_ascii_start();
    // A bar may go before it: `[=>...]  recovery = …`.
    let line = line.strip_prefix('[').and_then(|bar| bar.split_once(']')).map_or(line, |(_, rest)| rest);
    let (before, after) = line.split_once('=')?;
    let name = ACTIONS.iter().find(|name| **name == before.trim())?;
    let percent = after.split('%').next().and_then(|number| number.trim().parse::<f64>().ok());
    Some(((*name).to_owned(), percent.filter(|p| (0.0..=100.0).contains(p)).unwrap_or(0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "Personalities : [raid1] [raid6]\n\
        md0 : active raid1 sdb1[1] sda1[0]\n      1048576 blocks super 1.2 [2/2] [UU]\n      bitmap: 1/1 pages [4KB], 65536KB chunk\n\n\
        md127 : active (auto-read-only) raid5 sdc1[0](F) sdd1[1](S) sde1[2]\n      200 blocks level 5, 64k chunk, algorithm 2 [3/2] [UU_]\n\
        \x20     [=>...................]  recovery =  8.5% (17/200) finish=11.0min speed=100K/sec\n\
        md5 : active raid1 sdf[0] sdg[1]\n      10 blocks [2/2] [UU]\n      \tresync=DELAYED\n\
        md9 : inactive sdh[0](S)\n      5 blocks super 1.2\nunused devices: <none>\n";

    #[test]
    fn members_states_and_progress_are_read() {
        let arrays = arrays(STAT.lines());
        let names: Vec<&str> = arrays.iter().map(|a| a.name.as_str()).collect();
        assert_eq!(names, ["md0", "md127", "md5", "md9"]);
        assert_eq!(
            (arrays[0].members, arrays[0].level.as_deref(), &arrays[0].action),
            (Some((2, 2)), Some("raid1"), &None)
        );
        assert_eq!((arrays[1].state.as_str(), arrays[1].failed), ("active (auto-read-only)", 1));
        assert_eq!((arrays[1].members, arrays[1].action.clone()), (Some((3, 2)), Some(("recovery".into(), 8.5))));
        assert_eq!(arrays[2].action, Some(("resync".into(), 0.0)));
        assert_eq!((arrays[3].level.as_deref(), arrays[3].members, arrays[3].state.as_str()), (None, None, "inactive"));
    }
}
