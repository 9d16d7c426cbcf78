//! The fewest labels that let every pair of workers be compared.
//!
//! The co-occurrence of two workers m and j who share no task follows from three observed ones
//! (`R_mj = R_mr R_lr^-1 R_lj`, the paper's designated form) if there are workers r and l such that (m, r),
//! (r, l) and (l, j) share tasks: a walk of three steps. Pairs without such a walk are *out of reach*.
//!
//! 1. Find the pairs out of reach ([`reach`](super::reach)), and the workers that explain them: those in most
//!    such pairs first, until none is left (a greedy cover). Above [`MAX_WORKERS`](super::MAX_WORKERS)
//!    workers the pairs are not looked at; every worker without a walk to the designated pair counts.
//! 2. Choose two designated workers. By Theorem 1 the error of an imputed block grows with `1 / sigma_min^2`
//!    of the middle block and falls with `1 / sqrt(S)`: candidates are ranked by `sigma_min(A_m D^1/2)^2
//!    sqrt(labels)`, and of their pairs the one that needs fewest new labels is taken, if its
//!    `sigma_min(R_lr)` is at least half of the best.
//! 3. Attach the workers of step 1: each should share S tasks with both designated workers. A designated
//!    worker who labels a task attaches everybody on it at once; a worker who labels a task of both is
//!    attached to both by one label. Greedy: most attachments for each new label first.
//!
//! Then every walk goes m, l, r, j over the designated pair.

use super::assignment::OpenLabels;
use super::model_of;
use super::reach::Reach;
use crate::linalg::small::singular_values;
use crate::{Annotations, Context, DawidSkene, Error, Fit, Result};

/// Candidates for the designated pair.
const CANDIDATES: usize = 24;

/// Settings of a dispatch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dispatch {
    /// Tasks that a worker should share with each designated worker; None: 10, and at least twice the
    /// classes.
    pub shared: Option<u32>,
    /// The designated workers, if they are chosen already.
    pub designated: Option<(usize, usize)>,
    /// Pairs (task, worker) that must not be assigned.
    pub excluded: Vec<(u32, u32)>,
}

/// A dispatch.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Dispatched {
    /// The two designated workers; None if nothing has to be done.
    pub designated: Option<(usize, usize)>,
    /// Labels to collect: (task, worker).
    pub assignments: Vec<(usize, usize)>,
    /// Workers that are attached by them.
    pub attached: Vec<usize>,
    /// Pairs of workers out of reach before; None if there are too many workers, or too little memory, to
    /// look at every pair.
    pub out_of_reach_before: Option<u64>,
    /// Pairs out of reach once the labels are there.
    pub out_of_reach_after: Option<u64>,
}

impl Dispatch {
    /// Plans the labels. `fit` is a fit of the table by a method that returns a model.
    pub fn run(&self, annotations: &Annotations, fit: &Fit, context: &mut Context) -> Result<Dispatched> {
        let model = model_of(fit, annotations)?;
        context.step("planning", 0, None)?;
        let before = Reach::of(annotations, &[], context);
        let out_of_reach_before = before.as_ref().map(|reach| reach.pairs);
        if out_of_reach_before == Some(0) || annotations.worker_count() < 3 {
            return Ok(Dispatched {
                out_of_reach_before,
                out_of_reach_after: out_of_reach_before,
                ..Dispatched::default()
            });
        }
        let shared = self.shared.unwrap_or(10.max(2 * model.class_count() as u32));
        let needy = before.map(|reach| reach.cover(&[]));
        let pair = match self.designated {
            Some(pair) => check_pair(pair, annotations)?,
            None => choose_pair(annotations, model, needy.as_deref(), shared),
        };
        let mut attached = Vec::new();
        let mut attach = |needy: Option<&[usize]>, planned: &[(usize, usize)]| {
            let mut attaching = Attaching::new(annotations, pair, needy, shared, &self.excluded);
            planned
                .iter()
                .for_each(|&(task, worker)| attaching.plan(task, worker));
            attached.extend(attaching.in_need());
            attaching.by_designated_workers();
            attaching.one_by_one();
            attaching.planned
        };
        let mut assignments = attach(needy.as_deref(), &[]);
        context.step("planning", 1, Some(2))?;
        let mut after = Reach::of(annotations, &assignments, context);
        // Who is attached may still be out of reach of workers whom the cover did without: attach these, too.
        let mut tried = needy.unwrap_or_default();
        tried.extend([pair.0, pair.1]);
        let mut out_of_reach_after = after.as_ref().map(|reach| reach.pairs);
        while let Some(reach) = after.take().filter(|reach| reach.pairs > 0) {
            let needy = reach.cover(&tried);
            if needy.is_empty() {
                break;
            }
            assignments = attach(Some(&needy), &assignments);
            tried.extend(needy);
            after = Reach::of(annotations, &assignments, context);
            out_of_reach_after = after.as_ref().map(|reach| reach.pairs);
        }
        attached.sort_unstable();
        attached.dedup();
        attached.retain(|&worker| worker != pair.0 && worker != pair.1);
        Ok(Dispatched {
            designated: Some(pair),
            assignments,
            attached,
            out_of_reach_before,
            out_of_reach_after,
        })
    }
}

