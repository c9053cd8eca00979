//! Table: the classes of words that phrases are made of.

/// The classes of words.
pub(super) const VOCABULARY: &[(&str, &str)] = &[
    ("<'>", r"(?:'|\xe2\x80\x99)?"),
    ("<any>", r"(?:[a-z][a-z'/-]*)"),
    ("<not>", r"(?:do not|don<'>t|does not|never|must not|mustn<'>t|should not|shouldn<'>t|may not|not)"),
    // The party that the agent works for.
    (
        "<user>",
        r"(?:(?:the |an? |your |any |our |each |every |end[ -])*(?:user|human|operator|account holder|victim)s?)",
    ),
    // Secrets that are not given away.
    (
        "<own>",
        r"(?:seed phrases?|recovery phrases?|mnemonics?|private keys?|one[- ]time (?:codes?|passwords?)|otp(?: codes?)?|(?:2fa|mfa) codes?|cvv|(?:credit |debit )?card numbers?|social security numbers?)",
    ),
    ("<anyone>", r"(?:<user>|anyone|anybody|someone|somebody|them|people)"),
    ("<tell>", r"(?:tell|inform|notify|alert|warn|telling|informing|notifying|alerting|warning)"),
    (
        "<mention>",
        r"(?:mention|disclose|reveal|report|show|display|surface|expose|explain|acknowledge|announce|describe|mentioning|disclosing|revealing|reporting|showing|displaying|surfacing|exposing|explaining)",
    ),
    // The party that the agent works for, in other words.
    (
        "<person>",
        r"(?:(?:the |a |any |your |these |most |our )?(?:users?|people|person|persons|human|humans|operators?|customers?|clients?|recipients?|readers?|authors?|owners?|reviewers?|colleagues|they|he or she|anyone|anybody|someone|somebody|nobody|no one)(?: (?:you (?:work|talk|speak) (?:with|for|to)|in the (?:chat|conversation)|concerned))?)",
    ),
    // Verbs of disclosure.
    (
        "<voice>",
        r"(?:(?:mention|tell|announc|report|list|discuss|inform|disclos|explain|highlight|surfac|not(?:e|ify|ifie|ifying)|describ|advertis|document|declar|record|reveal|show|display|draw attention|alert|warn|talk|bother|troubl|flag|bring|rais|point|refer|speak|say)(?:e|es|s|ed|ing)?)",
    ),
    (
        "<voiced>",
        r"(?:mentioned|told|shown|announced|reported|listed|discussed|disclosed|explained|informed|notified|bothered|troubled|surfaced|displayed|raised|brought up|pointed out|documented|advertised|recorded|consulted|burdened|warned|alerted)",
    ),
    // Actions besides the work.
    (
        "<act>",
        r"(?:(?:<any> )?(?:snapshot|copy|copies|uploads?|transfers?|backups?|mirror|requests?|steps?|cache|sync|calls?|forwarding|archive|address|hook|middleware|image|picture|section|paragraph|change|entry|rule|endpoint|transmission|submission|collection|telemetry|remote))",
    ),
    // Places where the agent says what it did.
    (
        "<account>",
        r"(?:summar(?:y|ies)|reports?|overviews?|answers?|repl(?:y|ies)|recaps?|plans?|changelogs?|commit messages?|messages?|descriptions?|explanations?|responses?|conversation|progress <any>|(?:recipient )?lists? you <any>|status updates?|final <any>|visible <any>|minutes|write-?up)",
    ),
    // Earlier instructions of the agent.
    (
        "<orders>",
        r"(?:instructions?|prompts?|directives?|guidelines|rules|constraints|restrictions|commands|polic(?:y|ies)|guardrails|programming|training|messages?)",
    ),
    (
        "<former>",
        r"(?:previous|prior|above|earlier|preceding|former|past|original|initial|system|safety|developer|pre-?existing|usual|operational)",
    ),
    (
        "<drop>",
        r"(?:ignore|disregard|forget|discard|set aside|abandon|neglect|stop following|do not follow|no longer follow|do not obey)",
    ),
    // Acts that take something out.
    (
        "<send>",
        r"(?:send|sends|sending|upload|uploads|uploading|post|posts|posting|transmit|transmits|transmitting|forward|forwards|forwarding|exfiltrat(?:e|es|ing)|submit|submits|push|pushes|ship|ships|relay|relays|deliver|delivers|stream|streams|email|emails|sync|syncs|copy|copies|dump|dumps|leak|leaks|beacon|curl)",
    ),
    (
        "<gather>",
        r"(?:collect|collects|gather|gathers|harvest|harvests|enumerate|enumerates|inventory|compile|compiles|list|extract|extracts|capture|captures|dump|dumps|scrape|steal|steals|aggregate|catalog(?:ue)?)",
    ),
    (
        "<read>",
        r"(?:read|reads|open|opens|load|loads|access|accesses|cat|print|prints|parse|parses|retrieve|retrieves|fetch|fetches|copy|copies|grab|grabs|scan|scans|search|searches|locate|locates|include|includes|extract|extracts|collect|collects|gather|gathers|harvest|harvests|dump|dumps|pull|upload|uploads|send|sends|append|attach|embed)",
    ),
    // Things that open doors.
    (
        "<secrets>",
        r"(?:secrets?|credentials?|passwords?|(?:api|access|auth|bearer|session|oauth)[ -]?(?:keys?|tokens?)|tokens|private keys?|ssh keys?|(?:seed|recovery|mnemonic) phrases?|cookies|wallet files?|environment variables?|env vars)",
    ),
    (
        "<secretfile>",
        r"(?:~/\.ssh(?:/[\w.*-]*)?|\.ssh/[\w.*-]+|\bid_(?:rsa|ed25519|ecdsa|dsa)\b|~/\.aws(?:/[\w.*-]*)?|\.aws/credentials|~/\.config/(?:gcloud|gh|secrets)[\w./*-]*|~/\.kube/config|~/\.netrc|~/\.npmrc|~/\.pypirc|~/\.git-credentials|~/\.gnupg[\w./*-]*|~/\.docker/config\.json|~/\.cursor/mcp\.json|~/\.env\b|\.env\b|/etc/shadow|(?:secrets|credentials)\.(?:json|ya?ml|toml)|credentials? files?|key ?chain|password (?:store|manager|vault)s?|browser (?:cookies|passwords)|login data|wallet\.dat|key ?store files?|saved passwords|private key files?)",
    ),
    // Somewhere else.
    (
        "<where>",
        r"(?:https?://|(?:remote|external|support|central|analytics|telemetry|diagnostics?|logging|collection|monitoring|audit|tracking|reporting|our|the author<'>s|author<'>s|third[- ]party|backup|collector|company|vendor<'>?s?)(?: <any>){0,2} (?:endpoints?|servers?|services?|urls?|webhooks?|api|hosts?|address|bucket|platform|backend|collector|channel|system)|webhooks?|the skill (?:author|provider|vendor|publisher)|[a-z0-9._-]+@[a-z0-9-]+\.[a-z]+|discord|telegram|pastebin|slack channel)",
    ),
    (
        "<hidden>",
        r"(?:silently|quietly|secretly|covertly|stealthily|discreetly|invisibly|surreptitiously|in the background)",
    ),
    // Property of the user.
    (
        "<loot>",
        r"(?:conversations?(?: history| context| contents?| logs?)?|chat (?:history|logs?|transcripts?)|session (?:data|tokens?|history|transcripts?|cookies)|message history|(?:all|recent|private) messages|clipboard|keystrokes|browsing history|memory (?:files?|contents?)|environment variables?|env vars|environment context|secrets|passwords|(?:all|every|any|stored|<user><'>s?|their|found|collected)(?: <any>)? (?:credentials?|tokens?|keys|files?|data|contracts|documents?)|private keys?|ssh keys?|cookies|(?:full|entire|complete|whole) (?:<any> )?(?:requests?|conversation|prompt|source code|codebase|text|file system|project|workspace|home directory|directory|disk|repository)|(?:file|directory) contents|personal (?:data|information)|(?:collected|gathered|sensitive|harvested) (?:data|information|files|output)|system prompt|contact list|the context|\.env\b|~/\.ssh|id_rsa)",
    ),
    (
        "<agentfile>",
        r"(?:AGENTS\.md|CLAUDE\.md|GEMINI\.md|SOUL\.md|MEMORY\.md|HEARTBEAT\.md|IDENTITY\.md|\bTOOLS\.md|\bUSER\.md|\.claude/settings(?:\.local)?\.json|\.cursorrules|copilot-instructions\.md|\.cursor/rules|openclaw\.json|(?:agent|system) memory)",
    ),
];
