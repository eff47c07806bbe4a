//! The SMTP server that `scripts/with-smtp` started, and the mails it took.

use std::path::PathBuf;

use till_engine::smtp::Mailer;

pub const FROM: &str = "Till <till@pay.example>";

pub struct Smtp {
    url: String,
    folder: PathBuf,
}

/// A mail as the server stored it.
#[derive(Clone, Debug)]
pub struct Received {
    pub raw: String,
}

impl Smtp {
    /// Nothing, and a word about it, when there is no server to test with.
    pub fn find() -> Option<Smtp> {
        let url = std::env::var("TILL_TEST_SMTP").ok();
        let folder = std::env::var_os("TILL_TEST_SMTP_DIR");
        let (Some(url), Some(folder)) = (url, folder) else {
            let required = std::env::var("TILL_REQUIRE_SMTP").is_ok_and(|value| value == "1");
            assert!(
                !required,
                "TILL_REQUIRE_SMTP is 1 but TILL_TEST_SMTP names no server"
            );
            eprintln!("skipped: TILL_TEST_SMTP is not set (see scripts/with-smtp)");
            return None;
        };
        Some(Smtp {
            url,
            folder: folder.into(),
        })
    }

    pub fn mailer(&self) -> Mailer {
        Mailer::new(&self.url, FROM).expect("the test server's address is good")
    }

    /// What arrived for one reader, in order. A server that said yes has stored the mail.
    pub fn received(&self, to: &str) -> Vec<Received> {
        let mut files: Vec<PathBuf> = std::fs::read_dir(&self.folder)
            .expect("the folder is there")
            .map(|entry| entry.expect("readable").path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "eml"))
            .collect();
        files.sort();
        files
            .iter()
            .map(|path| std::fs::read_to_string(path).expect("mails are ASCII"))
            .filter(|raw| raw.lines().any(|line| line == format!("X-Rcpt-To: {to}")))
            .map(|raw| Received { raw })
            .collect()
    }
}

impl Received {
    pub fn header(&self, name: &str) -> &str {
        let prefix = format!("{name}: ");
        let head = self.raw.split("\r\n\r\n").next().unwrap_or_default();
        head.split("\r\n")
            .find_map(|line| line.strip_prefix(prefix.as_str()))
            .unwrap_or_default()
    }

    /// The decoded bodies, text first.
    pub fn bodies(&self) -> Vec<String> {
        let boundary = self.raw.split("boundary=\"").nth(1).expect("multipart");
        let boundary = boundary.split('"').next().expect("closed");
        let line = format!("--{boundary}");
        self.raw
            .split(&line)
            .skip(1)
            .filter(|part| part.starts_with("\r\n"))
            .map(|part| {
                let (head, body) = part.split_once("\r\n\r\n").expect("a head and a body");
                if head.contains("quoted-printable") {
                    unquote(body)
                } else if head.contains("base64") {
                    unbase64(body)
                } else {
                    body.replace("\r\n", "\n")
                }
            })
            .collect()
    }
}

fn unquote(body: &str) -> String {
    let joined = body.replace("=\r\n", "").replace("\r\n", "\n");
    let mut bytes = Vec::new();
    let mut rest = joined.as_bytes();
    while let [first, tail @ ..] = rest {
        if *first == b'=' && tail.len() >= 2 {
            let hex = std::str::from_utf8(&tail[..2]).expect("two digits");
            bytes.push(u8::from_str_radix(hex, 16).expect("hexadecimal"));
            rest = &tail[2..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).expect("UTF-8")
}

fn unbase64(body: &str) -> String {
    use base64::Engine as _;
    let packed: String = body.split_whitespace().collect();
    let bytes = base64::engine::general_purpose::STANDARD.decode(packed);
    String::from_utf8(bytes.expect("base64"))
        .expect("UTF-8")
        .replace("\r\n", "\n")
}
