//! The public surface of the library is what `docs/reference/api.txt` lists: a change of one is a change of
//! the other.
//!
//! Sources are parsed, not compiled: modules, re-exports, and the signatures of what can be reached through
//! them, without what is hidden from the documentation. What can be reached by two paths is listed once, by
//! the shorter one. Of what macros make, enums are read from the declarations and the parameters of methods
//! from the table of methods. `QUORATE_WRITE_API=1 cargo test -p quorate --test public_api` writes the list.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use quote::ToTokens;
use syn::{Attribute, Fields, ImplItem, Item, TraitItem, UseTree, Visibility};

/// The items of every module, by path: `annotations::builder`; the root is empty.
type Modules = BTreeMap<String, Vec<Item>>;

fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}::{name}")
    }
}

/// Reads a file and the modules below it.
fn read(modules: &mut Modules, path: &str, file: &Path, folder: &Path) {
    let source = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let items = syn::parse_file(&source).unwrap().items;
    insert(modules, path, items, folder);
}

fn insert(modules: &mut Modules, path: &str, items: Vec<Item>, folder: &Path) {
    for item in &items {
        let Item::Mod(module) = item else { continue };
        if module
            .attrs
            .iter()
            .any(|attribute| text(attribute).contains("cfg (test)"))
        {
            continue;
        }
        let (name, below) = (module.ident.to_string(), folder.join(module.ident.to_string()));
        match &module.content {
            Some((_, items)) => insert(modules, &join(path, &name), items.clone(), &below),
            None => {
                let files = [folder.join(format!("{name}.rs")), below.join("mod.rs")];
                let file = files
                    .into_iter()
                    .find(|file| file.exists())
                    .expect("a module has a file");
                read(modules, &join(path, &name), &file, &below);
            }
        }
    }
    modules.insert(path.to_owned(), items.into_iter().flat_map(expand).collect());
}

/// What a macro's declaration makes: an enum, or a struct whose fields are parameters. Anything else as it is.
fn expand(item: Item) -> Option<Item> {
    let Item::Macro(made) = &item else {
        return Some(item);
    };
    if made.mac.path.segments.last()?.ident == "declare_words" {
        return syn::parse2(made.mac.tokens.clone()).ok().map(Item::Enum);
    }
    let name = text(&made.mac.tokens)
        .split_once("pub struct ")?
        .1
        .split(' ')
        .next()?
        .to_owned();
    syn::parse_str(&format!("pub struct {name};"))
        .ok()
        .map(Item::Struct)
}

fn text(tokens: &impl ToTokens) -> String {
    tokens.to_token_stream().to_string()
}

