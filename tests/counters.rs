//! The host's counters: what the fold makes of counters that wrap, fall, vanish and come back, held against hand arithmetic and
//! against the tools that people trust.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, reason = "tests")]

#[path = "counters/captures.rs"]
mod captures;
#[path = "counters/peers.rs"]
mod peers;
#[path = "counters/told.rs"]
mod told;

use proptest::prelude::*;
use told::{Told, WRAP};

const STATES: [&str; 10] =
    ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice"];
/// The rows that add up to all of the time.
const PARTS: [&str; 6] = ["user", "guest", "system", "iowait", "steal", "idle"];

#[test]
fn a_counter_that_falls_is_one_gap_one_remark_and_then_a_normal_rate() {
    let mut told = Told::new(&["net/eth0 rx_bytes", "net/eth0 tx_bytes", "net/eth1 rx_bytes"]);
    let readings = [[5e15, 7e9, 0.0], [5e15 + 1e6, 7e9, 1e6], [100.0, 7e9 + 5.0, 2e6], [2_000_100.0, 7e9 + 5.0, 3e6]];
    for values in readings {
        told.second(&values);
    }
    assert_eq!(told.points("net/eth0", "rx"), [(2, 1.0), (4, 2.0)]);
    assert_eq!(told.points("net/eth0", "tx"), [(2, 0.0), (4, 0.0)], "all of the device began anew");
    assert_eq!(told.points("net/eth1", "rx").len(), 3, "no other device is touched");
    assert_eq!(told.remarks(), ["counter reset: net eth0 rx_bytes"]);
    assert_eq!(told.points("net/*", "rx"), [(2, 2.0), (4, 3.0)], "nor is there a total of half a reading");
}

#[test]
fn a_counter_that_jumps_to_and_fro_is_remarked_once_a_minute() {
    let mut told = Told::new(&["net/eth0 rx_bytes"]);
    for second in 0..90 {
        told.second(&[if second % 2 == 0 { 5e9 } else { 1e9 }]);
    }
    assert_eq!(told.remarks().len(), 2);
}

#[test]
fn only_a_counter_of_32_bits_wraps_and_only_from_near_the_end() {
    let fields = ["disk/sda writes", "disk/sda write_ms 32"];
    let mut told = Told::new(&fields);
    told.second(&[0.0, 4_294_617_635.0]);
    told.second(&[100.0, 1_024_485.0]);
    assert_eq!(told.points("disk/sda", "w_await"), [(2, (WRAP - 4_294_617_635.0 + 1_024_485.0) / 100.0)]);
    assert!(told.remarks().is_empty());
    for (field, before) in [("disk/sda write_ms 32", 3e9), ("disk/sda write_ms", 4_294_617_635.0)] {
        let mut told = Told::new(&["disk/sda writes", field]);
        told.second(&[0.0, before]);
        told.second(&[100.0, 1_000.0]);
        told.second(&[200.0, 2_000.0]);
        assert_eq!(told.points("disk/sda", "w_await"), [(3, 10.0)], "{field}");
        assert_eq!(told.remarks().len(), 1, "{field}");
    }
}

#[test]
fn a_fallen_field_of_32_bits_spoils_only_what_is_made_of_it() {
    let mut told = Told::new(&["disk/sda writes", "disk/sda write_ms 32"]);
    told.second(&[0.0, 5_000.0]);
    told.second(&[100.0, 1_000.0]);
    assert_eq!(told.points("disk/sda", "w/s"), [(2, 100.0)]);
    assert!(told.points("disk/sda", "w_await").is_empty());
}

#[test]
fn iowait_and_steal_may_fall_and_take_nothing() {
    let mut told = Told::new(&["cpu/ user", "cpu/ idle", "cpu/ iowait", "cpu/ steal"]);
    told.second(&[10.0, 100.0, 5.0, 8.0]);
    told.second(&[11.0, 101.0, 4.0, 7.97]);
    let last = |row: &str| told.points("cpu/", row)[0].1;
    assert_eq!(["busy", "iowait", "steal", "idle"].map(last), [50.0, 0.0, 0.0, 50.0]);
    assert!(told.remarks().is_empty());
}

#[test]
fn guest_time_is_in_user_and_is_taken_out_of_it_once() {
    let mut told = Told::new(&["cpu/ user", "cpu/ nice", "cpu/ idle", "cpu/ guest", "cpu/ guest_nice"]);
    told.second(&[0.0, 0.0, 0.0, 0.0, 0.0]);
    told.second(&[40.0, 10.0, 50.0, 30.0, 5.0]);
    let last = |row: &str| told.points("cpu/", row)[0].1;
    assert_eq!(["user", "guest", "busy", "idle"].map(last), [15.0, 35.0, 50.0, 50.0]);
}

