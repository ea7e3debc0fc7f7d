//! The tables of disks, as iostat prints them, and of NICs.

use super::table::{Column, Table};
use super::{Section, Shown};
use crate::view::format;
use crate::view::tui::pane::{Pane, Rows, View};

pub(super) const DISKS: Pane = Pane {
    rows: |view, (_, height)| DISK_TABLE.rows(Shown::of(view).as_ref(), height),
    draw: |view, area, brush| DISK_TABLE.draw(Shown::of(view).as_ref(), area, brush),
};

pub(super) const NICS: Pane = Pane {
    rows: |view, (_, height)| {
        let rows = nics(view).rows(Shown::of(view).as_ref(), height);
        // What the others leave: the last pane takes no more than it needs.
        Rows { share: rows.share.saturating_sub(1), ..rows }
    },
    draw: |view, area, brush| nics(view).draw(Shown::of(view).as_ref(), area, brush),
};

const fn column(head: &'static str, width: u16, text: fn(&Shown<'_>, (&str, &str)) -> Option<String>) -> Column {
    Column { head, width, text }
}

fn number(shown: &Shown<'_>, key: &str, row: &str) -> Option<String> {
    shown.host.latest(key, row).map(format::number)
}

const DISK_TABLE: Table = Table {
    section: Section::Disks,
    source: "disk",
    title: "Disks",
    names: 11,
    columns: &[
        column("r/s", 7, |s, (key, _)| number(s, key, "r/s")),
        column("w/s", 7, |s, (key, _)| number(s, key, "w/s")),
        column("rMB/s", 7, |s, (key, _)| number(s, key, "read")),
        column("wMB/s", 7, |s, (key, _)| number(s, key, "write")),
        column("r_await", 8, |s, (key, _)| number(s, key, "r_await")),
        column("w_await", 8, |s, (key, _)| number(s, key, "w_await")),
        column("aqu-sz", 7, |s, (key, _)| number(s, key, "queue")),
        column("%util", 6, |s, (key, _)| number(s, key, "util")),
        column("await", 8, |s, (key, _)| number(s, key, "await")),
        column("rareq-kB", 10, |s, (key, _)| s.host.latest(key, "rareq-sz").map(|b| format::number(b / 1e3))),
        column("wareq-kB", 10, |s, (key, _)| s.host.latest(key, "wareq-sz").map(|b| format::number(b / 1e3))),
    ],
    past: &["read", "write", "await", "util"],
};

const NIC_TABLE: Table = Table {
    section: Section::Nics,
    source: "net",
    title: "NICs",
    names: 16,
    columns: &[
        column("rxMB/s", 9, |s, (key, _)| number(s, key, "rx")),
        column("txMB/s", 9, |s, (key, _)| number(s, key, "tx")),
        LINK[0],
        LINK[1],
        LINK[2],
        LINK[3],
        LINK[4],
    ],
    past: &["rx", "tx", "drops"],
};

/// The same with rates in the unit of the link's speed.
const NIC_TABLE_IN_BITS: Table = Table {
    columns: &[
        column("rxMb/s", 9, |s, (key, _)| bits(s, key, "rx")),
        column("txMb/s", 9, |s, (key, _)| bits(s, key, "tx")),
        LINK[0],
        LINK[1],
        LINK[2],
        LINK[3],
        LINK[4],
    ],
    ..NIC_TABLE
};

const LINK: [Column; 5] = [
    column("%link", 7, |s, (key, _)| number(s, key, "link")),
    column("link", 10, |s, (_, name)| s.host.link_speed(name).map(speed)),
    column("err/s", 7, |s, (key, _)| number(s, key, "errors")),
    column("drop/s", 8, |s, (key, _)| number(s, key, "drops")),
    column("crc/s", 8, |s, (_, name)| number(s, &format!("link/{name}"), "crc")),
];

fn nics(view: &View<'_>) -> &'static Table {
    if view.screen.bits { &NIC_TABLE_IN_BITS } else { &NIC_TABLE }
}

fn bits(shown: &Shown<'_>, key: &str, row: &str) -> Option<String> {
    shown.host.latest(key, row).map(|megabytes| format::number(megabytes * 8.0))
}

/// A link's speed as it is called.
fn speed(megabits: f64) -> String {
    if megabits < 1_000.0 { format!("{megabits} Mb/s") } else { format!("{} Gb/s", megabits / 1_000.0) }
}
