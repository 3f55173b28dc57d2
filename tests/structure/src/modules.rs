//! Modules of a crate and their dependencies, read from the source text.
//!
//! A module uses another if it names one of its items: in a `use` declaration or in a path. Names are
//! followed through re-exports to the module that defines the item. Not counted: `mod` declarations, a `pub
//! use` of what lies below the module itself if its own code does not use the name, and code under
//! `#[cfg(test)]`.

use crate::lexer::{Kind, Token, tokens};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

/// A use of one file's module by another.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The using file, an index into [`Modules::files`].
    pub from: usize,
    /// The used file.
    pub to: usize,
    /// The line of the using file.
    pub line: usize,
    /// The path as it is written.
    pub path: String,
}

/// The files of a crate and the uses among them.
#[derive(Debug)]
pub struct Modules {
    /// Files, the root file first.
    pub files: Vec<PathBuf>,
    /// One use for each pair of files: the first.
    pub edges: Vec<Edge>,
}

#[derive(Debug, Default)]
struct Module {
    file: usize,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    items: HashSet<String>,
    imports: Vec<Import>,
    paths: Vec<(Vec<String>, usize)>,
    /// Identifiers that stand alone, outside of `use` declarations.
    names: HashSet<String>,
}

/// One leaf of a `use` declaration.
#[derive(Clone, Debug)]
struct Import {
    path: Vec<String>,
    /// Local name; none for `*`.
    name: Option<String>,
    public: bool,
    line: usize,
}

/// Target of a path: a module, or an item that the module defines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Target {
    Module(usize),
    ItemOf(usize),
}

impl Modules {
    /// Reads the crate whose root file is `root`.
    ///
    /// # Errors
    /// A file that cannot be read, or a `mod` declaration without a file.
    pub fn read(root: &Path) -> Result<Self, String> {
        let folder = root.parent().unwrap_or(Path::new("."));
        let mut tree = Tree { files: Vec::new(), modules: Vec::new() };
        tree.read_file(root, folder, None)?;
        let mut edges = tree.edges();
        edges.sort_by_key(|e| (e.from, e.to, e.line));
        edges.dedup_by_key(|e| (e.from, e.to));
        Ok(Self { files: tree.files, edges })
    }
}

struct Tree {
    files: Vec<PathBuf>,
    modules: Vec<Module>,
}

impl Tree {
    /// Reads one file and those named by its `mod` declarations, which lie in `folder`. Returns the module.
    fn read_file(&mut self, path: &Path, folder: &Path, parent: Option<usize>) -> Result<usize, String> {
        let source = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let file = self.files.len();
        self.files.push(path.to_owned());
        let module = self.add(file, parent);
        let tokens = tokens(&source);
        Parser { tree: self, path, tokens: &tokens, at: 0 }.module(module, folder)?;
        Ok(module)
    }

    fn add(&mut self, file: usize, parent: Option<usize>) -> usize {
        self.modules.push(Module { file, parent, ..Module::default() });
        self.modules.len() - 1
    }

    fn edges(&self) -> Vec<Edge> {
        let mut edges = Vec::new();
        for (index, module) in self.modules.iter().enumerate() {
            let mut edge = |target: usize, path: &[String], line| {
                let (from, to) = (module.file, self.modules[target].file);
                if from != to {
                    edges.push(Edge { from, to, line, path: path.join("::") });
                }
            };
            for import in &module.imports {
                let target = match (self.resolve(index, &import.path, 0), &import.name) {
                    (Some(Target::ItemOf(target)), _) => target,
                    (Some(Target::Module(target)), None) => target, // of a glob
                    _ => continue,
                };
                let only_exported =
                    import.public && !import.name.as_ref().is_some_and(|n| module.names.contains(n));
                if !(only_exported && self.is_below(target, index)) {
                    edge(target, &import.path, import.line);
                }
            }
            for (path, line) in &module.paths {
                if let Some(Target::ItemOf(target)) = self.resolve(index, path, 0) {
                    edge(target, path, *line);
                }
            }
        }
        edges
    }

    fn is_below(&self, module: usize, ancestor: usize) -> bool {
        std::iter::successors(Some(module), |&m| self.modules[m].parent).any(|m| m == ancestor)
    }

