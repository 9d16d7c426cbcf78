//! Limited-memory BFGS: minimises a smooth function of a few variables from its gradient.
//!
//! ```text
//! d = -H g,     H: inverse Hessian from the last steps s = x' - x and gradient changes y = g' - g (two-loop recursion)
//! ```
//!
//! Steps are halved (by a quadratic fit, at most to a tenth) until the function falls by a share of what the
//! slope promises, so it never rises. Steps whose curvature `s.y` is not positive are not remembered
//! (Nocedal, Wright, "Numerical Optimization", chapter 7).

use quorate::internal::linalg::small::{add_scaled, dot, norm_squared};

/// Settings of the minimisation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lbfgs {
    /// Largest number of steps.
    pub max_iter: usize,
    /// Stops when no component of the gradient is larger than this.
    pub tol: f64,
    /// Steps remembered.
    pub memory: usize,
}

/// Where the minimisation ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Minimum {
    /// The function there.
    pub value: f64,
    /// Steps done.
    pub iterations: usize,
    /// Whether the gradient fell below the tolerance.
    pub converged: bool,
}

/// Share of the promised fall that a step must bring.
const SUFFICIENT: f64 = 1e-4;

impl Lbfgs {
    /// Minimises from `x` in place; `evaluate` returns the function and writes its gradient.
    pub fn minimise(&self, x: &mut [f64], mut evaluate: impl FnMut(&[f64], &mut [f64]) -> f64) -> Minimum {
        let n = x.len();
        let mut gradient = vec![0.0; n];
        let mut value = evaluate(x, &mut gradient);
        let mut history: Vec<(Vec<f64>, Vec<f64>)> = Vec::with_capacity(self.memory);
        let (mut trial, mut trial_gradient) = (vec![0.0; n], vec![0.0; n]);
        for iterations in 0..self.max_iter {
            let steepest = gradient.iter().fold(0.0f64, |top, g| top.max(g.abs()));
            if steepest <= self.tol {
                return Minimum {
                    value,
                    iterations,
                    converged: true,
                };
            }
            let mut direction = search_direction(&gradient, &history);
            let mut slope = dot(&direction, &gradient);
            if slope.is_nan() || slope >= 0.0 {
                history.clear();
                direction = gradient.iter().map(|g| -g).collect();
                slope = -norm_squared(&gradient);
            }
            // Nothing is known of the scale before the first step.
            let total: f64 = gradient.iter().map(|g| g.abs()).sum();
            let mut step = if history.is_empty() {
                (1.0 / total).min(1.0)
            } else {
                1.0
            };
            let moved = loop {
                for (cell, (at, d)) in trial.iter_mut().zip(x.iter().zip(&direction)) {
                    *cell = at + step * d;
                }
                let found = evaluate(&trial, &mut trial_gradient);
                if found <= value + SUFFICIENT * step * slope {
                    value = found;
                    break true;
                }
                let fitted = -0.5 * slope * step * step / (found - value - slope * step);
                let (least, most) = (0.1 * step, 0.5 * step);
                step = if fitted.is_finite() {
                    fitted.clamp(least, most)
                } else {
                    least
                };
                if step < 1e-16 {
                    break false;
                }
            };
            if !moved {
                return Minimum {
                    value,
                    iterations,
                    converged: false,
                };
            }
            let s: Vec<f64> = trial.iter().zip(x.iter()).map(|(a, b)| a - b).collect();
            let y: Vec<f64> = trial_gradient.iter().zip(&gradient).map(|(a, b)| a - b).collect();
            x.copy_from_slice(&trial);
            gradient.copy_from_slice(&trial_gradient);
            if dot(&s, &y) > 1e-12 * norm_squared(&y).max(f64::MIN_POSITIVE) {
                if history.len() == self.memory {
                    history.remove(0);
                }
                history.push((s, y));
            }
        }
        let steepest = gradient.iter().fold(0.0f64, |top, g| top.max(g.abs()));
        Minimum {
            value,
            iterations: self.max_iter,
            converged: steepest <= self.tol,
        }
    }
}

/// Two-loop recursion: minus the approximate inverse Hessian times the gradient.
fn search_direction(gradient: &[f64], history: &[(Vec<f64>, Vec<f64>)]) -> Vec<f64> {
    let mut direction: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut shares = Vec::with_capacity(history.len());
    for (s, y) in history.iter().rev() {
        let share = dot(s, &direction) / dot(s, y);
        add_scaled(&mut direction, -share, y);
        shares.push(share);
    }
    if let Some((s, y)) = history.last() {
        let scale = dot(s, y) / norm_squared(y);
        direction.iter_mut().for_each(|d| *d *= scale);
    }
    for ((s, y), share) in history.iter().zip(shares.iter().rev()) {
        let correction = share - dot(y, &direction) / dot(s, y);
        add_scaled(&mut direction, correction, s);
    }
    direction
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: Lbfgs = Lbfgs {
        max_iter: 500,
        tol: 1e-8,
        memory: 10,
    };

    #[test]
    fn rosenbrock() {
        let mut x = [-1.2, 1.0];
        let found = SETTINGS.minimise(&mut x, |x, g| {
            let bend = x[1] - x[0] * x[0];
            g[0] = -400.0 * x[0] * bend - 2.0 * (1.0 - x[0]);
            g[1] = 200.0 * bend;
            100.0 * bend * bend + (1.0 - x[0]).powi(2)
        });
        assert!(found.converged && found.iterations < 100, "{found:?}");
        assert!((x[0] - 1.0).abs() < 1e-6 && (x[1] - 1.0).abs() < 1e-6, "{x:?}");
    }

    #[test]
    fn ridge_logistic_loss_is_stationary_and_falls() {
        let points = [
            (1.0, 2.0, 1.0),
            (-1.0, 0.5, -1.0),
            (0.3, -1.0, 1.0),
            (2.0, -0.2, -1.0),
            (0.1, 0.1, 1.0),
        ];
        let mut values = Vec::new();
        let mut x = [0.0, 0.0];
        let mut loss = |x: &[f64], g: &mut [f64]| {
            g.copy_from_slice(&[0.5 * x[0], 0.5 * x[1]]);
            let mut loss = 0.25 * norm_squared(x);
            for (a, b, sign) in points {
                let margin: f64 = sign * (a * x[0] + b * x[1]);
                loss += (-margin).exp().ln_1p();
                let pull = -sign / (1.0 + margin.exp());
                g[0] += pull * a;
                g[1] += pull * b;
            }
            loss
        };
        for _ in 0..6 {
            values.push(
                Lbfgs {
                    max_iter: 1,
                    ..SETTINGS
                }
                .minimise(&mut x, &mut loss)
                .value,
            );
        }
        assert!(values.windows(2).all(|pair| pair[1] <= pair[0]), "{values:?}");
        assert!(SETTINGS.minimise(&mut x, &mut loss).converged);
        let mut gradient = [0.0; 2];
        let best = loss(&x, &mut gradient);
        for shift in [[1e-3, 0.0], [-1e-3, 0.0], [0.0, 1e-3], [0.0, -1e-3]] {
            assert!(loss(&[x[0] + shift[0], x[1] + shift[1]], &mut gradient) > best);
        }
    }
}
