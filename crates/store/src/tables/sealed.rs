//! What is encrypted, wherever it is, for being encrypted anew: some rows at a time, each only as long as it is what was read.

use crate::{Queries, StoreError, Tx, Val, vals};

/// A column that holds what was encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SealedColumn {
    WebhookSecrets,
    /// Those that wait to take effect.
    ChangeSecrets,
    NoticeEmails,
    CustomerEmails,
    ClaimTokens,
    /// Answers under idempotency keys.
    Answers,
    UserEmails,
    TotpSeeds,
    /// Seeds that are not confirmed yet.
    TotpOffers,
    CsrfTokens,
    InviteEmails,
    /// Of applications for live mode.
    ContactEmails,
    LinkMails,
    /// What signs digests of the journal: the installation's.
    LedgerKeys,
}

impl SealedColumn {
    pub const ALL: [SealedColumn; 14] = [
        SealedColumn::WebhookSecrets,
        SealedColumn::ChangeSecrets,
        SealedColumn::NoticeEmails,
        SealedColumn::CustomerEmails,
        SealedColumn::ClaimTokens,
        SealedColumn::Answers,
        SealedColumn::UserEmails,
        SealedColumn::TotpSeeds,
        SealedColumn::TotpOffers,
        SealedColumn::CsrfTokens,
        SealedColumn::InviteEmails,
        SealedColumn::ContactEmails,
        SealedColumn::LinkMails,
        SealedColumn::LedgerKeys,
    ];

    pub fn table(self) -> &'static str {
        match self {
            SealedColumn::WebhookSecrets => "webhook_secrets",
            SealedColumn::ChangeSecrets => "changes",
            SealedColumn::NoticeEmails => "notices",
            SealedColumn::CustomerEmails => "customers",
            SealedColumn::ClaimTokens => "refunds",
            SealedColumn::Answers => "idempotency_keys",
            SealedColumn::UserEmails | SealedColumn::TotpSeeds | SealedColumn::TotpOffers => {
                "users"
            }
            SealedColumn::CsrfTokens => "sessions",
            SealedColumn::InviteEmails => "invites",
            SealedColumn::ContactEmails => "applications",
            SealedColumn::LinkMails => "link_mails",
            SealedColumn::LedgerKeys => "ledger_keys",
        }
    }

    fn name(self) -> &'static str {
        match self {
            SealedColumn::WebhookSecrets
            | SealedColumn::ChangeSecrets
            | SealedColumn::LedgerKeys => "secret",
            SealedColumn::NoticeEmails
            | SealedColumn::CustomerEmails
            | SealedColumn::UserEmails
            | SealedColumn::InviteEmails => "email",
            SealedColumn::ClaimTokens => "token_sealed",
            SealedColumn::Answers => "response",
            SealedColumn::TotpSeeds => "totp_seed",
            SealedColumn::ContactEmails => "contact_email",
            SealedColumn::TotpOffers => "totp_offer",
            SealedColumn::CsrfTokens => "csrf",
            SealedColumn::LinkMails => "content",
        }
    }

    /// Whether its rows belong to no account and mode: those of people who sign in, and of the installation.
    pub fn has_no_scope(self) -> bool {
        match self {
            SealedColumn::WebhookSecrets
            | SealedColumn::NoticeEmails
            | SealedColumn::CustomerEmails
            | SealedColumn::ClaimTokens
            | SealedColumn::ChangeSecrets
            | SealedColumn::Answers => false,
            SealedColumn::UserEmails
            | SealedColumn::TotpSeeds
            | SealedColumn::TotpOffers
            | SealedColumn::CsrfTokens
            | SealedColumn::InviteEmails
            | SealedColumn::ContactEmails
            | SealedColumn::LinkMails
            | SealedColumn::LedgerKeys => true,
        }
    }

    /// The table's key, in order.
    fn key(self) -> &'static [&'static str] {
        match self {
            SealedColumn::WebhookSecrets => &["account", "mode", "serial"],
            SealedColumn::CustomerEmails | SealedColumn::ClaimTokens => &["account", "mode", "id"],
            SealedColumn::Answers => &["account", "mode", "credential", "key"],
            _ => &["id"],
        }
    }

    /// What it was encrypted for, besides its account and mode.
    fn subject(self) -> &'static str {
        match self {
            SealedColumn::WebhookSecrets | SealedColumn::ChangeSecrets => "''",
            SealedColumn::NoticeEmails => "invoice",
            SealedColumn::Answers => "key",
            _ => "id",
        }
    }

    fn credential(self) -> &'static str {
        match self {
            SealedColumn::Answers => "credential",
            _ => "''",
        }
    }

    /// Compares the key, from placeholder `first` on, as texts.
    fn compared(self, sign: &str, first: usize) -> String {
        let bound = |(at, column): (usize, &&str)| match *column {
            "serial" => format!("CAST(CAST(${} AS TEXT) AS BIGINT)", first + at),
            _ => format!("${}", first + at),
        };
        let bound: Vec<String> = self.key().iter().enumerate().map(bound).collect();
        format!("({}) {sign} ({})", self.key().join(", "), bound.join(", "))
    }
}

