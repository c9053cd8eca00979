//! Earlier instructions are to be dropped.

use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::phrase::{Phrases, sentence_after};
use crate::text::unit::{PROSE_OR_FENCE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "INJECT_OVERRIDE",
    category: Category::PromptInjection,
    severity: Severity::Critical,
    title: "tells the agent to drop its earlier instructions",
    why: "A skill adds to what the agent was told. Only an attack needs the agent to forget it.",
    fix: "remove the sentence; a skill that needs other rules says which",
    places: PROSE_OR_FENCE,
    anchors: words![
        r"\bas suggestions",
        r"\bas optional",
        r"\bset aside",
        r"\bput aside",
        r"\bignore ",
        r"\bignora ",
        r"\bignorar",
        r"\bignorier",
        r"\bvergiss",
        r"\bvergessen sie",
        r"\bmissachte",
        r"\bbeachte",
        r"\bbefolge",
        r"\bignorez",
        r"\bignore les",
        r"\bignore toutes",
        r"\boublie",
        r"\bolvida",
        r"\bomite",
        r"\besque",
        r"\bdesconsider",
        r"\bdimentica",
        "гнорируй",
        "абудь",
        "е обращай",
        "不要遵守",
        "忘记",
        "忘記",
        "忘掉",
        "不理会",
        r"\bdisregard",
        r"\bforget ",
        r"\boverride ",
        r"\boverrides ",
        r"\boverriding",
        r"\bsupersede",
        r"\boverrule",
        r"\bcancels ",
        r"\breplaces the",
        r"\breplace the",
        r"\bset aside",
        r"\bnot follow",
        r"\bstop following",
        r"\blonger follow",
        r"\bnot obey",
        r"\bdiscard ",
        r"\babandon ",
        r"\bneglect ",
        r"\bignore\u{2800}",
        "忽略",
        "无视",
        "無視",
    ],
    check: Check::Phrases(&[&PHRASES], hits),
};

static PHRASES: Phrases = Phrases::new(words![
    r"\b<orders> (?:are|is|become|should be) (?:<any> )?(?:treated|considered|regarded|seen) as (?:mere |only )?(?:suggestions?|optional|advisory|advice)\b",
    r"\b(?:set|put|leave) aside (?:its|your|the|any|all) (?:<any> )?<orders>\b",
    r"\b<drop> (?:<any> ){0,4}<former>,?(?: (?:and|or|user|system|<any>)){0,2} <orders>\b",
    r"\b<drop> (?:all|any|everything|anything)(?: of)?(?: <any>)? (?:you were|you have been|you<'>ve been|that was|said|told|written|stated) (?:<any> ){0,3}(?:before|above|previously|earlier|told|said)\b",
    r"\b<drop> (?:all |everything |anything )+(?:above|before this|prior to this)\b",
    r"\b<drop> your (?:<any> ){0,2}(?:instructions|programming|training|guidelines|restrictions|guardrails|safety <any>)\b",
    r"\b<drop> (?:<any> ){0,2}(?:content polic(?:y|ies)|ethical guidelines|safety (?:guidelines|rules|polic(?:y|ies)|instructions))\b",
    r"\b(?:overrid(?:e|es|ing)|supersedes?|replaces?|overrules?|cancels?) (?:<any> ){0,3}(?:system|developer|safety|previous|prior|earlier|original) (?:<any> ){0,1}(?:prompts?|instructions?|messages?|directives?|guardrails)\b",
    r"\b<drop> (?:any|all|every|the)(?: of the)? <orders> (?:<any> ){0,6}(?:developers?|administrators?|operators?|anthropic|openai|vendor)\b",
    r"\b<drop> (?:the|any|all|your)(?: of the| of your)? (?:guardrails|safety rules|safeguards)\b",
    r"\bforget (?:everything|all|what)(?: that)? you (?:were|have been|know|<'>ve been)\b",
    r"\b(?:ignoriere|ignorieren sie|vergiss|vergessen sie|missachte)(?: alle| die| deine| ihre| s\S{1,3}mtliche| aller)* (?:\S+ )?(?:vorherigen|vorigen|bisherigen|fr\S{1,3}heren|obigen|urspr\S{1,3}nglichen|vorangegangenen|system)[- ]?(?:\S+ )?(?:anweisungen|vorgaben|regeln|instruktionen|richtlinien)\b",
    r"\b(?:ignoriere|vergiss|missachte) (?:alle |alles )?(?:deine|ihre|was (?:du|dir)|davor|bisher)(?: \S+){0,3} (?:anweisungen|vorgaben|regeln|gesagt|wei\S{1,2}t)\b",
    r"\b(?:ignor[ae]r?|ignore|olvida|olvide|olvidar|omite|omita) (?:<any> ){0,3}(?:instrucciones|reglas|directrices|indicaciones)(?: <any>){0,2} (?:anteriores|previas|sistema|recibidas)\b",
    r"\b(?:ignore[zr]?|oublie[zr]?) (?:<any> ){0,3}(?:instructions|consignes|r\S{1,3}gles|directives) (?:<any> ){0,2}(?:pr\S{1,3}c\S{1,3}dentes|ant\S{1,3}rieures|re\S{1,3}ues|ci-dessus|syst\S{1,3}me|du syst\S{1,3}me)",
    r"\b(?:ignore|esque\S{1,3}a|desconsidere) (?:<any> ){0,3}(?:instru\S{1,4}es|regras) (?:<any> ){0,1}(?:anteriores|pr\S{1,3}vias|acima|do sistema)",
    r"\b(?:ignora|dimentica)(?:re)? (?:<any> ){0,3}(?:istruzioni|regole) (?:<any> ){0,1}(?:precedenti|sistema)\b",
    r"(?:гнорируй|гнорируйте|абудь|абудьте|е обращай(?:те)? внимания на) (?:[^\s.]+ ){0,3}(?:предыдущ|прежн|преды|системн|выше)[^\s.]*(?: [^\s.]+){0,2} (?:инструкц|указан|правил)",
    r"(?:忘记|忘記|忘掉|不要遵守|不理会)(?:[^\s]{0,30})(?:之前|以上|以前|先前|系统|系統|原有|所有)(?:[^\s]{0,30})(?:指令|指示|规则|規則|提示|限制)",
    r"(?:忽略|无视|無視)(?:[^\s]{0,30})(?:之前|以上|以前|先前|前)(?:[^\s]{0,30})(?:指令|指示)",
]);

/// Continuations that tell how users set a prompt of their own.
static SET: Phrases = Phrases::new(words![
    r"^ ?(?:with|by|using|via|in|through|parameter|option|setting|template|file|per|when|size|length|for|at)\b",
    r"^ ?`",
]);

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text();
    let is_set = |hit: &Hit| {
        let found = text.get(hit.range.clone()).unwrap_or_default().to_ascii_lowercase();
        (found.starts_with("overrid") || found.starts_with("replace"))
            && SET.is_in(sentence_after(text, hit.range.end, 40))
    };
    PHRASES.hits(text).into_iter().filter(|hit| !is_set(hit)).collect()
}
