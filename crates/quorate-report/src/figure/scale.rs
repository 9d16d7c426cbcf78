//! From numbers to places on an axis, and where the ticks stand.

use serde::Serialize;

/// How an axis is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Equal steps.
    Linear,
    /// Equal factors.
    Log,
}

/// An axis with its ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    scale: Scale,
    low: f64,
    high: f64,
}

impl Range {
    /// A range that holds all the numbers that can be shown; of nothing, 0 to 1 (1 to 10).
    pub(super) fn around(scale: Scale, values: impl Iterator<Item = f64>) -> Self {
        let inner: Vec<f64> = values
            .filter(|&value| shown(scale, value))
            .map(|value| inner(scale, value))
            .collect();
        let (mut low, mut high) = inner
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &value| {
                (low.min(value), high.max(value))
            });
        if inner.is_empty() {
            (low, high) = (0.0, 1.0);
        }
        if high - low < 1e-9 * high.abs().max(1e-9) {
            let half = if low == 0.0 { 0.5 } else { 0.1 * low.abs() };
            (low, high) = (low - half, high + half);
        }
        let margin = 0.03 * (high - low);
        // Zero is a place people look for: no margin below it.
        let bottom = if scale == Scale::Linear && low >= 0.0 && low - margin < 0.0 {
            0.0
        } else {
            low - margin
        };
        Self {
            scale,
            low: bottom,
            high: high + margin,
        }
    }

    /// The place of a number, 0 at the low end and 1 at the high end.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        shown(self.scale, value).then(|| (inner(self.scale, value) - self.low) / (self.high - self.low))
    }

    /// Where ticks stand, with their words.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        match self.scale {
            Scale::Linear => {
                let step = nice_step((self.high - self.low) / 5.0);
                let first = (self.low / step).ceil() as i64;
                let last = (self.high / step).floor() as i64;
                (first..=last)
                    .map(|tick| (tick as f64 * step, in_words(tick as f64 * step, step)))
                    .collect()
            }
            Scale::Log => {
                let (first, last) = (self.low.ceil() as i32, self.high.floor() as i32);
                let every = ((last - first) / 6 + 1).max(1);
                let mut ticks: Vec<_> = (first..=last)
                    .filter(|decade| decade.rem_euclid(every) == 0)
                    .map(|decade| (10f64.powi(decade), power(decade)))
                    .collect();
                if ticks.len() >= 2 {
                    return ticks;
                }
                // Less than two decades: 1, 2, 5 of each.
                let fine = (self.low.floor() as i32..=last)
                    .flat_map(|decade| [1.0, 2.0, 5.0].map(|lead| lead * 10f64.powi(decade)));
                ticks = fine
                    .filter(|&value| (self.low..=self.high).contains(&value.log10()))
                    .map(|value| (value, in_words(value, value)))
                    .collect();
                if ticks.len() >= 2 {
                    return ticks;
                }
                let ends = Self {
                    scale: Scale::Linear,
                    low: 10f64.powf(self.low),
                    high: 10f64.powf(self.high),
                };
                ends.ticks()
            }
        }
    }
}

fn shown(scale: Scale, value: f64) -> bool {
    value.is_finite() && (scale == Scale::Linear || value > 0.0)
}

fn inner(scale: Scale, value: f64) -> f64 {
    match scale {
        Scale::Linear => value,
        Scale::Log => value.log10(),
    }
}

/// The smallest of 1, 2, 5 times a power of ten that is not below `step`.
fn nice_step(step: f64) -> f64 {
    let decade = 10f64.powf(step.log10().floor());
    let leads = [1.0, 2.0, 5.0, 10.0].map(|lead| lead * decade);
    leads
        .into_iter()
        .find(|&candidate| candidate >= step * (1.0 - 1e-9))
        .unwrap_or(10.0 * decade)
}

/// With as many decimals as the step needs.
fn in_words(value: f64, step: f64) -> String {
    let decimals = (-step.abs().log10().floor()).clamp(0.0, 9.0) as usize;
    format!("{value:.decimals$}")
}

fn power(decade: i32) -> String {
    match decade {
        0 => "1".into(),
        1 => "10".into(),
        2 => "100".into(),
        _ => {
            let digits = decade.to_string();
            let raised = digits.chars().map(|digit| match digit {
                '-' => '\u{207b}',
                '1' => '\u{b9}',
                '2' => '\u{b2}',
                '3' => '\u{b3}',
                other => char::from_u32(0x2070 + other as u32 - '0' as u32).unwrap_or(other),
            });
            format!("10{}", raised.collect::<String>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_inside_and_ticks_are_round() {
        let range = Range::around(Scale::Linear, [0.0, 97.0, f64::NAN].into_iter());
        assert_eq!(range.place(0.0), Some(0.0));
        let words: Vec<String> = range.ticks().into_iter().map(|tick| tick.1).collect();
        assert_eq!(words, ["0", "20", "40", "60", "80"]);
        let log = Range::around(Scale::Log, [1e-6, 1.0, 0.0, -3.0].into_iter());
        assert!(log.place(1e-6).unwrap() > 0.0 && log.place(1.0).unwrap() < 1.0);
        assert_eq!(log.place(0.0), None);
        let words: Vec<String> = log.ticks().into_iter().map(|tick| tick.1).collect();
        assert_eq!(words, ["10⁻⁶", "10⁻⁴", "10⁻²", "1"]);
    }

    #[test]
    fn small_and_empty_ranges_have_ticks() {
        for values in [vec![], vec![3.0], vec![0.0], vec![0.2, 0.6]] {
            for scale in [Scale::Linear, Scale::Log] {
                let ticks = Range::around(scale, values.iter().copied()).ticks();
                assert!((1..12).contains(&ticks.len()), "{values:?} {scale:?}: {ticks:?}");
            }
        }
    }
}