    /// Resolves a path from a module; none if it leads out of the crate.
    fn resolve(&self, from: usize, path: &[String], depth: usize) -> Option<Target> {
        let mut here = Target::Module(from);
        for (k, segment) in path.iter().enumerate() {
            let Target::Module(module) = here else { break }; // an associated item, or a variant
            here = match segment.as_str() {
                "crate" => Target::Module(0),
                "self" => here,
                "super" => Target::Module(self.modules[module].parent?),
                name => match self.lookup(module, name, depth) {
                    Some(target) => target,
                    None if k == 0 => return None, // another crate, or a name of the prelude
                    None => Target::ItemOf(module),
                },
            };
        }
        Some(here)
    }

    fn lookup(&self, module: usize, name: &str, depth: usize) -> Option<Target> {
        let Module { children, imports, items, .. } = &self.modules[module];
        if depth > 16 {
            return None;
        }
        if let Some(&child) = children.get(name) {
            return Some(Target::Module(child));
        }
        if items.contains(name) {
            return Some(Target::ItemOf(module));
        }
        let named = imports.iter().filter(|i| i.name.as_deref() == Some(name));
        let globs = imports.iter().filter(|i| i.name.is_none());
        named
            .filter(|i| i.path.first().map(String::as_str) != Some(name))
            .find_map(|i| self.resolve(module, &i.path, depth + 1))
            .or_else(|| {
                globs.filter_map(|i| self.resolve(module, &i.path, depth + 1)).find_map(|target| match target
                {
                    Target::Module(other) if other != module => self.lookup(other, name, depth + 1),
                    _ => None,
                })
            })
    }
}

struct Parser<'a> {
    tree: &'a mut Tree,
    path: &'a Path,
    tokens: &'a [Token],
    at: usize,
}

