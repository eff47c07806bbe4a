//! Mail over SMTP, to the server the operator named. What a mail says and who gets it is for those above.

use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use lettre::address::AddressError;
use lettre::message::header::{Header, HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart, SinglePart};
use lettre::{Address, AsyncSmtpTransport, AsyncTransport as _, Message, Tokio1Executor};
use url::{Host, Url};

/// For the whole conversation: a server that answers each step slowly is as dead as one that hangs.
const TIMEOUT: Duration = Duration::from_secs(20);

/// One mail to one reader.
#[derive(Clone, Debug)]
pub struct Mail {
    /// In whose name it is written; none for the server's own.
    pub from_name: Option<String>,
    pub to: String,
    pub subject: String,
    pub text: String,
    pub html: String,
    /// The same for the same notice, however often it is sent: whoever gets it twice can tell.
    pub message_id: String,
    pub date_ms: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MailError {
    #[error("the mail server's address cannot be used: {0}")]
    Url(String),
    #[error("the sender or reader is not a mail address")]
    Address,
    #[error("the mail cannot be put together: {0}")]
    Message(String),
    /// Only the code: what a server says beside it often quotes the reader's address.
    #[error("the mail server refused with {code}")]
    Refused { code: u16 },
    #[error("the mail server cannot be reached: {0}")]
    Unreachable(String),
    #[error("the mail server took too long")]
    TimedOut,
}

impl From<AddressError> for MailError {
    fn from(_: AddressError) -> MailError {
        MailError::Address
    }
}

pub struct Mailer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
    timeout: Duration,
}

impl Mailer {
    /// `smtps://` speaks TLS from the start. `smtp://` turns to TLS where the server offers it, and insists
    /// on it before a password is sent; `?tls=required` insists always. Loopback needs none.
    pub fn new(smtp_url: &str, from: &str) -> Result<Mailer, MailError> {
        let url = secured(smtp_url)?;
        let transport = AsyncSmtpTransport::<Tokio1Executor>::from_url(url.as_str())
            .map_err(|error| MailError::Url(error.to_string()))?
            .timeout(Some(TIMEOUT))
            .build();
        Ok(Mailer {
            transport,
            from: from.parse()?,
            timeout: TIMEOUT,
        })
    }

    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Mailer {
        Mailer { timeout, ..self }
    }

    /// Returns once the server has taken the mail over.
    pub async fn send(&self, mail: &Mail) -> Result<(), MailError> {
        let message = self.compose(mail)?;
        match tokio::time::timeout(self.timeout, self.transport.send(message)).await {
            Err(_) => Err(MailError::TimedOut),
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(match error.status() {
                Some(code) => MailError::Refused { code: code.into() },
                None if error.is_timeout() => MailError::TimedOut,
                None => MailError::Unreachable(error.to_string()),
            }),
        }
    }

    /// Whether the server answers, for `till check`.
    pub async fn reach(&self) -> Result<(), MailError> {
        match tokio::time::timeout(self.timeout, self.transport.test_connection()).await {
            Err(_) => Err(MailError::TimedOut),
            Ok(Ok(true)) => Ok(()),
            Ok(Ok(false)) => Err(MailError::Unreachable("it does not answer".into())),
            Ok(Err(error)) => Err(MailError::Unreachable(error.to_string())),
        }
    }

    /// The operator's address, with the name of whom the reader knows.
    fn in_the_name_of(&self, name: Option<&str>) -> Mailbox {
        match name {
            Some(name) => Mailbox::new(Some(one_line(name)), self.from.email.clone()),
            None => self.from.clone(),
        }
    }

    fn compose(&self, mail: &Mail) -> Result<Message, MailError> {
        let to: Address = mail.to.parse()?;
        let date_ms = u64::try_from(mail.date_ms).unwrap_or(0);
        let id = token(&mail.message_id)?;
        let parts = MultiPart::alternative()
            // Ours instead of the library's random one. Never shown to anybody, so nobody can write it.
            .boundary(format!("=_{id}"))
            .singlepart(SinglePart::plain(mail.text.clone()))
            .singlepart(SinglePart::html(mail.html.clone()));
        Message::builder()
            .from(self.in_the_name_of(mail.from_name.as_deref()))
            .to(Mailbox::new(None, to))
            .header(Subject(one_line(&mail.subject)))
            .date(SystemTime::UNIX_EPOCH + Duration::from_millis(date_ms))
            .message_id(Some(format!("<{id}@{}>", self.from.email.domain())))
            .header(AutoSubmitted)
            .multipart(parts)
            .map_err(|error| MailError::Message(error.to_string()))
    }
}

