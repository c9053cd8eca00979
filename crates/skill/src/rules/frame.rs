//! Text that ends the frame it is put into, or plays a part in a chat.

use crate::rule::Rule;

pub(super) const RULES: &[&Rule] = &[];
