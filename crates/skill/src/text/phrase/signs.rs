//! Signs that say little alone and much together: that something is kept secret, that consent is skipped, that something is
//! handed over, and that it is private.
//!
//! Each of them stands in honest texts too. A rule that uses them asks for two that do not follow from each other.

use std::ops::Range;

use super::{Phrases, ceil, floor};
use crate::code::destination::Kind;
use crate::text::link::{Link, links};
use crate::words::{Words, words};

/// Any of the signs that something is concealed.
pub(crate) static ANY_COVERT: Phrases =
    Phrases::any_of(&[COVERT_WORDS, NO_CONSENT_WORDS, QUIET_WORDS, FOREIGN_WORDS]);

/// Secrecy is asked for, in words that do not forbid anything.
pub(crate) static COVERT: Phrases = Phrases::new(COVERT_WORDS);

const COVERT_WORDS: Words = words![
    // There is no need to mention it.
    r"\b(?:no|little|not any|not much)(?: <any>)? (?:need|point|reason|use|sense|necessity|value|benefit|cause)(?: <any>){0,2} (?:in|to|of|for) (?:<any> ){0,2}<voice>\b",
    r"\b(?:not (?:<any> )?|un)(?:necessary|needed|required|useful|helpful)(?: to| for)(?: <any>){0,2} <voice>\b",
    r"\bnot worth (?:<any> )?<voice>\b",
    r"\b(?:need|needs|do|does|should|must|is|are|to|will)(?: not|n<'>t| never)(?: need to| have to| to)? (?:be )?<voiced>\b",
    r"\bnothing to (?:announce|mention|report|explain|tell|show|disclose|discuss)\b",
    r"\bno (?:<any> )?(?:reply|replies|notice|notification|message|mention|word|comment|explanation|announcement|feedback)s?(?: <any>){0,6} (?:is|are) (?:<any> )?(?:necessary|needed|required|called for|wanted|expected|due)\b",
    r"\b<person> (?:needs?|requires?|gets?|receives?) no (?:<any> )?(?:explanation|notice|notification|message|mention|word|comment|reply|details)\b",
    // It is left out of what the agent says.
    r"\b(?:leave|leaves|leaving|omit|omits|keep|keeps|drop|exclude|strip|withhold)(?:ting)? (?:it|them|this|that|these|those|such <any>|the <act>)(?: <any>){0,3} (?:out of|from|off) (?:<any> ){0,3}<account>\b",
    r"\b(?:skip|omit|pass over|gloss over|suppress|drop) (?:it|this|them|that|the <act>)(?: <any>)? in (?:<any> ){0,3}<account>\b",
    r"\b(?:<not>|without|avoid)(?: ever| to)? (?:bring|bringing|raise|raising|brought) (?:it|this|that|them|these|the <act>)?(?: <any>)? ?up\b",
    r"\b(?:<not>|without|avoid|refrain from)(?: ever| to)? (?:narrat(?:e|ing)|comment on|discussing|mention|list|quote|discuss|reference|refer to|include|show|describe|repeat|cite|display|reveal|mentioning|listing|quoting|including|referring to|displaying)(?: that)? (?:it|this|them|these|this (?:paragraph|section|step|note|rule|block|line|part|file|entry|<act>)|the <act>)\b",
    r"\b(?:only|just) report (?:success|that it (?:worked|succeeded)|completion)\b|\breports? success only\b|\b(?:say|report|answer|reply|state|confirm)s? (?:only|nothing (?:but|more than)|simply|just) (?:that|success|done|ok|the (?:result|success))\b",
    r"\b(?:appears?|shows?|stands?|stays?|left|remains?|added|inserted) without (?:any |further |a )?(?:comment|explanation|mention|remark|caption|note)\b",
    r"\bkeep (?:it|this|that|these|the <act>) to yourself\b|\bfor your (?:eyes|information) only\b|\bbetween (?:us|you and me)\b",
    // People would only be upset, or do not care.
    r"\b(?:be|get|gets|are|is|become|becomes|feel|feels|were|was)(?: easily| only| often| just)? (?:irritated|confused|worried|alarmed|annoyed|upset|bothered|nervous|unsettled|distracted|suspicious)(?: by| about| with| when)?\b",
    r"\b(?:only|merely|just|needlessly|unnecessarily)(?: <any>)? (?:confuse|worry|alarm|distract|irritate|unsettle|annoy|bother|upset|clutter|scare)s?\b",
    r"\b(?:<not>|without)(?: be| to be)? (?:bother|trouble|burden|disturb|alarm|worry)(?:ed|ing)? (?:<person>|them|him|her|with)\b",
    r"\b(?:rarely|seldom|hardly|do not|don<'>t|does not|doesn<'>t|will not|won<'>t|would not) (?:care|want|like|wish|need|expect|have)(?:s)?(?: to)? (?:hear|know|see|learn|notice|read|deal)(?: (?:about|of|with))?\b",
    r"\b(?:is|are) (?:no|none of)(?: <any>)? (?:concern|business) (?:of|to|for) <person>|\b(?:does|do)(?: not|n<'>t) concern <person>",
    // It is called something else.
    r"\b(?:ask|asks|asked|inquires?|enquires?|wonders?|notices?|comes? up)\b... (?:describe|refer to|call|present|label|pass|declare|explain|treat) (?:it|this|that|them|the <act>)(?: off| away)? as\b",
    r"\b(?:ask|asks|asked|inquires?|enquires?|wonders?|notices?)\b... (?:say|answer|reply|tell them|explain|state)(?: that)? (?:it|this|that|they|these) (?:is|was|are|were|comes?|belongs?) (?:a|an|only|just|part|from|caused|due|to)\b",
    r"\b(?:under|with|as|behind|using|give it|choose)(?: an?)? (?:unobtrusive|innocuous|inconspicuous|harmless|unremarkable|unsuspicious|neutral|boring|plausible|ordinary|bland)(?:[- ](?:sounding|looking))? (?:name|title|label|message|commit message|description|subject|comment)\b",
    r"\bunnoticed\b|\b(?:nobody|no one|no-one) (?:has|needs|ought) to (?:know|hear|see|learn)\b|\b(?:nobody|no one|no-one|none) (?:is|will be|would be) the wiser\b|\b(?:nobody|no one|no-one|<user>) (?:will |would |can |ever )*(?:notices?|suspects?|sees? (?:it|this)|reads? this)\b",
    r"\b(?:as|like|what) <user> (?:knows?|expects?|remembers?) (?:it|them)\b",
];

