//! What of a plan makes sense on any machine.

use super::content::STAMP;
use super::pace::Pace;
use crate::vocab::plan::{Disk, Layout, Pattern};

/// As deep as a ring of `io_uring` goes on every kernel that has it.
const DEEPEST: u32 = 4096;
/// Jobs and depth together: as many threads as the third engine may have to start.
const MOST_IN_FLIGHT: u32 = 4096;
/// Bytes; a transfer may not be longer than 2 GiB less a page (`read(2)`).
const LARGEST_BLOCK: u64 = 1 << 30;

/// What in a plan cannot be done anywhere, in a line.
pub(super) fn nonsense(load: &Disk) -> Option<String> {
    let (block, depth, jobs) = (load.block.0, load.depth, load.jobs);
    let writes_only = [
        ("fsync_every", load.fsync_every > 0),
        ("fdatasync_every", load.fdatasync_every > 0),
        ("dsync", load.dsync),
        ("verify", load.verify),
        ("layout: FirstWrite", load.layout != Layout::Overwrite),
    ];
    if !(1..=LARGEST_BLOCK).contains(&block) || load.size.0 < block {
        return Some(format!("blocks of {} and a file of {} do not go together", load.block, load.size));
    }
    if !(1..=DEEPEST).contains(&depth) {
        return Some(format!("depth {depth} is not between 1 and {DEEPEST}"));
    }
    if jobs == 0 || depth.saturating_mul(jobs) > MOST_IN_FLIGHT {
        return Some(format!(
            "{jobs} jobs of depth {depth} are not between 1 and {MOST_IN_FLIGHT} operations in flight"
        ));
    }
    if let Some((name, _)) = writes_only.iter().find(|(_, given)| *given && !load.pattern.writes()) {
        return Some(format!("`{name}` is for loads that write"));
    }
    if load.verify && block < STAMP as u64 {
        return Some(format!("verification needs blocks of {STAMP} B at least, not {}", load.block));
    }
    match load.pattern {
        Pattern::Mixed { reads, .. } if !(1..100).contains(&reads) => {
            return Some(format!("a share of {reads} % reads is not mixed; expected 1 to 99"));
        }
        Pattern::Mixed { .. } if load.is_first_write() => {
            return Some("a first write has nothing to read: `Mixed` needs `layout: Overwrite`".to_owned());
        }
        _ => {}
    }
    load.rate.and_then(|rate| Pace::of(rate).err())
}
