//! A [`Report`] as Markdown, JSON and one HTML page that needs nothing else.

mod blocks;
mod html;
mod markdown;
mod words;

use std::path::{Path, PathBuf};

use anyhow::Result;
use quorate_io::{Target, make_output_folder, write_together, write_whole};

use crate::section::Report;

/// Where the parts of a report were written.
#[derive(Debug, Clone)]
pub struct Page {
    /// The page for people.
    pub html: PathBuf,
    /// The same for a repository; its figures are files beside it.
    pub markdown: PathBuf,
    /// The same for programs.
    pub json: PathBuf,
}

/// Writes `index.html`, `results.md`, `results.json` and `figures/*.svg` into a folder, which is made if
/// needed. All appear together.
pub fn write_page(report: &Report, folder: &Path) -> Result<Page> {
    write_together(|| write_parts(report, folder))
}

fn write_parts(report: &Report, folder: &Path) -> Result<Page> {
    let figures = folder.join("figures");
    make_output_folder(&figures)?;
    for figure in report.sections.iter().flat_map(|section| &section.figures) {
        write_text(&figures.join(format!("{}.svg", figure.name)), &figure.to_svg())?;
    }
    let page = Page {
        html: folder.join("index.html"),
        markdown: folder.join("results.md"),
        json: folder.join("results.json"),
    };
    let mut json = serde_json::to_string(report)?;
    json.push('\n');
    write_text(&page.json, &json)?;
    write_text(&page.markdown, &report.markdown())?;
    write_text(&page.html, &report.html())?;
    Ok(page)
}

fn write_text(path: &Path, text: &str) -> Result<()> {
    let target = Target::from(path.to_path_buf());
    Ok(write_whole(&target, |output| {
        Ok(output.write_all(text.as_bytes())?)
    })?)
}

impl Report {
    /// As Markdown, figures as links to `figures/*.svg`.
    pub fn markdown(&self) -> String {
        markdown::render(&blocks::blocks(self))
    }

    /// As one HTML page.
    pub fn html(&self) -> String {
        html::render(&blocks::blocks(self))
    }
}