/// Tokens as a person would write them.
fn tidy(tokens: &impl ToTokens) -> String {
    let mut text = text(tokens);
    for (spaced, written) in [
        (" :: ", "::"),
        (" , ", ", "),
        (" < ", "<"),
        (" > ", "> "),
        (" >", ">"),
        ("< ", "<"),
        ("& ", "&"),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        ("[ ", "["),
        (" ]", "]"),
        (" ;", ";"),
        (" : ", ": "),
        ("> (", ">("),
        (" ,", ","),
        ("->(", "-> ("),
        ("' ", "'"),
    ] {
        text = text.replace(spaced, written);
    }
    text.trim().to_owned()
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn is_hidden(attributes: &[Attribute]) -> bool {
    attributes
        .iter()
        .any(|attribute| text(attribute).contains("doc (hidden)"))
}

/// Attributes, visibility and name of a named item.
fn head(item: &Item) -> Option<(&[Attribute], &Visibility, String)> {
    Some(match item {
        Item::Const(item) => (&item.attrs, &item.vis, item.ident.to_string()),
        Item::Enum(item) => (&item.attrs, &item.vis, item.ident.to_string()),
        Item::Fn(item) => (&item.attrs, &item.vis, item.sig.ident.to_string()),
        Item::Static(item) => (&item.attrs, &item.vis, item.ident.to_string()),
        Item::Struct(item) => (&item.attrs, &item.vis, item.ident.to_string()),
        Item::Trait(item) => (&item.attrs, &item.vis, item.ident.to_string()),
        Item::Type(item) => (&item.attrs, &item.vis, item.ident.to_string()),
        _ => return None,
    })
}

/// The names that a `use` writes out: where each comes from, and what it is called here.
fn imports(tree: &UseTree, from: &str, found: &mut Vec<(String, String)>) {
    match tree {
        UseTree::Path(path) => imports(&path.tree, &join(from, &path.ident.to_string()), found),
        UseTree::Name(name) => found.push((join(from, &name.ident.to_string()), name.ident.to_string())),
        UseTree::Rename(rename) => {
            found.push((join(from, &rename.ident.to_string()), rename.rename.to_string()))
        }
        UseTree::Group(group) => group.items.iter().for_each(|tree| imports(tree, from, found)),
        UseTree::Glob(_) => {}
    }
}

struct Surface {
    modules: Modules,
    /// What is listed already: its module and name there.
    listed: BTreeSet<(String, String)>,
    lines: BTreeSet<String>,
}

impl Surface {
    /// What can be reached in the module `path`, which is public as `name`.
    fn module(&mut self, path: &str, name: &str) {
        let mut items = self.modules[path].clone();
        items.sort_by_key(|item| !matches!(item, Item::Use(_)));
        for item in items {
            match &item {
                Item::Mod(module) if is_public(&module.vis) && !is_hidden(&module.attrs) => {
                    let (path, name) = (
                        join(path, &module.ident.to_string()),
                        join(name, &module.ident.to_string()),
                    );
                    self.lines.insert(format!("mod {name}"));
                    self.module(&path, &name);
                }
                Item::Use(import) if is_public(&import.vis) && !is_hidden(&import.attrs) => {
                    assert!(
                        !text(import).contains('*'),
                        "{}: public names are written out",
                        text(import)
                    );
                    let mut found = Vec::new();
                    imports(&import.tree, "", &mut found);
                    for (source, called) in found {
                        let source = source
                            .strip_prefix("crate::")
                            .map_or(join(path, &source), str::to_owned);
                        self.import(&source, &join(name, &called));
                    }
                }
                item => {
                    let public = head(item).filter(|(attributes, visibility, _)| {
                        is_public(visibility) && !is_hidden(attributes)
                    });
                    if let Some((_, _, called)) = public {
                        self.item(item, path, &join(name, &called));
                    }
                }
            }
        }
    }

    /// An item that is re-exported as `name`: declared there, re-exported in turn, or made by a macro.
    fn import(&mut self, source: &str, name: &str) {
        let (module, last) = source.rsplit_once("::").unwrap_or(("", source));
        let items = self.modules.get(module).cloned().unwrap_or_default();
        for item in &items {
            if head(item).is_some_and(|(_, _, called)| called == last) {
                return self.item(item, module, name);
            }
            if let Item::Use(import) = item {
                let mut found = Vec::new();
                imports(&import.tree, "", &mut found);
                for (from, called) in found.into_iter().filter(|(_, called)| called == last) {
                    let from = from
                        .strip_prefix("crate::")
                        .map_or(join(module, &from), str::to_owned);
                    if called == last && from != source {
                        return self.import(&from, name);
                    }
                }
            }
        }
        panic!("{name}: no declaration found");
    }

    fn item(&mut self, item: &Item, module: &str, name: &str) {
        let declared = head(item).map(|(_, _, ident)| (module.to_owned(), ident));
        if declared.is_some_and(|declared| !self.listed.insert(declared)) {
            return;
        }
        let line = match item {
            Item::Const(item) => format!("const {name}: {}", tidy(&item.ty)),
            Item::Static(item) => format!("static {name}: {}", tidy(&item.ty)),
            Item::Type(item) => format!("type {name}{} = {}", tidy(&item.generics), tidy(&item.ty)),
            Item::Fn(item) => {
                let signature = tidy(&item.sig);
                let bare = signature.replacen(&format!("fn {}", item.sig.ident), "", 1);
                format!("fn {name}{bare}")
            }
            Item::Struct(item) => {
                self.fields(&item.fields, name);
                format!("struct {name}{}", tidy(&item.generics))
            }
            Item::Enum(item) => {
                for variant in &item.variants {
                    let name = format!("{name}::{}", variant.ident);
                    self.fields(&variant.fields, &name);
                    self.lines.insert(format!("variant {name}"));
                }
                format!("enum {name}{}", tidy(&item.generics))
            }
            Item::Trait(item) => {
                for member in &item.items {
                    if let TraitItem::Fn(method) = member
                        && !is_hidden(&method.attrs)
                    {
                        self.lines.insert(format!("method {name}: {}", tidy(&method.sig)));
                    }
                }
                format!("trait {name}{}", tidy(&item.generics))
            }
            _ => return,
        };
        self.lines.insert(line);
        if let Some((_, _, ident)) = head(item).filter(|_| matches!(item, Item::Struct(_) | Item::Enum(_))) {
            self.methods(&ident, module, name);
        }
    }

    fn fields(&mut self, fields: &Fields, name: &str) {
        for (place, field) in fields.iter().enumerate() {
            // Fields of variants have no visibility of their own.
            if is_hidden(&field.attrs) {
                continue;
            }
            if is_public(&field.vis)
                || name.contains("::") && matches!(field.vis, Visibility::Inherited) && self.is_variant(name)
            {
                let called = field
                    .ident
                    .as_ref()
                    .map_or(place.to_string(), ToString::to_string);
                self.lines
                    .insert(format!("field {name}.{called}: {}", tidy(&field.ty)));
            }
        }
    }

    fn is_variant(&self, name: &str) -> bool {
        // Types and variants begin with a capital letter, modules do not.
        let parent = name.rsplit("::").nth(1).unwrap_or_default();
        parent.chars().next().is_some_and(char::is_uppercase)
    }

    /// Methods of a type: from any module if its name is unique, else from its own.
    fn methods(&mut self, ident: &str, module: &str, name: &str) {
        let declared = |items: &Vec<Item>| {
            items
                .iter()
                .filter_map(head)
                .any(|(_, _, called)| called == ident)
        };
        let unique = self.modules.values().filter(|items| declared(items)).count() == 1;
        let mut found = Vec::new();
        for (path, items) in &self.modules {
            for item in items {
                let Item::Impl(block) = item else { continue };
                let of_type = block.trait_.is_none() && tidy(&block.self_ty).split('<').next() == Some(ident);
                if of_type && (unique || path == module) {
                    found.extend(block.items.iter().cloned());
                }
            }
        }
        for item in found {
            match item {
                ImplItem::Fn(method) if is_public(&method.vis) && !is_hidden(&method.attrs) => {
                    self.lines.insert(format!("method {name}: {}", tidy(&method.sig)));
                }
                ImplItem::Const(constant) if is_public(&constant.vis) => {
                    self.lines.insert(format!(
                        "const {name}::{}: {}",
                        constant.ident,
                        tidy(&constant.ty)
                    ));
                }
                _ => {}
            }
        }
    }
}

fn surface() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut surface = Surface {
        modules: Modules::new(),
        listed: BTreeSet::new(),
        lines: BTreeSet::new(),
    };
    read(&mut surface.modules, "", &folder.join("lib.rs"), &folder);
    surface.module("", "quorate");
    // What the declarations of methods make, which is not in the sources as such.
    for method in quorate::methods::METHODS {
        let fitted = format!("{:?}", method.with_defaults().unwrap());
        let (name, _) = fitted.split_once(' ').unwrap_or((&fitted, ""));
        for parameter in method.parameters {
            let line = format!("parameter {name}.{} = {}", parameter.name, parameter.default);
            surface.lines.insert(line);
        }
    }
    surface.lines.iter().map(|line| format!("{line}\n")).collect()
}

