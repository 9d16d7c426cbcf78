//! Simulated panels of judges with known truth, and what `quorate::judges` makes of them: the same
//! experiments for tests and for `quorate-bench judges`.

use quorate::Context;
use quorate::internal::seeded;
use quorate::intervals::Interval;
use quorate::judges::{Judges, Panel, PanelReport};
use rand::{Rng, RngExt};

/// A panel with known truth, classes `fail` (0) and `pass` (1).
pub struct SimulatedPanel {
    /// What the judges said.
    pub panel: Panel,
    /// The truth of every item.
    pub truth: Vec<usize>,
    /// The share of good items in the source that items were drawn from.
    pub share: f64,
}

/// A judge: the probability of a right answer on bad and on good items.
pub type Rates = [f64; 2];

/// A panel to draw.
#[derive(Clone)]
pub struct PanelPlan {
    /// Number of items.
    pub items: usize,
    /// Share of good items.
    pub share: f64,
    /// Judges who err independently.
    pub independent: Vec<Rates>,
    /// Judges of these rates who give the answer of one hidden judge of the same rates with this probability,
    /// and else their own.
    pub copies: Option<(usize, f64, Rates)>,
    /// Share of answers that fail.
    pub failures: f64,
}

impl PanelPlan {
    /// Draws the panel.
    pub fn draw(&self, seed: u64) -> SimulatedPanel {
        let mut rng = seeded(seed, 77);
        let mut rows = Vec::new();
        let mut truths = Vec::new();
        for item in 0..self.items {
            let truth = usize::from(rng.random::<f64>() < self.share);
            truths.push(truth);
            let mut answers: Vec<usize> = self
                .independent
                .iter()
                .map(|rates| answer(truth, rates, &mut rng))
                .collect();
            if let Some((copies, rate, rates)) = &self.copies {
                let hidden = answer(truth, rates, &mut rng);
                for _ in 0..*copies {
                    let own = answer(truth, rates, &mut rng);
                    answers.push(if rng.random::<f64>() < *rate { hidden } else { own });
                }
            }
            for (judge, answer) in answers.into_iter().enumerate() {
                let failed = rng.random::<f64>() < self.failures;
                let word = if failed { "" } else { ["fail", "pass"][answer] };
                rows.push((format!("q{item}"), format!("j{judge:02}"), word));
            }
        }
        SimulatedPanel {
            panel: Panel::from_rows(rows).unwrap(),
            truth: truths,
            share: self.share,
        }
    }

    /// The number of independent judges that the panel is worth: errors of two copies have the correlation
    /// `rate^2`.
    pub fn effective_judges(&self) -> f64 {
        let of_copies = self.copies.as_ref().map_or(0.0, |(copies, rate, _)| {
            let copies = *copies as f64;
            copies / (1.0 + (copies - 1.0) * rate * rate)
        });
        self.independent.len() as f64 + of_copies
    }
}

fn answer(truth: usize, rates: &Rates, rng: &mut impl Rng) -> usize {
    if rng.random::<f64>() < rates[truth] {
        truth
    } else {
        1 - truth
    }
}

impl SimulatedPanel {
    /// The panel with the truth of its first items known.
    pub fn with_gold(&self, items: usize) -> Panel {
        let known = self.truth.iter().take(items).enumerate();
        let gold: Vec<(u32, u16)> = known.map(|(item, &truth)| (item as u32, truth as u16)).collect();
        if gold.is_empty() {
            self.panel.clone()
        } else {
            self.panel.clone().map(|answers| answers.with_gold(gold)).unwrap()
        }
    }

    /// The report on the panel with the truth of its first items known.
    pub fn report(&self, gold: usize) -> PanelReport {
        let judges = Judges::default();
        judges.run(&self.with_gold(gold), &mut Context::new(1)).unwrap()
    }

    /// Share of wrong verdicts on the items from `first` on; an unscored item is wrong.
    pub fn error(&self, report: &PanelReport, first: usize) -> f64 {
        let verdicts = report.verdicts.iter().zip(&self.truth).skip(first);
        let wrong = verdicts
            .filter(|(verdict, truth)| verdict.label != Some(**truth))
            .count();
        wrong as f64 / (self.truth.len() - first) as f64
    }
}

/// Mean errors of a panel with copies and of the same panel without them.
#[derive(Debug, Clone, Copy)]
pub struct CopyErrors {
    /// Of three independent judges and the copies.
    pub with_copies: f64,
    /// Of the three alone.
    pub alone: f64,
    /// Of a majority vote of all.
    pub majority: f64,
}