#[test]
fn columns_that_an_old_kernel_lacks_are_absent_and_not_zero() {
    let mut told = Told::new(&["cpu/ user", "cpu/ nice", "cpu/ system", "cpu/ idle"]);
    told.second(&[0.0, 0.0, 0.0, 0.0]);
    told.second(&[1.0, 1.0, 1.0, 1.0]);
    for absent in ["iowait", "steal", "guest"] {
        assert!(told.points("cpu/", absent).is_empty(), "{absent}");
    }
    assert_eq!(told.points("cpu/", "busy"), [(2, 75.0)]);
    assert_eq!(told.points("cpu/", "user"), [(2, 50.0)]);
}

#[test]
fn a_disk_that_is_busy_for_more_than_the_time_there_was_is_busy_all_of_it() {
    let mut told = Told::new(&["disk/sda busy_ms"]);
    told.second(&[0.0]);
    told.second(&[1_040.0]);
    assert_eq!(told.points("disk/sda", "util"), [(2, 100.0)]);
    assert!(told.remarks().is_empty());
}

#[test]
fn a_sleep_is_a_gap_and_said_once_for_all_devices() {
    let mut told = Told::new(&["disk/sda reads", "disk/sdb reads", "cpu/ idle", "cpu/ user"]);
    for _ in 0..4 {
        told.step(&[10.0, 10.0, 1.0, 1.0]);
    }
    told.sleep(41.0);
    told.step(&[10.0, 10.0, 1.0, 1.0]);
    told.step(&[10.0, 10.0, 1.0, 1.0]);
    assert_eq!(told.points("disk/sda", "r/s"), [(2, 10.0), (3, 10.0), (4, 10.0), (47, 10.0)]);
    assert_eq!(told.points("disk/*", "r/s").last(), Some(&(47, 20.0)));
    assert_eq!(told.remarks(), ["gap of 42 s: the node slept or the agent was stopped"]);
}

#[test]
fn going_from_ten_readings_a_second_to_one_is_no_gap() {
    let mut told = Told::new(&["disk/sda reads"]);
    told.second(&[0.0]);
    for tenth in 1..30 {
        told.at(1.0 + f64::from(tenth) / 10.0, &["disk/sda"], &[f64::from(tenth)]);
    }
    told.at(4.9, &[], &[39.0]);
    assert_eq!(told.points("disk/sda", "r/s").len(), 30);
    assert!(told.remarks().is_empty());
    told.at(4.95, &["disk/sda"], &[39.5]);
    told.at(6.6, &["disk/sda"], &[56.0]);
    assert_eq!(told.remarks().len(), 1, "where ten a second are usual, a silence of 1.65 s is one");
}

#[test]
fn a_rate_that_the_link_cannot_carry_is_left_out_until_the_speed_itself_is_disproved() {
    let mut told = Told::new(&["net/eth0 rx_bytes", "net/eth0 tx_bytes", "link/eth0 speed gauge"]);
    let mut rx = 0.0;
    for mb in [0.0, 100.0, 5_000.0, 100.0, 148.0, 900.0, 900.0, 900.0, 900.0] {
        rx += mb * 1e6;
        told.second(&[rx, 0.0, 125.0]);
    }
    let rates: Vec<f64> = told.points("net/eth0", "rx").iter().map(|p| p.1).collect();
    assert_eq!(rates, [100.0, 100.0, 148.0, 900.0, 900.0]);
    let remarks = told.remarks();
    assert_eq!(remarks[0], "left out: net eth0 at 5000 MB/s over a link of 1000 Mb/s");
    assert_eq!(remarks[1], "net eth0 keeps going faster than its link of 1000 Mb/s: that speed is not believed");
    assert_eq!(remarks.len(), 2);
    assert_eq!(told.host().link_speed("eth0"), None);
    told.second(&[rx, 0.0, 1_250.0]);
    assert_eq!(told.host().link_speed("eth0"), Some(10_000.0));
}