fn list() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/api.txt")
}

#[test]
fn the_public_surface_is_the_one_that_is_listed() {
    let found = surface();
    if std::env::var_os("QUORATE_WRITE_API").is_some() {
        fs::write(list(), &found).unwrap();
    }
    let listed = fs::read_to_string(list()).unwrap();
    let (found, listed): (BTreeSet<&str>, BTreeSet<&str>) =
        (found.lines().collect(), listed.lines().collect());
    let more: Vec<&&str> = found.difference(&listed).collect();
    let less: Vec<&&str> = listed.difference(&found).collect();
    assert!(
        more.is_empty() && less.is_empty(),
        "docs/reference/api.txt lacks {more:#?} and has {less:#?} too many; QUORATE_WRITE_API=1 writes it anew"
    );
}

#[test]
fn no_type_of_a_dependency_is_in_a_signature() {
    let surface = surface();
    for foreign in [
        "ChaCha",
        "DMatrix",
        "DVector",
        "nalgebra",
        "rayon",
        "rand::",
        "Rng",
        "HashMap<",
        "FxHash",
        "hashbrown",
    ] {
        let lines: Vec<&str> = surface.lines().filter(|line| line.contains(foreign)).collect();
        assert!(lines.is_empty(), "{foreign}: {lines:#?}");
    }
}
