//! Python, JavaScript and PowerShell read as far as it takes: calls and their texts.
