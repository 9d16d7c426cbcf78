//! Times and memory.

use std::time::Instant;

/// A run longer than this is not repeated.
const LONG: f64 = 2.0;

/// The shortest of `runs` runs, in seconds, and the last result; long runs are not repeated.
pub fn best_of<T>(runs: usize, mut work: impl FnMut() -> anyhow::Result<T>) -> anyhow::Result<(f64, T)> {
    let mut best = f64::INFINITY;
    let mut last = None;
    for _ in 0..runs.max(1) {
        let started = Instant::now();
        let result = work()?;
        best = best.min(started.elapsed().as_secs_f64());
        last = Some(result);
        if best > LONG {
            break;
        }
    }
    last.map(|result| (best, result))
        .ok_or_else(|| anyhow::anyhow!("no run"))
}

/// The shortest times of several runs, in seconds: by the clock, and of all threads together.
#[derive(Debug, Clone, Copy)]
pub struct Best {
    pub wall: f64,
    pub cpu: f64,
}

impl Default for Best {
    fn default() -> Self {
        Self {
            wall: f64::INFINITY,
            cpu: f64::INFINITY,
        }
    }
}

impl Best {
    /// Does the work and notes how long it took.
    pub fn note<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let (started, used) = (Instant::now(), cpu_seconds());
        let result = work();
        self.wall = self.wall.min(started.elapsed().as_secs_f64());
        self.cpu = self.cpu.min(cpu_seconds() - used);
        result
    }
}

/// Largest resident memory of this process so far, in MB; none where the system does not tell.
pub fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes / 1024.0)
}

/// `12.3 ms` or `1.23 s`.
pub fn seconds(value: f64) -> String {
    if value < 1.0 {
        format!("{:.1} ms", 1e3 * value)
    } else {
        format!("{value:.2} s")
    }
}

/// CPU time of this process and its threads so far, in seconds; 0 where the system does not tell.
fn cpu_seconds() -> f64 {
    let Ok(stat) = std::fs::read_to_string("/proc/self/stat") else {
        return 0.0;
    };
    // Behind the name in brackets: user and system time are fields 14 and 15 of the line, in hundredths of a
    // second.
    let fields = stat.rsplit(')').next().unwrap_or("").split_whitespace();
    let ticks = fields
        .skip(11)
        .take(2)
        .filter_map(|field| field.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}
