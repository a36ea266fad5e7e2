//! What the letters say. Nothing in them was written by whoever asked for them: a name would be
//! the place for an advertisement to a stranger. Links lead to pages with a button, because some
//! mail programs open every link by themselves.

use ferryhook_core::{Secret, User};

use super::Letter;
use crate::digests::Summary;

pub fn verify_email(user: &User, base_url: &str, ticket: &Secret) -> Letter {
    let ticket = ticket.expose();
    letter(
        user,
        "Confirm your address",
        format!(
            "an account at Ferryhook ({base_url}) was made with this address. To confirm that it \
             is yours, open\n\n    {base_url}/verify-email?token={ticket}\n\nwithin two days. If \
             it was not you, leave this letter alone: the account opens nothing without it."
        ),
    )
}

pub fn known_already(user: &User, base_url: &str, ticket: &Secret) -> Letter {
    let ticket = ticket.expose();
    letter(
        user,
        "You have an account already",
        format!(
            "somebody wanted to sign up at Ferryhook ({base_url}) with this address, which has an \
             account already. If it was you and the password is gone, choose a new one at\n\n    \
             {base_url}/reset-password?token={ticket}\n\nwithin an hour. If it was not you, \
             nothing has happened."
        ),
    )
}

pub fn reset_password(user: &User, base_url: &str, ticket: &Secret) -> Letter {
    let ticket = ticket.expose();
    letter(
        user,
        "Choose a new password",
        format!(
            "somebody asked for a new password at Ferryhook ({base_url}). To choose one, \
             open\n\n    {base_url}/reset-password?token={ticket}\n\nwithin an hour. Everybody \
             who is signed in will be signed out. If it was not you, leave this letter alone."
        ),
    )
}

pub fn invitation(to: &str, base_url: &str, token: &Secret) -> Letter {
    let token = token.expose();
    Letter {
        to: to.to_owned(),
        subject: "You are invited".to_owned(),
        text: Secret::new(format!(
            "Hello,\n\nsomebody has invited this address into their account at Ferryhook \
             ({base_url}). To join, open\n\n    {base_url}/invitation?token={token}\n\nwithin a \
             week. If you do not know why, leave this letter alone: nothing happens without you.\n"
        )),
    }
}

pub fn password_changed(user: &User, base_url: &str) -> Letter {
    letter(
        user,
        "Your password was changed",
        format!(
            "the password of your account at Ferryhook ({base_url}) was changed, and other \
             sessions were ended. If it was not you, ask for a new one at once."
        ),
    )
}

pub fn second_factor_on(user: &User, base_url: &str) -> Letter {
    letter(
        user,
        "A second factor is on",
        format!(
            "signing in to your account at Ferryhook ({base_url}) needs a code of your app from \
             now on, and other sessions were ended. If it was not you, ask for a new password at \
             once, and tell whoever operates the server."
        ),
    )
}

pub fn second_factor_off(user: &User, base_url: &str) -> Letter {
    letter(
        user,
        "The second factor is off",
        format!(
            "signing in to your account at Ferryhook ({base_url}) needs no code any more. If it \
             was not you, ask for a new password at once, and turn it on again."
        ),
    )
}

/// Names in it are those that the account itself has given.
pub fn alarm(user: &User, base_url: &str, title: &str, message: &str) -> Letter {
    letter(user, title, format!("{message}\n\nSee {base_url}"))
}

pub fn digest(user: &User, base_url: &str, account: &str, summary: &Summary) -> Letter {
    let parts = [
        ("Began to fail", &summary.fired),
        ("Works again", &summary.recovered),
        ("Still fails", &summary.failing),
    ];
    let mut text = format!("this is what happened in {account} at Ferryhook ({base_url}).\n");
    for (title, lines) in parts {
        if !lines.is_empty() {
            text += &format!("\n{title}:\n");
            lines.iter().for_each(|line| text += &format!("  - {line}\n"));
        }
    }
    letter(user, &format!("What failed in {account}"), text.trim_end())
}

fn letter(user: &User, subject: &str, text: impl std::fmt::Display) -> Letter {
    Letter {
        to: user.email.clone(),
        subject: subject.to_owned(),
        text: Secret::new(format!("Hello,\n\n{text}\n")),
    }
}
