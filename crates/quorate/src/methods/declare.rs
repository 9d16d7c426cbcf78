//! A method declared once: one declaration gives the struct with its docs, defaults, setters, the check of
//! its ranges, and the entry of the table of methods that help, docs and other languages read.
//!
//! ```text
//! declare_method! {
//!     /// What the struct is.
//!     pub struct Name {
//!         ..em_rounds,                                  fields that several methods share
//!         /// what it does, in one line                 the parameter's help and the field's documentation
//!         strength: f64 in 0..=1e6 = 4,                 a number with its range and default
//!         /// who wins a tie
//!         ties: Ties = Lowest,                          one of the words of an enum made by `declare_words!`
//!         /// two worker ids
//!         designated: String = "",                      any text
//!     }
//!     name: "name-on-the-command-line",
//!     aliases: ["other"],
//!     summary: "one line",
//!     description: "a paragraph",
//!     citation: "where it was published",
//!     facts: [returns_model, learns_from_gold],         the columns of `Method` that are true
//! }
//! ```
//!
//! A parameter is called like its field, with dashes. Fields that several methods share are spelled out
//! once, in a macro that hands them on (`em_rounds` below is the pattern).

use super::{Method, Parameter};

/// Declares a method: see the module's documentation.
#[doc(hidden)]
#[macro_export]
macro_rules! declare_method {
    (
        $(#[$doc:meta])*
        pub struct $name:ident { $($fields:tt)* }
        $($entry:tt)*
    ) => {
        $crate::declare_method! { @fields [$(#[$doc])* $name { $($entry)* }] [] [$($fields)*] }
    };

    // Fields, one after another: a shared fragment, or a field of its own.
    (@fields $head:tt $done:tt [..$fragment:ident $(($($argument:tt)*))?, $($rest:tt)*]) => {
        $fragment! { [$($($argument)*)?] $head $done [$($rest)*] }
    };
    (@shared [$($shared:tt)*] $head:tt $done:tt [$($rest:tt)*]) => {
        $crate::declare_method! { @fields $head $done [$($shared)* $($rest)*] }
    };
    (@fields $head:tt [$($done:tt)*] [
        $(#[doc = $about:literal])+
        $field:ident: $type:ident $(in $low:literal..=$high:literal)? = $default:tt,
        $($rest:tt)*
    ]) => {
        $crate::declare_method! {
            @fields $head [$($done)* { [$($about)+] $field $type [$($low, $high)?] $default }] [$($rest)*]
        }
    };

    (@fields
        [
            $(#[$doc:meta])*
            $name:ident {
                name: $id:literal,
                aliases: [$($alias:literal),*],
                summary: $summary:literal,
                description: $description:literal,
                citation: $citation:literal,
                facts: [$($fact:ident),* $(,)?],
                $(build: $build:ident,)?
            }
        ]
        [$({ [$($about:literal)+] $field:ident $type:ident $range:tt $default:tt })*]
        []
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name {
            $(
                $(#[doc = $about])+
                pub $field: $type,
            )*
        }

        impl $name {
            /// Its entry in the table of methods.
            pub const METHOD: $crate::methods::Method = $crate::methods::Method {
                name: $id,
                aliases: &[$($alias),*],
                summary: $summary,
                description: $description,
                citation: $citation,
                parameters: &[
                    $(
                        $crate::methods::Parameter {
                            name: {
                                const DASHED: [u8; stringify!($field).len()] =
                                    $crate::methods::declare::dashed(stringify!($field));
                                $crate::methods::declare::as_text(&DASHED)
                            },
                            about: concat!($($about),+).trim_ascii_start(),
                            kind: $crate::declare_method!(@kind $type $range),
                            default: $crate::declare_method!(@default_text $type $default),
                        },
                    )*
                ],
                build: $crate::declare_method!(@build $name $($build)?),
                $($fact: true,)*
                ..$crate::methods::declare::NO_FACTS
            };

            $($crate::declare_method! { @setter [$($about)+] $field $type })*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $crate::declare_method!(@default $type $default),)* }
            }
        }

        impl From<&$crate::methods::Values> for $name {
            #[allow(unused_variables)]
            fn from(values: &$crate::methods::Values) -> Self {
                Self { $($field: values.get(stringify!($field)),)* }
            }
        }

        impl $crate::methods::Declared for $name {
            fn method(&self) -> &'static $crate::methods::Method {
                &Self::METHOD
            }

            fn values(&self) -> Vec<String> {
                vec![$(self.$field.to_string()),*]
            }
        }
    };

    (@build $name:ident) => { $crate::methods::Build::Labels(|values| Box::new($name::from(values))) };
    (@build $name:ident $build:ident) => {
        $crate::methods::Build::$build(|values| Box::new($name::from(values)))
    };

    (@kind usize [$low:literal, $high:literal]) => { $crate::methods::Kind::Integer($low, $high) };
    (@kind f64 [$low:literal, $high:literal]) => { $crate::methods::Kind::Number($low as f64, $high as f64) };
    (@kind String []) => { $crate::methods::Kind::Text };
    (@kind $words:ident []) => { $crate::methods::Kind::Choice($words::WORDS) };

    (@default usize $default:literal) => { $default };
    (@default f64 $default:literal) => { $default as f64 };
    (@default String $default:literal) => { String::from($default) };
    (@default $words:ident $default:ident) => { $words::$default };

    (@default_text usize $default:literal) => { stringify!($default) };
    (@default_text f64 $default:literal) => { stringify!($default) };
    (@default_text String $default:literal) => { $default };
    (@default_text $words:ident $default:ident) => { $words::$default.word() };

    (@setter [$($about:literal)+] $field:ident String) => {
        $(#[doc = $about])+
        pub fn $field(mut self, $field: impl Into<String>) -> Self {
            self.$field = $field.into();
            self
        }
    };
    (@setter [$($about:literal)+] $field:ident $type:ident) => {
        $(#[doc = $about])+
        pub fn $field(mut self, $field: $type) -> Self {
            self.$field = $field;
            self
        }
    };
}

/// Declares an enum whose values are words of a parameter.
#[doc(hidden)]
#[macro_export]
macro_rules! declare_words {
    (
        $(#[$doc:meta])*
        pub enum $name:ident {
            $($(#[$about:meta])* $value:ident = $word:literal,)+
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name {
            $($(#[$about])* $value,)+
        }

        impl $name {
            /// The words, in the order of the values.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word of this value.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$value => $word,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.word())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($word => Ok(Self::$value),)+
                    _ => Err($crate::Error::Parameter {
                        name: stringify!($name).to_owned(),
                        problem: format!("found {text:?}, expected one of {}", Self::WORDS.join(", ")),
                    }),
                }
            }
        }
    };
}

/// Rounds and tolerance of EM.
macro_rules! em_rounds {
    ([] $($state:tt)*) => {
        $crate::declare_method! { @shared [
            /// largest number of EM rounds
            max_iter: usize in 1..=1_000_000 = 1000,
            /// EM stops when the mean change of a posterior falls below this
            tol: f64 in 0..=1 = 1e-6,
        ] $($state)* }
    };
}
pub(crate) use em_rounds;

/// The pseudo-count of confusion matrices, with its default.
macro_rules! em_smoothing {
    ([$default:literal] $($state:tt)*) => {
        $crate::declare_method! { @shared [
            /// pseudo-count added to every cell of every confusion matrix
            smoothing: f64 in 0..=1e9 = $default,
        ] $($state)* }
    };
}
pub(crate) use em_smoothing;

/// What a declaration fills in.
pub const NO_FACTS: Method = Method {
    name: "",
    aliases: &[],
    summary: "",
    description: "",
    citation: "",
    parameters: &[] as &[Parameter],
    build: super::Build::Labels(|_| unreachable!("a declaration has its own")),
    returns_model: false,
    learns_from_gold: false,
    uses_priors: false,
    streams: false,
    calibrates_itself: false,
    needs_features: false,
    needs_probabilities: false,
    uses_class_order: false,
    canonical_order: false,
};

/// A field's name with dashes for its underscores: the parameter's name.
pub const fn dashed<const LENGTH: usize>(field: &str) -> [u8; LENGTH] {
    let mut name = [0; LENGTH];
    let mut place = 0;
    while place < LENGTH {
        let letter = field.as_bytes()[place];
        name[place] = if letter == b'_' { b'-' } else { letter };
        place += 1;
    }
    name
}

/// A name as text.
pub const fn as_text(name: &'static [u8]) -> &'static str {
    match std::str::from_utf8(name) {
        Ok(text) => text,
        Err(_) => panic!("a field's name is not UTF-8"),
    }
}
