use super::*;
use ratatui::style::{Color, Modifier};
fn sgr(c: Color, base: u8) -> String { match c { Color::Rgb(r,g,b) => format!(";{};2;{r};{g};{b}", base), Color::Indexed(i) => format!(";{};5;{i}", base), _ => String::new() } }
pub(super) fn ansi(b: &Buffer) -> String {
    let mut out = String::new();
    for y in 0..b.area.height { let mut x=0; while x < b.area.width { let c=&b[(x,y)];
        let mut s = String::from("\x1b[0"); if c.modifier.contains(Modifier::BOLD){s+=";1"} if c.modifier.contains(Modifier::REVERSED){s+=";7"} if c.modifier.contains(Modifier::UNDERLINED){s+=";4"}
        s+=&sgr(c.fg,38); s+=&sgr(c.bg,48); s+="m"; out+=&s; out+=c.symbol(); x+= crate::view::format::width(c.symbol()).max(1) as u16; }
        out+="\x1b[0m\n"; }
    out
}
#[test] fn pictures() {
    let Ok(dir) = std::env::var("PICTURES") else { return };
    let stories = [("empty", State::default()), ("opened", story::opened("node07").state()), ("running", story::running("node07").state()), ("collapsed", story::collapsed("node07").state()), ("ended", story::ended("node07").state())];
    for (name, state) in stories { for (theme, glyphs) in [("default", Glyphs::Braille), ("light", Glyphs::Braille), ("ansi16", Glyphs::Block), ("mono", Glyphs::Braille), ("mono", Glyphs::Ascii)] { for size in [(80,24),(120,40),(200,60)] {
        let mut l = live(state.clone(), theme, glyphs);
        std::fs::write(format!("{dir}/{name}-{theme}-{glyphs:?}-{}.ansi", size.0), ansi(&drawn(&mut l, size))).unwrap();
    }}}
}