fn check_pair(pair: (usize, usize), annotations: &Annotations) -> Result<(usize, usize)> {
    let workers = annotations.worker_count();
    if pair.0 == pair.1 || pair.0.max(pair.1) >= workers {
        let problem = "expected two different workers of the table";
        return Err(Error::parameter("designated", problem));
    }
    Ok(pair)
}

/// The designated pair (step 2).
fn choose_pair(
    annotations: &Annotations,
    model: &DawidSkene,
    needy: Option<&[usize]>,
    shared: u32,
) -> (usize, usize) {
    let classes = model.class_count();
    let labels = annotations.labels_per_worker();
    let order = annotations.canonical_worker_order();
    let scaled = |worker: usize| -> Vec<f64> {
        let priors = model.prior().iter().cycle();
        let cells = model.confusion(worker).iter().zip(priors);
        cells.map(|(value, prior)| value * prior.sqrt()).collect()
    };
    let rank = |&worker: &u32| {
        let worker = worker as usize;
        let sigma = smallest_singular_value(&scaled(worker), classes);
        (sigma * sigma * f64::from(labels[worker]).sqrt(), worker)
    };
    let mut ranked: Vec<(f64, usize)> = order.iter().map(rank).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    ranked.truncate(CANDIDATES);
    let candidates: Vec<usize> = ranked.into_iter().map(|(_, worker)| worker).collect();
    let counts = candidates.iter().map(|&worker| shared_tasks(annotations, worker));
    let counts: Vec<Vec<u32>> = counts.collect();
    let everyone: Vec<usize> = (0..annotations.worker_count()).collect();
    let needy = needy.unwrap_or(&everyone);
    let mut pairs = Vec::new();
    for a in 0..candidates.len() {
        for b in a + 1..candidates.len() {
            let (l, r) = (candidates[a], candidates[b]);
            let sigma = smallest_singular_value(&model.co_occurrence(l, r), classes);
            let lacking = |of: usize, m: usize| u64::from(shared.saturating_sub(counts[of][m]));
            let others = needy.iter().filter(|&&m| m != l && m != r);
            let cost = lacking(a, r) + others.map(|&m| lacking(a, m) + lacking(b, m)).sum::<u64>();
            pairs.push((sigma, cost, (l, r)));
        }
    }
    let best = pairs.iter().map(|pair| pair.0).fold(0.0, f64::max);
    let good = pairs.iter().filter(|pair| pair.0 >= best / 2.0);
    good.min_by_key(|pair| pair.1).map_or((0, 1), |pair| pair.2)
}

fn smallest_singular_value(matrix: &[f64], classes: usize) -> f64 {
    let values = singular_values(matrix, classes);
    values.into_iter().fold(f64::INFINITY, f64::min)
}

/// Tasks that each worker shares with this one.
fn shared_tasks(annotations: &Annotations, worker: usize) -> Vec<u32> {
    let mut shared = vec![0; annotations.worker_count()];
    for (task, _) in annotations.by_worker().labels(worker) {
        for &j in annotations.task_slices(task).0 {
            shared[j as usize] += 1;
        }
    }
    shared
}

/// Workers being attached to the designated pair (step 3).
struct Attaching<'a> {
    annotations: &'a Annotations,
    pair: [usize; 2],
    open: OpenLabels<'a>,
    /// Tasks that each worker still has to share with each designated worker.
    lacking: [Vec<u32>; 2],
    /// Which designated workers are on each task.
    on_task: Vec<[bool; 2]>,
    planned: Vec<(usize, usize)>,
}

impl<'a> Attaching<'a> {
    fn new(
        annotations: &'a Annotations,
        (l, r): (usize, usize),
        needy: Option<&[usize]>,
        shared: u32,
        excluded: &[(u32, u32)],
    ) -> Self {
        let pair = [l, r];
        let counts = pair.map(|worker| shared_tasks(annotations, worker));
        let mut lacking = pair.map(|_| vec![0; annotations.worker_count()]);
        let everyone: Vec<usize> = (0..annotations.worker_count()).collect();
        for &m in needy.unwrap_or(&everyone) {
            for side in 0..2 {
                // Who shares nothing in a large crowd is attached; who shares a little is in reach.
                let listed = needy.is_some() || counts[side][m] == 0;
                if m != pair[side] && listed {
                    lacking[side][m] = shared.saturating_sub(counts[side][m]);
                }
            }
        }
        // The pair itself is the middle of every walk.
        let between = shared.saturating_sub(counts[0][r]);
        lacking[0][r] = between;
        lacking[1][l] = between;
        let mut on_task = vec![[false; 2]; annotations.task_count()];
        for (side, &worker) in pair.iter().enumerate() {
            let labels = annotations.by_worker().labels(worker);
            labels.for_each(|(task, _)| on_task[task][side] = true);
        }
        Self {
            annotations,
            pair,
            open: OpenLabels::new(annotations, excluded),
            lacking,
            on_task,
            planned: Vec::new(),
        }
    }

