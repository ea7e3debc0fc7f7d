//! Before a session: the list of presets with what each would do to this node, and the question when something is wrong.

use ratatui::Terminal;
use ratatui::backend::Backend;
use ratatui::layout::Rect;

use super::keymap::Keys;
use super::keys::{Action, Place};
use super::layout::SMALLEST;
use super::live::anew;
use super::look::{Brush, Look};
use super::press::Press;
use super::terminal::{Input, Tty, World};
use super::themes::Themes;
use super::touch::{Mouse, Move, Touch, Touches};
use super::{Options, ScreenError, dialog, footer};
use crate::view::format;
use crate::view::theme::Role;

/// A preset as it is offered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// Its name.
    pub name: String,
    /// One line on it.
    pub title: String,
    /// What it is for and what it cannot show.
    pub about: String,
    /// What the preflight says of it, line by line.
    pub lines: Vec<String>,
    /// Whether the preflight refuses it, so that it cannot be started.
    pub refused: bool,
}

/// What is chosen before anybody chooses: the smoke test, which does least; the first by name may load the node for days.
fn first(offers: &[Offer]) -> usize {
    offers.iter().position(|offer| offer.name == "quick").unwrap_or(0)
}

/// Lets a person choose; nothing is loaded before that. Gives the place of the chosen offer, or none when the list is left.
pub async fn pick(offers: &[Offer], options: &Options) -> Result<Option<usize>, ScreenError> {
    show(List { offers, keys: &options.keys, chosen: first(offers), said: None }, options).await
}

/// Asks whether to go on in spite of these lines. A terminal that goes away means no.
pub async fn confirm(title: &str, lines: &[String], options: &Options) -> Result<bool, ScreenError> {
    Ok(show(Question { title, lines, keys: &options.keys }, options).await?.is_some())
}

/// A screen that is there to be answered.
trait Page {
    const PLACE: Place;
    type Answer;
    fn draw(&self, area: Rect, brush: &mut Brush<'_>);
    fn act(&mut self, action: Action) -> Reply<Self::Answer>;
    /// Takes a word for the footer, where there is one.
    fn say(&mut self, _: Option<String>) {}
    /// Takes a click on a row.
    fn choose(&mut self, _: usize) {}
}

/// What an action came to.
enum Reply<A> {
    Stay,
    Leave(Option<A>),
}

async fn show<P: Page>(page: P, options: &Options) -> Result<Option<P::Answer>, ScreenError> {
    let themes = options.themes()?;
    let mut tty = Tty::enter(options.mouse)?;
    let mut terminal = tty.canvas()?;
    let asked = Asked { look: Look { theme: themes.on(), glyphs: options.glyphs }, themes, keys: &options.keys, page };
    asked.answer(&mut terminal, &mut tty).await
}

/// A page that is shown until it is answered.
struct Asked<'a, P> {
    page: P,
    look: Look,
    themes: Themes,
    keys: &'a Keys,
}

impl<P: Page> Asked<'_, P> {
    async fn answer<B: Backend, W: World>(
        mut self,
        terminal: &mut Terminal<B>,
        world: &mut W,
    ) -> Result<Option<P::Answer>, ScreenError> {
        loop {
            let Ok(touches) = self.draw(terminal) else { return Ok(None) };
            let action = match world.next().await {
                Input::Key(key) => self.keys.action(P::PLACE, Press::of(key)),
                Input::Mouse(mouse) => self.touched(mouse, &touches),
                Input::Resize => Some(Action::Redraw),
                Input::Interrupt | Input::Gone => return Ok(None),
            };
            let Some(action) = action else { continue };
            self.page.say(None);
            match action {
                Action::NextTheme | Action::PreviousTheme => {
                    self.page.say(Some(self.themes.step(action == Action::NextTheme)));
                    self.look.theme = self.themes.on();
                    continue;
                }
                Action::Suspend => world.suspend().await?,
                Action::Redraw => {}
                action => match self.page.act(action) {
                    Reply::Stay => continue,
                    Reply::Leave(answer) => return Ok(answer),
                },
            }
            if anew(terminal, world.size()).is_err() {
                return Ok(None);
            }
        }
    }

    fn draw<B: Backend>(&self, terminal: &mut Terminal<B>) -> Result<Touches, B::Error> {
        let mut touches = Touches::default();
        terminal.draw(|frame| {
            let area = frame.area();
            let mut brush = Brush::new(frame.buffer_mut(), &self.look);
            brush.clear(area);
            self.page.draw(area, &mut brush);
            touches = brush.touches;
        })?;
        Ok(touches)
    }

    /// What is asked for with the mouse; a click on a row only chooses it.
    fn touched(&mut self, mouse: Mouse, touches: &Touches) -> Option<Action> {
        match (mouse.does, touches.at(mouse)) {
            (Move::Click, Touch::Key(action)) => return Some(action),
            (Move::Click, Touch::Row(row)) => self.page.choose(row),
            (Move::Click, _) => {}
            (Move::Up, _) => return Some(Action::Previous),
            (Move::Down, _) => return Some(Action::Next),
        }
        None
    }
}