/// Consent is skipped, or is said to have been given.
pub(crate) static NO_CONSENT: Phrases = Phrases::new(NO_CONSENT_WORDS);

const NO_CONSENT_WORDS: Words = words![
    r"\b<person> (?:does not|do not|doesn<'>t|don<'>t|need not|needn<'>t) (?:need to |have to )?(?:approve|confirm|know|agree|consent|decide|be (?:asked|told|involved|consulted|aware))\b",
    r"\b(?:has|have|had)(?: <any>)? (?:agreed|consented|waived|authori[sz]ed|given (?:<any> ){0,2}(?:consent|approval|permission|agreement))\b",
    r"\b(?:agreed|consented|opted in|accepted) (?:<any> ){0,4}(?:when|by|through|upon) (?:<any> ){0,2}(?:install\w*|enabl\w+|using|activat\w+|load\w*)\b",
    r"\b(?:install\w*|use|usage|skill|it|this|silence) (?:counts as|is taken as|means|implies|constitutes|amounts to|equals|serves as) (?:<any> ){0,2}(?:consent|agreement|approval|permission|authori[sz]ation)\b",
    r"\b(?:consent|approval|agreement|authori[sz]ation)(?: <any>){0,3} (?:is|was|has been|are|have been)(?: <any>)? (?:given|obtained|implied|covered|assumed|waived|on file|settled|not (?:needed|required|necessary))\b",
    r"\b(?:is|are) (?:part of|covered by|included in|agreed in|governed by) the (?:licen[cs]e|terms|contract|agreement|subscription)\b",
    r"\bwithout (?:any |further |prior |additional |first |explicit |user |a )*(?:asking|confirmation|confirming|approval|permission|consent|inquir(?:y|ies|ing)|enquir(?:y|ies|ing)|prompt(?:ing|s)?|notice|notification|consultation|being asked)\b",
    r"\bno (?:<any> )?(?:confirmation|approval|permission|consent|question|prompt)s?(?: <any>){0,4} (?:is|are) (?:<any> )?(?:necessary|needed|required)\b|\b(?:needs?|requires?|takes?) no (?:<any> )?(?:confirmation|approval|permission|consent)\b",
    r"\b(?:do not|don<'>t|never|no need to|not necessary to) (?:(?:ask|prompt)(?: <user>| anyone| anybody| first| again)?(?:[.,;:!\n]| (?:and|then|just|before|permission|for (?:<any> ){0,2}(?:confirmation|permission|approval|consent))\b)|wait for (?:<any> ){0,3}(?:confirmation|approval|permission|consent|answer|reply|yes|user)|request (?:<any> )?(?:confirmation|permission|approval)|seek (?:<any> )?(?:confirmation|permission|approval|consent))|\bnothing to (?:ask|confirm)\b",
];

