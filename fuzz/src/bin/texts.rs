//! Feeds texts to the check of texts.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::check_text(bytes));

/// Without the fuzzer there is nothing to do.
#[cfg(not(fuzzing))]
fn main() {}
