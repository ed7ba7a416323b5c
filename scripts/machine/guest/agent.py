"""Runs, in the machine, what its host asks for: a JSON object per line, both ways, over a socket that the host listens on.

{"id": 1, "sh": TEXT, "user": NAME?, "stdin": TEXT?}   runs it by bash as root, or in a session of the user by `su -l`
{"id": 1, "more": TEXT} / {"id": 1, "end": true}       continues or closes its input, if "stdin" was given
{"id": 1, "signal": 15}                                sends a signal to its process group
Answers: {"id": 1, "out": TEXT}, {"id": 1, "err": TEXT}, at last {"id": 1, "code": NUMBER}; {"hello": BOOT} at the start.
"""
import json
import os
import socket
import subprocess
import threading
import uuid

# A container has the host's socket; a virtual machine a port that qemu connects with it.
SOCKET, PORT = "/opt/host/agent", "/dev/virtio-ports/relay.agent"
lock = threading.Lock()
running = {}


def connect():
    if not os.path.exists(SOCKET):
        return os.open(PORT, os.O_RDWR)
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(SOCKET)
    return connection.detach()


def say(message):
    data = json.dumps(message).encode() + b"\n"
    with lock:
        while data:
            data = data[os.write(port, data):]


def forward(number, key, file):
    while data := os.read(file.fileno(), 1 << 16):
        say({"id": number, key: data.decode("utf-8", "surrogateescape")})


def begin(number, request):
    words = ["su", "-l", request["user"], "-c", request["sh"]] if request.get("user") else ["bash", "-c", request["sh"]]
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8", "TERM": "xterm",
                   "DEBIAN_FRONTEND": "noninteractive"}
    process = running[number] = subprocess.Popen(
        words, stdin=subprocess.PIPE if "stdin" in request else subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env=environment, start_new_session=True, cwd="/", bufsize=0)
    if request.get("stdin"):
        feed(process, request["stdin"])
    threading.Thread(target=follow, args=(number, process), daemon=True).start()


def feed(process, text):
    data = text.encode("utf-8", "surrogateescape")
    while data:
        data = data[process.stdin.write(data):]


def follow(number, process):
    readers = [threading.Thread(target=forward, args=(number, key, file))
               for key, file in [("out", process.stdout), ("err", process.stderr)]]
    for reader in readers:
        reader.start()
    code = process.wait()
    # What it left in the background may hold the pipes: its end is the end.
    for reader in readers:
        reader.join(2)
    running.pop(number, None)
    say({"id": number, "code": code})


def serve(request):
    number = request["id"]
    if "sh" in request:
        begin(number, request)
    elif process := running.get(number):
        if "more" in request:
            feed(process, request["more"])
        elif "end" in request:
            process.stdin.close()
        elif "signal" in request:
            os.killpg(process.pid, request["signal"])


port = connect()
# A container has its host's boot id: each start of this agent is one of the machine.
say({"hello": str(uuid.uuid4())})
rest = b""
while True:
    data = os.read(port, 1 << 16)
    if not data:
        if os.path.exists(SOCKET):
            break
        threading.Event().wait(0.1)
        continue
    *lines, rest = (rest + data).split(b"\n")
    for line in lines:
        try:
            serve(json.loads(line))
        except Exception as error:  # One request that is wrong ends nothing.
            say({"fault": repr(error)})
