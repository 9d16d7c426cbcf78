//! Panels of judges, language models above all: few judges, many items, failures, errors in common.
//!
//! | question | file |
//! |---|---|
//! | what did each judge say, how often, and where did it fail? | `panel`, `answers` |
//! | which judges answer as one? | `similarity`, `voices` |
//! | what is the verdict on each item, and how sure? | `posterior`, `readings`, `verdict` |
//! | how strict, consistent and right is each judge? | `judge` |
//! | how much do judges err together, and how many independent ones is the panel worth? | `dependence` |
//! | what share of the items is good? | `prevalence` |
//! | whom to drop, and what would one more judge buy? | `changes` |
//! | what can the labels not tell? | `finding` |
//!
//! Copies of one judge must not outvote independent ones, so judges who err together count as one voice. A
//! verdict's probability is a mean over what is not known about the judges, and over the readings that the
//! labels leave open.
//!
//! ```
//! use quorate::Context;
//! use quorate::judges::{Judges, Panel};
//!
//! let answers = ["pass", "fail", "pass", "pass", "fail", "pass"];
//! let rows = answers.iter().enumerate().flat_map(|(item, &answer)| {
//!     ["a", "b", "c"].map(|judge| (format!("q{item}"), judge, answer))
//! });
//! let report = Judges::default().run(&Panel::from_rows(rows)?, &mut Context::new(0))?;
//! assert_eq!(report.verdicts.len(), 6);
//! assert!(report.verdicts.iter().all(|verdict| verdict.confidence > 0.8));
//! # Ok::<(), quorate::Error>(())
//! ```

mod answers;
mod changes;
mod dependence;
mod finding;
mod judge;
mod panel;
mod posterior;
mod prevalence;
mod readings;
mod similarity;
mod verdict;
mod voices;

pub use changes::{PanelChanges, WithoutJudge};
pub use dependence::{Basis, Dependence};
pub use finding::PanelFinding;
pub use judge::{CountedShare, JudgeReport, SelfConsistency};
pub use panel::{Panel, PanelBuilder};
pub use prevalence::Prevalence;
pub use verdict::{Unscored, Verdict, VerdictPolicy};

use answers::{Patterns, given};
use changes::foresee;
use dependence::measure_dependence;
use judge::{count_share, report_judges};
use prevalence::{Rates, model_share, rogan_gladen};
use readings::{Readings, pinned, read_panel};
use verdict::decide;

use crate::calibrate::{CheckedLabels, ErrorBasis, ErrorEstimate};
use crate::linalg::small::largest;
use crate::{Context, Error, Result};

/// Failures of a judge above this share are pointed out.
const MANY_FAILURES: f64 = 0.1;

/// How to report on a panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Judges {
    /// How a verdict is reached.
    pub policy: VerdictPolicy,
    /// What an item without a verdict counts for.
    pub unscored: Unscored,
    /// Judges who must have answered for a verdict.
    pub quorum: usize,
}

impl Default for Judges {
    fn default() -> Self {
        Self {
            policy: VerdictPolicy::default(),
            unscored: Unscored::default(),
            quorum: 1,
        }
    }
}

/// What a panel says, and what to think of it.
#[derive(Debug, Clone, PartialEq)]
pub struct PanelReport {
    /// The verdict on every item, in order of task code.
    pub verdicts: Vec<Verdict>,
    /// Probabilities of the classes, `[item][class]`.
    pub probabilities: crate::model::Consensus,
    /// Every judge, in order of worker code.
    pub judges: Vec<JudgeReport>,
    /// How much judges err together.
    pub dependence: Dependence,
    /// The share of every class.
    pub prevalence: Vec<Prevalence>,
    /// Verdicts, as if no truth were known, that are the known truth.
    pub agreement_with_gold: Option<CountedShare>,
    /// How many verdicts on items whose truth is not known are wrong.
    pub error: ErrorEstimate,
    /// What would change with one judge less or more.
    pub changes: PanelChanges,
    /// What to know before the numbers.
    pub findings: Vec<PanelFinding>,
}

