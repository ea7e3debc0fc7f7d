//! The grammar of the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::vocab::size::ByteSize;

/// Live acceptance testing of servers and cloud nodes.
#[derive(Debug, Parser)]
#[command(name = "shakedown", version, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true, after_help = EXIT_CODES)]
pub struct Typed {
    /// What to do; without it, a preset is run, or chosen from a list.
    #[command(subcommand)]
    pub verb: Option<Verb>,
    /// The run that is meant when no verb is typed.
    #[command(flatten)]
    pub run: MaybeRun,
}

const EXIT_CODES: &str = "Exit codes of run and judge: 0 PASS, 1 FAIL, 2 NOT PROVEN, 3 could not run.";

const DETECT_EXIT_CODES: &str =
    "Exit codes: 0 nothing found that needs a look, 1 findings at WARN or worse, 3 the file cannot be read.";

/// `shakedown PRESET …`: as `run`, with the preset left out for the list.
#[derive(Debug, Args)]
pub struct MaybeRun {
    /// A preset's name, or the path of a preset file; without it, the list of presets opens
    pub preset: Option<String>,
    /// How it is to be run.
    #[command(flatten)]
    pub options: RunOptions,
}

/// The verbs. A verb appears when it works.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Run a preset: on the screen, or headless where there is no terminal
    Run {
        /// A preset's name, or the path of a preset file
        #[arg(required_unless_present = "amend")]
        preset: Option<String>,
        /// How.
        #[command(flatten)]
        options: Box<RunOptions>,
    },
    /// Attach to a running session, or replay a finished one; without a name, the one that runs, or the list
    Watch {
        /// A running session's name, or a session file
        session: Option<String>,
        /// Replay so many times as fast as it happened, or all at once
        #[arg(long, value_name = "N|max", default_value = "max")]
        speed: Speed,
        /// How it is shown.
        #[command(flatten)]
        show: Show,
    },
    /// Judge a session file again
    Judge {
        /// The session file
        session: PathBuf,
        /// Judge by this preset's checks instead of the session's own
        #[arg(long, value_name = "PRESET")]
        preset: Option<String>,
        /// What the checks call so is this machine: a session file, or one of `shakedown baseline`
        #[arg(long, value_name = "NAME=FILE")]
        reference: Vec<String>,
        /// Judge by the limits in this table (CSV), too: clause, figure, statistic, at, limit, unit, ...
        #[arg(long, value_name = "FILE.csv")]
        limits: Option<PathBuf>,
        /// Ignore the recorded findings and let today's detectors look
        #[arg(long)]
        redetect: bool,
    },
    /// Machines side by side: figures, ratios, and whether the difference is one
    Compare(CompareOptions),
    /// Make several sessions of good nodes into one file that others are compared with
    Baseline {
        /// The session files
        #[arg(required = true, value_name = "SESSION")]
        sessions: Vec<PathBuf>,
        /// Where the baseline is written
        #[arg(short, long, value_name = "FILE.ron")]
        out: PathBuf,
        /// Write over a file that exists
        #[arg(long)]
        force: bool,
    },
    /// Findings in a series from anywhere: a table (CSV), a log of fio, a session file
    #[command(after_help = DETECT_EXIT_CODES)]
    Detect {
        /// The file; - for standard input
        file: PathBuf,
        /// How it is to be read.
        #[command(flatten)]
        options: Box<DetectOptions>,
    },
    /// List the presets, show one, or check a file
    Presets {
        /// What to do with them.
        #[command(subcommand)]
        what: Option<PresetVerb>,
    },
    /// List the themes
    Themes,
    /// Print the key map, as keys.ron has changed it
    Keys,
    /// What this node is
    Inventory {
        /// As JSON
        #[arg(long)]
        json: bool,
        /// As an order, `ordered: (...)`, to be put into a preset that other nodes are held against
        #[arg(long, conflicts_with = "json")]
        ordered: bool,
        /// Read the host below this directory instead of /
        #[arg(long, value_name = "DIR")]
        root: Option<PathBuf>,
    },
    /// Readings of the host's counters, raw, as JSON lines
    Sample {
        /// Read the host below this directory instead of /
        #[arg(long, value_name = "DIR")]
        root: Option<PathBuf>,
        /// How many readings
        #[arg(long, value_name = "N", default_value_t = 3)]
        times: u32,
        /// Seconds between two readings
        #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
        every: f64,
    },
    /// The node's side of a session; started by the runner
    #[command(hide = true)]
    Agent {
        /// Read the host below this directory instead of /
        #[arg(long)]
        root: Option<PathBuf>,
    },
    /// One kernel at work; started by the agent
    #[command(hide = true)]
    Worker,
    /// Keeps a session; started by the screen
    #[command(hide = true)]
    Runner,
}

