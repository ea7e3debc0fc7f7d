//! A sampler in a thread of its own: a read that waits for hardware, firmware or a lock holds up nobody else.

use std::io::{self, ErrorKind};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::time::{Duration, Instant};

use super::Sink;
use super::sink::Tape;

/// How long a reading is waited for when it was asked for; a healthy one is done by then.
const PATIENCE: Duration = Duration::from_millis(1);

/// Half the time between two full readings.
const EARLY: Duration = Duration::from_millis(500);

/// A source may take one part in so many of the time.
const SHARE: u32 = 200;

struct Done {
    tape: (Tape, u64),
    took: Duration,
    whole: bool,
}

pub(super) struct Sampler {
    source: &'static str,
    every: Duration,
    ask: SyncSender<()>,
    done: Receiver<Done>,
    busy: bool,
    due: Instant,
}

impl Sampler {
    /// Takes the sampler into a thread; it ends when this is dropped and the read that it is in has ended.
    pub(super) fn new(mut sampler: impl super::Sampler + 'static) -> Self {
        let (source, every) = (sampler.source(), Duration::from_secs(sampler.every().into()));
        let (ask, asked) = sync_channel::<()>(1);
        let (tell, done) = sync_channel(1);
        std::thread::spawn(move || {
            let mut sink = Sink::taping(source);
            while asked.recv().is_ok() {
                let begun = Instant::now();
                let whole = sampler.sample(&mut sink).is_ok() && !sink.is_in_part();
                let done = Done { tape: sink.take_tape(), took: begun.elapsed(), whole };
                if tell.send(done).is_err() {
                    return;
                }
            }
        });
        Self { source, every, ask, done, busy: false, due: Instant::now() }
    }
}

impl super::Sampler for Sampler {
    fn source(&self) -> &'static str {
        self.source
    }

    /// Puts the reading that has been finished meanwhile; there is none as long as the thread waits.
    fn sample(&mut self, into: &mut Sink) -> io::Result<()> {
        let now = Instant::now();
        let mut patience = Duration::ZERO;
        if !self.busy && now >= self.due {
            self.busy = self.ask.try_send(()).is_ok();
            patience = PATIENCE;
        }
        if !self.busy {
            return Err(ErrorKind::WouldBlock.into());
        }
        let done = match self.done.try_recv() {
            Err(TryRecvError::Empty) if !patience.is_zero() => self.done.recv_timeout(patience).ok(),
            got => got.ok(),
        };
        let Some(done) = done else { return Err(ErrorKind::WouldBlock.into()) };
        self.busy = false;
        // A little early rather than a second late: it is asked at each full reading.
        self.due = now + self.every.max(done.took * SHARE).saturating_sub(EARLY);
        into.play(done.tape);
        if !done.whole {
            into.in_part();
        }
        into.took(done.took);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::sampler::Sampler as _;
    use crate::vocab::event::SampleKind::Gauge;
    use crate::vocab::unit::Unit;

    struct Slow(Receiver<()>, f64);

    impl super::super::Sampler for Slow {
        fn source(&self) -> &'static str {
            "slow"
        }

        fn sample(&mut self, into: &mut Sink) -> io::Result<()> {
            self.0.recv().map_err(io::Error::other)?;
            self.1 += 1.0;
            into.put("x", &[("n", Gauge, Unit::Count, self.1)]);
            Ok(())
        }
    }

    #[test]
    fn a_reading_that_waits_holds_up_nobody_and_comes_later() {
        let (free, wait) = sync_channel(1);
        let mut aside = Sampler::new(Slow(wait, 0.0));
        let mut sink = Sink::default();
        sink.turn_to("slow", None);
        for _ in 0..3 {
            let begun = Instant::now();
            assert_eq!(aside.sample(&mut sink).unwrap_err().kind(), ErrorKind::WouldBlock);
            assert!(begun.elapsed() < Duration::from_secs(5));
        }
        free.send(()).unwrap();
        let mut tries = 0;
        while aside.sample(&mut sink).is_err() {
            std::thread::sleep(Duration::from_millis(1));
            tries += 1;
            assert!(tries < 10_000);
        }
        assert_eq!(sink.take().1.len(), 1);
        assert!(aside.sample(&mut sink).is_err(), "it is not due again yet");
    }
}
