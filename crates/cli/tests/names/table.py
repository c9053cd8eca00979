"""Makes a file at every path of a list, and says which were refused."""
import errno, os

for path in open("paths").read().split("\n"):
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if not os.path.isdir(path): os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o644))
    except OSError as error:
        print("refused" if error.errno == errno.EPERM else errno.errorcode[error.errno], path, flush=True)
print("end")
