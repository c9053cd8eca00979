"""Holds a lease on a file: whoever opens it for writing waits until the lease is given back, which it never is."""
import fcntl, os, signal, sys

signal.signal(signal.SIGIO, signal.SIG_IGN)
fd = os.open(sys.argv[1], os.O_RDONLY)
try:
    fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
except OSError as error:
    print("no lease:", os.strerror(error.errno), flush=True)
    sys.exit(1)
print("held", flush=True)
sys.stdin.read()
