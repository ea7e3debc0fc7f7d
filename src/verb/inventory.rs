//! `shakedown inventory`: what this node is.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Ended, print};
use crate::agent::inventory::raid;
use crate::agent::resources::Resources;
use crate::agent::{conditions, inventory as read};
use crate::cli::ordered as cli;
use crate::view::inventory as view;
use crate::vocab::ordered::Ordered;

/// How long all tools of RAID controllers together may take.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) fn inventory((json, ordered): (bool, bool), root: Option<PathBuf>) -> Ended {
    let root = root.unwrap_or_else(|| PathBuf::from("/"));
    let inventory = read::read(&root, &Resources::here(&root));
    let conditions = conditions::read(&root);
    // The tools know the controllers of this machine only.
    let controllers = if root == Path::new("/") { raid::read(PATIENCE) } else { Vec::new() };
    if json {
        let whole = serde_json::json!({ "inventory": inventory, "conditions": conditions, "controllers": controllers });
        print(&format!("{}\n", serde_json::to_string_pretty(&whole).map_err(|e| e.to_string())?))?;
    } else if ordered {
        print(&cli::print(&Ordered::found(&inventory, &controllers), &inventory)?)?;
    } else {
        print(&view::text(&inventory, &conditions, &controllers))?;
    }
    Ok(0)
}
