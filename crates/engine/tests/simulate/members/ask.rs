//! What signed-in people ask for, as a server lets it in: by whom, where, in which mode, under which key, with which yes.

use std::fmt;
use std::sync::{Arc, Mutex};

use scoped_futures::ScopedFutureExt as _;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use till_core::actor::{Actor, Origin};
use till_core::asset::Mode;
use till_core::role::{Permission, Role};
use till_core::scope::{Credential, Scope};
use till_engine::base::asker::{Means, Member};
use till_engine::base::{Asker, Change};
use till_engine::merchants::accounts::{self, KeyKind};
use till_engine::merchants::settings::{self, SettingsChange};
use till_engine::once::Once;
use till_engine::team::applications::{self, ApplicationChange, Decision};
use till_engine::team::changes::{self, NewChange};
use till_engine::team::confirming::{self, Target};
use till_engine::team::emails::Email;
use till_engine::team::sessions::{self, Signed};
use till_engine::team::tokens::Token;
use till_engine::team::unit::{
    Confirmation, Needs, NeedsYes, SignedRequest, TeamContext, user_key,
};
use till_engine::team::{api_keys, inviting, members, operator, organizations, passkeys, totp};
use till_engine::{Answer, Context, Engine, Fail, Tx};

/// What a passkey answered: it has chance of its own in it, and is told nowhere.
#[derive(Clone)]
pub struct Signature(pub Value);

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("signed")
    }
}

#[derive(Clone, Debug)]
pub enum Ask {
    SetRole { user: String, role: Role },
    Remove { user: String },
    Leave,
    Invite { email: String, role: Role },
    Withdraw { invite: String },
    Rename,
    RequestChange(NewChange),
    CancelChange { change: String },
    NewKey { kind: KeyKind },
    RollKey { id: String },
    RevokeKey { id: String },
    TakeOverKey { id: String },
    Settings { name: String },
    Edit,
    Submit,
    TakeBack,
    Decide { application: String, approves: bool },
    Disable { account: String },
    Enable { account: String },
    BeginPasskey,
    AddPasskey { ceremony: String, answer: Signature },
    RemovePasskey { id: String },
    OfferCodes,
    SwitchCodesOn { code: String },
    SwitchCodesOff { code: Option<String> },
    Revoke { session: String },
    RevokeOthers,
    SignOut,
    BeginYes(Target),
    SayYes { id: String, answer: Signature },
}

impl Ask {
    pub fn path(&self) -> String {
        let rest = match self {
            Ask::SetRole { user, .. } => format!("members/{user}"),
            Ask::Remove { user } => format!("members/{user}/remove"),
            Ask::Leave => "members/leave".to_owned(),
            Ask::Invite { .. } => "invites".to_owned(),
            Ask::Withdraw { invite } => format!("invites/{invite}/withdraw"),
            Ask::Rename => "organization".to_owned(),
            Ask::RequestChange(_) => "changes".to_owned(),
            Ask::CancelChange { change } => format!("changes/{change}/cancel"),
            Ask::NewKey { .. } => "api_keys".to_owned(),
            Ask::RollKey { id } => format!("api_keys/{id}/roll"),
            Ask::RevokeKey { id } => format!("api_keys/{id}/revoke"),
            Ask::TakeOverKey { id } => format!("api_keys/{id}/take_over"),
            Ask::Settings { .. } => return "/v1/merchant/settings".to_owned(),
            Ask::Edit => "application".to_owned(),
            Ask::Submit => "application/submit".to_owned(),
            Ask::TakeBack => "application/withdraw".to_owned(),
            Ask::Decide {
                application,
                approves,
            } => {
                let verb = if *approves { "approve" } else { "reject" };
                format!("operator/applications/{application}/{verb}")
            }
            Ask::Disable { account } => format!("operator/organizations/{account}/disable"),
            Ask::Enable { account } => format!("operator/organizations/{account}/enable"),
            Ask::BeginPasskey => "passkeys/begin".to_owned(),
            Ask::AddPasskey { .. } => "passkeys".to_owned(),
            Ask::RemovePasskey { id } => format!("passkeys/{id}/remove"),
            Ask::OfferCodes => "totp/setup".to_owned(),
            Ask::SwitchCodesOn { .. } => "totp/confirm".to_owned(),
            Ask::SwitchCodesOff { .. } => "totp/disable".to_owned(),
            Ask::Revoke { session } => format!("sessions/{session}/revoke"),
            Ask::RevokeOthers => "sessions/revoke_others".to_owned(),
            Ask::SignOut => "sign_out".to_owned(),
            Ask::BeginYes(_) => "confirmations".to_owned(),
            Ask::SayYes { id, .. } => format!("confirmations/{id}"),
        };
        format!("/v1/dashboard/{rest}")
    }

