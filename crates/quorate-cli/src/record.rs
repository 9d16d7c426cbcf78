//! JSON objects that are written down where they are made.

/// An object with these members, in this order: `record! { tasks: 3, error: 0.1 }`.
macro_rules! record {
    ($($name:ident: $value:expr),* $(,)?) => {{
        #[derive(serde::Serialize)]
        struct Record<$(#[allow(non_camel_case_types)] $name),*> {
            $($name: $name),*
        }
        Record { $($name: $value),* }
    }};
}
pub(crate) use record;

/// An object, or whatever else is made, for each of these.
pub fn each<T, R>(items: impl IntoIterator<Item = T>, make: impl FnMut(T) -> R) -> Vec<R> {
    items.into_iter().map(make).collect()
}
