//! Mails to the people who work with the dashboard: links that they asked for, and that something happened.

use super::html::Html;
use super::locale::Locale;
use super::render::Rendered;

/// What a mail with a link is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Letter {
    SignIn,
    SignUp,
    Invite,
    /// Something happened; the link leads to the page that tells it, and carries no token.
    Notice,
}

struct Words {
    sign_in: (&'static str, &'static str),
    sign_up: (&'static str, &'static str),
    invite: (&'static str, &'static str),
    notice: (&'static str, &'static str),
    /// What to do with a mail that one did not ask for.
    unasked: &'static str,
}

fn words(locale: Locale) -> &'static Words {
    match locale {
        Locale::En => &EN,
        Locale::Es => &ES,
        Locale::De => &DE,
        Locale::Fr => &FR,
        Locale::Pt => &PT,
    }
}

static EN: Words = Words {
    sign_in: (
        "Your link to sign in to Till",
        "Open this link in the browser in which you asked for it. It works once, for ten minutes.",
    ),
    sign_up: (
        "Your link to sign up for Till",
        "Open this link in the browser in which you asked for it. It works once, for an hour.",
    ),
    invite: (
        "You are invited to an organization on Till",
        "Open this link to see the invitation and to accept it. It works once, for seven days.",
    ),
    notice: (
        "There is a new notice for you on Till",
        "Something changed that you should know of. Sign in to read it:",
    ),
    unasked: "If you did not expect this message, you need not do anything.",
};

static ES: Words = Words {
    sign_in: (
        "Su enlace para iniciar sesión en Till",
        "Abra este enlace en el navegador en el que lo pidió. Funciona una sola vez, durante diez minutos.",
    ),
    sign_up: (
        "Su enlace para registrarse en Till",
        "Abra este enlace en el navegador en el que lo pidió. Funciona una sola vez, durante una hora.",
    ),
    invite: (
        "Le han invitado a una organización en Till",
        "Abra este enlace para ver la invitación y aceptarla. Funciona una sola vez, durante siete días.",
    ),
    notice: (
        "Hay un aviso nuevo para usted en Till",
        "Ha cambiado algo que debería saber. Inicie sesión para leerlo:",
    ),
    unasked: "Si no esperaba este mensaje, no tiene que hacer nada.",
};

static DE: Words = Words {
    sign_in: (
        "Ihr Link zum Anmelden bei Till",
        "Öffnen Sie diesen Link in dem Browser, in dem Sie ihn angefordert haben. Er gilt einmal, zehn Minuten lang.",
    ),
    sign_up: (
        "Ihr Link zum Registrieren bei Till",
        "Öffnen Sie diesen Link in dem Browser, in dem Sie ihn angefordert haben. Er gilt einmal, eine Stunde lang.",
    ),
    invite: (
        "Sie sind in eine Organisation bei Till eingeladen",
        "Öffnen Sie diesen Link, um die Einladung zu sehen und anzunehmen. Er gilt einmal, sieben Tage lang.",
    ),
    notice: (
        "Es gibt eine neue Mitteilung für Sie bei Till",
        "Es hat sich etwas geändert, das Sie wissen sollten. Melden Sie sich an, um es zu lesen:",
    ),
    unasked: "Wenn Sie diese Nachricht nicht erwartet haben, müssen Sie nichts tun.",
};

static FR: Words = Words {
    sign_in: (
        "Votre lien de connexion à Till",
        "Ouvrez ce lien dans le navigateur où vous l'avez demandé. Il fonctionne une fois, pendant dix minutes.",
    ),
    sign_up: (
        "Votre lien d'inscription à Till",
        "Ouvrez ce lien dans le navigateur où vous l'avez demandé. Il fonctionne une fois, pendant une heure.",
    ),
    invite: (
        "Vous êtes invité dans une organisation sur Till",
        "Ouvrez ce lien pour voir l'invitation et l'accepter. Il fonctionne une fois, pendant sept jours.",
    ),
    notice: (
        "Il y a un nouvel avis pour vous sur Till",
        "Quelque chose a changé que vous devriez savoir. Connectez-vous pour le lire :",
    ),
    unasked: "Si vous n'attendiez pas ce message, vous n'avez rien à faire.",
};

static PT: Words = Words {
    sign_in: (
        "O seu link para entrar no Till",
        "Abra este link no navegador em que o pediu. Funciona uma vez, durante dez minutos.",
    ),
    sign_up: (
        "O seu link para se registar no Till",
        "Abra este link no navegador em que o pediu. Funciona uma vez, durante uma hora.",
    ),
    invite: (
        "Foi convidado para uma organização no Till",
        "Abra este link para ver o convite e aceitá-lo. Funciona uma vez, durante sete dias.",
    ),
    notice: (
        "Há um novo aviso para si no Till",
        "Mudou algo que deve saber. Entre para o ler:",
    ),
    unasked: "Se não esperava esta mensagem, não precisa de fazer nada.",
};

/// The mail with this link; `about` names the kind of a notice.
pub fn letter(locale: Locale, letter: Letter, link: &str, about: Option<&str>) -> Rendered {
    let words = words(locale);
    let (subject, opening) = match letter {
        Letter::SignIn => words.sign_in,
        Letter::SignUp => words.sign_up,
        Letter::Invite => words.invite,
        Letter::Notice => words.notice,
    };
    let about = about.map(|about| format!(" ({about})")).unwrap_or_default();
    let text = format!("{opening}{about}\n\n{link}\n\n{}\n", words.unasked);
    let mut html = Html::default();
    html.tag("<!doctype html><html lang=\"")
        .text(locale.as_str())
        .tag("\"><meta charset=\"utf-8\"><body><p>")
        .text(opening)
        .text(&about)
        .tag("</p><p><a href=\"")
        .text(link)
        .tag("\">")
        .text(link)
        .tag("</a></p><p>")
        .text(words.unasked)
        .tag("</p></body></html>");
    Rendered {
        subject: subject.to_owned(),
        text,
        html: html.finish(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_letter_in_every_language_has_its_link_once_in_the_text() {
        for locale in Locale::ALL {
            for of in [
                Letter::SignIn,
                Letter::SignUp,
                Letter::Invite,
                Letter::Notice,
            ] {
                let mail = letter(locale, of, "https://pay.example/x#a=<b>", Some("k"));
                assert_eq!(mail.text.matches("https://pay.example/x#a=<b>").count(), 1);
                assert!(
                    mail.html
                        .contains("href=\"https://pay.example/x#a=&lt;b&gt;\"")
                );
                assert!(!mail.subject.is_empty() && !mail.subject.contains('\n'));
            }
        }
    }
}