struct List<'a> {
    offers: &'a [Offer],
    keys: &'a Keys,
    chosen: usize,
    said: Option<String>,
}

impl Page for List<'_> {
    const PLACE: Place = Place::List;
    type Answer = usize;

    fn draw(&self, area: Rect, brush: &mut Brush<'_>) {
        if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
            let (columns, rows) = SMALLEST;
            let text = format!("terminal too small {}x{}, need {columns}x{rows}", area.width, area.height);
            brush.text((area.x, area.y), &text, Role::Warn, area.width);
            return;
        }
        brush.ground(Rect { height: 1, ..area }, Role::GroundBar);
        let end = brush.text((area.x + 1, area.y), "shakedown", Role::Strong, 9);
        let hint = "choose what this node has to stand; nothing is loaded before Enter";
        brush.text((end + 2, area.y), hint, Role::Dim, area.right().saturating_sub(end + 3));
        let names = self.offers.iter().map(|o| format::width(&o.name)).max().unwrap_or(0).clamp(16, 30) as u16 + 8;
        let body = Rect { y: area.y + 1, height: area.height - 2, ..area };
        self.list(Rect { width: names, ..body }, brush);
        self.detail(Rect { x: body.x + names, width: body.width - names, ..body }, brush);
        let bar = Rect { y: area.bottom() - 1, height: 1, ..area };
        footer::bar((self.keys, Place::List), |bound| Some(bound.brief), self.said.as_deref(), bar, brush);
    }

    fn act(&mut self, action: Action) -> Reply<usize> {
        let count = self.offers.len();
        match action {
            Action::Next if count > 0 => self.chosen = (self.chosen + 1) % count,
            Action::Previous if count > 0 => self.chosen = (self.chosen + count - 1) % count,
            Action::Start => match self.offers.get(self.chosen) {
                Some(offer) if offer.refused => self.said = Some("refused by the preflight".to_owned()),
                Some(_) => return Reply::Leave(Some(self.chosen)),
                None => {}
            },
            Action::Close | Action::Interrupt => return Reply::Leave(None),
            _ => {}
        }
        Reply::Stay
    }

    fn say(&mut self, what: Option<String>) {
        self.said = what;
    }

    fn choose(&mut self, row: usize) {
        self.chosen = row.min(self.offers.len().saturating_sub(1));
    }
}

impl List<'_> {
    fn list(&self, area: Rect, brush: &mut Brush<'_>) {
        let inner = brush.frame(area, Role::FrameFocus, ("Presets", ""));
        let skipped = (self.chosen + 1).saturating_sub(usize::from(inner.height));
        for (y, (index, offer)) in (inner.y..inner.bottom()).zip(self.offers.iter().enumerate().skip(skipped)) {
            let signs = brush.look.signs();
            let (sign, role) = match (index == self.chosen, offer.refused) {
                (_, true) => (signs.fail, Role::Fail),
                (true, false) => (signs.run, Role::Active),
                (false, false) => (" ", Role::Text),
            };
            if index == self.chosen {
                brush.ground(Rect::new(inner.x, y, inner.width, 1), Role::GroundSelect);
            }
            brush.touch(Rect::new(inner.x, y, inner.width, 1), Touch::Row(index));
            brush.text((inner.x + 1, y), sign, role, 1);
            let role = if index == self.chosen { Role::Strong } else { Role::Text };
            brush.text((inner.x + 3, y), &offer.name, role, inner.width.saturating_sub(4));
        }
    }

    fn detail(&self, area: Rect, brush: &mut Brush<'_>) {
        let Some(offer) = self.offers.get(self.chosen) else {
            let inner = brush.frame(area, Role::Frame, ("", ""));
            brush.text((inner.x + 1, inner.y), "there is no preset", Role::Warn, inner.width.saturating_sub(2));
            return;
        };
        let inner = brush.frame(area, Role::Frame, (&offer.title, ""));
        let columns = inner.width.saturating_sub(2);
        let wrapped = |text: &str| format::wrap(text, usize::from(columns));
        let mut lines: Vec<(String, Role)> = wrapped(&offer.about).into_iter().map(|l| (l, Role::Text)).collect();
        lines.push((String::new(), Role::Text));
        let role = if offer.refused { Role::Fail } else { Role::Title };
        lines.push((if offer.refused { "Refused on this node" } else { "On this node" }.to_owned(), role));
        lines.extend(offer.lines.iter().flat_map(|l| wrapped(l)).map(|l| (l, Role::Text)));
        for (y, (line, role)) in (inner.y..inner.bottom()).zip(&lines) {
            brush.text((inner.x + 1, y), line, *role, columns);
        }
    }
}

