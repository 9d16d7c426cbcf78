//! Limits for pipelines: `--fail-below pass-rate=0.8,effective-judges=2`, and which end of an interval counts:
//! `--gate-on low|estimate|high`.

use std::str::FromStr;

use clap::ValueEnum;
use quorate::intervals::Interval;
use quorate::judges::PanelReport;

use super::words::pass_rate;

/// What of a number a gate looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GateOn {
    /// The lower end of its interval: passes only what is shown to be good enough
    Low,
    /// The estimate
    Estimate,
    /// The upper end of its interval: fails only what is shown to be too bad
    High,
}

/// A number of the report that must not be below a limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gate {
    number: Number,
    limit: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    PassRate,
    ObservedPassRate,
    Scored,
    Confidence,
    GoldAgreement,
    EffectiveJudges,
}

const NAMES: [(&str, Number); 6] = [
    ("pass-rate", Number::PassRate),
    ("observed-pass-rate", Number::ObservedPassRate),
    ("scored", Number::Scored),
    ("confidence", Number::Confidence),
    ("gold-agreement", Number::GoldAgreement),
    ("effective-judges", Number::EffectiveJudges),
];

impl FromStr for Gate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, limit) = text.split_once('=').unwrap_or(("pass-rate", text));
        let known = NAMES.iter().find(|(known, _)| *known == name.trim());
        let Some(&(_, number)) = known else {
            let names = NAMES.map(|(name, _)| name).join(", ");
            return Err(format!("there is no number {name:?}; expected one of {names}"));
        };
        let limit: f64 = limit
            .trim()
            .parse()
            .map_err(|_| format!("{limit:?} is not a number"))?;
        let most = match number {
            Number::EffectiveJudges => 1e6,
            _ => 1.0,
        };
        if !(0.0..=most).contains(&limit) {
            return Err(format!("found {limit}, expected a number from 0 to {most}"));
        }
        Ok(Self { number, limit })
    }
}

impl Gate {
    /// Why the gate does not hold; none if it does.
    pub(super) fn check(&self, report: &PanelReport, positive: usize, on: GateOn) -> Option<String> {
        let name = NAMES
            .iter()
            .find(|(_, number)| *number == self.number)
            .map_or("", |(name, _)| name);
        let Some(number) = self.number.of(report, positive) else {
            return Some(format!(
                "{name} cannot be known, and should be at least {}",
                self.limit
            ));
        };
        let (found, which) = match on {
            GateOn::Low => (number.low, " (lower end of its interval)"),
            GateOn::Estimate => (number.estimate, " (estimate)"),
            GateOn::High => (number.high, " (upper end of its interval)"),
        };
        let which = if number.low < number.high { which } else { "" };
        (found < self.limit).then(|| format!("{name} is {found:.3}{which}, below {}", self.limit))
    }
}

impl Number {
    /// The number with its interval, which has no width where none is known.
    fn of(self, report: &PanelReport, positive: usize) -> Option<Interval> {
        let exact = |number: f64| Interval {
            estimate: number,
            low: number,
            high: number,
        };
        let items = report.verdicts.len().max(1) as f64;
        let scored = || report.verdicts.iter().filter(|verdict| verdict.label.is_some());
        match self {
            Self::PassRate => {
                let found = pass_rate(report, positive);
                let (low, high) = found.interval.unwrap_or((found.estimate, found.estimate));
                Some(Interval {
                    estimate: found.estimate,
                    low,
                    high,
                })
            }
            Self::ObservedPassRate => Some(exact(report.prevalence[positive].observed)),
            Self::Scored => Some(exact(scored().count() as f64 / items)),
            Self::Confidence => {
                let sum: f64 = scored().map(|verdict| verdict.confidence).sum();
                Some(exact(sum / scored().count().max(1) as f64))
            }
            Self::GoldAgreement => report.agreement_with_gold.as_ref().map(|counted| counted.share),
            Self::EffectiveJudges => Some(exact(report.dependence.effective_judges)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_are_numbers_with_or_without_a_name() {
        let gate = |text: &str| text.parse::<Gate>();
        assert_eq!(gate("0.8").unwrap(), gate("pass-rate=0.8").unwrap());
        assert_eq!(gate("effective-judges=2.5").unwrap().limit, 2.5);
        for bad in [
            "80",
            "nothing=0.5",
            "pass-rate=x",
            "nan",
            "effective-judges=-1",
            "inf",
        ] {
            assert!(gate(bad).is_err(), "{bad}");
        }
    }
}
