import Foundation
import RelayCore
import RelayTestKit
import RelayTool
import TestTraits
import Testing

@testable import relay_cli

@Suite("new-service") struct NewServiceTests {
    private func refusal(_ name: String) -> String? {
        if case .failure(let refusal) = ServiceName.read(name) { refusal.reason } else { nil }
    }
    private func template(_ name: String, relay: String = "../relay") throws -> ServiceTemplate {
        ServiceTemplate(name: try ServiceName.read(name).get(), relay: relay)
    }
    /// Below the folder, in order.
    private func files(in folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).filter {
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: "\(folder)/\($0)", isDirectory: &isFolder)
                && !isFolder.boolValue
        }.sorted()
    }

    @Test("it needs no bus and no service that runs") func alone() throws {
        let name = try ServiceName.read("org.example.Printer").get()
        #expect(!NewService(name: name, folder: "printer", relay: "../relay").asksService)
    }
    @Test(
        "a service's name gives all others",
        arguments: [
            ("org.example.Printer", "Printer", "example-printer", "/org/example/Printer1"),
            ("org.example.PhotoPrinter", "PhotoPrinter", "example-photo-printer", "/org/example/PhotoPrinter1"),
            ("a.B", "B", "a-b", "/a/B1"), ("org.Ex.Root", "Root", "ex-root", "/org/Ex/Root1"),
            ("org._x_y.IPAddresses", "IPAddresses", "x-y-ipaddresses", "/org/_x_y/IPAddresses1"),
        ])
    func names(_ text: String, _ module: String, _ words: String, _ object: String) throws {
        let name = try ServiceName.read(text).get()
        #expect(name.module == module && name.words == words)
        #expect(name.program == words + "-svc" && name.group == words + "-users")
        #expect(name.interface == text + "1" && name.object == object)
    }
    @Test(
        "what no bus, module or package can be called is refused, with the reason",
        arguments: [
            ("", "is no name"), ("Printer", "is no name"), ("org..Printer", "is no name"), (".Printer", "is no name"),
            ("org.example.", "is no name"), ("org.1x.Printer", "is no name"), ("org.ex-ample.Printer", "is no name"),
            ("org.example.Prin ter", "is no name"), ("org.example.Drücker", "is no name"),
            ("org.example.Pri\"nter", "is no name"),
            ("org.example.\(String(repeating: "a", count: 200))", "is no name"),
            ("org.example.printer", "a capital letter"), ("org.example.My_Printer", "a capital letter"),
            ("org.example.PhotoPrinterSpools", "is 3 letters too long"),
            ("org.example.Any", "a word of Swift"), ("org._.Printer", "a user '-printer-svc'"),
            ("org._1.Printer", "begins with a letter"), ("org.example.Printer1", "org.example.Printer11"),
            ("org.example.RelayCore", "'RelayCore'"), ("org.example.Testing", "'Testing'"),
        ])
    func badNames(_ text: String, _ reason: String) {
        #expect(refusal(text)?.contains(reason) == true, "\(text): \(refusal(text) ?? "taken")")
    }
    @Test("no module of the package has the name of one that Relay's package has, or that Swift has") func modules()
        throws
    {
        // As far as a package that depends on Relay has it: tests, and examples, are left out.
        let manifest = try text(ofSource: "Package.swift")
        let ours = try #require(manifest.split(separator: "\n)\n", omittingEmptySubsequences: false).first)
        let targets = ours.matches(of: /\.(?:target|executableTarget|systemLibrary)\(\s*name: "([^"]+)"/).map {
            String($0.output.1)
        }
        #expect(targets.count > 30 && targets.contains("Telemetry"), "\(targets)")
        for target in targets where target.first?.isUppercase == true {
            #expect(ServiceName.taken.contains(target), "\(target)")
            #expect(refusal("org.example.\(target)")?.contains("'\(target)'") == true)
        }
        for name in ["Dispatch", "Foundation", "Telemetry"] { #expect(refusal("org.example.\(name)") != nil) }
        #expect(refusal("org.example.Printer") == nil && refusal("org.example.Relay") == nil)
    }
    /// A file of the repository.
    private func text(ofSource path: String) throws -> String {
        let sources = (0..<4).reduce(URL(filePath: #filePath)) { place, _ in place.deletingLastPathComponent() }
        return try String(contentsOf: sources.appending(path: path), encoding: .utf8)
    }
    @Test("the bus starts it by its unit, and relay-cli finds it while it does not run") func serviceFile() throws {
        let template = try template("org.example.Printer")
        let file = try #require(template.files.first { $0.path == "packaging/org.example.Printer.service" })
        let read = ServiceFile(file.text)
        #expect(read.kind == .relay && read.unit == "example-printer-svc.service")
        let peer = FakePeer { call throws(RelayError) in
            call.member == "ListActivatableNames" ? FakePeer.names(["org.example.Printer"]) : FakePeer.names([])
        }
        let found = try ServiceFinder(peer: peer) { _ in file.text }.services()
        #expect(found == [FoundService(name: "org.example.Printer", isRunning: false)])
    }
    @Test("a purge removes the state, empties a mount point, and fails where it cannot", arguments: [true, false])
    func purge(isRelays: Bool) async throws {
        let template = try template("org.example.Printer")
        let state = isRelays ? "/var/lib/eventrelay" : "/var/lib/example-printer-svc"
        let script =
            isRelays
            ? try text(ofSource: "Packaging/debian/relay-service.postrm")
            : try #require(template.files.first { $0.path == "debian/example-printer-svc.postrm" }).text
        #expect(script.contains(state))
        let folder = try TestFolder()
        let place = folder.path + "/state"
        try folder.write(script.replacing(state, with: place), to: "postrm")
        // In place of the system's: whether the folder is a mount point, which needs root, and a disk that cannot be written.
        try FileManager.default.createDirectory(atPath: folder.path + "/bin", withIntermediateDirectories: false)
        func set(isMountPoint: Bool, fails: Bool) throws {
            func program(_ name: String, _ text: String) throws {
                try folder.write("#!/bin/sh\n" + text + "\n", to: "bin/\(name)")
                chmod(folder.path + "/bin/" + name, 0o755)
            }
            try program("mountpoint", isMountPoint ? "exit 0" : "exit 32")
            for name in ["rm", "find"] { try program(name, fails ? "exit 1" : "exec /usr/bin/\(name) \"$@\"") }
            try FileManager.default.createDirectory(atPath: place + "/below", withIntermediateDirectories: true)
            for file in [".hidden", "journal.sqlite", "below/file"] { try folder.write("x", to: "state/" + file) }
        }
        func run(_ reason: String = "purge") async throws -> Int32? {
            let path = folder.path + "/bin:" + (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")
            return try await RunningProgram.run(
                "/bin/sh", [folder.path + "/postrm", reason], environment: Programs.environment(["PATH": path])
            ).code
        }
        func names() -> [String]? { try? FileManager.default.contentsOfDirectory(atPath: place).sorted() }

        try set(isMountPoint: false, fails: false)
        #expect(try await run("remove") == 0 && names()?.count == 3)
        #expect(try await run() == 0 && names() == nil)
        #expect(try await run() == 0, "there is none")
        try set(isMountPoint: true, fails: false)
        #expect(try await run() == 0 && names() == [])
        for isMountPoint in [true, false] {
            try set(isMountPoint: isMountPoint, fails: true)
            #expect(try await run() == 1 && names()?.count == 3)
        }
    }
    @Test(
        "the package takes no user, group, package or folder of the system",
        arguments: [
            ("org.www.Data", "www-data"), ("org.systemd.Network", "systemd-network"), ("org.man.Db", "man-db"),
        ])
    func systemNames(_ name: String, _ taken: String) throws {
        let template = try template(name)
        let own = template.name.program
        func text(_ path: String) throws -> String { try #require(template.files.first { $0.path == path }).text }
        let names = try text("packaging/\(own).sysusers").split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(
            names == [
                "u \(taken)-svc - \"\(template.name.module)\" /var/lib/\(taken)-svc", "g \(taken)-users -",
            ])
        #expect(try text("debian/control").contains("\nPackage: \(taken)-svc\n"))
        #expect(try text("debian/\(own).postrm").contains(" rm -rf /var/lib/\(taken)-svc\n"))
        for file in template.files where ["packaging", "debian"].contains(file.path.split(separator: "/")[0]) {
            let words = file.text.split { !$0.isLetter && $0 != "-" && $0 != "_" }
            #expect(!words.contains(Substring(taken)), "\(file.path)")
        }
    }
    @Test("no place is left unfilled, and names and paths stand in the files") func filling() throws {
        let template = try template("org.example.PhotoPrinter", relay: "/a \"b\"\\c\"\u{301}")
        for file in template.files {
            for word in ["NAME", "MODULE", "INTERFACE", "OBJECT", "WORDS", "PROGRAM", "RELAY"] {
                #expect(!file.text.contains("@\(word)@") && !file.path.contains("@"), "\(file.path): \(word)")
            }
            #expect(file.text.hasSuffix("\n") && !file.text.hasSuffix("\n\n"), "\(file.path)")
        }
        func text(_ path: String) throws -> String { try #require(template.files.first { $0.path == path }).text }
        // As the compiler reads it, for which a quote before an accent is a quote.
        let path = #"path: "/a \"b\"\\c\""# + "\u{301}\""
        #expect(try text("Package.swift").utf8.firstRange(of: path.utf8) != nil)
        #expect(
            try text("Sources/PhotoPrinter/PhotoPrinter1.swift").contains("public enum PhotoPrinter1: EventInterface"))
        #expect(
            try text("packaging/example-photo-printer-svc.service").contains(
                "SystemCallFilter=~@privileged @resources\n"))
        #expect(
            try text("packaging/org.example.PhotoPrinter.conf").contains("<allow own=\"org.example.PhotoPrinter\"/>"))
        #expect(try text("debian/rules").contains("\n\tdh $@\n"))
        #expect(
            try text("debian/example-photo-printer-svc.prerm").contains(
                "deb-systemd-invoke stop example-photo-printer-svc.service"))
        #expect(template.files.filter(\.isExecutable).map(\.path) == ["debian/rules"])
    }
    @Test(
        "users and groups are such as systemd-sysusers makes",
        arguments: [
            "a.B", "org.example.PhotoPrinterHub", "org._x_y.IPAddresses",
        ])
    func users(name: String) async throws {
        let template = try template(name)
        let (program, group) = (template.name.program, template.name.group)
        let file = try #require(template.files.first { $0.path == "packaging/\(program).sysusers" })
        let root = try TestFolder()
        try root.write(file.text, to: "users.conf")
        mkdir(root.path + "/etc", 0o700)
        let outcome = try await RunningProgram.run(
            "systemd-sysusers", ["--root=" + root.path, root.path + "/users.conf"],
            environment: Programs.environment())
        #expect(outcome.code == 0, "\(outcome)")
        let groups = try String(contentsOfFile: root.path + "/etc/group", encoding: .utf8)
        #expect(groups.contains("\(program):") && groups.contains("\(group):"), "\(groups)")
    }
    @Test("it writes what it says into a new or an empty folder, and changes nothing in any other") func writing()
        throws
    {
        let root = try TestFolder()
        let files = try template("org.example.Printer").files
        let folder = root.path + "/new"
        try PackageWriter.write(files, into: folder)
        #expect(try self.files(in: folder) == files.map(\.path).sorted())
        #expect(try String(contentsOfFile: folder + "/README.md", encoding: .utf8).hasPrefix("# Printer\n"))
        #expect(access(folder + "/debian/rules", X_OK) == 0)
        #expect(throws: CLIFailure.self) { try PackageWriter.write([], into: folder) }
        let other = root.path + "/other"
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
        try "mine".write(toFile: other + "/.hidden", atomically: false, encoding: .utf8)
        do {
            try PackageWriter.write(files, into: other)
            Issue.record("it wrote into a folder that is not empty")
        } catch {
            #expect(error.code == .usage && error.message.contains("there is '.hidden'"), "\(error)")
        }
        #expect(try self.files(in: other) == [".hidden"])
        try FileManager.default.removeItem(atPath: other + "/.hidden")
        try PackageWriter.write(files, into: other)
        #expect(try self.files(in: other).count == files.count)
    }
    @Test(
        "a path of Relay begins at the package, as its manifest's do",
        arguments: [
            ("/usr/share/relay", "printer", "/usr/share/relay"), ("../relay", "printer", "relay"),
            ("../relay", "../printer", "../relay"), ("../relay", "/home/me/printer", "/home/me/relay"),
            ("../../..", "/printer", "/"), ("..", "printer", "."), ("../..", "printer", ".."),
            ("../../a", "..", "../../../a"), ("./a//b", ".", "a/b"),
        ])
    func places(_ path: String, _ folder: String, _ place: String) {
        #expect(RelaySources.place(of: path, from: folder) == place)
    }
    @Test("a folder without Relay's sources is refused, with what to do; one with them is taken") func sources() throws
    {
        let root = try TestFolder()
        let folder = root.path + "/printer"
        func refusal(_ path: String) -> String? {
            do {
                try RelaySources.check(path, from: folder)
                return nil
            } catch {
                return error.code == .usage ? error.message : "\(error)"
            }
        }
        let absent = try #require(refusal("../relay"))
        #expect(absent.hasPrefix("cannot find Relay at '\(root.path)/relay': No such file"), "\(absent)")
        #expect(absent.contains("'../relay' begins at '\(folder)'") && absent.hasSuffix("by --relay"), "\(absent)")
        try FileManager.default.createDirectory(
            atPath: root.path + "/relay/Sources/RelayCore", withIntermediateDirectories: true)
        let other = try #require(refusal(root.path + "/relay"))
        #expect(other.hasPrefix("'\(root.path)/relay' has no sources of Relay: install librelay-dev"), "\(other)")
        try "".write(toFile: root.path + "/relay/Package.swift", atomically: false, encoding: .utf8)
        #expect(refusal("../relay") == nil && refusal(root.path + "/relay") == nil)
        // The sources that this test was built from.
        let sources = (0..<4).reduce(URL(filePath: #filePath)) { place, _ in place.deletingLastPathComponent() }
        #expect(refusal(sources.path) == nil)
    }
    @Test("a folder that cannot be made is named, with the reason") func impossible() throws {
        let root = try TestFolder()
        do {
            try PackageWriter.write([], into: root.path + "/no/where")
            Issue.record("it made a folder in no folder")
        } catch {
            #expect(error.code == .cannotCreate && error.message.contains("/no/where': No such file"), "\(error)")
        }
        try "".write(toFile: root.path + "/file", atomically: false, encoding: .utf8)
        do {
            try PackageWriter.write([], into: root.path + "/file")
            Issue.record("it took a file for a folder")
        } catch {
            #expect(error.code == .cannotCreate && error.message.contains("Not a directory"), "\(error)")
        }
    }
}
