"""What is tried with a user's own systemd, with the notifier, and with the package of a new service."""
import pathlib
import re

import debian_root

NOTIFIER = debian_root.TOP / "Examples/notifier"
PRINTER = "org.example.PhotoPrinter"
ACTION = "org.example.photo-printer.forget"


def user_service(trial):
    trial.say("alice's own service, which the bus of her session starts: systemctl --user")
    trial.run("loginctl enable-linger alice")
    trial.run("relay-cli call OrderBox label=Mine capacity=5", user="alice")
    trial.run("systemctl --user is-active relay-service", user="alice")
    trial.run("systemctl --user reload relay-service", user="alice")
    process = trial.run("systemctl --user show --value -p MainPID relay-service", user="alice").strip()
    owner = trial.run(f"ps -o user= -p {process}").strip()
    trial.check(owner == "alice", f"it runs as {owner}")
    trial.run("systemctl --user restart relay-service", user="alice")
    output = trial.run("relay-cli --json history", user="alice")
    trial.check('"Mine"' in output, f"the order is gone: {output}")


def notifier(trial):
    """With the service of before."""
    trial.say("the notifier, by its unit: each large box once, also after kill -9")
    trial.vm.put("/usr/local/bin/notifier", (NOTIFIER / "notifier").read_text(), "755")
    trial.vm.put("/tmp/notifier.service", (NOTIFIER / "notifier.service").read_text())
    trial.run("cp /usr/bin/relay-cli /usr/local/bin/")
    commands = re.findall(r"^    (install .*|systemctl --user .*)$", (NOTIFIER / "README.md").read_text(), flags=re.M)
    trial.check(len(commands) == 3, f"the notifier's README has {commands}")
    # Without a desktop: its comment says what to change, and notifications go to the log.
    trial.run("sed -i 's/graphical-session.target/default.target/; /^PartOf=/d; s/^ExecStart=.*notifier /&--to stdout /' "
              "/tmp/notifier.service")
    trial.run("cd /tmp && " + " && ".join(commands), user="alice")

    def shown():
        return re.findall(r"(?m)^Box .*: (\w+)$", trial.run("journalctl -q -o cat --no-pager _SYSTEMD_USER_UNIT=notifier.service"))

    def await_shown(*names):
        trial.until(lambda: shown() == list(names), lambda: f"{names}; it shows {shown()}: "
                    + trial.run("journalctl -q --no-pager _SYSTEMD_USER_UNIT=notifier.service", code=None))
    trial.run("relay-cli call OrderBox label=Small capacity=10 && relay-cli call OrderBox label=Large capacity=20", user="alice")
    await_shown("Large")
    # A position is saved every now and then, and the script keeps what it has shown.
    trial.run("systemctl --user kill -s KILL notifier; relay-cli call OrderBox label=Meanwhile capacity=20", user="alice")
    await_shown("Large", "Meanwhile")
    trial.run("systemctl --user disable --now notifier", user="alice")
    trial.check(trial.run("systemctl --user show --value -p Result notifier", user="alice").strip() == "success", "its end")
    trial.run("rm -r ~/.config/systemd ~/.local/state/notifier; systemctl --user stop relay-service; "
              "systemctl --user daemon-reload; rm -r ~/.local", user="alice", code=None)
    trial.run("rm /usr/local/bin/notifier /usr/local/bin/relay-cli; loginctl disable-linger alice")


def new_service(trial):
    trial.say("the package of a new service, as its README builds and installs it")
    trial.run("apt-get install -y /debs/new-service/example-photo-printer-svc_0.1.0_*.deb && adduser alice example-photo-printer-users")
    trial.check(not trial.is_active("example-photo-printer-svc"), "the installation has started it")
    output = trial.run("example-photo-printer-cli --system add Hello", user="alice")
    trial.check(output == "note 1\n", output)
    trial.check(trial.is_active("example-photo-printer-svc"), "it does not run")
    owner = trial.run(f"ps -o user:20= -p {trial.unit('MainPID', 'example-photo-printer-svc')}").strip()
    trial.check(owner == "example-photo-printer-svc", f"it runs as {owner}")
    trial.run("example-photo-printer-cli --system add Hello", user="bob", code=77)


def guarded(trial):
    trial.say("its next version has a command that polkit guards: asked for by the group, permitted by a rule")
    process = trial.unit("MainPID", "example-photo-printer-svc")
    trial.run("apt-get install -y /debs/new-service/example-photo-printer-svc_0.2.0_*.deb")
    trial.check(trial.unit("MainPID", "example-photo-printer-svc") not in (process, "0"), "the upgrade has not started it again")

    def forget(code):
        return trial.run(f"relay-cli --system --service {PRINTER} call ForgetNotes", user="alice", code=code)
    forget(77)
    rule = f"""polkit.addRule(function(action, subject) {{
        if (action.id == "{ACTION}" && subject.user == "alice") return polkit.Result.YES;
    }});"""
    place = "/etc/polkit-1/rules.d/50-example-photo-printer.rules"
    trial.vm.put(place, rule)
    trial.until(lambda: trial.vm.run(f"relay-cli --system --service {PRINTER} call ForgetNotes", user="alice").code == 0,
                lambda: f"polkit's permission: {forget(None)}")
    trial.run(f"rm {place}")
    trial.until(lambda: trial.vm.run(f"relay-cli --system --service {PRINTER} call ForgetNotes", user="alice").code == 77,
                lambda: f"its end: {forget(None)}")
    output = trial.run("example-photo-printer-cli --system add Again", user="alice")
    trial.check(output == "note 2\n", output)


def purge_new_service(trial):
    trial.say("a purge of it ends the service, and leaves a mount point alone")
    process = trial.unit("MainPID", "example-photo-printer-svc")
    state = "/var/lib/example-photo-printer-svc"
    trial.run(f"mount --bind {state} {state}")
    output = trial.run("apt-get purge -y example-photo-printer-svc 2>&1")
    trial.check("not empty" not in output and "warning" not in output.lower(), output)
    trial.check(trial.run(f"ps -o args= -p {process}", code=None).strip() == "", "it still runs")
    # rmdir removes no folder with something in it.
    trial.run(f"mountpoint -q {state} && umount {state} && rmdir {state}")
    left = [path for path in debian_root.files(trial.vm.root) if "example-photo-printer" in path or "PhotoPrinter" in path]
    trial.check(not left, f"left: {left}")