/// Three independent judges who are right about 85 % of 400 items, and copies of a judge who is right about
/// 70 %.
pub fn three_and_copies(copies: usize, rate: f64, gold: usize, panels: u64) -> CopyErrors {
    let three = PanelPlan {
        items: 400,
        share: 0.5,
        independent: vec![[0.85; 2]; 3],
        copies: None,
        failures: 0.0,
    };
    let all = PanelPlan {
        copies: Some((copies, rate, [0.7; 2])),
        ..three.clone()
    };
    let mut errors = CopyErrors {
        with_copies: 0.0,
        alone: 0.0,
        majority: 0.0,
    };
    for seed in 0..panels {
        let panel = all.draw(seed);
        let report = panel.report(gold);
        errors.with_copies += panel.error(&report, gold) / panels as f64;
        errors.majority += majority_error(&panel, gold) / panels as f64;
        // The same three judges on the same items.
        let alone = SimulatedPanel {
            panel: first_judges(&panel.panel, 3),
            truth: panel.truth.clone(),
            share: panel.share,
        };
        errors.alone += alone.error(&alone.report(gold), gold) / panels as f64;
    }
    errors
}

fn first_judges(panel: &Panel, judges: usize) -> Panel {
    let names: Vec<String> = (0..judges).map(|judge| format!("j{judge:02}")).collect();
    let keep = |name: &str| names.iter().any(|kept| kept == name);
    let table = panel.annotations().keep_workers(keep).unwrap();
    Panel::new(table, Vec::new()).unwrap()
}

/// Ties count half.
fn majority_error(panel: &SimulatedPanel, first: usize) -> f64 {
    let annotations = panel.panel.annotations();
    let wrong: f64 = (first..panel.truth.len())
        .map(|item| {
            let right = annotations
                .labels_of_task(item)
                .filter(|&(_, x)| x == panel.truth[item])
                .count();
            match (2 * right).cmp(&annotations.labels_of_task(item).len()) {
                std::cmp::Ordering::Less => 1.0,
                std::cmp::Ordering::Equal => 0.5,
                std::cmp::Ordering::Greater => 0.0,
            }
        })
        .sum();
    wrong / (panel.truth.len() - first) as f64
}

/// Mean distance of the effective number of judges from the known one, over the known one.
pub fn effective_distance(plan: &PanelPlan, gold: usize, panels: u64) -> f64 {
    let known = plan.effective_judges();
    let distance = |seed: u64| (plan.draw(seed).report(gold).dependence.effective_judges / known - 1.0).abs();
    (0..panels).map(distance).sum::<f64>() / panels as f64
}

/// How often the intervals of the share of good items hold it.
#[derive(Debug, Clone, Copy, Default)]
pub struct ShareCoverage {
    /// Panels.
    pub panels: usize,
    /// Panels in which the model's interval holds the share, and panels in which it has one.
    pub model: (usize, usize),
    /// The same for Rogan and Gladen's estimate.
    pub rogan_gladen: (usize, usize),
    /// Panels in which the plain share of verdicts with Wilson's interval holds it.
    pub uncorrected: usize,
}

/// Panels of 3 to 6 independent judges with rates from 0.65 to 0.95, every other one with 2 to 4 copies
/// besides (9 answers of 10), shares of good items from 0.2 to 0.8, 200, 400 or 800 items, 3 % failures.
pub fn share_coverage(gold: usize, panels: u64) -> ShareCoverage {
    let mut coverage = ShareCoverage::default();
    for seed in 0..panels {
        let mut rng = seeded(seed, 5);
        let mut rates = || [rng.random_range(0.65..0.95), rng.random_range(0.65..0.95)];
        let drawn = [rates(), rates(), rates(), rates(), rates(), rates(), rates()];
        let independent = rng.random_range(3..=6);
        let copies = match seed % 2 {
            0 => None,
            _ => Some((rng.random_range(2..=4), 0.9, drawn[6])),
        };
        let plan = PanelPlan {
            items: [200, 400, 800][rng.random_range(0..3)],
            share: rng.random_range(0.2..0.8),
            independent: drawn[..independent].to_vec(),
            copies,
            failures: 0.03,
        };
        let panel = plan.draw(seed);
        let found = panel.report(gold).prevalence[1];
        let holds =
            |interval: Interval| usize::from(interval.low <= panel.share && panel.share <= interval.high);
        coverage.panels += 1;
        for (tally, interval) in [
            (&mut coverage.model, found.model),
            (&mut coverage.rogan_gladen, found.rogan_gladen),
        ] {
            if let Some(interval) = interval {
                tally.0 += holds(interval);
                tally.1 += 1;
            }
        }
        let (low, high) = quorate::evaluate::wilson_interval(found.verdicts as f64, panel.truth.len());
        coverage.uncorrected += usize::from(low <= panel.share && panel.share <= high);
    }
    coverage
}