/// Ids go into headers as they are, so they must be nothing but an id.
fn token(id: &str) -> Result<&str, MailError> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    if (1..=60).contains(&id.len()) && id.bytes().all(plain) {
        Ok(id)
    } else {
        Err(MailError::Message("its id is not one".into()))
    }
}

fn secured(smtp_url: &str) -> Result<Url, MailError> {
    let mut url = Url::parse(smtp_url).map_err(|error| MailError::Url(error.to_string()))?;
    if url.scheme() != "smtp" || is_loopback(&url) {
        return Ok(url);
    }
    let chosen = url.query_pairs().find(|(name, _)| name == "tls");
    let chosen = chosen.map(|(_, value)| value.into_owned());
    match (chosen.as_deref(), url.password()) {
        (None, None) => drop(url.query_pairs_mut().append_pair("tls", "opportunistic")),
        (None, Some(_)) => drop(url.query_pairs_mut().append_pair("tls", "required")),
        (Some("opportunistic"), Some(_)) => {
            return Err(MailError::Url("a password needs tls=required".into()));
        }
        (Some(_), _) => {}
    }
    Ok(url)
}

/// Hosts of `smtp` URLs are not read as addresses by the parser: that is for web addresses alone.
fn is_loopback(url: &Url) -> bool {
    match url.host_str().map(Host::parse) {
        Some(Ok(Host::Domain(name))) => name == "localhost",
        Some(Ok(Host::Ipv4(addr))) => addr.is_loopback(),
        Some(Ok(Host::Ipv6(addr))) => addr.is_loopback(),
        Some(Err(_)) | None => false,
    }
}

/// What looks like an encoded word already is encoded once more: it is read as it was written, not as what it stands for.
#[derive(Clone)]
struct Subject(String);

/// With the header's name or a space in front, a line of them stays within 76 characters.
const WORD_BYTES_MAX: usize = 36;

impl Header for Subject {
    fn name() -> HeaderName {
        HeaderName::new_from_ascii_str("Subject")
    }

    fn parse(text: &str) -> Result<Subject, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Subject(text.to_owned()))
    }

    fn display(&self) -> HeaderValue {
        if !self.0.contains("=?") {
            return HeaderValue::new(Self::name(), self.0.clone());
        }
        let (mut words, mut rest) = (Vec::new(), self.0.as_str());
        while !rest.is_empty() {
            let (word, after) = rest.split_at(rest.floor_char_boundary(WORD_BYTES_MAX));
            words.push(format!("=?utf-8?b?{}?=", BASE64.encode(word)));
            rest = after;
        }
        let encoded = words.join("\r\n ");
        HeaderValue::dangerous_new_pre_encoded(Self::name(), self.0.clone(), encoded)
    }
}

/// RFC 3834: keeps absence notes and other robots from answering.
#[derive(Clone, Copy)]
struct AutoSubmitted;

impl Header for AutoSubmitted {
    fn name() -> HeaderName {
        HeaderName::new_from_ascii_str("Auto-Submitted")
    }

    fn parse(_: &str) -> Result<AutoSubmitted, Box<dyn std::error::Error + Send + Sync>> {
        Ok(AutoSubmitted)
    }

    fn display(&self) -> HeaderValue {
        HeaderValue::new(Self::name(), "auto-generated".into())
    }
}

/// A value stays in its line: what breaks lines or turns their direction becomes a space.
pub fn one_line(text: &str) -> String {
    let breaks = |c: char| {
        c.is_control()
            || matches!(c, '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{061c}')
    };
    text.replace(breaks, " ")
}

#[cfg(test)]
mod tests;
