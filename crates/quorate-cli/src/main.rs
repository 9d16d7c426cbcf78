//! The program `quorate`.
fn main() {}
