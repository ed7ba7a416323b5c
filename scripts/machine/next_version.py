#!/usr/bin/python3
"""Changes the package that `relay-cli new-service` wrote, as its README says: a command that polkit guards; its version is 0.2.0.

usage: next_version.py FOLDER-OF-PHOTO-PRINTER
"""
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
COMMAND = """
public struct ForgetNotes: Command {
    public typealias Interface = PhotoPrinter1
    public static let requirement = PeerRequirement.polkit(action: "org.example.photo-printer.forget")
    public init() {}
}
"""
HANDLER = """        service.handle(ForgetNotes.self) { _, _, unit in
            try unit.execute("DELETE FROM notes WHERE id > 1")
            return NoReply()
        }
"""
ACTION = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE policyconfig PUBLIC "-//freedesktop//DTD polkit Policy Configuration 1.0//EN"
    "http://www.freedesktop.org/software/polkit/policyconfig-1.dtd">
<policyconfig>
  <action id="org.example.photo-printer.forget">
    <description>Forget notes</description>
    <message>Authentication is required to forget notes</message>
    <defaults><allow_any>no</allow_any><allow_inactive>no</allow_inactive><allow_active>no</allow_active></defaults>
    <annotate key="org.freedesktop.policykit.owner">unix-user:example-photo-printer-svc</annotate>
  </action>
</policyconfig>
"""


def change(path, old, new):
    text = (folder / path).read_text()
    assert text.count(old) == 1, f"{path} has '{old}' {text.count(old)} times"
    (folder / path).write_text(text.replace(old, new))


contract = "Sources/PhotoPrinter/PhotoPrinter1.swift"
change(contract, "        AddNote.self\n", "        AddNote.self\n        ForgetNotes.self\n")
with open(folder / contract, "a") as file:
    file.write(COMMAND)
change("Sources/PhotoPrinterDomain/NoteBook.swift", "    public func open(on service: EventService) {\n",
       "    public func open(on service: EventService) {\n" + HANDLER)
(folder / "packaging/org.example.photo-printer.policy").write_text(ACTION)
change("debian/rules", "\tinstall -D -m 644 packaging/example-photo-printer-svc.sysusers",
       "\tinstall -D -m 644 -t debian/example-photo-printer-svc/usr/share/polkit-1/actions packaging/org.example.photo-printer.policy\n"
       "\tinstall -D -m 644 packaging/example-photo-printer-svc.sysusers")
change("debian/changelog", "example-photo-printer-svc (0.1.0)", "example-photo-printer-svc (0.2.0)")