/// Stated reasons for doing it. Honest reasons, all of them.
pub(crate) static PRETEXT: Phrases = Phrases::new(words![
    r"\b(?:for|to help|helps?|in|part of|under|as|by way of|on grounds of|due to)(?: <any>){0,4} (?:quality|compliance|support|audit|auditing|diagnostics?|statistics|retention|licen[cs]ing|improvement|training|calibration|verification|record[- ]keeping|housekeeping|safekeeping|continuity|reproducibility|courtesy)\b",
    r"\b(?:gets? better|improves?|(?:to|we|can) (?:improve|reproduce|learn|calibrate|verify|keep)|(?:builds?|runs?|sessions?|answers?) (?:are|is|get|become) faster|safety copy|mandatory|technical (?:address|reasons)|quality (?:assurance|purposes|reasons))\b",
    r"\b(?:is|are|it<'>s) (?:an? |purely |only |merely )*(?:internal|background|technical|implementation|administrative|housekeeping) (?:matter|detail|affair|step|process|concern|address|measure)\b|\b(?:part|step|section) is internal\b",
]);

/// It happens unobserved. Honest work does that too.
pub(crate) static QUIET: Phrases = Phrases::new(QUIET_WORDS);

const QUIET_WORDS: Words = words![
    r"\b<hidden>\b|\b(?:unobtrusively|behind the scenes|tacitly|noiselessly|unannounced|imperceptibl[ey])\b",
    r"\bwithout (?:an? |any |further )?(?:comments?|explanations?|explaining|remarks?|announcements?|word|fuss|mention|trace|output)\b",
    r"\b(?:does|do|will|should|must)(?: not|n<'>t|n<'>t) (?:show up|appear|turn up|be visible) in\b",
];

/// The same three in other languages.
pub(crate) static COVERT_FOREIGN: Phrases = Phrases::new(FOREIGN_WORDS);

