//! What a disk run says about itself.

use std::collections::BTreeMap;

use super::Kernel;
use crate::vocab::plan::{Bound, Content, Pattern};
use crate::vocab::size::ByteSize;

/// Engine, sizes, file system, and how its figures are meant: by name.
pub(super) fn labels(kernel: &Kernel) -> BTreeMap<String, String> {
    let load = &kernel.load;
    let target = &kernel.files[0].target;
    let mut labels: BTreeMap<&str, String> = BTreeMap::from([
        ("engine", kernel.engine.words(load.depth)),
        ("path", if load.is_direct() { "direct" } else { "buffered" }.to_owned()),
        ("block", load.block.to_string()),
        ("depth", load.depth.to_string()),
        ("size", ByteSize(kernel.size).to_string()),
        ("file_system", target.file_system.clone()),
        ("mount", target.device.clone()),
        ("alignment", format!("{} B of offsets, {} B of memory", target.unit, target.alignment)),
        ("latency_range", "1 ns to 1 h; longer ones count as 1 h, and lat_clamped says how many".to_owned()),
    ]);
    if load.jobs > 1 {
        labels.insert("jobs", format!("{}, each with a file of its own", load.jobs));
    }
    if let Some(rate) = load.rate {
        labels.insert("rate_limit", rate.to_string());
    }
    match load.bound {
        Bound::Time => None,
        Bound::Size => labels.insert("bound", "as many bytes as the files have".to_owned()),
        Bound::Bytes(bytes) => labels.insert("bound", bytes.to_string()),
    };
    let content = match load.content {
        Content::Fresh => "random, fresh in every block",
        Content::Zero => "zeros",
        Content::Repeated => "one random block again and again",
    };
    let content = if load.verify { format!("{content}; stamps and checksums in each") } else { content.to_owned() };
    labels.insert("content", content);
    if load.pattern.writes() {
        labels.insert("layout", if load.is_first_write() { "first write" } else { "overwrite" }.to_owned());
        flushes(kernel, &mut labels);
    }
    counting(kernel, &mut labels);
    labels.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn flushes(kernel: &Kernel, labels: &mut BTreeMap<&str, String>) {
    let load = &kernel.load;
    let every = [("fsync", load.fsync_every), ("fdatasync", load.fdatasync_every)];
    let mut words: Vec<String> =
        every.iter().filter(|(_, n)| *n > 0).map(|(name, n)| format!("{name} after {n} writes")).collect();
    if load.dsync {
        words.push("O_DSYNC".to_owned());
    }
    if !words.is_empty() {
        labels.insert("sync", words.join(", "));
    }
}

/// What is not plain about how the figures are reckoned.
fn counting(kernel: &Kernel, labels: &mut BTreeMap<&str, String>) {
    let load = &kernel.load;
    if load.pattern.reads() && !load.is_direct() {
        let cache = "dropped before each iteration; a file that fits in memory is then read from memory";
        labels.insert("page_cache", cache.to_owned());
    }
    if kernel.counts_the_flush() {
        labels.insert("mb_per_s_counts", "everything written, to the end of the flush".to_owned());
    }
    if load.pattern == Pattern::Copy {
        labels.insert("copy", "rates count what is written; a latency is that of a read and its write".to_owned());
    }
}
