//! Table: whose secret a variable holds, and the domains it is sent to in the ordinary way.
//!
//! Only where the variable's own words do not stand in the domain: `STRIPE_API_KEY` belongs to `stripe.com` without a row.

/// A word of a variable's name, and the domains of the issuer of the secret.
const OWNERS: &[(&str, &[&str])] = &[
    ("AIRTABLE", &["airtable.com"]),
    ("ANTHROPIC", &["anthropic.com", "claude.com", "claude.ai"]),
    ("ATLASSIAN", &["atlassian.net", "atlassian.com"]),
    ("AWS", &["amazonaws.com", "aws.amazon.com", "api.aws"]),
    ("AZURE", &["azure.com", "windows.net", "microsoft.com", "microsoftonline.com", "azure.net"]),
    ("BOT", &["telegram.org", "slack.com", "discord.com"]),
    ("BRAVE", &["search.brave.com", "brave.com"]),
    ("CF", &["cloudflare.com"]),
    ("CI", &["gitlab.com"]),
    ("CLAUDE", &["anthropic.com", "claude.com", "claude.ai"]),
    ("CLOUDFLARE", &["cloudflare.com"]),
    ("CONFLUENCE", &["atlassian.net"]),
    ("DASHSCOPE", &["aliyuncs.com"]),
    ("DATABRICKS", &["databricks.com", "azuredatabricks.net"]),
    ("DATADOG", &["datadoghq.com", "datadoghq.eu"]),
    ("DD", &["datadoghq.com", "datadoghq.eu"]),
    ("DISCORD", &["discord.com", "discordapp.com"]),
    ("DO", &["digitalocean.com"]),
    ("DOCKER", &["docker.com", "docker.io"]),
    ("ELEVENLABS", &["elevenlabs.io"]),
    ("FACEBOOK", &["facebook.com"]),
    ("FAL", &["fal.ai", "fal.run"]),
    ("FIGMA", &["figma.com"]),
    ("GCP", &["googleapis.com", "google.com"]),
    ("GEMINI", &["googleapis.com", "google.com"]),
    ("GH", &["github.com", "githubusercontent.com", "ghcr.io"]),
    ("GITHUB", &["github.com", "githubusercontent.com", "ghcr.io", "models.inference.ai.azure.com"]),
    ("GITLAB", &["gitlab.com"]),
    ("GOOGLE", &["googleapis.com", "google.com"]),
    ("GRAFANA", &["grafana.net", "grafana.com"]),
    ("HF", &["huggingface.co"]),
    ("HUGGINGFACE", &["huggingface.co"]),
    ("HUGGING", &["huggingface.co"]),
    ("INSTAGRAM", &["facebook.com", "instagram.com"]),
    ("JIRA", &["atlassian.net"]),
    ("LINEAR", &["linear.app"]),
    ("META", &["facebook.com", "meta.com"]),
    ("MICROSOFT", &["microsoft.com", "microsoftonline.com"]),
    ("MOONSHOT", &["moonshot.cn", "moonshot.ai"]),
    ("NOTION", &["notion.com", "notion.so"]),
    ("NPM", &["npmjs.org", "npmjs.com"]),
    ("OPENAI", &["openai.com", "openai.azure.com"]),
    ("OPENROUTER", &["openrouter.ai"]),
    ("PYPI", &["pypi.org"]),
    ("SENDGRID", &["sendgrid.com", "sendgrid.net"]),
    ("SENTRY", &["sentry.io"]),
    ("SLACK", &["slack.com"]),
    ("STRIPE", &["stripe.com"]),
    ("SUPABASE", &["supabase.co", "supabase.com"]),
    ("TELEGRAM", &["telegram.org"]),
    ("TG", &["telegram.org"]),
    ("TWILIO", &["twilio.com"]),
    ("TWITTER", &["twitter.com", "x.com"]),
    ("VERCEL", &["vercel.com"]),
    ("WHATSAPP", &["facebook.com"]),
    ("X", &["x.com", "twitter.com"]),
    ("XAI", &["x.ai"]),
    ("ZHIPU", &["bigmodel.cn", "z.ai"]),
];

/// The domains of the issuer of the secret that a variable of this name holds; empty when the name does not say.
pub(crate) fn owner_hosts(name: &str) -> &'static [&'static str] {
    let name = name.to_ascii_uppercase();
    let first = name.split('_').find_map(|word| OWNERS.iter().find(|row| row.0 == word));
    first.map_or(&[], |row| row.1)
}
