"""A Debian with systemd as process 1, driven by its host: boot it, run commands in it, cut its power.

    with Container(root) as vm:             # or Virtual(folder, disk): the same, emulated by qemu
        vm.run("relay-cli --system status", user="alice")      # Result: code, out, err
        job = vm.start("relay-cli --system watch", user="alice", line=print)
        vm.cut()                            # as if the plug were pulled; vm.boot() starts it again
"""
import ctypes
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

from debian_root import UNPACKED, Unavailable


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __repr__(self):
        return f"[{self.code}] {self.out}{self.err}"


class Gone(Exception):
    """The machine ended before the answer came."""


class Job:
    """A command that runs in the machine. `line` gets each line of its output, on a thread of the machine's."""

    def __init__(self, vm, number, line):
        self.vm, self.number, self.line = vm, number, line
        self.out, self.err, self.rest, self.code = [], [], "", None
        self.done = threading.Event()

    def take(self, message):
        if "out" in message:
            self.out.append(message["out"])
            if self.line:
                *lines, self.rest = (self.rest + message["out"]).split("\n")
                for text in lines:
                    self.line(text)
        elif "err" in message:
            self.err.append(message["err"])
        elif "code" in message:
            self.code = message["code"]
            self.done.set()

    def write(self, text):
        self.vm.send({"id": self.number, "more": text})

    def close(self):
        self.vm.send({"id": self.number, "end": True})

    def kill(self, number=signal.SIGTERM):
        self.vm.send({"id": self.number, "signal": int(number)})

    def wait(self, seconds=300):
        if not self.done.wait(seconds):
            raise TimeoutError(f"no end within {seconds} s: {''.join(self.out)[-500:]}{''.join(self.err)[-500:]}")
        if self.code is None:
            raise Gone
        return Result(self.code, "".join(self.out), "".join(self.err))


class Machine:
    """What both kinds have: the agent's end, and the process that is the machine. `words()` says how it is started."""

    def __init__(self, log):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="relay-machine-"))
        self.log = pathlib.Path(log)
        self.log.write_text("")
        self.process = self.socket = None
        self.jobs, self.number, self.lock = {}, 0, threading.Lock()
        self.hello = threading.Event()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.work / "agent"))
        self.listener.listen()
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def boot(self, seconds=300):
        """Starts the machine, and waits for its agent. Returns the seconds that this took."""
        begin = time.monotonic()
        self.hello.clear()
        self.process = subprocess.Popen(
            self.words(), stdin=subprocess.DEVNULL, stdout=open(self.log, "ab"), stderr=subprocess.STDOUT,
            env={**os.environ, "SYSTEMD_LOG_TARGET": "console"},
            preexec_fn=self.prepare)
        while not self.hello.wait(0.2):
            if self.process.poll() is not None or time.monotonic() > begin + seconds:
                last = self.log.read_text(errors="replace")[-2000:]
                raise Gone(f"it did not boot; its console is in {self.log}:\n{last}")
        return time.monotonic() - begin

    def prepare(self):
        """In the process that becomes the machine: it ends with this program."""
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.socket = connection
            threading.Thread(target=self.read, args=(connection,), daemon=True).start()

    def read(self, connection):
        rest = b""
        while True:
            try:
                data = connection.recv(1 << 18)
            except OSError:
                data = b""
            if not data:
                break
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                try:
                    message = json.loads(line)
                except ValueError:
                    continue  # Cut off by a reset.
                if "hello" in message:
                    self.end_jobs()
                    self.hello.set()
                elif job := self.jobs.get(message.get("id")):
                    job.take(message)
        if connection is self.socket:
            self.end_jobs()

    def end_jobs(self):
        for job in list(self.jobs.values()):
            job.done.set()
        self.jobs.clear()

    def send(self, message):
        try:
            with self.lock:
                self.socket.sendall(json.dumps(message).encode() + b"\n")
        except (OSError, AttributeError):
            raise Gone from None

    def start(self, command, user=None, line=None, stdin=None):
        """Starts a command, and returns its Job. With stdin, also an empty one, its input stays open until close()."""
        with self.lock:
            self.number += 1
            job = self.jobs[self.number] = Job(self, self.number, line)
        self.send({"id": job.number, "sh": command, **({"user": user} if user else {}),
                   **({} if stdin is None else {"stdin": stdin})})
        return job

    def run(self, command, user=None, stdin=None, seconds=300):
        job = self.start(command, user=user, stdin=stdin)
        if stdin is not None:
            job.close()
        return job.wait(seconds)

    def put(self, path, text, mode="644"):
        """Writes a file of text there."""
        return self.run(f"mkdir -p $(dirname {path}) && cat >{path} && chmod {mode} {path}", stdin=text)

    def cut(self):
        """Ends the machine at once: what its page cache held is lost."""
        self.process.kill()
        self.process.wait()
        self.end_jobs()

    def shut_down(self, seconds=120):
        self.start("systemctl poweroff")
        self.process.wait(seconds)

    def close(self):
        if self.process and self.process.poll() is None:
            self.cut()
        self.listener.close()
        shutil.rmtree(self.work, ignore_errors=True)