impl Parser<'_> {
    fn ident(&self, offset: usize) -> Option<&str> {
        self.tokens.get(self.at + offset).and_then(Token::ident)
    }

    fn is(&self, offset: usize, punctuation: char) -> bool {
        self.tokens.get(self.at + offset).is_some_and(|t| t.is(punctuation))
    }

    fn is_sep(&self, offset: usize) -> bool {
        self.tokens.get(self.at + offset).is_some_and(|t| t.kind == Kind::PathSep)
    }

    fn line(&self) -> usize {
        self.tokens.get(self.at).map_or(0, |t| t.line)
    }

    /// Reads the items of a module up to its closing brace, or to the end of the file.
    fn module(&mut self, module: usize, folder: &Path) -> Result<(), String> {
        let mut depth = 0;
        let mut file_of_module = None;
        let mut public = false;
        while self.at < self.tokens.len() {
            if self.is(0, '#') && (self.is(1, '[') || self.is(1, '!') && self.is(2, '[')) {
                let attribute = self.attribute();
                if is_test_only(&attribute) {
                    self.skip_item();
                } else if let [name, .., Token { kind: Kind::Str(path), .. }] = attribute.as_slice()
                    && name.ident() == Some("path")
                {
                    file_of_module = Some(path.clone());
                }
                continue;
            }
            if self.is(0, '{') {
                depth += 1;
            } else if self.is(0, '}') {
                depth -= 1;
                if depth < 0 {
                    self.at += 1;
                    return Ok(());
                }
            }
            let follows_dot = self.at > 0 && self.tokens[self.at - 1].is('.');
            match self.ident(0) {
                Some("pub") => {
                    public = true;
                    self.at += 1;
                    if self.is(0, '(')
                        && self.ident(1).is_some_and(|i| matches!(i, "crate" | "super" | "self" | "in"))
                    {
                        while !self.is(0, ')') {
                            self.at += 1;
                        }
                        self.at += 1;
                    }
                    continue;
                }
                Some("use") if !self.is(1, '<') => {
                    self.at += 1;
                    let line = self.line();
                    self.use_tree(module, &[], public, line);
                }
                Some("mod") if self.ident(1).is_some() && (self.is(2, ';') || self.is(2, '{')) => {
                    let name = self.ident(1).unwrap_or_default().to_owned();
                    let inline = self.is(2, '{');
                    self.at += 3;
                    let child = if inline {
                        let file = self.tree.modules[module].file;
                        let child = self.tree.add(file, Some(module));
                        self.module(child, &folder.join(&name))?;
                        child
                    } else {
                        self.child_file(module, folder, &name, file_of_module.take())?
                    };
                    self.tree.modules[module].children.insert(name, child);
                }
                Some("fn" | "struct" | "enum" | "trait" | "type" | "const" | "static" | "union")
                    if !follows_dot =>
                {
                    if depth == 0
                        && let Some(name) = self.ident(1)
                    {
                        let name = name.to_owned();
                        self.tree.modules[module].items.insert(name);
                    }
                    self.at += 1;
                }
                Some(_) if self.is_sep(1) => {
                    let line = self.line();
                    let mut path = vec![self.ident(0).unwrap_or_default().to_owned()];
                    while self.is_sep(1) && self.ident(2).is_some() {
                        path.push(self.ident(2).unwrap_or_default().to_owned());
                        self.at += 2;
                    }
                    self.at += 1;
                    if path.len() > 1 {
                        self.tree.modules[module].paths.push((path, line));
                    }
                }
                Some(name) => {
                    if !follows_dot {
                        let name = name.to_owned();
                        self.tree.modules[module].names.insert(name);
                    }
                    self.at += 1;
                }
                None => self.at += 1,
            }
            public = false;
        }
        Ok(())
    }

    fn child_file(
        &mut self,
        module: usize,
        folder: &Path,
        name: &str,
        given: Option<String>,
    ) -> Result<usize, String> {
        if let Some(given) = given {
            let path = self.path.parent().unwrap_or(folder).join(given);
            let below = path.parent().unwrap_or(folder).to_owned();
            return self.tree.read_file(&path, &below, Some(module));
        }
        let below = folder.join(name);
        let path = [folder.join(format!("{name}.rs")), below.join("mod.rs")].into_iter().find(|p| p.exists());
        let path = path.ok_or_else(|| format!("{}: no file for `mod {name};`", self.path.display()))?;
        self.tree.read_file(&path, &below, Some(module))
    }

    /// Reads an attribute and returns what is between its brackets.
    fn attribute(&mut self) -> Vec<Token> {
        self.at += if self.is(1, '!') { 2 } else { 1 };
        let begin = self.at + 1;
        self.skip_group();
        self.tokens[begin..(self.at - 1).max(begin)].to_vec()
    }

    /// Skips a bracketed group that starts here.
    fn skip_group(&mut self) {
        let mut depth = 0;
        while let Some(token) = self.tokens.get(self.at) {
            self.at += 1;
            match token.kind {
                Kind::Punct('(' | '[' | '{') => depth += 1,
                Kind::Punct(')' | ']' | '}') => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }

    /// Skips the item that starts here: to its semicolon, or to the end of its block.
    fn skip_item(&mut self) {
        let mut is_use = false;
        while self.at < self.tokens.len() {
            is_use |= self.ident(0) == Some("use");
            if self.is(0, ';') {
                self.at += 1;
                return;
            }
            let block = self.is(0, '{') && !is_use;
            if self.is(0, '(') || self.is(0, '[') || self.is(0, '{') {
                self.skip_group();
            } else {
                self.at += 1;
            }
            if block {
                return;
            }
        }
    }

    /// Reads one tree of a `use` declaration, after `prefix`.
    fn use_tree(&mut self, module: usize, prefix: &[String], public: bool, line: usize) {
        let mut path = prefix.to_vec();
        loop {
            if let Some(segment) = self.ident(0) {
                path.push(segment.to_owned());
                self.at += 1;
                if self.is_sep(0) {
                    self.at += 1;
                    continue;
                }
                if path.len() > 1 && path.last().is_some_and(|s| s == "self") {
                    path.pop();
                }
                let mut name = path.last().cloned();
                if self.ident(0) == Some("as") {
                    name = self.ident(1).map(str::to_owned);
                    self.at += 2;
                }
                self.tree.modules[module].imports.push(Import { path, name, public, line });
            } else if self.is(0, '*') {
                self.at += 1;
                self.tree.modules[module].imports.push(Import { path, name: None, public, line });
            } else if self.is(0, '{') {
                self.at += 1;
                while !self.is(0, '}') && self.at < self.tokens.len() {
                    self.use_tree(module, &path, public, line);
                    if self.is(0, ',') {
                        self.at += 1;
                    }
                }
                self.at += 1;
            } else {
                self.at += 1; // a leading `::`
            }
            return;
        }
    }
}

/// Returns true for `cfg(test)` and for a `cfg` that requires `test` among others.
fn is_test_only(attribute: &[Token]) -> bool {
    let words: Vec<&str> = attribute.iter().filter_map(Token::ident).collect();
    words.first() == Some(&"cfg")
        && words.contains(&"test")
        && !words.contains(&"not")
        && !words.contains(&"any")
}
