//! What every method must keep to (`quorate_testkit::contract`).

fn main() -> std::process::ExitCode {
    quorate_testkit::contract::run(quorate::methods::METHODS)
}
