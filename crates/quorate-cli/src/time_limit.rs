//! A limit on the time of one fit: it sets the flag that cancels the fit, as Ctrl-C does.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use crate::session::Session;

/// How often the watch looks whether the user cancelled.
const TICK: Duration = Duration::from_millis(20);

/// Watches a fit until it is dropped.
pub struct TimeLimit {
    flag: Arc<AtomicBool>,
    _running: Sender<()>,
}

impl TimeLimit {
    /// Starts a watch, if there is a limit. The flag is also set when the user cancels.
    pub fn start(seconds: Option<f64>, session: &Session) -> Option<Self> {
        let limit = Duration::try_from_secs_f64(seconds?).unwrap_or(Duration::MAX);
        let flag = Arc::new(AtomicBool::new(false));
        let (running, ended) = channel();
        let (watched, session, started) = (Arc::clone(&flag), session.clone(), Instant::now());
        std::thread::spawn(move || {
            while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                if started.elapsed() >= limit || session.is_cancelled() {
                    watched.store(true, Ordering::Relaxed);
                    return;
                }
            }
        });
        Some(Self {
            flag,
            _running: running,
        })
    }

    /// The flag that cancels the fit.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }
}
