//! Every event there is: its name, its OCSF class and activity, how much it matters, and what it holds.

use policy::{Code, Effect, Kind, RuleRef};

use crate::event::{By, Class, EventShape, FieldShape, Severity, events};
use crate::field::{Arguments, Body, Field, FilePath, Name, Names, Text};
use crate::record::Digest;
use crate::word::{
    Answered, Answerer, Applied, Asked, Ended, FindingLevel, Impact, Level, Outcome, Scope, SecretUse,
    Written,
};

events! {
    /// A session began.
    SessionOpened = "session.opened", Lifecycle/3, Informational {
        /// The profile in force.
        profile: Name<'a>,
        /// The workspace.
        workspace: FilePath<'a>,
        /// The person on whose account it runs.
        person: Option<Name<'a>>,
        /// The tenant, where one installation has several.
        tenant: Option<Name<'a>>,
    }
    /// A session ended.
    SessionClosed = "session.closed", Lifecycle/4, Informational {
        /// End state.
        ended: Ended,
        /// Duration in milliseconds.
        duration_ms: u64,
        /// Number of requests that were decided.
        requests: u64,
        /// Number of them that were denied.
        denied: u64,
    }

    /// A policy came into force.
    PolicyLoaded = "policy.loaded", Config/1, Informational {
        /// The files it was read from, in the order of their weight.
        files: Names<'a>,
        /// Number of rules.
        rules: u64,
        /// The hash of all files.
        sha256: Digest,
    }
    /// The policy was changed while it was in force.
    PolicyChanged = "policy.changed", Config/1, Medium {
        /// The file, unless the change holds for the session only.
        file: Option<FilePath<'a>>,
        /// The tool it concerns, if only one.
        tool: Option<Name<'a>>,
        /// The change.
        change: Text<'a>,
        /// The hash of the policy afterwards.
        sha256: Option<Digest>,
    }

    /// A request was decided. Always before the record of its effect; a denied request has no effect.
    RequestDecided = "request.decided", Api/99, Informational {
        /// Kind of request.
        kind: Kind,
        /// The thing asked for: path, command line, host and port, or tool.
        object: Text<'a>,
        /// The tool through which it was asked.
        tool: Option<Name<'a>>,
        /// Impact that it would have.
        impact: Option<Impact>,
        /// The answer.
        decision: Effect,
        /// Why: the code.
        code: Code,
        /// Why: the sentence.
        reason: Text<'a>,
        /// The rule that decided, as `file:line`.
        rule: Option<&'a RuleRef>,
        /// Change that would allow it.
        remedy: Option<Text<'a>>,
        /// The profile in force.
        profile: Option<Name<'a>>,
        /// The turn of the conversation.
        turn: Option<Name<'a>>,
        /// The policy files that were in force.
        sources: Option<Names<'a>>,
    }
    /// A command line was refused before anything was started.
    CommandDenied = "command.denied", Process/99, Medium {
        /// The command line.
        command: Text<'a>,
        /// Why: the code.
        code: Code,
        /// Why: the sentence.
        reason: Text<'a>,
        /// The part of the command line that gave the reason.
        part: Option<Text<'a>>,
    }

    /// A question was put to a person.
    ApprovalAsked = "approval.asked", Api/99, Low {
        /// The question is `pending` until an `approval.answered` with the same id.
        state: Asked,
        /// Kind of request.
        kind: Kind,
        /// The thing asked for.
        object: Text<'a>,
        /// The tool through which it was asked.
        tool: Option<Name<'a>>,
        /// Why a person has to decide: the code.
        code: Code,
        /// Why a person has to decide: the sentence.
        reason: Text<'a>,
        /// Time to wait for an answer, in milliseconds.
        timeout_ms: Option<u64>,
    }
    /// A question is no longer open.
    ApprovalAnswered = "approval.answered", Api/99, Low {
        /// Outcome.
        state: Answered,
        /// Source of the answer.
        source: Answerer,
        /// Lifetime of the answer.
        scope: Scope,
        /// The thing asked for.
        object: Text<'a>,
        /// The person who answered.
        person: Option<Name<'a>>,
        /// Duration in milliseconds.
        waited_ms: u64,
    }

    /// A tool began its work.
    ToolStarted = "tool.started", Api/1, Informational {
        /// The tool.
        tool: Name<'a>,
        /// Impact.
        impact: Impact,
        /// Arguments.
        arguments: Arguments<'a>,
    }
    /// A tool ended its work.
    ToolFinished = "tool.finished", Api/99, Informational {
        /// The tool.
        tool: Name<'a>,
        /// Outcome.
        outcome: Outcome,
        /// Duration in milliseconds.
        duration_ms: u64,
        /// The error.
        error: Option<Text<'a>>,
        /// Kind of error.
        error_kind: Option<Name<'a>>,
        /// A line about the result.
        summary: Option<Text<'a>>,
        /// True if the result was cut.
        cut: bool,
        /// The length of the whole result, in characters.
        whole_chars: u64,
        /// The length of what was returned, in characters.
        returned_chars: u64,
    }
    /// Tools were taken away from an agent, all for the same reason.
    ToolFiltered = "tool.filtered", Api/99, Informational {
        /// The tools.
        tools: Names<'a>,
        /// Why: the code.
        code: Code,
        /// Why: the sentence.
        reason: Text<'a>,
    }
    /// A tool was used to reach what another tool was refused, such as installing a program by hand.
    ToolDetoured = "tool.detoured", Detection/1, Medium {
        /// The tool that was used.
        tool: Name<'a>,
        /// Object of the access.
        object: Text<'a>,
        /// The proper way.
        instead: Option<Name<'a>>,
    }

    /// A skill was scanned. Nothing was loaded.
    SkillScanned = "skill.scanned", Api/2, Informational {
        /// The skill.
        skill: Name<'a>,
        /// Path.
        path: FilePath<'a>,
        /// The hash of what was scanned.
        sha256: Digest,
        /// The verdict: blocked, flagged or clean.
        verdict: Name<'a>,
        /// Findings that would be enough to block it.
        critical: u64,
        /// Findings worth a look.
        warnings: u64,
        /// The rules that found something.
        codes: Names<'a>,
    }
    /// A skill was scanned and let in.
    SkillLoaded = "skill.loaded", Lifecycle/1, Informational {
        /// The skill.
        skill: Name<'a>,
        /// Path.
        path: FilePath<'a>,
        /// The hash of what was scanned.
        sha256: Digest,
        /// Findings that would have been enough to refuse it, and were excused by name.
        critical: u64,
        /// Findings worth a look.
        warnings: u64,
        /// The tools it may use.
        tools: Names<'a>,
    }
    /// A skill was let in although something in it is worth a look. The record of its loading follows.
    SkillFlagged = "skill.flagged", Detection/1, Medium {
        /// The skill.
        skill: Name<'a>,
        /// Path.
        path: FilePath<'a>,
        /// The hash of what was scanned.
        sha256: Digest,
        /// Findings that would have been enough to refuse it, where the policy does not block on them.
        critical: u64,
        /// Findings worth a look.
        warnings: u64,
        /// The rules that found something.
        codes: Names<'a>,
    }
    /// A skill was scanned and refused.
    SkillBlocked = "skill.blocked", Detection/1, High {
        /// The skill.
        skill: Name<'a>,
        /// Path.
        path: FilePath<'a>,
        /// The hash of what was scanned.
        sha256: Option<Digest>,
        /// Findings that were enough to refuse it.
        critical: u64,
        /// Findings worth a look.
        warnings: u64,
        /// The rules that found something.
        codes: Names<'a>,
        /// Why, in a sentence.
        reason: Text<'a>,
    }
    /// A skill could not be read.
    SkillFailed = "skill.failed", Lifecycle/99, Low {
        /// The skill.
        skill: Name<'a>,
        /// Path.
        path: FilePath<'a>,
        /// The error.
        error: Text<'a>,
    }
    /// The text of a skill was put before a model.
    SkillRead = "skill.read", Api/2, Informational {
        /// The skill.
        skill: Name<'a>,
        /// The hash of the text.
        sha256: Digest,
    }
    /// A person or a model called for a skill by name.
    SkillInvoked = "skill.invoked", Api/99, Informational {
        /// The skill.
        skill: Name<'a>,
        /// True if a person did.
        by_person: bool,
    }
    /// A skill's own program ran.
    SkillExecuted = "skill.executed", Process/1, Informational {
        /// The skill.
        skill: Name<'a>,
        /// The program.
        program: Text<'a>,
        /// Outcome.
        outcome: Outcome,
        /// Duration in milliseconds.
        duration_ms: u64,
    }
    /// A skill was written.
    SkillCreated = "skill.created", Lifecycle/1, Low {
        /// The skill.
        skill: Name<'a>,
        /// Path.
        path: FilePath<'a>,
        /// Its hash.
        sha256: Digest,
    }
    /// A skill was changed.
    SkillUpdated = "skill.updated", Lifecycle/8, Low {
        /// The skill.
        skill: Name<'a>,
        /// Path.
        path: FilePath<'a>,
        /// Its hash before.
        before_sha256: Option<Digest>,
        /// Its hash now.
        sha256: Digest,
    }
    /// All skills were read again.
    SkillReloaded = "skill.reloaded", Lifecycle/5, Informational {
        /// Number of them now.
        count: u64,
        /// Those that are new.
        added: Names<'a>,
        /// Those that are gone.
        removed: Names<'a>,
    }
    /// All skills were forgotten.
    SkillCleared = "skill.cleared", Lifecycle/2, Informational {
        /// Number of them.
        count: u64,
    }

    /// Text from outside tried to give orders.
    InjectionFound = "injection.found", Detection/1, High {
        /// Source of the text.
        source: Text<'a>,
        /// Severity.
        level: FindingLevel,
        /// The codes of the patterns that were found.
        codes: Names<'a>,
        /// Number of places.
        count: u64,
    }
    /// So many injections were found that no more are recorded one by one for a while.
    InjectionFlooded = "injection.flooded", Detection/1, High {
        /// Source of the text.
        source: Text<'a>,
        /// Number of findings.
        count: u64,
        /// In how many milliseconds.
        window_ms: u64,
    }
    /// Text from outside that tried to give orders was kept in a memory.
    MemoryTainted = "memory.tainted", Detection/1, High {
        /// The entry.
        entry: Name<'a>,
        /// Source of the text.
        source: Text<'a>,
    }

    /// A secret was asked for by name. Its value is never recorded.
    SecretUsed = "secret.used", Api/2, Low {
        /// The name of the secret.
        secret: Name<'a>,
        /// Outcome.
        outcome: SecretUse,
        /// The host it was used for.
        host: Option<Name<'a>>,
    }

    /// An MCP server was reached.
    McpConnected = "mcp.connected", Lifecycle/3, Informational {
        /// The server.
        server: Name<'a>,
        /// Number of tools that it offers.
        tools: u64,
        /// The hash of its tools and their descriptions.
        sha256: Digest,
        /// The attempt that succeeded; 1 unless the connection had been lost.
        attempt: u64,
    }
    /// An MCP server went away.
    McpDisconnected = "mcp.disconnected", Lifecycle/4, Low {
        /// The server.
        server: Name<'a>,
        /// Why.
        reason: Text<'a>,
    }
    /// An MCP server is being reached again.
    McpReconnecting = "mcp.reconnecting", Lifecycle/5, Low {
        /// The server.
        server: Name<'a>,
        /// Which attempt this is.
        attempt: u64,
    }
    /// An MCP server was given up.
    McpFailed = "mcp.failed", Lifecycle/4, Medium {
        /// The server.
        server: Name<'a>,
        /// After how many attempts.
        attempts: u64,
        /// The last error.
        error: Text<'a>,
    }
    /// An MCP server offers other tools than before.
    McpToolsChanged = "mcp.tools-changed", Detection/1, High {
        /// The server.
        server: Name<'a>,
        /// Tools that are new.
        added: Names<'a>,
        /// Tools that are gone.
        removed: Names<'a>,
        /// Tools that are described differently.
        changed: Names<'a>,
        /// The hash of its tools and their descriptions, now.
        sha256: Digest,
    }

    /// The broker let a connection out.
    BrokerConnected = "broker.connected", Network/1, Informational {
        /// Number of the connection in this run.
        connection: u64,
        /// The host.
        host: Name<'a>,
        /// The port.
        port: u64,
        /// The executable inside that opened it, if it could be found.
        program: Option<FilePath<'a>>,
        /// Its process id.
        pid: Option<u64>,
        /// Why it is allowed: the code.
        code: Code,
        /// The rule that decided, as `file:line`.
        rule: Option<&'a RuleRef>,
    }
    /// A connection that the broker let out ended.
    BrokerDisconnected = "broker.disconnected", Network/2, Informational {
        /// Number of the connection in this run.
        connection: u64,
        /// The host.
        host: Name<'a>,
        /// The port.
        port: u64,
        /// The address that was connected to.
        address: Option<Name<'a>>,
        /// The executable inside that opened it, if it could be found.
        program: Option<FilePath<'a>>,
        /// Its process id.
        pid: Option<u64>,
        /// Bytes from the jail to the host.
        sent: u64,
        /// Bytes from the host to the jail.
        received: u64,
        /// Duration in milliseconds.
        duration_ms: u64,
    }
    /// The broker passed a request on, and the head of the answer is there.
    BrokerRequest = "broker.request", Http/99, Informational {
        /// The host.
        host: Name<'a>,
        /// The port.
        port: u64,
        /// The method.
        method: Name<'a>,
        /// The path, without the query.
        path: Text<'a>,
        /// The status of the answer.
        status: u64,
        /// The name of the secret that was put in.
        secret: Option<Name<'a>>,
        /// Number of the connection in this run.
        connection: u64,
        /// The rule that allowed the connection, as `file:line`.
        rule: Option<&'a RuleRef>,
        /// The executable inside that asked, if it could be found.
        program: Option<FilePath<'a>>,
        /// Its process id.
        pid: Option<u64>,
        /// Time until the head of the answer, in milliseconds.
        duration_ms: u64,
    }
    /// A connection or a request was refused.
    BrokerEgressDenied = "broker.egress-denied", Network/5, Medium {
        /// The host or address.
        host: Name<'a>,
        /// The port.
        port: Option<u64>,
        /// Why: the code.
        code: Code,
        /// Why: the sentence.
        reason: Text<'a>,
        /// The rule that decided, as `file:line`.
        rule: Option<&'a RuleRef>,
        /// Change that would allow it.
        remedy: Option<Text<'a>>,
        /// The executable inside that asked, if it could be found.
        program: Option<FilePath<'a>>,
        /// Its process id.
        pid: Option<u64>,
        /// The method, if a request was refused.
        method: Option<Name<'a>>,
        /// The path of that request, without the query.
        path: Option<Text<'a>>,
    }

    /// A confined process was started, and this is what the kernel enforces.
    JailStarted = "jail.started", Process/1, Informational {
        /// The provider.
        provider: Name<'a>,
        /// The profile.
        profile: Name<'a>,
        /// The program.
        program: Text<'a>,
        /// Files.
        files: Level,
        /// Network.
        network: Level,
        /// System calls.
        syscalls: Level,
        /// Processes.
        processes: Level,
        /// Memory, time and other resources.
        resources: Level,
        /// The toolchains that it sees, if any.
        toolchains: Option<Names<'a>>,
        /// The ports between its loopback and the host's, if any: `in` or `out`, the host's, the one inside.
        ports: Option<Names<'a>>,
    }
    /// A confined process ended.
    JailEnded = "jail.ended", Process/2, Informational {
        /// Outcome.
        outcome: Outcome,
        /// Its exit code, unless a signal ended it.
        exit: Option<i32>,
        /// The signal that ended it.
        signal: Option<i32>,
        /// Duration in milliseconds.
        duration_ms: u64,
    }
    /// A jail could not be made, and nothing was started.
    JailRefused = "jail.refused", Process/99, High {
        /// The provider.
        provider: Name<'a>,
        /// The profile.
        profile: Name<'a>,
        /// Why.
        reason: Text<'a>,
    }
    /// A protected name was made or changed while a confined process ran.
    JailTripped = "jail.tripped", File/99, High {
        /// The file.
        path: FilePath<'a>,
        /// Why it is protected.
        reason: Text<'a>,
    }
    /// A confined process wrote or removed a protected name.
    JailWrote = "jail.wrote", File/99, Medium {
        /// The file.
        path: FilePath<'a>,
        /// Outcome.
        result: Written,
        /// The change, if it is known.
        change: Option<Text<'a>>,
        /// Why the name is protected.
        reason: Text<'a>,
    }
    /// A confined process made a commit that changes protected names.
    JailCommitted = "jail.committed", File/99, Medium {
        /// The directory of the repository.
        repository: FilePath<'a>,
        /// The commit.
        commit: Name<'a>,
        /// The first line of its message.
        subject: Text<'a>,
        /// The protected names that it changes.
        paths: Names<'a>,
    }
    /// Something else was told about a confined process when it had ended, such as output that was lost.
    JailNoted = "jail.noted", Process/99, Low {
        /// Text of the message.
        text: Text<'a>,
    }
    /// A process was started without a jail, because the user's own policy says so.
    JailSkipped = "jail.skipped", Process/1, High {
        /// The program.
        program: Text<'a>,
        /// The setting that says so, as `file:line`.
        rule: &'a RuleRef,
    }

    /// A command is about to run whose changes are kept apart, in an overlay.
    OverlayBegun = "overlay.begun", File/99, Informational {
        /// The overlay.
        overlay: Name<'a>,
        /// A directory whose changes go there.
        path: FilePath<'a>,
    }
    /// A change of an overlay is about to be made in the real directory.
    OverlayApplied = "overlay.applied", File/99, Informational {
        /// The overlay.
        overlay: Name<'a>,
        /// Path of the change.
        path: FilePath<'a>,
        /// Kind of change.
        change: Applied,
        /// True if the name is protected, and a person wanted it all the same.
        protected: bool,
        /// True if it was changed outside, too, and a person wanted the overlay's all the same.
        forced: bool,
    }
    /// An overlay is about to be removed.
    OverlayDiscarded = "overlay.discarded", File/99, Informational {
        /// The overlay.
        overlay: Name<'a>,
        /// The directory that it was made for.
        path: FilePath<'a>,
        /// Number of changes that are lost.
        changes: u64,
    }

    /// A limit was reached.
    LimitReached = "limit.reached", Detection/1, Medium {
        /// The limit.
        limit: Name<'a>,
        /// Amount that is allowed.
        allowed: u64,
        /// Amount that was used or requested.
        used: u64,
        /// The time the limit is counted over, in milliseconds.
        window_ms: Option<u64>,
    }
    /// A breaker opened: calls are refused for a while.
    BreakerOpened = "breaker.opened", Detection/1, Medium {
        /// Name of the breaker.
        breaker: Name<'a>,
        /// After how many failures.
        failures: u64,
        /// For how long, in milliseconds.
        cooldown_ms: u64,
    }
    /// A breaker closed: calls pass again.
    BreakerClosed = "breaker.closed", Detection/3, Informational {
        /// Name of the breaker.
        breaker: Name<'a>,
    }

    /// The first record of a ledger.
    LedgerStarted = "ledger.started", Lifecycle/3, Informational {
        /// The version that wrote it.
        version: Name<'a>,
    }
    /// The first record of a further file of the same ledger.
    LedgerContinued = "ledger.continued", Lifecycle/5, Informational {
        /// The version that wrote it.
        version: Name<'a>,
        /// The hash of the ledger's very first record, the name of the chain.
        chain: Digest,
        /// The file before this one.
        segment: Name<'a>,
        /// Number of the oldest files that were deleted to keep the limit.
        dropped: u64,
    }
    /// The remains of a crash at the end of the file were cut off.
    LedgerRecovered = "ledger.recovered", Lifecycle/99, High {
        /// Number of bytes.
        bytes: u64,
        /// Their hash.
        sha256: Digest,
    }
}
