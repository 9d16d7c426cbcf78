//! What a page says besides the fit: what the labels can tell, a verdict on every worker, intervals, a plan.

use quorate::agreement::AgreementSettings;
use quorate::diagnose::{Inspect, Inspection};
use quorate::intervals::{Intervals, ModelIntervals};
use quorate::plan::{Dispatch, Dispatched, MAX_WORKERS, Plan, Planned};
use quorate::{Annotations, Context, Fit, Result};

/// What a page says besides the fit.
#[derive(Debug, Clone)]
pub struct Evidence {
    /// What the labels can and cannot tell, with a verdict on every worker.
    pub inspection: Inspection,
    /// Intervals of class shares, where the fit has a model.
    pub intervals: Option<ModelIntervals>,
    /// What to label next, where the fit has a model.
    pub next: Option<NextLabels>,
}

/// What to label next, and when to stop.
#[derive(Debug, Clone)]
pub struct NextLabels {
    /// What was planned for.
    pub plan: Plan,
    /// Who should label what.
    pub planned: Planned,
    /// Labels that let every pair of workers be compared, where some pairs cannot be.
    pub dispatched: Option<Dispatched>,
    /// Whether there are too many workers, or too little memory, to look for those labels: more workers than
    /// [`MAX_WORKERS`].
    pub too_many_pairs: bool,
}

/// What the plan on a page is for.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PlanOptions {
    /// Labels to plan for; a tenth of the labels if not given.
    pub budget: Option<f64>,
    /// Error to reach; half of the estimated one if not given.
    pub target: Option<f64>,
}

impl Evidence {
    /// Gathers it for a fit.
    pub fn gather(
        annotations: &Annotations,
        fit: &Fit,
        options: &PlanOptions,
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
        let inspection = settings.run(annotations, fit, context)?;
        let (mut intervals, mut next) = (None, None);
        if let Some(model) = &fit.model {
            intervals = Some(Intervals::default().run(annotations, model, &fit.consensus, context)?);
            let pairs = inspection.connectivity.pairs.as_ref();
            let some_are_missing = pairs.is_none_or(|pairs| pairs.missing_share > 0.0);
            next = Some(NextLabels::plan(
                annotations,
                fit,
                options,
                some_are_missing,
                context,
            )?);
        }
        Ok(Self {
            inspection,
            intervals,
            next,
        })
    }
}

impl NextLabels {
    fn plan(
        annotations: &Annotations,
        fit: &Fit,
        options: &PlanOptions,
        pairs_are_missing: bool,
        context: &mut Context,
    ) -> Result<Self> {
        let tenth = (annotations.label_count() as f64 / 10.0).ceil().max(1.0);
        let half = fit.consensus.expected_error() / 2.0;
        let plan = Plan {
            target: options.target.or((half > 0.0).then_some(half)),
            ..Plan::new(options.budget.unwrap_or(tenth))
        };
        let planned = plan.run(annotations, fit, context)?;
        let mut dispatched = None;
        if pairs_are_missing && annotations.worker_count() <= MAX_WORKERS {
            let all = Dispatch::default().run(annotations, fit, context)?;
            dispatched = Some(all).filter(|all| all.out_of_reach_before.is_some());
        }
        Ok(Self {
            plan,
            planned,
            too_many_pairs: pairs_are_missing && dispatched.is_none(),
            dispatched: dispatched.filter(|all| all.designated.is_some()),
        })
    }
}