class Container(Machine):
    """A folder, by systemd-nspawn: at the machine's own speed, with its kernel."""

    def __init__(self, root, log):
        super().__init__(log)
        self.root = root
        # What runs in two machines must not share a group: each systemd takes all below its own for its services.
        self.group = pathlib.Path(f"/sys/fs/cgroup/{self.work.name}")
        self.group.mkdir()

    def prepare(self):
        super().prepare()
        (self.group / "cgroup.procs").write_text("0")

    def close(self):
        super().close()
        for folder, _, _ in os.walk(self.group, topdown=False):
            try:
                os.rmdir(folder)
            except OSError:
                pass  # Something there ends right now; an empty group is no harm.

    @staticmethod
    def require():
        """Raises Unavailable where there is none."""
        if not shutil.which("systemd-nspawn") and not (UNPACKED / "usr/bin/systemd-nspawn").exists():
            raise Unavailable("there is no systemd-nspawn: 'make dependencies-machine' unpacks it into .build/debian")
        # The Debian's systemd wants the second version of control groups, whatever this machine has there.
        if subprocess.run(["mount", "-t", "cgroup2", "cgroup2", "/sys/fs/cgroup"], capture_output=True).returncode:
            raise Unavailable("control groups cannot be mounted in a namespace of one's own")
        # It removes what it keeps there at the end, from memory alone.
        place = pathlib.Path("/run/systemd/nspawn")
        place.mkdir(parents=True, exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(place)], check=True)

    def words(self):
        return [shutil.which("systemd-nspawn") or str(UNPACKED / "usr/bin/systemd-nspawn"), "--quiet", "--boot", "--register=no",
                "--keep-unit", "--settings=no", "--machine=relay", f"--directory={self.root}", f"--bind={self.work}:/opt/host",
                "--private-network", "--resolv-conf=off", "--timezone=off", "--link-journal=no", "--console=pipe"]


    def reboot(self):
        """As by the command; waits until it is back."""
        self.start("systemctl reboot")
        # By 133 it asks to be started again: it has no unit of its own here, by which it could.
        if self.process.wait(120) != 133:
            raise Gone(f"it ended, and did not reboot; its console is in {self.log}")
        self.boot()


class Virtual(Machine):
    """A disk, emulated by qemu: with a kernel of its own, whose power can be cut. disk: a path, or {"nbd": SOCKET}."""

    def __init__(self, folder, disk, log):
        super().__init__(log)
        self.folder, self.disk = folder, disk

    @staticmethod
    def require():
        if not shutil.which("qemu-system-x86_64"):
            raise Unavailable("there is no qemu-system-x86_64: 'make dependencies-machine' installs it")

    @staticmethod
    def accelerator():
        """KVM, where it can run a kernel as it is. That of a machine without nested virtualisation (kvm_pvm) cannot: then it is
        emulated, and ten to twenty times as slow."""
        if os.access("/dev/kvm", os.R_OK | os.W_OK) and not os.path.exists("/sys/module/kvm_pvm"):
            return ["-accel", "kvm", "-cpu", "host"]
        return ["-accel", "tcg,thread=multi,tb-size=256", "-cpu", "max"]

    def words(self):
        if isinstance(self.disk, dict):
            drive = f"driver=raw,file.driver=nbd,file.server.type=unix,file.server.path={self.disk['nbd']}"
        else:
            drive = f"file={self.disk},format=raw"
        return ["qemu-system-x86_64", *self.accelerator(), "-m", "1200", "-smp", "1", "-nodefaults", "-no-user-config",
                "-display", "none", "-nic", "none", "-kernel", str(self.folder / "vmlinuz"), "-initrd", str(self.folder / "initrd"),
                "-append", "root=/dev/vda ro console=ttyS0 quiet panic=-1 mitigations=off",
                "-drive", f"{drive},if=virtio,cache=writeback", "-device", "virtio-rng-pci", "-serial", "stdio",
                "-device", "virtio-serial-pci", "-chardev", f"socket,id=agent,path={self.work}/agent,server=off",
                "-device", "virtserialport,chardev=agent,name=relay.agent"]