struct Question<'a> {
    title: &'a str,
    lines: &'a [String],
    keys: &'a Keys,
}

impl Page for Question<'_> {
    const PLACE: Place = Place::Ask;
    type Answer = ();

    fn draw(&self, area: Rect, brush: &mut Brush<'_>) {
        let lines: Vec<&str> = self.lines.iter().map(String::as_str).collect();
        dialog::question(area, (self.title, &lines), (self.keys, Place::Ask), brush);
    }

    fn act(&mut self, action: Action) -> Reply<()> {
        match action {
            Action::Yes => Reply::Leave(Some(())),
            Action::Close | Action::Interrupt => Reply::Leave(None),
            _ => Reply::Stay,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::theme::{Glyphs, Theme};
    use ratatui::buffer::Buffer;

    fn offers() -> Vec<Offer> {
        let offer = |name: &str, refused| Offer {
            name: name.to_owned(),
            title: format!("The {name} test"),
            about: "Proves that things work, not that a contract is met.".to_owned(),
            lines: vec![
                "about 2 min, at most 1.2 GB of memory".to_owned(),
                "not root: some counters stay unread".to_owned(),
            ],
            refused,
        };
        vec![offer("quick", false), offer("disk\u{1b}[2J", true)]
    }

    #[test]
    fn the_chosen_offer_is_started_unless_it_is_refused() {
        let (offers, keys) = (offers(), Keys::default());
        let mut list = List { offers: &offers, keys: &keys, chosen: 0, said: None };
        assert!(matches!(list.act(Action::Start), Reply::Leave(Some(0))));
        assert!(matches!(list.act(Action::Next), Reply::Stay));
        assert!(matches!(list.act(Action::Start), Reply::Stay));
        assert_eq!(list.said.as_deref(), Some("refused by the preflight"));
        assert!(matches!(list.act(Action::Close), Reply::Leave(None)));
        let mut none = List { offers: &[], keys: &keys, chosen: 0, said: None };
        none.choose(3);
        assert!(matches!(none.act(Action::Next), Reply::Stay));
        assert!(matches!(none.act(Action::Start), Reply::Stay));
    }

    #[test]
    fn an_offer_is_shown_with_what_it_would_do() {
        let (offers, keys) = (offers(), Keys::default());
        let look = Look { theme: Theme::load("default", None).unwrap(), glyphs: Glyphs::Braille };
        let shown = |list: &List<'_>, area: Rect| {
            let mut buffer = Buffer::empty(area);
            list.draw(area, &mut Brush::new(&mut buffer, &look));
            buffer
                .content
                .chunks(usize::from(area.width))
                .map(|r| r.iter().map(ratatui::buffer::Cell::symbol).collect::<String>() + "\n")
                .collect::<String>()
        };
        let list = List { offers: &offers, keys: &keys, chosen: 1, said: None };
        let text = shown(&list, Rect::new(0, 0, 80, 24));
        for word in ["quick", "✗ disk?[2J", "Refused on this node", "at most 1.2 GB of memory", "Enter start"] {
            assert!(text.contains(word), "{word} is not in\n{text}");
        }
        assert!(shown(&list, Rect::new(0, 0, 50, 10)).starts_with("terminal too small 50x10"));
        assert!(
            shown(&List { offers: &[], keys: &keys, chosen: 0, said: None }, Rect::new(0, 0, 80, 24))
                .contains("there is no preset")
        );
    }
}