/// What can be done with presets.
#[derive(Debug, Subcommand)]
pub enum PresetVerb {
    /// Print a preset as it is written
    Show {
        /// Its name or path
        name: String,
    },
    /// Check a preset: errors, checks that cannot decide anything, how long it takes and how much space
    Check {
        /// Its name or path; all that are compiled in when there is none
        file: Option<PathBuf>,
    },
}

/// What is compared, and how it is shown.
#[derive(Debug, Args)]
pub struct CompareOptions {
    /// Session files and baselines, the first one being what the others are held against; NAME=FILE gives a name
    #[arg(required = true, value_name = "[NAME=]FILE")]
    pub machines: Vec<String>,
    /// Every figure, not only rates and latencies
    #[arg(long)]
    pub all: bool,
    /// As JSON
    #[arg(long, conflicts_with = "markdown")]
    pub json: bool,
    /// As Markdown
    #[arg(long)]
    pub markdown: bool,
}

/// How a preset is run.
#[derive(Clone, Debug, Args)]
pub struct RunOptions {
    /// Without a screen: a line per iteration and the verdict
    #[arg(long)]
    pub headless: bool,
    /// With --headless: the records as JSON lines, and nothing else
    #[arg(long, requires = "headless")]
    pub json: bool,
    /// Say what would be done to this node, and stop
    #[arg(long)]
    pub plan: bool,
    /// Where the session is written
    #[arg(long, value_name = "FILE")]
    pub session: Option<PathBuf>,
    /// What is written to.
    #[command(flatten)]
    pub place: Targets,
    /// Repeat runs of this session after a repair, with its own plan; every attempt stays in the record. Needs --only
    #[arg(long, value_name = "SESSION")]
    pub amend: Option<String>,
    /// Only these runs of the preset
    #[arg(long, value_name = "RUN", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Change a parameter: `disk-write.size=4GiB`, `cpu-float.iterations=5`, `*.lasting=5 min`
    #[arg(long, value_name = "RUN.PARAM=VALUE")]
    pub set: Vec<String>,
    /// A nominal roof: `cpu=35.2 GFLOPS`
    #[arg(long, value_name = "NAME=VALUE")]
    pub roof: Vec<String>,
    /// What the preset calls so is this machine: a session file, or one of `shakedown baseline`
    #[arg(long, value_name = "NAME=FILE")]
    pub reference: Vec<String>,
    /// The limits in this table (CSV) hold besides the preset's checks: clause, figure, statistic, at, limit, unit, ...
    #[arg(long, value_name = "FILE.csv")]
    pub limits: Option<PathBuf>,
    /// Read the host below this directory instead of /
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Names of local nodes, each with an agent of its own
    #[arg(long, hide = true)]
    pub node: Vec<String>,
    /// How it is shown.
    #[command(flatten)]
    pub show: Show,
}

