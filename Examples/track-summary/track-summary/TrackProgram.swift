import Dispatch
import RelayCore
import RelayJournal
import TrackDesk
import TrackFrontend
import Tracks

/// The service, and its windows: one program for both, so that it is read in one go.
@main @MainActor struct TrackProgram: RelayProgram {
    static func run() async throws {
        let words = Array(CommandLine.arguments.dropFirst())
        switch (words.first, words.count) {
        case ("serve", 2):
            let journal = try EventJournal(directory: words[1])
            let service = try await TrackServiceFactory(journal: journal).makeService()
            try await service.run()
        case ("window", 2): try await window(words[1])
        default: throw RelayError(.invalidArgument, "serve FOLDER, or window NAME?")
        }
    }

    /// Each line of the input is what somebody does in the window: `choose FILE`, or `name TRACK TEXT`.
    private static func window(_ name: String) async throws {
        let relay = try EventRelay(following: TrackServiceFactory.serviceName, interfaces: Tracks1.self)
        relay.activate()
        let window = try TrackWindowFactory(relay).makeWindow { print("\(name): \($0)") }
        for await line in inputLines() {
            let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
            switch (words.first, words.count) {
            case ("choose", 2...): window.panel.choose(file: words[1...].joined(separator: " "))
            case ("name", 3):
                guard let trackID = Int64(words[1]) else { continue }
                window.panel.enter(name: words[2], for: trackID)
            default: print("\(name): choose FILE, or name TRACK TEXT?")
            }
        }
    }
    private static func inputLines() -> AsyncStream<String> {
        AsyncStream { lines in
            // Waiting for input must not stop the main actor.
            DispatchQueue.global().async {
                while let line = readLine() { lines.yield(line) }
                lines.finish()
            }
        }
    }
}