#[test]
fn speeds_that_are_none_give_no_share() {
    for speed in [-1.0, 0.0, 4_294_967_295.0] {
        let mut told = Told::new(&["net/tap0 rx_bytes", "net/tap0 tx_bytes", "link/tap0 speed gauge"]);
        told.second(&[0.0, 0.0, speed]);
        told.second(&[5e9, 0.0, speed]);
        assert_eq!(told.points("net/tap0", "rx"), [(2, 5_000.0)]);
        assert!(told.points("net/tap0", "link").is_empty() && told.remarks().is_empty());
    }
}

#[test]
fn a_name_that_is_used_again_is_another_device() {
    let mut told = Told::new(&["disk/sdb reads", "disk/sdb writes"]);
    told.second(&[5e6, 5e6]);
    told.second(&[5e6 + 7.0, 5e6]);
    told.describe_anew(10);
    told.second(&[0.0, 0.0]);
    assert!(told.points("disk/sdb", "r/s").is_empty(), "the series of the one before is not gone on with");
    told.second(&[3.0, 0.0]);
    assert_eq!(told.points("disk/sdb", "r/s"), [(4, 3.0)]);
    told.describe_anew(10);
    told.second(&[6.0, 0.0]);
    assert_eq!(told.points("disk/sdb", "r/s").len(), 2, "described under the same numbers it is the same");
    assert!(told.remarks().is_empty());
}

#[test]
fn devices_vanish_and_come_back() {
    let mut told = Told::new(&["disk/sda reads", "disk/sdb reads", "disk/sdb present gauge"]);
    told.second(&[0.0, 0.0, 1.0]);
    told.second(&[1.0, 1.0, 1.0]);
    told.second(&[2.0, 1.0, 0.0]);
    let gone = |told: &Told| told.host().devices["disk/sdb"].gone.map(|m| m.0 / 1_000_000);
    assert_eq!(gone(&told), Some(2));
    assert_eq!(told.host().total_of("disk"), ["sda"]);
    for _ in 0..7 {
        told.step(&[1.0, 0.0, 0.0]);
    }
    told.second(&[10.0, 900.0, 1.0]);
    assert_eq!(gone(&told), None);
    assert_eq!(told.points("disk/sdb", "r/s"), [(2, 1.0)], "what it did while it was away has no time of its own");
    told.second(&[10.0, 905.0, 1.0]);
    assert_eq!(told.points("disk/sdb", "r/s")[1..], [(12, 5.0)]);
    assert!(told.remarks().is_empty());
}

#[test]
fn a_device_that_is_named_no_more_is_gone_after_three_readings() {
    let mut told = Told::new(&["disk/sda reads", "disk/sdb reads", "disk/sdc reads"]);
    told.second(&[0.0, 0.0, 0.0]);
    for second in 2..5 {
        assert_eq!(told.host().devices["disk/sdb"].gone, None, "{second}");
        told.at(f64::from(second), &["disk/sda", "disk/sdc"], &[1.0]);
    }
    assert!(told.host().devices["disk/sdb"].gone.is_some());
    told.at(6.0, &["cpu"], &[]);
    assert_eq!(told.host().devices["disk/sda"].gone, None, "sources that are not read miss nobody");
}

#[test]
fn a_cpu_whose_time_stands_still_is_offline_and_comes_back() {
    let mut told = Told::new(&["cpu/0 user", "cpu/0 idle", "cpu/3 user", "cpu/3 idle"]);
    let still = [0.5, 0.5, 0.0, 0.0];
    told.step(&[0.5; 4]);
    told.step(&[0.5; 4]);
    for _ in 0..2 {
        told.step(&still);
        assert_eq!(told.host().devices["cpu/3"].gone, None);
    }
    told.step(&still);
    assert!(told.host().devices["cpu/3"].gone.is_some());
    assert_eq!(told.host().devices["cpu/0"].gone, None);
    told.step(&[0.5; 4]);
    assert_eq!(told.host().devices["cpu/3"].gone, None);
}

