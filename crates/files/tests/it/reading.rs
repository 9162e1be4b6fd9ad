//! Tests reading: plain files, whole or by lines, up to a bound.

use std::fs::{self, File};
use std::os::unix::net::UnixListener;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::support::{Disk, shown};

fn lines(disk: &Disk, line: Option<u32>, limit: Option<u32>, max: u64) -> String {
    shown(disk.trees().read_text(disk.at("open/lines"), line, limit, max))
}

#[test]
fn lines_are_counted_from_one_and_keep_their_ends() {
    let disk = Disk::new();
    disk.put("open/lines", "one\ntwo\r\nthree\n\nfive");
    for (line, limit, expected) in [
        (None, None, "one\ntwo\r\nthree\n\nfive"),
        (Some(0), None, "one\ntwo\r\nthree\n\nfive"),
        (Some(1), Some(1), "one\n"),
        (None, Some(2), "one\ntwo\r\n"),
        (Some(2), Some(2), "two\r\nthree\n"),
        (Some(4), None, "\nfive"),
        (Some(5), Some(9), "five"),
        (Some(6), None, ""),
        (Some(u32::MAX), Some(u32::MAX), ""),
        (Some(2), Some(0), ""),
    ] {
        assert_eq!(lines(&disk, line, limit, 100), expected, "{line:?} {limit:?}");
    }
    disk.put("open/lines", "");
    assert_eq!(lines(&disk, None, None, 0), "");
    assert_eq!(lines(&disk, Some(2), Some(1), 0), "");
}

#[test]
fn what_is_too_large_is_refused_and_lines_of_it_are_read() {
    let disk = Disk::new();
    disk.put("open/lines", "one\ntwo\nthree\n");
    assert_eq!(lines(&disk, None, None, 14), "one\ntwo\nthree\n");
    assert_eq!(lines(&disk, None, None, 13), "14 of 13");
    assert_eq!(lines(&disk, Some(2), Some(1), 4), "two\n");
    assert_eq!(lines(&disk, Some(2), Some(1), 3), "14 of 3");
    assert_eq!(lines(&disk, Some(2), None, 9), "14 of 9");
    assert_eq!(lines(&disk, Some(2), None, 10), "two\nthree\n");
    assert_eq!(shown(disk.trees().read_bytes(disk.at("open/lines"), 13).map(|_| String::new())), "14 of 13");

    // A terabyte without a line end: neither its length nor its end is waited for.
    let file = File::options().write(true).open(disk.at("open/lines")).unwrap();
    file.set_len(1 << 40).unwrap();
    assert_eq!(lines(&disk, None, None, 1 << 20), format!("{} of {}", 1_u64 << 40, 1 << 20));
    assert_eq!(lines(&disk, Some(1), Some(2), 1 << 20), "one\ntwo\n");
    for line in [4, 5] {
        assert_eq!(lines(&disk, Some(line), Some(1), 1 << 20), format!("{} of {}", 1_u64 << 40, 1 << 20));
    }
}

#[test]
fn the_beginning_of_a_file_is_read_whatever_its_length() {
    let disk = Disk::new();
    disk.put("open/lines", "one\ntwo\n");
    for (max, expected) in [(0, ""), (4, "one\n"), (8, "one\ntwo\n"), (100, "one\ntwo\n")] {
        let start = disk.trees().read_start(disk.at("open/lines"), max).unwrap();
        assert_eq!((start.bytes, start.of), (expected.as_bytes().to_vec(), 8), "{max}");
    }
    let file = File::options().write(true).open(disk.at("open/lines")).unwrap();
    file.set_len(1 << 40).unwrap();
    let start = disk.trees().read_start(disk.at("open/lines"), 3).unwrap();
    assert_eq!((start.bytes, start.of), (b"one".to_vec(), 1 << 40));
}

#[test]
fn what_is_no_text_is_told() {
    let disk = Disk::new();
    fs::write(disk.at("open/lines"), b"good\n\xff\xfe\ngood").unwrap();
    assert_eq!(lines(&disk, None, None, 99), "not text");
    assert_eq!(lines(&disk, Some(2), Some(1), 99), "not text");
    assert_eq!(lines(&disk, Some(3), None, 99), "good");
    assert_eq!(disk.trees().read_bytes(disk.at("open/lines"), 99).unwrap(), b"good\n\xff\xfe\ngood");
}

/// A plain open of a pipe without a writer would block for ever.
#[test]
fn only_plain_files_are_read_and_written() {
    let disk = Disk::new();
    mknodat(CWD, disk.at("open/pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let _socket = UnixListener::bind(disk.at("open/socket")).unwrap();
    disk.link("open/to-pipe", "pipe");
    disk.link("open/to-device", "/dev/zero");
    for (path, expected) in [("pipe", "not a file"), ("socket", "not a file"), ("sub", "not a file")] {
        let path = format!("open/{path}");
        assert_eq!((disk.read(&path).as_str(), disk.write(&path).as_str()), (expected, expected), "{path}");
    }
    assert_eq!(disk.read("open/to-pipe"), "not a file");
    assert_eq!(disk.read("open/to-device"), "not allowed");
    assert_eq!(disk.write("open"), "not a file");
}
