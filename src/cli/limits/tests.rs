use super::*;
use crate::vocab::check::{Basis, Decide, Missed, Statistic, Step};
use crate::vocab::unit::Quantity;

const HEADER: &str = "clause,figure,statistic,at,limit,unit,rounding,severity,section,why,iterations,decide";

fn known() -> BTreeMap<String, Unit> {
    let figures = [
        ("disk.mb_per_s", Unit::MegabytesPerSecond),
        ("disk.lat_p99_us", Unit::Microseconds),
        ("disk.steal_percent", Unit::Percent),
        ("cpu.gflops", Unit::Gflops),
        ("cpu.residual", Unit::Count),
        ("cpu.steal_percent", Unit::Percent),
    ];
    figures.into_iter().map(|(name, unit)| (name.to_owned(), unit)).collect()
}

fn read(text: &[u8]) -> Result<Vec<Check>, String> {
    parse("dir/l.csv", text, &known())
}

fn row(row: &str) -> Result<Check, String> {
    read(format!("{HEADER}\n{row}\n").as_bytes()).map(|mut checks| checks.remove(0))
}

fn at_least(check: &Check) -> Quantity {
    match check.at_least {
        Some(Limit::Absolute(quantity)) => quantity,
        _ => panic!("{check:?}"),
    }
}

#[test]
fn a_row_is_a_check_with_its_clause() {
    let check =
        row("4.2.1,disk.mb_per_s,mean,at least,100,MiB/s,0.01,should,volumes,\"as \"\"agreed\"\", 2026\",20,interval");
    assert!(check.unwrap_err().starts_with("dir/l.csv:2:45: rounding: an interval is not rounded"));
    let check =
        row("4.2.1,disk.mb_per_s,mean,at least,100,MiB/s,0.01,should,volumes,\"as \"\"agreed\"\", 2026\",20,").unwrap();
    let (quantity, clause) = (at_least(&check), check.clause.clone().unwrap());
    assert_eq!((quantity.unit, (quantity.value - 104.857_6).abs() < 1e-9), (Unit::MegabytesPerSecond, true));
    assert_eq!(clause.to_string(), "clause 4.2.1 (l.csv:2)");
    assert_eq!((clause.unit.unwrap().word(), clause.rounding), ("MiB/s", Some(Step(0.01))));
    assert_eq!(
        (check.missed, check.section.as_str(), check.why.as_str()),
        (Missed::Told, "volumes", "as \"agreed\", 2026")
    );
    assert_eq!((check.iterations, check.decide, check.statistic), (Some(20), Some(Decide::Point), Statistic::Mean));
}

#[test]
fn a_file_of_any_spreadsheet_reads_the_same() {
    let plain = read(b"clause,figure,statistic,at,limit,unit\n1,disk.mb_per_s,mean,at least,104.5,MB/s\n").unwrap();
    let forms: [&[u8]; 5] = [
        b"\xef\xbb\xbfclause,figure,statistic,at,limit,unit\r\n1,disk.mb_per_s,mean,at least,104.5,MB/s\r\n,,,,,\r\n",
        b"sep=;\r\nunit;limit;AT;Statistic;figure;clause\r\nMB/s;104,5;>=;MEAN;disk.mb_per_s;1\r\n",
        b"clause\tfigure\tstatistic\tat\tlimit\tunit\n1\tdisk.mb_per_s\tmean\tat  least\t104,5\tMB/s",
        b"\"clause\",\"figure\",\"statistic\",\"at\",\"limit\",\"unit\",\n\"1\",\"disk.mb_per_s\",\"mean\",\"at least\",\"104.5\",\"MB/s\",\n",
        "clause;figure;statistic;at;limit;unit;why\n1;disk.mb_per_s;average;≥;104.5;MB/s\n".as_bytes(),
    ];
    for form in forms {
        let mut checks = read(form).unwrap();
        checks[0].clause.as_mut().unwrap().row = "l.csv:2".to_owned();
        assert_eq!(checks, plain, "{}", String::from_utf8_lossy(form));
    }
    let commented =
        read(b"# a contract\n\nclause,figure,statistic,at,limit,unit\n# 4\n4,cpu.residual,max,at most,16,\n");
    let check = commented.unwrap().remove(0);
    assert_eq!(check.clause.unwrap().row, "l.csv:5");
    assert_eq!(check.at_most, Some(Limit::Absolute(Quantity::new(16.0, Unit::Count))));
}

