//! What a skill really needs: hosts, paths, programs, variables, tools.
