//! Where a device hangs: the directories of sysfs from it upwards.

use std::path::{Path, PathBuf};

/// The directories from an entry up to that of sysfs, without links; none where there is no such entry, or where its link
/// leads out of the root.
pub(super) fn up(root: &Path, entry: &Path) -> Vec<PathBuf> {
    let (Ok(real), Ok(top)) = (entry.canonicalize(), root.join("sys").canonicalize()) else { return Vec::new() };
    if !real.starts_with(&top) {
        return Vec::new();
    }
    real.ancestors().take_while(|directory| *directory != top).map(Path::to_owned).collect()
}

/// The last part of a directory's path.
pub(super) fn name(directory: &Path) -> &str {
    directory.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// Whether software made the device up: the kernel keeps those apart from all buses.
pub(super) fn is_made_up(place: &[PathBuf]) -> bool {
    place.iter().any(|directory| name(directory) == "virtual")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::agent::host::fake;

    #[test]
    fn a_link_out_of_the_root_is_not_followed() {
        let (root, other) = (fake::root(&[("sys/devices/virtual/net/a/mtu", "1\n")]), fake::root(&[("b/mtu", "1\n")]));
        symlink(root.path().join("sys/devices/virtual/net/a"), root.path().join("in")).unwrap();
        symlink(other.path().join("b"), root.path().join("out")).unwrap();
        let inside = up(root.path(), &root.path().join("in"));
        assert_eq!(inside.iter().map(|d| name(d)).collect::<Vec<_>>(), ["a", "net", "virtual", "devices"]);
        assert!(is_made_up(&inside));
        assert!(up(root.path(), &root.path().join("out")).is_empty());
        assert!(up(root.path(), &root.path().join("gone")).is_empty());
    }
}
