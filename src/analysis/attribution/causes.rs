//! What may be behind a finding: one line a cause, likeliest first. A cause is proven by a counter or a fact of the node, or only
//! possible, and then it says what to look at.

use super::bearing::Bearing;
use super::facts::Facts;
use super::{leads, network};
use crate::vocab::finding::{Cause, Resource};

/// More are no help.
const MOST: usize = 4;

/// What may be behind a finding.
struct Lead {
    what: &'static str,
    check: &'static str,
    bears: fn(&Facts<'_>, &[Resource]) -> Bearing,
}

const LEADS: &[Lead] = &[
    Lead {
        what: "another run of this plan, which began or ended its load at that moment",
        check: "the runs' phases in the log; repeat the run alone: --only RUN",
        bears: leads::other_run,
    },
    Lead {
        what: "other guests of the same host",
        check: "steal over the day (sar -u), the host's load; another host",
        bears: leads::stolen,
    },
    Lead {
        what: "a CPU quota or an I/O limit of the control group",
        check: "cpu.max, cpu.stat and io.max of the group and of those around it",
        bears: leads::limited,
    },
    Lead {
        what: "the CPU is too hot",
        check: "fans, air, thermal paste; sensors, ipmitool sdr; cool down and repeat",
        bears: leads::hot,
    },
    Lead {
        what: "a limit of power or of the clock",
        check: "ipmitool sdr type 'Power Supply'; /sys/class/powercap; governor and profile of the BIOS",
        bears: leads::clocked,
    },
    Lead {
        what: "memory is short",
        check: "free -m, ps --sort=-rss; what else runs on the node",
        bears: leads::swapping,
    },
    Lead {
        what: "other work on the node",
        check: "top, pidstat 1: what runs beside the load",
        bears: leads::other_work,
    },
    Lead {
        what: "others use the same disk",
        check: "iotop, pidstat -d 1: who reads and writes beside the load",
        bears: leads::others_on_disk,
    },
    Lead {
        what: "the controller writes through (battery or learn cycle)",
        check: "storcli /call/vall show all and /call/bbu show (or perccli, MegaCli, ssacli); the controller's event log",
        bears: leads::writes_through,
    },
    Lead {
        what: "the array is being rebuilt or checked",
        check: "cat /proc/mdstat; the controller's rebuild, patrol read and consistency check",
        bears: leads::rebuilds,
    },
    Lead {
        what: "one member of the array is slow",
        check: "iostat -x 1 of the members, smartctl -a of each",
        bears: leads::slow_member,
    },
    Lead {
        what: "the limit of dirty memory is reached: fast into the page cache, then as fast as the disk",
        check: "the same run direct; sysctl vm.dirty_bytes vm.dirty_ratio",
        bears: leads::page_cache,
    },
    Lead {
        what: "the NVMe drive is too hot",
        check: "nvme smart-log: temperature, warning and critical time",
        bears: leads::hot_drive,
    },
    Lead {
        what: "burst credit is spent, or the volume is at the limit of its plan",
        check: "the volume's plan and the provider's burst balance; a run longer than the credit lasts",
        bears: leads::credit,
    },
    Lead {
        what: "a cache of the device or its controller is full",
        check: "pause 10 minutes and repeat: the same amount fast again is a cache; smartctl -a, nvme smart-log",
        bears: leads::device_cache,
    },
    Lead {
        what: "a PCI Express link is below its maximum",
        check: "lspci -vv: LnkSta against LnkCap; reseat the card, the slot's lanes",
        bears: leads::narrow_link,
    },
    Lead {
        what: "the device does not answer",
        check: "dmesg -T: blocked for, reset, timeout; smartctl -a; cables and expander",
        bears: leads::silent_device,
    },
    Lead {
        what: "bad optics or cable (CRC errors)",
        check: "ethtool -m, ethtool -S: crc, fec; swap the cable",
        bears: network::bad_wire,
    },
    Lead {
        what: "the network link was negotiated slow or half duplex",
        check: "ethtool: speed, duplex, link partner; cable, port of the switch",
        bears: network::slow_wire,
    },
    Lead {
        what: "packets are dropped before the CPU takes them",
        check: "ethtool -S and -g, /proc/net/softnet_stat; interrupts on one CPU",
        bears: network::dropped,
    },
    Lead {
        what: "memory modules run below their rating",
        check: "dmidecode -t memory: speed against configured speed, empty slots",
        bears: leads::slow_modules,
    },
    Lead {
        what: "memory of another NUMA node is used",
        check: "numastat -p, numactl -H: where the memory and the device are",
        bears: leads::remote_memory,
    },
    Lead {
        what: "the kernel's clock is slow to read",
        check: "dmesg: clocksource, tsc unstable; /sys/devices/system/clocksource",
        bears: leads::slow_clock,
    },
    Lead {
        what: "something on the host of this guest: unknown from within the guest",
        check: "the same run on the host; the host's disks, controller and other guests",
        bears: leads::host_side,
    },
];

/// The causes that bear on a finding, proven ones first, at most four.
pub(super) fn causes(facts: &Facts<'_>, held_by: &[Resource]) -> Vec<Cause> {
    let mut found: Vec<Cause> = Vec::new();
    let mut possible: Vec<Cause> = Vec::new();
    for lead in LEADS {
        let cause = |proof| Cause { what: lead.what.to_owned(), proof, check: lead.check.to_owned() };
        match (lead.bears)(facts, held_by) {
            Bearing::Proven(reading) => found.push(cause(Some(reading))),
            Bearing::Possible => possible.push(cause(None)),
            Bearing::None => {}
        }
    }
    found.extend(possible);
    found.truncate(MOST);
    found
}
