use super::*;

fn written(text: &str) -> Result<Theme, ThemeError> {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("mine.ron"), text).unwrap();
    Theme::load("mine", Some(directory.path()))
}

fn message(text: &str) -> String {
    let error = written(text).unwrap_err().to_string();
    error.rsplit_once('/').map_or(error.clone(), |(_, rest)| rest.to_owned())
}

#[test]
fn the_table_of_roles_is_in_the_order_of_the_roles() {
    assert!(ROLES.iter().enumerate().all(|(i, (role, _))| *role as usize == i));
}

#[test]
fn a_theme_inherits_and_falls_back_at_the_dot() {
    let theme = written(
        r##"( name: "mine", inherits: "default", palette: { "red": "#010203" }, roles: { "fail": "red underline", "text.dim": "none" } )"##,
    )
    .unwrap();
    let fail = Paint { colour: Colour::Rgb(1, 2, 3), underline: true, ..Paint::default() };
    assert_eq!(theme.paint(Role::Fail), fail);
    assert_eq!(theme.paint(Role::Dim).colour, Colour::None);
    assert_eq!(theme.paint(Role::Ok), Theme::load("default", None).unwrap().paint(Role::Ok));
    let roots = [
        "text", "title", "frame", "ok", "warn", "fail", "unproven", "active", "series", "limit", "cursor", "key",
        "ground",
    ];
    let roles: Vec<String> = roots.iter().map(|r| format!("\"{r}\": \"blue\"")).collect();
    let bare = written(&format!("( name: \"mine\", roles: {{ {} }} )", roles.join(", "))).unwrap();
    assert_eq!(bare.paint(Role::GroundFill).colour, Colour::Ansi(4));
}

#[test]
fn a_file_stands_in_for_the_shipped_theme_that_it_inherits() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("default.ron");
    std::fs::write(&path, r#"( name: "default", inherits: "default", roles: { "ok": "green" } )"#).unwrap();
    let theme = Theme::load("default", Some(directory.path())).unwrap();
    assert_eq!((theme.paint(Role::Ok).colour, theme.file.as_deref()), (Colour::Ansi(2), Some(path.as_path())));
    assert_eq!(Theme::load(path.to_str().unwrap(), None).unwrap().paint(Role::Ok).colour, Colour::Ansi(2));
}

#[test]
fn mistakes_are_named_with_their_place_and_what_was_expected() {
    let cases = [
        (
            "( name: \"mine\", inherits: \"default\",\n  roles: { \"okay\": \"green\" } )",
            "mine.ron:2:12: `okay` is no role, expected one of text,",
        ),
        (
            "( name: \"mine\", inherits: \"default\",\n  roles: { \"ok\": \"grun\" } )",
            "mine.ron:2:18: `grun` is neither in the palette nor a colour, expected",
        ),
        (
            "( name: \"mine\", inherits: \"default\",\n  palette: { \"a\": \"#12\" } )",
            "mine.ron:2:19: `#12` is no colour, expected #rrggbb",
        ),
        (
            "( name: \"mine\",\n  inherits: \"fjord\" )",
            "mine.ron:2:13: there is no theme `fjord`; there are: ansi16, colour-blind, default, gruvbox, high-contrast, light, mine, mono, nord",
        ),
        ("( name: \"mine\",\n  inherits: \"mine\" )", "mine.ron:2:13: there is no theme `mine`"),
        ("( name: \"mine\" )", "mine.ron:1:9: role `text` has no colour, expected"),
        ("( name: \"mine\",\n  colours: {} )", "mine.ron:2:"),
        ("( name： \"mine\" )", "mine.ron:1:7: `：` is a full-width or curly character; type `:`"),
        ("( name: “mine” )", "mine.ron:1:9: `“` is a full-width or curly character"),
    ];
    for (text, expected) in cases {
        let message = message(text);
        assert!(message.starts_with(expected), "{message}\nexpected {expected}");
    }
    assert!(Theme::load("fjord", None).unwrap_err().to_string().contains("there are: ansi16, colour-blind, default, "));
    assert!(Theme::load("/nowhere/x.ron", None).unwrap_err().to_string().starts_with("/nowhere/x.ron: "));
}

#[test]
fn a_circle_of_themes_ends() {
    let directory = tempfile::tempdir().unwrap();
    for (name, parent) in [("a", "b"), ("b", "a")] {
        let text = format!("( name: \"{name}\", inherits: \"{parent}\" )");
        std::fs::write(directory.path().join(format!("{name}.ron")), text).unwrap();
    }
    assert!(Theme::load("a", Some(directory.path())).unwrap_err().to_string().contains("inherits itself"));
}

#[test]
fn fewer_colours_degrade_and_none_is_mono() {
    let of = |name: &str, depth| Theme::load(name, None).unwrap().fit(depth).unwrap();
    assert_eq!(of("default", Depth::None).name, "mono");
    assert_eq!(of("default", Depth::Sixteen).name, "ansi16");
    assert!(matches!(of("light", Depth::Sixteen).paint(Role::Fail).colour, Colour::Ansi(_)));
    assert!(matches!(of("default", Depth::Indexed).paint(Role::Fail).colour, Colour::Indexed(_)));
    for (role, name) in ROLES {
        assert_eq!(of("light", Depth::None).paint(role).colour, Colour::None, "{name}");
    }
}
