//! Feeds paths to the check of paths.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
thread_local! {
    static DISK: fuzz::Disk = fuzz::Disk::new().expect("the folder for temporary files can be written");
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| DISK.with(|disk| fuzz::check_path(disk, bytes)));

/// Without the fuzzer there is nothing to do.
#[cfg(not(fuzzing))]
fn main() {}
