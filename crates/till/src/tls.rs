//! The server's certificate and key: read from their files at the start, and again whenever those change.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use till_api::Certificates;
use till_engine::base::Stopping;

use crate::config::Config;
use crate::failure::{Failure, remedy};

/// Whoever renews certificates does so days before they end.
const LOOK_EVERY: Duration = Duration::from_secs(10);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    certificate: PathBuf,
    key: PathBuf,
}

/// The certificates in use, and where they came from.
#[derive(Clone)]
pub struct Tls {
    pub certificates: Arc<Certificates>,
    files: Files,
}

/// None where no files are configured: then a proxy speaks TLS, or nobody does.
pub fn files(config: &Config) -> Result<Option<Files>, Failure> {
    let server = &config.server;
    match (&server.tls_certificate, &server.tls_key) {
        (Some(certificate), Some(key)) => Ok(Some(Files {
            certificate: certificate.clone(),
            key: key.clone(),
        })),
        (None, None) => Ok(None),
        _ => Err(Failure::new(
            "configuration: server.tls_certificate and server.tls_key belong together; give both or neither",
        )),
    }
}

impl Files {
    fn read(&self) -> Result<(Vec<u8>, Vec<u8>), Failure> {
        let certificate = read(&self.certificate, "server.tls_certificate")?;
        Ok((certificate, read(&self.key, "server.tls_key")?))
    }

    fn wrong(&self, error: till_api::TlsFileError) -> Failure {
        let (setting, path) = match error {
            till_api::TlsFileError::Certificate => ("server.tls_certificate", &self.certificate),
            till_api::TlsFileError::Key | till_api::TlsFileError::Pair => {
                ("server.tls_key", &self.key)
            }
        };
        Failure::new(format!("{setting}: {} {error}", path.display()))
    }

    /// When either was changed last.
    fn changed_at(&self) -> Option<(SystemTime, SystemTime)> {
        let changed = |path: &Path| std::fs::metadata(path).and_then(|it| it.modified()).ok();
        changed(&self.certificate).zip(changed(&self.key))
    }

    /// Reads them, as a start would.
    pub fn open(self) -> Result<Tls, Failure> {
        let (certificate, key) = self.read()?;
        let certificates = Certificates::new(&certificate, &key).map_err(|it| self.wrong(it))?;
        Ok(Tls {
            certificates: Arc::new(certificates),
            files: self,
        })
    }
}

fn read(path: &Path, setting: &str) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| {
        Failure::new(format!(
            "{setting}: {} cannot be read: {error}{}",
            path.display(),
            remedy(&error)
        ))
    })
}

impl Tls {
    /// What cannot be read or used changes nothing.
    pub fn reload(&self) -> Result<(), Failure> {
        let (certificate, key) = self.files.read()?;
        let replaced = self.certificates.replace(&certificate, &key);
        replaced.map_err(|error| self.files.wrong(error))
    }

    /// Looks after the files for as long as the server runs.
    pub async fn follow(self, mut stopping: Stopping) {
        let mut seen = self.files.changed_at();
        loop {
            tokio::select! {
                () = tokio::time::sleep(LOOK_EVERY) => {}
                _ = stopping.wait_for(|stop| *stop) => return,
            }
            let now = self.files.changed_at();
            if now == seen {
                continue;
            }
            match self.reload() {
                Ok(()) => {
                    seen = now;
                    tracing::info!("the TLS certificate was read anew because its file changed");
                }
                // One of the two may not be written yet.
                Err(failure) => tracing::warn!(
                    %failure,
                    "the changed TLS files cannot be used; the certificate from before stays in use until they can"
                ),
            }
        }
    }
}
