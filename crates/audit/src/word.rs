//! Closed vocabularies: fields that hold one word out of a few.

use policy::{Effect, Kind};

use crate::field::{Body, Field};

/// Words as fields of a record.
macro_rules! fields_of_words {
    ($($name:ty: $($text:literal)*;)*) => {$(
        impl Field for $name {
            const KIND: &'static str = "word";
            const WORDS: &'static [&'static str] = &[$($text,)*];
            const MOST: usize = 32;

            fn put(&self, key: &str, body: &mut Body<'_>) {
                body.plain_text(key, self.word());
            }
        }
    )*};
}

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident { $($(#[$word_doc:meta])* $word:ident = $text:literal,)* })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum $name { $($(#[$word_doc])* $word,)* }

        impl $name {
            /// The word as it stands in the ledger.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $(Self::$word => $text,)* }
            }
        }

        fields_of_words! { $name: $($text)*; }
    )*};
}

fields_of_words! {
    Effect: "allow" "ask" "deny";
    Kind: "read" "write" "exec" "connect" "call" "load";
}

words! {
    /// Impact of an action. Not known means the worst.
    Impact {
        /// Looks only.
        Read = "read",
        /// Changes something that can be changed back.
        Mutate = "mutate",
        /// May destroy.
        Destroy = "destroy",
    }

    /// Outcome of something that was started.
    Outcome {
        /// As wanted.
        Ok = "ok",
        /// With an error of its own.
        Error = "error",
        /// Called off before the end.
        Cancelled = "cancelled",
        /// Stopped by a limit.
        Limited = "limited",
    }

    /// Kind of a change to a name.
    Applied {
        /// Something new gets it.
        Added = "added",
        /// Something else gets it.
        Changed = "changed",
        /// Nothing has it any more.
        Removed = "removed",
    }

    /// The state of a question that was just asked.
    Asked {
        /// No answer yet.
        Pending = "pending",
    }

    /// Outcome of a question.
    Answered {
        /// A person said yes.
        Approved = "approved",
        /// A person said no.
        Denied = "denied",
        /// No answer in time.
        Expired = "expired",
        /// The asking side withdrew the question.
        Withdrawn = "withdrawn",
    }

    /// Source of an answer.
    Answerer {
        /// A person, just now.
        Person = "person",
        /// A person, earlier in this session.
        Memory = "memory",
        /// No approver: the time ran out or no person was there.
        Nobody = "nobody",
    }

    /// Lifetime of an answer.
    Scope {
        /// For this one request.
        Once = "once",
        /// Until the session ends.
        Session = "session",
        /// Written into the policy.
        Always = "always",
    }

    /// End state of a session.
    Ended {
        /// The agent finished.
        Finished = "finished",
        /// A person ended it.
        Stopped = "stopped",
        /// A limit ended it.
        Limited = "limited",
        /// It broke.
        Failed = "failed",
    }

    /// Outcome of a request for a secret.
    SecretUse {
        /// It was used on behalf of the agent.
        Used = "used",
        /// The policy said no.
        Denied = "denied",
        /// There is no secret of that name.
        Missing = "missing",
    }

    /// Extent to which the kernel enforces one layer.
    Level {
        /// Not at all.
        None = "none",
        /// In part.
        Partial = "partial",
        /// Completely.
        Full = "full",
    }

    /// Outcome of a write to a protected name.
    Written {
        /// It is there: no program acts on it by itself.
        Allowed = "allowed",
        /// It is there: the repository had this content before.
        Known = "known",
        /// It is not there: the content is new.
        Withheld = "withheld",
        /// The name is gone.
        Removed = "removed",
    }

    /// Severity of a finding.
    FindingLevel {
        /// Worth knowing.
        Note = "note",
        /// Worth a look.
        Warning = "warning",
        /// Enough to refuse.
        Critical = "critical",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_the_policy_are_those_it_uses() {
        let effects = [Effect::Allow, Effect::Ask, Effect::Deny].map(Effect::word);
        assert_eq!(<Effect as Field>::WORDS, effects);
        let kinds =
            [Kind::Read, Kind::Write, Kind::Exec, Kind::Connect, Kind::Call, Kind::Load].map(Kind::word);
        assert_eq!(<Kind as Field>::WORDS, kinds);
    }
}