    /// What the routes ask of the caller: the right, and whether there is a mode.
    fn needs(&self) -> (Needs, bool) {
        let of = |permission| Needs::Permission(permission);
        match self {
            Ask::SetRole { .. }
            | Ask::Remove { .. }
            | Ask::Invite { .. }
            | Ask::Withdraw { .. } => (of(Permission::MembersWrite), false),
            Ask::Leave => (Needs::Membership, false),
            Ask::Rename => (of(Permission::OrganizationWrite), false),
            Ask::RequestChange(_) => (Needs::Membership, true),
            Ask::CancelChange { .. } => (of(Permission::ChangesCancel), true),
            Ask::NewKey { .. }
            | Ask::RollKey { .. }
            | Ask::RevokeKey { .. }
            | Ask::TakeOverKey { .. } => (of(Permission::KeysWrite), true),
            Ask::Settings { .. } => (of(Permission::SettingsWrite), true),
            Ask::Edit | Ask::Submit | Ask::TakeBack => (of(Permission::ApplicationWrite), false),
            Ask::Decide { .. } | Ask::Disable { .. } | Ask::Enable { .. } => {
                (Needs::Operator, false)
            }
            _ => (Needs::Session, false),
        }
    }

    /// Whether the route asks for a yes, whatever the request turns out to be about.
    fn needs_yes(&self, mode: Option<Mode>) -> NeedsYes {
        match self {
            Ask::RequestChange(_) if mode == Some(Mode::Live) => NeedsYes::Always,
            Ask::Submit | Ask::Decide { .. } | Ask::Disable { .. } | Ask::Enable { .. } => {
                NeedsYes::Always
            }
            Ask::BeginPasskey
            | Ask::RemovePasskey { .. }
            | Ask::OfferCodes
            | Ask::SwitchCodesOff { .. } => NeedsYes::IfPasskey,
            _ => NeedsYes::No,
        }
    }

    pub fn body(&self) -> Vec<u8> {
        format!("{self:?}").into_bytes()
    }
}

/// A request that a server let in.
#[derive(Clone, Debug)]
pub struct Request {
    pub person: usize,
    pub asked: SignedRequest,
    pub needs_yes: NeedsYes,
    pub key: String,
    pub ask: Ask,
}

impl Request {
    /// As a server reads it from whoever is signed in; `place` is the organisation and the mode that were named.
    pub fn new(
        person: usize,
        signed: &Signed,
        (account, mode): (&str, Mode),
        key: String,
        ask: Ask,
    ) -> Request {
        let (needs, has_mode) = ask.needs();
        let has_account = matches!(needs, Needs::Membership | Needs::Permission(_));
        let mode = has_mode.then_some(mode);
        Request {
            person,
            needs_yes: ask.needs_yes(mode),
            asked: SignedRequest {
                user: signed.user.id.as_str().into(),
                session: signed.session.id.as_str().into(),
                account: has_account.then(|| account.into()),
                mode,
                needs,
                origin: Origin {
                    session: Some(signed.session.id.clone()),
                    ..Origin::default()
                },
                confirmation: Confirmation {
                    id: None,
                    path: ask.path(),
                    body_hash: Sha256::digest(ask.body()).into(),
                },
            },
            key,
            ask,
        }
    }

