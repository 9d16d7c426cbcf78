//! What can be known from a table of labels, and what stands in the way.
//!
//! | question | file |
//! |---|---|
//! | who shares tasks with whom; which pairs are missing, which can be imputed? | `connectivity` |
//! | do the answers show as many classes as the table has? | `spectrum` |
//! | is some worker a reliable sign of each class? | `specialists` |
//! | is it clear which component is which class? | [`align_classes`] on a fit |
//! | who answers at random? | `spammers` |
//! | who always answers the same, is careless or systematically wrong? | `worker_kinds` |
//! | what is each worker like, the worst first? | `verdicts`, [`Inspect::judge_workers`] |
//! | who makes the same errors as someone else: copies, rings? | `shared_errors`, `copy_groups` |
//! | how many independent labels are the labels of a task worth? | `effective_labels` |
//!
//! Workers are always compared with what the *others* say (`others`), many tests at once are corrected
//! (`discoveries.rs`), and each answer is a [`Finding`]: a sentence, what to do, and the numbers. Nothing here
//! changes labels: what to do about a finding is for people to decide.
//!
//! Time is linear in labels, or in pairs of labels on the same task where pairs are asked about; beyond
//! stated limits pairs are sampled or left out, and a finding says so.

mod answer_tables;
mod connectivity;
mod copy_groups;
mod discoveries;
mod effective_labels;
mod finding;
mod findings;
mod others;
mod overview;
mod shared_errors;
mod spammers;
mod specialists;
mod spectrum;
mod verdicts;
mod worker_kinds;

pub use finding::{Finding, FindingKind, Severity};
pub use verdicts::{WorkerVerdict, WorkerVerdictKind};
// The numbers behind the findings, for the faces of this workspace.
#[doc(hidden)]
pub use self::{
    connectivity::{Connectivity, PairFacts},
    copy_groups::CopyGroups,
    effective_labels::EffectiveLabels,
    overview::Overview,
    shared_errors::{Baseline, PairErrors},
    specialists::Specialist,
    spectrum::Spectrum,
    worker_kinds::WorkerCheck,
};

use worker_kinds::SHARE_OF_TYPICAL;

use crate::agreement::{AgreementReport, AgreementSettings};
use crate::annotations::{Annotations, TableSummary};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::methods::Fit;
use crate::model::align_classes;
use crate::special::distributions;

/// How to inspect a table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Inspect {
    /// How agreement is measured.
    pub agreement: AgreementSettings,
    /// Share of false alarms among the workers, and among the pairs, that are flagged.
    pub false_discovery_rate: f64,
    /// Least number of shared tasks for a pair of workers to be tested for common errors.
    pub min_shared: u32,
}

impl Default for Inspect {
    fn default() -> Self {
        Self {
            agreement: AgreementSettings::default(),
            false_discovery_rate: 0.01,
            min_shared: 10,
        }
    }
}

/// What was found out about a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Inspection {
    /// What is in the table.
    pub summary: TableSummary,
    /// How far workers agree.
    pub agreement: AgreementReport,
    /// Who shares tasks with whom.
    pub connectivity: Connectivity,
    /// What needs at least two classes; None with one, or where confusion matrices would not fit into memory.
    pub structure: Option<Structure>,
    /// A verdict on every worker, the worst first.
    pub verdicts: Vec<WorkerVerdict>,
    /// What is worth saying, the gravest first.
    pub findings: Vec<Finding>,
}

/// What the answers tell about classes and workers.
#[derive(Debug, Clone, PartialEq)]
#[doc(hidden)]
pub struct Structure {
    /// Eigenvalues of the co-occurrences; None if the table is too large for them.
    pub spectrum: Option<Spectrum>,
    /// The most reliable sign of every class.
    pub specialists: Vec<Specialist>,
    /// By how much the chosen naming of the classes beats the next best one, in expected right answers a
    /// label and class concerned: 0 a toss-up, 2 as clear as can be.
    pub alignment_margin: f64,
    /// All workers with enough labels on tasks that others labelled too.
    pub workers: Vec<WorkerCheck>,
    /// Informativeness of the typical worker.
    pub typical_informativeness: f64,
    /// Workers who err together.
    pub copies: CopyGroups,
    /// What the labels of a task are worth.
    pub effective: EffectiveLabels,
}

