//! The pages of `docs` as a book: its table of contents is complete, and links and images resolve.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_structure::{files_below, repository};
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// Returns the targets of links and images, with their lines, outside of code.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut is_code = false;
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            // Every second part is between backquotes.
            let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
            let targets = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
            found.extend(targets.map(|(target, _)| (number, target.to_owned())));
        }
    }
    found
}

/// Returns the names by which the headings of a page are linked.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut is_code = false;
    let mut found = BTreeSet::new();
    for line in text.lines() {
        is_code ^= line.trim_start().starts_with("```");
        let title = line.trim_start_matches('#');
        if !is_code && title.len() < line.len() && title.starts_with(' ') {
            let kept = |c: char| match c {
                ' ' => Some('-'),
                c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
                _ => None,
            };
            found.insert(title.trim().to_lowercase().chars().filter_map(kept).collect());
        }
    }
    found
}

/// Resolves `..` without the file system.
fn normalized(path: &Path) -> PathBuf {
    let mut found = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(found.pop()),
            part => found.push(part),
        }
    }
    found
}

/// Returns the links of a page that do not resolve; `read` returns the text of a file, empty for an image.
fn broken(page: &Path, text: &str, read: &dyn Fn(&Path) -> Option<String>) -> Vec<String> {
    let mut found = Vec::new();
    for (line, target) in links(text) {
        if target.starts_with("http://") || target.starts_with("https://") {
            continue;
        }
        let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
        let linked = match file {
            "" => Some(text.to_owned()),
            file => read(&normalized(&page.parent().unwrap().join(file))),
        };
        let resolves = linked.is_some_and(|text| anchor.is_empty() || anchors(&text).contains(anchor));
        if !resolves {
            found.push(format!("{}:{line}: {target}", page.display()));
        }
    }
    found
}

fn read(path: &Path) -> Option<String> {
    let is_text = path.extension().is_some_and(|extension| extension == "md");
    if is_text { std::fs::read_to_string(path).ok() } else { path.exists().then(String::new) }
}

#[test]
fn links_between_pages_resolve_and_images_exist() {
    let root = normalized(&repository().canonicalize().unwrap());
    let mut pages = files_below(&root.join("docs"), "md");
    assert!(pages.len() > 20, "only {} pages", pages.len());
    pages.extend(["README.md", "ARCHITECTURE.md", "CHANGELOG.md"].map(|name| root.join(name)));
    let mut found: Vec<String> = Vec::new();
    for page in &pages {
        found.extend(broken(page, &read(page).unwrap(), &read));
    }
    assert!(found.is_empty(), "links that do not resolve:\n{}", found.join("\n"));
}

#[test]
fn the_table_of_contents_lists_every_page_once() {
    let docs = normalized(&repository().canonicalize().unwrap()).join("docs");
    let summary = docs.join("SUMMARY.md");
    let mut listed: Vec<PathBuf> =
        links(&read(&summary).unwrap()).into_iter().map(|(_, target)| docs.join(target)).collect();
    listed.sort();
    let pages: Vec<PathBuf> = files_below(&docs, "md").into_iter().filter(|page| *page != summary).collect();
    assert_eq!(listed, pages);
}

#[test]
fn links_that_do_not_resolve_are_found() {
    let text = "# A page: with `code`\n[a](b.md) \
                ![i](images/i.png)\n`[no](link.md)`\n```\n[no](link.md)\n```\n\
                [x](https://example.org) [h](#a-page-with-code) [n](#nosuch)\n[c](../d.md#part)";
    let files = |known: &'static [&'static str]| {
        move |path: &Path| known.iter().any(|name| path == Path::new(name)).then(|| "## Part\n".to_owned())
    };
    let page = Path::new("docs/x/page.md");
    let all = files(&["docs/x/b.md", "docs/x/images/i.png", "docs/d.md"]);
    assert_eq!(broken(page, text, &all), ["docs/x/page.md:7: #nosuch"]);
    assert_eq!(broken(page, text, &files(&["docs/x/b.md"])).len(), 3);
    let without_heading = |path: &Path| path.exists().then(String::new).or(Some("# Other\n".to_owned()));
    assert!(broken(page, text, &without_heading).iter().any(|link| link.ends_with("../d.md#part")));
}