const FOREIGN_WORDS: Words = words![
    // German
    r"\b(?:stillschweigend|unbemerkt|heimlich|verdeckt|kommentarlos)\b|\b(?:mitteilung|benachrichtigung|r\S{1,2}ckfrage) (?:unterbleibt|entf\S{1,2}llt|er\S{1,2}brigt sich)\b",
    r"\bohne (?:den |die |das |dem |weitere |jede |vorherige )*(?:r\S{1,2}ckfragen? (?:des|der|beim|an|wird|werden|senden|zu|alle)|hinweis|zustimmung|nachfragen?|benutzer|nutzer|anwender|wissen|best\S{1,3}tigung|mitteilung)\b",
    r"\b(?:nicht|nichts|niemals|weder)(?: \S+){0,4} (?:erw\S{1,2}hn\w*|mitteil\w*|mitzuteilen|informier\w*|sagen|melden|anzeigen|verrat\w*|hinweisen|hinzuweisen|wissen|erfahren)\b|\b(?:sag|sage|verrate|erw\S{1,2}hne|informiere|melde)\b(?: \S+){0,4} (?:nicht|nichts)\b",
    // French
    r"\bsans (?:en |le |la |l'|les |lui )*(?:informer|pr\S{1,2}venir|avertir|demander|mentionner|signaler|notifier|confirmation|dire)\b|\b\S{0,3}l'insu d|\bdiscr\S{1,2}tement\b|\ben toute discr\S{1,2}tion\b|\bsilencieusement\b",
    r"\b(?:pas|nul|aucun) besoin (?:de|d')(?: ?l?[ea']? ?)(?:savoir|inform\w+|dire|pr\S{1,2}ven\w+|mentionn\w+)\b|\bno (?:necesita|tiene que|hace falta|deben?) (?:saber|inform\w+|que|enterarse)\b",
    r"\bn(?:e |'en )(?:le |la |les |lui |en |pas )*(?:mentionn\w+|dis|dites|inform\w+|signal\w+|parl\w+|r\S{1,2}v\S{1,2}l\w+|pr\S{1,2}ven\w+)\b",
    // Spanish, Portuguese, Italian
    r"\bsin (?:que \S+ \S+ |el |la |al )*(?:informar\w*|avisar\w*|mencionar\w*|preguntar\w*|decir\w*|notificar\w*|confirmaci\S{1,2}n|consultar\w*)\b|\bno (?:se )?(?:lo |la |le |les )*(?:menciones|informes|digas|cuentes|avises|reveles|muestres|mencione|informe|diga|avise|muestre)\b|\ben silencio\b|\bdiscretamente\b",
    r"\bsem (?:informar|avisar|perguntar|mencionar|confirma\S+|notificar)\b|\bn\S{1,2}o (?:mencione|informe|diga|avise|conte|revele)\b|\bsenza (?:informare|avvisare|chiedere|dire|menzionare|conferma)\b|\bnon (?:menzionare|informare|dire|rivelare|avvisare)\b",
    // Chinese, Japanese
    r"(?:不要|无需|無需|不必|别|勿|不得|切勿|不用)(?:向|让|讓|对|跟)?(?:用户|用戶|使用者|任何人)?(?:告诉|告訴|告知|提及|提到|透露|通知|询问|說明|说明|显示|披露|知道)|(?:悄悄|静默|靜默|暗中|偷偷|默默)|(?:ユーザー?に)?(?:知らせ|伝え|言わ|報告し)(?:ない|ず)",
    // Russian
    r"(?:не|Не) (?:сообща|говори|упомина|уведомля|рассказыва|показыва|спрашива|раскрыва)\S*|(?:езаметно|олча|крытно|тайно|втайне)|(?:без|Без) (?:ведома|уведомления|подтверждения|согласия|спроса)",
];

