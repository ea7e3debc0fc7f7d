//! Whether the shipped themes can be read, and their states be told apart, by whom and on what they are shown.

use super::colour::indexed_rgb;
use super::*;

/// The least contrast of text: level AA of WCAG 2.1, success criterion 1.4.3.
const CONTRAST: f64 = 4.5;
/// The same where the theme promises more: level AAA, criterion 1.4.6.
const HIGH_CONTRAST: f64 = 7.0;
/// The least distance of two states in CIE 1976 L*a*b*, where about 2.3 can just be told apart (Mahy and others 1994).
const APART: f64 = 15.0;

const GROUNDS: [Role; 5] = [Role::Ground, Role::GroundBar, Role::GroundSelect, Role::GroundShade, Role::GroundFill];
const FRAMES: [Role; 2] = [Role::Frame, Role::FrameFocus];
const STATES: [Role; 5] = [Role::Ok, Role::Warn, Role::Fail, Role::Unproven, Role::Active];

type Rgb = (u8, u8, u8);

/// The sixteen as a VGA text console has them; those of xterm are in [`indexed_rgb`].
const VGA: [Rgb; 16] = [
    (0, 0, 0),
    (170, 0, 0),
    (0, 170, 0),
    (170, 85, 0),
    (0, 0, 170),
    (170, 0, 170),
    (0, 170, 170),
    (170, 170, 170),
    (85, 85, 85),
    (255, 85, 85),
    (85, 255, 85),
    (255, 255, 85),
    (85, 85, 255),
    (255, 85, 255),
    (85, 255, 255),
    (255, 255, 255),
];

/// Linear light of a channel, as IEC 61966-2-1 (sRGB) has it.
fn linear((r, g, b): Rgb) -> [f64; 3] {
    [r, g, b].map(|c| {
        let c = f64::from(c) / 255.0;
        if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    })
}

/// The relative luminance of WCAG 2.1.
fn luminance(rgb: Rgb) -> f64 {
    let [r, g, b] = linear(rgb);
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

/// The contrast ratio of WCAG 2.1.
fn contrast(a: Rgb, b: Rgb) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// A colour as it is painted with these sixteen; the terminal's own is taken for light grey on black.
fn rgb(colour: Colour, sixteen: impl Fn(u8) -> Rgb, own: Rgb) -> Rgb {
    match colour {
        Colour::None => own,
        Colour::Ansi(i) => sixteen(i),
        Colour::Indexed(i) => indexed_rgb(i),
        Colour::Rgb(r, g, b) => (r, g, b),
    }
}

/// What of a theme has too little contrast, one line each.
fn unreadable(theme: &Theme, sixteen: impl Fn(u8) -> Rgb + Copy, least: f64) -> Vec<String> {
    let texts = ROLES.iter().filter(|(r, _)| !GROUNDS.contains(r) && !FRAMES.contains(r));
    let pairs = texts.flat_map(|text| GROUNDS.map(|ground| (text, ground)));
    let fault = |((role, name), ground): (&(Role, &str), Role)| {
        let text = rgb(theme.paint(*role).colour, sixteen, sixteen(7));
        let behind = rgb(theme.paint(ground).colour, sixteen, sixteen(0));
        let found = contrast(text, behind);
        (found < least).then(|| format!("{}: {name} on {ground:?} has a contrast of {found:.2}", theme.name))
    };
    pairs.filter_map(fault).collect()
}

fn shipped() -> impl Iterator<Item = Theme> {
    SHIPPED.iter().map(|(name, _)| Theme::load(name, None).unwrap())
}

fn vga(i: u8) -> Rgb {
    VGA[usize::from(i)]
}

#[test]
fn every_shipped_theme_resolves_every_role_under_its_own_name() {
    for ((name, text), theme) in SHIPPED.iter().zip(shipped()) {
        assert_eq!(theme.name, *name);
        assert!(text.starts_with("// "), "{name}: its file says nothing of it");
    }
}

#[test]
fn every_shipped_theme_can_be_read_in_all_its_colours_and_in_256() {
    for theme in shipped() {
        let least = if theme.name == "high-contrast" { HIGH_CONTRAST } else { CONTRAST };
        let indexed = theme.clone().fit(Depth::Indexed).unwrap();
        let faults = [unreadable(&theme, indexed_rgb, least), unreadable(&indexed, indexed_rgb, least)].concat();
        assert!(faults.is_empty(), "{faults:#?}");
    }
}

#[test]
fn the_theme_of_sixteen_colours_can_be_read_on_xterm_and_on_a_vga_console() {
    let theme = Theme::load("ansi16", None).unwrap();
    let faults = [unreadable(&theme, indexed_rgb, CONTRAST), unreadable(&theme, vga, CONTRAST)].concat();
    assert!(faults.is_empty(), "{faults:#?}");
}

/// A dichromat's view of linear light: the matrices for full severity of Machado, Oliveira and Fernandes, A Physiologically-based
/// Model for Simulation of Color Vision Deficiency, IEEE Transactions on Visualization and Computer Graphics 15 (2009).
const PROTANOPIA: [[f64; 3]; 3] =
    [[0.152_286, 1.052_583, -0.204_868], [0.114_503, 0.786_281, 0.099_216], [-0.003_882, -0.048_116, 1.051_998]];
const DEUTERANOPIA: [[f64; 3]; 3] =
    [[0.367_322, 0.860_646, -0.227_968], [0.280_085, 0.672_501, 0.047_413], [-0.011_820, 0.042_940, 0.968_881]];

fn product(matrix: &[[f64; 3]; 3], of: [f64; 3]) -> [f64; 3] {
    matrix.map(|row| row.iter().zip(of).map(|(a, b)| a * b).sum())
}

/// CIE 1976 L*a*b* of linear sRGB, under D65 (CIE 15; the matrix of IEC 61966-2-1).
fn lab(light: [f64; 3]) -> [f64; 3] {
    const XYZ: [[f64; 3]; 3] = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]];
    let [x, y, z] = product(&XYZ, light);
    let f = |t: f64| if t > 216.0 / 24_389.0 { t.cbrt() } else { (24_389.0 / 27.0 * t + 16.0) / 116.0 };
    let (x, y, z) = (f(x / 0.9505), f(y), f(z / 1.089));
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

