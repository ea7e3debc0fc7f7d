use super::*;

fn asked(value: &str) -> Asked {
    Asked { value: Some(value.to_owned()), ..Asked::default() }
}

fn read(text: &str, asked: &Asked) -> Result<(Vec<(f64, f64)>, LeftOut), Fault> {
    let mut table = Table::open(Lines::new(text.as_bytes()), asked)?;
    let (mut all, mut reading) = (Vec::new(), Reading::default());
    while table.read(&mut reading)? {
        all.push((table.zero() + reading.at.0 as f64 / 1e6, reading.value));
    }
    Ok((all, table.left_out().clone()))
}

fn fault(text: &str, asked: &Asked) -> String {
    read(text, asked).unwrap_err().within("f")
}

#[test]
fn a_table_is_read_with_and_without_a_header_whatever_its_separator() {
    let expected = [(0.1, 5.0), (0.2, 6.5)];
    for text in
        ["t_s,mb_s\n0.1,5\n0.2,6.5\n", "0.1;5\n0.2;6.5", "# a\n\"time (s)\"\tx\r\n\r\n0.1\t5\r\n0.2\t\"6.5\"\r\n"]
    {
        assert_eq!(read(text, &Asked::default()).unwrap().0, expected, "{text}");
    }
    let by_number = Asked { time: Some("3".to_owned()), value: Some("1".to_owned()), ..Asked::default() };
    assert_eq!(read("5,x,0.1\n6.5,y,0.2\n", &by_number).unwrap().0, expected);
    let later = "mb_s,timestamp\n5,2026-01-31T12:00:00.1Z\n6.5,2026-01-31T12:00:00.2Z\n";
    let (rows, _) = read(later, &Asked::default()).unwrap();
    assert!((rows[1].0 - rows[0].0 - 0.1).abs() < 1e-5, "{rows:?}");
    let millis = Asked { time_unit: Some(TimeUnit::Milliseconds), ..Asked::default() };
    assert_eq!(read("time_ms,v\n100,5\n200,6.5\n", &millis).unwrap().0, expected);
    assert_eq!(read("-2,5\n-1.5,6\n", &Asked::default()).unwrap().0, [(-2.0, 5.0), (-1.5, 6.0)]);
}

#[test]
fn waiting_and_counters_come_with_the_reading() {
    let asked = Asked {
        in_flight: Some("w".to_owned()),
        counters: vec![("cpu steal".to_owned(), "3".to_owned())],
        ..Asked::default()
    };
    let mut table = Table::open(Lines::new(&b"t,w,st,v\n1,0,2,3\n2,5,,4\n3,,1,5\n"[..]), &asked).unwrap();
    let (mut all, mut reading) = (Vec::new(), Reading::default());
    while table.read(&mut reading).unwrap() {
        all.push((reading.in_flight, reading.counters.clone(), reading.begins));
    }
    let expected =
        [(Some(false), vec![Some(2.0)], true), (Some(true), vec![None], false), (None, vec![Some(1.0)], false)];
    assert_eq!(all, expected);
}

#[test]
fn what_is_missing_is_a_gap_and_counted() {
    let (rows, left_out) = read("t,v\n1,2\n2,\n3,NaN\n,4\n5,6\n6", &Asked::default()).unwrap();
    assert_eq!(rows, [(1.0, 2.0), (5.0, 6.0)]);
    let words = "4 rows left out (2 without a value, 1 without a time, 1 cut off at the end), the first in line 3";
    assert_eq!(left_out.words().unwrap(), words);
    assert_eq!(LeftOut::default().words(), None);
}

#[test]
fn a_time_may_stand_twice_once_in_a_while() {
    let mut text = String::from("1,5\n2,5\n3,5\n4,5\n5,5\n6,5\n7,5\n8,5\n9,5\n10,5\n");
    text.push_str("10,6\n");
    let (rows, left_out) = read(&text, &Asked::default()).unwrap();
    assert_eq!((rows.len(), rows[10]), (11, (10.000_001, 6.0)));
    assert_eq!(left_out.words().unwrap(), "1 row stands at the time of the row before");
    text.push_str("10,6\n");
    assert_eq!(
        fault(&text, &Asked::default()),
        "f:11: column 1: time 10 stands twice; are these two series in one file?"
    );
}

#[test]
fn columns_that_are_not_clear_are_asked_for() {
    let none = Asked::default();
    assert_eq!(fault("", &none), "f: there is no row in it");
    assert_eq!(
        fault("t,a,b\n1,2,3\n", &none),
        "f:1: which column holds the values? say --value COLUMN; there are: `a`, `b`"
    );
    assert_eq!(fault("t,a\n1,2\n", &asked("c")), "f:1: --value c: there is no such column; there are: `t`, `a`");
    assert_eq!(
        fault("1,2\n", &asked("c")),
        "f:1: --value c: there is no header; give the number of the column, from 1"
    );
    assert_eq!(
        fault("t,a,a\n1,2,3\n", &asked("a")),
        "f:1: --value a: there are two columns of this name; give its number"
    );
    assert_eq!(
        fault("1\n2\n", &none),
        "f:1: one column only, without `,`, `;` or a tab; a time and a value are needed"
    );
    let millis = "f:1: column `time_ms` seems to count ms; say --time-unit ms, or --time-unit s if not";
    assert_eq!(fault("time_ms,v\n1,2\n", &none), millis);
}

#[test]
fn what_is_wrong_with_a_row_is_said_with_line_and_column() {
    let said = |text: &str| fault(text, &Asked::default());
    assert_eq!(said("t,v\n1,2\n0.5,3\n"), "f:3: column `t`: time 0.5 is before 1 of the row above; sort the rows");
    assert_eq!(said("t,v\n1,2\n1,3\n"), "f:3: column `t`: time 1 stands twice; are these two series in one file?");
    assert_eq!(said("t;v\n1;2,5\n"), "f:2: column `v`: `2,5` has a decimal comma; write a point");
    assert_eq!(
        said("t,v\n1,fast\n"),
        "f:2: column `v`: `fast` is no number; leave the cell empty where there is no value"
    );
    assert_eq!(
        said("t,v\n1,inf\n"),
        "f:2: column `v`: `inf` is not finite; leave the cell empty where there is no value"
    );
    assert_eq!(said("t,v\n1,2,3\n"), "f:2: a row of 3 cells in a table of 2 columns");
    assert_eq!(said("t,v\nnoon,2\n"), "f:2: column `t`: `noon` is no time; expected a number or 2026-01-31T12:00:00Z");
}
