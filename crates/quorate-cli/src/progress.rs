//! A progress bar on standard error: on a terminal only, and only for work longer than a second.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use quorate::context::Progress;

/// Work shorter than this shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bar that appears when the work has gone on for a while.
pub struct Bar {
    title: String,
    started: Instant,
    bar: Option<ProgressBar>,
}

impl Bar {
    /// A bar, or none where nobody would see it.
    pub fn new(title: &str, quiet: bool) -> Option<Self> {
        let seen = !quiet && std::io::stderr().is_terminal();
        seen.then(|| Self {
            title: title.to_owned(),
            started: Instant::now(),
            bar: None,
        })
    }

    /// Shows `done` of `total`, if the end is known.
    pub fn show(&mut self, stage: &str, done: u64, total: Option<u64>) {
        if self.bar.is_none() && self.started.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::new(0).with_elapsed(self.started.elapsed());
            bar.set_style(style(total.is_some()));
            bar.set_prefix(self.title.clone());
            bar
        });
        if bar.message() != stage {
            bar.set_style(style(total.is_some()));
            bar.set_message(stage.to_owned());
        }
        if let Some(total) = total {
            bar.set_length(total);
        }
        bar.set_position(done);
    }
}

impl Progress for Bar {
    fn update(&mut self, stage: &str, done: usize, total: Option<usize>) {
        self.show(stage, done as u64, total.map(|total| total as u64));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn style(known_end: bool) -> ProgressStyle {
    let template = match known_end {
        true => "{prefix}: {msg} {bar:30} {percent}% {elapsed} (at most {eta} left)",
        false => "{prefix}: {msg} {spinner} {elapsed}",
    };
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
