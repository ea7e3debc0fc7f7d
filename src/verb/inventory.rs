//! `shakedown inventory`: what this node is.

use std::path::PathBuf;

use super::{Ended, print};
use crate::agent::resources::Resources;
use crate::agent::{conditions, inventory as read};
use crate::view::words;

pub(super) fn inventory(json: bool, root: Option<PathBuf>) -> Ended {
    let root = root.unwrap_or_else(|| PathBuf::from("/"));
    let inventory = read::read(&root, &Resources::here(&root));
    let conditions = conditions::read(&root);
    if json {
        let whole = serde_json::json!({ "inventory": inventory, "conditions": conditions });
        print(&format!("{}\n", serde_json::to_string_pretty(&whole).map_err(|e| e.to_string())?));
    } else {
        print(&words::inventory(&inventory, &conditions));
    }
    Ok(0)
}