    fn in_need(&self) -> Vec<usize> {
        let lacks = |&m: &usize| self.lacking[0][m] > 0 || self.lacking[1][m] > 0;
        (0..self.annotations.worker_count()).filter(lacks).collect()
    }

    /// Plans a label and counts whom it attaches.
    fn plan(&mut self, task: usize, worker: usize) {
        let added = self.open.planned.entry(task).or_default();
        if let Some(side) = self.pair.iter().position(|&designated| designated == worker) {
            self.on_task[task][side] = true;
            let labelled = self.annotations.task_slices(task).0.iter().map(|&m| m as usize);
            for m in labelled.chain(added.iter().copied()) {
                self.lacking[side][m] = self.lacking[side][m].saturating_sub(1);
            }
        }
        for side in 0..2 {
            if self.on_task[task][side] && self.pair[side] != worker {
                self.lacking[side][worker] = self.lacking[side][worker].saturating_sub(1);
            }
        }
        added.push(worker);
        self.planned.push((task, worker));
    }

    /// Attachments that the missing designated workers of a task would bring, and how many of them miss.
    fn worth(&self, task: usize) -> (u32, u32) {
        let (mut attachments, mut labels) = (0, 0);
        for side in 0..2 {
            if self.on_task[task][side] || !self.open.allows(task, self.pair[side]) {
                continue;
            }
            let on_it = self.annotations.task_slices(task).0.iter();
            let gained = on_it.filter(|&&m| self.lacking[side][m as usize] > 0).count() as u32;
            if gained > 0 {
                attachments += gained;
                labels += 1;
            }
        }
        (attachments, labels)
    }

    /// Lets designated workers label tasks of several workers in need, the most attachments a label first.
    fn by_designated_workers(&mut self) {
        let ratio = |(attachments, labels): (u32, u32)| f64::from(attachments) / f64::from(labels.max(1));
        let worths = (0..self.annotations.task_count()).map(|task| (ratio(self.worth(task)), task));
        let mut tasks: Vec<(f64, usize)> = worths.filter(|&(ratio, _)| ratio > 2.0).collect();
        let names = self.annotations.tasks();
        let sort = |tasks: &mut Vec<(f64, usize)>| {
            let by_name = |a: usize, b: usize| names.get(a).cmp(names.get(b));
            tasks.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| by_name(a.1, b.1)));
        };
        sort(&mut tasks);
        // Worth only falls, so a task that still has its worth is the best one; others wait for the next
        // round.
        while !tasks.is_empty() {
            let mut later = Vec::new();
            for (before, task) in tasks {
                let worth = ratio(self.worth(task));
                if worth >= before {
                    for side in 0..2 {
                        let missing = !self.on_task[task][side] && self.open.allows(task, self.pair[side]);
                        let gains = |&m: &u32| self.lacking[side][m as usize] > 0;
                        if missing && self.annotations.task_slices(task).0.iter().any(gains) {
                            self.plan(task, self.pair[side]);
                        }
                    }
                } else if worth > 2.0 {
                    later.push((worth, task));
                }
            }
            sort(&mut later);
            tasks = later;
        }
    }

    /// Lets workers in need label tasks of the designated pair, those of both first.
    fn one_by_one(&mut self) {
        let names = self.annotations.tasks();
        let labelled = |&task: &usize| self.on_task[task] != [false; 2];
        let mut order: Vec<usize> = (0..self.annotations.task_count()).filter(labelled).collect();
        order.sort_by(|&a, &b| names.get(a).cmp(names.get(b)));
        let both = |on: [bool; 2]| usize::from(on[0]) + usize::from(on[1]);
        let workers = self.annotations.canonical_worker_order().into_iter();
        let workers = workers.map(|worker| worker as usize);
        // The pair first: its common tasks are what the others are attached by.
        for worker in self.pair.into_iter().chain(workers) {
            for wanted in [2, 1] {
                for &task in &order {
                    if self.lacking[0][worker] == 0 && self.lacking[1][worker] == 0 {
                        break;
                    }
                    let on = self.on_task[task];
                    let helps = (0..2).any(|side| on[side] && self.lacking[side][worker] > 0);
                    if both(on) == wanted && helps && self.open.allows(task, worker) {
                        self.plan(task, worker);
                    }
                }
            }
        }
    }
}