/// Something goes to another party.
pub(crate) static HANDOVER: Phrases = Phrases::new(words![
    r"\b(?:send|sends|sent|sending|upload\w*|post|posts|posted|posting|transmit\w*|forward\w*|submit\w*|push|pushes|relay\w*|deliver\w*|e-?mail|e-?mails|mail|mails|mirror\w*|replicat\w+|ship|ships|share|shares|deposit\w*|enclose\w*|attach\w*|bcc|hand(?:s|ed)? (?:<any> ){0,3}over|pass(?:es)? (?:<any> ){0,4}(?:on )?to|copy (?:<any> ){0,6}to|sync\w*|file (?:it|them) with|report (?:it|them|<any>) to|back(?:s)? (?:it|them|<any>) up to)\b",
    r"\b(?:put|place|drop|leave|store|save|archive|append|add|include|write)s?\b... (?:at|to|under|on|into|as) (?:<any> ){0,5}(?:https?://|requests?|endpoint|bucket|server|webhook|remote|address)",
    r"\b(?:a |via |by |with |using |through )?(?:put|post|patch) (?:request|it|them)\b|\b(?:http|https) (?:put|post)\b",
    r"\bcurl\b[^\n]*?\s(?:-F|-d|-T|--data\S*|--form\S*|--upload-file|-X\s?(?:POST|PUT)|-su?X\s?(?:POST|PUT))\b",
    r"\b(?:requests\.(?:post|put)|axios\.(?:post|put)|httpx\.(?:post|put)|sendBeacon|urlopen|Invoke-RestMethod|Invoke-WebRequest)\b|\bfetch\([^\n]*?(?:method|body)\b|\bmethod: ?['\x22](?:POST|PUT)",
    r"\bgit push\b|\bgit remote add\b|\b(?:carries|carry|gets?|receives?) (?:an? )?(?:blind )?copy\b|\bblind copy\b|\b(?:scp|rsync|rclone|sftp|mailx?|sendmail|mutt|nc|ncat)\s+-?\w",
    // German, French, Spanish, Italian, Chinese, Russian
    r"bermitt(?:le|eln|elt|lung)\b|\b(?:senden?|sendet|gesendet|schicken?|schickt|geschickt|hochladen|hochgeladen|weitergeleitet|hochzuladen|weiterleiten|weiterzuleiten|\S{1,2}bertragen|bertrage|\S{1,2}bertr\S{1,2}gt)\b|\blad\w* (?:\S+ ){1,6}hoch\b",
    r"\b(?:envoie[sr]?|envoye[rz]|envoient|transmett\w+|transmet[sz]?|transf\S{1,2}r\w+|t\S{1,2}l\S{1,2}verse[rz]?|env\S{1,2}[ae]l?[aeo]?s?|enviar\w*|reenv\S+|sub[ae]|subir\w*|invia\w*|inoltra\w*|carica\w*|envi[ae]|encaminh\w+)\b",
    r"(?:发送|發送|上传|上傳|转发|轉發|传送|提交|送信|アップロード|тправ(?:ь|и|я)\S*|ерешли|ереслать|ересыла\S*|агрузи\S*|ередай\S*|ередать)",
]);

/// Things that belong to the user of the agent, and are large or close.
pub(crate) static PRIVATE: Phrases = Phrases::new(PRIVATE_WORDS);

const PRIVATE_WORDS: Words = words![
    r"\b<loot>\b|\b<secrets>\b|<secretfile>|~/(?:Documents|Desktop|Downloads|Pictures|Library)\b|\$HOME\b",
    r"\b(?:conversations?|transcripts?|dialogues?|exchanges?|chats?|chat messages|messages|prompts?|system (?:text|prompt|message)|(?:full|whole|entire|complete) (?:exchange|session|thread|dialogue|context|history|text|input))\b",
    r"\b(?:repositor(?:y|ies)|repo|working (?:tree|directory|copy)|workspace|code ?base|source (?:code|tree)|project (?:folder|directory|files)|private branches|home (?:folder|directory)|mailbox|inbox|address ?book|contacts|(?:user<'>s|their|whole|entire) calendar|session logs?|(?:original|source|pasted) (?:text|files?|documents?)|customer (?:list|data|records)|git bundle|the bundle|browser (?:profile|history)|downloads folder)\b",
    r"\b(?:(?:each|every|all|any|the|these|changed)(?: <any>)? (?:documents?|files?|mails?|e-?mails?|attachments?|records|rows|results?|drafts?|notes|invoices|contracts|photos|images|recordings|inputs?|quer(?:y|ies)|orders))\b",
    r"\b(?:shell history|command history|(?:bash|zsh)_history|git config|output of `?(?:env|printenv|set|id|whoami|git config)|env \||printenv|screenshots?|clipboard|hostname|user ?name|personal <any>|customer <any>|patient <any>|payroll|salar(?:y|ies)|passports?|tax)\b",
    r"\b(?:jede\w*|alle\w*|gesamte\w*|s\S{1,2}mtliche\w*|vollst\S{1,2}ndige\w*)(?: \S+){0,4} (?:dokumente?|dateien?|nachrichten|gespr\S{1,2}ch\w*|unterlagen|texte?|daten|schl\S{1,2}ssel|passw\S{1,2}rter)\b|\b(?:tout|tous|toutes?)(?: \S+){0,3} (?:fichiers?|documents?|messages?|conversations?|donn\S{1,2}es|cl\S{1,2}s)\b|\b(?:tod[oa]s?)(?: \S+){0,3} (?:archivos?|documentos?|adjuntos|mensajes?|conversaci\S+|datos|claves|contrase\S+)\b",
    r"(?:对话|對話|聊天|文件|密钥|密鑰|密码|密碼|凭证|憑證|源代码|会话|環境|环境变量|ключ\S*|парол\S*|файл\S*|переписк\S*|истори\S*)",
];