#[test]
fn totals_are_of_physical_leaves_and_name_them() {
    let disks = ["sda", "sda1", "sda2", "dm-0", "md0", "loop0", "zram0", "nvme0n1", "nvme0n1p1", "xvda1"];
    let fields: Vec<String> = disks.iter().map(|d| format!("disk/{d} reads")).collect();
    let mut told = Told::new(&fields.iter().map(String::as_str).collect::<Vec<_>>());
    told.second(&[0.0; 10]);
    told.second(&[10.0; 10]);
    assert_eq!(told.host().total_of("disk"), ["nvme0n1", "sda", "xvda1"]);
    assert_eq!(told.points("disk/*", "r/s"), [(2, 30.0)]);
    let mut told = Told::new(&["disk/dm-0 reads", "disk/dm-0 leaf gauge", "disk/sda reads", "disk/sda leaf gauge"]);
    told.second(&[0.0, 1.0, 0.0, 0.0]);
    assert_eq!(told.host().total_of("disk"), ["dm-0"], "what the agent knows outranks the name");
    let nics = ["bond0", "br0", "docker0", "eth0", "eth0.100", "veth1a", "p4p1"];
    let fields: Vec<String> = nics.iter().map(|n| format!("net/{n} rx_bytes")).collect();
    let mut told = Told::new(&fields.iter().map(String::as_str).collect::<Vec<_>>());
    told.second(&[0.0; 7]);
    told.second(&[1e6; 7]);
    assert_eq!(told.host().total_of("net"), ["eth0", "p4p1"]);
    assert_eq!(told.points("net/*", "rx"), [(2, 2.0)]);
    let mut told =
        Told::new(&["net/eth0 rx_bytes", "net/eth0 virtual gauge", "net/eth1 rx_bytes", "net/eth1 virtual gauge"]);
    told.second(&[0.0, 1.0, 0.0, 1.0]);
    assert_eq!(told.host().total_of("net"), ["eth0", "eth1"], "in a container nothing is hardware");
}

#[test]
fn a_total_counts_the_device_that_is_read_more_often_over_its_own_time() {
    let mut told = Told::new(&["disk/sda reads", "disk/sdb reads"]);
    told.second(&[0.0, 0.0]);
    for tenth in 1..10 {
        told.at(1.0 + f64::from(tenth) / 10.0, &["disk/sda"], &[f64::from(tenth)]);
    }
    told.at(2.0, &[], &[10.0, 5.0]);
    assert_eq!(told.points("disk/*", "r/s"), [(2, 15.0)]);
}

#[test]
fn a_device_moves_up_only_when_it_does_clearly_more() {
    let mut told = Told::new(&["disk/sda write_sectors", "disk/sdb write_sectors", "disk/sdc write_sectors"]);
    let mb = |mb: f64| mb * 1e6 / 512.0;
    let phases = [
        ([100.0, 0.0, 50.0], ["sda", "sdc", "sdb"]),
        ([100.0, 130.0, 50.0], ["sdb", "sda", "sdc"]),
        ([100.0, 90.0, 50.0], ["sdb", "sda", "sdc"]),
        ([110.0, 90.0, 50.0], ["sda", "sdb", "sdc"]),
    ];
    for (rates, order) in phases {
        (0..12).for_each(|_| told.step(&rates.map(mb)));
        assert_eq!(told.host().by_activity("disk"), order, "{rates:?}");
    }
}

#[test]
fn the_rows_of_the_other_sources() {
    let fields = [
        "tcp/ retransmits",
        "tcp/ segs_out",
        "softnet/ dropped",
        "softnet/ squeezed",
        "cgroup/ throttled_periods",
        "cgroup/ periods",
        "cgroup/ throttled_us",
        "clock/0 mhz gauge",
        "clock/1 mhz gauge",
        "clock/2 mhz gauge",
        "thermal/pkg celsius gauge",
        "thermal/ core_throttles",
        "edac/mc0 corrected",
        "net/eth0 rx_errors",
        "link/eth0 rx_crc_errors",
        "link/eth0 carrier_changes",
        "self/ cpu_seconds",
        "numa/0 numa_miss",
        "memory/ dirty gauge",
        "memory/ dirty_limit gauge",
    ];
    let mut told = Told::new(&fields);
    let clocks = [3_000.0, 800.0, 2_400.0];
    let first = [0.0; 20];
    let mut second = [
        3.0, 300.0, 2.0, 4.0, 5.0, 10.0, 20_000.0, 0.0, 0.0, 0.0, 0.0, 7.0, 12.0, 6.0, 8.0, 2.0, 0.004, 9.0, 75.0,
        300.0,
    ];
    (second[7], second[8], second[9], second[10]) = (clocks[0], clocks[1], clocks[2], 71.0);
    told.second(&first);
    told.second(&second);
    let expected = [
        ("tcp/", "retransmits", 3.0),
        ("tcp/", "retransmitted", 1.0),
        ("softnet/", "dropped", 2.0),
        ("softnet/", "squeezed", 4.0),
        ("cgroup/", "throttled", 50.0),
        ("cgroup/", "held up", 20.0),
        ("clock/", "least", 800.0),
        ("clock/", "median", 2_400.0),
        ("thermal/pkg", "temperature", 71.0),
        ("thermal/", "throttles", 7.0),
        ("edac/mc0", "ce", 12.0),
        ("net/eth0", "errors", 6.0),
        ("link/eth0", "crc", 8.0),
        ("link/eth0", "carrier changes", 2.0),
        ("self/", "cpu", 0.4),
        ("numa/0", "miss", 9.0),
        ("memory/", "dirty of limit", 25.0),
    ];
    for (device, row, value) in expected {
        assert_eq!(told.points(device, row).last(), Some(&(2, value)), "{device} {row}");
    }
}

