//! The binary: everything it does is in the library beside it, where tests can reach it.

fn main() -> std::process::ExitCode {
    till::cli::main()
}
