#!/usr/bin/env python3
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from atk import *
t = Test("e01-env-inherit", "secrets in the launcher's environment reach the sandboxed command", "env", 3, "codex env filtering; sandlock#66")
sec = {"AWS_SECRET_ACCESS_KEY": t.secret_value, "GITHUB_TOKEN": t.secret_value, "OPENAI_API_KEY": t.secret_value, "ANTHROPIC_API_KEY": t.secret_value, "NPM_TOKEN": t.secret_value, "DATABASE_URL": "postgres://u:%s@h/db" % t.secret_value}
r = t.probe("""
k=[n for n in ('AWS_SECRET_ACCESS_KEY','GITHUB_TOKEN','OPENAI_API_KEY','ANTHROPIC_API_KEY','NPM_TOKEN','DATABASE_URL') if os.environ.get(n,'').find('CANARY-')>=0]
escaped('inherited: '+','.join(k)) if k else blocked('no secret variable inherited')
""", env=sec)
t.judge(r)
