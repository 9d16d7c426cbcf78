//! What a page says besides the fit: what the labels can tell, a verdict on every worker, intervals, a plan.

use quorate::agreement::AgreementSettings;
use quorate::diagnose::{Inspect, Inspection, WorkerVerdict};
use quorate::intervals::{Intervals, ModelIntervals};
use quorate::plan::{Plan, Planned};
use quorate::{Annotations, Context, Fit, Result};

/// What a page says besides the fit.
#[derive(Debug, Clone)]
pub struct Evidence {
    /// What the labels can and cannot tell.
    pub inspection: Inspection,
    /// What each worker is like, the worst first.
    pub verdicts: Vec<WorkerVerdict>,
    /// Intervals of class shares, where the fit has a model.
    pub intervals: Option<ModelIntervals>,
    /// Who should label what next, where the fit has a model.
    pub plan: Option<Planned>,
}

impl Evidence {
    /// Gathers it for a fit. `budget`: labels to plan for; a tenth of the labels if not given.
    pub fn gather(
        annotations: &Annotations,
        fit: &Fit,
        budget: Option<f64>,
        context: &mut Context,
    ) -> Result<Self> {
        let settings = Inspect {
            // The page shows no coefficients with intervals.
            agreement: AgreementSettings {
                replicates: 0,
                ..AgreementSettings::default()
            },
            ..Inspect::default()
        };
        let inspection = settings.run(annotations, context)?;
        let verdicts = settings.judge_workers(annotations, context)?;
        let (mut intervals, mut plan) = (None, None);
        if let Some(model) = &fit.model {
            intervals = Some(Intervals::default().run(annotations, model, &fit.consensus, context)?);
            let tenth = (annotations.label_count() as f64 / 10.0).ceil().max(1.0);
            plan = Some(Plan::new(budget.unwrap_or(tenth)).run(annotations, fit, context)?);
        }
        Ok(Self {
            inspection,
            verdicts,
            intervals,
            plan,
        })
    }
}