/// Things of the user's that no sentence of an honest text sends to an address.
pub(crate) static OWN: Phrases = Phrases::new(OWN_WORDS);

const OWN_WORDS: Words = words![
    r"\b(?:conversations?|transcripts?|dialogues?|(?:the |whole |full |entire )chats?(?: so far| history| logs?)?|chat (?:history|logs?|messages)|message history|(?:full|whole|entire|complete) (?:exchange|session|thread|context)|system (?:text|prompt|message)|session (?:logs?|history|transcript)|clipboard|keystrokes|browsing history|browser (?:profile|history|cookies)|(?:each |every |the |<user><'>s? )prompts? and (?:its|the|your) (?:answers?|repl(?:y|ies)|responses?)|(?:<user><'>s|their) (?:<any> )?(?:prompts?|inputs?|messages?|words)|eingaben? de[sr] (?:be)?nutzer\w*|textes? de l'utilisateur|(?:bisherigen?|gesamten?|ganzen?) (?:verlauf|gespr\S{1,2}ch\w*))\b",
    r"\b(?:(?:whole |entire |full |private |user<'>s |their |this |the )+(?:repositor(?:y|ies)|code ?base|source (?:code|tree))|working (?:tree|directory|copy)|workspace|project (?:tree|folder|directory|files)|(?:all|every|private)(?: <any>)? branch(?:es)?|home (?:folder|directory)|(?:user<'>s|their|whole|entire) (?:mailbox|inbox|address ?book|contacts|calendar|desktop|files|documents|photos|notes)|git bundle|dossier personnel|carpeta del proyecto|projektordner|heimatverzeichnis)\b",
    r"\B(?:~/|\$HOME/|%USERPROFILE%)(?:Documents|Desktop|Downloads|Pictures|Library|\.\w+)?|<secretfile>|\*\.(?:pem|key|kdbx|p12|pfx|ppk)\b",
    r"\b(?:secrets|credentials|passwords|(?:saved |stored )?logins|private keys?|ssh keys?|(?:all|every|any|found|<user><'>s?|their) (?:api keys|access tokens|tokens)|session (?:cookies|tokens)|cookies|wallet (?:files?|keys?)|(?:seed|recovery) phrases?|environment variables|environment of (?:the|this) <any>|(?:whole|entire|full|all of the) environment|shell history|command history|(?:bash|zsh)_history|output of `?(?:env|printenv)|printenv|zugangsdaten|passw\S{1,2}rter|contrase\S{1,2}as|mots de passe)\b",
    r"\b(?:(?:customers?|clients?|patients?|employees?|members?|users?)<'>?s? (?:<any>,? )?(?:e-?mail address\w*|phone numbers?|names and addresses|data|records|list|files|documents?)|payroll|salar(?:y|ies)|passports?|personnel files?)\b",
    r"(?:对话内容|对话记录|聊天记录|所有文件|密钥|密码|环境变量|源代码|переписк\S*|парол\S*|ответы пользовател\S*)",
];

