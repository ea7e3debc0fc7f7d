//! What was found in a node as an order: a block of RON to be put into a preset.

use ron::Options;
use ron::extensions::Extensions;
use ron::ser::PrettyConfig;

use crate::vocab::node::Inventory;
use crate::vocab::ordered::Ordered;
use crate::vocab::text::neutral;

/// Deeper things stand on one line.
const DEPTH: usize = 2;

/// The block for what was found, and why something of this node is not in it.
///
/// # Errors
/// Why it cannot be written as RON.
pub fn print(found: &Ordered, node: &Inventory) -> Result<String, String> {
    let options = Options::default().with_default_extension(Extensions::IMPLICIT_SOME);
    let pretty = PrettyConfig::new().depth_limit(DEPTH).new_line("\n");
    let body = options.to_string_pretty(found, pretty).map_err(|why| why.to_string())?;
    let mut text =
        String::from("    // What this node is made of. Take out what was not ordered; numbers mean at least.\n");
    for (what, why) in
        [("the memory modules", node.modules.fitted.reason()), ("the BIOS", node.machine.bios_version.reason())]
    {
        if !why.is_empty() {
            text += &format!("    // Without {what}: {}.\n", neutral(why));
        }
    }
    let body = body.replace('\n', "\n    ");
    Ok(text + "    ordered: " + &body + ",\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::presets;
    use crate::shelf::Book;
    use crate::vocab::fact::Fact;
    use crate::vocab::hardware::{Controller, DiskItem, VirtualDrive};
    use crate::vocab::node::Machine;

    #[test]
    fn a_printed_order_is_one_of_a_preset() {
        let disk = |size| DiskItem { model: Fact::Is("M \"1\"".into()), size, ..DiskItem::default() };
        let drive =
            VirtualDrive { level: Fact::Is("RAID5".into()), policy: Fact::Is("WB".into()), ..VirtualDrive::default() };
        let controllers = [Controller { model: Fact::Is("C1".into()), drives: vec![drive], ..Controller::default() }];
        let node = Inventory {
            cpu: "CPU 1".to_owned(),
            cpus: 8,
            machine: Machine { bios_version: Fact::Is("2.1".into()), ..Machine::default() },
            disks: vec![disk(3_840_755_982_336), disk(3_840_755_982_336), disk(15_362_991_415_296)],
            ..Inventory::default()
        };
        let found = Ordered::found(&node, &controllers);
        let text = print(&found, &node).unwrap();
        assert!(text.contains("// Without the memory modules: not recorded.\n") && !text.contains("Some("), "{text}");
        assert!(text.contains("count: 2") && text.contains("\"3840GB\"") && text.contains("\"15360GB\""), "{text}");
        let runs = "runs: [(name: \"r\", kernel: Synthetic(rate: \"1 MB/s\", time: \"1 s\"))]";
        let book = Book { name: "p".to_owned(), path: None, text: format!("(title: \"t\", {runs},\n{text})") };
        assert_eq!(presets::parse(&book).unwrap().ordered.as_deref(), Some(&found), "{text}");
    }
}