    /// What a passkey is asked about before it is sent.
    pub fn target(&self) -> Target {
        Target {
            path: self.asked.confirmation.path.clone(),
            body_hash: self.asked.confirmation.body_hash,
            account: self.asked.account.as_deref().map(str::to_owned),
            mode: self.asked.mode,
        }
    }
}

/// Does what was let in. The token of a session that is renewed is left in `renewed`.
pub async fn exec(
    engine: &Engine,
    request: &Request,
    renewed: &Mutex<Option<Token>>,
) -> Result<Answer, Fail> {
    let Request {
        asked, ask, key, ..
    } = request;
    let body = ask.body();
    if let Ask::Settings { name } = ask {
        let asker = asked.asker(asked.confirmation.body_hash);
        let account = asked.account.as_deref().unwrap_or_default();
        let scope = Scope::new(account, asked.mode.unwrap_or(Mode::Test));
        return set_name(engine, &scope, asker, key, name).await;
    }
    let once = Once::new(
        Actor::Member(Arc::clone(&asked.user)),
        Credential::User,
        user_key(asked, key),
        "POST",
        &asked.confirmation.path,
        &body,
    );
    let done = engine.once_by_user(asked, request.needs_yes, &once, |tx, context| {
        async move {
            match ask {
                Ask::SayYes { id, answer } => {
                    let said = confirming::answer(tx, context, id, &answer.0, renewed).await?;
                    Answer::json(200, &said)
                }
                Ask::BeginYes(_) | Ask::BeginPasskey | Ask::AddPasskey { .. } => {
                    ceremony(tx, context, ask).await
                }
                _ => perform(tx, context, ask).await,
            }
        }
        .scope_boxed()
    });
    done.await
}

async fn ceremony(tx: &mut Tx, context: &TeamContext<'_>, ask: &Ask) -> Result<Answer, Fail> {
    match ask {
        Ask::BeginYes(target) => Answer::json(201, &confirming::begin(tx, context, target).await?),
        Ask::BeginPasskey => Answer::json(200, &passkeys::begin(tx, context).await?),
        Ask::AddPasskey { ceremony, answer } => {
            let made = passkeys::register(tx, context, ceremony, &answer.0, "a device").await?;
            Answer::json(201, &made)
        }
        _ => Err(Fail::broken("no ceremony")),
    }
}