#[test]
fn units_of_one_dimension_are_converted() {
    let quantity = |figure: &str, limit: &str| at_least(&row(&format!("1,{figure},mean,>=,{limit},,,,,,")).unwrap());
    assert_eq!(quantity("disk.lat_p99_us", "2,ms"), Quantity::new(2000.0, Unit::Microseconds));
    assert_eq!(quantity("disk.mb_per_s", "1.5,GB/s"), Quantity::new(1500.0, Unit::MegabytesPerSecond));
    assert_eq!(quantity("cpu.gflops", "1,TFLOPS"), Quantity::new(1000.0, Unit::Gflops));
    assert_eq!(quantity("*.steal_percent", "2 %,"), Quantity::new(2.0, Unit::Percent));
    assert_eq!(at_least(&row("1,cpu.gflops,spread,>=,5,%,,,,,,").unwrap()), Quantity::new(5.0, Unit::Percent));
}

#[test]
fn a_limit_can_be_a_share() {
    let limit = |limit: &str| row(&format!("1,cpu.gflops,mean,>=,{limit},,,,,,")).unwrap().at_least.unwrap();
    assert_eq!(limit("75 % of nominal roof,"), Limit::OfRoof(0.75, Basis::Nominal));
    assert_eq!(limit("75,% of measured roof"), Limit::OfRoof(0.75, Basis::Measured));
    assert_eq!(limit("90 % of reference public-cloud,%"), Limit::OfReference("public-cloud".into(), 0.9));
    assert_eq!(limit("90,% of reference x normalised"), Limit::OfReferenceNormalised("x".into(), 0.9));
    let rounded = row("1,cpu.gflops,mean,>=,75 % of nominal roof,,0.01,,,,,").unwrap_err();
    assert!(rounded.contains("rounding: a share of something else is not rounded"), "{rounded}");
}

#[test]
fn rounding_is_a_step_or_decimals_and_never_guessed() {
    let step =
        |text: &str| row(&format!("1,cpu.gflops,mean,>=,75,GFLOPS,{text},,,,,")).map(|c| c.clause.unwrap().rounding);
    assert_eq!(step("2 decimals"), Ok(Some(Step(0.01))));
    assert_eq!(
        (step("0.5"), step("step 5"), step("0 decimals")),
        (Ok(Some(Step(0.5))), Ok(Some(Step(5.0))), Ok(Some(Step(1.0))))
    );
    assert_eq!(step(""), Ok(None));
    for (wrong, words) in [
        ("2", "write `2 decimals` or `step 2`"),
        ("1", "write `1 decimal` or `step 1`"),
        ("step 0", "no step"),
        ("12 decimals", "0 to 9"),
    ] {
        let error = step(wrong).unwrap_err();
        assert!(error.starts_with("dir/l.csv:2:32: rounding: ") && error.contains(words), "{error}");
    }
}

#[test]
fn what_is_no_utf_8_text_is_one_line() {
    assert_eq!(read(b"\xff\xfec\0").unwrap_err(), "dir/l.csv:1:1: this is UTF-16 text; save the file as UTF-8");
    let zero = read(b"c\0l\0a\0,\0\n\0").unwrap_err();
    assert_eq!(zero, "dir/l.csv:1:2: a zero byte, as in UTF-16 text; save the file as UTF-8");
    // GBK for two characters of a reason.
    let gbk = [HEADER.as_bytes(), b"\n1,cpu.gflops,mean,>=,1,GFLOPS,,,,\xba\xcf\xcd\xac,,\n"].concat();
    assert_eq!(read(&gbk).unwrap_err(), "dir/l.csv:2:1: this is no UTF-8 text; save the file as UTF-8");
    let chinese = row("第4.2条，甲,cpu.gflops,mean,>=,1,GFLOPS,,,实时计算，一,合同：四,,").unwrap();
    assert_eq!(chinese.section, "实时计算，一", "free text is the contract's own");
}