impl Inspect {
    /// Inspects a table, of which `fit` is a fit: accuracies are by its labels. The same table, settings and seed give the same bits, for any number of threads.
    ///
    /// ```
    /// use quorate::Context;
    /// use quorate::diagnose::{FindingKind, Inspect};
    /// use quorate::simulate::{Amount, Coverage, Quality, Simulation};
    ///
    /// let crowd = Simulation {
    ///     quality: Quality::Accuracy { lowest: 0.7, highest: 0.9, concentration: 1.0 },
    ///     uniform_spammers: Amount::Number(1),
    ///     coverage: Coverage::PerTask(7),
    ///     ..Simulation::default()
    /// }
    /// .run(1)?;
    /// let fit = quorate::aggregate(&crowd.annotations)?;
    /// let inspection = Inspect::default().run(&crowd.annotations, &fit, &mut Context::new(0))?;
    /// let spammers = inspection.findings.iter().find(|finding| finding.kind == FindingKind::Spammers);
    /// assert_eq!(spammers.unwrap().workers.len(), 1);
    /// # Ok::<(), quorate::Error>(())
    /// ```
    pub fn run(&self, annotations: &Annotations, fit: &Fit, context: &mut Context) -> Result<Inspection> {
        self.check()?;
        let mut inspection = Inspection {
            summary: annotations.summary(),
            agreement: self.agreement.measure(annotations, context)?,
            connectivity: connectivity::connectivity(annotations, context),
            structure: None,
            verdicts: Vec::new(),
            findings: Vec::new(),
        };
        if annotations.class_count() > 1 && fits(annotations, context) {
            let (structure, verdicts) = self.structure(annotations, fit, context)?;
            (inspection.structure, inspection.verdicts) = (Some(structure), verdicts);
        } else {
            inspection.verdicts = verdicts::judge_nobody(annotations, fit);
        }
        inspection.findings = findings::collect(&inspection, annotations);
        Ok(inspection)
    }

    /// A verdict on every worker, the worst first, without the rest of the inspection.
    ///
    /// ```
    /// use quorate::Context;
    /// use quorate::diagnose::{Inspect, WorkerVerdictKind};
    /// use quorate::simulate::{Amount, Coverage, Quality, Simulation};
    ///
    /// let crowd = Simulation {
    ///     quality: Quality::Accuracy { lowest: 0.7, highest: 0.9, concentration: 1.0 },
    ///     uniform_spammers: Amount::Number(1),
    ///     coverage: Coverage::PerTask(7),
    ///     ..Simulation::default()
    /// }
    /// .run(1)?;
    /// let fit = quorate::aggregate(&crowd.annotations)?;
    /// let verdicts = Inspect::default().judge_workers(&crowd.annotations, &fit, &mut Context::new(0))?;
    /// assert_eq!(verdicts[0].kind, WorkerVerdictKind::Spammer);
    /// # Ok::<(), quorate::Error>(())
    /// ```
    pub fn judge_workers(
        &self,
        annotations: &Annotations,
        fit: &Fit,
        context: &mut Context,
    ) -> Result<Vec<WorkerVerdict>> {
        self.check()?;
        if annotations.class_count() < 2 || !fits(annotations, context) {
            return Ok(verdicts::judge_nobody(annotations, fit));
        }
        let level = self.false_discovery_rate;
        let (copies, _, tables) = copy_groups::find_groups(annotations, self.min_shared, level, context)?;
        let (checks, typical) = context.run(|| worker_kinds::check_workers(&tables, level));
        let checks = (&checks[..], SHARE_OF_TYPICAL * typical);
        Ok(verdicts::judge(annotations, fit, &tables, checks, &copies.groups))
    }

    fn check(&self) -> Result<()> {
        if self.false_discovery_rate > 0.0 && self.false_discovery_rate < 1.0 {
            Ok(())
        } else {
            Err(Error::Parameter {
                name: "false_discovery_rate".into(),
                problem: format!(
                    "{} found, expected a number between 0 and 1",
                    self.false_discovery_rate
                ),
            })
        }
    }

    fn structure(
        &self,
        annotations: &Annotations,
        fit: &Fit,
        context: &mut Context,
    ) -> Result<(Structure, Vec<WorkerVerdict>)> {
        let spectrum = spectrum::spectrum(annotations, context)?;
        let level = self.false_discovery_rate;
        let (copies, others, tables) =
            copy_groups::find_groups(annotations, self.min_shared, level, context)?;
        let (workers, typical_informativeness) = context.run(|| worker_kinds::check_workers(&tables, level));
        let checks = (&workers[..], SHARE_OF_TYPICAL * typical_informativeness);
        let verdicts = verdicts::judge(annotations, fit, &tables, checks, &copies.groups);
        let structure = Structure {
            spectrum,
            specialists: specialists::specialists(&tables, annotations.class_count()),
            alignment_margin: align_classes(&others.model, &annotations.labels_per_worker()).margin,
            workers,
            typical_informativeness,
            effective: effective_labels::effective_labels(annotations, copies.error_correlation),
            copies,
        };
        Ok((structure, verdicts))
    }
}

/// Whether the confusion matrices of all workers, held a few times over, fit into the context's memory.
fn fits(annotations: &Annotations, context: &Context) -> bool {
    let (classes, workers) = (
        annotations.class_count() as u64,
        annotations.worker_count() as u64,
    );
    let rows = annotations.task_count() as u64 * classes;
    let needed = 8 * (8 * workers * classes * classes + 3 * rows);
    context.reserve("confusion matrices", needed, "").is_ok()
}

#[cfg(test)]
mod tests;