async fn perform(tx: &mut Tx, context: &TeamContext<'_>, ask: &Ask) -> Result<Answer, Fail> {
    match ask {
        Ask::SetRole { user, role } => {
            Answer::json(200, &members::set_role(tx, context, user, *role).await?)
        }
        Ask::Remove { user } => Answer::json(200, &members::remove(tx, context, user).await?),
        Ask::Leave => Answer::json(200, &members::leave(tx, context).await?),
        Ask::Invite { email, role } => {
            let email = Email::parse(email)?;
            Answer::json(201, &inviting::invite(tx, context, &email, *role).await?)
        }
        Ask::Withdraw { invite } => {
            Answer::json(200, &inviting::withdraw(tx, context, invite).await?)
        }
        Ask::Rename => Answer::json(200, &organizations::rename(tx, context, "Renamed").await?),
        Ask::RequestChange(new) => Answer::json(201, &changes::request(tx, context, new).await?),
        Ask::CancelChange { change } => {
            Answer::json(200, &changes::cancel(tx, context, change).await?)
        }
        Ask::NewKey { kind } => {
            Answer::json(201, &api_keys::create(tx, context, *kind, "a key").await?)
        }
        Ask::RollKey { id } => Answer::json(200, &api_keys::roll(tx, context, id).await?),
        Ask::RevokeKey { id } => Answer::json(200, &api_keys::revoke(tx, context, id).await?),
        Ask::TakeOverKey { id } => Answer::json(200, &api_keys::take_over(tx, context, id).await?),
        Ask::Edit => Answer::json(200, &applications::edit(tx, context, &filled_in()?).await?),
        Ask::Submit => Answer::json(200, &applications::submit(tx, context).await?),
        Ask::TakeBack => Answer::json(200, &applications::withdraw(tx, context).await?),
        Ask::Decide {
            application,
            approves,
        } => {
            let decision = Decision {
                is_approved: *approves,
                reason: Some("as we see it"),
                read: None,
            };
            let decided = applications::decide(tx, context, application, decision).await?;
            Answer::json(200, &decided)
        }
        Ask::Disable { account } => {
            let done = operator::set_disabled(tx, context, account, Some("why")).await?;
            Answer::json(200, &done)
        }
        Ask::Enable { account } => {
            let done = operator::set_disabled(tx, context, account, None).await?;
            Answer::json(200, &done)
        }
        Ask::RemovePasskey { id } => Answer::json(200, &passkeys::remove(tx, context, id).await?),
        Ask::OfferCodes => Answer::json(200, &totp::set_up(tx, context).await?),
        Ask::SwitchCodesOn { code } => Answer::json(200, &totp::confirm(tx, context, code).await?),
        Ask::SwitchCodesOff { code } => {
            Answer::json(200, &totp::disable(tx, context, code.as_deref()).await?)
        }
        Ask::Revoke { session } => {
            Answer::json(200, &sessions::revoke(tx, context, session).await?)
        }
        Ask::RevokeOthers => Answer::json(200, &sessions::revoke_others(tx, context).await?),
        Ask::SignOut => {
            sessions::end(tx, context, &context.asked.session).await?;
            Answer::json(200, &"signed_out")
        }
        _ => Err(Fail::broken("asked elsewhere")),
    }
}

fn filled_in() -> Result<ApplicationChange, Fail> {
    let set = |text: &str| Change::Set(text.to_owned());
    Ok(ApplicationChange {
        business_name: set("A shop"),
        country: set("DE"),
        contact_email: Change::Set(Email::parse("shop@example.com")?),
        business_description: set("It sells things"),
        expected_monthly_volume: set("1000.00"),
        ..ApplicationChange::default()
    })
}

/// A request with a secret key that a server let in.
#[derive(Clone, Debug)]
pub struct KeyRequest {
    pub scope: Scope,
    pub asker: Asker,
    pub key: String,
    pub name: String,
}

impl KeyRequest {
    /// Nothing where the key does not work.
    pub async fn new(
        engine: &Engine,
        secret: &str,
        key: String,
        name: String,
    ) -> Result<KeyRequest, Fail> {
        let caller = accounts::caller(engine, secret).await?;
        let member = caller.creator.map(|creator| Member {
            user: creator.user,
            needs: Some(Permission::SettingsWrite),
            by: Means::Key,
        });
        Ok(KeyRequest {
            scope: caller.scope,
            asker: Asker {
                actor: Actor::key(&caller.key_id),
                origin: Origin::default(),
                key: Some(caller.key_id.as_str().into()),
                member,
            },
            key,
            name,
        })
    }

    pub async fn exec(&self, engine: &Engine) -> Result<Answer, Fail> {
        let asker = self.asker.clone();
        set_name(engine, &self.scope, asker, &self.key, &self.name).await
    }
}

/// A setting that both keys and sessions change.
async fn set_name(
    engine: &Engine,
    scope: &Scope,
    asker: Asker,
    key: &str,
    name: &str,
) -> Result<Answer, Fail> {
    let change = &SettingsChange {
        display_name: Change::Set(name.to_owned()),
        ..SettingsChange::default()
    };
    let path = "/v1/merchant/settings";
    let once = Once::new(
        asker,
        Credential::Merchant,
        key.to_owned(),
        "POST",
        path,
        name.as_bytes(),
    );
    let done = engine.once(scope, &once, |tx: &mut Tx, context: &Context<'_>| {
        async move { Answer::json(200, &settings::update(tx, context, change).await?) }
            .scope_boxed()
    });
    done.await
}
