//! A progress bar on standard error: on a terminal only, and only for work longer than a second.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

#[cfg(feature = "lab")]
use indicatif::HumanDuration;
use indicatif::{ProgressBar, ProgressStyle};
use quorate::Progress;

/// Work shorter than this shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bar that appears when the work has gone on for a while.
pub struct Bar {
    title: String,
    started: Instant,
    bar: Option<ProgressBar>,
}

/// How often a bar of a long run is drawn anew while nothing is reported.
#[cfg(feature = "lab")]
const TICK: Duration = Duration::from_millis(500);

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

    /// Shows `done` of `total` seconds of expected work, with the time left by how fast it went so far; the
    /// clock runs on while nothing is reported.
    #[cfg(feature = "lab")]
    pub fn show_work(&mut self, stage: &str, done: f64, total: f64) {
        if self.bar.is_none() && self.started.elapsed() < PATIENCE {
            return;
        }
        let elapsed = self.started.elapsed();
        let pace = if done > 0.0 {
            elapsed.as_secs_f64() / done
        } else {
            1.0
        };
        let left = Duration::from_secs_f64((pace * (total - done)).clamp(0.0, 1e6));
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::new(1000).with_elapsed(elapsed);
            let template = "{prefix}: {msg} {bar:30} {percent}% {elapsed}";
            bar.set_style(
                ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
            );
            bar.set_prefix(self.title.clone());
            bar.enable_steady_tick(TICK);
            bar
        });
        bar.set_message(format!("{stage}, about {} left", HumanDuration(left)));
        bar.set_position((1000.0 * done / total) as u64);
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
    let template = if known_end {
        "{prefix}: {msg} {bar:30} {percent}% {elapsed} (at most {eta} left)"
    } else {
        "{prefix}: {msg} {spinner} {elapsed}"
    };
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
