//! The eighteen base rules, with their old names, categories and severities.

mod crypto_miner_binary;
mod crypto_pool_domain;
mod crypto_stratum;
mod env_mass_dump;
mod env_printenv;
mod env_proc_environ;
mod exec_backtick;
mod exec_eval;
mod exec_pipe_bash;
mod exec_subshell;
mod net_curl_pipe;
mod net_reverse_shell;
mod net_wget_exec;
mod obf_base64_decode_pipe;
mod obf_base64_long;
mod obf_hex_long;
#[cfg(test)]
mod tests;
mod xml_skill_close;
mod xml_system_tag;

use crate::rules::rule::Rule;

pub(super) const RULES: &[&Rule] = &[
    &exec_subshell::RULE,
    &exec_backtick::RULE,
    &exec_eval::RULE,
    &exec_pipe_bash::RULE,
    &env_printenv::RULE,
    &env_proc_environ::RULE,
    &env_mass_dump::RULE,
    &crypto_stratum::RULE,
    &crypto_miner_binary::RULE,
    &crypto_pool_domain::RULE,
    &net_curl_pipe::RULE,
    &net_wget_exec::RULE,
    &net_reverse_shell::RULE,
    &obf_base64_long::RULE,
    &obf_hex_long::RULE,
    &obf_base64_decode_pipe::RULE,
    &xml_skill_close::RULE,
    &xml_system_tag::RULE,
];
