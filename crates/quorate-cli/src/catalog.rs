//! The methods of this program: those of the library, where built in those that learn from features, the baselines
//! from the literature, and those that rank comparisons.

use quorate::methods::{METHODS, Method, find_among};
use quorate_baselines::METHODS as BASELINES;

/// All methods for labels, in the order of the tables.
pub fn methods() -> impl Iterator<Item = &'static Method> + Clone {
    METHODS.iter().chain(DEEP).chain(BASELINES)
}

/// Whether a method is here for comparisons alone.
pub fn is_baseline(method: &Method) -> bool {
    BASELINES.iter().any(|baseline| baseline.name == method.name)
}

/// All methods, those for comparisons last.
pub fn all_methods() -> impl Iterator<Item = &'static Method> + Clone {
    methods().chain(quorate::ranking::METHODS)
}

/// Looks a method up by its name or an alias.
pub fn find(name: &str) -> quorate::Result<&'static Method> {
    find_among(all_methods(), name)
}

/// Names of the methods that go through labels in blocks.
pub fn streaming_names() -> String {
    let names: Vec<&str> = methods()
        .filter(|method| method.streams)
        .map(|method| method.name)
        .collect();
    names.join(", ")
}

#[cfg(feature = "deep")]
static DEEP: &[Method] = quorate_deep::METHODS;
#[cfg(not(feature = "deep"))]
static DEEP: &[Method] = &[];
