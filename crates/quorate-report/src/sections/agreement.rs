//! How far the busiest workers agree, pair by pair, alike ones side by side.

use quorate::Annotations;

use super::Section;
use crate::page::Report;
use crate::text::{plural, shown};

/// Workers in the heat map.
const MOST: usize = 40;

/// Shared tasks from which on a pair is shown.
const MIN_SHARED: u32 = 3;

pub(crate) fn section(report: &Report<'_>) -> Option<Section> {
    let annotations = report.annotations;
    let labels = annotations.labels_per_worker();
    let mut workers: Vec<usize> = (0..annotations.worker_count()).collect();
    let name = |worker: usize| annotations.workers().get(worker);
    workers.sort_by(|&a, &b| labels[b].cmp(&labels[a]).then_with(|| name(a).cmp(name(b))));
    workers.truncate(MOST);
    if workers.len() < 2 {
        return None;
    }
    let agreement = Agreement::of(annotations, &workers);
    let order = agreement.clustered();
    let mut body = format!(
        "<p>Share of equal answers on shared tasks, for {}. Workers who answer alike stand side by side; a dark block \
         away from the diagonal is a group that agrees.</p>\n<div class=\"scroll\" role=\"region\" tabindex=\"0\" \
         aria-label=\"Agreement between workers\"><table class=\"heat small\"><caption>Agreement between workers, %\
         </caption>\n<thead><tr><td></td>",
        if annotations.worker_count() > MOST {
            format!("the {MOST} workers with most labels")
        } else {
            plural(workers.len(), "worker")
        }
    );
    for &place in &order {
        body.push_str(&format!(
            "<th scope=\"col\"><bdi>{}</bdi></th>",
            shown(name(workers[place]))
        ));
    }
    body.push_str("</tr></thead>\n<tbody>\n");
    for &row in &order {
        body.push_str(&format!(
            "<tr><th scope=\"row\"><bdi>{}</bdi></th>",
            shown(name(workers[row]))
        ));
        for &column in &order {
            let cell = match agreement.share(row, column) {
                _ if row == column => {
                    "<td class=\"self\"><span class=\"hidden\">same worker</span></td>".to_owned()
                }
                Some(share) => {
                    let shade = (10.0 * share).round() as usize;
                    format!("<td class=\"number h{shade}\">{:.0}</td>", 100.0 * share)
                }
                None => "<td><span class=\"hidden\">too few shared tasks</span></td>".to_owned(),
            };
            body.push_str(&cell);
        }
        body.push_str("</tr>\n");
    }
    body.push_str("</tbody></table></div>\n");
    Some(Section::new("agreement", "Agreement between workers", body))
}

/// Shared and equal answers of each pair.
struct Agreement {
    size: usize,
    shared: Vec<u32>,
    equal: Vec<u32>,
}

impl Agreement {
    fn of(annotations: &Annotations, workers: &[usize]) -> Self {
        let size = workers.len();
        let mut place = vec![usize::MAX; annotations.worker_count()];
        workers
            .iter()
            .enumerate()
            .for_each(|(at, &worker)| place[worker] = at);
        let (mut shared, mut equal) = (vec![0; size * size], vec![0; size * size]);
        let mut here: Vec<(usize, u16)> = Vec::new();
        for task in 0..annotations.task_count() {
            let (who, what) = annotations.task_slices(task);
            here.clear();
            let known = who
                .iter()
                .zip(what)
                .map(|(&worker, &answer)| (place[worker as usize], answer));
            here.extend(known.filter(|&(at, _)| at != usize::MAX));
            for &(a, first) in &here {
                for &(b, second) in &here {
                    shared[a * size + b] += 1;
                    equal[a * size + b] += u32::from(first == second);
                }
            }
        }
        Self { size, shared, equal }
    }

    fn share(&self, a: usize, b: usize) -> Option<f64> {
        let shared = self.shared[a * self.size + b];
        (shared >= MIN_SHARED).then(|| f64::from(self.equal[a * self.size + b]) / f64::from(shared))
    }

    /// Average-linkage clustering; clusters that join stand side by side.
    fn clustered(&self) -> Vec<usize> {
        let mut clusters: Vec<Vec<usize>> = (0..self.size).map(|worker| vec![worker]).collect();
        while clusters.len() > 1 {
            let mut best = (f64::NEG_INFINITY, 0, 1);
            for a in 0..clusters.len() {
                for b in a + 1..clusters.len() {
                    let similarity = self.similarity(&clusters[a], &clusters[b]);
                    if similarity > best.0 {
                        best = (similarity, a, b);
                    }
                }
            }
            let joined = clusters.remove(best.2);
            clusters[best.1].extend(joined);
        }
        clusters.pop().unwrap_or_default()
    }

    /// Mean agreement between two clusters; pairs without shared tasks do not count.
    fn similarity(&self, a: &[usize], b: &[usize]) -> f64 {
        let (mut sum, mut pairs) = (0.0, 0);
        for &m in a {
            for &j in b {
                if let Some(share) = self.share(m, j) {
                    sum += share;
                    pairs += 1;
                }
            }
        }
        if pairs == 0 { -1.0 } else { sum / f64::from(pairs) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_who_agree_stand_side_by_side() {
        // 0 and 2 always agree, 1 and 3 always agree, the two groups never.
        let labels = (0..4u32).flat_map(|task| [(task, 0, 0), (task, 1, 1), (task, 2, 0), (task, 3, 1)]);
        let table = Annotations::from_codes(4, 4, 2, labels).unwrap();
        let agreement = Agreement::of(&table, &[0, 1, 2, 3]);
        assert_eq!(
            (agreement.share(0, 2), agreement.share(0, 1)),
            (Some(1.0), Some(0.0))
        );
        assert_eq!(agreement.clustered(), [0, 2, 1, 3]);
    }
}
