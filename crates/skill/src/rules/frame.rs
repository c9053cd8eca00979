//! Text that ends the frame it is put into: tags and turns of chat formats.

mod chat_token;
mod important;
mod quoted;
mod turn;
mod wrapper;

use crate::rules::rule::Rule;

pub(super) const RULES: &[&Rule] = &[&chat_token::RULE, &wrapper::RULE, &turn::RULE, &important::RULE];