impl Judges {
    /// Reports on a panel. The same answers and seed give the same bits, for any number of threads and order
    /// of rows.
    pub fn run(&self, panel: &Panel, context: &mut Context) -> Result<PanelReport> {
        let annotations = panel.annotations();
        let classes = annotations.class_count();
        if let Unscored::As(class) = self.unscored
            && class >= classes
        {
            let problem = format!("found class {class}, and there are {classes}");
            return Err(Error::parameter("unscored", problem));
        }
        let cells = annotations.task_count() as u64 * (annotations.worker_count() + 4 * classes) as u64;
        let what = "the answers of all judges to all items";
        context.reserve(what, 16 * cells, "report on part of the items")?;
        let patterns = Patterns::of(panel);
        let readings = read_panel(&patterns, context)?;
        let first = readings.first();
        let mut free = readings.free();
        let dependence = measure_dependence(&patterns, &pinned(&patterns, &free), &first.voices);
        if dependence.basis != Basis::Verdicts {
            readings.temper(&mut free, dependence.between_voices);
        }
        let rows = pinned(&patterns, &free);
        let asked = count_asked(panel);
        let verdicts = self.verdicts(&patterns, &rows, &asked);
        let unpinned = self.verdicts(&patterns, &free, &asked);
        let by_item = |item: usize| rows[patterns.of_item[item] as usize * classes..][..classes].to_vec();
        let judges = report_judges(panel, &patterns, first);
        let changes = foresee(&patterns, first, &rows);
        let agreement_with_gold = agreement_with_gold(panel, &unpinned);
        let probabilities = (0..patterns.of_item.len()).flat_map(by_item).collect();
        Ok(PanelReport {
            probabilities: crate::model::Consensus::new(classes, probabilities),
            prevalence: self.prevalence(panel, &readings, &verdicts, &unpinned),
            error: estimate_error(agreement_with_gold.as_ref(), changes.error, verdicts.len()),
            agreement_with_gold,
            changes,
            findings: find(panel, &patterns, &readings, &dependence, &judges),
            verdicts,
            judges,
            dependence,
        })
    }

    fn verdicts(&self, patterns: &Patterns, rows: &[f64], asked: &[usize]) -> Vec<Verdict> {
        let mut votes = vec![0; patterns.classes];
        let verdict = |(&pattern, &asked): (&u32, &usize)| {
            let pattern = pattern as usize;
            let row = &rows[pattern * patterns.classes..][..patterns.classes];
            let answers = patterns.row(pattern);
            let answered = given(answers).count();
            let enough = answered >= self.quorum.max(1);
            let mut label = || decide(self.policy, row, answers, asked, &mut votes);
            let label = if enough { label() } else { None };
            let confidence = label.map_or_else(|| largest(row).max(0.0), |label| row[label]);
            Verdict {
                label,
                confidence,
                answered,
                asked,
            }
        };
        patterns.of_item.iter().zip(asked).map(verdict).collect()
    }

    fn prevalence(
        &self,
        panel: &Panel,
        readings: &Readings,
        verdicts: &[Verdict],
        unpinned: &[Verdict],
    ) -> Vec<Prevalence> {
        let annotations = panel.annotations();
        let unscored = verdicts.iter().filter(|verdict| verdict.label.is_none()).count();
        let denominator = match self.unscored {
            Unscored::LeftOut => verdicts.len() - unscored,
            Unscored::Kept | Unscored::As(_) => verdicts.len(),
        };
        let of_class = |class: usize| {
            let of_class = verdicts.iter().filter(|verdict| verdict.label == Some(class));
            let counted = self.unscored == Unscored::As(class);
            let count = of_class.count() + if counted { unscored } else { 0 };
            let (mut rates, mut called, mut items) = (Rates::default(), 0.0, 0.0);
            for (item, verdict) in unpinned.iter().enumerate() {
                let said = f64::from(u8::from(verdict.label == Some(class)));
                match annotations.gold(item) {
                    Some(truth) if truth == class => {
                        rates.positives += 1.0;
                        rates.hits += said;
                    }
                    Some(_) => {
                        rates.negatives += 1.0;
                        rates.false_alarms += said;
                    }
                    None => {
                        items += 1.0;
                        called += said;
                    }
                }
            }
            Prevalence {
                verdicts: count,
                observed: count as f64 / denominator.max(1) as f64,
                model: model_share(readings, class),
                rogan_gladen: rogan_gladen(called, items, rates),
            }
        };
        (0..annotations.class_count()).map(of_class).collect()
    }
}

