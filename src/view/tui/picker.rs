//! Before a session: the list of presets with what each would do to this node, and the question when something is wrong.

use ratatui::Terminal;
use ratatui::backend::Backend;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::Rect;

use super::keys::{self, Action, Place};
use super::layout::SMALLEST;
use super::live::anew;
use super::look::{Brush, Look};
use super::terminal::{Input, Tty, World};
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

/// Lets a person choose; nothing is loaded before that. Gives the place of the chosen offer, or none when the list is left.
pub async fn pick(offers: &[Offer], options: &Options) -> Result<Option<usize>, ScreenError> {
    show(List { offers, chosen: 0, said: None }, options).await
}

/// Asks whether to go on in spite of these lines. A terminal that goes away means no.
pub async fn confirm(title: &str, lines: &[String], options: &Options) -> Result<bool, ScreenError> {
    Ok(show(Question { title, lines }, options).await?.is_some())
}

/// A screen that is there to be answered.
trait Page {
    type Answer;
    fn draw(&self, area: Rect, brush: &mut Brush<'_>);
    fn key(&mut self, key: KeyEvent) -> Reply<Self::Answer>;
}

/// What a key came to.
enum Reply<A> {
    Stay,
    Redraw,
    Leave(Option<A>),
}

async fn show<P: Page>(page: P, options: &Options) -> Result<Option<P::Answer>, ScreenError> {
    let look = options.look()?;
    let mut tty = Tty::enter()?;
    let mut terminal = tty.canvas()?;
    ask(page, &look, &mut terminal, &mut tty).await
}

async fn ask<P: Page, B: Backend, W: World>(
    mut page: P,
    look: &Look,
    terminal: &mut Terminal<B>,
    world: &mut W,
) -> Result<Option<P::Answer>, ScreenError> {
    loop {
        let drawn = terminal.draw(|frame| {
            let area = frame.area();
            let mut brush = Brush { buffer: frame.buffer_mut(), look };
            brush.clear(area);
            page.draw(area, &mut brush);
        });
        let lost = drawn.is_err();
        let reply = match world.next().await {
            _ if lost => return Ok(None),
            Input::Key(key) => page.key(key),
            Input::Resize => Reply::Redraw,
            Input::Interrupt | Input::Gone => Reply::Leave(None),
        };
        match reply {
            Reply::Stay => {}
            Reply::Redraw => {
                if anew(terminal, world.size()).is_err() {
                    return Ok(None);
                }
            }
            Reply::Leave(answer) => return Ok(answer),
        }
    }
}

struct List<'a> {
    offers: &'a [Offer],
    chosen: usize,
    said: Option<&'static str>,
}

impl Page for List<'_> {
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
        footer::bar(Place::List, self.said, Rect { y: area.bottom() - 1, height: 1, ..area }, brush);
    }

    fn key(&mut self, key: KeyEvent) -> Reply<usize> {
        self.said = None;
        let count = self.offers.len();
        match keys::action(Place::List, key) {
            Some(Action::Next) if count > 0 => self.chosen = (self.chosen + 1) % count,
            Some(Action::Previous) if count > 0 => self.chosen = (self.chosen + count - 1) % count,
            Some(Action::Start) => match self.offers.get(self.chosen) {
                Some(offer) if offer.refused => self.said = Some("refused by the preflight"),
                Some(_) => return Reply::Leave(Some(self.chosen)),
                None => {}
            },
            Some(Action::Close | Action::Interrupt) => return Reply::Leave(None),
            Some(Action::Redraw) => return Reply::Redraw,
            _ => {}
        }
        Reply::Stay
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
}

impl Page for Question<'_> {
    type Answer = ();

    fn draw(&self, area: Rect, brush: &mut Brush<'_>) {
        let lines: Vec<&str> = self.lines.iter().map(String::as_str).collect();
        dialog::question(area, self.title, &lines, Place::Ask, brush);
    }

    fn key(&mut self, key: KeyEvent) -> Reply<()> {
        match keys::action(Place::Ask, key) {
            Some(Action::Yes) => Reply::Leave(Some(())),
            Some(Action::Close | Action::Interrupt) => Reply::Leave(None),
            _ => Reply::Stay,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::theme::{Glyphs, Theme};
    use ratatui::buffer::Buffer;
    use ratatui::crossterm::event::{KeyCode, KeyModifiers};

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

    fn press(list: &mut List<'_>, code: KeyCode) -> Reply<usize> {
        list.key(KeyEvent::new(code, KeyModifiers::NONE))
    }

    #[test]
    fn the_chosen_offer_is_started_unless_it_is_refused() {
        let offers = offers();
        let mut list = List { offers: &offers, chosen: 0, said: None };
        assert!(matches!(press(&mut list, KeyCode::Enter), Reply::Leave(Some(0))));
        assert!(matches!(press(&mut list, KeyCode::Down), Reply::Stay));
        assert!(matches!(press(&mut list, KeyCode::Enter), Reply::Stay));
        assert_eq!(list.said, Some("refused by the preflight"));
        assert!(matches!(press(&mut list, KeyCode::Esc), Reply::Leave(None)));
        let mut none = List { offers: &[], chosen: 0, said: None };
        assert!(matches!(press(&mut none, KeyCode::Down), Reply::Stay));
        assert!(matches!(press(&mut none, KeyCode::Enter), Reply::Stay));
    }

    #[test]
    fn an_offer_is_shown_with_what_it_would_do() {
        let offers = offers();
        let look = Look { theme: Theme::load("default", None).unwrap(), glyphs: Glyphs::Braille };
        let shown = |list: &List<'_>, area: Rect| {
            let mut buffer = Buffer::empty(area);
            list.draw(area, &mut Brush { buffer: &mut buffer, look: &look });
            buffer
                .content
                .chunks(usize::from(area.width))
                .map(|r| r.iter().map(ratatui::buffer::Cell::symbol).collect::<String>() + "\n")
                .collect::<String>()
        };
        let list = List { offers: &offers, chosen: 1, said: None };
        let text = shown(&list, Rect::new(0, 0, 80, 24));
        for word in ["quick", "✗ disk?[2J", "Refused on this node", "at most 1.2 GB of memory", "Enter start"] {
            assert!(text.contains(word), "{word} is not in\n{text}");
        }
        assert!(shown(&list, Rect::new(0, 0, 50, 10)).starts_with("terminal too small 50x10"));
        assert!(
            shown(&List { offers: &[], chosen: 0, said: None }, Rect::new(0, 0, 80, 24)).contains("there is no preset")
        );
    }
}