fn distance(seen: &[[f64; 3]; 3], a: Rgb, b: Rgb) -> f64 {
    let see = |rgb| lab(product(seen, linear(rgb)).map(|c| c.clamp(0.0, 1.0)));
    see(a).iter().zip(see(b)).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// The nearest two states of a theme, as a dichromat sees them.
fn nearest(theme: &Theme) -> f64 {
    let colours = STATES.map(|role| rgb(theme.paint(role).colour, indexed_rgb, indexed_rgb(7)));
    let pairs = colours.iter().enumerate().flat_map(|(i, a)| colours[..i].iter().map(move |b| (*a, *b)));
    let both = pairs.flat_map(|(a, b)| [&PROTANOPIA, &DEUTERANOPIA].map(|seen| distance(seen, a, b)));
    both.fold(f64::INFINITY, f64::min)
}

#[test]
fn the_theme_for_every_colour_vision_keeps_its_states_apart() {
    let theme = Theme::load("colour-blind", None).unwrap();
    let indexed = theme.clone().fit(Depth::Indexed).unwrap();
    assert!(nearest(&theme) >= APART, "{:.1}", nearest(&theme));
    assert!(nearest(&indexed) >= APART, "{:.1} in 256 colours", nearest(&indexed));
    // The measure can fail: red and green of the ordinary theme are close to each other for these eyes.
    assert!(nearest(&Theme::load("default", None).unwrap()) < APART);
}

#[test]
fn the_formulas_give_what_is_published() {
    assert!((contrast((0, 0, 0), (255, 255, 255)) - 21.0).abs() < 1e-9);
    // The examples of WCAG's techniques: #767676 is the darkest grey that white cannot do without.
    assert!(
        contrast((0x76, 0x76, 0x76), (255, 255, 255)) >= 4.5 && contrast((0x77, 0x77, 0x77), (255, 255, 255)) < 4.5
    );
    // White is white for everybody.
    let white = [lab([1.0; 3]), lab(product(&PROTANOPIA, [1.0; 3])), lab(product(&DEUTERANOPIA, [1.0; 3]))];
    assert!(white.iter().all(|[l, a, b]| (l - 100.0).abs() < 0.1 && a.abs() < 0.1 && b.abs() < 0.1), "{white:?}");
}