/// Something encrypted, and where it is.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct SealedRow {
    pub account: String,
    pub mode: String,
    pub subject: String,
    pub credential: String,
    pub sealed: Vec<u8>,
    key_1: String,
    key_2: String,
    key_3: String,
    key_4: String,
}

impl SealedRow {
    fn key(&self, sealed_column: SealedColumn) -> impl Iterator<Item = Val> {
        let parts = [&self.key_1, &self.key_2, &self.key_3, &self.key_4];
        parts
            .into_iter()
            .take(sealed_column.key().len())
            .map(Val::from)
    }
}

/// The next ones in the order of their keys.
pub async fn page(
    q: &mut impl Queries,
    sealed_column: SealedColumn,
    after: Option<&SealedRow>,
    at_most: i64,
) -> Result<Vec<SealedRow>, StoreError> {
    let part = |at: usize| match sealed_column.key().get(at) {
        Some(column) => format!("CAST({column} AS TEXT) AS key_{}", at + 1),
        None => format!("'' AS key_{}", at + 1),
    };
    let parts: Vec<String> = (0..4).map(part).collect();
    let (mut args, mut from) = (vals![at_most].to_vec(), String::new());
    if let Some(after) = after {
        args.extend(after.key(sealed_column));
        from = format!("{} AND ", sealed_column.compared(">", 2));
    }
    let owner = match sealed_column.has_no_scope() {
        true => "'' AS account, '' AS mode",
        false => "account, mode",
    };
    let sql = format!(
        "SELECT {owner}, {} AS subject, {} AS credential, {column} AS sealed, {} FROM {} \
         WHERE {from}{column} IS NOT NULL AND length({column}) > 0 ORDER BY {} LIMIT $1",
        sealed_column.subject(),
        sealed_column.credential(),
        parts.join(", "),
        sealed_column.table(),
        sealed_column.key().join(", "),
        column = sealed_column.name(),
    );
    q.all(&sql, &args).await
}

/// How many each key has encrypted, by the name that is in front of what it encrypted.
pub async fn counts_by_key(
    q: &mut impl Queries,
    sealed_column: SealedColumn,
) -> Result<Vec<(Vec<u8>, i64)>, StoreError> {
    let sql = format!(
        "SELECT substr({column}, 2, 4), COUNT(*) FROM {} WHERE {column} IS NOT NULL AND length({column}) > 0 GROUP BY 1",
        sealed_column.table(),
        column = sealed_column.name(),
    );
    q.all(&sql, &[]).await
}

/// Puts another in its place, unless somebody else has. `tag` is for e-mail addresses that are found by one.
pub async fn replace(
    tx: &mut Tx,
    sealed_column: SealedColumn,
    row: &SealedRow,
    sealed: Vec<u8>,
    tag: Option<Vec<u8>>,
) -> Result<bool, StoreError> {
    let column = sealed_column.name();
    let mut args = vals![sealed, row.sealed.clone()].to_vec();
    args.extend(row.key(sealed_column));
    let of_tag = match tag {
        None => String::new(),
        Some(tag) => {
            args.push(tag.into());
            format!(", email_tag = ${}", args.len())
        }
    };
    let sql = format!(
        "UPDATE {} SET {column} = $1{of_tag} WHERE {} AND {column} = $2",
        sealed_column.table(),
        sealed_column.compared("=", 3)
    );
    Ok(tx.run(&sql, &args).await? == 1)
}