#[test]
fn an_agent_that_starts_again_goes_on_with_the_series_and_makes_no_spike() {
    let mut told = Told::new(&["disk/sda reads", "disk/sdb reads"]);
    told.step(&[1e6, 1.0]);
    told.step(&[1.0, 1.0]);
    told.rejoin(40);
    told.step(&[1.0, 1.0]);
    told.step(&[1.0, 1.0]);
    assert_eq!(told.points("disk/sda", "r/s"), [(2, 1.0), (4, 1.0)]);
    assert!(told.remarks().is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_parts_of_a_cpu_are_percentages_and_add_up(
        readings in prop::collection::vec(prop::collection::vec(0_u32..1_000_000, 10), 2..8),
        missing in 4_usize..=10,
    ) {
        let states = &STATES[..missing];
        let fields: Vec<String> = states.iter().map(|s| format!("cpu/ {s}")).collect();
        let mut told = Told::new(&fields.iter().map(String::as_str).collect::<Vec<_>>());
        for reading in &readings {
            told.second(&reading[..missing].iter().map(|t| f64::from(*t) / 100.0).collect::<Vec<_>>());
        }
        for second in 2..=readings.len() as u64 {
            let here = |row: &str| told.points("cpu/", row).iter().find(|p| p.0 == second).map(|p| p.1);
            let parts: Vec<f64> = PARTS.iter().filter_map(|row| here(row)).collect();
            prop_assert!(parts.iter().chain(&here("busy")).all(|p| (0.0..=100.0).contains(p)), "{parts:?}");
            if !parts.is_empty() {
                prop_assert!((parts.iter().sum::<f64>() - 100.0).abs() < 0.01, "{parts:?}");
                let idle: f64 = ["idle", "iowait", "steal"].iter().filter_map(|r| here(r)).sum();
                prop_assert!((here("busy").unwrap() + idle - 100.0).abs() < 0.01);
            }
        }
    }

    #[test]
    fn a_counter_gains_what_it_gained_whatever_it_stood_at(
        start in 0_u64..1 << 32,
        steps in prop::collection::vec(0_u64..1 << 29, 1..12),
        narrow in any::<bool>(),
    ) {
        // The twins: one counter in 32 bits, which wraps, and one in 64, which does not.
        let mut told = Told::new(&[if narrow { "disk/sda reads 32" } else { "disk/sda reads" }]);
        let mut true_value = start;
        let shown = |value: u64| (if narrow { value % (1 << 32) } else { value }) as f64;
        told.second(&[shown(true_value)]);
        for step in &steps {
            true_value += step;
            told.second(&[shown(true_value)]);
        }
        let rates: Vec<f64> = told.points("disk/sda", "r/s").iter().map(|p| p.1).collect();
        prop_assert_eq!(rates, steps.iter().map(|s| *s as f64).collect::<Vec<_>>());
        prop_assert!(told.remarks().is_empty());
    }

    #[test]
    fn a_reset_costs_one_reading_and_never_makes_a_rate(
        before in prop::collection::vec(0_u32..1_000_000, 2..6),
        after in prop::collection::vec(0_u32..1_000_000, 2..6),
        narrow in any::<bool>(),
    ) {
        let mut told = Told::new(&[if narrow { "disk/sda reads 32" } else { "disk/sda reads" }]);
        let mut value = 1e7;
        for step in &before {
            value += f64::from(*step);
            told.second(&[value]);
        }
        value = 0.0;
        for step in &after {
            told.second(&[value]);
            value += f64::from(*step);
        }
        let rates: Vec<f64> = told.points("disk/sda", "r/s").iter().map(|p| p.1).collect();
        let expected = before[1..].iter().chain(&after[..after.len() - 1]).map(|s| f64::from(*s));
        prop_assert_eq!(rates, expected.collect::<Vec<_>>());
        prop_assert_eq!(told.remarks().len(), 1);
    }
}
