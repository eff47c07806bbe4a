//! Reads along while a request's head arrives, for two faults that hyper keeps to itself: a body with two lengths, of which it drops
//! one, and a byte in the idempotency key that no header may have, which it refuses without saying where.
//!
//! A head that came along with the request before it is not read. hyper takes such a body by its chunks and closes the connection
//! after the answer, so nothing can follow it either way.

use crate::message::idempotency;

/// What is wrong with a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Both Content-Length and Transfer-Encoding: a proxy may go by the one and we by the other, which is how one client's request is
    /// smuggled into another's.
    TwoLengths,
    /// A control character in the idempotency key.
    KeyByte(u8),
}

const CONTENT_LENGTH: &[u8] = b"content-length:";
const TRANSFER_ENCODING: &[u8] = b"transfer-encoding:";
/// As many bytes of a line as tell these headers from others.
const START_BYTES: usize = TRANSFER_ENCODING.len();

/// Reads one head, line by line, in whatever pieces it comes.
#[derive(Debug, Default)]
pub struct HeadReader {
    /// How the line begins.
    start: [u8; START_BYTES],
    start_bytes: usize,
    has_lines: bool,
    has_length: bool,
    has_coding: bool,
    is_over: bool,
}

impl HeadReader {
    /// Reads on, up to the end of the head.
    pub fn read(&mut self, bytes: &[u8]) -> Option<Fault> {
        if self.is_over {
            return None;
        }
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let fault = self.read_piece(piece);
            if fault.is_some() || self.is_over {
                self.is_over = true;
                return fault;
            }
        }
        None
    }

    /// Bytes of one line, perhaps its last.
    fn read_piece(&mut self, piece: &[u8]) -> Option<Fault> {
        let text = piece.strip_suffix(b"\n").unwrap_or(piece);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let missing = &mut self.start[self.start_bytes..];
        let taken = missing.len().min(text.len());
        missing[..taken].copy_from_slice(&text[..taken]);
        self.start_bytes += taken;
        if self.begins_with(idempotency::HEADER_LINE)
            && let Some(byte) = text.iter().find(|byte| is_control(**byte))
        {
            return Some(Fault::KeyByte(*byte));
        }
        match piece.ends_with(b"\n") {
            true => self.end_line(),
            false => None,
        }
    }

    fn end_line(&mut self) -> Option<Fault> {
        // Empty lines before a request are skipped.
        self.is_over = self.start_bytes == 0 && self.has_lines;
        self.has_lines |= self.start_bytes > 0;
        self.has_length |= self.begins_with(CONTENT_LENGTH);
        self.has_coding |= self.begins_with(TRANSFER_ENCODING);
        self.start_bytes = 0;
        (self.is_over && self.has_length && self.has_coding).then_some(Fault::TwoLengths)
    }

    fn begins_with(&self, name: &[u8]) -> bool {
        let start = &self.start[..self.start_bytes];
        start.len() >= name.len() && start[..name.len()].eq_ignore_ascii_case(name)
    }
}

/// What hyper takes in no header. A tab it does.
fn is_control(byte: u8) -> bool {
    byte.is_ascii_control() && byte != b'\t'
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fault of a head, however it is cut into pieces.
    fn check(head: &str, expected: Option<Fault>) {
        for size in 1..=head.len() {
            let mut reader = HeadReader::default();
            let mut pieces = head.as_bytes().chunks(size);
            let found = pieces.find_map(|piece| reader.read(piece));
            assert_eq!(found, expected, "{head:?} in pieces of {size}");
        }
    }

    #[test]
    fn two_lengths_are_found_in_the_head_alone() {
        let two = Some(Fault::TwoLengths);
        check(
            "POST / HTTP/1.1\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
            two,
        );
        check(
            "\r\n\r\nPOST / HTTP/1.1\nTransfer-Encoding:x\nh: y\nContent-Length:1\n\n",
            two,
        );
        check(
            "POST / HTTP/1.1\r\ncontent-length: 1\r\n\r\ntransfer-encoding: x\r\n\r\n",
            None,
        );
        check(
            "POST / HTTP/1.1\r\nx-content-length: 1\r\ntransfer-encoding: x\r\n\r\n",
            None,
        );
        check(
            "POST / HTTP/1.1\r\ncontent-lengths: 1\r\ntransfer-encoding: x\r\n\r\n",
            None,
        );
        check(
            "POST / HTTP/1.1\r\ncontent-length: 1\r\ntransfer-encoding: x\r\n",
            None,
        );
    }

    #[test]
    fn a_control_character_is_found_in_the_key_alone() {
        let del = Some(Fault::KeyByte(0x7f));
        check("POST / HTTP/1.1\r\nIdempotency-Key: a\u{7f}b\r\n", del);
        check("POST / HTTP/1.1\r\nidempotency-key:\u{7f}", del);
        check(
            "POST / HTTP/1.1\r\nx: \u{7f}\r\nidempotency-key: a\tb\u{e9}\r\n\r\n",
            None,
        );
        check("POST / HTTP/1.1\r\nidempotency-keys: \u{7f}\r\n\r\n", None);
    }
}
