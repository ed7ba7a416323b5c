import Foundation
import TestTraits
import Testing

/// The messages in the sources, beside what is recorded and what other tests compare.
@Suite("Each error that the programs can report is tried", .computing) struct ErrorCoverageTests {
    private static let root = Recorded.folder + "/../.."

    private static func files(below folder: String) throws -> [(path: String, text: String)] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: "\(root)/\(folder)")
        return try names.filter { $0.hasSuffix(".swift") }.sorted().map { name in
            ("\(folder)/\(name)", try String(contentsOfFile: "\(root)/\(folder)/\(name)", encoding: .utf8))
        }
    }

    /// What no test can bring about: the system lacks something that a test cannot take away.
    private static let untried = [
        "nothing to sample: ", "no eventfd: ", "no signalfd: ", "no result", "no attempt", "no bus thread",
        "an option lacks its argument",
    ]

    /// What a lying service brings about, or a contract of another make: the tests of these parts compare what they say in
    /// part, as it depends on the lie.
    private static let triedInPart = [
        "Journal/HistoryFailureTests": [
            "HistoryLoop.swift", "JournalReader.swift", "StoredPage.swift", "JournalScan.swift",
        ],
        "Introspection/CatalogueTests": ["Discovery.swift", "Catalogue.swift"],
        "Verbs/DocumentVerbsTests": ["DocumentTarget.swift", "Set.swift"],
        "Verbs/CallAndListTests": ["Call.swift", "WatchMachine.swift", "TopMachine.swift"],
        "Call/ArgumentEncoderTests": ["ArgumentEncoder.swift"],
        "Verbs/MonitorTests": ["Monitor.swift"],
        "Verbs/StatusTests": ["Status.swift", "Metrics.swift"],
    ]
    private static func isTriedInPart(_ place: String) -> Bool {
        triedInPart.values.joined().contains { place.contains("/\($0):") }
    }

    @Test("each message stands in a transcript, or in another test of the programs")
    func messages() throws {
        let errors = try ["relay-cli", "RelayTool", "relay-service"].flatMap { target in
            try Self.files(below: "Sources/\(target)").flatMap { try ErrorSource.all(in: $0.text, path: $0.path) }
        }
        // Of what does not find what it looks for, nothing is learnt.
        #expect(errors.count > 150)
        let recorded = try Recorded.all().flatMap(\.runs).flatMap { $0.outcome.errors + $0.outcome.output }
        let tests = try ["RelayCLITests", "RelayToolTests", "Integration"].flatMap {
            try Self.files(below: "Tests/\($0)").map(\.text)
        }.joined(separator: "\n")
        for error in errors {
            let isTried =
                recorded.contains { error.matches($0) } || tests.contains(error.longest)
                || Self.untried.contains { error.parts.joined().hasPrefix($0) } || Self.isTriedInPart(error.place)
            #expect(isTried, "\(error.place): \(error.parts)")
        }
    }

    @Test("what is found of a message are its literals, without what is put into them")
    func reading() throws {
        let text = #"""
            throw CLIFailure(
                .usage, "no event '\(name)'" + (isLong ? "; there are \(Words.list(names, "and"))" : ""))
            """#
        let found = try ErrorSource.all(in: text, path: "A.swift")
        #expect(found.map(\.parts) == [["no event '", "'"], ["; there are "]])
        #expect(found[0].matches("relay-cli: no event 'Box'; there are none") && !found[0].matches("no command 'x'"))
    }
}
