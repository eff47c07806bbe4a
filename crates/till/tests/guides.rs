//! The guides' samples, run as a reader would: those of one language of a guide are one script, against a real server.

#[expect(dead_code, reason = "shared with suites that use more of it")]
mod common;

use std::fs;
use std::io::Write as _;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Output, Stdio};

use common::{Place, Server, text, until};
use serde_json::{Value, json};

const GUIDES: &str = "../../docs/guides";

/// Languages whose samples are run, with the program that runs a script from standard input.
const LANGUAGES: &[(&str, &[&str])] = &[
    ("bash", &["bash", "-euo", "pipefail"]),
    ("js", &["node", "--input-type=module", "-"]),
    ("python", &["python3", "-"]),
    ("php", &["php"]),
];
/// What is shown, and not run: what is typed at a terminal, and files.
const SHOWN: &[&str] = &["console", "json", "toml"];

/// Where a language is not installed, its samples are not run: said, and a failure if TILL_REQUIRE_LANGUAGES is 1.
fn pass_over(what: &str) {
    let is_required = std::env::var("TILL_REQUIRE_LANGUAGES").is_ok_and(|value| value == "1");
    assert!(!is_required, "not installed: {what}");
    eprintln!("not installed: {what} was not run");
}

/// The code blocks of a guide, with their language.
fn samples(guide: &str) -> Vec<(String, String)> {
    blocks(&fs::read_to_string(format!("{GUIDES}/{guide}.md")).unwrap())
}

fn blocks(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in text.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(info), None) => {
                let language = info.split(' ').next().unwrap_or_default();
                open = Some((language.to_owned(), String::new()));
            }
            (Some(_), Some(_)) => found.extend(open.take()),
            (None, Some((_, code))) => {
                code.push_str(line);
                code.push('\n');
            }
            (None, None) => {}
        }
    }
    found
}

fn guides() -> Vec<String> {
    let files = fs::read_dir(GUIDES).unwrap().map(Result::unwrap);
    let mut names: Vec<String> = files
        .map(|file| file.file_name().to_string_lossy().into_owned())
        .filter_map(|name| Some(name.strip_suffix(".md")?.to_owned()))
        .collect();
    names.sort();
    names
}

/// A server with an account, and the variables that samples read.
struct Shop {
    place: Place,
    server: Server,
    secret_key: String,
    publishable_key: String,
}

impl Shop {
    fn open() -> Shop {
        let place = Place::new();
        let account = place.account(&[]);
        let server = place.serve(&[]);
        Shop {
            secret_key: text(&account, "/test/secret_key").to_owned(),
            publishable_key: text(&account, "/test/publishable_key").to_owned(),
            place,
            server,
        }
    }

    fn with_variables(&self, command: &mut Command) {
        command
            .env("TILL_URL", format!("http://{}", self.server.address))
            .env("TILL_SECRET_KEY", &self.secret_key)
            .env("TILL_PUBLISHABLE_KEY", &self.publishable_key);
    }

    /// Starts a program that reads its script from standard input; none where it is not installed.
    fn run(
        &self,
        program: &[&str],
        script: &str,
        more: &[(&str, &str)],
    ) -> Option<std::process::Child> {
        let mut command = Command::new(program[0]);
        command.args(&program[1..]).envs(more.iter().copied());
        self.with_variables(&mut command);
        command.stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().ok()?;
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(script.as_bytes()).unwrap();
        Some(child)
    }

    /// An invoice that was paid at once.
    fn paid_invoice(&self, once: &str, metadata: &Value) -> String {
        let api = self.server.client(&self.secret_key);
        let body = json!({ "amount": "25.00", "currency": "USD", "metadata": metadata });
        let invoice = api.post("/v1/invoices", once, &body).unwrap().expect(201);
        let id = text(&invoice, "/id").to_owned();
        let pay = format!("/v1/test_helpers/invoices/{id}/simulate_payment");
        let once = format!("{once}-payment");
        api.post(&pay, &once, &json!({})).unwrap().expect(200);
        id
    }
}

