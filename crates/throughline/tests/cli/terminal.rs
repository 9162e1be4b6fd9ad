//! Tests the binary at a terminal, with a real pseudo-terminal in place of a person.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Child, ExitStatus};
use std::sync::mpsc;
use std::thread;

use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::support::{DEADLINE, Folder};

/// A command with a pseudo-terminal; killed when it is dropped.
pub(crate) struct Terminal {
    child: Child,
    keyboard: File,
    screen: mpsc::Receiver<String>,
    seen: String,
}

impl Terminal {
    pub(crate) fn begin(folder: &Folder, arguments: &[&str]) -> Self {
        Self::begin_sized(folder, arguments, 0, 0)
    }

    /// The same at a terminal of this size; 0 is one that does not know its own.
    pub(crate) fn begin_sized(folder: &Folder, arguments: &[&str], columns: u16, rows: u16) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let ours = openpt(flags).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let theirs = File::from(ioctl_tiocgptpeer(&ours, flags).unwrap());
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&theirs, size).unwrap();
        let mut command = folder.command(arguments);
        command.stdin(theirs.try_clone().unwrap()).stdout(theirs.try_clone().unwrap()).stderr(theirs);
        let child = command.spawn().unwrap();
        drop(command);
        let keyboard = File::from(ours);
        let mut shown = keyboard.try_clone().unwrap();
        let (show, screen) = mpsc::sync_channel(64);
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            // Reading fails once nobody has the other side open.
            while let Ok(count @ 1..) = shown.read(&mut bytes) {
                let text = String::from_utf8_lossy(&bytes[..count]).replace('\r', "");
                if show.send(text).is_err() {
                    break;
                }
            }
        });
        Self { child, keyboard, screen, seen: String::new() }
    }

    /// Waits until this text is on the screen, after everything that was waited for before; returns the text up to
    /// it.
    pub(crate) fn until(&mut self, words: &str) -> String {
        while !self.seen.contains(words) {
            match self.screen.recv_timeout(DEADLINE) {
                Ok(text) => self.seen.push_str(&text),
                Err(_) => panic!("there is no {words:?} but {:?}", self.seen),
            }
        }
        let end = self.seen.find(words).unwrap() + words.len();
        self.seen.drain(..end).collect()
    }

    pub(crate) fn type_line(&mut self, line: &str) {
        self.keyboard.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Waits for the exit; returns what was still shown.
    pub(crate) fn ended(mut self) -> (ExitStatus, String) {
        loop {
            match self.screen.recv_timeout(DEADLINE) {
                Ok(text) => self.seen.push_str(&text),
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Err(mpsc::RecvTimeoutError::Timeout) => panic!("it does not end but shows {:?}", self.seen),
            }
        }
        (self.child.wait().unwrap(), std::mem::take(&mut self.seen))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may have exited by itself.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
