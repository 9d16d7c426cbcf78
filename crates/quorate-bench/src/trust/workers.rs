//! Accuracies of workers beside the truth.

use quorate::diagnose::Inspect;
use quorate::{Annotations, Context};
use quorate_testkit::public_data;
use crate::public::{Set, fit};

struct W { t: f64, n: f64, model: f64, others: f64, post: f64, oiv: (f64, f64), e: f64, l: f64 }

fn look(a: &Annotations, truth: &[Option<usize>]) -> anyhow::Result<Vec<W>> {
    let auto = fit(a, "auto", &[])?;
    let e = auto.estimated_error(a).value;
    let model = auto.model.as_ref().unwrap();
    let verdicts = Inspect::default().judge_workers(a, &mut Context::new(0))?;
    let m = a.worker_count();
    let (mut right, mut known, mut post, mut given) = (vec![0.0; m], vec![0.0; m], vec![0.0; m], vec![0.0; m]);
    for task in 0..a.task_count() {
        for (w, x) in a.labels_of_task(task) {
            given[w] += 1.0;
            post[w] += auto.consensus.row(task)[x];
            if let Some(t) = truth[task] { known[w] += 1.0; right[w] += f64::from(u8::from(t == x)); }
        }
    }
    let mut found = Vec::new();
    for v in &verdicts {
        let w = v.worker;
        if known[w] < 20.0 || v.accuracy.is_none() { continue; }
        found.push(W { t: right[w] / known[w], n: known[w], model: model.accuracy(w), others: v.accuracy.unwrap(), oiv: v.interval.unwrap(), post: post[w] / given[w], e, l: given[w] });
    }
    Ok(found)
}

fn print(name: &str, f: &[W]) {
    let n = f.len().max(1) as f64;
    let mae = |of: fn(&W) -> f64| 100.0 * f.iter().map(|w| (of(w) - w.t).abs()).sum::<f64>() / n;
    let bias = |of: fn(&W) -> f64| 100.0 * f.iter().map(|w| of(w) - w.t).sum::<f64>() / n;
    let mut covs = String::new();
    for c in [0.0, 0.25, 0.5, 0.75, 1.0] {
        for of in [(|w: &W| w.model) as fn(&W) -> f64, |w: &W| w.post] {
            let cov = f.iter().filter(|w| { let p = of(w); let sd = (p * (1.0 - p) / w.l + 0.25 / w.l / w.l + (c * w.e).powi(2)).sqrt(); (p - w.t).abs() <= 1.645 * sd }).count();
            covs.push_str(&format!(" {:.0}", 100.0 * cov as f64 / n));
        }
        covs.push('|');
    }
    let ocov = f.iter().filter(|w| w.oiv.0 <= w.t && w.t <= w.oiv.1).count();
    println!("{name} {} | mae model {:.1} others {:.1} post {:.1} | bias {:+.1} {:+.1} {:+.1} | others cov {:.0} | cov(model,post by c){covs}", f.len(), mae(|w| w.model), mae(|w| w.others), mae(|w| w.post), bias(|w| w.model), bias(|w| w.others), bias(|w| w.post), 100.0 * ocov as f64 / n);
    let _ = f.iter().map(|w| w.n).sum::<f64>();
}

pub fn run(sets: &[String]) -> anyhow::Result<()> {
    let folder = public_data::folder();
    let mut all = Vec::new();
    for name in sets {
        let set = Set::find(&folder, name)?;
        let a = set.read()?;
        let f = look(&a, &set.true_classes(&a)?)?;
        print(name, &f);
        all.extend(f);
    }
    print("all", &all);
    let mut all = Vec::new();
    for crowd in super::ranges::CROWDS {
        let c = super::ranges::simulation(crowd).run(0)?;
        let truth: Vec<_> = c.truth.iter().map(|t| Some(*t)).collect();
        let f = look(&c.annotations, &truth)?;
        print(&format!("{crowd:?}"), &f);
        all.extend(f);
    }
    print("all", &all);
    Ok(())
}
