//! What an MCP server says of itself: tools, descriptions, schemas, instructions; and how it is started.