/// Where a preset puts its files, and which device it may read or destroy.
#[derive(Clone, Debug, Args)]
pub struct Targets {
    /// Directory for test files, /var/tmp when not given; given again, disk runs are repeated there as RUN-1, RUN-2, ...
    #[arg(long, value_name = "DIR")]
    pub target: Vec<PathBuf>,
    /// Free space that is left alone, instead of 5 % and at least 1 GiB: `200MiB`
    #[arg(long, value_name = "SIZE")]
    pub reserve: Option<ByteSize>,
    /// The target is a block device, which disk runs read and never write
    #[arg(long, conflicts_with = "destroy_data")]
    pub readonly: bool,
    /// Let disk runs write over this block device: ALL ITS DATA IS LOST
    #[arg(long, value_name = "DEVICE", conflicts_with = "target")]
    pub destroy_data: Option<PathBuf>,
    /// Show which device is meant by its serial number, or by its path where it has none
    #[arg(long, value_name = "SERIAL", requires = "destroy_data")]
    pub yes: Option<String>,
}

/// How a file is read for findings. Columns go by name, or by number from 1.
#[derive(Debug, Default, Args)]
pub struct DetectOptions {
    /// Column of the times; else the one named like `t_s` or `time`, else the first
    #[arg(long, value_name = "COL")]
    pub time: Option<String>,
    /// Column of the values; may be left out when there is only one more
    #[arg(long, value_name = "COL")]
    pub value: Option<String>,
    /// What a number in the column of times counts: s, ms or us; seconds when not given
    #[arg(long, value_name = "s|ms|us")]
    pub time_unit: Option<String>,
    /// Unit of the values: MB/s, MiB/s, IOPS, GFLOPS, ms, us, %; a bare number when not given
    #[arg(long, value_name = "UNIT")]
    pub unit: Option<String>,
    /// Less is better, as with latencies; a unit of time says so by itself
    #[arg(long)]
    pub lower_is_better: bool,
    /// Column that tells whether an operation is waiting: any number but 0
    #[arg(long, value_name = "COL")]
    pub in_flight: Option<String>,
    /// Column of a host counter, as evidence: `cpu steal=steal_pct`, `disk/vda util=util`
    #[arg(long, value_name = "NAME=COL")]
    pub counter: Vec<String>,
    /// What the series is held against: `250 MB/s`
    #[arg(long, value_name = "QUANTITY")]
    pub reference: Option<String>,
    /// A collapse below this is a FAIL: `80 MB/s`
    #[arg(long, value_name = "QUANTITY")]
    pub floor: Option<String>,
    /// A log of fio; its kind is taken from the file's name, or given: bw, iops, lat, lat-us (before fio 3.0)
    #[arg(long, value_name = "KIND", num_args = 0..=1, require_equals = true, default_missing_value = "name")]
    pub fio: Option<String>,
    /// Which rows of a log of fio are meant: read, write or trim
    #[arg(long, value_name = "DIRECTION")]
    pub direction: Option<String>,
    /// The stretches between change points, with their levels
    #[arg(long)]
    pub segments: bool,
    /// A JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// How a session is shown.
#[derive(Clone, Debug, Args)]
pub struct Show {
    /// A theme's name, or the path of a theme file
    #[arg(long, value_name = "THEME")]
    pub theme: Option<String>,
    /// Only ASCII characters
    #[arg(long)]
    pub ascii: bool,
    /// The characters to draw with, instead of those that the terminal and the locale say
    #[arg(long, value_name = "braille|block|ascii", conflicts_with = "ascii", value_parser = ["braille", "block", "ascii"], hide_possible_values = true)]
    pub glyphs: Option<String>,
    /// For serial lines: at most two frames a second, ASCII unless --glyphs says otherwise, no title, no mouse
    #[arg(long)]
    pub slow: bool,
    /// Leave the mouse to the terminal
    #[arg(long)]
    pub no_mouse: bool,
    /// Panic when this frame is drawn, to try the way out
    #[arg(long, hide = true)]
    pub panic_at: Option<u64>,
}

/// The speed of a replay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Speed {
    /// All at once.
    Max,
    /// So many times as fast as it happened.
    Times(f64),
}

impl std::str::FromStr for Speed {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if text == "max" {
            return Ok(Self::Max);
        }
        match text.parse::<f64>() {
            Ok(times) if times > 0.0 && times.is_finite() => Ok(Self::Times(times)),
            _ => Err(format!("`{text}` is no speed; expected a number above 0, or max")),
        }
    }
}
