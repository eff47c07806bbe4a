//! A mail server on loopback that keeps what it takes, and at times refuses.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use till_engine::smtp::Mailer;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    pub to: String,
    pub message_id: String,
}

pub struct Post {
    port: u16,
    pub refuses: AtomicBool,
    taken: Mutex<Vec<Letter>>,
}

impl Post {
    pub async fn open() -> Arc<Post> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let post = Arc::new(Post {
            port: listener.local_addr().unwrap().port(),
            refuses: AtomicBool::new(false),
            taken: Mutex::default(),
        });
        let server = Arc::clone(&post);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let server = Arc::clone(&server);
                tokio::spawn(async move { server.serve(stream).await });
            }
        });
        post
    }

    pub fn mailer(&self) -> Mailer {
        let url = format!("smtp://127.0.0.1:{}", self.port);
        Mailer::new(&url, "Till <till@pay.example>").unwrap()
    }

    pub fn taken(&self) -> Vec<Letter> {
        self.taken.lock().unwrap().clone()
    }

    /// Who got which mails, each counted once however often it came.
    pub fn by_address(&self) -> BTreeMap<String, Vec<String>> {
        let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for letter in self.taken() {
            let mails = found.entry(letter.to).or_default();
            if !mails.contains(&letter.message_id) {
                mails.push(letter.message_id);
            }
        }
        found
    }

    /// Returns when the client hangs up, in whichever way.
    async fn serve(&self, stream: TcpStream) -> Option<()> {
        let mut stream = BufReader::new(stream);
        let mut to = String::new();
        stream.write_all(b"220 post.example\r\n").await.ok()?;
        loop {
            let line = line(&mut stream).await?;
            let answer = match line.to_ascii_uppercase() {
                verb if verb.starts_with("RCPT TO:<") => {
                    line["RCPT TO:<".len()..]
                        .trim_end_matches('>')
                        .clone_into(&mut to);
                    match self.refuses.load(Ordering::SeqCst) {
                        true => "451 later",
                        false => "250 yes",
                    }
                }
                verb if verb == "DATA" => {
                    stream.write_all(b"354 go on\r\n").await.ok()?;
                    let message_id = letter(&mut stream).await?;
                    let to = to.clone();
                    let mut taken = self.taken.lock().unwrap();
                    taken.push(Letter { to, message_id });
                    "250 taken"
                }
                verb if verb == "QUIT" => return None,
                _ => "250 yes",
            };
            let answer = format!("{answer}\r\n");
            stream.write_all(answer.as_bytes()).await.ok()?;
        }
    }
}

async fn line(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    let read = stream.read_line(&mut line).await.ok()?;
    (read > 0).then(|| line.trim_end().to_owned())
}

/// The Message-ID of the mail that follows, up to its end.
async fn letter(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut message_id = String::new();
    loop {
        let line = line(stream).await?;
        if line == "." {
            return Some(message_id);
        }
        if let Some(id) = line.strip_prefix("Message-ID: <") {
            id.trim_end_matches('>').clone_into(&mut message_id);
        }
    }
}