#[test]
fn a_row_about_every_run_is_one_of_each() {
    let text = format!("{HEADER}\n4,*.steal_percent,mean,at most,2,%,,,,,,\n");
    let checks = read(text.as_bytes()).unwrap();
    let of: Vec<&str> = checks.iter().map(|check| check.of.as_str()).collect();
    assert_eq!(of, ["cpu.steal_percent", "disk.steal_percent"]);
    let own = read(format!("{text}4,cpu.steal_percent,mean,at most,3,%,,,,,,\n").as_bytes()).unwrap_err();
    assert!(own.contains("clause 4 says `at most 2 %` of cpu.steal_percent in line 2 already"), "{own}");
}

#[test]
fn a_limit_is_a_number_that_something_can_be_compared_with() {
    let limit =
        |typed: &str| row(&format!("1,disk.mb_per_s,mean,>=,{typed},,,,,,")).map(|check| at_least(&check).value);
    for typed in ["1e308,GB/s", "1e-320,MB/s", "1e-307,kB/s"] {
        let error = limit(typed).unwrap_err();
        assert!(error.starts_with("dir/l.csv:2:25: limit: ") && error.contains("too large or too small"), "{error}");
    }
    assert_eq!((limit("0,GB/s"), limit("1e300,MB/s")), (Ok(0.0), Ok(1e300)));
}

#[test]
fn a_line_break_in_a_cell_is_a_blank() {
    let check = row("\"4\r\n .2\",disk.mb_per_s,mean,\"at\nleast\",1,MB/s,,,\"a\n\nb\",,,").unwrap();
    assert_eq!((check.clause.unwrap().name.as_str(), check.section.as_str()), ("4 .2", "a b"));
}

#[test]
fn a_message_does_not_repeat_a_cell_without_end() {
    let error = row(&format!("1,disk.mb_per_s,mean,>=,{}x,MB/s,,,,,,", "9".repeat(100_000))).unwrap_err();
    assert!(error.len() < 2000 && error.ends_with("9x` is no number"), "{error}");
}

#[test]
fn the_strictest_limits_of_many_are_held_against_each_other() {
    let rows = |rows: &[&str]| {
        let rows = rows.iter().enumerate().map(|(i, row)| format!("{i},disk.mb_per_s,mean,{row},MB/s,,,,,,\n"));
        read(format!("{HEADER}\n{}", rows.collect::<String>()).as_bytes()).map(|checks| checks.len())
    };
    assert_eq!(rows(&["at least,10", "at most,50", "at least,50", "at most,60"]), Ok(4));
    let error = rows(&["at least,10", "at least,40", "at least,20", "at most,50", "at most,30"]).unwrap_err();
    assert!(error.starts_with("dir/l.csv:6:") && error.contains("line 3 says `at least 40 MB/s`"), "{error}");
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn whatever_the_bytes_there_is_a_check_a_row_or_one_line(bytes in prop::collection::vec(any::<u8>(), 0..200), rows in "[a-z0-9,;\"\n.% ≥，]{0,120}") {
            for text in [bytes, format!("{HEADER}\n{rows}").into_bytes(), format!("{HEADER}\n1,cpu.gflops,mean,>=,{rows}").into_bytes()] {
                match read(&text) {
                    Ok(checks) => prop_assert!(checks.iter().all(|check| check.clause.is_some() && check.clause_fault().is_none())),
                    Err(why) => prop_assert!(why.lines().count() == 1 && why.starts_with("dir/l.csv:"), "{}", why),
                }
            }
        }

        #[test]
        fn a_limit_in_any_unit_is_the_same_amount(value in 0.001_f64..1e6) {
            let read = |unit: &str, worth: f64| {
                let typed = value / worth;
                at_least(&row(&format!("1,disk.mb_per_s,mean,>=,{typed},{unit},,,,,,")).unwrap()).value
            };
            for (unit, worth) in [("MiB/s", 1.048_576), ("GB/s", 1000.0), ("kB/s", 0.001), ("Gb/s", 125.0)] {
                prop_assert!((read(unit, worth) / value - 1.0).abs() < 1e-11, "{}", unit);
            }
        }
    }
}
