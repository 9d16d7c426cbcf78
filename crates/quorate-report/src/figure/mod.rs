//! Every chart of the project, drawn as SVG: figures with axes ([`Figure`]), bars of shares ([`shares`]) and
//! of counts ([`counts`]), the confidence of the labels ([`confidence`]), leaderboards ([`leaderboard`]), the reliability curve
//! ([`reliability`]).
//!
//! Colours come from one style sheet ([`CSS`]), for light and dark pages. A drawing stands in a page that has
//! it, or in a file of its own, which carries it along.

pub mod confidence;
pub mod counts;
pub mod leaderboard;
pub mod reliability;
mod scale;
pub mod shares;
mod svg;

use serde::Serialize;

pub use scale::Scale;
pub use svg::{CSS, Style, draw};

/// Panels side by side under one caption.
#[derive(Debug, Clone, Serialize)]
pub struct Figure {
    /// Name of the file it is written to, without ending.
    pub name: String,
    /// What it shows.
    pub caption: String,
    /// The panels.
    pub panels: Vec<Panel>,
}

/// One drawing with two axes.
#[derive(Debug, Clone, Serialize)]
pub struct Panel {
    /// Its head.
    pub title: String,
    /// The axis to the right.
    pub x: Axis,
    /// The axis upwards.
    pub y: Axis,
    /// What is drawn, first at the bottom.
    pub series: Vec<Series>,
}

/// One axis.
#[derive(Debug, Clone, Serialize)]
pub struct Axis {
    /// What it measures.
    pub label: String,
    /// How it is divided.
    pub scale: Scale,
}

/// Points of one kind.
#[derive(Debug, Clone, Serialize)]
pub struct Series {
    /// Its name in the legend; series of the same name share a colour and an entry. Empty: no entry.
    pub name: String,
    /// How it is drawn.
    pub mark: Mark,
    /// (x, y); points that are not finite, or not above 0 on a logarithmic axis, are left out.
    pub points: Vec<(f64, f64)>,
}

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// A bold line.
    Bold,
    /// A thin dashed line: one trial of many.
    Thin,
    /// A dashed line: what theory says.
    Theory,
    /// Dots.
    Dots,
    /// Dots joined by a line.
    DotLine,
    /// Bars of this width around x, from 0 up.
    Bars(f64),
}

impl Figure {
    /// The drawing as an SVG file.
    pub fn to_svg(&self) -> String {
        draw(self, Style::Standalone)
    }

    /// The drawing for a page that has the style sheet.
    pub fn to_inline_svg(&self) -> String {
        draw(self, Style::Inline)
    }
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            scale: Scale::Linear,
        }
    }

    /// A logarithmic axis.
    pub fn log(label: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            scale: Scale::Log,
        }
    }
}

impl Series {
    /// A series of these points.
    pub fn new(name: impl Into<String>, mark: Mark, points: Vec<(f64, f64)>) -> Self {
        Self {
            name: name.into(),
            mark,
            points,
        }
    }
}