/// Judges who were asked about each item: with an answer or a failure.
fn count_asked(panel: &Panel) -> Vec<usize> {
    let annotations = panel.annotations();
    let mut failed = panel.failures().to_vec();
    failed.sort_unstable();
    failed.dedup();
    let mut asked = vec![0; annotations.task_count()];
    for (item, asked) in asked.iter_mut().enumerate() {
        *asked = annotations.task_slices(item).0.chunk_by(|a, b| a == b).count();
    }
    for (item, judge) in failed {
        if !annotations.task_slices(item as usize).0.contains(&judge) {
            asked[item as usize] += 1;
        }
    }
    asked
}

/// By the verdicts on items of known truth where they are enough, else as the probabilities imply.
fn estimate_error(checked: Option<&CountedShare>, implied: f64, items: usize) -> ErrorEstimate {
    let basis = checked.map_or(ErrorBasis::Confidence, |checked| {
        let known = checked.items as u64;
        let right = (checked.share.estimate * checked.items as f64).round() as u64;
        ErrorBasis::Checked(CheckedLabels {
            known,
            wrong: known - right.min(known),
        })
    });
    ErrorEstimate::new(basis, implied, items as u64, 0)
}

fn agreement_with_gold(panel: &Panel, unpinned: &[Verdict]) -> Option<CountedShare> {
    let known = || panel.annotations().known_truths();
    let is_right = |&(item, truth): &(u32, u16)| unpinned[item as usize].label == Some(usize::from(truth));
    count_share(known().filter(is_right).count(), known().count())
}

fn find(
    panel: &Panel,
    patterns: &Patterns,
    readings: &Readings,
    dependence: &Dependence,
    judges: &[JudgeReport],
) -> Vec<PanelFinding> {
    let annotations = panel.annotations();
    let first = readings.first();
    let codes =
        |judges: &[usize]| -> Vec<usize> { judges.iter().map(|&judge| patterns.codes[judge]).collect() };
    let mut findings = Vec::new();
    if annotations.class_count() == 1 {
        findings.push(PanelFinding::OneClass);
    }
    if let Some(alike) = &readings.undecided {
        let outside = (0..patterns.judges).filter(|judge| !alike.contains(judge));
        let outside: Vec<usize> = outside.collect();
        findings.push(PanelFinding::CannotTell {
            alike: codes(alike),
            outside: codes(&outside),
        });
    } else if patterns.judges == 1 {
        findings.push(PanelFinding::OneJudge);
    } else if first.voices.len() == 2 && first.learnt.is_none() {
        findings.push(PanelFinding::TwoVoices);
    }
    if readings.undecided.is_none() {
        for voice in first.voices.iter().filter(|voice| voice.len() > 1) {
            findings.push(PanelFinding::OneVoice {
                judges: codes(voice),
                probability: readings.fits[0].0,
                by_gold: readings.weighed,
            });
        }
    }
    let asks = findings.iter().any(|finding| finding.remedy().is_some());
    if dependence.basis == Basis::Verdicts && !annotations.has_gold() && !asks {
        findings.push(PanelFinding::NoGold);
    }
    findings.extend(report_failures(judges));
    findings
}

/// Judges that fail often, in order of worker code.
fn report_failures(judges: &[JudgeReport]) -> Vec<PanelFinding> {
    let often = |report: &JudgeReport| {
        let share = report.failures as f64 / (report.failures + report.answers).max(1) as f64;
        let judge = report.judge;
        (share > MANY_FAILURES).then_some(PanelFinding::Failures { judge, share })
    };
    judges.iter().filter_map(often).collect()
}
