//! The page: head, story, sections, data, script.

use base64::Engine as _;
use quorate::review::{CheckedLabels, ENOUGH_TRUTHS, ErrorBasis, ErrorEstimate, Review, ReviewTask};
use quorate::{Annotations, Fit};

use crate::evidence::Evidence;
use crate::sections::{self, Section};
use crate::text::{escape, shown};
use crate::{figure, story, tables};

const CSS: &str = include_str!("../assets/report.css");
const SCRIPT: &str = include_str!("../assets/report.js");

/// Forbids everything but the page's own style, script and pictures.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; \
                      base-uri 'none'; form-action 'none'";

/// What a page is made of.
#[derive(Clone, Copy)]
pub struct Report<'a> {
    /// Its title.
    pub title: &'a str,
    /// The labels.
    pub annotations: &'a Annotations,
    /// A fit of them.
    pub fit: &'a Fit,
    /// The method of the fit.
    pub method: &'a str,
    /// The seed of the fit.
    pub seed: u64,
    /// What there is to say besides the fit.
    pub evidence: &'a Evidence,
    /// True class of each task where it is known; one above the last class for a truth that nobody answered.
    pub truth: Option<&'a [Option<usize>]>,
    /// Address of a task, with `{task}` in place of its id.
    pub task_url: Option<&'a str>,
    /// Text of each task, to be shown beside its id.
    pub task_texts: Option<&'a [Option<String>]>,
    /// Whether tables that are downloaded from the page have an apostrophe before text that a spreadsheet
    /// would take for a formula.
    pub spreadsheet_safe: bool,
}

/// Whether the addresses of tasks can be made from this template; what is wrong with it otherwise.
pub fn check_task_url(template: &str) -> Result<(), String> {
    let starts = ["https://", "http://", "./", "/"];
    if starts.iter().any(|start| template.starts_with(start)) && template.contains("{task}") {
        Ok(())
    } else {
        Err(format!(
            "found {template:?}, expected an address that starts with https://, http://, / or ./ and has {{task}} where \
             the id goes"
        ))
    }
}

/// What several sections need, made once.
pub(crate) struct Facts {
    /// All tasks that have something to look at, the most doubtful first.
    pub(crate) review: Vec<ReviewTask>,
    /// Class by votes of each task; none without labels.
    pub(crate) majority: Vec<Option<usize>>,
}

impl Report<'_> {
    /// How many labels are wrong: by the known truths that labels are compared with where they are enough, else as the
    /// fit says.
    pub(crate) fn error(&self) -> ErrorEstimate {
        let mut checked = CheckedLabels::default();
        for (task, truth) in self.truth.unwrap_or_default().iter().enumerate() {
            if let (Some(truth), None) = (truth, self.annotations.gold(task)) {
                checked.known += 1;
                checked.wrong += u64::from(self.fit.consensus.label(task) != *truth);
            }
        }
        if checked.known >= ENOUGH_TRUTHS {
            let implied = self.fit.consensus.expected_error();
            return ErrorEstimate::new(
                ErrorBasis::Checked(checked),
                implied,
                self.fit.consensus.len() as u64,
                0,
            );
        }
        self.fit.estimated_error(self.annotations)
    }

    /// The page.
    pub fn to_html(&self) -> String {
        let facts = Facts {
            review: Review {
                most: self.fit.consensus.len(),
            }
            .run(self.annotations, self.fit),
            majority: (0..self.fit.consensus.len())
                .map(|task| self.majority(task))
                .collect(),
        };
        Page {
            title: self.title,
            story: story::tell(self, &facts),
            sections: sections::all(self, &facts),
            data: tables::embed(self, &facts),
            method: self.method,
            seed: self.seed,
        }
        .to_html()
    }

    fn majority(&self, task: usize) -> Option<usize> {
        let votes = quorate::review::count_votes(self.annotations.task_slices(task).1);
        votes.first().map(|vote| vote.0)
    }
}

/// A page of any kind: what stands at its top, its sections, and the tables that its script shows.
pub(crate) struct Page<'a> {
    pub(crate) title: &'a str,
    /// The answer in plain words, and what to do next.
    pub(crate) story: String,
    pub(crate) sections: Vec<Section>,
    /// Compressed tables.
    pub(crate) data: Vec<u8>,
    pub(crate) method: &'a str,
    pub(crate) seed: u64,
}

impl Page<'_> {
    /// The page as HTML.
    pub(crate) fn to_html(&self) -> String {
        let title = shown(self.title);
        let mut html = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n<title>{title}</title>\n\
             <link rel=\"icon\" href=\"data:,\">\n<style>\n{CSS}{}</style>\n</head>\n<body>\n\
             <a class=\"skip\" href=\"#main\">Skip to the content</a>\n<header>\n<p class=\"brand\">Quorate report</p>\n\
             <h1>{title}</h1>\n{}</header>\n",
            figure::CSS,
            self.story
        );
        html.push_str("<nav aria-label=\"Sections\"><ul>\n");
        for section in &self.sections {
            html.push_str(&format!(
                "<li><a href=\"#{}\">{}</a></li>\n",
                section.id,
                shown(&section.title)
            ));
        }
        html.push_str("</ul></nav>\n<main id=\"main\">\n");
        for section in &self.sections {
            html.push_str(&format!(
                "<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{}</h2>\n{}</section>\n",
                shown(&section.title),
                section.body,
                id = section.id
            ));
        }
        html.push_str(&format!(
            "</main>\n<footer><p>Made by Quorate {} with the method <code>{}</code>, seed {}. Everything is in this file; it loads \
             nothing from the network.</p></footer>\n<script type=\"application/octet-stream\" id=\"data\">{}</script>\n\
             <script>\n{SCRIPT}</script>\n</body>\n</html>\n",
            env!("CARGO_PKG_VERSION"),
            escape(self.method),
            self.seed,
            base64::engine::general_purpose::STANDARD.encode(&self.data)
        ));
        html
    }
}
