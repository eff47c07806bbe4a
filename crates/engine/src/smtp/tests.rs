//! Mails as bytes, before any server sees them.

use super::*;

fn mail() -> Mail {
    Mail {
        from_name: None,
        to: "ann@example.com".into(),
        subject: "Reçu".into(),
        text: "text\n".into(),
        html: "<p>html</p>\n".into(),
        message_id: "ntc_1".into(),
        date_ms: 1_794_712_419_123,
    }
}

fn bytes(mail: &Mail) -> Result<String, MailError> {
    let mailer = Mailer::new("smtp://127.0.0.1:1", "Till <till@pay.example>").unwrap();
    let message = mailer.compose(mail)?;
    Ok(String::from_utf8(message.formatted()).unwrap())
}

#[test]
fn the_same_mail_is_the_same_bytes() {
    let first = bytes(&mail()).unwrap();
    assert_eq!(first, bytes(&mail()).unwrap());
    for line in [
        "From: Till <till@pay.example>\r\n",
        "To: ann@example.com\r\n",
        "Message-ID: <ntc_1@pay.example>\r\n",
        "Date: Sun, 15 Nov 2026 03:13:39 +0000\r\n",
        "Auto-Submitted: auto-generated\r\n",
        "Content-Type: multipart/alternative; boundary=\"=_ntc_1\"\r\n",
    ] {
        assert!(first.contains(line), "{line} is missing in {first}");
    }
}

#[test]
fn a_header_takes_no_second_line() {
    let subject = "Hello\r\nBcc: eve@example.com\r\n\r\nbody";
    let sent = bytes(&Mail {
        subject: subject.into(),
        ..mail()
    })
    .unwrap();
    assert!(!sent.contains("\r\nBcc"), "{sent}");
    let named = bytes(&Mail {
        from_name: Some("Ann's <Shop>\r\nBcc: eve@example.com".into()),
        ..mail()
    })
    .unwrap();
    assert!(!named.contains("\r\nBcc"), "{named}");
    assert!(named.contains("<till@pay.example>\r\n"), "{named}");
    for to in [
        "ann@example.com\r\nBcc: eve@example.com",
        "ann@example.com, eve@example.com",
        "Ann",
        "",
    ] {
        let refused = bytes(&Mail {
            to: to.into(),
            ..mail()
        });
        assert_eq!(refused, Err(MailError::Address), "{to:?}");
    }
    for message_id in ["", "a b", "a>\r\nBcc: eve@example.com", &"a".repeat(61)] {
        let refused = bytes(&Mail {
            message_id: message_id.into(),
            ..mail()
        });
        assert!(
            matches!(refused, Err(MailError::Message(_))),
            "{message_id:?}"
        );
    }
}

#[test]
fn a_subject_that_looks_encoded_is_read_as_it_was_written() {
    let sent = bytes(&Mail {
        subject: "Receipt from =?utf-8?q?x?=".into(),
        ..mail()
    })
    .unwrap();
    let line = "Subject: =?utf-8?b?UmVjZWlwdCBmcm9tID0/dXRmLTg/cT94Pz0=?=\r\n";
    assert!(sent.contains(line), "{sent}");
    let long = bytes(&Mail {
        subject: format!("=?{}", "é".repeat(100)),
        ..mail()
    })
    .unwrap();
    assert!(long.lines().all(|line| line.len() <= 78), "{long}");
    assert!(bytes(&mail()).unwrap().contains("\r\nSubject: =?utf-8?b?"));
}

#[test]
fn a_password_never_travels_without_tls() {
    for (given, used) in [
        (
            "smtp://mail.example",
            "smtp://mail.example?tls=opportunistic",
        ),
        (
            "smtp://u:p@mail.example:25",
            "smtp://u:p@mail.example:25?tls=required",
        ),
        (
            "smtp://mail.example?tls=required",
            "smtp://mail.example?tls=required",
        ),
        ("smtps://u:p@mail.example", "smtps://u:p@mail.example"),
        ("smtp://127.0.0.1:2525", "smtp://127.0.0.1:2525"),
        ("smtp://[::1]", "smtp://[::1]"),
        ("smtp://localhost", "smtp://localhost"),
    ] {
        assert_eq!(secured(given).unwrap().as_str(), used);
    }
    let stripped = secured("smtp://u:p@mail.example?tls=opportunistic");
    assert!(matches!(stripped, Err(MailError::Url(_))), "{stripped:?}");
}

#[test]
fn settings_that_cannot_work_are_told_at_the_start() {
    for url in [
        "",
        "mail.example",
        "https://mail.example",
        "smtp://m.example?tls=maybe",
    ] {
        assert!(
            matches!(Mailer::new(url, "till@pay.example"), Err(MailError::Url(_))),
            "{url}"
        );
    }
    for from in ["", "till", "till@pay.example\r\nBcc: eve@example.com"] {
        let refused = Mailer::new("smtp://127.0.0.1", from);
        assert_eq!(refused.err(), Some(MailError::Address), "{from:?}");
    }
}
