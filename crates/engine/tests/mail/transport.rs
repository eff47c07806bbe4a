//! The mailer against a real server.

use std::time::Duration;

use till_core::asset::Mode;
use till_engine::mail::Locale;
use till_engine::mail::render::{ReceiptData, ReceiptPayment, receipt};
use till_engine::smtp::{Mail, MailError, Mailer};

use crate::smtp::{FROM, Smtp};

fn mail(to: &str) -> Mail {
    let data = ReceiptData {
        mode: Mode::Live,
        merchant: Some("Café <b>Müller</b>"),
        invoice: "inv_1",
        amount: "25.00",
        currency: "EUR",
        payments: vec![ReceiptPayment {
            amount: "25.00".into(),
            symbol: "EURC",
            network_name: "Base",
            tx_hash: "0xfeed",
        }],
        paid_at_ms: 1_794_712_419_123,
    };
    let rendered = receipt(Locale::De, &data);
    Mail {
        from_name: None,
        to: to.to_owned(),
        subject: rendered.subject,
        text: rendered.text,
        html: rendered.html,
        message_id: "ntc_transport".into(),
        date_ms: 1_794_712_419_123,
    }
}

#[tokio::test]
async fn a_mail_arrives_as_it_was_written() {
    let Some(smtp) = Smtp::find() else { return };
    let mail = mail("whole@transport.example");
    smtp.mailer().send(&mail).await.unwrap();
    let received = smtp.received("whole@transport.example");
    assert_eq!(received.len(), 1);
    let received = &received[0];
    assert_eq!(received.header("X-Mail-From"), "till@pay.example");
    assert_eq!(received.header("From"), FROM);
    assert_eq!(received.header("To"), "whole@transport.example");
    assert_eq!(received.header("Message-ID"), "<ntc_transport@pay.example>");
    assert_eq!(received.header("Auto-Submitted"), "auto-generated");
    let bodies = received.bodies();
    assert_eq!(bodies.len(), 2);
    assert_eq!(bodies[0].trim_end(), mail.text.trim_end());
    assert_eq!(bodies[1].trim_end(), mail.html.trim_end());
    assert!(bodies[0].contains("Café <b>Müller</b> hat Ihre Zahlung erhalten"));
    assert!(!bodies[1].contains("<b>"));
}

#[tokio::test]
async fn a_subject_with_line_breaks_stays_one_header() {
    let Some(smtp) = Smtp::find() else { return };
    let mail = Mail {
        subject: "Ä\r\nBcc: eve@transport.example\r\n\r\nbody".into(),
        ..mail("lines@transport.example")
    };
    smtp.mailer().send(&mail).await.unwrap();
    let received = smtp.received("lines@transport.example");
    assert_eq!(received.len(), 1);
    assert_eq!(received[0].header("Bcc"), "");
    assert_eq!(smtp.received("eve@transport.example").len(), 0);
    assert_eq!(received[0].bodies().len(), 2);
}

#[tokio::test]
async fn a_refusal_tells_its_code_and_not_the_reader() {
    let Some(smtp) = Smtp::find() else { return };
    for (to, code) in [
        ("refused@transport.example", 550),
        ("later@transport.example", 451),
    ] {
        let error = smtp.mailer().send(&mail(to)).await.unwrap_err();
        assert_eq!(error, MailError::Refused { code });
        assert!(!error.to_string().contains('@'));
        assert_eq!(smtp.received(to).len(), 0);
    }
}

#[tokio::test]
async fn a_server_that_hangs_is_left_alone() {
    let Some(smtp) = Smtp::find() else { return };
    let mailer = smtp.mailer().with_timeout(Duration::from_millis(300));
    let refused = mailer.send(&mail("hanging@transport.example")).await;
    assert_eq!(refused, Err(MailError::TimedOut));
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_apart_from_one_that_refuses() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    drop(taken);
    let mailer = Mailer::new(&format!("smtp://127.0.0.1:{port}"), FROM).unwrap();
    let refused = mailer.send(&mail("nobody@transport.example")).await;
    assert!(
        matches!(refused, Err(MailError::Unreachable(_))),
        "{refused:?}"
    );
    assert!(mailer.reach().await.is_err());
}

#[tokio::test]
async fn a_server_that_answers_can_be_reached() {
    let Some(smtp) = Smtp::find() else { return };
    assert_eq!(smtp.mailer().reach().await, Ok(()));
}
