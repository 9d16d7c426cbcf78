//! The examples run.

macro_rules! run {
    ($($file:literal $name:ident),*) => {
        $(
            #[path = $file]
            mod $name;
        )*

        #[test]
        fn examples_run() {
            $($name::main().unwrap();)*
        }
    };
}

run!(
    "../examples/aggregate.rs" aggregate,
    "../examples/choose_a_method.rs" choose_a_method,
    "../examples/gold.rs" gold,
    "../examples/review.rs" review,
    "../examples/inspect.rs" inspect,
    "../examples/workers.rs" workers,
    "../examples/new_method.rs" new_method
);