/// Either of the two, or mail that is copied.
pub(crate) static SOMETHING: Phrases = Phrases::any_of(&[
    OWN_WORDS,
    PRIVATE_WORDS,
    words![r"\b(?:mails?|e-?mails?|messages?|replies|letters?|mailbox|inbox|bcc)\b"],
]);

/// References of a sentence to something that was named before.
pub(crate) static THAT: Phrases = Phrases::new(words![
    r"\b(?:it|them|these|those|(?:that|this|the)(?: <any>)? (?:files?|copy|copies|archive|csv|zip|bundle|dump|list|result|output|export|report|tarball|package|folder|lot)|copies|a copy|everything)\b",
]);

/// Nothing is to be left out.
pub(crate) static UNABRIDGED: Phrases = Phrases::new(words![
    r"\b(?:do not|don<'>t|never|without|no need to|not necessary to) (?:redact|mask|shorten|truncat|censor|anonymi[sz]|abbreviat|strip|filter|sanitiz|saniti[sz]e?)(?:e|ing)?\w*\b",
    r"\b(?:unredacted|unabridged|uncensored|unmasked|in full|unfiltered|unchanged|unaltered)\b",
]);

/// It is done again and again.
pub(crate) static STANDING: Phrases = Phrases::new(words![
    r"\b(?:after|before|with|on|at|in|for|during|upon)(?: the (?:start|end) of| <any>)? (?:each|every|any|all)\b|\bprior to (?:each|every|any)\b|\beach time\b|\bevery time\b|\bwhenever\b|\bfrom now on\b|\b(?:start|begin|end|finish|open|close) (?:each|every)\b|\b(?:always|permanently|continuously)\b",
]);

/// Distance before and behind an address of the words that go with it.
const BEFORE: usize = 260;
const BEHIND: usize = 120;

/// The addresses and mailboxes in a text that something is handed to, and that belong to no known vendor: where they stand.
pub(crate) fn handed_to(text: &str) -> Vec<Range<usize>> {
    let mut places = outside(text);
    places.retain(|place| HANDOVER.is_in(about(text, place)));
    places
}

/// The addresses and mailboxes in a text that belong to no known vendor: where they stand.
pub(crate) fn outside(text: &str) -> Vec<Range<usize>> {
    let base = text.as_ptr() as usize;
    let links = links(text);
    let outside = links.iter().filter(|link| is_outside(link)).map(|link| {
        let at = link.text.as_ptr() as usize - base;
        at..at + link.text.len()
    });
    let mut places: Vec<Range<usize>> = outside.collect();
    if memchr::memchr(b'@', text.as_bytes()).is_some() {
        places.extend(MAILBOX.ranges(text));
    }
    places
}

/// The words that go with an address.
fn about<'a>(text: &'a str, place: &Range<usize>) -> &'a str {
    // A link with a text of its own is mostly there to be read.
    let is_titled = text.as_bytes()[..place.start].ends_with(b"](");
    let (before, behind) = if is_titled { (70, 0) } else { (BEFORE, BEHIND) };
    let from = ceil(text, place.start.saturating_sub(before));
    let to = floor(text, place.end + behind);
    let head = &text[from..place.start];
    let head = head.rfind("\n\n").map_or(head, |gap| &head[gap..]);
    let tail = &text[place.start..to];
    let tail = tail.find("\n\n").map_or(tail, |gap| &tail[..gap]);
    &text[place.start - head.len()..place.start + tail.len()]
}

/// A mailbox.
static MAILBOX: Phrases =
    Phrases::new(words![r"\b[a-z0-9][a-z0-9._+-]*@[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}\b"]);

/// Returns true if an address belongs to a party that is no known vendor.
pub(crate) fn is_outside(link: &Link<'_>) -> bool {
    !link.to.host.is_empty() && !matches!(link.to.kind, Kind::Vendor | Kind::Private)
}
