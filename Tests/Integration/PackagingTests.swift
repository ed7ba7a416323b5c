import Glibc
import RelayTestKit
import TestTraits
import Testing

/// What `make install` copies: by systemd's and the bus's own tools, in a folder of the test's. `make test-packaging` uses it.
@Suite("Installed files", .heavy, .tags(.g7, .g8)) struct PackagingTests {
    /// A folder with what was installed there.
    private struct Installed {
        let folder: TestFolder
        let prefix: String
        /// - Parameter prefix: below the folder; a unit's program has to be where it says.
        init(_ parts: [String] = ["service", "cli"], below prefix: String) async throws {
            folder = try TestFolder()
            self.prefix = folder.path + prefix
            try await run(parts, prefix: self.prefix)
        }
        func run(_ arguments: [String], destination: String = "", prefix: String) async throws {
            let dist = folder.path + "/dist"
            for name in ["", "/man", "/completions"] { mkdir(dist + name, 0o700) }
            for name in ["man/relay-service.8", "man/relay-bridge.8", "man/relay-cli.1", "man/relay-cli-call.1"] {
                try folder.write(".TH X 1\n", to: "dist/" + name)
            }
            for shell in ["bash", "zsh", "fish"] { try folder.write("#\n", to: "dist/completions/\(shell)") }
            try folder.write("<busconfig/>\n", to: "dist/org.eventrelay.Mirror1.conf")
            for program in ["relay-service", "relay-cli", "relay-bridge"] {
                try folder.write("#!/bin/sh\n", to: "dist/" + program)
            }
            let outcome = try await RunningProgram.run(
                Programs.sources + "/../../scripts/install-files", arguments,
                environment: Programs.environment([
                    "RELAY_DIST": dist, "PREFIX": prefix, "DESTDIR": destination, "SYSCONFDIR": prefix + "/etc",
                    "POLKITDIR": prefix + "/share/polkit-1/actions",
                ]))
            try #require(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome)")
        }
        func text(_ path: String) async throws -> String {
            try await RunningProgram.run("cat", [prefix + path]).output.map { $0 + "\n" }.joined()
        }
    }
    /// All files below a folder.
    private static func files(_ folder: String) async throws -> [String] {
        try await RunningProgram.run("find", [folder, "-type", "f", "-printf", "%P\\n"]).output.sorted()
    }

    @Test("make uninstall removes what make install copied, and nothing else") func uninstall() async throws {
        let root = try TestFolder()
        let installed = try await Installed(["--no-list", "cli"], below: "/unused")
        for folder in ["/etc", "/etc/eventrelay", "/usr", "/usr/lib", "/usr/lib/eventrelay"] {
            mkdir(root.path + folder, 0o755)
        }
        try root.write("[Service]\n", to: "etc/eventrelay/relay-service.conf")
        try root.write("", to: "usr/lib/eventrelay/mine")
        let before = try await Self.files(root.path)
        try await installed.run([], destination: root.path, prefix: "/usr")
        #expect(
            try await Self.files(root.path)
                == (before + [
                    "usr/bin/relay-bridge", "usr/bin/relay-cli", "usr/bin/relay-service",
                    "usr/lib/eventrelay/installed",
                    "usr/lib/eventrelay/relay-bridge.conf", "usr/lib/systemd/system/relay-bridge.service",
                    "usr/lib/sysusers.d/relay-bridge.conf", "usr/share/dbus-1/system.d/org.eventrelay.Mirror1.conf",
                    "usr/share/man/man8/relay-bridge.8", "usr/lib/eventrelay/relay-service.conf",
                    "usr/lib/eventrelay/relay-telemetry.conf",
                    "usr/lib/systemd/catalog/eventrelay.catalog",
                    "usr/lib/systemd/system/relay-service.service", "usr/lib/systemd/system/relay-telemetry.service",
                    "usr/lib/systemd/user/relay-service.service", "usr/lib/sysusers.d/eventrelay.conf",
                    "usr/lib/tmpfiles.d/eventrelay.conf", "usr/share/bash-completion/completions/relay-cli",
                    "usr/share/dbus-1/services/org.eventrelay.Service1.service",
                    "usr/share/dbus-1/system-services/org.eventrelay.Service1.service",
                    "usr/share/dbus-1/system-services/org.eventrelay.Telemetry1.service",
                    "usr/share/dbus-1/system.d/org.eventrelay.Service1.conf",
                    "usr/share/fish/vendor_completions.d/relay-cli.fish", "usr/share/man/man1/relay-cli-call.1",
                    "usr/share/man/man1/relay-cli.1", "usr/share/man/man8/relay-service.8",
                    "usr/share/polkit-1/actions/org.eventrelay.service1.policy",
                    "usr/share/zsh/vendor-completions/_relay-cli",
                ]).sorted())
        try await installed.run(["--uninstall"], destination: root.path, prefix: "/usr")
        #expect(try await Self.files(root.path) == before)
    }
    @Test("OPERATING.md shows the files of a user's unit") func page() async throws {
        let installed = try await Installed(["--no-list", "service"], below: "/usr")
        let paths = ["lib/systemd/user/relay-service.service", "share/dbus-1/services/org.eventrelay.Service1.service"]
        let blocks = try OperatingPage().files
        #expect(blocks.count == paths.count)
        for (block, path) in zip(blocks, paths) {
            let parts = try await installed.text("/" + path).split(
                separator: installed.prefix + "/bin", omittingEmptySubsequences: false)
            #expect(parts.joined(separator: "/usr/bin") == block.text)
        }
    }
    @Test(
        "systemd takes the units, and finds little exposed",
        arguments: [("relay-service", "0.5"), ("relay-telemetry", "0.7"), ("relay-bridge", "1.5")])
    func exposure(_ unit: String, bound: String) async throws {
        let installed = try await Installed(["--no-list", "service", "bridge"], below: "/usr")
        let file = "\(installed.prefix)/lib/systemd/system/\(unit).service"
        // As an administrator's machine has it: here there is no such user.
        let text = try await installed.text("/lib/systemd/system/\(unit).service")
        let user = unit == "relay-bridge" ? unit : "eventrelay"
        #expect(text.contains("\nUser=\(user)\n"))
        let parts = text.split(separator: "User=\(user)", omittingEmptySubsequences: false)
        mkdir(installed.folder.path + "/checked", 0o700)
        try installed.folder.write(parts.joined(separator: "User=root"), to: "checked/\(unit).service")
        let environment = Programs.environment([
            "HOME": installed.folder.path, "XDG_RUNTIME_DIR": installed.folder.path,
        ])
        let verified = try await RunningProgram.run(
            "systemd-analyze",
            ["verify", "--system", "--man=no", "\(installed.folder.path)/checked/\(unit).service"],
            environment: environment)
        #expect(
            verified.code == 0 && !verified.errors.contains { $0.contains("\(unit).service") }, "\(verified)")
        // The bound is in tenths.
        let threshold = try #require(Double(bound)) * 10
        let security = try await RunningProgram.run(
            "systemd-analyze", ["security", "--offline=true", "--threshold=\(Int(threshold))", file],
            environment: environment)
        #expect(security.code == 0, "\(security.output.suffix(2)) \(security.errors)")
    }
    @Test("what the comments in the bridge's settings show is right; without it there is nothing to do")
    func bridgeSettings() async throws {
        let installed = try await Installed(["--no-list", "bridge"], below: "/usr")
        let text = try await installed.text("/lib/eventrelay/relay-bridge.conf")
        try installed.folder.write(
            text.split(separator: "\n").map { $0.hasPrefix("# ") ? "" : $0.drop { $0 == "#" } }.joined(
                separator: "\n"), to: "all.conf")
        func check(_ file: String) async throws -> RunningProgram.Outcome {
            try await RunningProgram.run(
                Programs.bridge, ["--config", file, "--check-config"], environment: Programs.environment())
        }
        let all = try await check(installed.folder.path + "/all.conf")
        #expect(all.code == 0 && all.output.contains("Export=org.example.Printer"), "\(all)")
        let empty = try await check("\(installed.prefix)/lib/eventrelay/relay-bridge.conf")
        #expect(empty.code == 78 && empty.errors.last?.contains("there is no carrier") == true, "\(empty)")
    }
    @Test("the settings that come with the package are right, and so is what their comments show")
    func settings() async throws {
        let installed = try await Installed(["--no-list", "service"], below: "/usr")
        for (name, shown) in [
            ("relay-service.conf", "StateDirectory=/var/lib/eventrelay"),
            ("relay-telemetry.conf", "Name=org.eventrelay.Telemetry1|Domain=telemetry|Rate=10"),
        ] {
            let file = "\(installed.prefix)/lib/eventrelay/\(name)"
            let outcome = try await RunningProgram.run(
                Programs.service, ["--config", file, "--check-config"], environment: Programs.environment())
            #expect(
                outcome.output == ["# \(file)", "[Service]"] + shown.split(separator: "|").map(String.init),
                "\(outcome)")
            let text = try await installed.text("/lib/eventrelay/" + name)
            try installed.folder.write(
                text.split(separator: "\n").map { $0.hasPrefix("# ") ? "" : $0.drop { $0 == "#" } }.joined(
                    separator: "\n"), to: name)
            let all = try await RunningProgram.run(
                Programs.service, ["--config", "\(installed.folder.path)/\(name)", "--check-config"],
                environment: Programs.environment())
            #expect(all.code == 0, "\(all)")
        }
    }
    @Test("the policy names each interface that the services export, and each of their names") func policy()
        async throws
    {
        let policy = try Programs.text("Packaging/dbus-1/system.d/org.eventrelay.Service1.conf")
        func lines(_ part: String) -> Int { policy.split(separator: "\n").count { $0.contains(part) } }
        for interface in ["Relocation1", "Inventory1", "Telemetry1"] {
            for verb in ["deny", "allow"] {
                for place in ["send_interface=\"org.eventrelay.", "send_path=\"/org/eventrelay/"] {
                    let rule = "<\(verb) send_type=\"signal\" \(place)\(interface)\"/>"
                    #expect(lines(rule) == 1, "\(rule)")
                }
            }
        }
        for name in ["org.eventrelay.Service1", "org.eventrelay.Telemetry1"] {
            #expect(lines("<allow own=\"\(name)\"/>") == 1)
            #expect(lines("<deny send_destination=\"\(name)\"/>") == 1)
            // Its calls reach others: polkit, for one.
            #expect(lines("<deny receive_sender=\"\(name)\" receive_type=\"signal\"/>") == 1)
            for rule in ["allow send_destination", "allow receive_sender"] {
                #expect(lines("<\(rule)=\"\(name)\"/>") == 3)
            }
        }
        #expect(lines("own_prefix") == 1)
    }
    @Test("the library's sources are a package that another one can depend on") func sources() async throws {
        let installed = try await Installed(["--no-list", "dev"], below: "/usr")
        let folder = installed.folder
        for name in ["user", "user/Sources", "user/Sources/user"] { mkdir("\(folder.path)/\(name)", 0o700) }
        try folder.write("import RelayEvents\nprint(EventPublisher.self)\n", to: "user/Sources/user/main.swift")
        try folder.write(
            """
            // swift-tools-version: 6.2
            import PackageDescription
            let package = Package(
                name: "user", dependencies: [.package(name: "relay", path: "\(installed.prefix)/share/relay")],
                targets: [.executableTarget(name: "user", dependencies: [
                    .product(name: "RelayEvents", package: "relay"), .product(name: "RelayJournal", package: "relay"),
                ])])

            """, to: "user/Package.swift")
        let outcome = try await RunningProgram.run(
            "swift",
            ["package", "--package-path", folder.path + "/user", "--disable-sandbox", "show-dependencies"],
            environment: Programs.environment(["HOME": folder.path]))
        #expect(outcome.code == 0 && outcome.output.joined().contains("relay"), "\(outcome)")
    }
}
