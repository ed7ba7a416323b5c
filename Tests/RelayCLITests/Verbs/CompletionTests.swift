import RelayCore
import RelayTool
import TestTraits
import Testing

@testable import relay_cli
import RelayWire

@Suite("The verb completion", .tags(.g8)) struct CompletionTests {
    private func parse(_ words: String...) throws(UsageError) -> Completion.Wanted? {
        guard case .run(_, let line) = try Program.declaration.parse(["completion"] + words) else { return nil }
        return try Completion(line, at: .ofProcess()).wanted
    }
    private func refusal(_ words: String...) -> String? {
        do throws(UsageError) {
            guard case .run(_, let line) = try Program.declaration.parse(["completion"] + words) else { return nil }
            _ = try Completion(line, at: .ofProcess())
            return nil
        } catch { return error.message }
    }

    @Test("takes a shell, or asks for names") func parsing() throws {
        #expect(try parse("zsh") == .script(.zsh))
        #expect(try parse("--names", "events") == .names(.events, command: nil))
        #expect(try parse("--names", "fields", "OrderBox") == .names(.fields, command: "OrderBox"))
        #expect(refusal() == "'completion' needs a shell; there are bash, zsh and fish")
        #expect(refusal("csh") == "no shell 'csh'; did you mean 'zsh'?")
        #expect(refusal("--names", "fields") == "'--names fields' needs the name of a command or a document")
        #expect(
            refusal("--names", "boxes")
                == "option '--names': 'boxes' is no kind; there are events, commands, documents and fields")
    }

    @Test("names are those of events, commands, documents, and of what these two take")
    func names() async throws {
        let xml = """
            <node><interface name="org.eventrelay.Stream1"/>
            <interface name="org.example.Lighting1">
              <signal name="Lamp"><arg name="brightness" type="i"/><arg name="colour" type="s"/>
                <arg name="sequence" type="t"/><arg name="previous" type="t"/><arg name="publishedAt" type="t"/></signal>
              <signal name="Broken"><arg name="sequence" type="t"/><arg name="previous" type="t"/>
                <arg name="publishedAt" type="t"/></signal>
              <method name="Blink"><arg name="times" type="i" direction="in"/></method>
              <property name="Lamp" type="(is)" access="read"/>
            </interface></node>
            """
        let service = FakeService(objects: ["/": xml])
        func names(_ names: Completion.Names, _ of: String? = nil) async throws -> [String] {
            try await Completion.lines(names, of: of, asking: service)
        }
        #expect(try await names(.events) == ["Broken", "Lamp"])
        #expect(try await names(.commands) == ["Blink"])
        #expect(try await names(.documents) == ["Lamp"])
        #expect(try await names(.fields, "Lamp") == ["brightness=", "colour="])
        #expect(try await names(.fields, "Blink") == ["times="])
        let failure = await #expect(throws: CLIFailure.self) { try await names(.fields, "Blnk") }
        #expect(failure == CLIFailure(.usage, "no command 'Blnk'; did you mean 'Blink'?"))
        for shell in CompletionScript.Shell.allCases {
            let text = CompletionScript.text(for: shell, of: Program.declaration, names: Completion.asked)
            #expect(text.contains("--names documents"), "\(shell)")
        }
    }
    @Test("whatever a service calls its parts, what is printed is names, one a line")
    func hostileNames() async throws {
        let evil = "$(touch x)`x`&quot;&apos;&#10;-rf \u{202E}\u{85}\u{7F}"
        let xml = """
            <node><interface name="org.eventrelay.Stream1"/>
            <interface name="org.example.Lighting1">
              <method name="Blink"><arg name="\(evil)" type="i" direction="in"/><arg name="-rf" type="i" direction="in"/>
              <arg name="times" type="i" direction="in"/></method>
              <signal name="Lamp"><arg name="\(evil)" type="i"/>
                <arg name="sequence" type="t"/><arg name="previous" type="t"/><arg name="publishedAt" type="t"/></signal>
              <property name="Lamp" type="(i)" access="read"/>
            </interface></node>
            """
        let service = FakeService(objects: ["/": xml])
        #expect(try await Completion.lines(.fields, of: "Blink", asking: service) == ["arg0=", "arg1=", "times="])
        #expect(try await Completion.lines(.fields, of: "Lamp", asking: service) == ["arg0="])
        let member = FakeService(objects: ["/": xml.replacing("Blink", with: "$(x)")])
        await #expect(throws: CLIFailure.self) { try await Completion.lines(.commands, of: nil, asking: member) }
    }
    @Test("a service that answers too late, however it spreads that, is left alone with code 75")
    func slow() async {
        /// Has an object below each object, and answers before each call's own time is up.
        struct Endless: ServiceCaller {
            func call(_ call: OutgoingCall, timeout: Duration) async throws -> IncomingReply {
                try await Task.sleep(for: .milliseconds(60))
                let xml = Samples.childrenXML("a")
                return IncomingReply(signature: "s", body: try Samples.body { try $0.string(xml) })
            }
        }
        let failure = await #expect(throws: CLIFailure.self) {
            try await Completion.lines(.events, of: nil, asking: Endless())
        }
        #expect(
            failure
                == CLIFailure(
                    .timedOut,
                    "'org.eventrelay.Service1' did not say within 0.1 seconds"
                        + " what it offers; try again, or see whether its process is stopped or busy ('doctor')"))
    }

    @Test("every verb is completed, and its options; nothing is listed by hand")
    func everything() {
        for shell in CompletionScript.Shell.allCases {
            let text = CompletionScript.text(for: shell, of: Program.declaration, names: Completion.asked)
            for verb in Program.declaration.verbs {
                #expect(text.contains(verb.name))
                for option in verb.options { #expect(text.contains(option.name), "\(shell): \(option.name)") }
            }
        }
    }
}