#[test]
fn every_sample_is_in_a_language_that_is_run_or_known_to_be_shown_only() {
    assert!(guides().len() >= 12, "{:?}", guides());
    for guide in guides() {
        for (language, _) in samples(&guide) {
            let is_run = LANGUAGES.iter().any(|(name, _)| *name == language);
            assert!(is_run || SHOWN.contains(&&*language), "{guide}: {language}");
        }
    }
}

#[test]
fn every_guide_s_samples_do_what_it_says() {
    let shop = Shop::open();
    for guide in guides() {
        // Its samples are servers, which have a test of their own.
        if guide == "receive-webhooks" {
            continue;
        }
        for (language, program) in LANGUAGES {
            let samples = samples(&guide).into_iter();
            let own = samples.filter(|(of, _)| of == language);
            let script: String = own.map(|(_, code)| code).collect();
            if script.is_empty() {
                continue;
            }
            let Some(child) = shop.run(program, &script, &[]) else {
                pass_over(&format!("{language} of {guide}"));
                continue;
            };
            let done = child.wait_with_output().unwrap();
            let said = [done.stdout, done.stderr].concat();
            assert!(
                done.status.success(),
                "{guide}, {language}: {}",
                String::from_utf8_lossy(&said)
            );
        }
    }
}

const EXAMPLES: [&str; 2] = [
    "../api/src/document/docs/examples.json",
    "../api/src/document/docs/examples_dashboard.json",
];
/// What ids begin with.
const IDS: &[&str] = &[
    "inv_", "rfd_", "plink_", "cus_", "plan_", "sub_", "evt_", "pay_", "whd_",
];

/// Whether a recorded request names nothing that only the recording's server had: no id, slug, token or session.
fn is_for_anywhere(example: &Value) -> bool {
    let path = text(example, "/path");
    let body = example["body"].to_string();
    let mut words = path.split(['/', '=']).chain(body.split('"'));
    let names_an_id = words.any(|word| IDS.iter().any(|id| word.starts_with(id)));
    let is_at_dashboard = path.starts_with("/v1/dashboard/");
    !names_an_id
        && !is_at_dashboard
        && !path.contains("/links/")
        && !path.contains("/refund_claims/")
}

/// What makes a sample fail where its call is refused.
fn strict(language: &str, code: &str) -> String {
    match language {
        "bash" => code.replacen("curl ", "curl -sS --fail-with-body ", 1),
        "typescript" => format!("{code}\nif (!response.ok) throw answer;\n"),
        _ => code.to_owned(),
    }
}

/// Runs a sample of the reference, or only reads it where it names what this server does not have.
fn try_sample(shop: &Shop, language: &str, code: &str, is_run: bool) -> Option<Output> {
    let module = shop.place.write("sample.mjs", code);
    let module = module.to_str().unwrap();
    let program: &[&str] = match (language, is_run) {
        ("bash", true) => &["bash", "-euo", "pipefail"],
        ("bash", false) => &["bash", "-n"],
        // Nothing in it is TypeScript's alone.
        ("typescript", true) => &["node", "--input-type=module", "-"],
        ("typescript", false) => &["node", "--check", module],
        (_, true) => &["python3", "-"],
        (_, false) => &[
            "python3",
            "-c",
            "import ast, sys; ast.parse(sys.stdin.read())",
        ],
    };
    let child = shop.run(program, &strict(language, code), &[])?;
    Some(child.wait_with_output().unwrap())
}

#[test]
fn the_reference_s_samples_run_as_they_are_shown() {
    let shop = Shop::open();
    let page = shop.server.client("").get("/docs/api.md").unwrap();
    let page = String::from_utf8(page.body).unwrap();
    let recorded = EXAMPLES.map(|file| fs::read_to_string(file).unwrap());
    let recorded = recorded
        .iter()
        .map(|file| serde_json::from_str::<serde_json::Map<String, Value>>(file).unwrap());
    let recorded: Vec<(String, Value)> = recorded.flatten().collect();
    let mut run = 0;
    for (operation, example) in &recorded {
        let mut chapters = page.split("\n### ");
        let chapter = chapters.find(|it| it.contains(&format!("{{#{operation}}}")));
        let samples = blocks(chapter.unwrap_or_else(|| panic!("{operation}")));
        assert_eq!(
            samples.len(),
            4,
            "{operation}: three languages and the answer"
        );
        let is_run = is_for_anywhere(example);
        run += usize::from(is_run);
        for (language, code) in &samples[..3] {
            let Some(done) = try_sample(&shop, language, code, is_run) else {
                pass_over(&format!("{language} of the reference"));
                continue;
            };
            let said = [done.stdout, done.stderr].concat();
            let said = String::from_utf8_lossy(&said);
            assert!(done.status.success(), "{operation}, {language}: {said}");
        }
    }
    assert!(run > 20, "{run} of {} were run", recorded.len());
}

