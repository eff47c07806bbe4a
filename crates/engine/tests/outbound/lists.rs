//! Lists of addresses, fetched: whole or not at all, and never from where a redirect leads inside.

use till_engine::lists::{Content, Format, ListConfig, ListSource, read};
use till_engine::outbound::Fetcher;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::receiver::{Receiver, serve};
use crate::tls;

async fn fetch(url: String, format: Format) -> Result<Content, String> {
    let list = ListConfig {
        name: "l".to_owned(),
        source: ListSource::Url(url),
        format,
    };
    let fetcher = Fetcher::new(&[tls::unrelated_certificate_pem()]).expect("a client");
    read(&list, &fetcher)
        .await
        .map_err(|error| error.to_string())
}

/// Answers a request that has no body, and hangs up.
async fn answering(answer: String) -> Receiver {
    serve(move |mut stream| {
        let answer = answer.clone();
        async move {
            let mut said = Vec::new();
            while !said.ends_with(b"\r\n\r\n") {
                match stream.read_u8().await {
                    Ok(byte) => said.push(byte),
                    Err(_) => return,
                }
            }
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    })
    .await
}

async fn answered(answer: String, format: Format) -> Result<Content, String> {
    let receiver = answering(answer).await;
    fetch(receiver.url(), format).await
}

fn ok(body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{body}")
}

#[tokio::test]
async fn a_list_is_fetched_and_named_by_its_content() {
    let (evm, tron) = (
        "0xAE0CF0B1A09F16FF1EBAB390FDB66F839CC2F29B",
        "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
    );
    let text = format!("{evm}\n# nobody\n{tron}\n");
    let one = answered(ok(&text), Format::Plain).await.unwrap();
    let addresses: Vec<_> = one.addresses.iter().map(|one| &**one).collect();
    assert_eq!(addresses, [&*evm.to_lowercase(), tron]);
    assert_eq!(one.bytes, text.len() as u64);
    let again = answered(ok(&text), Format::Plain).await.unwrap();
    let other = answered(ok(evm), Format::Plain).await.unwrap();
    assert_eq!(one.edition, again.edition);
    assert_ne!(one.edition, other.edition);
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_no_shorter_list() {
    let cut = "HTTP/1.1 200 OK\r\ncontent-length: 900\r\nconnection: close\r\n\r\n0xae0cf0b1a09f16ff1ebab390fdb66f839cc2f29b\n";
    let receiver = answering(cut.to_owned()).await;
    let error = fetch(receiver.url(), Format::Plain).await.unwrap_err();
    assert!(error.contains("broke off"), "{error}");
    let endless =
        "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n0xae0cf0b1a09f16ff1ebab390fdb66f839cc2f29b\n"
            .to_owned();
    let error = answered(endless, Format::Plain).await.unwrap_err();
    assert!(error.contains("where it ends"), "{error}");
}

#[tokio::test]
async fn a_list_that_cannot_be_fetched_is_not_said_to_be_malformed() {
    for format in [Format::Plain, Format::OfacSdnAdvanced] {
        let error = fetch("http://127.0.0.1:1/list".to_owned(), format).await;
        let error = error.unwrap_err();
        assert!(error.starts_with("it cannot be fetched: "), "{error}");
        let missing = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n";
        let error = answered(missing.to_owned(), format).await.unwrap_err();
        assert!(error.contains("answered with status 404"), "{error}");
    }
}

#[tokio::test]
async fn what_is_no_list_is_refused() {
    for (answer, words) in [
        (
            "HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n".to_owned(),
            "status 503",
        ),
        (ok("<html>Not found</html>"), "line 1"),
        (ok("# nobody\n"), "no address"),
    ] {
        let error = answered(answer, Format::Plain).await.unwrap_err();
        assert!(error.contains(words), "{error}");
    }
    let error = answered(ok("<html><p>x</p></html>"), Format::OfacSdnAdvanced).await;
    assert!(error.unwrap_err().contains("digital currency"));
}

#[tokio::test]
async fn a_redirect_leads_only_to_https_and_to_public_addresses() {
    let inside = answering(ok("0xab\n")).await;
    for (to, words) in [
        (inside.url(), "must start with https"),
        ("https://127.0.0.1/x".to_owned(), "not public"),
        ("https://localhost/x".to_owned(), "local or internal"),
    ] {
        let answer = format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n");
        let error = answered(answer, Format::Plain).await.unwrap_err();
        assert!(error.contains(words), "{error}");
    }
    assert_eq!(inside.connections(), 0);
}
