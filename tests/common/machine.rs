//! A big machine as files: 480 CPUs, 107 disks, 49 network interfaces, and counters that go on.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

/// How big it is.
#[derive(Clone, Copy)]
pub(crate) struct Machine {
    pub(crate) cpus: usize,
    pub(crate) disks: usize,
    pub(crate) nics: usize,
    pub(crate) interrupts: usize,
}

/// The machine of the budget.
pub(crate) const BIG: Machine = Machine { cpus: 480, disks: 107, nics: 49, interrupts: 400 };

fn put(root: &Path, path: &str, text: &str) -> io::Result<()> {
    let path = root.join(path);
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory)?;
    }
    std::fs::write(path, text)
}

impl Machine {
    /// Writes what stands still.
    pub(crate) fn build(self, root: &Path) -> io::Result<()> {
        for n in 0..self.cpus {
            let policy = format!("sys/devices/system/cpu/cpufreq/policy{n}");
            put(root, &format!("{policy}/scaling_cur_freq"), "2400000\n")?;
            put(root, &format!("{policy}/scaling_governor"), "performance\n")?;
            let cpu = format!("sys/devices/system/cpu/cpu{n}");
            put(root, &format!("{cpu}/thermal_throttle/core_throttle_count"), "0\n")?;
            put(root, &format!("{cpu}/thermal_throttle/package_throttle_count"), "0\n")?;
            put(root, &format!("{cpu}/topology/physical_package_id"), &format!("{}\n", n * 8 / self.cpus))?;
        }
        for n in 0..self.disks {
            put(root, &format!("sys/class/block/sd{n:03}/diskseq"), &format!("{n}\n"))?;
            put(root, &format!("sys/class/block/sd{n:03}/queue/scheduler"), "[none]\n")?;
        }
        for n in 0..self.nics {
            let nic = format!("sys/class/net/eth{n}");
            put(root, &format!("{nic}/ifindex"), &format!("{}\n", n + 2))?;
            put(root, &format!("{nic}/speed"), "25000\n")?;
            put(root, &format!("{nic}/carrier_changes"), "3\n")?;
            for file in ["rx_crc_errors", "rx_missed_errors", "rx_fifo_errors", "tx_fifo_errors"] {
                put(root, &format!("{nic}/statistics/{file}"), "0\n")?;
            }
        }
        for n in 0..2 * self.disks {
            put(
                root,
                &format!("sys/bus/pci/devices/0000:{n:02x}:00.0/aer_dev_correctable"),
                "RxErr 0\nTOTAL_ERR_COR 0\n",
            )?;
            put(root, &format!("sys/bus/pci/devices/0000:{n:02x}:00.0/aer_dev_nonfatal"), "TOTAL_ERR_NONFATAL 0\n")?;
            put(root, &format!("sys/bus/pci/devices/0000:{n:02x}:00.0/aer_dev_fatal"), "TOTAL_ERR_FATAL 0\n")?;
        }
        for n in 0..8 {
            put(root, &format!("sys/devices/system/edac/mc/mc{n}/ce_count"), "0\n")?;
            put(root, &format!("sys/devices/system/node/node{n}/numastat"), "numa_hit 9\nnuma_miss 0\nother_node 1\n")?;
            put(root, &format!("sys/class/hwmon/hwmon{n}/name"), "coretemp\n")?;
            for core in 1..=self.cpus / 16 {
                put(root, &format!("sys/class/hwmon/hwmon{n}/temp{core}_input"), "45000\n")?;
                put(root, &format!("sys/class/hwmon/hwmon{n}/temp{core}_label"), &format!("Core {core}\n"))?;
            }
        }
        self.advance(root, 0)
    }

    /// Writes what counts, as it stands after so many steps; every counter of every device has gone on.
    pub(crate) fn advance(self, root: &Path, step: usize) -> io::Result<()> {
        put(root, "proc/stat", &self.stat(step))?;
        put(root, "proc/interrupts", &self.interrupts(step))?;
        put(root, "proc/softirqs", &self.softirqs(step))?;
        let mut softnet = String::new();
        for cpu in 0..self.cpus {
            let _ = writeln!(softnet, "{:08x} 0 {cpu:08x} 0 0 0 0 0 0 0 0 0 {cpu:08x} 0 0", step * 50 + cpu);
        }
        put(root, "proc/net/softnet_stat", &softnet)?;
        let mut disks = String::new();
        for n in 0..self.disks {
            let c = step * 1000 + n;
            let _ = writeln!(disks, "   8 {n:>7} sd{n:03} {c} 0 {c} {c} {c} 0 {c} {c} 3 {c} {c} 0 0 0 0 0 0");
        }
        put(root, "proc/diskstats", &disks)?;
        let mut nics = String::from("Inter-| Receive | Transmit\n face |bytes packets |bytes packets\n");
        for n in 0..self.nics {
            let c = step * 100_000 + n;
            let _ = writeln!(nics, "  eth{n}: {c} {c} 0 0 0 0 0 0 {c} {c} 0 0 0 0 0 0");
        }
        put(root, "proc/net/dev", &nics)?;
        put(root, "proc/meminfo", &format!("MemTotal: 4000000000 kB\nMemFree: {step} kB\nDirty: {step} kB\n"))?;
        put(root, "proc/vmstat", &format!("pswpin {step}\npswpout {step}\nnr_dirty_threshold 900\n"))?;
        let psi = format!("some avg10=0.00 total={step}\nfull avg10=0.00 total={step}\n");
        ["cpu", "memory", "io"].iter().try_for_each(|r| put(root, &format!("proc/pressure/{r}"), &psi))?;
        put(root, "proc/net/snmp", &format!("Tcp: OutSegs RetransSegs\nTcp: {step} 0\n"))
    }

    fn stat(self, step: usize) -> String {
        let mut text = String::new();
        for cpu in std::iter::once(None).chain((0..self.cpus).map(Some)) {
            let (name, c) = cpu.map_or((String::from("cpu "), step), |n| (format!("cpu{n}"), step * 100 + n));
            let _ = writeln!(text, "{name} {c} 0 {c} {c} {c} 0 {c} 0 0 0");
        }
        let _ = writeln!(text, "intr {}", "0 ".repeat(self.interrupts * 4));
        text + "ctxt 9\nbtime 9\n"
    }

    fn heading(self) -> String {
        (0..self.cpus).fold(String::from("     "), |line, cpu| format!("{line}      CPU{cpu}")) + "\n"
    }

    fn interrupts(self, step: usize) -> String {
        let mut text = self.heading();
        for irq in 0..self.interrupts {
            let _ = write!(text, "{irq:>4}:");
            (0..self.cpus).for_each(|cpu| _ = write!(text, " {:>10}", if cpu % 7 == irq % 7 { step * 9 } else { 0 }));
            let _ = writeln!(text, "  IR-PCI-MSIX-0000:17:00.0 {irq}-edge      nvme0q{irq}");
        }
        text
    }

    fn softirqs(self, step: usize) -> String {
        let mut text = self.heading();
        for name in ["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"] {
            let _ = write!(text, "{name:>12}:");
            (0..self.cpus).for_each(|cpu| _ = write!(text, " {:>10}", step * 30 + cpu));
            text.push('\n');
        }
        text
    }
}