#[test]
fn every_configuration_in_a_guide_and_in_the_package_is_one() {
    let place = Place::new();
    let shown = guides().into_iter().flat_map(|guide| samples(&guide));
    let shown = shown.filter(|(language, _)| language == "toml");
    let mut files: Vec<String> = shown.map(|(_, code)| code).collect();
    files.push(fs::read_to_string("../../packaging/till.toml").unwrap());
    assert!(files.len() >= 2);
    for file in files {
        let path = place.write("till.toml", &file);
        place
            .till(&["config", "--check", path.to_str().unwrap()])
            .ok();
    }
}

/// Kills what it started.
struct Receiver(std::process::Child);

impl Drop for Receiver {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// What strangers do to a receiver: a body that breaks off, one without a length, one that never ends, and one that is never
/// sent, whose connection is kept.
fn bother(receiver: &common::Client, address: SocketAddr) -> TcpStream {
    let connect = || TcpStream::connect(address).unwrap();
    let half = format!("{}half", receiver.post_head("/webhooks", "x", 100));
    connect().write_all(half.as_bytes()).unwrap();
    let mut unmeasured = connect();
    let head = receiver.head("POST", "/webhooks", "");
    unmeasured.write_all(head.as_bytes()).unwrap();
    assert_eq!(common::read_reply(&mut unmeasured).unwrap().status, 400);
    let mut endless = connect();
    let head = receiver.post_head("/webhooks", "x", 1 << 30);
    endless.write_all(head.as_bytes()).unwrap();
    until("the receiver hangs up", || {
        endless.write_all(&[b'x'; 65536]).is_err()
    });
    let mut silent = connect();
    silent.write_all(half.as_bytes()).unwrap();
    silent
}

#[test]
fn the_guide_s_receivers_take_what_till_listen_sends_and_refuse_what_it_did_not() {
    let shop = Shop::open();
    for (language, code) in samples("receive-webhooks") {
        let Some((_, program)) = LANGUAGES.iter().find(|(name, _)| *name == language) else {
            continue;
        };
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        let url = format!("http://{address}/webhooks");
        let mut listen = shop.place.command(&["listen", "--forward-to", &url]);
        shop.with_variables(&mut listen);
        let listener = Server::spawn(&mut listen);
        let line = listener.out_line();
        let secret = line.rsplit(' ').next().unwrap().to_owned();
        let port = address.port().to_string();
        let variables = [("TILL_WEBHOOK_SECRET", &*secret), ("PORT", &*port)];
        let Some(mut child) = shop.run(program, &code, &variables) else {
            pass_over(&format!("the receiver in {language}"));
            continue;
        };
        let out = child.stdout.take().unwrap();
        let _receiver = Receiver(child);
        until("the receiver listens", || {
            TcpStream::connect(address).is_ok()
        });

        let forged = common::Client::new(&address.to_string(), "");
        let refused = forged.post(
            "/webhooks",
            "x",
            &json!({ "id": "evt_1", "type": "invoice.paid" }),
        );
        assert_eq!(refused.unwrap().status, 400, "{language}");
        let _silent = bother(&forged, address);
        let lines = common::lines(out);
        let order = format!("order-{language}");
        let paid = shop.paid_invoice(&order, &json!({ "order": order }));
        let said = || lines.recv_timeout(common::PATIENCE).expect("a line");
        assert_eq!(said(), format!("deliver {order}"), "{language}: {paid}");
        let paid = shop.paid_invoice(&format!("{order}-unnamed"), &json!({}));
        assert_eq!(said(), format!("deliver {paid}"), "{language}");
    }
}
