//! What a simulated crowd is made of.

/// Settings of a simulated crowd. [`run`](Self::run) draws a [`Simulated`](super::Simulated) from them.
///
/// ```
/// use quorate::simulate::{Amount, Coverage, Quality, Simulation};
///
/// let crowd = Simulation {
///     tasks: 200,
///     quality: Quality::Accuracy { lowest: 0.6, highest: 0.9, concentration: 1.0 },
///     uniform_spammers: Amount::Share(0.2),
///     coverage: Coverage::PerTask(5),
///     ..Simulation::default()
/// }
/// .run(7)?;
/// assert_eq!(crowd.annotations.label_count(), 1000);
/// # Ok::<(), quorate::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Simulation {
    /// Number of tasks, N.
    pub tasks: usize,
    /// Number of workers, M.
    pub workers: usize,
    /// Number of classes, K.
    pub classes: usize,
    /// Probability of each class.
    pub prior: Prior,
    /// How good the ordinary workers are: those that are of no other kind.
    pub quality: Quality,
    /// Workers near the identity: every row k of the confusion matrix within `epsilon` of the unit vector
    /// `e_k` (Euclidean). The paper has one.
    pub experts: Amount,
    /// Workers for whom that holds in the row of one class, drawn for each; on the other classes their
    /// answers are no better than chance. (Of two classes, a specialist of one is an expert of both.)
    pub specialists: Amount,
    /// How near to the unit vectors the rows of experts and specialists are.
    pub epsilon: f64,
    /// Workers that answer every class equally often, whatever the truth.
    pub uniform_spammers: Amount,
    /// Workers that always answer the same class, drawn for each.
    pub constant_spammers: Amount,
    /// Workers that take each class for another one, drawn for each class, with probability
    /// `adversary_strength`; the rest is spread evenly over the other classes, the truth among them.
    pub adversaries: Amount,
    /// Probability that an adversary answers its wrong class: above `1/K`.
    pub adversary_strength: f64,
    /// How many labels there are.
    pub coverage: Coverage,
    /// Number of designated workers: they label with a probability of their own, and no pair with one of them
    /// is missing.
    pub designated: usize,
    /// Probability that a designated worker labels a task. Their labels come on top of those of
    /// [`Coverage::PerTask`].
    pub designated_probability: f64,
    /// Probability that a pair of workers shares no task. Who is apart is drawn first; then, task by task,
    /// labels are taken in random order and one is dropped if its worker is apart from one that was kept. So
    /// a task loses no more labels than needed and never all of them, but the labels get fewer:
    /// [`dropped_labels`](super::Simulated::dropped_labels). What came out is
    /// [`missing_pair_share`](super::Simulated::missing_pair_share).
    pub missing_pairs: f64,
    /// Exponent s of the activity of workers: the r-th busiest has weight `r^-s`, ranks drawn at random
    /// (0: all alike).
    pub activity_exponent: f64,
}

/// The probability of each class.
#[derive(Debug, Clone, PartialEq)]
pub enum Prior {
    /// The same for all classes.
    Uniform,
    /// Drawn from the symmetric Dirichlet distribution with this concentration.
    Dirichlet(f64),
    /// These.
    Given(Vec<f64>),
}

/// How good ordinary workers are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Quality {
    /// Columns drawn from the symmetric Dirichlet distribution with this concentration (the paper: 1).
    Dirichlet(f64),
    /// Accuracy drawn for each worker, the same for all classes; the errors of each class are shared out by a
    /// symmetric Dirichlet draw with this concentration (large: evenly).
    Accuracy {
        /// Lowest accuracy.
        lowest: f64,
        /// Highest accuracy.
        highest: f64,
        /// Concentration of the errors.
        concentration: f64,
    },
}

/// A number of workers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount {
    /// This many.
    Number(usize),
    /// This share of all workers, to the nearest whole number.
    Share(f64),
}

/// How many labels there are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Coverage {
    /// Each (task, worker) has a label with this probability. With unequal activity it is the mean over the
    /// workers; nobody's probability exceeds 1.
    Probability(f64),
    /// Each task has exactly this many labels of workers that are not designated.
    PerTask(usize),
}

impl Default for Simulation {
    fn default() -> Self {
        Self {
            tasks: 1000,
            workers: 25,
            classes: 3,
            prior: Prior::Dirichlet(1.0),
            quality: Quality::Dirichlet(1.0),
            experts: Amount::Number(1),
            specialists: Amount::Number(0),
            epsilon: 0.1,
            uniform_spammers: Amount::Number(0),
            constant_spammers: Amount::Number(0),
            adversaries: Amount::Number(0),
            adversary_strength: 0.8,
            coverage: Coverage::Probability(0.3),
            designated: 0,
            designated_probability: 0.8,
            missing_pairs: 0.0,
            activity_exponent: 0.0,
        }
    }
}

impl Amount {
    /// The number among this many workers.
    pub fn of(self, workers: usize) -> usize {
        match self {
            Self::Number(number) => number,
            Self::Share(share) => (share * workers as f64).round() as usize,
        }
    }
}

impl Simulation {
    /// Expected number of labels before any are dropped for missing pairs.
    pub fn expected_labels(&self) -> f64 {
        let ordinary = self.workers.saturating_sub(self.designated) as f64;
        let per_task = match self.coverage {
            Coverage::Probability(probability) => probability * ordinary,
            Coverage::PerTask(labels) => labels as f64,
        };
        self.tasks as f64 * (per_task + self.designated as f64 * self.designated_probability)
    }
}
