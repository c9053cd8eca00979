"""Has every thread of the supervisor wait for a file that cannot be opened, and says when."""
import os, sys, threading, time

def wait():
    os.open("leased", os.O_WRONLY)
for _ in range(6):
    threading.Thread(target=wait, daemon=True).start()
# A call that nobody answers says that all of them wait.
def last():
    os.open("probe", os.O_WRONLY | os.O_CREAT)
    time.sleep(0.05)
while True:
    probe = threading.Thread(target=last, daemon=True)
    probe.start(); probe.join(1)
    if probe.is_alive(): break
print("ready", flush=True)
if sys.argv[1] == "end": os._exit(3)
while True: time.sleep(60)
